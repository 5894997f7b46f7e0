"""The sets of purchases that no cheaper set beats, by branch and bound.

A set is judged by its median throughput, the throughput reached as surely as asked, the probability of the goal, and
whether that is enough; it is beaten by a set that costs no more and is as good in all four. A branch is dropped if even
its upper bound (`dtnsim.planning.bounds`) is beaten. The cheapest sets come first, so that whatever could beat a set is
known and sets ruled out by their own bound are not predicted. Every set that is kept is predicted in full. If one
exceeds its bound, all bounds are raised as much and the search is repeated until none does, or time is up.
"""

import heapq
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

from dtnsim.planning.option import Option

_NONE: Final = (0.0, 0.0, 0.0, 0.0)
#: relative differences below which two sets are equally fast, equally sure, and as likely to do: nobody pays for less
SAME: Final = (5e-3, 1e-2, 1e-2, 0.0)
#: bounds after which a search ends where it is, some twenty seconds on a path of two large hosts
PATIENCE: Final = 4000
_AT_ONCE: Final = 16  #: sets whose bounds are asked for together, the cheapest of those that are left
_IN_FULL: Final = 20  #: bounds that take as long as a set worked out in full

Set = tuple["Option", ...]
#: median, and what is reached as surely as asked [B/s]; one plus the probability that the goal is met, and one plus
#: whether that is enough
Rates = tuple[float, float, float, float]
Open = Mapping[str, Sequence["Option"]]
Case = tuple[Set, Open]  #: what is chosen, and what may still be


