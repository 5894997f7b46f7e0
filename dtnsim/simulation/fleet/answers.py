"""Results of a fleet's run: completion by class and pair, use by hour, bottlenecks, upgrades that fall due."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dtnsim.description import calendar
from dtnsim.description.workload import YEAR_S, Workload
from dtnsim.ground.grouping import by_key
from dtnsim.physics import arrivals as law
from dtnsim.physics._arrays import FloatArray as Array, IntArray
from dtnsim.simulation.fleet.build import ReadyFleet
from dtnsim.simulation.fleet.traffic import HOUR_S
from dtnsim.simulation.fleet.transfer_layout import DONE, FAILED

QUANTILES: Final = (0.5, 0.95, 0.99)  #: quantiles of completion and slowdown
BUSY: Final = 0.95  #: the day, or the hour, that capacity is planned for: one in twenty is busier
HORIZON: Final = 10.0  #: how far ahead upgrades are looked for [years]
WEEK: Final = 168  #: hours of a week


@dataclass(frozen=True, slots=True)
class Group:
    """Transfers of a class, of a pair of ends, or all."""

    #: Its class (empty: all), and the ends (empty: all).
    name: str
    source: str
    target: str
    #: How many were asked for, are done, were given up, are still to be done.
    asked: int
    done: int
    failed: int
    open: int
    #: Bytes asked for, moved in all, and moved in vain [B].
    size_B: float
    moved_B: float
    resent_B: float
    #: Files that were found damaged and sent again, and damaged ones that nobody noticed.
    corrupted: int
    unnoticed: int
    retries: int  #: How often they were broken off.
    #: How many have a deadline, and how many missed it.
    with_deadline: int
    missed: int
    completion_s: tuple[float, ...]  #: Quantiles of the time from asking to the end [s].
    slowdown: tuple[float, ...]  #: Quantiles of that over the time that it would take alone.
    waited_s: float  #: Mean time until it began [s].


@dataclass(frozen=True, slots=True)
class StationYear:
    """A station over a run."""

    name: str  #: The station.
    mean: float  #: Its mean utilisation.
    #: Utilisation of the hour, and of the day, that one in twenty exceeds.
    busy: float
    busy_day: float
    peak: float  #: Of the busiest hour.
    of_week: tuple[float, ...]  #: (168,) mean by hour of the week, from Monday midnight on.
    weeks: tuple[float, ...]  #: Mean of each week.
    due_years: float  #: When its busy day (or hour) passes the mark, from the start on; infinite beyond the horizon.


@dataclass(frozen=True, slots=True)
class Promise:
    """When a class breaks its promises, at the growth that is stated."""

    name: str  #: The class.
    #: When a week first misses a deadline; infinite beyond the horizon, None without deadlines.
    missed_years: float | None
    doubled_years: float  #: When the p95 of completion is twice that of the first week.
    #: Station that holds the class most in the week in which the first of these breaks; empty where none does.
    held: str


@dataclass(frozen=True, slots=True)
class FleetRun:
    """One run of a fleet."""

    groups: tuple[Group, ...]
    pairs: tuple[Group, ...]
    stations: tuple[StationYear, ...]
    held_s: dict[str, dict[str, float]]
    outages: dict[str, tuple[int, float]]
    end_s: float
    complete: bool
    events: int
    happened: tuple[tuple[float, str], ...] = field(default=())
    promises: tuple[Promise, ...] = ()

    @property
    def total(self) -> Group:
        """Statistics of all transfers together."""
        return self.groups[-1]


def answer(built: ReadyFleet, workload: Workload) -> FleetRun:
    """Results of a run, complete or stopped."""
    course = built.course
    work = course.work
    classes, columns = groups(built, workload)
    pairs = []
    where = by_key(((lane.kind.name, *lane.names), lane.number) for lane in course.lanes)
    order = np.argsort(work.lane, kind="stable")
    edges = np.searchsorted(work.lane[order], np.arange(len(course.lanes) + 1))
    for (name, source, target), lanes in where.items():
        mine = np.concatenate([order[edges[n] : edges[n + 1]] for n in lanes])
        pairs.append(columns.group(name, source, target, np.sort(mine)))
    down: dict[str, tuple[int, float]] = {}
    for outage in built.outages:
        if outage.begin < course.now:
            count, seconds = down.get(f"{outage.name}: {outage.word}", (0, 0.0))
            until = min(outage.end, course.now)
            down[f"{outage.name}: {outage.word}"] = count + 1, seconds + until - outage.begin
    happened = tuple((o.begin, f"{o.name} {o.word}") for o in built.outages if o.begin < course.now)
    complete = course.finished == len(work) or course.now >= course.until
    return FleetRun(
        classes, tuple(pairs), tuple(_stations(built, workload)), holders(built, workload), down, course.now, complete,
        course.events, happened,
    )  # fmt: skip


def groups(built: ReadyFleet, workload: Workload) -> tuple[tuple[Group, ...], _Columns]:
    """The transfers of each class, and all of them; and their columns."""
    course = built.course
    columns = _Columns(built)
    by_class = [columns.group(name, "", "", course.kinds == n) for n, name in enumerate(workload.classes)]
    return (*by_class, columns.group("", "", "", np.ones(len(course.work), np.bool_))), columns


def holders(built: ReadyFleet, workload: Workload) -> dict[str, dict[str, float]]:
    """For each class the bottlenecks of its transfers, and for how long each bound [s], the longest first."""
    names = list(workload.classes)
    by_class: dict[str, dict[str, float]] = {name: {} for name in names}
    for (kind, holder), seconds in sorted(built.course.held_seconds.items(), key=lambda item: -item[1]):
        by_class[names[kind]][built.names[holder] if isinstance(holder, int) else holder] = seconds
    return by_class


class _Columns:
    """Figures of transfers as columns."""

    def __init__(self, built: ReadyFleet) -> None:
        course = built.course
        work = course.work
        self.damage = work.damage
        self.status = np.where((course.status == DONE) & self.damage.spoiled, FAILED, course.status)
        self.tries = course.tries
        self.size, self.resent, self.moved = work.size, course.resent, course.moved
        self.took = course.ended - work.asked
        self.slow = self.took / built.alone_s
        self.waited = course.begun - work.asked
        self.late = np.where(course.status == DONE, course.ended > work.due, work.due < course.now)
        self.late |= (course.status == FAILED) & np.isfinite(work.due)
        self.due = np.isfinite(work.due)
        self.asked = work.asked < course.now

    def group(self, name: str, source: str, target: str, part: NDArray[Any]) -> Group:
        """Statistics of one group of transfers."""
        rows = np.flatnonzero(part) if part.dtype == np.bool_ else part
        rows = rows[self.asked[rows]]
        status = self.status[rows]
        done = rows[status == DONE]
        failed, waited = int((status == FAILED).sum()), self.waited[rows]
        arrived = rows[np.isfinite(self.took[rows])]
        size, moved, resent = (float(each[rows].sum()) for each in (self.size, self.moved, self.resent))
        corrupted, unnoticed = (int(each[arrived].sum()) for each in (self.damage.found, self.damage.unnoticed))
        retries, due, missed = (int(each[rows].sum()) for each in (self.tries, self.due, self.late & self.due))
        counts = len(rows), len(done), failed, len(rows) - len(done) - failed
        took, slow = _quantiles(self.took[done]), _quantiles(self.slow[done])
        mean = float(np.nanmean(waited)) if np.isfinite(waited).any() else math.nan
        return Group(name, source, target, *counts, size, moved, resent, corrupted, unnoticed, retries, due, missed,
                     took, slow, mean)  # fmt: skip


def _quantiles(values: Array) -> tuple[float, ...]:
    if not len(values):
        return (math.nan,) * len(QUANTILES)
    ranks = np.arange(len(values))  # as numpy.quantile has it, without the time that it takes for small groups
    return tuple(np.interp(np.multiply(QUANTILES, ranks[-1]), ranks, np.sort(values)).tolist())


def used(built: ReadyFleet) -> tuple[Array, Array]:
    """((hours,) length of each stretch [s], (hours, K) what each station has carried in it [unit])."""
    from scipy.sparse import csr_array

    course = built.course
    ways, count = course.ways, len(built.names)
    hours, numbers, bytes_ = course.of_hours
    moved = csr_array((bytes_, numbers, np.cumsum([0, *hours])), shape=(len(hours), max(len(ways), 1)))
    begin = np.cumsum([0, *(len(w.reduced.demands) for w in ways)])
    stations = np.array([k for w in ways for k, _ in w.reduced.demands], np.int64)
    costs = np.array([c for w in ways for _, c in w.reduced.demands], float)
    demands = csr_array((costs, stations, begin if ways else np.array([0, 0])), shape=(max(len(ways), 1), count))
    span = np.full(len(hours), HOUR_S)
    if len(span):
        span[-1] = course.now - HOUR_S * (len(hours) - 1)
    return span, np.asarray((moved @ demands).todense(), float)


def _stations(built: ReadyFleet, workload: Workload) -> list[StationYear]:
    """Every station that is used, the ones that are due first."""
    span, carried = used(built)
    capacity = np.array(built.course.capacity)
    lasting = span > 0
    if not lasting.any():
        return []
    begins = np.cumsum(span) - span
    share = carried / np.where(np.isfinite(capacity), capacity, np.inf)[None, :] / np.maximum(span, 1e-9)[:, None]
    share, begins, span = share[lasting], begins[lasting], span[lasting]
    hour = (calendar.of_week(begins, calendar.date(workload.date)) // HOUR_S).astype(int)
    week = (begins // calendar.WEEK_S).astype(int)
    day = (begins // calendar.DAY_S).astype(int)
    whole_days = np.bincount(day, span) > calendar.DAY_S / 2
    mean = (share * span[:, None]).sum(axis=0) / span.sum()
    grows, alike = _growth(built)
    made_: list[StationYear] = []
    for k in np.flatnonzero(mean > 0).tolist():
        mine = share[:, k]
        growth = _grown(grows, alike[:, k], begins)
        daily = np.array(_means(day, mine, span, int(day.max()) + 1))[whole_days]
        at_start = np.array(_means(day, mine / growth, span, int(day.max()) + 1))[whole_days]
        hourly = workload.full_over == "hour" or not len(daily)
        start = float(np.quantile(mine / growth if hourly else at_start, BUSY))
        busy_day = float(np.quantile(daily, BUSY)) if len(daily) else float(mine.mean())
        use = float(mean[k]), float(np.quantile(mine, BUSY)), busy_day, float(mine.max())
        courses = tuple(_means(hour, mine, span, WEEK)), tuple(_means(week, mine, span, int(week.max()) + 1))
        made_.append(StationYear(built.names[k], *use, *courses, due(start, grows, alike[:, k], workload.full.value)))
    return sorted(made_, key=lambda s: (s.due_years, -s.busy))


def _means(group: IntArray, values: Array, span: Array, count: int) -> list[float]:
    total = np.bincount(group, values * span, count)
    return [float(v) for v in total / np.maximum(np.bincount(group, span, count), 1e-9)]


def _growth(built: ReadyFleet) -> tuple[Array, Array]:
    """((classes,) growth factor a year, (classes, K) share of a station's use at the start that each class has)."""
    kinds = {lane.kind.number: lane.kind for lane in built.course.lanes}
    count = max(kinds, default=0) + 1
    grows = np.array([kinds[n].grows if n in kinds else 1.0 for n in range(count)])
    of_way: dict[int, int] = {}
    for lane in built.course.lanes:
        for row in lane.ways:
            for each in row:
                of_way |= {way.number: lane.kind.number for way in each if way is not None}
    bytes_ = np.zeros(len(built.course.ways))
    for numbers, moved in built.course.hours:
        bytes_[numbers] += moved
    use: Any = np.zeros((count, len(built.names)))
    for way in built.course.ways:
        for k, cost in way.reduced.demands:
            use[of_way[way.number], k] += bytes_[way.number] * cost
    grid = np.linspace(0.0, built.course.now, 200)
    use /= np.array([np.mean(law.grown(grid, g - 1, YEAR_S)) for g in grows])[:, None]
    return grows, use / np.maximum(use.sum(axis=0), 1e-300)[None, :]


def _grown(grows: Array, share: Array, time_s: Any) -> Any:
    """Use of a station over that at the start, as its classes grow."""
    return sum(s * law.grown(time_s, g - 1, YEAR_S) for s, g in zip(share, grows, strict=True) if s > 0)


def due(start: float, grows: Array, share: Array, mark: float) -> float:
    """Years until a station's busy day or hour passes a mark, as its classes grow; infinite beyond the horizon.

    Args:
        start: Its utilisation at the start [1].
        grows: (classes,) growth factor a year.
        share: (classes,) part of its use that each class has at the start.
        mark: Utilisation at which it is due [1].
    """
    if start >= mark:
        return 0.0

    def use(years: float) -> float:
        return start * float(_grown(grows, share, years * YEAR_S))

    if use(HORIZON) < mark:
        return math.inf
    low, high = 0.0, HORIZON
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if use(middle) < mark else (low, middle)
    return high
