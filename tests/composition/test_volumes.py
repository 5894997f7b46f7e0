"""Drives that several transfers share: composed again one by one, for as many streams as there are."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from dtnsim.composition.compose import compose
from dtnsim.composition.volumes import EXACT, step
from dtnsim.description.spec import PathSpec
from dtnsim.ground.quantity import Draw
from dtnsim.simulation.scenario import make_scene
from tests.strategies import load

HDD: dict[str, Any] = {"kind": "hdd", "rate": "200 MB/s"}
#: without a wait that windows of read-ahead would have to cover
SSD: dict[str, Any] = {"kind": "ssd", "read": "500 MB/s", "write": "400 MB/s", "latency_read": "0 s"}


def path(count: int, drive: dict[str, Any] = HDD) -> PathSpec:
    host = {
        "cpu": {"kind": "cpu", "cores": 8, "clock": "3 GHz"},
        "memory": {"kind": "memory", "channels": 4, "rate": "2400 MT/s", "size": "64 GiB"},
        "volumes": {"/data": {"filesystem": {"kind": "xfs"}, "array": drive}},
    }
    one = {"from": "a:/data", "to": "a:/dev/null", "tool": {"name": "dd", "bs": "1 MiB"}}
    data = {"files": 1, "size": "100 GB"}
    return load({"name": "p", "hosts": {"a": host}, "transfers": [{**one, "dataset": data} for _ in range(count)]})


def seconds_a_byte(transfer: Any, problem: Any) -> dict[str, float]:
    capacity = {s.name: float(s.capacity) for s in problem.stations}
    return {d.station: float(d.per_byte) / capacity[d.station] for d in transfer.phases[0].demands}


@pytest.mark.parametrize("streams", [1, 2, 4])
def test_a_transfer_beside_fewer_costs_what_it_costs_in_a_path_of_fewer(streams: int) -> None:
    scene = make_scene(path(6))
    drives = scene.drives(scene.start)
    count: Counter[tuple[str, str]] = Counter()
    for f in range(streams):
        drives.count(f, count, 1)
    alone = compose(path(streams), Draw())
    found = seconds_a_byte(drives.beside(0, count), compose(path(6), Draw()))
    wanted = seconds_a_byte(alone.transfers[0], alone)
    name = next(n for n in wanted if "data" in n)
    assert found[name] == pytest.approx(wanted[name], rel=1e-12)
    assert drives.beside(0, count) is drives.beside(0, count)


def test_flash_minds_no_other_streams() -> None:
    scene = make_scene(path(6, SSD))
    drives = scene.drives(scene.start)
    assert drives.shared
    assert drives.beside(0, Counter({("a", "/data"): 1})) is drives.whole(0)


def test_many_streams_are_told_apart_by_an_eighth() -> None:
    assert [step(n) for n in range(1, EXACT + 1)] == list(range(1, EXACT + 1))
    for n in range(EXACT, 5000):
        assert step(n) == pytest.approx(n, rel=0.12)
        assert step(n) <= step(n + 1)
    assert len({step(n) for n in range(1, 5000)}) < 50


def test_drives_that_mind_no_other_streams_are_tried_once_for_all_that_are_equal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scene = make_scene(path(6, SSD))
    drives = scene.drives(scene.start)
    composer, tried = drives._composer, []
    beside = type(composer).beside
    monkeypatch.setattr(type(composer), "beside", lambda self, f, s: (tried.append(f), beside(self, f, s))[1])
    for f in range(6):
        assert drives.beside(f, Counter({("a", "/data"): 2})) is drives.whole(f)
    assert tried == [0]
