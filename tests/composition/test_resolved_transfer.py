"""The way of each transfer through the graph."""

from __future__ import annotations

import math

import dtnsim
from dtnsim.composition.resolved_transfer import ways
from tests.lab import journey
from tests.strategies import load


def test_a_shipped_path_from_volume_to_volume() -> None:
    (found,) = ways(dtnsim.load("venadi/gridftp-gpfs"))
    assert found.nodes[0] == "nersc.project"
    assert found.nodes[-1] == "venadi.bigdata"
    assert "network.wan" in found.single_points
    assert "venadi.bigdata" not in found.single_points
    assert found.cut.nodes == ("venadi.eth",)
    assert found.cut.rate_Bps == 40e9 / 8


def test_memory_to_memory_and_within_one_host() -> None:
    (found,) = ways(load(journey()))
    assert found.nodes == ("a.memory", "a.nic", "network.wan", "b.nic", "b.memory")
    (local,) = ways(dtnsim.load("nasa/dd-write"))
    assert local.nodes[0].endswith(".memory")
    assert math.isinf(local.cut.rate_Bps) or local.cut.nodes
