"""One round of planning: settings that cost nothing, then the frontier of purchases, on one description of a path."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Final

import numpy as np

from dtnsim.description.spec import PathSpec
from dtnsim.ground.errors import DtnsimError
from dtnsim.ground.grouping import by_key
from dtnsim.ground.units import Money
from dtnsim.planning import actions, dominance, fitting, tuning, whynot
from dtnsim.planning.actions import machine
from dtnsim.planning.bounds import Bound
from dtnsim.planning.catalog import Catalog
from dtnsim.planning.money import Exchange
from dtnsim.planning.option import Offered, Option, Setting
from dtnsim.planning.proposal import Progress, Stage, Would, frontier, idle, named, price_spread
from dtnsim.planning.rating import Rater
from dtnsim.planning.search import SAME, Rates, Search, Set, price
from dtnsim.planning.tuning import Win
from dtnsim.steady.goals import Goal
from dtnsim.steady.prediction import predict, predicted

_ANOTHER: Final = 1.1  #: gain over settings alone from which on it is worth learning another tool
_MORE: Final = 1.03  #: times as fast in the median, from which on more at once is asked for


@dataclass(frozen=True, slots=True)
class Request:
    """The request, the same for all rounds."""

    goal: Goal  #: What is to be reached.
    confidence: float  #: How surely.
    hosts: Sequence[str]  #: Whose hosts may change.
    currency: str  #: In which all is counted.
    budget: Decimal  #: Most to spend.
    max_watts: float  #: Most power of what is bought [W].
    most: int  #: Most changes at once.
    #: Of the predictions.
    samples: int
    seed: int
    catalog: Catalog  #: What is for sale.
    exchange: Exchange  #: What currencies are in each other.
    allow: Sequence[str] = ()  #: What may be changed.
    hints: bool = True  #: Whether other kinds of change are tried where the goal is not met.
    tell: Progress = field(default_factory=Progress, compare=False)  #: Takes what is being tried.
    #: The path as its file has it, where hosts follow those that they are like.
    written: PathSpec | None = field(default=None, compare=False)
    apart: Sequence[str] = ()  #: Overrides that write such hosts out.
    #: Ceilings that are worked out (see `Throughputs`).
    known: dict[tuple[str, ...], float] = field(default_factory=dict, compare=False)
    #: What is for sale for a path, by all that was put over it.
    shops: dict[tuple[object, ...], Offered] = field(default_factory=dict, compare=False)

    def offered(self, path: PathSpec, *kinds: str) -> Offered:
        """What can be bought for a path by some kinds of change."""
        dark = self.max_watts < float("inf")
        key = (*path.overrides, kinds, dark)
        if key not in self.shops:
            shop = fitting.Shop(path, self.catalog, self.exchange, self.currency, watts_matter=dark)
            self.shops[key] = fitting.options(shop, self.hosts, kinds)
        return self.shops[key]

    def stage(
        self,
        name: str,
        path: PathSpec,
        options: tuple[Option, ...] = (),
        settings: Sequence[Setting] = (),
        rater: Rater | None = None,
    ) -> Stage:
        """The path with something changed, predicted in full; ``name`` is the stage's."""
        every = (*(o for s in settings for o in s.overrides), *(o for option in options for o in option.overrides))
        changed, drawn = rater.drawn(options) if rater is not None else (path.changed(every), None)
        answer = predicted(changed, self.samples, self.seed, drawn)
        cost = Money(price(options), self.currency)
        overrides = every if self.written is None else actions.in_the_file(self.written, self.apart, every)
        return Stage(name, options, cost, answer, self.goal.probability(answer), None, idle(options, answer),
                     price_spread(options), overrides, tuple(settings))  # fmt: skip

    def rater(self, path: PathSpec) -> Rater:
        """The rater of changes to a path, by its draws."""
        return Rater(path, self.goal.value, self.confidence, self.samples, self.seed)

    def named(self, options: Sequence[Option]) -> str:
        """A set of purchases in words, each with its host where several may change."""
        return named(options, several=len(self.hosts) > 1)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Result of a search over purchases."""

    search: Search  #: The search.
    rater: Rater  #: What rated its sets.
    frontier: list[tuple[Set, Rates]]  #: (set, what it gives) by rising price; the first buys nothing.
    offered: Offered  #: What was for sale.


def free(start: PathSpec, request: Request, rater: Rater | None = None) -> tuple[tuple[Win, ...], tuple[str, ...]]:
    """Settings that help a path (and another tool, if allowed), and all that were tried."""
    rate = tuning.Throughputs(start, request.known, each=request.tell.count_items)

    def settings(path: PathSpec, *, anew: bool = False) -> list[Setting]:
        return actions.settings(path, request.hosts, request.goal.value, request.allow, anew=anew)

    def most_Bps(path: PathSpec) -> float:
        return math.inf if "network" in request.allow else tuning.wires_Bps(path, cards="far" not in request.allow)

    tried, most = settings(start), most_Bps(start)
    won = tuning.wins(tried, rate, most)
    full = rate(settings_of(won)) * (1 + tuning.WORTH) >= most
    # by the medians that `tools` has, since tools miss what is said of them by more or less at the same ceiling
    medians = request.rater(start) if rater is None else rater
    if rater is not None and medians(combined(won))[3] <= 1:
        won = _more_at_once(won, tried, rate, rater)
    together = combined(won)
    with_kept = [s for s in together if not s.overrides[0].startswith("transfer")]
    overrides = [o for s in with_kept for o in s.overrides]
    names = [s.what for s in tried]

    # at the ceiling of the wires another tool may still miss what is said of it by less, where that is not enough
    enough = full and medians(together)[3] > 1

    def quickest_tools() -> Iterator[Setting]:
        for path in () if enough else (start.changed(overrides), start) if overrides else (start,):
            tools = settings(path, anew=True)
            names.extend(s.what for s in tools)
            yield from sorted(tools, key=lambda s: medians([s, *with_kept]), reverse=True)[:1]

    best = next((s for s in quickest_tools() if medians([s, *with_kept])[0] > medians(together)[0] * _ANOTHER), None)
    if best is None:
        return won, tuple(dict.fromkeys(names))
    path = start.changed(best.overrides)
    beside_it = tuning.Throughputs(path, request.known, each=request.tell.count_items)
    more = tuning.wins(settings(path), beside_it, most_Bps(path))
    share = rate(()) / rate(best.overrides)  # of the rest what it gains beside that tool
    beside = (replace(win, alone_Bps=win.alone_Bps * share) for win in more)
    return (tuning.Win(best, rate(best.overrides), together=True), *beside), tuple(dict.fromkeys(names))


def _more_at_once(
    won: tuple[Win, ...], tried: Sequence[Setting], rate: tuning.Throughputs, rater: Rater
) -> tuple[Win, ...]:
    """Settings with as many files, streams and runs at once as are best in the median, which tie at the ceiling."""
    for _ in range(2):  # files, and streams of each
        own = [s for s in tried if s.overrides[0].startswith("transfer")]
        medians = {s: rater([*(each for each in combined(won) if each.what != s.what), s])[0] for s in own}
        most = max(medians.values(), default=0.0)
        if most <= rater(combined(won))[0] * _MORE:
            break
        best = next(s for s, median in medians.items() if median * _MORE >= most)
        others = (w for w in won if w.setting.what != best.what)
        won = (*others, Win(best, rate(best.overrides), together=True))
    return won


def would_help(best: Stage, start: PathSpec, request: Request) -> list[Would]:
    """Kinds of change that are not allowed but would improve on the best that was found."""
    path = start.changed(best.overrides)
    rate, helpful = tuning.Throughputs(path, request.known), []
    full = rate(()) * (1 + tuning.WORTH) >= tuning.wires_Bps(path, cards=False)
    for kind in request.tell.count_items(actions.ALLOWED):
        if kind in request.allow or (full and kind != "network"):
            continue
        first, then = (
            actions.settings(path, request.hosts, request.goal.value, (kind,), anew=anew) for anew in (False, True)
        )
        won = combined(tuning.wins([*first, *then], rate))
        label, overrides = " and ".join(s.what for s in won), [o for s in won for o in s.overrides]
        top = None if won else _quickest(rate, request.offered(path, kind))
        if top is not None:
            label = f"{request.named((top,))} for {Money(top.price, request.currency)}"
            overrides = [*top.overrides, *settings_of(free(path.changed(top.overrides), request)[0])]
        if rate(overrides) > rate(()) * (1 + tuning.WORTH):
            prediction = predict(path.changed(overrides), samples=request.samples, seed=request.seed)
            chance = request.goal.probability(prediction)
            helpful.append(Would(kind, label, tuple(c for s in won for c in s.commands), chance))
    return helpful


def _quickest(rate: tuning.Throughputs, offered: Offered) -> Option | None:
    """The cheapest of the options that are quickest by themselves."""
    rate.ahead(o.overrides for o in itertools.chain(*offered.choices.values()))
    rates = {o: rate(o.overrides) for o in itertools.chain(*offered.choices.values())}
    least = max(rates.values(), default=0.0) * (1 - SAME[0])
    return min((o for o, r in rates.items() if r >= least), key=lambda o: o.price, default=None)


def free_beside(start: PathSpec, request: Request, won: Sequence[Win]) -> tuple[Win, ...]:
    """Settings that help a path now, or once the best of everything is bought."""
    path = start.changed(settings_of(won))
    for options in replace(request, max_watts=math.inf).offered(path, "parts").choices.values():
        for option in sorted(options, key=lambda o: -o.price):
            try:
                path = path.changed(option.overrides)
            except DtnsimError:
                continue
            break
    rate = tuning.Throughputs(start, request.known)
    least = rate(settings_of(won))
    wins = list(won)
    for win in free(path, replace(request, allow=[a for a in request.allow if a != "tools"]))[0]:
        if not win.together:
            continue
        rest = [w for w in wins if w.setting.what != win.setting.what]
        tried = [*rest, replace(win, alone_Bps=rate(win.setting.overrides))]
        if rate(settings_of(tried)) >= least * (1 - tuning.WORTH):
            wins = tried
    return tuple(wins)


def in_medians(rater: Rater, request: Request, won: Sequence[Win], now: Stage) -> tuple[Win, ...]:
    """Settings with each one's own median, as for stages; if another tool is taken, with its gain beside that."""
    tool = [w.setting for w in won if w.together and w.setting.another_tool]

    def alone_Bps(win: Win) -> float:
        beside = [] if win.setting in tool else tool
        base = rater(beside)[0]
        return now.rate * rater([*beside, win.setting])[0] / base if base > 0 else 0.0

    wins = [
        replace(win, setting=_for_all(rater.given, win.setting), alone_Bps=alone_Bps(win))
        for win in request.tell.count_items(won)
    ]
    helpful = (w for w in wins if w.together or w.alone_Bps > now.rate)  # some gain at the ceiling alone
    return tuple(sorted(helpful, key=lambda w: (not w.together, not w.setting.another_tool, -w.alone_Bps)))


