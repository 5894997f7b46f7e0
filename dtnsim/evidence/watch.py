"""A folder of logs that grows: what changed since when, which parameter explains it, and what to run.

Tests of volumes are series of the hosts that they fit (`dtnsim.evidence.repeats`), and a change is laid on the one
parameter that moves all tests of its date as they moved: least squares of the steps, unchanged tests with steps of
zero, along the slopes of each parameter in the fit. Rates, round trips, delays and losses between two ends are series
of the pair; a rate that fell is explained by what changed at the same time on the way or on a volume of either end.
"""

import math
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import chain
from pathlib import Path
from statistics import geometric_mean, median
from typing import Final

import numpy as np

from dtnsim.evidence import fit_report, suggest
from dtnsim.evidence.calibrate import calibrate, name_of as host_name
from dtnsim.evidence.dates import when
from dtnsim.evidence.fit import Fit
from dtnsim.evidence.fit_logs import whole_runs
from dtnsim.evidence.fit_report import written
from dtnsim.evidence.fit_wan import named
from dtnsim.evidence.history import History
from dtnsim.evidence.repeats import CHANCE, DAYS, Change, Repeats, changes_at, name_of, shifted
from dtnsim.ground import units
from dtnsim.ground.errors import InputError
from dtnsim.ground.grouping import by_key
from dtnsim.logs._catalogue import catalogue
from dtnsim.logs.base import Evidence
from dtnsim.logs.measurement import Measurement
from dtnsim.steady.goals import Goal

Key = tuple[str, str, str, str, str, str]  #: tool, quantity, unit, source, destination, options

_SAME: Final = 3  #: days within which two changes are one
#: parameters that explain a change as well as the best one: within two standard deviations; and most that are named
_AS_WELL: Final = 4.0
_NAMED: Final = 3
#: a parameter that had to move by more than the rate to this power hardly holds the rate: its slope says little there
_FAR: Final = 3.0
_TESTS: Final = 2  #: tests to run that are named
#: conditions that make it another test of a volume
_OPTIONS: Final = ("operation", "pattern", "block_B", "record_B", "depth", "jobs", "engine", "direct", "sync")


@dataclass(frozen=True, slots=True)
class Series:
    """Figures of one test or way over days."""

    name: str  #: For people.
    ends: tuple[str, str]  #: Source and destination; a volume's host twice.
    quantity: str  #: What is measured.
    unit: str  #: SI.
    days: tuple[date, ...]  #: When.
    values: tuple[float, ...]  #: Daily medians.
    changes: tuple[Change, ...] = ()  #: Shifts, in their order.
    idle: bool = False  #: It says how busy something is, not what it can do: it explains and gives no alarm.

    def level(self, number: int) -> float:
        """Geometric mean before the first change (0), after it (1) ..."""
        edges = [date.min, *(c.since for c in self.changes), date.max]
        part = [v for d, v in zip(self.days, self.values, strict=True) if edges[number] <= d < edges[number + 1]]
        return geometric_mean(part)

    def shown(self, value: float) -> str:
        """A figure for people: of volumes as they are tested, of ways as networks are."""
        return written(value, self.unit) if self.ends[0] == self.ends[1] else units.show(value, self.unit)


@dataclass(slots=True)
class Alarm:
    """A change of a series, and what explains it."""

    series: Series
    change: Change
    before: float
    after: float
    told: bool
    explained: list[str] = field(default_factory=list)

    @property
    def worse(self) -> bool:
        """Whether somebody must know: a rate fell, or a delay or a loss rose."""
        return not self.series.idle and (self.change.factor < 1) == (self.series.quantity == "throughput")


@dataclass(slots=True)
class Watched:
    """What a folder says."""

    history: History  #: Its logs.
    series: list[Series]  #: All series, those of the hosts first.
    alarms: list[Alarm]  #: Changes, the latest first.
    fit: Fit | None = None  #: Of the hosts, to the runs since their last change; None where no test fits.
    #: (goal, its probability now, before the latest change of a host or None).
    goals: list[tuple[Goal, float, float | None]] = field(default_factory=list)
    tests: list[suggest.Suggestion] = field(default_factory=list)  #: What to run next.
    notes: list[str] = field(default_factory=list)  #: What could not be read or used.

    @property
    def alarming(self) -> bool:
        """Whether something became worse that nobody was told."""
        return any(a.worse and not a.told for a in self.alarms)


