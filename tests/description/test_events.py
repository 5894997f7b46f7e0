"""Events and other people's transfers, as a path file says them."""

from __future__ import annotations

from typing import Any

import pytest

from dtnsim.components.base import validate
from dtnsim.description.events import Event, Others
from dtnsim.ground.errors import SpecError
from dtnsim.ground.yamlio import loads
from tests.each import rows


def event(text: str) -> Event:
    return validate(Event, loads(text, "e.yaml"))


def others(text: str) -> Others:
    return validate(Others, loads(text, "o.yaml"))


def test_a_station_loses_its_capacity_for_a_while() -> None:
    found = event("{at: 10 s, station: 'network.*', factor: 0.5, until: 1 h}")
    assert (found.at.value, found.factor, found.until and found.until.value) == (10.0, 0.5, 3600.0)


def test_a_link_that_is_named_without_a_factor_is_down() -> None:
    assert event("{at: 10 s, station: network.wan}").factor == 0.0


def test_keys_of_the_path_may_change() -> None:
    assert event("{at: 1 h, set: {wan.loss: 1e-4}}").change == {"wan.loss": "1e-4"}


@pytest.mark.parametrize(("text", "says"), rows("description/refused", "events"))
def test_events_that_are_refused(text: str, says: str) -> None:
    with pytest.raises(SpecError, match=says):
        event(text)


@pytest.mark.parametrize(("text", "says"), rows("description/refused", "other people's transfers"))
def test_others_that_are_refused(text: str, says: str) -> None:
    with pytest.raises(SpecError, match=says):
        others(text)


def test_others_have_sizes_of_their_own() -> None:
    found: Any = others("{stations: [network.wan], rate: 0.1 /s, size: 5 GB, cap: 1 Gb/s}")
    assert (found.size.value, found.cap.value, found.sigma) == (5e9, 1.25e8, 1.5)
