"""How far real systems fall from the model, and runs from each other: the spread beyond that of the parameters.

A measured rate is taken to be ``predicted x exp(d + e)``: ``predicted`` has the parameters' spreads, ``d`` is the
model's own error (its discrepancy, Kennedy and O'Hagan 2001), ``e`` what one run differs by from the long-run mean.
``d`` depends on the setting (an isolated lab, or production), on what holds the transfer and on the class of the tool,
and is a two-piece Student t with two degrees of freedom: a mode, a scale below and a scale above, since real systems
are slower than models more often than faster (Fernandez and Steel 1998), and tails so heavy because most figures agree
closely and a few lie far off, where something holds that nobody has described. ``e`` is a t of four degrees and equal
scales: runs of one test agree to a percent, and a few do not. Both are data, ``calibration/discrepancy.yaml``, learned
from figures that fitted nothing (`dtnsim.evidence.learn`); a kind without evidence has the law of its setting.

Physics stays on top: no scenario moves more than the wires, links and slots of its path carry.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np

from dtnsim.components.base import place
from dtnsim.composition import tcp
from dtnsim.ground import library, yamlio
from dtnsim.ground.errors import SpecError
from dtnsim.ground.grouping import by_key
from dtnsim.ground.quantity import REPEAT, Draw, Value
from dtnsim.ground.records import Problem
from dtnsim.physics._arrays import FloatArray as Array, Index
from dtnsim.steady.ceilings import idle_time, per_capacity, solo_times
from dtnsim.steady.matrices import Matrices, beyond, of_rows
from dtnsim.steady.meetings import Meeting
from dtnsim.steady.regime import ISOLATED, Holders, Regime

SCHEMA: Final = "dtnsim.discrepancy/2"
#: degrees of freedom of the model's own error, and of what runs differ by: quantiles have closed forms
FREEDOM: Final = 2
OF_RUNS: Final = 4
UNIT: Final = math.sqrt((OF_RUNS - 2) / OF_RUNS)  #: scale of a t of runs that has unit variance

_Record = TypeVar("_Record", "Law", "Noise")


@dataclass(frozen=True, slots=True)
class Law:
    """A two-piece Student t of ln(measured / predicted)."""

    location: float = 0.0  #: Its mode.
    below: float = 0.0  #: Scale on the slow side.
    above: float = 0.0  #: Scale on the fast side.

    def ppf(self, level: Array) -> Array:
        """Quantiles at levels between 0 and 1."""
        spread = self.below + self.above
        if spread == 0:
            return np.full_like(level, self.location)
        slow = level * spread < self.below
        part = np.where(
            slow,
            level * spread / max(2 * self.below, 1e-300),
            0.5 + (level * spread - self.below) / max(2 * self.above, 1e-300),
        )
        scale = np.where(slow, self.below, self.above)
        return np.asarray(self.location + scale * t2_quantile(np.clip(part, 1e-9, 1 - 1e-9)))


def t2_quantile(level: Array) -> Array:
    """Quantiles of Student's t with two degrees of freedom, which have a closed form (Shaw 2006)."""
    return np.asarray((2 * level - 1) / np.sqrt(2 * level * (1 - level)))


def t4_quantile(level: Array) -> Array:
    """Quantiles of Student's t with four degrees of freedom, (Shaw 2006, eq. 41)."""
    root = np.sqrt(4 * level * (1 - level))
    return np.asarray(np.sign(level - 0.5) * 2 * np.sqrt(np.maximum(np.cos(np.arccos(root) / 3) / root - 1, 0.0)))


@dataclass(frozen=True, slots=True)
class Noise:
    """Scatter between runs: standard deviations of the logarithm, for a t with four degrees of freedom."""

    same_day: float = 0.0
    another_day: float = 0.0

    @property
    def random_day(self) -> float:
        """Standard deviation of one run on a random day around the long-run mean."""
        return math.hypot(self.same_day, self.another_day)