@dataclass(slots=True)
class Search:
    """The sets that nothing cheaper beats by more than `SAME`.

    Args:
        rate: Rates of a set.
        bound: For each of several cases, upper bounds on sets with these options and, in the open places, any option
            or none; may be asked again.
        matters: Whether an option changes anything at all.
        stock: Slots, bays and the like, and how many are free.
        worth: Options that are looked at; the others cannot be in a set that is kept.
        evaluated: Rates of the sets that were predicted in full.
        out: Sets that a limit rejects: ``budget``, ``power``, ``changes`` or ``room``, and by how much.
        patience: Number of bounds after which the search stops; ``cut`` then says so.
        tell: Told of progress.
    """

    choices: Mapping[str, Sequence[Option]]
    rate: Callable[[Set], Rates]
    bound: Callable[[Sequence[Case]], Sequence[Rates]]
    budget: Decimal
    matters: Callable[[Option], bool] = lambda _: True
    stock: Mapping[str, int] = field(default_factory=dict)
    max_watts: float = float("inf")
    most: int = 6
    worth: Mapping[str, Sequence[Option]] | None = None
    evaluated: dict[frozenset[Option], Rates] = field(default_factory=dict)
    out: dict[frozenset[Option], tuple[str, float]] = field(default_factory=dict)
    exceeded: int = 0
    patience: int = PATIENCE
    cut: bool = False
    tell: Callable[[str], object] = lambda _: None
    _asked: int = 0
    _slack: Rates = (1.0, 1.0, 1.0, 1.0)

    def median_alone(self, option: Option) -> float:
        """Median throughput with one option and nothing else [B/s]."""
        return self._rates_of((option,) if self.matters(option) else ())[0]

    def frontier(self) -> list[tuple[Set, Rates]]:
        """(set, its rates) by rising price; the first buys nothing."""
        looked_at = self.choices if self.worth is None else self.worth
        on_the_way = {p: [o for o in parts if self.matters(o)] for p, parts in looked_at.items()}
        on_the_way = {p: sorted(o, key=lambda o: o.price) for p, o in on_the_way.items() if o}
        best: list[tuple[Set, Rates]] = [((), self._rates_of(()))]
        slack = _NONE
        while slack != self._slack and not self.cut:
            slack, self.exceeded = self._slack, 0
            self._by_price(on_the_way, best)
        if self.cut:
            self._greedy(on_the_way, best)
        return _thinned(best)

    def _bounds(self, cases: Sequence[Case]) -> list[Rates]:
        """Upper bounds, raised as far as sets have exceeded theirs."""
        self._asked += len(cases)
        slack = self._slack
        return [(a * slack[0], b * slack[1], c * slack[2], d * slack[3]) for a, b, c, d in self.bound(cases)]

    def _in_full(self, chosen: Set, top: Rates) -> Rates:
        """Rates of a set; bounds are raised if it exceeds its own."""
        if frozenset(chosen) not in self.evaluated:
            self._asked += _IN_FULL
        rates = self._rates_of(chosen)
        over = [r / t if t > 0 else 1.0 for r, t in zip(rates, top, strict=True)]
        if any(o > 1 + s for o, s in zip(over, SAME, strict=True)):
            self.exceeded += 1
            middle, sure, likely, enough = (k * max(o, 1.0) for k, o in zip(self._slack, over, strict=True))
            self._slack = middle, sure, likely, enough
        return rates

    def _greedy(self, choices: Mapping[str, Sequence[Option]], best: list[tuple[Set, Rates]]) -> None:
        """Good sets among those too dear to have been looked at, built up option by option by their bounds."""
        chosen: Set = ()
        for _ in range(self.most):
            taken = {o.place for o in chosen}
            more = [(*chosen, o) for p, parts in choices.items() if p not in taken for o in parts]
            more = [m for m in more if self.allowed(m)]
            if not more:
                return
            bounds = dict(zip(more, self.bound([(m, {}) for m in more]), strict=True))
            chosen = max(more, key=lambda m: (bounds[m][0], -price(m)))
            _take(chosen, self._rates_of(chosen), best)

    def _rates_of(self, chosen: Set) -> Rates:
        key = frozenset(chosen)
        if key not in self.evaluated:
            bounds = f"{min(self._asked, self.patience):,} of at most {self.patience:,} bounds"
            self.tell(f"{bounds}, {len(self.evaluated):,} sets in full")
            self.evaluated[key] = self.rate(tuple(sorted(chosen, key=lambda o: o.place)))
        return self.evaluated[key]

    def allowed(self, chosen: Set) -> bool:
        """Whether a set is within all limits; notes the limit that rejects it."""
        used: dict[str, int] = {}
        for option in chosen:
            for name, count in option.uses:
                used[name] = used.get(name, 0) + count
        over: dict[str, float | Decimal] = {
            "changes": len(chosen) - self.most,
            "budget": price(chosen) - self.budget,
            "power": sum(o.watts for o in chosen) - self.max_watts,
            "room": max((count - self.stock.get(name, 0) for name, count in used.items()), default=0),
        }
        test = next((test for test, by in over.items() if by > 0), None)
        if test is not None:
            self.out[frozenset(chosen)] = test, float(over[test])
        return test is None

    def _by_price(self, choices: Open, best: list[tuple[Set, Rates]]) -> None:
        """Predicts the sets that bounds do not rule out, cheapest first, as nothing dearer beats a set."""
        queue: list[tuple[Decimal, int, Set, Open]] = [(Decimal(), 0, (), choices)]
        #: of sets with whatever may still come, and as they are
        tops, as_is, number = dict[int, Rates](), dict[int, Rates](), itertools.count(1)
        while queue and not self.cut:
            if queue[0][1] not in tops:
                ahead = [case for case in heapq.nsmallest(_AT_ONCE, queue) if case[1] not in tops]
                tops |= zip((n for _, n, _, _ in ahead), self._bounds([case[2:] for case in ahead]), strict=True)
                ahead = [case for case in ahead if not _beaten(tops[case[1]], case[0], best)]
                as_is |= zip((n for _, n, _, _ in ahead), self._bounds([(c, {}) for *_, c, _ in ahead]), strict=True)
            cost, n, chosen, left = heapq.heappop(queue)
            if n not in as_is or _beaten(tops[n], cost, best):
                continue
            if not _beaten(as_is[n], cost, best):
                _take(chosen, self._in_full(chosen, as_is[n]), best)
            self.cut = self._asked >= self.patience
            rest = dict(left)
            for place, parts in left.items():
                del rest[place]
                for grown in ((*chosen, part) for part in parts):
                    if self.allowed(grown) and not _beaten(tops[n], price(grown), best):
                        still = {p: [o for o in options if self.allowed((*grown, o))] for p, options in rest.items()}
                        heapq.heappush(queue, (price(grown), next(number), grown, still))


def price(chosen: Set) -> Decimal:
    """Price of a set."""
    return sum((o.price for o in chosen), Decimal())


def _as_good(one: Rates, other: Rates, same: Rates = SAME) -> bool:
    return all(a >= b * (1 - s) for a, b, s in zip(one, other, same, strict=True))


def _beaten(rates: Rates, cost: Decimal, best: Sequence[tuple[Set, Rates]]) -> bool:
    return any(price(s) <= cost and _as_good(r, rates) for s, r in best)


def _take(chosen: Set, rates: Rates, best: list[tuple[Set, Rates]]) -> None:
    cost = price(chosen)
    if _beaten(rates, cost, best):
        return
    best[:] = [(s, r) for s, r in best if not (s and cost <= price(s) and _as_good(rates, r, _NONE))]
    best.append((chosen, rates))


def _thinned(best: Sequence[tuple[Set, Rates]]) -> list[tuple[Set, Rates]]:
    """Sets by rising price, without those no better than a cheaper one; the first buys nothing."""
    front: list[tuple[Set, Rates]] = []
    for chosen, rates in sorted(best, key=lambda b: (price(b[0]), len(b[0]) > 0, -b[1][0], -b[1][1])):
        if not any(_as_good(r, rates) for _, r in front):
            front.append((chosen, rates))
    return front
