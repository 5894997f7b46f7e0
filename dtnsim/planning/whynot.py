"""Why not: the test that rejected each candidate, and the limits that stand in the way."""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from typing import Any, Final

from dtnsim.ground import units
from dtnsim.ground.output import fields
from dtnsim.planning.option import Option, Refused
from dtnsim.planning.search import Search, Set, price
from dtnsim.planning.tool_choice import Choice

#: what each test rejects, in words
TESTS: Final = {
    "fit": "{} fit nowhere",
    "dark": "{} of unknown power",
    "beaten": "{} beaten by a part that costs no more",
    "budget": "{} over the budget",
    "power": "{} over the power",
    "room": "{} without enough slots, bays, ports, rack units or watts",
    "changes": "{} of too many changes",
    "short": "{} short of the probability",
    "cannot": "{} cannot serve the ends",
    "absent": "{} not among those that are there",
    "slow": "{} slower",
}
#: limits that can be relaxed: their test, and the number of changes that is none
_LIMITS: Final = {"budget": "budget", "max_watts": "power", "most": "changes"}


def percent(share: float, required: float) -> str:
    """A probability; one that is short of what is asked does not read as if it were not."""
    rounded = f"{share:.0%}"
    return f"{share:.1%}" if share < required and rounded == f"{required:.0%}" else rounded


@dataclass(frozen=True, slots=True)
class Out:
    """A rejected candidate."""

    what: str  #: A part, or a set of purchases.
    test: str  #: What rejected it, of `TESTS`.
    by: float  #: By how much: money, W, pieces, probability or, of a tool, s; 0 for what fits nowhere.
    price: Decimal  #: What it costs; 0 for what fits nowhere.
    why: str = ""  #: The reason of what fits nowhere.


@dataclass(frozen=True, slots=True)
class Instead:
    """A goal that could be met instead of the one asked for."""

    limit: str  #: ``target`` or ``confidence``.
    value: float  #: What it would have to be [B/s], or a share.
    what: str  #: What would then do.
    price: Decimal  #: What that costs.


@dataclass(frozen=True, slots=True)
class WhyNot:
    """Candidates that were tried and rejected."""

    checked: int  #: Sets, or of tools ways, that were predicted in full.
    out: tuple[Out, ...]  #: Each candidate that is out.
    nearest: Out | None  #: Of those that cost less than what is chosen, the surest; None where nothing is.
    #: Limits that stand in the way, with what each would have to be: the fewest that do.
    relaxed: tuple[tuple[str, float], ...] = ()
    by_relaxing: tuple[str, Decimal] | None = None  #: What would then do, and what it costs.
    instead: tuple[Instead, ...] = ()  #: What could be asked for instead: the goal as surely, or as much less surely.
    noun: str = "set"  #: What was checked.
    best: str = ""  #: What is chosen, where candidates are out because they take longer.

    @property
    def counts(self) -> dict[str, int]:
        """Number of candidates that each test rejected."""
        return dict(Counter(o.test for o in self.out))

    def rows(self) -> list[tuple[str, str, str]]:
        """(test, number of candidates, the nearest miss) for each test."""
        least = {test: min((o for o in self.out if o.test == test), key=lambda o: o.by) for test in self.counts}
        texts = {test: o.what + (f": {o.why}" if o.why else "") for test, o in least.items()}
        return [(TESTS[test].removeprefix("{} "), str(n), texts[test]) for test, n in self.counts.items()]

    def sentences(self, confidence: float = 0.0, currency: str = "") -> list[str]:
        """The counts, and what came nearest."""
        counts = [TESTS[test].format(n) for test, n in self.counts.items() if test != "slow"]  # a table has these
        heads = [f"Predicted {units.plural(self.checked, self.noun)}"] if self.checked else []
        outs = [f"ruled out: {', '.join(counts)}"] if counts else []
        summary = "; ".join([*heads, *outs])
        lines = [f"{summary[0].upper()}{summary[1:]}."] if summary else []
        near = self.nearest
        if near is not None and near.test == "slow":
            lines.append(f"Next fastest: {near.what}, {units.show(near.by, 's', digits=2)} behind {self.best}.")
        elif near is not None:
            reached = percent(confidence - near.by, confidence)
            lines.append(f"Nearest of those that are short: {near.what} ({near.price:,.0f} {currency}), {reached}.")
        if self.by_relaxing is not None:
            unit = {"budget": currency, "max_watts": "W", "most": "changes"}
            need = " and ".join(f"{value:,.0f} {unit[limit]}" for limit, value in self.relaxed)
            lines.append(f"With {need} it would be met: {self.by_relaxing[0]}.")
        elif self.instead:
            options = {"target": lambda v: f"--target {units.show(v, 'B/s').replace(' ', '')}",
                     "confidence": lambda v: f"--confidence {v:.0%}"}  # fmt: skip
            ways = (f"{options[i.limit](i.value)}: {i.what} ({i.price:,.0f} {currency})" for i in self.instead)
            lines.append(f"What would be met: {'; or '.join(ways)}.")
        return lines

    def document(self) -> dict[str, Any]:
        """As a record."""
        purchase, costs = self.by_relaxing or ("", Decimal())
        return {
            **fields(self, "checked", "counts"),
            "nearest": _record(self.nearest) if self.nearest is not None else None,
            "relaxed": dict(self.relaxed),
            "by_relaxing": {"what": purchase, "price": float(costs)} if self.by_relaxing else None,
            "instead": [_record(i) for i in self.instead],
            "out": [_record(o) for o in self.out],
        }