def _for_all(path: PathSpec, setting: Setting) -> Setting:
    """A setting that also names the hosts that inherit it from others."""
    if setting.another_tool or not (sets := [o for o in setting.overrides if o.startswith("hosts.")]):
        return setting
    hosts = {o.split(".")[1] for o in sets}
    also = [name for name in actions.changed_hosts(path, path.changed(sets)) if name not in hosts]
    where = f"# and so on {', '.join(also[:3])}{f' and {len(also) - 3} more' if also[3:] else ''}"
    return replace(setting, commands=(*setting.commands, where)) if also else setting


def settings_of(wins: Sequence[Win]) -> list[str]:
    """``key=value`` of the settings that are taken together."""
    return [o for setting in combined(wins) for o in setting.overrides]


def combined(wins: Sequence[Win]) -> list[Setting]:
    """Settings that are taken together."""
    return [w.setting for w in wins if w.together]


def purchases(
    path: PathSpec | Rater, request: Request, offered: Offered, *, spent: Decimal = Decimal()
) -> SearchResult:
    """The frontier of purchases on top of a path, tuned, beside what is ``spent`` of the budget."""
    rater = path if isinstance(path, Rater) else request.rater(path)
    hosts = request.hosts if offered.choices and rater.could_help(request.hosts) else ()
    hosts = [h for h in hosts if rater.could_help([h], [other for other in request.hosts if other != h])]
    choices = {place: o for place, o in offered.choices.items() if place.split(".")[1] in hosts}
    if not choices:
        nothing = Search(offered.choices, rater, lambda c: [rater(())] * len(c), Decimal(), lambda _: False)
        return SearchResult(nothing, rater, nothing.frontier(), offered)
    bound = Bound(rater, choices, request.tell.count_items)
    worth = dominance.worth(bound, choices, SAME[0] / (2 * request.most))

    def matters(option: Option) -> bool:
        return option.place in choices and bound.matters(option)

    left, tell = request.budget - spent, request.tell.within
    limits = offered.stock, request.max_watts, request.most, worth
    search = Search(offered.choices, rater, bound, left, matters, *limits, tell=tell)
    return SearchResult(search, rater, search.frontier(), offered)


