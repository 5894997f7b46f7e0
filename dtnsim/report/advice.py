"""What a card advises: what to type for a change on hosts, of a tool or of this program, and what to find out."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

import numpy as np

from dtnsim.composition.relief import sysctl_lines, tcp_of
from dtnsim.discovery.finding_out import how_on
from dtnsim.ground import units
from dtnsim.ground.quantity import Mixture
from dtnsim.ground.records import Prediction
from dtnsim.ground.uncertainty import Assumption, Remedy

if TYPE_CHECKING:
    from dtnsim.description.spec import PathSpec
    from dtnsim.steady.goals import Goal

_SETTING: Final = re.compile(r"\S+=(?:'[^']*'|\S+)")  #: a setting of sysctl(8)
_SETS: Final = 4  #: options beyond which a change is told by those of its first transfer
LATE: Final = " (too late)"  #: said of what makes an answer miss its deadline


def option(way: Remedy) -> str:
    """A change as an option; of transfers and hosts that are changed alike what the first needs."""
    alike: dict[str, list[str]] = {}
    for number, override in enumerate(way.overrides):
        changed = override.split(".", 2)[-1] if len(way.overrides) > _SETS else str(number)
        alike.setdefault(changed, []).append(f"--set {shlex.quote(override)}")
    more = max(map(len, alike.values()), default=1) - 1
    return " ".join(sets[0] for sets in alike.values()) + (f", and so for {more} like it" if more else "")


def typed(p: Prediction, way: Remedy) -> tuple[str, ...]:
    """A change as it is typed on its hosts, or as an option of the tool; empty where nobody can type it."""
    hosts = ((name, sysctl_lines(tcp_of(name, way.overrides), host.system)) for name, host in p.given.hosts.items())
    lines = [
        f"{one}  # {'ask those of' if name in of_others(p) else 'on'} {name}"
        for name, typed in hosts
        for line in typed
        for one in _commands(line)
    ]
    line = way.words.partition(" at once: ")[2]
    return tuple(lines) or ((line,) if line else ())


def of_others(p: Prediction) -> set[str]:
    """Hosts that are other people's: servers that a tool fetches from, of whose ports nobody knows a thing."""
    served = {t.source_end.partition(":")[0] for t in p.given.transfers if t.tool.fetches}
    return {name for name in served if all(isinstance(c.rate, Mixture) for c in p.given.hosts[name].nics.values())}


def _commands(line: str) -> list[str]:
    """A command for each setting of a line: short enough for a screen, and to be pasted."""
    head, settings = line.split(" ", 2)[:2], _SETTING.findall(line)
    return [f"{' '.join(head)} {one}" for one in settings] if head == ["sysctl", "-w"] else [line]


def path_of(p: Prediction) -> str:
    """What the commands call the path."""
    file = PurePath(p.given.file or "PATH")
    shipped = file.parts[:2] == ("models", "paths")
    return shlex.quote(str(file.relative_to("models/paths").with_suffix("") if shipped else file))


def measured(p: Prediction, a: Assumption, rates: Sequence[float], wanted: Sequence[Goal] = ()) -> str:
    """What to find out, how, and what becomes of the answer: ``rates`` are its medians at both ends of it [B/s]."""
    late = next((g.value for g in wanted if g.kind == "deadline"), np.inf)
    more, median_s = [rate / max(p.throughput_Bps.p50, 1e-300) for rate in rates], p.duration_s.p50
    ends = [*zip(more, (a.low, a.high), strict=True)][: 1 + a.ranges]
    if p.drawn is None or all(t.timed for t in p.problem.transfers):
        then = [units.show(p.throughput_Bps.p50 * factor, "B/s", digits=2) for factor, _ in ends]
        words = [f"{rate} with {value}" for rate, (_, value) in zip(then, ends, strict=True)]
    else:
        took = [median_s / max(factor, 1e-300) for factor, _ in ends]
        then = compared_times((median_s, p.duration_s.p10, p.duration_s.p90), took)
        missed = (LATE if median_s <= late < seconds else "" for seconds in took)
        words = [f"{end} with {value}{no}" for end, (_, value), no in zip(then, ends, missed, strict=True)]
    where = "in the ceiling" if max(a.at_low, a.at_high) > 1 else "at best"  # Linux' default window is not the best
    taken = f"drawn, {a.value} {where}" if a.best else f"taken as {a.value}"
    return f"{a.key}, by {how_on(a.drawn or a.key, p.given.hosts_of(a.key))}: {taken}; {', '.join(words)}"


def compared_times(current: Sequence[float], took: Sequence[float]) -> list[str]:
    """Times in the unit of those of now, with as many digits as show that one is another."""
    for digits in (2, 3, 4):
        shown = units.in_one_unit([*current, *took], digits)
        then = shown[len(current) :]
        if any(each != shown[0] for each in then):
            break
    return then


def may_choose(path: PathSpec, f: int) -> bool:
    """Whether another tool can move the files of transfer ``f``: no test, nothing timed, no months of work."""
    if path.workload is not None or f >= len(path.transfers):
        return False
    transfer = path.transfers[f]
    timed = transfer.dataset is None or transfer.timing() is not None
    return not (timed or path.programs or transfer.tool.tool_class.endswith("test"))
