"""What no set of a branch exceeds, from what each option by itself does to the time of a byte at every station.

The reference is the path with the quickest option of every place. Each option is put in its place there, and gives for
each station the ratio of a byte's time to that of the reference. Of several options in different places, a station's
time is taken as that of the one that slows it most, times the gains of those that quicken it: never more than what
they do together where effects multiply (a clock and a lane) or where the narrowest of them counts (the cards of two
hosts). For an open place the least ratio of what is left counts, station by station. `Search` counts sets that exceed
their bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dtnsim.ground.errors import DtnsimError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from dtnsim.ground.records import Problem
    from dtnsim.planning.fitting import Option
    from dtnsim.planning.rating import Rater
    from dtnsim.planning.search import Open, Rates, Set
    from dtnsim.steady.matrices import Matrices

    Array = NDArray[np.float64]

#: transfer, and station; "" for what its workers wait
Key = tuple[str, str]


class _Reference:
    """The reference at its medians or drawn, whose times can be scaled."""

    def __init__(self, problem: Problem, m: Matrices) -> None:
        self.problem, self._m = problem, m
        self.times = times(problem)
        names = [(f, t.name) for f, t in enumerate(problem.transfers) for _ in t.phases]
        stations = [s.name for s in problem.stations]
        rows = m.phases
        self._keys: list[Key | None] = [
            (names[row][1], stations[k]) if k < len(stations) else None
            for row, k in zip(rows.row, rows.station, strict=True)
        ]
        self._waits: list[Key] = [(name, "") for _, name in names]
        whole = {(int(f), int(k)): n for n, (f, k) in enumerate(zip(m.total.row, m.total.station, strict=True))}
        visits = [(names[row][0], int(k)) for row, k in zip(rows.row, rows.station, strict=True)]
        # a phase that only waits has an entry without station or demand; where it is added changes nothing
        self._total = np.array([whole.get(visit, int(m.total.first[visit[0]])) for visit in visits])

    def scaled(self, ratios: Mapping[Key, Array]) -> Matrices:
        """The reference with other times."""
        m = self._m
        count = max([m.phases.demand.shape[1], *(np.size(r) for r in ratios.values())])
        demand = np.broadcast_to(m.phases.demand, (len(self._keys), count)).copy()
        for n, key in enumerate(self._keys):
            if key is not None and key in ratios:
                demand[n] *= ratios[key]
        total = np.zeros((len(m.total.row), count))
        np.add.at(total, self._total, demand)
        delay = np.broadcast_to(m.delay, (count, m.delay.shape[1])).copy()
        for p, key in enumerate(self._waits):
            if key in ratios:
                delay[:, p] *= ratios[key]
        return replace(m, phases=replace(m.phases, demand=demand), total=replace(m.total, demand=total), delay=delay)


def times(problem: Problem) -> dict[Key, Array]:
    """Seconds that a byte takes of each station, all phases together, and of its worker's waiting."""
    capacity = {s.name: np.asarray(s.capacity, float) for s in problem.stations}
    found: dict[Key, Array] = {}
    for transfer in problem.transfers:
        for phase in transfer.phases:
            for d in phase.demands:
                key = (transfer.name, d.station)
                with np.errstate(divide="ignore", invalid="ignore"):
                    spent = np.nan_to_num(np.asarray(d.per_byte, float) / capacity[d.station])
                found[key] = found.get(key, np.zeros(1)) + spent
            for d in phase.delays:
                key = (transfer.name, "")
                found[key] = found.get(key, np.zeros(1)) + np.asarray(d.per_byte, float)
    return found


