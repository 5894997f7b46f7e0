"""What is charged once for transfers that are alike is what each of them would be charged by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dtnsim.composition import transport
from dtnsim.composition.compose import compose
from dtnsim.ground.ledger import Ledger, Row
from dtnsim.ground.quantity import Draw
from dtnsim.ground.records import Problem
from tests.lab import machine, volume
from tests.strategies import load

DRIVE = {"kind": "ssd", "read": "2 GB/s", "write": "1 GB/s"}
TOOLS: list[Any] = [
    {"name": "iperf3", "b": "1 Gb/s"}, {"name": "iperf3", "b": "2 Gb/s"}, {"name": "iperf3", "l": "64 KiB"},
    {"name": "iperf3", "l": "65536 B"}, {"name": "iperf3", "Z": True, "w": "4 MiB"}, {"name": "gridftp", "p": 4},
    {"name": "scp"}, {"name": "iperf3", "u": True, "b": "3 Gb/s"},
]  # fmt: skip


def path(rtt: str) -> dict[str, Any]:
    """Each tool twice, with data sets of its own, there and back; one pair on cores and ports of their own."""
    hosts = {
        name: machine(
            stack={"kind": "stack"},
            volumes={"/d": volume(DRIVE)},
            nic={"kind": "nic", "rate": "25 Gb/s", "mtu": "9000 B", "ports": 2, "bonding": "hash"},
        )
        for name in "abc"
    }
    transfers = []
    for n, tool in enumerate([*TOOLS, *TOOLS]):
        one, other = ("a", "b") if n < 8 or n % 2 else ("c", "a")
        place = "/d" if tool["name"] in ("gridftp", "scp") else "memory"
        transfers.append({"name": f"t{n}", "from": f"{one}:{place}", "to": f"{other}:{place}", "tool": tool,
                          "dataset": {"files": 1 + n % 2, "size": f"{10 + n} GB"}})  # fmt: skip
    transfers[0] |= {"core": 3}
    transfers[9] |= {"ports": {"a": 1}}
    wan = {"rtt": rtt, "bandwidth": "100 Gb/s", "loss": "1e-6", "policer": {"kind": "policer", "rate": "90 Gb/s"}}
    return {"name": "alike", "hosts": hosts, "wan": wan, "transfers": transfers}


def everything(problem: Problem) -> str:
    return repr((problem.stations, problem.transfers, problem.slowdowns, problem.warnings, problem.connections))


@pytest.mark.parametrize("rtt", ["0 ms", "20 ms"])
@pytest.mark.parametrize("draws", [0, 3])
def test_alike_transfers_are_charged_as_by_themselves(monkeypatch: pytest.MonkeyPatch, rtt: str, draws: int) -> None:
    spec = load(path(rtt))
    together = compose(spec, Draw(draws))

    def alone(self: Row, key: tuple[Any, ...], charge: Callable[[], None]) -> None:
        del self, key
        charge()

    monkeypatch.setattr(Row, "likewise", alone)
    monkeypatch.setattr(transport, "_like", lambda *_: None)
    assert everything(compose(spec, Draw(draws))) == everything(together)


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
