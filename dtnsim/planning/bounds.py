"""Upper bounds for the sets of a branch, from each option's own effect on a byte's time at every station.

The reference is the path with the quickest option of every place. Each option, put in its place there, gives for each
station the ratio of a byte's time to that of the reference. For several options in different places, a station's time
is that of the option that slows it most, times the gains of those that speed it up: never more than their joint effect,
whether effects multiply (a clock and a lane) or the narrowest counts (the cards of two hosts). For an open place the
least ratio of the remaining options counts, station by station. Stations that only other options bring (disks, if the
reference has SSDs) are added to it with the longest time of any place. Each limit of a connection (window, loss, link)
counts as a time like those of stations.

Times are those of the draws of `predict`; the model's own error and one run's luck follow from the utilisation of each
station. `Search` counts sets that exceed their bound.
"""

import itertools
import math
from collections import ChainMap
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from dtnsim.composition import tcp
from dtnsim.ground.errors import DtnsimError
from dtnsim.ground.records import Demand, Phase, Problem
from dtnsim.physics._arrays import FloatArray as Array
from dtnsim.planning.option import Option
from dtnsim.planning.rating import Described, Rater
from dtnsim.planning.search import Case, Open, Rates, Set
from dtnsim.steady import ordering
from dtnsim.steady.matrices import Matrices
from dtnsim.steady.regime import on_the_way
from dtnsim.steady.scenarios import Scenarios, solved

_ALIKE: Final = 1e-9  #: relative difference below which times are equal
#: tables of times that are solved together: enough to hide numpy's overhead, few enough for the cache
_AT_ONCE: Final = 16

#: transfer, and station; "" for what its workers wait. Of a station of TCP also by what each limit alone would leave
Key = tuple[str, ...]


