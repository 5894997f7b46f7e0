"""Stretches of a transfer in time, and each that moves bytes as a transfer of its own.

Shapes: S scenarios, F transfers, G stages that move bytes, K stations.
"""

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import NormalDist
from typing import Final

import numpy as np

from dtnsim.ground.quantity import prior
from dtnsim.ground.records import Transfer
from dtnsim.physics._arrays import BoolArray, FloatArray as Array, Index
from dtnsim.physics.waiting import log_spread
from dtnsim.steady.ceilings import solo_times, station_time
from dtnsim.steady.matrices import OF_PHASES, OF_STATIONS, OF_TRANSFERS, Matrices, divided, several_steps
from dtnsim.steady.rows import Rows, summed

_LEAST: Final = 1e-9  #: part of a transfer's bytes below which a phase is none
_ROUNDED: Final = 1e-6  #: part of a byte's step by which a step is not whole
#: what equal flows miss of perfect fairness over the life of a file, 1 - J; what checksums on cores of their own take
#: differs by file as much
UNFAIRNESS: Final = prior(
    "0.05",
    1.0,
    "assumed, and wide: Jain's index of equal flows and of equal readers of a drive over minutes is 0.8 to 0.99; of "
    "checksums no figures were found: clocks, caches and what else runs move them by some per cent to a quarter",
)
_ALWAYS: Final = np.ones(1, dtype=bool)
_FEW: Final = 8  #: files whose steps one worker goes through one by one, at most
_PARTS: Final = 128  #: parts a worker takes in all, at least, of files that are cut


@dataclass(frozen=True, slots=True)
class Stage:
    """A stretch of a transfer."""

    phases: range  #: Phases that its bytes go through; none where it only lasts.
    workers: int  #: Workers that have a file.
    part: float | Array  #: Part of the transfer's bytes, one value or (S,); infinite where a time ends it [1].
    seconds: Array  #: How long it lasts at most, one value or (S,) [s].
    counts: bool = True  #: Whether its bytes count.


def stages_of(t: Transfer, m: Matrices, f: int, *, shared: bool, begins: BoolArray = _ALWAYS) -> list[Stage]:
    """The stages of a transfer.

    Args:
        shared: Whether others write to its page cache, too: then it has no stretches of its own.
        begins: Whether its workers' first parts of files, all at the same step, are stages of their own, (S,) or one.
    """
    phases, always = m.phases_of(f), np.array([math.inf])
    workers = max(int(t.workers), 1)
    if t.timed:
        seq = [Stage(phases, workers, math.inf, np.array([t.time_s]))]
        return [Stage(phases, workers, math.inf, np.array([t.omitted_s]), counts=False), *seq] if t.omitted_s else seq
    lead = m.lead[:, f] * t.payload_B
    seq = [Stage(range(0), workers, 0.0, lead)] if np.any(lead > 0) else []
    several = several_steps(t)
    mixed = shared or (t.cache is not None and t.cache.flush_files and t.files > workers)
    if several and not step_by_step(t):
        return seq + _in_step(t, m, f, phases, begins | (not in_parts(t)))
    rows = [phases] if mixed and not several else [range(p, p + 1) for p in phases]
    return seq + [Stage(row, n, part, always) for n, part in m.rounds[f] for row in rows]


def _in_step(t: Transfer, m: Matrices, f: int, phases: range, begins: BoolArray) -> list[Stage]:
    """The stages of workers who all begin at the first step; later each is at its own.

    They come to the next step in step as far as that lasts longer than they come one after the other (`_in_time`). What
    they have in hand then is at the later steps at last, unless some of them work on alone. One worker is at one step
    after the other with each of a few files.

    Args:
        phases: Its phases.
        begins: (S,) whether their first parts are stages of their own, or one.
    """
    always, steps = np.array([math.inf]), steps_of(m, phases)
    (workers, part), *fewer = m.rounds[f]
    if len(steps) == 1 or not begins.any():
        return [Stage(phases, n, p, always) for n, p in m.rounds[f]]
    first_part = np.where(begins, min(workers * visit_B(t) / max(t.payload_B, 1.0), part), 0.0)
    again = part - first_part
    still = _in_time(m, f, steps, workers) if (again > _LEAST).any() else np.ones(1)
    if workers == 1 and t.files <= _FEW and not in_parts(t):
        return [Stage(step, 1, part / t.files, always) for _ in range(int(t.files)) for step in steps]
    parts = [(steps[0], first_part), *((step, first_part * still) for step in steps[1:]), (phases, again)]
    parts += [(step, first_part * (1 - still)) for step in steps[1:] if not fewer]
    return [Stage(row, workers, p, always) for row, p in parts if (p > _LEAST).any()] + [
        Stage(phases, n, p, always) for n, p in fewer
    ]


