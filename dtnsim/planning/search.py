"""The sets of purchases that nothing cheaper beats, by branch and bound.

A set is worth its median throughput, the throughput that it reaches as surely as asked, and how likely it meets the
goal: a set is beaten by one that costs no more and is as good in all three. A branch is left where even the bound of
its best set is beaten; the bound says what no set of the branch exceeds (`dtnsim.planning.bounds`). Every set that is
kept has been worked out in full, and sets that exceed their bound are counted: where the count is 0, the bound held
wherever it was put to the test.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from dtnsim.planning.fitting import Option

_NONE: Final = (0.0, 0.0, 0.0)
#: relative differences below which two sets are equally fast, equally sure, and as likely to do: nobody pays for less
SAME: Final = (5e-3, 1e-2, 1e-2)
#: bounds after which a search ends where it is, some ten seconds on a path of two large hosts
PATIENCE: Final = 2500
#: bounds that take as long as a set worked out in full
_IN_FULL: Final = 20

Set = tuple["Option", ...]
#: median, and what is reached as surely as asked [B/s]; one plus the probability that the goal is met
Rates = tuple[float, float, float]
Open = Mapping[str, Sequence["Option"]]


@dataclass(slots=True)
class Search:
    """The sets that nothing cheaper beats by more than `SAME`.

    Args:
        choices: For each place what can be bought.
        rate: What a set gives.
        bound: What no set exceeds that has these options and, in the open places, any of those or nothing.
        budget: Most that a set may cost.
        matters: Whether an option changes anything at all.
        stock: Slots, bays and the like, and how many are free.
        max_watts: Most power of what is bought [W].
        most: Most changes at once.
        worth: Options that are looked at, where others cannot be in a set that is kept.
        patience: Bounds after which it ends where it is; ``cut`` then says so.
    """

    choices: Mapping[str, Sequence[Option]]
    rate: Callable[[Set], Rates]
    bound: Callable[[Set, Open], Rates]
    budget: float
    matters: Callable[[Option], bool] = lambda _: True
    stock: Mapping[str, int] = field(default_factory=dict)
    max_watts: float = float("inf")
    most: int = 6
    worth: Mapping[str, Sequence[Option]] | None = None
    evaluated: dict[frozenset[Option], Rates] = field(default_factory=dict)
    exceeded: int = 0
    patience: int = PATIENCE
    cut: bool = False
    _asked: int = 0

    def alone(self, option: Option) -> float:
        """Median throughput with one option and nothing else [B/s]."""
        return self._of((option,) if self.matters(option) else ())[0]

    def frontier(self) -> list[tuple[Set, Rates]]:
        """(set, what it gives) by rising price; the first buys nothing."""
        looked_at = self.choices if self.worth is None else self.worth
        on_the_way = {p: [o for o in parts if self.matters(o)] for p, parts in looked_at.items()}
        on_the_way = {p: sorted(o, key=lambda o: o.price) for p, o in on_the_way.items() if o}
        best: list[tuple[Set, Rates]] = [((), self._of(()))]
        for options in on_the_way.values():
            for one in options:
                if self._allowed((one,)):
                    _take((one,), self._of((one,)), best)
        self._greedy(on_the_way, best)
        self._branch((), list(on_the_way), on_the_way, best)
        return _thinned(best)

    def _greedy(self, choices: Mapping[str, Sequence[Option]], best: list[tuple[Set, Rates]]) -> None:
        """Good sets to begin with: from the best known, what a bound says to add, one after the other."""
        chosen: Set = ()
        for _ in range(self.most):
            taken = {o.place for o in chosen}
            more = [(*chosen, o) for p, parts in choices.items() if p not in taken for o in parts]
            more = [m for m in more if self._allowed(m)]
            if not more:
                return
            chosen = max(more, key=lambda m: (self.bound(m, {})[0], -price(m)))
            _take(chosen, self._of(chosen), best)

    def _of(self, chosen: Set) -> Rates:
        key = frozenset(chosen)
        if key not in self.evaluated:
            self.evaluated[key] = self.rate(tuple(sorted(chosen, key=lambda o: o.place)))
        return self.evaluated[key]

    def _allowed(self, chosen: Set) -> bool:
        if len(chosen) > self.most or price(chosen) > self.budget or sum(o.watts for o in chosen) > self.max_watts:
            return False
        used: dict[str, int] = {}
        for option in chosen:
            for name, count in option.uses:
                used[name] = used.get(name, 0) + count
        return all(count <= self.stock.get(name, 0) for name, count in used.items())

    def _branch(
        self, chosen: Set, left: Sequence[str], choices: Mapping[str, Sequence[Option]], best: list[tuple[Set, Rates]]
    ) -> None:
        if not left or len(chosen) >= self.most:
            return
        still = {p: [o for o in choices[p] if self._allowed((*chosen, o))] for p in left}
        still = {p: options for p, options in still.items() if options}
        if not still:
            return
        least = price(chosen) + min(options[0].price for options in still.values())
        self._asked += 1
        if self._asked > self.patience:
            self.cut = True
            return
        if _beaten(self.bound(chosen, still), least, best):
            return
        place, *rest = still
        later = {p: still[p] for p in rest}
        for part in still[place]:
            made = (*chosen, part)
            self._asked += 2
            if _beaten(self.bound(made, later), price(made), best):
                continue
            top = self.bound(made, {})
            if not _beaten(top, price(made), best):
                self._asked += _IN_FULL
                found = self._of(made)
                self.exceeded += any(f > t * (1 + s) for f, t, s in zip(found, top, SAME, strict=True))
                _take(made, found, best)
            self._branch(made, rest, still, best)
        self._branch(chosen, rest, still, best)


def price(chosen: Set) -> float:
    """What a set costs."""
    return sum(o.price for o in chosen)


def _as_good(one: Rates, other: Rates, same: Rates = SAME) -> bool:
    return all(a >= b * (1 - s) for a, b, s in zip(one, other, same, strict=True))


def _beaten(rates: Rates, cost: float, best: Sequence[tuple[Set, Rates]]) -> bool:
    return any(price(s) <= cost and _as_good(r, rates) for s, r in best)


def _take(chosen: Set, rates: Rates, best: list[tuple[Set, Rates]]) -> None:
    cost = price(chosen)
    if _beaten(rates, cost, best):
        return
    best[:] = [(s, r) for s, r in best if not (s and cost <= price(s) and _as_good(rates, r, _NONE))]
    best.append((chosen, rates))


def _thinned(best: Sequence[tuple[Set, Rates]]) -> list[tuple[Set, Rates]]:
    """By rising price, without those that are no better than a cheaper one; the first buys nothing."""
    kept: list[tuple[Set, Rates]] = []
    for chosen, rates in sorted(best, key=lambda b: (price(b[0]), len(b[0]) > 0, -b[1][0], -b[1][1])):
        if not any(_as_good(r, rates) for _, r in kept):
            kept.append((chosen, rates))
    return kept
