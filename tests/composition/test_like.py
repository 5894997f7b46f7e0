"""Transfers that are like each other are composed once, and are what each of them would be by itself (like)."""

from __future__ import annotations

from typing import Any

import pytest

from dtnsim import predict, simulate
from dtnsim.composition import compose as composing
from dtnsim.composition import like
from dtnsim.composition.compose import Composer, compose
from dtnsim.ground.ledger import Ledger
from dtnsim.ground.quantity import Draw
from dtnsim.ground.records import Problem
from tests.lab import machine, volume
from tests.strategies import load

DRIVES: dict[str, dict[str, Any]] = {
    "ssd": {"kind": "ssd", "read": "2 GB/s", "write": "1 GB/s"},
    "hdd": {"kind": "hdd", "rate": "200 MB/s"},
}
TOOLS: list[dict[str, Any]] = [
    {"name": "gridftp", "p": 4}, {"name": "scp"}, {"name": "rsync"}, {"name": "fdt"},
]  # fmt: skip


def path(tools: list[dict[str, Any]], count: int = 3, *, drive: str = "ssd", **changes: Any) -> dict[str, Any]:
    """So many like transfers with each tool, the tools in turn."""
    hosts = {name: machine(volumes={"/d": volume(DRIVES[drive])}) for name in "ab"}
    transfers = [
        {"name": f"t{n}-{k}", "from": "a:/d", "to": "b:/d", "tool": tool, "dataset": {"files": 20, "size": "40 GB"},
         **changes}
        for k in range(count) for n, tool in enumerate(tools)
    ]  # fmt: skip
    return {"name": "like", "hosts": hosts, "wan": {"rtt": "20 ms", "bandwidth": "40 Gb/s"}, "transfers": transfers}


def everything(problem: Problem) -> str:
    return repr((problem.stations, problem.transfers, problem.slowdowns, problem.warnings, problem.connections))


@pytest.mark.parametrize("drive", DRIVES)
@pytest.mark.parametrize("draws", [0, 3])
@pytest.mark.parametrize("changes", [{}, {"start": "3 s"}])
def test_like_transfers_are_composed_as_by_themselves(
    monkeypatch: pytest.MonkeyPatch, drive: str, draws: int, changes: dict[str, Any]
) -> None:
    spec = load(path(TOOLS, drive=drive, **changes))
    together = everything(compose(spec, Draw(draws)))
    monkeypatch.setattr(like, "figures", lambda _spec: object())
    assert everything(compose(spec, Draw(draws))) == together


def test_what_is_like_is_composed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    composed: list[str] = []
    charge = Composer._charge

    def counted(self: Composer, leg: Any, step: Any) -> Any:
        composed.append(leg.spec.name)
        return charge(self, leg, step)

    monkeypatch.setattr(composing.Composer, "_charge", counted)
    composer = Composer(load(path(TOOLS[:2], 5)), Ledger(Draw()), {})
    composer.problem()
    assert set(composed) == {"t0-0", "t1-0"}
    composed.clear()
    streams = composer.storage_of(0).visited(composer.legs[0])
    for number in range(10):
        composer.beside(number, {shelf: 2 for shelf, _ in streams})
    assert set(composed) == {"t0-0", "t1-0"}


def test_those_that_follow_others_find_what_is_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second of two like transfers finds in memory what the first has read."""
    written = path(TOOLS[1:2], 3)
    for number, one in enumerate(written["transfers"]):
        one["after"] = [f"t0-{number - 1}"] if number else []
    first = predict(load(written), samples=8)
    monkeypatch.setattr(like, "figures", lambda _spec: object())
    assert predict(load(written), samples=8).transfers == first.transfers


def test_order_and_names_of_like_transfers_do_not_matter() -> None:
    there, back = (predict(load(written), samples=16) for written in _both_ways(path(TOOLS[:2], 3)))
    assert back.throughput_Bps.p50 == pytest.approx(there.throughput_Bps.p50, rel=1e-9)
    found = {t.name: t.throughput_Bps.p50 for t in back.transfers}
    assert [found[t.name] for t in there.transfers] == pytest.approx([t.throughput_Bps.p50 for t in there.transfers])
    there_in_time, back_in_time = (simulate(load(written)).runs[0] for written in _both_ways(path(TOOLS[:1], 2)))
    ended = {t.name: t.finished_s for t in back_in_time.transfers}
    assert [ended[t.name] for t in there_in_time.transfers] == pytest.approx(
        [t.finished_s for t in there_in_time.transfers], rel=1e-9
    )


def _both_ways(written: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    return written, {**written, "transfers": written["transfers"][::-1]}


def test_runs_of_one_transfer_are_like_those_written_one_by_one() -> None:
    """Four runs of a tool with ten files each, of forty: as four transfers of ten files."""
    apart = path(TOOLS[:1], 4)
    for one in apart["transfers"]:
        one["dataset"] = {"files": 10, "size": "20 GB"}
    shared = path(TOOLS[:1], 1, runs=4)
    shared["transfers"][0]["dataset"] = {"files": 40, "size": "80 GB"}
    rates = [[t.throughput_Bps.p50 for t in predict(load(w), samples=16).transfers] for w in (apart, shared)]
    assert rates[1] == pytest.approx(rates[0], rel=1e-9)