@dataclass(frozen=True, slots=True)
class Discrepancy:
    """Laws by ``setting/kind/tool``, ``setting/kind`` and ``setting``, noises by kind; the default comes last."""

    default: Law = field(default_factory=Law)
    laws: Mapping[str, Law] = field(default_factory=dict)
    default_noise: Noise = field(default_factory=Noise)
    noises: Mapping[str, Noise] = field(default_factory=dict)

    def law(self, regime: Regime) -> Law:
        """The model's own error where this kind of thing binds.

        If the network is fully stated, the law moves from that of an isolated path to that of the setting as doubt
        about other traffic grows relative to the former's scale, in variance: no measurements lie in between.
        """
        law = next((self.laws[n] for n in reversed(regime.names) if n in self.laws), self.default)
        if (part := self._traffic_part(regime)) == 1:
            return law
        quiet = self.law(regime._replace(setting=ISOLATED))
        return Law(*((1 - part) * a + part * b for a, b in zip(astuple(quiet), astuple(law), strict=True)))

    def _traffic_part(self, regime: Regime) -> float:
        """Weight of the setting's law on a path whose network is fully stated: 0 isolated, 1 as any of its setting."""
        if regime.setting == ISOLATED or math.isinf(regime.doubt):
            return 1.0
        scale = self.law(regime._replace(setting=ISOLATED)).below
        return regime.doubt**2 / (regime.doubt**2 + scale**2)

    def noise(self, regime: Regime) -> Noise:
        """Scatter between runs: as measured on that host, or as usual for that kind."""
        usual = self.noises.get(regime.kind) or self.default_noise
        if regime.measured is None:
            return replace(usual, another_day=usual.another_day * self._traffic_part(regime))
        run, day = regime.measured
        return Noise(run, usual.another_day if day is None else day)

    def factors(
        self,
        draw: Draw,
        holding: Sequence[Holders],
        problem: Problem,
        solution: tuple[Matrices, Array, Array, Index],
        *,
        mean: bool = False,
    ) -> Array:
        """Factors on the rates of transfers (S, F): the model's error and, unless ``mean``, the luck of one run.

        Each station on a transfer's way, each wait of its workers and each limit of its TCP connections is slower or
        faster by the error of its own kind; the transfer keeps what its utilisation of each of them leaves. So a
        lightly used part can still bind if the model's error for it is large enough, and a better part never makes a
        scenario slower. Transfers held by the same kind of thing share its error. Errors of different kinds are partly
        correlated (`clayton`).

        Args:
            problem: Stations, and TCP's connections by station, drawn, each of whose limits is off by its own error.
            solution: Stations and demands with the capacities at the solution, rates (S, F) while all run and over each
                transfer's own time, and which of those drawn the scenarios are (S,).
        """
        (m, rate, own_time, rows), names = solution, [s.name for s in problem.stations]
        errors: dict[Regime, Array] = {}

        def error(regime: Regime) -> Array:
            if regime not in errors:
                labels = f"discrepancy {regime.drawn_as}", f"discrepancy {regime.tool}"
                log_error = self.law(regime).ppf(_levels_of(*(draw.score(label).tobytes() for label in labels)))
                if not mean:
                    noise = self.noise(regime)
                    apart = noise.same_day if regime.same_every_day else noise.random_day
                    log_error = log_error + apart * _luck(draw.score(f"{REPEAT}{regime.kind}").tobytes())
                errors[regime] = np.exp(log_error)[rows]
            return errors[regime]

        limits = {name: _rows(tcp.limits(c), rows) for name, c in problem.connections.items()}

        def error_of(regime: Regime, name: str) -> Array:
            if name not in limits:
                return error(regime)
            lowered = [left * error(_limited_by(regime, limit, limits[name])) for limit, left in limits[name].items()]
            return np.asarray(np.minimum.reduce(lowered))

        columns: Array = np.empty((len(rows), len(holding)))
        further = beyond(problem, m, rows)
        for group, numbers in by_key((holders.meeting, f) for f, holders in enumerate(holding)).items():
            use = _Use.of(m, rate, own_time, group, numbers)
            for f in numbers:
                more = None if further is m.total.demand else further[m.total.row == f]
                columns[:, f] = _left(use, f, names, holding[f], error_of, _waits(problem, holding[f], f, rows), more)
        return columns


