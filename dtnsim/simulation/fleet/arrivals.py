"""When transfers come, between which ends, with how many bytes and files: a workload drawn for one run."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from dtnsim.description import calendar
from dtnsim.description.workload import YEAR_S, Files, Sizes, TransferClass, Workload
from dtnsim.ground import units
from dtnsim.ground.errors import InputError, SpecError
from dtnsim.ground.units import plural
from dtnsim.physics import arrivals as law
from dtnsim.physics._arrays import FloatArray as Array, IntArray
from dtnsim.simulation.fleet import trace
from dtnsim.simulation.fleet.trace import MOST_B

MOST: Final = 20_000_000  #: more transfers than that in one run are refused


@dataclass(frozen=True, slots=True)
class Arrived:
    """Transfers of one class in one run, (N,) each."""

    asked: Array  #: When each is asked for [s].
    ready: Array  #: When it may begin [s].
    size: Array  #: Bytes [B].
    files: IntArray  #: Number of files.
    pair: IntArray  #: (N, 2) numbers of the class' ends, from and to.
    user: IntArray  #: Number of its user.
    cap: Array  #: Rate that it may not pass [B/s].
    note: str = ""  #: What of a trace is left out; empty where nothing is.


def draw(name: str, workload: Workload, seed: int, folder: Path) -> Arrived:
    """A class' transfers in one run, of numbers of its own, so that no class changes another; ``folder`` has traces."""
    kind = workload.classes[name]
    rng = np.random.default_rng([seed, *name.encode()])
    where = f"workload.classes.{name}"
    if kind.trace is not None:
        return _traced(kind, workload, folder, where, rng)
    times = _times(kind, workload, where, rng)
    n = len(times)
    size = _sizes(kind, n, rng)
    if kind.rate is None and kind.volume is None:  # those that come by the clock grow larger, not more frequent
        size = size * np.asarray(law.grown(times + workload.ahead.value, growth_of(kind, workload), YEAR_S))
    if n and float(size.max()) > MOST_B:
        raise SpecError("grows beyond what can be reckoned with", key=f"{where}.growth", remedy="lower the growth")
    pair = _pairs(kind, n, where, rng)
    cap = np.full(n, math.inf if kind.cap is None else kind.cap.value)
    user = rng.integers(0, len(kind.user), n)
    return Arrived(times, _opened(kind, workload, times), size, _files(kind, size, rng), pair, user, cap)


def growth_of(kind: TransferClass, workload: Workload) -> float:
    """Growth of a class in a year [1]."""
    return (kind.growth or workload.growth).value


def _times(kind: TransferClass, workload: Workload, where: str, rng: np.random.Generator) -> Array:
    """When the transfers of a class are asked for [s]."""
    span, begin = workload.span.value, calendar.date(workload.date)
    if kind.rate is not None or kind.volume is not None:
        return _random(kind, workload, where, rng)
    if kind.start is not None:
        times = np.array([kind.start.value]) if kind.start.value < span else np.zeros(0)
    elif kind.cron is not None:
        times = calendar.Cron(kind.cron).times(begin, span)
    else:
        assert kind.every is not None
        _check_count(span / kind.every.value * kind.count, where)
        first = 0.0
        if kind.at is not None:
            midnight = float(calendar.of_week(np.zeros(1), begin)[0]) % calendar.DAY_S
            first = (calendar.clock(kind.at) - midnight) % calendar.DAY_S
        times = np.arange(first, span, kind.every.value)
    _check_count(len(times) * kind.count, where)
    return np.repeat(times, kind.count)


def _random(kind: TransferClass, workload: Workload, where: str, rng: np.random.Generator) -> Array:
    """Poisson arrivals that follow the day, the week and growth."""
    span, begin, growth = workload.span.value, calendar.date(workload.date), growth_of(kind, workload)
    rate = kind.rate.value if kind.rate is not None else kind.volume.value / kind.mean_B if kind.volume else 0.0
    ahead = workload.ahead.value
    most = max(float(law.grown(ahead + t, growth, YEAR_S)) for t in (0.0, span))
    _check_count(rate * span * most, where)

    def intensity(times: Array) -> Array:
        part = np.asarray(law.grown(times + ahead, growth, YEAR_S))
        if kind.diurnal is None:
            return part
        week = calendar.of_week(times, begin)
        wave = law.weekly(week, kind.diurnal.wave.value, kind.diurnal.peak_hour, kind.diurnal.weekend.value)
        return np.asarray(part * np.asarray(wave))

    top = most * (law.weekly_top(kind.diurnal.wave.value, kind.diurnal.weekend.value) if kind.diurnal else 1.0)
    # Poisson arrivals of rate x intensity by thinning one of the highest rate (Lewis and Shedler 1979)
    times = np.sort(rng.random(int(rng.poisson(rate * top * span))) * span)
    return np.asarray(times[rng.random(len(times)) * top <= intensity(times)])


def _check_count(expected: float, where: str) -> None:
    if not expected <= MOST:
        shown = f"{expected:.3g}" if math.isfinite(expected) else "more"
        remedy = "lower the rate, the growth or the span"
        raise SpecError(f"would be {shown} transfers; at most {MOST:.0e} are simulated", key=where, remedy=remedy)


def _sizes(kind: TransferClass, n: int, rng: np.random.Generator) -> Array:
    if not isinstance(kind.size, Sizes):
        return np.full(n, kind.size.value if kind.size is not None else 1.0)
    sizes = kind.size.median.value * np.exp(kind.size.sigma * rng.standard_normal(n))
    return np.clip(sizes, 1.0, kind.size.most.value if kind.size.most is not None else MOST_B)


