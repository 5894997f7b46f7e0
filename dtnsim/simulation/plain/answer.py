"""The records of plain flows, each made when it is asked for."""

import math
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dtnsim.composition.compose import compose
from dtnsim.composition.plain import only
from dtnsim.ground.lazy import Lazy, LazyItems
from dtnsim.ground.quantity import Draw
from dtnsim.ground.records import SLOW_START, Problem
from dtnsim.physics._arrays import FloatArray as Array, Index
from dtnsim.simulation.plain.columns import Columns
from dtnsim.simulation.plain.flow_events import OWN, Course
from dtnsim.simulation.record import OPENS, held_by
from dtnsim.simulation.results import Held, LazySeries, PhaseTime, Run, Series, Simulation, TransferRun
from dtnsim.steady.reasons import Cause, full, reason


class Words:
    """The words of plain flows: each station's are found once for all flows that cross it alike."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._known: dict[Any, tuple[Problem, str]] = {}
        self._number = {name: k for k, name in enumerate(columns.shared)}
        plain = columns.plain
        flows = np.bincount(plain.kind, minlength=len(plain.kinds))
        self._visitors = [0] * len(columns.shared)
        for row, count in zip(columns.rows, flows.tolist(), strict=True):
            for k in row:
                self._visitors[k] += count

    def reasons(self, f: int, stations: Iterable[str]) -> dict[str, str]:
        """Station, or what else has held a flow -> why that binds."""
        words: dict[str, str] = {}
        for name in stations:
            if name == SLOW_START:
                words[name] = OPENS
            elif name == "waiting":
                words[name] = reason(self._composed(f), 0, Cause(None, 0, direct=False))
            else:
                words[name] = self._full(f, name)
        return words

    def _full(self, f: int, name: str) -> str:
        """Why a station holds a flow: like a flow before it, but for the station's own figures."""
        columns = self._columns
        plain = columns.plain
        kind = int(plain.kind[f])
        k = self._number.get(name)
        key: Any
        if k is not None:
            key = k, columns.rows[kind][k], plain.tools[kind]
            capacity, sharers = float(columns.capacity[k]), self._visitors[k] - 1
        else:
            place = int(columns.by[f])
            capacity, sharers = float(columns.own[f, place]), 0
            like = columns.places[kind][place]
            key = plain.tools[kind] if plain.stations[like].kind == "target" else like
        if key not in self._known:
            self._known[key] = self._composed(f), name
        problem, first = self._known[key]
        station = next(s for s in problem.stations if s.name == first)
        demands = [d for phase in problem.transfers[0].phases for d in phase.demands if d.station == first]
        own = f"[{problem.transfers[0].name}]", f"[{plain.spec.transfers[f].name}]"
        return full(replace(station, name=name, capacity=capacity, label=station.label.replace(*own)), demands, sharers)

    def _composed(self, f: int) -> Problem:
        """A flow composed by itself, with words."""
        spec = self._columns.plain.spec
        return compose(only(spec, [spec.transfers[f]]), Draw())


def answer(course: Course, seed: int) -> Simulation:
    """The answer of `simulate`."""
    columns = course.columns
    plain = columns.plain
    private = np.flatnonzero(columns.has.ravel())
    shared, width = columns.shared, columns.cost.shape[1]

    def station(k: int) -> str:
        return shared[k] if k < len(shared) else _own_name(columns, *divmod(int(private[k - len(shared)]), width))

    flows, stations = LazyItems(len(plain), _Flows(course).run), LazyItems(len(shared) + len(private), station)
    done = bool(np.all(np.isfinite(course.ended))) and not course.stopped
    series = LazySeries(lambda: _series(course, private))
    run = Run(seed, course.now, flows, stations, series, (), course.steps, done, course.stopped == "interrupted")
    words = Words(columns)
    why = LazyItems(len(plain), lambda f: words.reasons(f, dict.fromkeys(h.station for h in run.transfers[f].held)))
    return Simulation(plain.spec.name, (run,), plain.warnings, 1, why, plain.spec)


def _own_name(columns: Columns, f: int, place: int) -> str:
    """Name of a station of a flow's own."""
    plain = columns.plain
    kind = int(plain.kind[f])
    return f"{columns.places[kind][place].removesuffix(f'[{plain.kinds[kind].name}]')}[{plain.spec.transfers[f].name}]"


