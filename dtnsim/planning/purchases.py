"""What can be bought for a path: for each place in its hosts the parts that fit, and the best sets of them.

More capacity never costs: a part that is at least as quick at every station gives at least the same. So a set cannot
beat the one that has the quickest part in every place still open, which bounds a branch; that bound, and the prices,
leave out what cannot be on the frontier, and nothing else.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from dtnsim.ground.errors import DtnsimError
from dtnsim.planning import swept
from dtnsim.planning.catalog import Catalog, Offer, part_of
from dtnsim.planning.money import Exchange

if TYPE_CHECKING:
    from dtnsim.description.spec import PathSpec

#: family of what an array is made of
DRIVE: Final = "device"
#: relative gain below which two sets are equally fast
_SAME: Final = 1e-6
#: quickest parts of all open places together, at most; beyond that a branch has no bound
_CORNERS: Final = 16


@dataclass(frozen=True, slots=True)
class Option:
    """A part in a place.

    Attributes:
        place: Key of the place.
        part: The part.
        count: How many are needed.
        price: Of all of them, in the plan's currency.
        watts: Of all of them; 0 where nobody says.
        offer: Where it is from.
    """

    place: str
    part: str
    count: int
    price: float
    watts: float
    offer: Offer

    @property
    def override(self) -> str:
        """``key=value`` that puts it in."""
        return f"{self.place}={self.part}"


Set = tuple[Option, ...]


def places(given: PathSpec, hosts: Sequence[str]) -> Iterator[tuple[tuple[str, ...], str, int]]:
    """(steps, family, how many) of what can be replaced in some hosts."""
    for name in hosts:
        host = given.hosts[name]
        yield ("hosts", name, "cpu"), "cpu", 1
        yield ("hosts", name, "memory"), "memory", 1
        for room in ("nics", "hbas"):
            for card, part in getattr(host, room).items():
                yield ("hosts", name, room, card), str(part.family), 1
        for mount, volume in host.volumes.items():
            steps: tuple[str, ...] = ("hosts", name, "volumes", mount, "array")
            array: Any = volume.array
            drives = int(getattr(array, "drives", 1))
            while getattr(array, "of", None) is not None:
                array, steps = array.of, (*steps, "of")
            if getattr(array, "part", None) is not None:
                yield steps, DRIVE, drives


def options(
    given: PathSpec, hosts: Sequence[str], catalog: Catalog, rates: Exchange, currency: str
) -> tuple[dict[str, tuple[Option, ...]], tuple[str, ...]]:
    """(parts that fit each place, why some places have none)."""
    found: dict[str, tuple[Option, ...]] = {}
    notes = []
    for steps, family, count in places(given, hosts):
        now, key = part_of(given, steps), ".".join(steps)
        offers = [o for o in catalog.offers if o.family == family and o.part != now]
        if family not in ("nic", "hba"):  # cards fit or not by their slots, which the wiring checks
            own = catalog.place_of(now)
            if offers and not own:
                notes.append(f"{key}: what fits in the place of {now or 'the present part'} is not in the catalogue")
            offers = [o for o in offers if own and own in o.places]
        made, misfits = [], {}
        for offer in offers:
            price = rates.to(offer.price, currency, offer.part) * count
            one = Option(key, offer.part, count, price, (offer.watts or 0.0) * count, offer)
            try:
                given.changed([one.override])
            except DtnsimError as error:
                misfits[offer.part] = getattr(error, "message", str(error)).rpartition(": ")[2]
                continue
            made.append(one)
        if misfits:
            notes.append(f"{key}: does not take {', '.join(misfits)}: {next(iter(misfits.values()))}")
        if made:
            found[key] = tuple(made)
    return found, tuple(notes)


@dataclass(slots=True)
class Search:
    """The sets of parts that nothing cheaper, or as cheap, beats.

    Args:
        choices: For each place the parts that fit.
        rate: Throughput of a set [B/s].
        quicker: Whether the first of two parts of a place is at least as quick at every station (None: what is there).
        matters: Whether a part changes anything at all.
        budget: Most that a set may cost.
        max_watts: Most power of what is bought [W].
        most: Most changes at once.
    """

    choices: Mapping[str, Sequence[Option]]
    rate: Callable[[Set], float]
    quicker: Callable[[Option, Option | None], bool]
    budget: float
    matters: Callable[[Option], bool] = lambda _: True
    max_watts: float = float("inf")
    most: int = 6
    evaluated: dict[frozenset[Option], float] = field(default_factory=dict)

    def alone(self, option: Option) -> float:
        """Throughput with one part and nothing else [B/s]."""
        return self._of((option,) if self.matters(option) else ())

    def frontier(self) -> list[tuple[Set, float]]:
        """(set, throughput) by rising price and throughput; the first buys nothing."""
        on_the_way = {p: o for p, parts in self.choices.items() if (o := [x for x in parts if self.matters(x)])}
        tops = {place: self._tops(parts) for place, parts in on_the_way.items()}
        best: list[tuple[Set, float]] = [((), self._of(()))]
        self._branch((), list(tops), tops, best)
        return sorted(best, key=lambda b: (_price(b[0]), -b[1]))

    def _of(self, chosen: Set) -> float:
        key = frozenset(chosen)
        if key not in self.evaluated:
            self.evaluated[key] = self.rate(tuple(sorted(chosen, key=lambda o: o.place)))
        return self.evaluated[key]

    def _tops(self, parts: Sequence[Option]) -> list[Option | None]:
        """What no other part of the place, nor what is there now, is at least as quick as."""
        tops: list[Option | None] = [
            p
            for n, p in enumerate(parts)
            if not any(self.quicker(o, p) and (m < n or not self.quicker(p, o)) for m, o in enumerate(parts) if o != p)
        ]
        return tops if any(self.quicker(t, None) for t in tops if t is not None) else [*tops, None]

    def _bound(self, chosen: Set, left: Sequence[str], tops: Mapping[str, list[Option | None]]) -> float:
        """What no set reaches that has ``chosen`` and, in the places ``left``, anything."""
        count = 1
        for place in left:
            count *= len(tops[place])
        if count > _CORNERS:
            return float("inf")
        corners = itertools.product(*(tops[place] for place in left))
        return max(self._of((*chosen, *(o for o in corner if o is not None))) for corner in corners)

    def _branch(
        self, chosen: Set, left: Sequence[str], tops: Mapping[str, list[Option | None]], best: list[tuple[Set, float]]
    ) -> None:
        if not left or len(chosen) >= self.most:
            return
        price = _price(chosen)
        if _beaten(self._bound(chosen, left, tops), price, best):
            return
        place, *rest = left
        for part in sorted(filter(self.matters, self.choices[place]), key=lambda o: o.price):
            made = (*chosen, part)
            if _price(made) > self.budget or sum(o.watts for o in made) > self.max_watts:
                continue
            _take(made, self._of(made), best)
            self._branch(made, rest, tops, best)
        self._branch(chosen, rest, tops, best)


def _price(chosen: Set) -> float:
    return sum(o.price for o in chosen)


def _beaten(rate: float, price: float, best: Sequence[tuple[Set, float]]) -> bool:
    return any(_price(s) <= price and r >= rate * (1 - _SAME) for s, r in best)


def _take(chosen: Set, rate: float, best: list[tuple[Set, float]]) -> None:
    price = _price(chosen)
    if _beaten(rate, price, best):
        return
    best[:] = [(s, r) for s, r in best if not (price <= _price(s) and rate >= r * (1 - _SAME))]
    best.append((chosen, rate))


def rater(given: PathSpec) -> Callable[[Set], float]:
    """Throughput of a path with a set of parts; 0 where they do not go together."""

    def rate(chosen: Set) -> float:
        try:
            made = swept.rates(given.changed([o.override for o in chosen]))
        except DtnsimError:
            return 0.0
        return float(made.rate_Bps[0])

    return rate


class Comparer:
    """Parts of a place compared by what a byte takes at every station of the path.

    Args:
        given: The path.
    """

    def __init__(self, given: PathSpec) -> None:
        self._given = given
        self._known: dict[str, dict[tuple[str, ...], float]] = {}

    def quicker(self, one: Option, other: Option | None) -> bool:
        """Whether a part is at least as quick as another, or as what is there, at every station."""
        a, b = self._times(one), self._times(other)
        return all(a.get(k, 0.0) <= b.get(k, 0.0) * (1 + 1e-12) for k in {**a, **b})

    def matters(self, one: Option) -> bool:
        """Whether a part changes the time at any station."""
        return self._times(one) != self._times(None)

    def _times(self, option: Option | None) -> dict[tuple[str, ...], float]:
        key = option.override if option is not None else ""
        if key not in self._known:
            self._known[key] = swept.times(self._given.changed([key] if key else []))
        return self._known[key]