def watch(
    history: History,
    hosts: Sequence[str],
    names: Mapping[str, str],
    volume: str | None = None,
    free: Sequence[str] = (),
) -> Watched:
    """Series of a folder's logs, their changes, and the fit of the hosts to the runs since."""
    watched = Watched(history, [], [], notes=[log.note for log in history.logs.values() if log.note])
    runs = [m for log in history.logs.values() for m in log.runs]
    if hosts and runs:
        try:
            watched.fit = _fit(history, runs, hosts, names, volume, free, watched.notes)
        except InputError as why:
            watched.notes.append(f"no host is fitted: {why}")
    of_hosts = [_of_test(r) for r in watched.fit.repeats if r.days] if watched.fit else []
    undescribed = [] if hosts else _of_runs(runs)
    watched.series = of_hosts + _dated(chain(_of_pairs(history, names), undescribed))
    already = set(history.told)
    for s in watched.series:
        for n, change in enumerate(s.changes):
            told = any(name == s.name and _same_days(date.fromisoformat(day), change.since) for name, day in already)
            watched.alarms.append(Alarm(s, change, s.level(n), s.level(n + 1), told))
    watched.alarms.sort(key=lambda a: (-a.change.since.toordinal(), a.series.name))
    _explain(watched)
    if watched.fit is not None:
        tests = [t for listed, _ in suggest.for_hosts(hosts, watched.fit).values() for t in listed]
        places = " ".join(a.series.name for a in watched.alarms)
        watched.tests = sorted(tests, key=lambda t: not places.endswith(t.test.volume))[:_TESTS]
    return watched


def _fit(
    history: History, runs: Sequence[Measurement], hosts: Sequence[str], names: Mapping[str, str],
    volume: str | None, free: Sequence[str], notes: list[str],
) -> Fit:  # fmt: skip
    logs = [history.folder / log.name for log in history.logs.values() if (history.folder / log.name).is_file()]
    host_names = {host_name(h) for h in hosts}
    ours = {theirs: name for theirs, name in names.items() if name in host_names or name.startswith("/")}
    return calibrate(logs, hosts, volume=volume, free=free, names=ours, notes=notes, runs=runs)


def _same_days(one: date, other: date) -> bool:
    return abs((one - other).days) <= _SAME


def _of_test(r: Repeats) -> Series:
    """The series of a test that fits."""
    days = by_key((stamp.date(), rate) for rate, stamp in zip(r.rates, r.whens, strict=True) if stamp is not None)
    medians = {d: median(days[d]) for d in sorted(days)}
    name = f"{r.test.rpartition(' on ')[0]} on {r.host}:{r.test.rpartition(' on ')[2]}"
    return Series(name, (r.host, r.host), "throughput", "B/s", tuple(medians), tuple(medians.values()), r.changes)


def _of_runs(runs: Sequence[Measurement]) -> Iterable[tuple[Key, str, float]]:
    """(series, day, figure) of tests of volumes whose host nobody describes."""
    for m in whole_runs([m for m in runs if catalogue().evidence[m.tool] is Evidence.FITS]):
        cond = m.conditions
        options = [f"{k} {cond[k]:g}" if isinstance(cond[k], float) else f"{k} {cond[k]}"
                   for k in _OPTIONS if cond.get(k) not in (None, False)]  # fmt: skip
        place = str(cond.get("directory") or cond.get("target") or cond.get("device") or cond.get("source") or "?")
        machine = str(cond.get("machine") or cond.get("host") or "")
        if m.value > 0 and m.status == "complete" and (stamp := when(m)) is not None:
            options.append(f"on {place if place.startswith('/dev/') else Path(place).parent}")
            yield (m.tool, m.quantity, m.unit, machine, machine, " ".join(options)), stamp.date().isoformat(), m.value


def _of_pairs(history: History, names: Mapping[str, str]) -> Iterable[tuple[Key, str, float]]:
    """(series, day, median) of what was measured between two ends, which are called as ``--as`` says."""
    called = {theirs.lower(): ours for theirs, ours in names.items()}
    for log in history.logs.values():
        file = Path(log.name)
        host = next((called[n.lower()] for n in (file.name, file.stem, file.parent.name) if n.lower() in called), "")
        for (tool, quantity, unit, *ends, options), days in log.series.items():
            pair = [called.get(e.lower(), called.get(e.partition(".")[0].lower(), e)) if e else host for e in ends]
            for day, value, _ in days:
                yield (tool, quantity, unit, pair[0], pair[1], options), day, value


def _dated(figures: Iterable[tuple[Key, str, float]]) -> list[Series]:
    """Series of figures with their changes."""
    rows = by_key((key, (date.fromisoformat(day), value)) for key, day, value in figures)
    medians = {key: {d: median(v) for d, v in sorted(by_key(rows[key]).items())} for key in sorted(rows)}
    tests = sum(len(days) >= DAYS for days in medians.values())
    series = []
    for (tool, quantity, unit, source, target, options), days in medians.items():
        values, dates = np.log(list(days.values())), list(days)
        changes = changes_at(shifted(values, CHANCE / max(tests, 1)), dates, values)
        place = source if source == target else named(source, target)
        name = " ".join(filter(None, (tool, "" if quantity == "throughput" else quantity, options, place)))
        idle = catalogue().evidence[tool] is Evidence.BUSY
        series.append(Series(name, (source, target), quantity, unit, tuple(dates), tuple(days.values()), changes, idle))
    return series


