"""What ``explain`` prints of block storage is the calculation: each formula gives its number."""

from __future__ import annotations

from typing import Any

import pytest

from tests.components.test_keys_storage import CASES, LOADS, POOL, RZ
from tests.formulas import evaluate
from tests.lab import journey, machine, problem, volume


def checked(array: dict[str, Any], load: str, filesystem: dict[str, Any]) -> int:
    """Formulas of the volume's stations and demands that give their numbers."""
    tool, start, to, data = LOADS[load]
    spare = volume({"kind": "ssd", "read": "9 GB/s", "write": "9 GB/s"})
    made = machine(volumes={"/d": volume(array, filesystem), "/e": spare})
    found = problem(journey(made, start=start, to=to, tool=tool, dataset=data))
    count = 0
    for station in found.stations:
        if station.component.partition(".")[0].partition("-")[0] == "d":
            assert evaluate(station.formula) == pytest.approx(float(station.capacity), rel=1e-4), station.name
            count += 1
    mine = {s.name for s in found.stations if s.component.partition(".")[0].partition("-")[0] == "d"}
    for phase in found.transfers[0].phases:
        for demand in phase.demands:
            if demand.station in mine:
                assert evaluate(demand.formula) == pytest.approx(float(demand.per_byte), rel=1e-4), demand.formula
    return count


@pytest.mark.parametrize(("kind", "key", "other", "load", "around"), CASES, ids=[f"{c[0]}.{c[1]}" for c in CASES])
def test_formulas_give_their_numbers(kind: str, key: str, other: object, load: str, around: dict[str, Any]) -> None:
    assert kind == around["kind"]
    assert checked({**around, key: other}, load, {"kind": "xfs"}) >= 1


@pytest.mark.parametrize("load", ["read", "readers", "write", "random", "sync", "tree", "mixed"])
def test_formulas_of_a_pool_give_their_numbers(load: str) -> None:
    pool = {**POOL, "fragmentation": "0.3", "compression": "lz4", "ratio": "1.7", "arc_hits": "0.2"}
    assert checked(RZ, load, pool) >= 1