class _Use(NamedTuple):
    """Transfers that run together (S, F) and their utilisation of the stations (S, K)."""

    m: Matrices  #: Stations and demands with the capacities at the solution.
    rate: Array  #: Their rates [B/s].
    used: Array  #: How much of each station is used.
    at_work: Array  #: (F,) workers that have a file to work on.

    @classmethod
    def of(cls, m: Matrices, rate: Array, own_time: Array, meeting: Meeting | None, asked: Sequence[int]) -> _Use:
        """Use of the stations that some transfers visit, by those that run with them.

        Args:
            m: Stations and demands.
            rate: (S, F) rates while all run [B/s].
            own_time: (S, F) those over each transfer's own time, which the members of a meeting have [B/s].
            meeting: Who runs with them; None: all.
            asked: The numbers of these transfers.
        """
        if meeting is not None:
            rate = np.where(np.isin(np.arange(rate.shape[1]), meeting.members), own_time, 0.0)
        use = cls(m, rate, np.empty(0), m.at_work)
        stations = np.array(sorted({k for f in asked for k in use.visited(f).tolist()}), np.intp)
        parts = per_capacity(m.loads(rate, stations), m.capacity[:, stations])
        used = np.zeros((len(parts), m.capacity.shape[1]))
        used[:, stations] = parts
        return use._replace(used=used)

    def visited(self, f: int) -> Index:
        """Numbers of the stations on a transfer's way."""
        stations = self.m.total.row_entries(f)[0]
        return np.asarray(stations[stations < self.m.capacity.shape[1]])

    def worker_rate(self, f: int) -> Array:
        """(S,) rate of each worker of a transfer [B/s]."""
        return np.asarray(self.rate[:, f] / self.at_work[f])


def _rows(limits: Mapping[str, Value], rows: Index) -> dict[str, Array]:
    """What the limits leave in some scenarios, without those that bind nobody."""
    return {n: of_rows(v, rows) for n, v in limits.items() if np.isfinite(v).any()}


def _limited_by(regime: Regime, limit: str, limits: Collection[str]) -> Regime:
    """The regime of a connection that binds by one of its limits; a buffer that narrows a link is as at the median."""
    if limit == "link":
        return regime._replace(kind="wire") if regime.kind in limits else regime
    return regime._replace(kind=limit)


def rooms(problem: Problem, solution: tuple[Matrices, Array, Array], holders: Holders, f: int) -> dict[str, Array]:
    """Headroom of each kind of thing that does not bind a transfer: logarithm of the possible rise (S,), by kind.

    Args:
        solution: As `Discrepancy.factors` has it, of all scenarios.
        holders: What can hold the transfer.
    """
    use, by_kind = _Use.of(*solution, holders.meeting, [f]), dict[str, Array]()
    idle, rows = use.worker_rate(f) * idle_time(use.m, f), np.arange(len(use.rate))
    parts = [(regime, part * idle) for regime, part in _waits(problem, holders, f, rows)]
    for k in use.visited(f):
        name = problem.stations[k].name
        regime, c = holders.stations.get(name, holders.own), problem.connections.get(name)
        limits = {} if c is None else _rows(tcp.limits(c), rows)
        several = [(_limited_by(regime, limit, limits), use.used[:, k] / left) for limit, left in limits.items()]
        parts += several or [(regime, use.used[:, k])]
    for regime, part in parts:
        by_kind[regime.kind] = np.maximum(by_kind.get(regime.kind, 0.0), part)
    most = np.maximum.reduce(list(by_kind.values()))
    with np.errstate(divide="ignore", invalid="ignore"):
        return {k: np.log(most / part) for k, part in by_kind.items() if k != holders.own.kind and np.any(part > 0)}


def _waits(problem: Problem, holders: Holders, f: int, rows: Index) -> list[tuple[Regime, Array]]:
    """What a transfer's workers wait for, and its part of all their waiting in some scenarios (S,)."""
    seconds = [
        (holders.waits.get(d.each, holders.own), of_rows(d.per_byte, rows))
        for p in problem.transfers[f].phases
        for d in p.delays
    ]
    total = np.maximum(sum((part for _, part in seconds), np.zeros(rows.shape)), 1e-300)
    return [(regime, part / total) for regime, part in seconds]