def machines(start: PathSpec, request: Request) -> tuple[list[Stage], Offered]:
    """The path with each machine of the list, or several, tuned; and the machines for sale.

    Machines that nothing cheaper beats also get parts from the list, if those are allowed and the target is not met
    without.
    """
    offered = request.offered(start, "hosts")
    affordable = [
        o for v in offered.choices.values() for o in v if o.price <= request.budget and o.watts <= request.max_watts
    ]
    settings: dict[Set, list[Setting]] = {}

    def stage(machines: Set, parts: Set = ()) -> Stage:
        if machines not in settings:
            path = start.changed([x for o in machines for x in o.overrides])
            settings[machines] = combined(free(path, request)[0]) if "tuning" in request.allow else []
        options = (*machines, *parts)
        return request.stage(request.named(options), start, options, settings[machines])

    stages = [stage((option,)) for option in request.tell.count_items(affordable)]
    tuned = {
        replace(o, overrides=(*o.overrides, *(x for s in settings[o,] for x in s.overrides))): o for o in affordable
    }
    stages += [stage(s) for s in request.tell.count_items(_in_several_places(start, request, offered, tuned))]
    for base in frontier(stages, request.confidence) if "parts" in request.allow else ():
        if base.probability >= request.confidence:
            continue
        path = start.changed(base.overrides)
        left = replace(request, most=request.most - len(base.options), max_watts=request.max_watts - base.watts)
        parts = left.offered(path, "parts")
        for option in base.options:
            parts = machine.left_by(parts, option)
        sets = purchases(path, left, parts, spent=base.price.amount).frontier[1:]
        stages += [stage(base.options, s) for s, _ in sets]
    return stages, offered