def _in_time(m: Matrices, f: int, steps: list[range], workers: int) -> Array:
    """Part of their first later ``steps`` (of phases) that all workers of a transfer go through together, (S,).

    Shares w of equals are log-normal (`UNFAIRNESS`). While all n of them share what holds them, the one with the most
    has its bytes after mean(w) / max(w) of the time T of all, and the last of them at T: so they are there together for
    all of the later steps' time but T (1 - mean(w) / max(w)).

    Neglects: that those who are late have the link for fewer; that steps by themselves are not equally long either.
    Source: the largest of n at its mean: G. Blom, Statistical Estimates and Transformed Beta-Variables (1958).
    """
    solo = [seconds.max(axis=1, initial=0.0) for _, seconds in solo_times(m, f)]
    numbers, first = np.array(m.phases_of(f)), m.phases_of(f).start
    shared = station_time(m.phases.select(numbers), m.capacity) * workers

    def lasts(step: range) -> Array:
        return np.asarray(np.sum([np.maximum(solo[p - first], shared[p - first]) for p in step], axis=0))

    most = float(log_spread(1 - UNFAIRNESS.value)) * NormalDist().inv_cdf((workers - 0.375) / (workers + 0.25))
    apart = lasts(steps[0]) * -math.expm1(-most)
    later = np.sum([lasts(step) for step in steps[1:]], axis=0)
    return np.asarray(np.clip(1 - apart / np.maximum(later, 1e-300), 0, 1))


def steps_of(m: Matrices, phases: range) -> list[range]:
    """Those of a transfer's phases that belong to each of its steps; a scan, which uses no station, to the next."""
    moved = m.moved[phases]
    step = np.floor(np.cumsum(moved) - moved + _ROUNDED).astype(int)
    works = [m.phases.station[m.phases.first[p]] < m.capacity.shape[1] for p in phases]
    bounds = [0, *(n for n in range(1, len(phases)) if step[n] > step[n - 1] and any(works[:n])), len(phases)]
    return [phases[a:b] for a, b in pairwise(bounds)]


def in_parts(t: Transfer) -> bool:
    """Whether workers take parts of files: several of them, or one that goes through all steps with each part."""
    return divided(t) and (t.workers > 1 or several_steps(t))


def visit_B(t: Transfer) -> float:
    """Bytes that a worker takes through all steps before it takes others: a file in the mean, or a part of one [B]."""
    workers = max(t.workers, 1.0)
    if not in_parts(t):
        return min(t.payload_B / max(t.files, workers), t.piece_B)
    longest = max(t.sizes_B)
    most = min(t.piece_B if several_steps(t) else math.inf, t.payload_B / (_PARTS * workers))
    return longest / math.ceil(longest / most) if math.isfinite(longest) else most


def step_by_step(t: Transfer) -> bool:
    """Whether the workers of a transfer of several steps go through each of them once, side by side."""
    workers = max(int(t.workers), 1)
    return t.files <= workers and not in_parts(t)


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """A stage that moves bytes, as a transfer of its own."""

    f: int  #: Its transfer.
    workers: int  #: Workers that have a file.
    moved: float  #: Part of the bytes of its step that it moves [1].
    whole: bool  #: Whether it goes through all phases of the transfer.
    of: Matrices  #: Arrays that have its rows.
    numbers: range  #: Its phases there; where they are not those beside all others, all of the step.
    part: float = 1.0  #: Part of their bytes that it moves [1].


def as_transfer(f: int, stage: Stage, m: Matrices) -> Column:
    """A stage as it is beside all others."""
    whole = len(stage.phases) == len(m.phases_of(int(m.transfer[stage.phases.start])))
    moved = 1.0 if whole else float(m.moved[stage.phases].sum())
    return Column(f, stage.workers, moved, whole, m, stage.phases)


