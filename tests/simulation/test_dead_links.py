"""No connection is set up over a dead link, and none opens over it: `dtnsim.simulation.environment` and `moves`."""

from __future__ import annotations

from typing import Any

import pytest

import dtnsim
from dtnsim.ground.errors import ModelError
from dtnsim.report import simulation, text
from tests.strategies import load


def run(down: tuple[float, float] | None, tool: str, size: str = "1 GB", files: int = 1) -> Any:
    hosts = {"a": "example-dtn-100g", "b": "example-dtn-100g"}
    events = []
    if down is not None:
        events = [{"at": f"{down[0]} s", "station": "network.wan", "factor": 0, "until": f"{down[1]} s", "what": "cut"}]
    return dtnsim.simulate(
        load({
            "name": "cut", "hosts": hosts, "wan": {"bandwidth": "10 Gb/s", "rtt": "100 ms"}, "events": events,
            "transfers": {"t": {"from": "a:/xfs", "to": "b:/xfs", "tool": tool,
                                "dataset": {"files": files, "size": size}}},
        })
    )  # fmt: skip


@pytest.mark.parametrize("tool", ["scp", "rsync", "gridftp"])
def test_what_begins_on_a_dead_link_begins_when_it_is_back(tool: str) -> None:
    """Log-in, handshake and slow start come after the cut: the transfer is as late as the link."""
    plain, cut = run(None, tool).runs[0], run((0, 60), tool).runs[0]
    assert cut.transfers[0].finished_s == pytest.approx(plain.transfers[0].finished_s + 60, rel=1e-6)


def test_waits_between_files_do_not_go_on_over_a_dead_link() -> None:
    """Many small files, each with its round trips: at most one file's waits are lost in the cut."""
    plain, cut = (run(down, "scp", "1 MB", 200).runs[0].transfers[0] for down in (None, (5, 25)))
    a_file = plain.duration_s / 200
    assert plain.duration_s + 20 - a_file <= cut.duration_s <= plain.duration_s + 20 + a_file


def test_the_cut_is_what_held_it(capsys: pytest.CaptureFixture[str]) -> None:
    made = run((0, 60), "scp")
    assert made.runs[0].transfers[0].held[0].station == "network.wan"
    simulation.show(made, text.console())
    assert "network.wan is down: cut" in capsys.readouterr().out


def test_a_link_that_never_comes_back_is_said() -> None:
    hosts = {"a": "example-dtn-100g", "b": "example-dtn-100g"}
    given = load({
        "name": "cut", "hosts": hosts, "wan": {"bandwidth": "10 Gb/s", "rtt": "100 ms"},
        "events": [{"at": "0 s", "station": "network.wan", "factor": 0}],
        "transfers": {"t": {"from": "a:/xfs", "to": "b:/xfs", "tool": "scp", "dataset": {"files": 1, "size": "1 GB"}}},
        "others": [{"stations": ["a.xfs.ssds"], "rate": "1 /s", "size": "1 MB"}],
    })  # fmt: skip
    with pytest.raises(ModelError, match=r"network\.wan has no capacity left"):
        dtnsim.simulate(given)
