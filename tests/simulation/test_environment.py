"""The world around the transfers: what an event names has to be there before anything runs."""

from __future__ import annotations

from typing import Any

import pytest

from dtnsim.ground.errors import SpecError
from dtnsim.simulation import environment, simulate
from tests.simulation.test_run import SLOW, make


def test_the_world_is_checked_at_the_start() -> None:
    assert environment.World is not None
    late: list[dict[str, Any]] = [{"at": "1000 d", "station": "no.such.station", "factor": 0}]
    with pytest.raises(SpecError, match="is not a station"):
        simulate(make(SLOW, events=late))


def test_two_events_at_one_instant_both_happen() -> None:
    both = [
        {"at": "20 s", "station": "network.wan", "factor": 0.5, "until": "40 s"},
        {"at": "20 s", "station": "a.nic.port0.tx", "factor": 0.25, "until": "40 s"},
    ]
    run = simulate(make(SLOW, transfer__to="b:memory", events=both)).runs[0]
    alone = simulate(make(SLOW, transfer__to="b:memory")).runs[0]
    # the smaller of the two holds: a quarter of the port for 20 s loses 15 s
    assert run.end_s == pytest.approx(alone.end_s + 15, rel=1e-3)
    assert len(run.happened) == 4