class _Reference:
    """The reference drawn, whose times can be scaled."""

    def __init__(self, rater: Rater, problem: Problem, others: Iterable[Problem]) -> None:
        self.times = _limited(problem)
        self.problem = with_stations(problem, others)
        all_times = _limited(self.problem)
        m = self._m = rater.matrices(self.problem)
        #: times that others take at stations where the reference takes none
        self.extra = {key: time for key, time in all_times.items() if key not in self.times}
        self.keys: list[Key] = list(all_times)  #: rows of the ratios
        #: rows of such stations, (keys, 1)
        self.absent = np.array([[key in self.extra] for key in self.keys])
        self.count = rater.samples
        number = {key: n for n, key in enumerate(self.keys)}
        names = [(f, t.name) for f, t in enumerate(self.problem.transfers) for _ in t.phases]
        stations = [s.name for s in self.problem.stations]
        rows = m.phases
        none = len(self.keys)  # a row of ones: a phase that only waits has an entry without a station
        crossed = zip(rows.row, rows.station, strict=True)
        self._rows = np.array([number[names[row][1], stations[k]] if k < len(stations) else none for row, k in crossed])
        self._waits = np.array([number.get((name, ""), none) for _, name in names])
        sums = {(int(f), int(k)): n for n, (f, k) in enumerate(zip(m.total.row, m.total.station, strict=True))}
        visits = [(names[row][0], int(k)) for row, k in zip(rows.row, rows.station, strict=True)]
        # where such an entry is added changes nothing
        self._total = np.array([sums.get(visit, int(m.total.first[visit[0]])) for visit in visits])
        #: rows of what limits a connection, by station and limit: of all, of that, and how far that is off
        self._limits = {
            (key[1], key[2]): (number[key[:2]], n, self.times[key[:2]] / np.maximum(self.times[key], 1e-300))
            for n, key in enumerate(self.keys)
            if len(key) > 2 and key in self.times
        }

    def ratios(self, option_times: Mapping[Key, Array], like: Mapping[Key, Array]) -> Array:
        """Ratio of times to others, (keys, draws); 0 for a station that is no longer on the way.

        If the others do not visit a station, the ratio is to its known time.
        """
        ratios = np.ones((len(self.keys), self.count))
        for n, key in enumerate(self.keys):
            time = like.get(key, np.zeros(1)) if key not in self.extra else self.extra[key]
            with np.errstate(divide="ignore", invalid="ignore"):
                ratios[n] = np.where(time > 0, option_times.get(key, np.zeros(1)) / time, 1.0)
        return ratios

    def scaled(self, ratios: Array) -> Matrices:
        """The reference with other times; ``ratios`` are (keys, draws), or several such tables side by side."""
        m = self._m.take(np.tile(np.arange(self.count), ratios.shape[1] // self.count))
        table = np.vstack([ratios, np.ones((1, ratios.shape[1]))])
        demand = m.phases.demand * table[self._rows]
        total = np.zeros((len(m.total.row), demand.shape[1]))
        np.add.at(total, self._total, demand)
        delay = m.delay * table[self._waits].T
        return replace(m, phases=replace(m.phases, demand=demand), total=replace(m.total, demand=total), delay=delay)

    def limited(self, ratios: Array) -> Problem:
        """The reference with the limits of its connections changed to match other times."""
        left: dict[str, dict[str, Array]] = {}
        for (station, limit), (total_row, limit_row, off) in self._limits.items():
            farther = ratios[total_row] / np.maximum(ratios[limit_row], 1e-300)
            left.setdefault(station, {})[limit] = np.resize(off, farther.shape) * farther
        connections = self.problem.connections
        return replace(self.problem, connections={s: replace(connections[s], left=each) for s, each in left.items()})


def with_stations(problem: Problem, others: Iterable[Problem]) -> Problem:
    """A problem that also visits the stations of others of the same path, in phases of the same name or step.

    Demands of a step with several phases (a page cache that fills and then throttles) go into the first: the split of
    bytes into phases differs from set to set, and the longest of sums is no more than the sum of the longest.
    """
    present = {s.name for s in problem.stations}
    visited = {(t.name, d.station) for t in problem.transfers for p in t.phases for d in p.demands}
    stations = list(problem.stations)
    more: dict[tuple[int, int], list[Demand]] = {}
    for other in others:
        by_name, before = {s.name: s for s in other.stations}, set(visited)
        for f, (mine, theirs) in enumerate(zip(problem.transfers, other.transfers, strict=False)):
            for phase in theirs.phases:
                same_step = next((n for n, p in enumerate(mine.phases) if p.step == phase.step), None)
                index = next((n for n, p in enumerate(mine.phases) if p.name == phase.name), same_step)
                for d in phase.demands:
                    if index is None or (mine.name, d.station) in before:
                        continue
                    visited.add((mine.name, d.station))
                    more.setdefault((f, index), []).append(d)
                    if d.station not in present:
                        present.add(d.station)
                        stations.append(by_name[d.station])
    transfers = []
    for f, t in enumerate(problem.transfers):
        phases = [replace(p, demands=(*p.demands, *more.get((f, n), ()))) for n, p in enumerate(t.phases)]
        transfers.append(replace(t, phases=_by_step(phases)))
    return replace(problem, stations=tuple(stations), transfers=tuple(transfers))


def _by_step(phases: Sequence[Phase]) -> tuple[Phase, ...]:
    """Phases with all demands of a step in its first phase."""
    steps = [p.step for p in phases]
    return tuple(
        replace(p, demands=tuple(d for q in phases if q.step == p.step for d in q.demands) if first == n else ())
        for n, p in enumerate(phases)
        for first in [steps.index(p.step)]
    )


def _limited(problem: Problem) -> dict[Key, Array]:
    """`times`, with those that each limit of a connection would give by itself."""
    limits, seconds = {station: tcp.limits(c) for station, c in problem.connections.items()}, times(problem)
    alone = {(*key, limit): seconds[key] / left for key in seconds for limit, left in limits.get(key[1], {}).items()}
    return dict[Key, Array](seconds.items()) | dict[Key, Array](alone.items())


def times(problem: Problem) -> dict[tuple[str, str], Array]:
    """Seconds per byte at each station over all phases, and of waiting by the worker."""
    capacity = {s.name: np.asarray(s.capacity, float) for s in problem.stations}
    total: dict[tuple[str, str], Array] = {}
    for transfer in problem.transfers:
        for phase in transfer.phases:
            for d in phase.demands:
                key = (transfer.name, d.station)
                with np.errstate(divide="ignore", invalid="ignore"):
                    spent = np.asarray(d.per_byte, float) / capacity[d.station]
                total[key] = total.get(key, np.zeros(1)) + (spent if np.isfinite(spent).all() else np.nan_to_num(spent))
            for d in phase.delays:
                key = (transfer.name, "")
                total[key] = total.get(key, np.zeros(1)) + np.asarray(d.per_byte, float)
    return total


class Bound:
    """Upper bounds on the rates of sets, which the rater rates in full."""

    def __init__(
        self,
        rater: Rater,
        choices: Mapping[str, Sequence[Option]],
        each: Callable[[Collection[Any]], Iterable[Any]] = iter,
    ) -> None:
        self._rater = rater
        self._base = _limited(rater.middle([]))
        self._alone: dict[Option | None, dict[Key, Array]] = {None: self._base}
        rater.ahead(o.overrides for options in choices.values() for o in options)
        for option in each(list(itertools.chain(*choices.values()))):
            self._alone[option] = self._times(option.overrides) or self._base
        self._places = list(choices)
        self._best = self._quickest(choices)
        best = rater.described([o for b in self._best.values() for o in b.overrides])
        every = [(p, o) for p, options in choices.items() for o in (None, *options)]
        rater.ahead(self._sets(p, o) for p, o in every)
        with_each = {(p, o): self._with_option(p, o) for p, o in each(every)}
        beside = {which: other.drawn if other is not None else None for which, other in with_each.items()}
        self._draw, self._of = best.draw, best.middle()
        others = [(other.given, other.drawn) for other in with_each.values() if other is not None]
        # with any of the options, the first before the others
        every_held = [ChainMap(dict(h.stations), *(on_the_way(*other, f) for other in others))
                      for f, h in enumerate(best.held)]  # fmt: skip
        of_each = zip(best.held, every_held, strict=True)
        self._held = tuple(h._replace(stations=dict(s), meeting=None) for h, s in of_each)
        self._reference = _Reference(rater, best.drawn, [other for other in beside.values() if other is not None])
        self._known = {which: self._ratios(which[1], other) for which, other in beside.items()}
        self._asked: dict[object, Rates] = {}
        self._quick = {which: self._quickened(*which) for which in beside}

    def matters(self, option: Option) -> bool:
        """Whether an option changes the time at any station, by itself or beside the best options elsewhere."""
        ratios, none = self._known[option.place, option], self._known[option.place, None]
        return bool(_changed(self._alone[option], self._base)) or _differ(ratios, none)

    def by_weight(self, places: Iterable[str]) -> list[str]:
        """Places in order of what their present part costs the reference, most first."""
        place_list = list(places)
        without = self([(tuple(o for p, o in self._best.items() if p != place), {}) for place in place_list])
        weight = {place: rates[0] for place, rates in zip(place_list, without, strict=True)}
        return sorted(place_list, key=weight.__getitem__)

    def __call__(self, cases: Sequence[Case]) -> list[Rates]:
        """Bounds on sets with the chosen options and, in the open places, any option or none; solved together."""
        cache = self._asked
        keys = [(frozenset(map(id, c)), *((p, *map(id, o)) for p, o in still.items())) for c, still in cases]
        new = {key: case for key, case in zip(keys, cases, strict=True) if key not in cache}
        for first in range(0, len(new), _AT_ONCE):
            batch = list(new)[first : first + _AT_ONCE]
            drawn = self._solved([self._joint(self._option_times(*new[key])) for key in batch])
            cache.update(zip(batch, self._rated(drawn, len(batch)), strict=True))
        return [cache[key] for key in keys]

    def _rated(self, drawn: Scenarios, count: int) -> list[Rates]:
        """Rates of tables that were solved together, one for each."""
        rates = ordering.total_rate(self._of, drawn.rates(self._rater.laws))
        return [self._rater.sure(r) for r in np.split(rates, count)]

    def _option_times(self, chosen: Set, still: Open) -> list[tuple[Array, Array]]:
        decided = {o.place: o for o in chosen}
        return [self._least_times(p, (decided.get(p), *still.get(p, ()))) for p in self._places]

    def each_option(self, place: str, choices: Open) -> dict[tuple[Option | None, bool], tuple[Array, Rates]]:
        """Rates of the path in each draw, and rated by what holds it, with each option in a place beside all others.

        By the option (None: what is there now), and by whether the others' options count by the most that they can take
        on the stations of the place, or by the least.
        """
        others = {p: (None, *o) for p, o in choices.items() if p != place}
        # stations whose time differs between what can be in the place, (keys, 1)
        table = np.stack([r for (p, _), r in self._known.items() if p == place])
        decided = (np.ptp(table, axis=0) > _ALIKE).any(axis=1, keepdims=True)
        least = {p: self._least_times(p, o) for p, o in others.items()}
        most = {p: np.stack([self._known[p, o] for o in options]).max(axis=0) for p, options in others.items()}
        company = {
            False: list(least.values()),
            True: [(np.where(decided, most[p], ratio), quick) for p, (ratio, quick) in least.items()],
        }
        cases = [(o, crowded) for o in (None, *choices[place]) for crowded in company]
        rated: dict[tuple[Option | None, bool], tuple[Array, Rates]] = {}
        for first in range(0, len(cases), _AT_ONCE):
            batch = cases[first : first + _AT_ONCE]
            drawn = self._solved(
                [self._joint([self._least_times(place, (o,)), *company[crowded]]) for o, crowded in batch]
            )
            plain = np.split(ordering.total_rate(self._of, drawn.parameters), len(batch))
            rated.update(zip(batch, zip(plain, self._rated(drawn, len(batch)), strict=True), strict=True))
        return rated

    def _least_times(self, place: str, options: Sequence[Option | None]) -> tuple[Array, Array]:
        """Least times over some options, and those at stations that the reference lacks."""
        if len(options) == 1:
            return self._known[place, options[0]], self._quick[place, options[0]]
        ratios, quick = (np.stack([table[place, o] for o in options]) for table in (self._known, self._quick))
        return ratios.min(axis=0), quick.min(axis=0)

    def _joint(self, taken: Sequence[tuple[Array, Array]]) -> Array:
        """Joint times of the options in all places."""
        ratio, quick = (np.stack(each) for each in zip(*taken, strict=True))
        # of those that slow it the worst, times the gains of all that quicken it
        combined = np.maximum(ratio.max(axis=0), 1.0) * np.minimum(ratio, 1.0).prod(axis=0)
        return np.asarray(np.where(self._reference.absent, ratio.max(axis=0) * quick.prod(axis=0), combined))

    def _solved(self, tables: Sequence[Array]) -> Scenarios:
        """The reference with each of some tables of times, one after the other."""
        ratios = np.concatenate(tables, axis=1)
        m, problem = self._reference.scaled(ratios), self._reference.limited(ratios)
        return solved(problem, m, self._draw, self._held, times=len(tables))

    def _times(self, overrides: Sequence[str]) -> dict[Key, Array] | None:
        try:
            return _limited(self._rater.middle(list(overrides)))
        except DtnsimError:
            return None

    def _quickest(self, choices: Mapping[str, Sequence[Option]]) -> dict[str, Option]:
        """The quickest option of each place, as far as they are compatible."""
        best: dict[str, Option] = {}
        for place, options in choices.items():
            keys = {key for o in options for key in _changed(self._alone[o], self._base)}  # it decides on them
            for option in sorted(options, key=lambda o: (self._narrowness(o, keys), -o.price)):
                sets = [x for o in (*best.values(), option) for x in o.overrides]
                if self._times(sets) is not None:
                    best[place] = option
                    break
        return best

    def _narrowness(self, option: Option, keys: set[Key]) -> tuple[float, ...]:
        """Times at the stations that a place affects, longest first; the least is the quickest."""
        option_times = self._alone[option]
        longest = sorted((float(np.mean(option_times[k])) for k in keys if k in option_times), reverse=True)
        return tuple(round(math.log(t), 6) for t in longest if t > 0)

    def _with_option(self, place: str, option: Option | None) -> Described | None:
        """The reference with an option (None: the present part) in a place; None if that is not possible."""
        try:
            return self._rater.described(self._sets(place, option))
        except DtnsimError:
            return None

    def _sets(self, place: str, option: Option | None) -> list[str]:
        beside = {**dict.fromkeys(self._places), **self._best, place: option}
        return [x for o in beside.values() if o is not None for x in o.overrides]

    def _ratios(self, option: Option | None, beside: Problem | None) -> Array:
        """Times over those of the reference; if None, those of the option alone over the path as it is."""
        r = self._reference
        if beside is None:
            return np.where(r.absent, 0.0, r.ratios(self._alone[option], self._base))
        return r.ratios(_limited(beside), r.times)

    def _quickened(self, place: str, option: Option | None) -> Array:
        """Factor of an option alone on times at stations that the reference lacks; 1 if it brings them."""
        r = self._reference
        quick, option_times = np.ones((len(r.keys), r.count)), self._alone[option]
        brought = np.stack([ratio for (p, _), ratio in self._known.items() if p == place]).max(axis=0) > 0
        for k, key in enumerate(r.keys):
            if key in r.extra and key in option_times and key in self._base:
                quick[k] = np.minimum(option_times[key] / np.maximum(self._base[key], 1e-300), 1.0)
        return np.where(brought, 1.0, quick)


def _changed(a: Mapping[Key, Array], b: Mapping[Key, Array]) -> set[Key]:
    """Stations whose times differ."""
    zero = np.zeros(1)
    return {key for key in {*a, *b} if _differ(a.get(key, zero), b.get(key, zero))}


def _differ(a: Array, b: Array) -> bool:
    return bool(np.any(np.abs(a - b) > _ALIKE * np.abs(b)))