def _in_several_places(path: PathSpec, request: Request, offered: Offered, tuned: Mapping[Option, Option]) -> list[Set]:
    """Sets of machines (``tuned`` ones) for several hosts at once: neither helps alone if both ends bind."""
    choices = by_key((option.place, option) for option in tuned if not machine.is_beside(option))
    if len(choices) < 2 or request.most < 2:
        return []
    alone = replace(offered, choices={place: tuple(options) for place, options in choices.items()})
    sets = (s for s, _ in purchases(path, request, alone).frontier if len(s) > 1)
    return [tuple(sorted((tuned[o] for o in s), key=lambda o: o.place)) for s in sets]


def instead(best: Stage, sure: float) -> tuple[whynot.Instead, ...]:
    """Goals that can be met where this one is not as surely as asked: a lower rate, or probability, rounded down."""
    alternatives, rate = [], float(np.quantile(best.total_Bps, 1 - sure, method="inverted_cdf"))
    if rate > 0:
        step = 10.0 ** (math.floor(math.log10(rate * 8)) - 2) / 8
        alternatives.append(whynot.Instead("target", math.floor(rate / step) * step, best.name, best.price.amount))
    if (share := math.floor(best.probability * 100) / 100) > 0:
        alternatives.append(whynot.Instead("confidence", share, best.name, best.price.amount))
    return tuple(alternatives)
