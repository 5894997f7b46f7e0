"""What if: a path at all combinations of a few round trips, losses, streams, files and drives, worked out beforehand.

Every figure is the median that `predict` gives for the path so changed, so that a page can show it without a server.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from dtnsim.description.spec import PathSpec
from dtnsim.description.transfer import at_once
from dtnsim.ground import units
from dtnsim.ground.errors import DtnsimError
from dtnsim.ground.units import plural
from dtnsim.planning import groups, rating
from dtnsim.planning.actions.network import segments
from dtnsim.planning.groups import Outcome, Task

#: round trips [s], losses, streams, files and multiples of the drives that are tried beside the path's own
_RTT_S: Final = (0.2e-3, 5e-3, 20e-3, 60e-3, 150e-3)
_LOSS: Final = (0.0, 1e-6, 1e-4)
_STREAMS: Final = (1, 4, 16)
_FILES: Final = (1, 1000, 100_000)
_DRIVES: Final = (0.5, 2.0)
#: how many values of each are worth having where there are too many crossings
_WORTH: Final = {"rtt": 5, "loss": 3, "streams": 4, "files": 3, "drives": 2}
_SIZES: Final = tuple(10.0**n for n in range(3, 13))  #: sizes of a file, 1 kB to 1 TB
#: bytes of the data set of small files: enough for the work of a file to show, whatever their size
_BULK_B: Final = 1e12


@dataclass(frozen=True, slots=True)
class Axis:
    """Values of one thing."""

    name: str  #: ``rtt``, ``loss``, ``streams``, ``files`` or ``drives``.
    title: str  #: What a reader calls it.
    labels: tuple[str, ...]  #: The values as they are shown.
    overrides: tuple[tuple[str, ...], ...]  #: ``key=value`` texts that make each of them; nothing for the path's own.
    own: int  #: Number of the path's own value.


@dataclass(frozen=True, slots=True)
class Grid:
    """All combinations of some axes, the last axis fastest."""

    axes: tuple[Axis, ...]  #: What is varied.
    outcomes: tuple[Outcome, ...]  #: What each crossing gives.
    every: int  #: Crossings that there were before values were left out.

    def plane(self, rows: str, columns: str) -> tuple[Axis, Axis, list[list[float | None]]] | None:
        """Throughputs over two of the axes, everything else as the path has it; None where an axis is not there."""
        place = {a.name: n for n, a in enumerate(self.axes)}
        if rows not in place or columns not in place:
            return None
        down, across = self.axes[place[rows]], self.axes[place[columns]]
        places = range(len(down.labels)), range(len(across.labels))
        return down, across, [[self.outcome({rows: r, columns: c}).rate_Bps for c in places[1]] for r in places[0]]

    def outcome(self, chosen: dict[str, int]) -> Outcome:
        """Outcome of one combination; axes that are not named have the path's own value."""
        number = 0
        for axis in self.axes:
            number = number * len(axis.labels) + chosen.get(axis.name, axis.own)
        return self.outcomes[number]


def grid(task: Task, most: int, progress: Callable[[int, int], None] | None = None) -> Grid:
    """Works out all combinations: values are left out until there are no more than ``most`` of them."""
    path = task.given
    axes = [a for a in (*_between(path), _streams(path), _files(path), _drives(path)) if a is not None]
    every = _crossings(axes)
    while axes and _crossings(axes) > max(most, 1):
        longest = max(range(len(axes)), key=lambda n: len(axes[n].labels) / _WORTH[axes[n].name])
        axes[longest] = _shorter(axes[longest])
    axes = [a for a in axes if len(a.labels) > 1]
    total = _crossings(axes)
    wire = itertools.product(*(a.overrides for a in axes if a.name in ("rtt", "loss", "streams")))
    rating.Paths(path).ahead([o for overrides in chosen for o in overrides] for chosen in wire)
    outcomes = []
    for number, chosen in enumerate(itertools.product(*(a.overrides for a in axes))):
        outcomes.append(groups.predicted(task, [o for overrides in chosen for o in overrides]))
        if progress is not None:
            progress(number + 1, total)
    return Grid(tuple(axes), tuple(outcomes), every)


def sizes(task: Task) -> list[tuple[float, float | None]]:
    """(size of a file [B], throughput [B/s]) of data sets of equal files from 1 kB to 1 TB; nothing for timed tests."""
    points: list[tuple[float, float | None]] = []
    for size in _SIZES if _free(task.given) else ():
        count = max(1, int(min(_BULK_B / size, 1e5)))
        outcome = groups.predicted(task, _moved(task.given, f"{{files: {count}, each: {size:.0f} B}}"))
        points.append((size, outcome.rate_Bps))
    return points if any(rate is not None for _, rate in points) else []


