"""What relieves a bottleneck: the key of the path file, and what the answer becomes."""

from __future__ import annotations

import pytest

import dtnsim
from dtnsim.ground import library
from dtnsim.ground.records import Problem, Station
from dtnsim.steady.remedies import key_of, remedy


def test_the_remedy_names_the_key_of_the_component() -> None:
    found = dtnsim.predict("venadi/gridftp-gpfs", samples=0)
    assert "hosts.nersc.cpu" in found.bottleneck.remedy
    by_station = {r.station: r.remedy for r in found.ladder}
    assert "hosts.venadi.nics.eth" in by_station["venadi.eth.port0.rx"]
    assert "hosts.venadi.volumes./bigdata" in by_station["venadi.bigdata.ssds"]


@pytest.mark.parametrize("path", ["venadi/gridftp-gpfs", "uci/ascp-ucinet", "examples/dtn-100g-xfs"])
def test_the_key_of_a_remedy_can_be_overridden(path: str) -> None:
    """What a remedy names is where ``--set`` reaches the component."""
    found = dtnsim.predict(path, samples=0)
    for use in found.stations:
        key = key_of(found.problem, use.station)
        if key.startswith(("hosts.", "wan", "links.")):
            dtnsim.load(path, [f"{key}.source=a test"] if not key.split(".")[-1].startswith("/") else [])


def test_waiting_and_unknown_kinds() -> None:
    empty = Problem("p", (), ())
    assert "pipelining" in remedy(empty, None)
    assert remedy(empty, Station("x.y", "x", "y", "nothing known", 1.0, "B")) == ""
    assert remedy(empty, Station("x.y", "x", "y", "nic", 1.0, "B", remedy="do this")) == "do this"


def test_every_bottleneck_of_the_shipped_paths_has_a_remedy() -> None:
    without = []
    for name in library.names("paths")[::6]:
        found = dtnsim.predict(name, samples=0)
        without += [(name, r.station) for r in found.ladder if not r.remedy]
    kinds = {s.rpartition(".")[2] for _, s in without}
    assert all(s.startswith("network.tcp.") or "udt" in s or "fasp" in s for _, s in without), kinds