class _Flows:
    """The flows one by one."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._first, *self._changes = course.stretches()

    def run(self, f: int) -> TransferRun:
        """What became of a flow."""
        course = self._course
        plain = course.columns.plain
        begun, first, ended = float(plain.start[f]), float(course.first[f]), float(course.ended[f])
        done, now = math.isfinite(ended), course.now
        last = ended if done else now
        took = np.array([ended - begun] if done else [], float)
        waited = max(min(first, last) - begun, 0.0) if done or first <= now else 0.0
        held = Lazy(partial(self._held, f, begun, first, min(last, course.edges.times[-1])))
        phase = PhaseTime("transfer", max(last - first, 0.0), waited)
        name, moved = plain.spec.transfers[f].name, float(plain.size[f] if done else course.edges.counts[-1][f])
        times = begun if begun <= now else math.nan, ended, ended, ended if done else math.inf
        return TransferRun(name, *times, moved, int(done), took, np.ones(len(took)), (phase,), 0, held)

    def _held(self, f: int, begun: float, first: float, end: float) -> tuple[Held, ...]:
        """What held a flow, when."""
        columns = self._course.columns
        changes = [(begun, "waiting")] if first > begun else []
        for time, k in zip(
            *(part[self._first[f] : self._first[f + 1]].tolist() for part in self._changes), strict=True
        ):
            own = _own_name(columns, f, int(columns.by[f])) if k == OWN else SLOW_START
            changes.append((time, columns.shared[k] if k >= 0 else own))
        kept = [c for n, c in enumerate(changes) if n + 1 == len(changes) or changes[n + 1][0] > c[0]]
        kept = [c for n, c in enumerate(kept) if not n or kept[n - 1][1] != c[1]]
        return held_by(kept, end)


def _series(course: Course, private: Index) -> Series:
    """What happened over time: what the flows have moved, and what that took of each station."""
    columns = course.columns
    plain = columns.plain
    edge = np.array(course.edges.times)
    span = np.maximum(np.diff(edge), 1e-300)[:, None]
    rate = np.diff(np.array(course.edges.counts), axis=0) / span
    begin, end = course.first, np.where(np.isfinite(course.ended), course.ended, course.now)
    moving = np.clip(np.minimum(end, edge[1:, None]) - np.maximum(begin, edge[:-1, None]), 0.0, None) / span
    entries = [(n, k, cost) for n, row in enumerate(columns.rows) for k, cost in row.items()]
    kind, station, cost = (np.array(part) for part in zip(*entries, strict=True))

    def at_stations(each: Array, per_byte: Array) -> Array:
        """(B, K) what flows bring to the shared stations, kind by kind: a product of matrices that are nearly empty."""
        kinds, count = len(plain.kinds), len(columns.shared)
        summed = (np.bincount(plain.kind, weights=line, minlength=kinds)[kind] * per_byte for line in each)
        return np.array([np.bincount(station, weights=w, minlength=count) for w in summed]).reshape(-1, count)

    used, flows = at_stations(rate, cost), at_stations(moving, (cost > 0).astype(float))
    shape = len(rate), len(columns.shared) + len(private)
    share, visitors = np.empty(shape), np.empty(shape)  # in place: there are very many of a flow's own
    flow, cost_of = private // columns.cost.shape[1], columns.cost.ravel()[private]
    with np.errstate(divide="ignore", invalid="ignore"):
        share[:, : len(columns.shared)] = np.where(columns.capacity > 0, used / columns.capacity, flows > 0)
        part = np.nan_to_num(cost_of / columns.own.ravel()[private], posinf=1e300)
    visitors[:, : len(columns.shared)] = flows
    costly = (cost_of > 0).astype(float)
    for line, mine, moves, seconds in zip(share, visitors, rate, moving, strict=True):
        used_of, flows_of = line[len(columns.shared) :], mine[len(columns.shared) :]
        np.take(moves, flow, out=used_of, mode="clip")
        np.multiply(used_of, part, out=used_of)
        np.minimum(used_of, 1.0, out=used_of)
        np.take(seconds, flow, out=flows_of, mode="clip")
        np.multiply(flows_of, costly, out=flows_of)
    return Series(edge, rate, rate, np.zeros(rate.shape), share, visitors)
