"""One round of planning: settings that cost nothing, then the frontier of purchases, on one description of a path."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Final

import numpy as np

from dtnsim.ground.errors import DtnsimError
from dtnsim.ground.units import Money
from dtnsim.planning import actions, dominance, fitting, tuning, whynot
from dtnsim.planning.actions import machine
from dtnsim.planning.bounds import Bound
from dtnsim.planning.money import Exchange
from dtnsim.planning.proposal import Progress, Stage, Would, idle, named, price_spread
from dtnsim.planning.rating import Rater
from dtnsim.planning.search import SAME, Rates, Search, Set, price
from dtnsim.steady.prediction import predict

if TYPE_CHECKING:
    from dtnsim.description.spec import PathSpec
    from dtnsim.planning.catalog import Catalog
    from dtnsim.planning.option import Offered, Option, Setting
    from dtnsim.planning.tuning import Win
    from dtnsim.steady.goals import Goal

#: gain in probability, and relative gain in throughput, that is worth a line on the frontier
_SURER: Final = 0.01
_FASTER: Final = 0.005
#: standard errors of a share of the draws by which it is another: 95 of 100 seeds are within
_TOLD: Final = 1.96
#: times as fast as settings alone, from which on one learns another tool
_ANOTHER: Final = 1.1


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of all rounds.

    Attributes:
        goal: What is to be reached.
        confidence: How surely.
        hosts: Whose hosts may change.
        currency: In which all is counted.
        budget: Most to spend.
        max_watts: Most power of what is bought [W].
        most: Most changes at once.
        samples, seed: Of the predictions.
        catalog: What is for sale.
        exchange: What currencies are in each other.
        allow: What may be changed.
        hints: Whether other kinds of change are tried where the goal is not met.
        tell: Takes what is being tried.
        known: Ceilings that are worked out (see `Ceilings`).
        shops: What is for sale for a path, by all that was put over it.
    """

    goal: Goal
    confidence: float
    hosts: Sequence[str]
    currency: str
    budget: Decimal
    max_watts: float
    most: int
    samples: int
    seed: int
    catalog: Catalog
    exchange: Exchange
    allow: Sequence[str] = ()
    hints: bool = True
    tell: Progress = field(default_factory=Progress, compare=False)
    known: dict[tuple[str, ...], float] = field(default_factory=dict, compare=False)
    shops: dict[tuple[object, ...], Offered] = field(default_factory=dict, compare=False)

    def offered(self, path: PathSpec, *kinds: str) -> Offered:
        """What can be bought for a path of some kinds of change."""
        dark = self.max_watts < float("inf")
        key = (*path.overrides, kinds, dark)
        if key not in self.shops:
            shop = fitting.Shop(path, self.catalog, self.exchange, self.currency, watts_matter=dark)
            self.shops[key] = fitting.options(shop, self.hosts, kinds)
        return self.shops[key]

    def stage(
        self, name: str, path: PathSpec, options: tuple[Option, ...] = (), overrides: Sequence[str] = ()
    ) -> Stage:
        """The path with something changed, predicted in full.

        Args:
            name: What the stage is called.
            path: The path before the change.
            options: What is bought.
            overrides: What else is changed, ``key=value``.
        """
        every = (*overrides, *(o for option in options for o in option.overrides))
        found = predict(path.changed(every), samples=self.samples, seed=self.seed)
        cost = Money(price(options), self.currency)
        return Stage(name, options, cost, found, self.goal.probability(found), None, idle(options, found),
                     price_spread(options), every)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Found:
    """What a search over purchases has found.

    Attributes:
        search: The search.
        rater: What rated its sets.
        frontier: (set, what it gives) by rising price; the first buys nothing.
        offered: What was for sale.
        currency: Of its prices.
    """

    search: Search
    rater: Rater
    frontier: list[tuple[Set, Rates]]
    offered: Offered
    currency: str

    def money(self, chosen: Set) -> Money:
        """What it costs."""
        return Money(price(chosen), self.currency)


