"""What a byte costs on a segment; formulas are the calculation."""

from __future__ import annotations

import numpy as np
import pytest

from tests.formulas import evaluate
from tests.lab import journey, problem, sheet

WAN = {
    "bandwidth": "10 Gb/s",
    "rtt": "10 ms",
    "background": {"share": "30 %", "diurnal": "50 %", "hour": 15},
    "firewall": {"kind": "firewall", "engine": "1 Gb/s", "total": "4 Gb/s"},
    "policer": {"kind": "policer", "rate": "2 Gb/s"},
}


def test_what_others_firewall_and_policer_leave() -> None:
    found = sheet(problem(journey(wan=WAN, tool={"name": "iperf3", "P": 4})))
    assert found.capacity("network.wan") == pytest.approx(1.25e9 * (1 - 0.3 * 1.5))
    assert found.capacity("firewall-engine") == pytest.approx(2.734375 * 0.125e9)
    assert found.capacity("wan.firewall") == pytest.approx(0.5e9)
    assert found.demand("wan.policer") == pytest.approx(9000 / 8948)


def test_the_formulas_of_hosts_and_networks_are_the_calculation() -> None:
    kinds = {"memory", "core", "cpu", "nic", "ib", "network", "firewall", "policer"}
    path = journey(wan=WAN, tool={"name": "iperf3", "P": 4, "length": "1 KiB"})
    path["hosts"]["a"]["nic"] |= {"ports": 4, "bonding": "hash", "packets": "1000000 ops/s"}
    made = problem(path)
    mine = {s.name: s for s in made.stations if s.kind in kinds and "bursts" not in s.name and "loss" not in s.name}
    assert {s.kind for s in mine.values()} >= kinds - {"ib"}
    for station in mine.values():
        assert evaluate(station.formula) == pytest.approx(float(np.ravel(station.capacity)[0]), rel=1e-5)
        assert station.source or station.kind in ("core", "cpu"), station.name
    for demand in made.transfers[0].phases[0].demands:
        if demand.station in mine:
            assert evaluate(demand.formula) == pytest.approx(float(np.ravel(demand.per_byte)[0]), rel=1e-5)


def test_crossings_of_memory_are_not_from_the_data_sheet_of_a_module() -> None:
    made = problem(journey())
    (demand,) = (d for d in made.transfers[0].phases[0].demands if d.station == "a.memory")
    assert "physics.memory.crossings" in demand.source
    assert "SPRAD45A" not in demand.source