def _crossings(axes: Sequence[Axis]) -> int:
    return math.prod(len(axis.labels) for axis in axes)


def _shorter(axis: Axis) -> Axis:
    """The axis without the value nearest to the middle that is not the path's own."""
    middle = min((n for n in range(len(axis.labels)) if n != axis.own), key=lambda n: abs(n - len(axis.labels) / 2))
    keep = [n for n in range(len(axis.labels)) if n != middle]
    labels, overrides = tuple(axis.labels[n] for n in keep), tuple(axis.overrides[n] for n in keep)
    return replace(axis, own=axis.own - (middle < axis.own), labels=labels, overrides=overrides)


def _axis(name: str, title: str, own_value: float, tried: Sequence[float], make: Callable[[float], Any]) -> Axis:
    """An axis through the path's own value; ``make`` gives (label, overrides)."""
    numbers = sorted({own_value, *(v for v in tried if abs(v - own_value) > 0.25 * own_value)})
    entries = [make(v) for v in numbers]
    index = numbers.index(own_value)
    overrides = tuple(() if n == index else tuple(o) for n, (_, o) in enumerate(entries))
    return Axis(name, title, tuple(label for label, _ in entries), overrides, index)


def _between(path: PathSpec) -> Iterator[Axis]:
    """Round trip and loss of the segment with the longest round trip."""
    key, segment = max(segments(path), key=lambda item: item[1].rtt.value, default=("", None))
    if segment is not None:
        rtt, loss = segment.rtt.value, segment.loss.value
        yield _axis("rtt", "round trip", rtt, _RTT_S, lambda v: (units.show(v, "s"), [f"{key}.rtt={v * 1e3:.6g} ms"]))
        yield _axis("loss", "random loss", loss, _LOSS, lambda v: (f"{v:g}", [f"{key}.loss={v:g}"]))


def _streams(path: PathSpec) -> Axis | None:
    options = [] if path.programs else at_once(path.transfers)
    if not options:
        return None
    name, current = options[0][1], options[0][2]
    same = [(path.transfer_key(n), option) for n, option, value in options if option == name and value == current]

    def setting(value: float) -> tuple[str, list[str]]:
        return f"{value:.0f}", [f"{key}.tool.{option}={value:.0f}" for key, option in same]

    return _axis("streams", f"streams ({name})", float(current), _STREAMS, setting)


def _free(path: PathSpec) -> bool:
    """Whether other files may be moved: no transfer is timed, and no program waits for them."""
    return not path.programs and all(t.timing() is None for t in path.transfers)


def _moved(path: PathSpec, text: str) -> list[str]:
    return [f"{path.transfer_key(n)}.dataset={text}" for n in range(len(path.transfers))]


def _files(path: PathSpec) -> Axis | None:
    sets = [t.dataset for t in path.transfers]
    if not _free(path) or any(d is None for d in sets):
        return None
    first: Any = sets[0]
    data_B = first.payload_B

    def setting(value: float) -> tuple[str, list[str]]:
        size = units.show(data_B / value, "B")
        return f"{plural(int(value), 'file')} of {size}", _moved(path, f"{{files: {value:.0f}, size: {data_B:.0f} B}}")

    return _axis("files", "files", float(first.files), [n for n in _FILES if data_B / n >= 1.0], setting)


def _drives(path: PathSpec) -> Axis | None:
    """Drives of the volumes that transfers read and write, all by the same factor."""
    disks: dict[str, int] = {}
    for transfer in path.transfers:
        for end in (transfer.source_end, transfer.to):
            host, _, place = end.partition(":")
            mount = path.hosts[host.strip()].mount_of(place.strip())
            array: Any = path.hosts[host.strip()].volumes[mount].array if mount is not None else None
            if getattr(array, "disks", None) is not None:
                disks[f"hosts.{host.strip()}.volumes.{mount}.array.disks"] = array.disks
    if not disks:
        return None

    def setting(factor: float) -> tuple[str, list[str]]:
        counts = {key: max(1, round(n * factor)) for key, n in disks.items()}
        shown = sorted(set(counts.values()))
        return " and ".join(f"{n:g}" for n in shown) + " in a group", [f"{key}={n}" for key, n in counts.items()]

    axis = _axis("drives", "drives", 1.0, _DRIVES, setting)
    try:
        for overrides in axis.overrides:
            path.changed(overrides)
    except DtnsimError:
        return None
    return axis