def _explain(watched: Watched) -> None:
    """Names the parameter behind each change: of a host by its fit, of a way by what changed with it."""
    by_name = {_of_test(r).name: r for r in watched.fit.repeats} if watched.fit else {}
    for alarm in watched.alarms:
        if watched.fit is not None and alarm.series.name in by_name:
            alarm.explained = _parameters(watched.fit, alarm.change.since)
    for alarm in watched.alarms:
        if alarm.series.name in by_name or alarm.series.quantity != "throughput" or alarm.series.idle:
            continue
        with_it = [a for a in watched.alarms if a is not alarm and _same_days(a.change.since, alarm.change.since)]
        causes = [a for a in with_it if _is_cause(a, alarm.series)]
        alarm.explained = [f"{a.series.name} ({a.series.shown(a.before)} to {a.series.shown(a.after)})"
                           + "".join(f": {e}" for e in a.explained[:1]) for a in causes[:_NAMED]]  # fmt: skip
        way = {s.quantity for s in watched.series if s.ends == alarm.series.ends and len(s.days) >= DAYS}
        if not causes and alarm.series.ends[0] != alarm.series.ends[1]:
            steady = " and ".join(sorted(way - {"throughput"}))
            nothing = "open: no round trip or loss of this way is in the logs; run ping and mtr too"
            rest = f"wan.bandwidth, other traffic or a host: {steady} stayed"
            alarm.explained = [rest if steady else nothing]


def _is_cause(other: Alarm, way: Series) -> bool:
    """Whether a change that came at the same time lies on the way of a rate, or on a volume of either end."""
    s = other.series
    if s.quantity == "throughput":
        return other.worse and s.ends[0] == s.ends[1] and s.ends[0] in way.ends and s.ends[0] != ""
    return set(s.ends) - {""} <= set(way.ends) and any(s.ends)


def _parameters(fit: Fit, since: date) -> list[str]:
    """The parameters of which any one, moved alone, moves the tests as they moved then; the best first."""
    steps, slopes, errors = [], [], []
    for r in fit.repeats:
        rows = [n for n, f in enumerate(fit.figures) if f.case.site == r.host and name_of(f) == r.test]
        if rows:
            steps.append(sum(math.log(c.factor) for c in r.changes if _same_days(c.since, since)))
            slopes.append(fit.jacobian[rows].mean(axis=0))
            errors.append(max(math.hypot(r.run_to_run, r.day_to_day or 0.0) / math.sqrt(min(len(rows), DAYS)), 0.01))
    step, slope = np.array(steps) / errors, np.array(slopes) / np.array(errors)[:, None]
    moved = (slope * step[:, None]).sum(axis=0) / np.maximum((slope**2).sum(axis=0), 1e-12)
    left = ((step[:, None] - slope * moved) ** 2).sum(axis=0)
    sigma, far = np.array([p.sigma for p in fit.parameters]), _FAR * max(map(abs, steps))
    likely = (left < (step**2).sum() / 2) & (np.abs(sigma * moved) <= far)
    chosen = [j for j, p in enumerate(fit.parameters) if p.host in fit.hosts and likely[j]]
    best = min((left[j] for j in chosen), default=0.0)
    lines = []
    for j in sorted((j for j in chosen if left[j] <= best + _AS_WELL), key=lambda j: (left[j], fit.parameters[j].name)):
        p, after = fit.parameters[j], float(fit.values[j])
        was = after / math.exp(p.sigma * moved[j])
        lines.append(f"{p.host}: {p.key} {written(was, p.prior.dim)} to {written(after, p.prior.dim)}")
    return lines[:_NAMED] or ["no parameter of the host explains it by itself"]


def judge(
    watched: Watched, path: str, goal: Goal, hosts: Sequence[str], names: Mapping[str, str], volume: str | None
) -> None:
    """Adds how likely a path meets a goal with the fit, and with one to the runs before the latest change of a host."""
    from dtnsim.steady.prediction import predict

    def likely(fit: Fit | None) -> float:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "fitted.yaml"
            if fit is not None:
                fit_report.write(fit, file)
            return goal.probability(predict(path, calibration=file if fit is not None else None))

    before = None
    changes = [c.since for r in (watched.fit.repeats if watched.fit else ()) for c in r.changes]
    if changes:
        runs = [m for log in watched.history.logs.values() for m in log.runs]
        old = [m for m in runs if (stamp := when(m)) is not None and stamp.date() < max(changes)]
        try:
            before = likely(_fit(watched.history, old, hosts, names, volume, (), []))
        except InputError as why:
            watched.notes.append(f"before the change: {why}")
    watched.goals.append((goal, likely(watched.fit), before))
