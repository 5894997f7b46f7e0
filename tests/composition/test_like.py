"""Transfers that are like each other are composed and charged once, and are what each of them would be by itself."""

from collections.abc import Callable
from typing import Any

import pytest

from dtnsim import predict, simulate
from dtnsim.composition import compose as composing, like, transport
from dtnsim.composition.compose import Composer, compose
from dtnsim.composition.route import Route
from dtnsim.ground.ledger import Ledger, Row
from dtnsim.ground.quantity import Draw
from dtnsim.ground.records import Problem
from tests.each import rows
from tests.lab import machine, volume
from tests.strategies import load

GIVEN = rows("composition/tables", "like")

DRIVES = GIVEN["DRIVES"]
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
        composer.beside_streams(number, {shelf: 2 for shelf, _ in streams})
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


PAIRED = GIVEN["PAIRED"]


def pairs(rtt: str) -> dict[str, Any]:
    """Each tool twice, with data sets of its own, there and back; one pair on cores and ports of their own."""
    hosts = {
        name: machine(
            stack={"kind": "stack"},
            volumes={"/d": volume(DRIVES["ssd"])},
            placement={"application": [0, 1, 2, 3]},
            nic={"kind": "nic", "rate": "25 Gb/s", "mtu": "9000 B", "ports": 2, "bonding": "hash"},
        )
        for name in "abc"
    }
    transfers = []
    for n, tool in enumerate([*PAIRED, *PAIRED]):
        one, other = ("a", "b") if n < 8 or n % 2 else ("c", "a")
        place = "/d" if tool["name"] in ("gridftp", "scp") else "memory"
        transfers.append({"name": f"t{n}", "from": f"{one}:{place}", "to": f"{other}:{place}", "tool": tool,
                          "dataset": {"files": 1 + n % 2, "size": f"{10 + n} GB"}})  # fmt: skip
    transfers[0] |= {"core": 3}
    transfers[9] |= {"ports": {"a": 1}}
    wan = {"rtt": rtt, "bandwidth": "100 Gb/s", "loss": "1e-6", "policer": {"kind": "policer", "rate": "90 Gb/s"}}
    return {"name": "alike", "hosts": hosts, "wan": wan, "transfers": transfers}


@pytest.mark.parametrize("rtt", ["0 ms", "20 ms"])
@pytest.mark.parametrize("draws", [0, 3])
def test_alike_transfers_are_charged_as_by_themselves(monkeypatch: pytest.MonkeyPatch, rtt: str, draws: int) -> None:
    spec = load(pairs(rtt))
    together = compose(spec, Draw(draws))

    def alone(self: Row, key: tuple[Any, ...], charge: Callable[[], None]) -> None:
        del self, key
        charge()

    monkeypatch.setattr(Row, "likewise", alone)
    monkeypatch.setattr(transport, "_key", lambda *_: None)
    assert everything(compose(spec, Draw(draws))) == everything(together)


@pytest.mark.parametrize(("draws", "times"), [(0, 1), (3, 2)])
def test_what_a_wan_loses_is_asked_once_for_all_routes_over_it(
    monkeypatch: pytest.MonkeyPatch, draws: int, times: int
) -> None:
    """Two routes there, one back: once, and where parameters are drawn once more at their medians."""
    asked: list[Draw] = []
    lost = Route.lost

    def counted(self: Route, draw: Draw) -> Any:
        asked.append(draw)
        return lost(self, draw)

    monkeypatch.setattr(Route, "lost", counted)
    spec = load(pairs("20 ms"))
    problem = compose(spec, Draw(draws))
    assert len(asked) == times
    monkeypatch.setattr(Ledger, "known", property(lambda _: {}, lambda *_: None))
    assert everything(compose(spec, Draw(draws))) == everything(problem)
    assert len(asked) > 10 * times


def test_what_is_alike_is_charged_once() -> None:
    """The first row is charged by what charges it, the second from what the first was charged."""
    ledger, calls = Ledger(Draw()), []

    def row(name: str) -> Row:
        made = Row(ledger, name, [], 1.0, "h")

        def charge() -> None:
            calls.append(name)
            made.charge("cpu", "cpu", capacity=4.0, per_byte=2.0, unit="cycles", what="work")
            made.charge("thread", "core", capacity=1.0, per_byte=3.0, unit="cycles", what="work", private=True)

        made.likewise(("same",), charge)
        return made

    first, second = row("one"), row("two")
    assert calls == ["one"]
    assert [d.station for d in first.demands] == ["h.cpu", "h.thread[one]"]
    assert [d.station for d in second.demands] == ["h.cpu", "h.thread[two]"]
    assert [d.per_byte for d in second.demands] == [2.0, 3.0]
    assert set(ledger.stations) == {"h.cpu", "h.thread[one]", "h.thread[two]"}