def _files(kind: TransferClass, size: Array, rng: np.random.Generator) -> IntArray:
    if kind.each is not None:
        count = np.rint(size / kind.each.value)
    elif isinstance(kind.files, Files):
        count = np.rint(kind.files.median * np.exp(kind.files.sigma * rng.standard_normal(len(size))))
    else:
        count = np.full(len(size), float(kind.files or 1))
    return np.clip(np.minimum(count, size), 1, 1e12).astype(np.int64)


def _pairs(kind: TransferClass, n: int, where: str, rng: np.random.Generator) -> IntArray:
    """(n, 2) numbers of the ends of each transfer."""
    share = shares(kind, where)
    flat = np.cumsum(share.ravel() / share.sum())
    chosen = np.minimum(np.searchsorted(flat, rng.random(n), side="right"), flat.size - 1)
    return np.stack(np.divmod(chosen, share.shape[1]), axis=1)


def shares(kind: TransferClass, where: str) -> Array:
    """(from, to) how often each pair of a class' ends is chosen, relative to the others."""
    begin, to = [e.partition(":")[0].strip() for e in kind.begin], [e.partition(":")[0].strip() for e in kind.to]
    share = np.array([[float(a != b or len(begin) == len(to) == 1) for b in to] for a in begin])
    if kind.pairs is not None and kind.pairs.gravity is not None:
        mass = kind.pairs.gravity
        _check_ends(mass, {*begin, *to}, f"{where}.pairs.gravity")
        for name in (*begin, *to):
            if name not in mass:
                raise SpecError("has no mass", key=f"{where}.pairs.gravity", value=name, remedy="give it one")
        share = share * np.outer([mass[a] for a in begin], [mass[b] for b in to])
    elif kind.pairs is not None and kind.pairs.matrix is not None:
        _check_ends(kind.pairs.matrix, set(begin), f"{where}.pairs.matrix")
        for row in kind.pairs.matrix.values():
            _check_ends(row, set(to), f"{where}.pairs.matrix")
        share = np.array([[kind.pairs.matrix.get(a, {}).get(b, 0.0) for b in to] for a in begin])
    if not share.sum() > 0:
        raise SpecError("no two of its ends ever meet", key=where, remedy="give other ends, or pairs with a share")
    return share


def _check_ends(names: Any, ends: set[str], key: str) -> None:
    for name in names:
        if name not in ends:
            remedy = f"write one of {', '.join(sorted(ends))}"
            raise SpecError("is no end of this class", key=key, value=name, remedy=remedy)


def _opened(kind: TransferClass, workload: Workload, times: Array) -> Array:
    """When each transfer may begin: at once, or when the window of its class next opens [s]."""
    window = kind.window
    if window is None:
        return times
    opens, closes = calendar.clock(window.begin), calendar.clock(window.to)
    lasts = (closes - opens) % calendar.DAY_S or calendar.DAY_S
    starts = np.array([d * calendar.DAY_S + opens for d in sorted(calendar.weekdays(window.days))])
    starts = np.concatenate([starts - calendar.WEEK_S, starts, starts + calendar.WEEK_S])
    week = calendar.of_week(times, calendar.date(workload.date))
    last = starts[np.searchsorted(starts, week, side="right") - 1]
    following = starts[np.searchsorted(starts, week, side="right")]
    return times + np.where(week < last + lasts, 0.0, following - week)


def _traced(kind: TransferClass, workload: Workload, folder: Path, where: str, rng: np.random.Generator) -> Arrived:
    """The transfers of a class' trace."""
    assert kind.trace is not None
    path = folder / kind.trace
    traced = trace.read(path, calendar.date(workload.date))
    index = [{e.partition(":")[0].strip(): n for n, e in enumerate(ends)} for ends in (kind.begin, kind.to)]
    number = np.full((len(traced.names), 2), -1)
    for n, name in enumerate(traced.names):
        for side in (0, 1):
            number[n, side] = index[side].get(kind.names.get(name, name), -1)
    pair = np.stack([number[traced.ends[:, side], side] for side in (0, 1)], axis=1)
    bad = np.flatnonzero((pair < 0).any(axis=1))
    if len(bad):
        side = int(np.argmax(pair[bad[0]] < 0))
        n = int(traced.ends[bad[0], side])
        role, choices = ("source", "destination")[side], ", ".join(index[side])
        remedy = f"write one of {choices}, or say in 'names' which one it is"
        raise InputError(f"{path}:{traced.line[n]}: {role} {traced.names[n]!r} is no end of {where}; {remedy}")
    inside, span = traced.start < workload.span.value, units.show(workload.span.value, "s")
    if len(inside) and not inside.any():
        first, remedy = units.show(traced.start[0], "s"), "write the trace's first 'date'"
        beyond = f"comes after {first}, beyond the span of {span} from {workload.date} on"
        raise InputError(f"{path}: its first transfer {beyond}; {remedy}")
    times, size = traced.start[inside], traced.size[inside]
    cap = np.minimum(traced.cap[inside], math.inf if kind.cap is None else kind.cap.value)
    user = rng.integers(0, len(kind.user), len(times))
    files = np.minimum(traced.files[inside], np.maximum(size, 1)).astype(np.int64)
    note = "" if inside.all() else (
        f"{path}: {plural(int((~inside).sum()), 'transfer')} of {len(inside)} "
        f"({units.show(float(traced.size[~inside].sum()), 'B')}) come after the span of {span} and are left out"
    )  # fmt: skip
    return Arrived(times, _opened(kind, workload, times), size, files, pair[inside], user, cap, note)