class Bound:
    """Bounds the rates of sets.

    Args:
        rater: What rates a set in full.
        choices: For each place what can be bought.
    """

    def __init__(self, rater: Rater, choices: Mapping[str, Sequence[Option]]) -> None:
        self._rater = rater
        self._base = tuple(times(p) for p in rater.problems([]))
        self._alone: dict[Option, tuple[dict[Key, Array], ...]] = {}
        for options in choices.values():
            for option in options:
                self._alone[option] = self._times(option.overrides) or self._base
        self._best = self._together(choices)
        problems = rater.problems([o for b in self._best.values() for o in b.overrides])
        self._references = tuple(_Reference(p, rater.matrices(p)) for p in problems)
        self._known: dict[tuple[str, Option | None], tuple[dict[Key, Array], ...]] = {}
        self._places = list(choices)
        for place, options in choices.items():
            for one in (None, *options):
                self._known[place, one] = self._ratios(place, one)

    def matters(self, option: Option) -> bool:
        """Whether an option changes the time at any station, by itself or beside the best of all others."""
        own, none = self._known[option.place, option], self._known[option.place, None]
        return _unlike(self._alone[option][0], self._base[0]) or _unlike(own[0], none[0])

    def worth(self, choices: Mapping[str, Sequence[Option]]) -> dict[str, list[Option]]:
        """Options without those that another of their place, or nothing, is as quick as for no more; by weight.

        Places come first whose present part costs the reference most.
        """
        kept: dict[str, list[Option]] = {}
        for place, options in choices.items():
            by_price = sorted(filter(self.matters, options), key=lambda o: (o.price, o.watts))
            left: list[Option] = []
            for option in by_price:
                if not any(self._at_least(other, option) for other in (None, *left)):
                    left.append(option)
            if left:
                kept[place] = left
        return dict(sorted(kept.items(), key=lambda item: self._without(item[0])))

    def _at_least(self, one: Option | None, other: Option) -> bool:
        """Whether an option (or what is there now) is as quick as a dearer one everywhere, and needs no more."""
        if one is not None and (one.watts > other.watts or not set(one.uses) <= set(other.uses)):
            return False
        beside = zip(self._known[other.place, one], self._known[other.place, other], strict=True)
        alone = zip(self._alone[one] if one is not None else self._base, self._alone[other], strict=True)
        return all(_no_slower(a, b, np.ones(1)) for a, b in beside) and all(
            _no_slower(a, b, np.zeros(1)) for a, b in alone
        )

    def _without(self, place: str) -> float:
        """Median of the reference with what is there now in one place."""
        return self(tuple(o for p, o in self._best.items() if p != place), {})[0]

    def __call__(self, chosen: Set, still: Open) -> Rates:
        """What no set exceeds that has ``chosen`` and, in the places of ``still``, any of those or nothing."""
        decided = {o.place: o for o in chosen}
        scaled = []
        for n, reference in enumerate(self._references):
            slower: dict[Key, Array] = {}
            quicker: dict[Key, Array] = {}
            for place in self._places:
                candidates = [self._known[place, decided.get(place)][n]]
                candidates += [self._known[place, o][n] for o in still.get(place, ())]
                for key, ratio in _least(candidates).items():
                    slower[key] = np.maximum(slower.get(key, np.ones(1)), ratio)
                    quicker[key] = quicker.get(key, np.ones(1)) * np.minimum(ratio, 1.0)
            scaled.append(reference.scaled({k: slower[k] * quicker[k] for k in slower}))
        nominal, drawn = self._references
        return self._rater.rates(nominal.problem, scaled[0], drawn.problem, scaled[1])

    def _times(self, overrides: Sequence[str]) -> tuple[dict[Key, Array], ...] | None:
        try:
            return tuple(times(p) for p in self._rater.problems(list(overrides)))
        except DtnsimError:
            return None

    def _together(self, choices: Mapping[str, Sequence[Option]]) -> dict[str, Option]:
        """The quickest option of each place, as far as they go together."""
        best: dict[str, Option] = {}
        for place, options in choices.items():
            keys = self._decided(options)
            for option in sorted(options, key=lambda o: (self._narrowness(o, keys), -o.price)):
                sets = [x for o in (*best.values(), option) for x in o.overrides]
                if self._times(sets) is not None:
                    best[place] = option
                    break
        return best

    def _narrowness(self, option: Option, keys: set[Key]) -> tuple[float, ...]:
        """Times at the stations that a place decides on, the longest first: what is least is quickest."""
        own = self._alone[option][0]
        longest = sorted((float(np.mean(own[k])) for k in keys if k in own), reverse=True)
        return tuple(round(math.log(t), 6) for t in longest if t > 0)

    def _decided(self, options: Sequence[Option]) -> set[Key]:
        """Stations whose time differs between some option of a place and what is there now."""
        base = self._base[0]
        zero = np.zeros(1)
        tables = [self._alone[o][0] for o in options]
        keys = {k for t in (base, *tables) for k in t}
        return {k for k in keys if any(_differ(t.get(k, zero), base.get(k, zero)) for t in tables)}

    def _ratios(self, place: str, option: Option | None) -> tuple[dict[Key, Array], ...]:
        """Times with an option (or with what is there now) in a place of the reference, over those of the reference."""
        sets = [x for p, o in self._best.items() if p != place for x in o.overrides]
        found = self._times([*sets, *(option.overrides if option is not None else ())])
        like = [r.times for r in self._references]
        if found is None:  # not beside the best of the others: as it does by itself
            found = self._alone[option] if option is not None else self._base
            like = list(self._base)
        return tuple(_ratio(own, reference) for own, reference in zip(found, like, strict=True))


def _ratio(own: Mapping[Key, Array], reference: Mapping[Key, Array]) -> dict[Key, Array]:
    """Ratios of times where they are not one; a station that is no longer on the way takes none."""
    made = {}
    for key, time in reference.items():
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(time > 0, own.get(key, np.zeros(1)) / time, 1.0)
        if np.any(np.abs(ratio - 1.0) > 1e-12):
            made[key] = ratio
    return made


def _least(candidates: Sequence[Mapping[Key, Array]]) -> dict[Key, Array]:
    """The least ratio of each station among some options; one where an option leaves it as it is."""
    keys = {k for c in candidates for k in c}
    one = np.ones(1)
    return {k: np.minimum.reduce(np.broadcast_arrays(*(c.get(k, one) for c in candidates))) for k in keys}


def _no_slower(a: Mapping[Key, Array], b: Mapping[Key, Array], absent: Array) -> bool:
    """Whether no time, or ratio of times, of the first is above that of the second."""
    return all(np.all(a.get(k, absent) <= b.get(k, absent) * (1 + 1e-9)) for k in {*a, *b})


def _unlike(a: Mapping[Key, Array], b: Mapping[Key, Array]) -> bool:
    keys = {*a, *b}
    zero = np.zeros(1)
    return any(_differ(a.get(k, zero), b.get(k, zero)) for k in keys)


def _differ(a: Array, b: Array) -> bool:
    return not np.allclose(a, b, rtol=1e-9, atol=0.0)
