"""A bench for one component: what it charges to a row; and a path in which nothing else limits."""

import functools
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from dtnsim.components.access import Access, Thread
from dtnsim.components.base import Component, Model, find_kind
from dtnsim.components.device import Device
from dtnsim.components.stack import Stack
from dtnsim.composition.compose import compose
from dtnsim.ground.ledger import Ledger, Row
from dtnsim.ground.quantity import Draw, Value
from dtnsim.ground.records import Phase, Prediction, Problem, Station, Transfer
from dtnsim.ground.term import without_words
from dtnsim.steady import solve
from dtnsim.steady.prediction import predict
from tests.each import worked_out
from tests.formulas import wrong
from tests.strategies import load

KiB, MiB, GiB = 2.0**10, 2.0**20, 2.0**30

#: CONTRIBUTING's recipes as they are printed: shape -> (name of the file, its code)
RECIPES: Final = {
    shape: (module, code)
    for shape, module, code in re.findall(
        r"<!-- recipe: (\w+) (\w+) -->\n```py\n(.*?)```",
        (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8"),
        re.DOTALL,
    )
}

#: a kernel that costs nothing, so that what is left is the component under test
FREE = {
    "kind": "stack",
    "memory_stall": "0",
    **{
        name: f"0 {unit.dim}"
        for name, field in Stack.model_fields.items()
        for unit in field.metadata
        if getattr(unit, "dim", "").startswith("cycles")
    },
}


@dataclass(frozen=True)
class Sheet:
    """What was charged: a component's stations and what one byte costs there."""

    stations: dict[str, Station]
    demands: dict[str, float]
    warnings: tuple[str, ...] = ()

    def _named(self, end: str) -> list[str]:
        return [n for n in self.stations if end == n or ("." + n.partition("[")[0]).endswith("." + end)]

    def _find(self, end: str) -> str:
        found = self._named(end)
        assert len(found) == 1, f"{end}: {found} of {list(self.stations)}"
        return found[0]

    def station(self, end: str) -> Station:
        """The one station whose name ends so."""
        return self.stations[self._find(end)]

    def has(self, end: str) -> bool:
        """Whether something was charged there."""
        return bool(self._named(end))

    def capacity(self, end: str) -> float:
        """Capacity of a station."""
        return float(np.ravel(self.station(end).capacity)[0])

    def demand(self, end: str) -> float:
        """What one byte costs there, all visits together."""
        return self.demands[self._find(end)]

    def rate(self, end: str) -> float:
        """Bytes per second at which that station is full."""
        demand = self.demand(end)
        return self.capacity(end) / demand if demand else np.inf

    def figure(self, what: str) -> float:
        """What tables ask for: ``rate d.ssds``, and so ``demand``, ``capacity`` or whether it ``has`` one."""
        kind, _, end = what.partition(" ")
        return getattr(self, kind)(end)  # type: ignore[no-any-return]  # by name

    @property
    def bound(self) -> float:
        """Bytes per second at which the first station is full: X = min C / D."""
        return min((self.rate(name) for name in self.stations if self.demands[name] > 0), default=np.inf)


def charged(charge: Callable[[Row], None], *, draw: Draw | None = None, factor: Value = 1.0) -> Sheet:
    """The sheet of whatever ``charge`` writes on a row of host ``h``."""
    ledger = Ledger(draw or Draw())
    row = Row(ledger, "t", [], factor, "h")
    charge(row)
    total = dict.fromkeys(ledger.stations, 0.0)
    for demand in row.demands:
        total[demand.station] += float(np.ravel(demand.per_byte)[0])
    return Sheet(dict(ledger.stations), total, tuple(ledger.warnings))


def access(operation: str = "read", **changes: Any) -> Access:
    """A sequential stream in blocks of 1 MiB, of a file too large for any cache."""
    given: dict[str, Any] = {"block_B": MiB, "file_B": 1e18, "total_B": 1e18, **changes}
    return Access(operation, given.pop("thread", Thread("app")), **given)  # type: ignore[arg-type]  # a literal


def device(**parameters: Any) -> Device:
    """A drive or an array from its parameters as a file would give them."""
    return Device.build(parameters)


def served(made: Device, use: Access, **how: Any) -> Sheet:
    """What an access to a device charges."""
    return charged(lambda row: made.serve(row, use, "d", **how))


def machine(**changes: Any) -> dict[str, Any]:
    """A host that never limits: 256 cores at 10 GHz, terabytes a second of memory, a kernel for nothing."""
    return {
        "cpu": {"kind": "cpu", "cores": 256, "clock": "10 GHz"},
        "memory": {"kind": "memory", "channels": 64, "rate": "20000 MT/s", "size": "1 TiB"},
        "stack": FREE,
        "nic": {"kind": "nic", "rate": "100 Tb/s", "mtu": "9000 B"},
        "tcp": {"rmem_max": "2 GiB", "wmem_max": "2 GiB"},
        "vm": {"dirty_bytes": "1 MB", "dirty_background_bytes": "0 B"},  # drives have to keep up at once
        **changes,
    }


#: drives that take and give all that they are asked for
ENDLESS = {"kind": "unknown", "read": "1e9 GB/s", "write": "1e9 GB/s", "access": "0 s"}


def volume(array: Mapping[str, Any] | None = None, filesystem: Any = "xfs", **more: Any) -> dict[str, Any]:
    """A volume: an array under a file system; where none is given, drives that are never the limit."""
    kind = {"kind": filesystem} if isinstance(filesystem, str) else filesystem
    if array is None and kind["kind"] in ("xfs", "ext4", "zfs", "btrfs"):
        array = ENDLESS
    return {"filesystem": kind, **({"array": dict(array)} if array is not None else {}), **more}


def journey(
    source: Mapping[str, Any] | None = None,
    destination: Mapping[str, Any] | None = None,
    *,
    wan: Any = None,
    start: str = "a:memory",
    to: str = "b:memory",
    tool: Any = "iperf3",
    dataset: Any = None,
    **more: Any,
) -> dict[str, Any]:
    """A path between machines that never limit, as plain data."""
    transfer: dict[str, Any] = {"from": start, "to": to, "tool": tool}
    if dataset is not None:
        transfer["dataset"] = dataset
    hosts = {"a": dict(source or machine()), "b": dict(destination or machine())}
    path: dict[str, Any] = {"name": "t", "hosts": hosts}
    path["wan"] = wan if wan is not None else {"bandwidth": "100 Tb/s"}
    path["transfer"] = transfer
    path.update(more)
    if "transfers" in more:
        del path["transfer"]
    return {key: value for key, value in path.items() if value != {}}


@functools.lru_cache(maxsize=128)
def _answered(text: str, overrides: tuple[str, ...], samples: int) -> Prediction:
    return predict(load(json.loads(text), *overrides), samples=samples)


def answer(path: Mapping[str, Any], *overrides: str, samples: int = 0) -> Prediction:
    """The prediction of a path given as plain data: of one that is asked for again, made once."""
    return _answered(json.dumps(path), overrides, samples)


@functools.lru_cache(maxsize=512)
def _rated(text: str, overrides: tuple[str, ...]) -> float:
    with without_words():  # a rate alone: formulas are read of `answer`
        return predict(load(json.loads(text), *overrides), samples=0).throughput_Bps.p50


def rate(path: Mapping[str, Any], *overrides: str) -> float:
    """Its throughput at nominal values [B/s]."""
    return _rated(json.dumps(path), overrides)


def moves(before: Mapping[str, Any], after: Mapping[str, Any], rel: float = 1e-4) -> bool:
    """Whether a change moves the answer by more than that; what `explain` then prints is the calculation."""
    now, then = rate(before), answer(after)
    found = wrong(then.problem)
    assert not found, "\n".join(found)  # pytest rewrites no assertion of this file
    return abs(then.throughput_Bps.p50 - now) > rel * now


def of_path(path: Mapping[str, Any]) -> Callable[[str], Any]:
    """Figures of a path for `expect`: of its sheet, or of that of another transfer, ``1 demand a.memory``.

    Besides ``answer`` [B/s] and ``seconds``, ``station``, ``kind``, ``reason`` and ``remedy`` of what binds, all
    that is ``warned``, ``waits`` [s/B] of all or of one kind, ``private`` or ``kind`` for a station.
    """
    given = problem(path)

    def figure(what: str) -> Any:
        kind, _, of = what.partition(" ")
        number = int(kind) if kind.isdigit() else 0
        found = sheet(given, number)
        match kind:
            case "answer":
                return rate(path)
            case "seconds":
                return answer(path).duration_s.p50
            case "private" | "kind" if of:
                return getattr(found.station(of), kind)
            case "station" | "kind" | "reason" | "remedy":
                return getattr(answer(path).bottleneck, kind)
            case "warned":
                return "; ".join(given.warnings)
            case "waits":
                return waiting(given, of)
            case "bound":
                return found.bound
        return found.figure(of if kind.isdigit() else what)

    return figure


def of_table(given: Mapping[str, Any]) -> dict[str, Any]:
    """A path of a table: what differs from a `journey` between machines that never limit.

    Of hosts ``a`` and ``b``, or of ``both``, it is what differs from a `machine`, where ``costs`` are those of a
    kernel that costs nothing else; ``also`` has keys of the transfer.
    """
    told, ends = dict(given), []
    both, also = told.pop("both", {}), told.pop("also", {})
    for host in "ab":
        changes = {**both, **told.pop(host, {})}
        costs = {"stack": {**FREE, **changes.pop("costs")}} if "costs" in changes else {}
        made = machine(**changes, **costs)
        ends.append({key: value for key, value in made.items() if key != "nic" or "nics" not in changes})
    path = journey(*ends, **told)
    if also:
        path["transfer"] |= also
    return path


def expect(figure: Callable[[str], Any], figures: Mapping[str, Any]) -> None:
    """Whether figures are those of a row: each a value, ``[value, tolerance]`` or ``{between: [low, high]}``."""
    for what, expected in worked_out(dict(figures), {}).items():
        found = figure(what)
        if isinstance(expected, dict):
            low, high = expected["between"]
            assert low < found < high, f"{what}: {found} is not between {low} and {high}"
        else:
            value, rel = (*(expected if isinstance(expected, list) else [expected]), 1e-6)[:2]
            # pytest rewrites no assertion of this file: what failed is its message
            near = value if isinstance(value, str) else pytest.approx(value, rel, abs=0)
            assert found == near, f"{what}: {found} is not {value}"


def all_tried(of: str | type[Model], rows: Iterable[str], table: str, but: Iterable[str] = ()) -> None:
    """Every key of a kind, but those of all components, has a row of ``tests/components/TABLE.yaml``; no other has."""
    model = find_kind(of) if isinstance(of, str) else of
    keys, tried = {*model.model_fields} - {*Component.model_fields, *but}, {*rows}
    assert not keys - tried, f"{model.__name__}: {keys - tried} has no row beside the others in {table}.yaml: write it"
    assert not tried - keys, f"{model.__name__}: {tried - keys} is no key: take its row out of {table}.yaml"


def problem(path: Mapping[str, Any], *overrides: str) -> Problem:
    """Its stations and demands at nominal values."""
    return compose(load(dict(path), *overrides), Draw())


def sheet(given: Problem, number: int = 0) -> Sheet:
    """The stations and summed demands of one transfer of a problem."""
    total = {s.name: 0.0 for s in given.stations}
    for phase in given.transfers[number].phases:
        for demand in phase.demands:
            total[demand.station] += float(np.ravel(demand.per_byte)[0])
    return Sheet({s.name: s for s in given.stations}, total, given.warnings)


def waiting(given: Problem, what: str = "") -> float:
    """Seconds per byte in which a worker of the first transfer waits; of one kind whatever goes on meanwhile."""
    one = given.transfers[0]
    phases = (one.buffered,) if what and one.buffered is not None else one.phases
    return float(sum(np.ravel(d.per_byte)[0] for p in phases for d in p.delays if d.what.startswith(what)))


def solved(stations: list[Station], *phases: Phase, workers: float = 1.0) -> float:
    """Rate of one transfer of the given phases."""
    one = Transfer("t", phases, workers, 1e9, 1)
    return float(solve.solve(solve.matrices(Problem("t", tuple(stations), (one,)))).rate[0, 0])