def free(given: PathSpec, asked: Asked) -> tuple[tuple[Win, ...], tuple[str, ...]]:
    """Settings that help a path, another tool among them where that is allowed; and what was tried."""
    rate = tuning.Ceilings(given, asked.known, each=asked.tell.each)

    def settings(path: PathSpec, *, anew: bool = False) -> list[Setting]:
        return actions.settings(path, asked.hosts, asked.goal.value, asked.allow, anew=anew)

    def most_Bps(path: PathSpec) -> float:
        return math.inf if "network" in asked.allow else tuning.wires_Bps(path, cards="far" not in asked.allow)

    tried, most = settings(given), most_Bps(given)
    won = tuning.wins(tried, rate, most)
    full = rate(settings_of(won)) * (1 + tuning.WORTH) >= most
    # by the medians that `tools` has, since tools miss what is said of them by more or less at the same ceiling
    medians = Rater(given, asked.goal.value, asked.confidence, asked.samples, asked.seed)
    together = [w.setting for w in won if w.together]
    with_kept = [s for s in together if not s.overrides[0].startswith("transfer")]
    kept = [o for s in with_kept for o in s.overrides]
    known = [s.what for s in tried]

    def quickest_tools() -> Iterator[Setting]:
        for path in () if full else (given.changed(kept), given) if kept else (given,):
            others = settings(path, anew=True)
            known.extend(s.what for s in others)
            yield from sorted(others, key=lambda s: medians([s, *with_kept]), reverse=True)[:1]

    best = next((s for s in quickest_tools() if medians([s, *with_kept])[0] > medians(together)[0] * _ANOTHER), None)
    if best is None:
        return won, tuple(dict.fromkeys(known))
    path = given.changed(best.overrides)
    more = tuning.wins(settings(path), tuning.Ceilings(path, asked.known, each=asked.tell.each), most_Bps(path))
    share = rate(()) / rate(best.overrides)  # of the rest what it gains beside that tool
    beside = (replace(win, alone_Bps=win.alone_Bps * share) for win in more)
    return (tuning.Win(best, rate(best.overrides), together=True), *beside), tuple(dict.fromkeys(known))


def would_help(best: Stage, given: PathSpec, asked: Asked) -> list[Would]:
    """Kinds of change that are not allowed and would help the best that was found.

    Args:
        best: The best that was found.
        given: The path as it is.
        asked: What was asked for, and which kinds are allowed.
    """
    path = given.changed(best.overrides)
    rate, found = tuning.Ceilings(path, asked.known), []
    full = rate(()) * (1 + tuning.WORTH) >= tuning.wires_Bps(path, cards=False)
    for kind in asked.tell.each(actions.ALLOWED):
        if kind in asked.allow or (full and kind != "network"):
            continue
        tried = [
            setting
            for anew in (False, True)
            for setting in actions.settings(path, asked.hosts, asked.goal.value, (kind,), anew=anew)
        ]
        won = [w.setting for w in tuning.wins(tried, rate) if w.together]
        what, overrides = " and ".join(s.what for s in won), [o for s in won for o in s.overrides]
        top = None if won else _quickest(rate, asked.offered(path, kind))
        if top is not None:
            what = f"{top.what} for {Money(top.price, asked.currency)}"
            overrides = [*top.overrides, *settings_of(free(path.changed(top.overrides), asked)[0])]
        if rate(overrides) > rate(()) * (1 + tuning.WORTH):
            chance = asked.stage(kind, path, (), overrides).probability
            found.append(Would(kind, what, tuple(c for s in won for c in s.commands), chance))
    return found


def _quickest(rate: tuning.Ceilings, offered: Offered) -> Option | None:
    """Of what can be bought, the cheapest of what is quickest by itself."""
    rate.ahead(o.overrides for o in itertools.chain(*offered.choices.values()))
    rates = {o: rate(o.overrides) for o in itertools.chain(*offered.choices.values())}
    least = max(rates.values(), default=0.0) * (1 - _FASTER)
    return min((o for o, r in rates.items() if r >= least), key=lambda o: o.price, default=None)