def _left(
    use: _Use,
    f: int,
    names: Sequence[str],
    holders: Holders,
    error: Callable[[Regime, str], Array],
    kinds: Sequence[tuple[Regime, Array]],
    more: Array | None,
) -> Array:
    """(S,) part of a transfer's rate that remains once each kind of thing that can bind is off by its own error.

    ``more`` is what one byte more takes of the stations, where that is not what the others take (`beyond`).
    """
    visited = use.visited(f)
    off = np.array([error(holders.stations.get(names[k], holders.own), names[k]) for k in visited])
    waits = idle_time(use.m, f)
    moving, slower = np.zeros(1), sum((waits * part / error(regime, "") for regime, part in kinds), np.zeros(1))
    for stations, seconds in solo_times(use.m, f):
        if len(stations):
            moving = moving + seconds.max(axis=1)
            slower = slower + (seconds.T / off[np.searchsorted(visited, stations)]).max(axis=0)
    each = use.worker_rate(f)
    with np.errstate(divide="ignore", invalid="ignore"):  # a rate without end, where hosts hold nothing
        before, after, loads = each * (moving + waits), each * slower, use.used[:, visited].T
        if len(visited):
            before = np.maximum(before, loads.max(axis=0))
        if more is None:
            left = before / np.maximum(after, (loads / off).max(axis=0) if len(visited) else 0.0)
        else:
            taken = use.rate[:, f] * per_capacity(more[: len(visited)], use.m.capacity.T[visited]) / off
            worker, loads = (taken / use.m.alone.T[visited]).max(axis=0) / use.at_work[f], loads / off
            left = 1 + (before - after) / np.maximum(worker, after)
            left = np.minimum(left, 1 + ((before - loads) / np.maximum(taken, loads)).min(axis=0))
    return np.where(np.isfinite(left), left, error(holders.own, ""))


def clayton(own: Array, common: Array) -> Array:
    """Levels of one of several errors whose survivals have a Clayton copula, from levels of its own and a common one.

    Its parameter is 1 (the likeliest over 759 figures of 0.5, 1, 2, 3, 6, 12; `dtnsim.evidence.learn`), Kendall's tau a
    third: ``1 - 1 / (1 + e / w)`` of exponential ``e`` and ``w`` (Marshall and Olkin, JASA 1988). The fast sides go
    together: a machine that is better than it is taken to be is so in most of its parts, what slows one of them seldom
    slows another.
    """
    e, w = -np.log(own), -np.log(common)
    return np.asarray(e / (e + w))


def _levels(scores: Array) -> Array:
    """Levels of scores that fill a grid: their ranks."""
    return np.asarray((np.argsort(np.argsort(scores)) + 0.5) / scores.size)


# many transfers and paths share what has the same draws


@lru_cache(maxsize=256)
def _levels_of(own: bytes, common: bytes) -> Array:
    """Levels of the error of a kind by the scores of its own and of a common one."""
    return _levels(clayton(*(_levels(np.frombuffer(scores)) for scores in (own, common))))


@lru_cache(maxsize=64)
def _luck(scores: bytes) -> Array:
    """How far runs are off by their scores, in standard deviations."""
    return UNIT * t4_quantile(_levels(np.frombuffer(scores)))


def load(file: str | Path | None = None) -> Discrepancy:
    """Reads a discrepancy file, or the shipped one.

    Raises:
        SpecError: with file, line, key, value and remedy.
    """
    return _load(Path(file) if file is not None else library.root("calibration") / "discrepancy.yaml")


@cache
def _load(file: Path) -> Discrepancy:
    raw = yamlio.load(file)
    if str(raw.get("schema")) != SCHEMA:
        remedy = "give a file that 'dtnsim validate --discrepancy' wrote"
        raise SpecError("is not a discrepancy file", **place(raw, "schema"), key="schema", remedy=remedy)
    return read(raw)


def read(raw: Mapping[str, Any]) -> Discrepancy:
    """The laws and noises of a discrepancy file, or of one of its folds."""
    noises = raw.get("repeat") or {}
    return Discrepancy(
        _record(Law, raw["default"]),
        {name: _record(Law, entry) for name, entry in (raw.get("kinds") or {}).items()},
        _record(Noise, noises["default"]) if "default" in noises else Noise(),
        {name: _record(Noise, entry) for name, entry in noises.items() if name != "default"},
    )


def _record(record: type[_Record], raw: Mapping[str, Any]) -> _Record:
    """A law or a noise as it is written, by the names of its fields."""
    return record(*(float(raw[each.name]) for each in fields(record)))