def staged(m: Matrices, columns: list[Column]) -> Matrices:
    """The problem with a transfer for each stage that moves bytes; bytes that really move share stations."""
    f = np.array([c.f for c in columns], np.intp)
    whole = np.array([c.whole for c in columns])
    workers = np.array([c.workers for c in columns], float)
    moved = np.array([c.moved for c in columns])
    total = _joined([_whole_transfer(c) if c.whole else row_of(c, c.numbers) for c in columns])
    alike = all(len(c.numbers) == 1 for c in columns)
    arrays = replace(
        m,
        total=total,
        phases=total if alike else _joined([row_of(c, range(p, p + 1)) for c in columns for p in c.numbers]),
        transfer=np.repeat(np.arange(len(columns)), [len(c.numbers) for c in columns]),
        delay=np.concatenate([c.of.delay[:, c.numbers] * c.part for c in columns], axis=1),
        served=np.concatenate([c.of.served[:, c.numbers] * c.part for c in columns], axis=1),
        grows=np.concatenate([c.of.grows[:, c.numbers] * c.part for c in columns], axis=1),
        moved=np.concatenate([c.of.moved[c.numbers] * c.part / max(c.moved, _LEAST) for c in columns]),
        workers=workers,
        rounds=tuple(((c.workers, 1.0),) for c in columns),
        weight=m.weight[f] * workers / m.workers[f] / np.maximum(moved, _LEAST),
        opening=m.opening[:, f],
        lead=np.zeros((1, len(columns))),
        in_turn=m.in_turn[f] & whole & (workers > 1),
        turn=np.zeros(len(columns), np.intp),
    )
    return _where_they_are(arrays)


def subset(m: Matrices, which: Index) -> Matrices:
    """Some transfers of a problem, and the stations that they visit."""
    return _where_they_are(select(m, which))


def select(m: Matrices, which: Index) -> Matrices:
    """Some transfers of a problem, their numbers rising, with all of its stations."""
    numbers = np.flatnonzero(np.isin(m.transfer, which))
    total = m.total.select(which)
    return replace(
        m,
        total=total,
        phases=total if m.phases is m.total else m.phases.select(numbers),
        transfer=np.searchsorted(which, m.transfer[numbers]),
        rounds=tuple(m.rounds[g] for g in which.tolist()),
        **m.select(OF_PHASES, numbers),
        **m.select(OF_TRANSFERS, which),
    )


def _where_they_are(m: Matrices) -> Matrices:
    """The problem with those stations alone that its transfers visit."""
    total, phases = m.total, m.phases
    visited = np.zeros(m.capacity.shape[1] + 1, dtype=bool)
    visited[total.station] = visited[phases.station] = visited[-1] = True
    place, stations = np.cumsum(visited) - 1, np.flatnonzero(visited[:-1])
    slowdowns = ((d, a[visited[a]], slope, reference) for d, a, slope, reference in m.slowdowns if visited[d])
    numbered = replace(total, station=place[total.station])
    return replace(
        m,
        total=numbered,
        phases=numbered if phases is total else replace(phases, station=place[phases.station]),
        slowdowns=tuple((int(place[d]), place[a], slope, reference) for d, a, slope, reference in slowdowns),
        **m.select(OF_STATIONS, stations),
    )


def _whole_transfer(column: Column) -> tuple[Index, Array]:
    """(stations (n,), demands (n, S)) of a transfer with all that it charges, in any phase."""
    station, demand = column.of.total.row_entries(int(column.of.transfer[column.numbers.start]))
    return station, demand.T * column.part


def row_of(column: Column, numbers: range) -> tuple[Index, Array]:
    """(stations (n,), demands (n, S)) of some of its phases, added up."""
    rows = [column.of.phases.row_entries(number) for number in numbers]
    station, demand = rows[0][0], np.concatenate([d.T for _, d in rows]) * column.part
    if len(rows) == 1:
        return station, demand
    station, place = np.unique(np.concatenate([s for s, _ in rows]), return_inverse=True)
    return station, summed(place, demand, len(station))


def _joined(rows: list[tuple[Index, Array]]) -> Rows:
    """Rows one after the other."""
    sizes = np.array([len(station) for station, _ in rows])
    return Rows(
        np.concatenate([station for station, _ in rows]),
        np.repeat(np.arange(len(rows)), sizes),
        np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.intp),
        np.concatenate([demand for _, demand in rows]),
    )