def free_beside(given: PathSpec, asked: Asked, won: Sequence[Win]) -> tuple[Win, ...]:
    """Settings that help a path, also those that only help once the dearest of everything is bought.

    Args:
        given: The path.
        asked: What is asked.
        won: Settings that help it as it is.
    """
    path = given.changed(settings_of(won))
    for options in replace(asked, max_watts=math.inf).offered(path, "parts").choices.values():
        for option in sorted(options, key=lambda o: -o.price):
            try:
                path = path.changed(option.overrides)
            except DtnsimError:
                continue
            break
    rate = tuning.Ceilings(given, asked.known)
    least = rate(settings_of(won))
    made = list(won)
    for win in free(path, replace(asked, allow=[a for a in asked.allow if a != "tools"]))[0]:
        if not win.together:
            continue
        others = [w for w in made if w.setting.what != win.setting.what]
        tried = [*others, replace(win, alone_Bps=rate(win.setting.overrides))]
        if rate(settings_of(tried)) >= least * (1 - tuning.WORTH):
            made = tried
    return tuple(made)


def in_medians(given: PathSpec, asked: Asked, won: Sequence[Win], now: Stage) -> tuple[Win, ...]:
    """Settings with the median of each by itself, as stages have it; beside another tool what it gains there.

    Args:
        given: The path.
        asked: What is asked.
        won: Settings that help it.
        now: The path as it is.
    """
    rater = Rater(given, asked.goal.value, asked.confidence, asked.samples, asked.seed)
    tool = [w.setting for w in won if w.together and w.setting.another_tool]

    def alone_Bps(win: Win) -> float:
        beside = [] if win.setting in tool else tool
        base = rater(beside)[0]
        return now.rate * rater([*beside, win.setting])[0] / base if base > 0 else 0.0

    made = (
        replace(win, setting=_for_all(given, win.setting), alone_Bps=alone_Bps(win)) for win in asked.tell.each(won)
    )
    return tuple(sorted(made, key=lambda w: (not w.together, not w.setting.another_tool, -w.alone_Bps)))


def _for_all(given: PathSpec, setting: Setting) -> Setting:
    """A setting that names the hosts which it reaches because they are like those that it is of."""
    if setting.another_tool or not (sets := [o for o in setting.overrides if o.startswith("hosts.")]):
        return setting
    own = {o.split(".")[1] for o in sets}
    also = [name for name in actions.changed_hosts(given, given.changed(sets)) if name not in own]
    where = f"# and so on {', '.join(also[:3])}{f' and {len(also) - 3} more' if also[3:] else ''}"
    return replace(setting, commands=(*setting.commands, where)) if also else setting


def settings_of(wins: Sequence[Win]) -> list[str]:
    """``key=value`` of the settings that are taken together."""
    return [o for w in wins if w.together for o in w.setting.overrides]


def purchases(
    path: PathSpec,
    asked: Asked,
    offered: Offered,
    *,
    spent: Decimal = Decimal(),
    relieved: Collection[str] = (),
    like: Found | None = None,
) -> Found:
    """The frontier of purchases on top of a path.

    Args:
        path: The path, tuned.
        asked: What is asked.
        offered: What can be bought for it.
        spent: What of the budget is gone.
        relieved: Hosts whose stations are taken to hold nothing.
        like: What was found for the same path before.
    """
    before = like.rater if like is not None else None
    rater = Rater(path, asked.goal.value, asked.confidence, asked.samples, asked.seed, relieved, before)
    if not offered.choices or not rater.could_help(asked.hosts):
        nothing = Search(offered.choices, rater, lambda c: [rater(())] * len(c), Decimal(), lambda _: False)
        return Found(nothing, rater, nothing.frontier(), offered, asked.currency)
    hosts = [h for h in asked.hosts if rater.could_help([h], [other for other in asked.hosts if other != h])]
    choices = {place: o for place, o in offered.choices.items() if place.split(".")[1] in hosts}
    bound = Bound(rater, choices, asked.tell.each)
    worth = dominance.worth(bound, choices, SAME[0] / (2 * asked.most))

    def matters(option: Option) -> bool:
        return option.place in choices and bound.matters(option)

    left, told = asked.budget - spent, asked.tell.within
    limits = offered.stock, asked.max_watts, asked.most, worth
    search = Search(offered.choices, rater, bound, left, matters, *limits, tell=told)
    return Found(search, rater, search.frontier(), offered, asked.currency)