def _record(one: Out | Instead) -> dict[str, Any]:
    return {**asdict(one), "price": float(one.price)}


def why_not(
    search: Search | None, refused: Sequence[Refused], name: Callable[[Set], str], sure: float, chosen: Decimal | None
) -> WhyNot:
    """Why candidates are out.

    Args:
        search: The search; None where no parts were looked for.
        refused: What has no place.
        name: A set in words.
        chosen: Price of what meets the goal; None where nothing does.
    """
    fits = [Out(r.part, r.test, 0.0, Decimal(), f"{r.place}: {r.why}") for r in refused]
    if search is None:
        return WhyNot(0, tuple(fits), None)
    limits = [Out(name(_ordered(s)), test, by, price(_ordered(s))) for s, (test, by) in search.out.items()]
    unsure = {_ordered(s): sure - (r[2] - 1) for s, r in search.evaluated.items() if r[0] and r[2] - 1 < sure}
    short = [Out(name(s), "short", by, price(s)) for s, by in unsure.items()]
    cheaper = [o for o in short if chosen is None or o.price < chosen]
    nearest = min(cheaper, key=lambda o: (o.by, o.price), default=None)
    why_not = WhyNot(len(search.evaluated), (*fits, *limits, *short), nearest)
    return why_not if chosen is not None else _relaxed(why_not, search, name, sure)


def _ordered(chosen: Iterable[Option]) -> Set:
    """A set by place, so that its name and its sum are the same however often one asks."""
    return tuple(sorted(chosen, key=lambda o: o.place))


def _relaxed(why_not: WhyNot, first: Search, name: Callable[[Set], str], sure: float) -> WhyNot:
    """The result with the fewest limits whose relaxing meets the goal."""
    tests, count = {*why_not.counts}, 1
    while count <= len(standing := [limit for limit, test in _LIMITS.items() if test in tests]):
        cheapest: list[tuple[Set, tuple[str, ...]]] = []
        for limits in itertools.combinations(standing, count):
            none: Any = {"budget": Decimal("Infinity"), "max_watts": math.inf, "most": len(first.choices)}
            search = replace(first, **{limit: none[limit] for limit in limits}, out={}, exceeded=0, cut=False, _asked=0)
            cheapest += [(s, limits) for s, rates in search.frontier() if rates[2] - 1 >= sure][:1]
            tests |= {test for test, _ in search.out.values()}  # of what this limit hid
        if cheapest:
            best, names = min(cheapest, key=lambda found: price(found[0]))
            need = {"budget": float(price(best)), "max_watts": sum(o.watts for o in best), "most": float(len(best))}
            relaxed = tuple((limit, need[limit]) for limit in names)
            return replace(why_not, relaxed=relaxed, by_relaxing=(name(_ordered(best)), price(best)))
        count += 1
    return why_not


def of_tools(choices: Sequence[Choice], refused: Sequence[Refused]) -> WhyNot:
    """Why each way but the fastest is out: it cannot, is not there, or takes longer, and by how much [s]."""
    best, *rest = sorted(choices, key=lambda c: c.duration_s.p50)
    slower = [Out(c.name, "slow", c.duration_s.p50 - best.duration_s.p50, Decimal()) for c in rest]
    out = (*(Out(r.part, r.test, 0.0, Decimal(), r.why) for r in refused), *slower)
    return WhyNot(len(choices), out, min(slower, key=lambda o: o.by, default=None), noun="tool", best=best.name)