def machines(given: PathSpec, asked: Asked) -> tuple[list[Stage], Offered]:
    """The path with each machine of the list, tuned; and what of machines was for sale.

    Of machines as they are sold, those that nothing cheaper beats get parts of the list too, where they are allowed and
    the target is not met without.
    """
    offered = asked.offered(given, "hosts")
    affordable = [
        o for v in offered.choices.values() for o in v if o.price <= asked.budget and o.watts <= asked.max_watts
    ]
    found: list[Stage] = []
    settings: dict[Option, list[str]] = {}
    for option in asked.tell.each(affordable):
        settings[option] = (
            settings_of(free(given.changed(option.overrides), asked)[0]) if "tuning" in asked.allow else []
        )
        found.append(asked.stage(named((option,)), given, (option,), settings[option]))
    for stage in frontier(found, asked.confidence) if "parts" in asked.allow else ():
        if stage.probability >= asked.confidence:
            continue
        option = stage.options[0]
        path = given.changed([*option.overrides, *settings[option]])
        left = replace(asked, most=asked.most - 1, max_watts=asked.max_watts - option.watts)
        parts = machine.left_by(left.offered(path, "parts"), option)
        sets = purchases(path, left, parts, spent=option.price).frontier[1:]
        found += [asked.stage(named((option, *s)), given, (option, *s), settings[option]) for s, _ in sets]
    return found, offered


def frontier(stages: Sequence[Stage], confidence: float) -> list[Stage]:
    """Stages by rising price, without those that are neither faster, nor surer, nor the first to be sure enough."""
    kept: list[Stage] = []
    for stage in sorted(stages, key=lambda s: (s.price.amount, len(s.options) > 0, -s.probability, -s.rate)):
        faster = all(stage.rate > k.rate * (1 + _FASTER) for k in kept)
        surer = all(stage.probability > k.probability + _SURER for k in kept)
        enough = stage.probability >= confidence > max((k.probability for k in kept), default=0.0)
        if faster or surer or enough:
            kept.append(stage)
    return kept


def cheapest(stages: Sequence[Stage], top: Stage, confidence: float) -> Stage:
    """The cheapest stage that the draws do not tell from the best one.

    Shares of draws are known to two standard errors. A goal is kept within a point; medians count where it never is.

    Args:
        stages: Stages by rising price.
        top: The cheapest that meets the goal as surely as asked, or else the surest.
        confidence: How sure the goal has to be met.
    """
    if top.prediction.drawn is None:
        return top
    each = top.prediction.drawn.total_Bps

    def error(share: float) -> float:
        return math.sqrt(share * (1 - share) / len(each))

    least, slowest = top.probability - _TOLD * error(top.probability), 0.0
    if top.probability >= confidence:
        least = max(least, confidence - _SURER)
    elif least <= 0:
        slowest = float(np.quantile(each, max(0.5 - _TOLD * error(0.5), 0.0), method="inverted_cdf"))
    return next((s for s in stages if s.probability >= least and s.rate >= slowest), top)


def instead(best: Stage, sure: float) -> tuple[whynot.Instead, ...]:
    """What could be asked for where no stage meets the goal as surely as asked: a lower rate, or less surety.

    Rates are rounded down and shares too, to three and two digits, so that what is said is met.

    Args:
        best: What is recommended.
        sure: How sure the goal was to be met.
    """
    drawn, found = best.prediction.drawn, []
    rate = float(np.quantile(drawn.total_Bps, 1 - sure, method="inverted_cdf")) if drawn is not None else 0.0
    if rate > 0:
        step = 10.0 ** (math.floor(math.log10(rate * 8)) - 2) / 8
        found.append(whynot.Instead("target", math.floor(rate / step) * step, best.name, best.price.amount))
    if (share := math.floor(best.probability * 100) / 100) > 0:
        found.append(whynot.Instead("confidence", share, best.name, best.price.amount))
    return tuple(found)
