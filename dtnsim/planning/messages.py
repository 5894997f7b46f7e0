"""Sentences of a plan, and of a choice of tools."""

import datetime as dt
import itertools
import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Final

import numpy as np

from dtnsim.description import calendar
from dtnsim.description.transfer import TransferSpec
from dtnsim.description.workload import YEAR_S, Workload
from dtnsim.ground import units
from dtnsim.ground.grouping import by_key
from dtnsim.ground.uncertainty import often
from dtnsim.ground.units import Money, cents
from dtnsim.planning.explore import SearchResult
from dtnsim.planning.money import Exchange
from dtnsim.planning.option import Refused, Setting
from dtnsim.planning.proposal import Due, Plan, Stage, Would, named
from dtnsim.planning.search import price
from dtnsim.planning.tool_choice import READY, Choice
from dtnsim.planning.whynot import percent
from dtnsim.steady.goals import Goal
from dtnsim.steady.ordering import sends
from dtnsim.steady.relieved import next_limit
from dtnsim.steady.why_wide import Share

_WORTH: Final = 0.005  #: gain below which nothing is gained
_NOT_THE_SUM: Final = 0.1  #: part of a gain by which it has to differ from a sum to be said
_CHANGE: Final = 0.9  #: part of a duration that has to go before a tool is worth a change
#: price of a kilowatt-hour where nobody says, in the plan's currency: between data centres 0.10 to 0.35
_KWH: Final = Decimal("0.2")
_HOURS: Final = Decimal(8766)  #: hours of a year
#: years beyond which no date is told
_AHEAD: Final = 10.0
_FAMILIES: Final = {
    "nic": "NIC", "cpu": "processor", "memory": "memory", "dimm": "memory", "hba": "adapter", "device": "drive",
    "extra": "cable", "filesystem": "tape drive",
}  # fmt: skip


def no_help(purchases: SearchResult, tuned: Stage) -> list[str]:
    """Sentences on families of parts that do not help by themselves, and on what the search may have missed."""
    station, most = tuned.prediction.bottleneck.station, units.show(tuned.prediction.ceiling, "B/s")
    least = purchases.rater(())[0] * (1 + _WORTH)
    places: dict[str, set[str]] = {}
    for option in itertools.chain(*purchases.search.choices.values()):
        if option.buys:
            family = option.buys[0][0].family
            places.setdefault(_FAMILIES.get(family, family), set()).add(option.place)
    # of the others in a place one of these, or what is there now, does as well
    tried = purchases.search.choices if purchases.search.worth is None else purchases.search.worth
    then = next_limit(tuned.prediction, tuned.prediction.longest)
    binding = "NIC" if tuned.prediction.bottleneck.kind in ("nic", "ib") else ""
    first = f"does not help: {station} holds the path first"
    beside = f"alone does not help: {then.station} is as narrow" if then is not None else first
    lines = [
        f"Another {family} {beside if family == binding else first} ({most} at best)."
        for family, where in places.items()
        if all(purchases.search.median_alone(o) <= least for place in sorted(where) for o in tried.get(place, ()))
    ]
    if purchases.search.exceeded:
        lines.append(f"{purchases.search.exceeded} sets exceeded the bound of the search: a better one may be missing.")
    if purchases.search.cut:
        missing = "dearer sets may be missing; allow fewer with --most, --mine or a shorter --catalog"
        lines.append(f"The search ended after {purchases.search.patience:,} bounds: {missing}.")
    return lines


def of_all_files(transfers: Sequence[TransferSpec]) -> list[str]:
    """That rates are those of all files, where a part of them is sent."""
    return [f"Rates are those of all files{part}." for part in sorted({sends(t.tool) for t in transfers} - {""})]


def gained(gain: float, digits: int = 1) -> str:
    """A gain as people say it: in per cent, or as a factor."""
    return f"{gain:+.{digits}%}" if gain < 1 else f"x {1 + gain:.3g}"


def hosts_set_apart(names: Sequence[str]) -> list[str]:
    """That hosts follow others in the file, though they are not to be changed."""
    follows = "is like another host in the file and would follow what is set there"
    return [f"{name} {follows}: hosts.{name}=... writes it out." for name in names]


def joint_gain(purchases: SearchResult, best: Stage, tuned: Stage) -> list[str]:
    """Joint gain of a purchase's steps, if it is not the sum of their gains alone."""
    steps = [o for o in best.options if o in itertools.chain(*purchases.search.choices.values())]
    if len(steps) < 2 or best.rate <= tuned.rate:
        return []
    base = purchases.rater(())[0]
    alone = [purchases.search.median_alone(o) / base - 1 for o in steps]
    together = best.rate / tuned.rate - 1
    if abs(together - sum(alone)) < _NOT_THE_SUM * together:
        return []
    each = "; ".join(f"{o.what} {gained(gain, 0)}" for o, gain in zip(steps, alone, strict=True))
    return [f"Together {gained(together, 0)}, which is not the sum of each alone: {each}."]


def foreign_bottleneck(hosts: Sequence[str], stage: Stage, foreign: Sequence[str]) -> list[str]:
    """Sentence if the bottleneck of a stage is not yours to change."""
    bottleneck = stage.prediction.bottleneck
    if bottleneck.host not in foreign:
        return []
    return [f"{bottleneck.host} is not yours to change, and it binds: {bottleneck.reason}. Yours: {', '.join(hosts)}."]


def verdict(plan: Plan, asks: str) -> str:
    """What to do, and what comes of it, in a sentence; ``asks``: what was asked for, as text."""
    best, settings = plan.best, plan.best.settings
    requests = [c[2:] for s in settings for c in s.commands if c.startswith("# ask those of ")]
    yours = [_short_setting(s) for s in settings if not (s.another_tool or s.commands[0].startswith("# ask those of "))]
    steps = [f"use {s.commands[0]}" for s in settings if s.another_tool]
    steps += [f"set {', '.join(yours)}"] if yours else []
    steps += requests
    if not best.options:
        steps = ["buy nothing" if settings else "change nothing", *steps]
    else:
        if steps and settings == plan.tuned.settings:
            steps[-1] += f" (free: {units.show(plan.tuned.rate, 'B/s')} in the median)"
        steps.append(f"{'then ' if steps else ''}buy {best.name} for {best.price}")
    does = "; ".join(steps)
    likely = percent(best.probability, plan.confidence)
    often = f"in {likely.rstrip('%')} of 100 nights" if "within" in asks else f"with a probability of {likely}"
    effect = f"{asks} {often}, {units.show(best.rate, 'B/s')} in the median"
    if plan.chosen is None:
        enough = [f"{w.what} would: --allow {w.kind}" for w in plan.would if w.probability >= plan.confidence]
        then = f" {'; '.join(enough)}." if enough else ""
        head = "Not reachable" if best.rate < plan.target_Bps else "Not sure enough"
        return f"{head}: {asks} with a probability of {plan.confidence:.0%}; the best found is: {does}: {effect}.{then}"
    return f"{does[0].upper()}{does[1:]}: {effect}."


def _short_setting(setting: Setting) -> str:
    """What a setting is, and to what: ``east: TCP buffers (64 MiB)``."""
    values = dict.fromkeys(o.partition("=")[2] for o in setting.overrides)
    shows_value = len(values) == 1 and not {"null", "0"} & set(values)
    return f"{setting.what} ({', '.join(values)})" if shows_value else setting.what


def outcome(
    goal: Goal, confidence: float, tuned: Stage, best: Stage, met: Stage | None, shares: Sequence[Share]
) -> list[str]:
    """Whether the goal is reached, by ``met``; else what is short, and of what ``shares`` it is unsure."""
    lines = []
    if met is None or met.options:
        lines.append(f"Tuning alone is not enough: {goal.words} with a probability of only {tuned.probability:.0%}.")
    then = best.prediction.bottleneck
    if met is None:
        lines.append(_short(goal, confidence, best, shares))
    elif not met.options:
        how = "As it is" if met.name == "as it is" else "Tuning alone"
        lines.append(f"{how} is enough: {goal.words} with a probability of {percent(met.probability, confidence)}.")
    else:
        likely = f"{goal.words} with a probability of {percent(met.probability, confidence)}"
        costs = f"{met.price} (+-{met.price_spread:.0%})"
        lines.append(f"{costs} is enough: {likely}; buy {met.name}. Then {then.station} binds: {then.reason}.")
    return lines


def hardly_better(best: Stage, top: Stage, draws: int) -> list[str]:
    """What costs more than what is recommended, and what the draws do not tell from it."""
    more = Money(top.price.amount - best.price.amount, top.price.currency)
    if not more.amount > 0 or top.rate < best.rate:
        return []
    reached, base = (f"{units.show(s.rate, 'B/s')}, with a probability of {s.probability:.1%}" for s in (top, best))
    gain = units.show((top.rate - best.rate) / float(more.amount) * 1000, "B/s")
    text = f"Hardly better: {top.name} for {top.price}: {reached}, where this is {base}. {draws:,} draws do not tell"
    return [f"{text} them apart, and it is {gain} more for each 1,000 {top.price.currency}."]


def _short(goal: Goal, confidence: float, best: Stage, shares: Sequence[Share]) -> str:
    """What is short: the rate, or how sure it is."""
    then, rate = best.prediction.bottleneck, units.show(best.rate, "B/s")
    relief = f" What relieves it: {then.remedy}." if then.remedy else ""
    reached = f"{rate} is the median"
    if confidence != 0.5:
        least = float(np.quantile(best.total_Bps, 1 - confidence, method="inverted_cdf"))
        reached += f", {units.show(least, 'B/s')} is reached with {confidence:.0%}"
    head, sure = f"The best that was found is {best.name}: {reached}, {goal.words} with", f"{best.probability:.0%}"
    if best.rate < goal.value:
        return f"{head} {sure}; then {then.station} binds: {then.reason}.{relief}"
    unsure = ""
    if shares:
        unsure = f" Most of the uncertainty is {shares[0].cause} ({shares[0].share:.0%} of the variance)."
    return f"{head} a probability of {sure}; {then.station} binds most often.{unsure}{relief}"


def kinds_tried(allow: Sequence[str], kinds: Sequence[str], would: Sequence[Would], confidence: float) -> list[str]:
    """Kinds of change that were allowed, and of all other ``kinds`` those that ``would`` help."""
    barred = [k for k in kinds if k not in allow]
    lines = [f"Allowed: {', '.join(allow)}; not allowed: {', '.join(barred)} (--allow {','.join((*allow, *barred))})."]
    for w in would:
        how = f" ({'; '.join(c.removeprefix('# ') for c in w.commands)})" if w.commands else ""
        does = "meet it" if w.probability >= confidence else "help"
        lines.append(f"--allow {w.kind} would {does} ({w.probability:.0%}): {w.what}{how}.")
    return lines if barred else []


def refused(refusals: Sequence[Refused]) -> list[str]:
    """What fits nowhere, and why."""
    heads = ((f"{r.place}: does not take " if r.place else "Left out: ", r) for r in refusals if r.test != "beaten")
    groups = by_key(((head, r.why), r.part) for head, r in heads)
    return [f"{head}{', '.join(parts)}: {why}" for (head, why), parts in groups.items()]


def own_side_alone(
    purchases: SearchResult | None, confidence: float, foreign: Sequence[str], currency: str
) -> list[str]:
    """What your side would need if the other side had no limits, by a search in which the others hold nothing."""
    if purchases is None:
        return []
    enough = next(((s, r) for s, r in purchases.frontier if r[2] - 1 >= confidence), None)
    names = " and ".join(foreign)
    several = len({place.split(".")[1] for place in purchases.offered.choices}) > 1
    if enough is None:
        chosen, rates = max(purchases.frontier, key=lambda b: (b[1][1], b[1][0]))
        most = f"{units.show(rates[0], 'B/s')}, {units.show(rates[1], 'B/s')} with a probability of {confidence:.0%}"
        binding = purchases.rater.bottleneck(chosen)
        sets = named(chosen, several=several)
        return [f"If {names} held nothing, the list would still not do here: {most} with {sets}; then {binding} binds."]
    chosen, rates = enough
    how = (
        f"needs {named(chosen, several=several)} ({Money(price(chosen), currency)})" if chosen else "needs nothing more"
    )
    return [f"If {names} held nothing, your side {how}: {units.show(rates[0], 'B/s')}."]


def ownership(stage: Stage, years: int, energy: Money | None, rates: Exchange) -> list[str]:
    """What is bought over ``years``: its price, power day and night (``energy``: of a kWh), and support as listed."""
    if not years or not stage.options:
        return []
    currency = stage.price.currency
    kwh = rates.convert(energy, currency, "a kilowatt-hour") if energy is not None else _KWH
    power = cents(Decimal(str(stage.watts)) * _HOURS * years * kwh / 1000)
    buys = [b for option in stage.options for b in option.buys]
    prices = ((n, rates.convert(o.unit_price(n), currency, o.part) * Decimal(str(o.support))) for o, n in buys)
    support = sum((cents(each) * n * years for n, each in prices), Decimal())
    total = Money(stage.price.amount + power + support, currency)
    assumed = "" if energy is not None else ", assumed; --kwh says otherwise"
    rate = f"{stage.watts:+.0f} W at {kwh:g} {currency}/kWh{assumed}"
    costs = f"{stage.price} to buy, {Money(power, currency)} of power ({rate})"
    more = f", {Money(support, currency)} of support" if support else "; the list states no support"
    return [f"Over {years} years: {costs}{more}: {total}."]


def old_prices(bought: Sequence[Stage]) -> list[str]:
    """Whether prices are old."""
    today = dt.datetime.now(tz=dt.UTC).date()
    offers = {o for s in bought for option in s.options for o, _ in option.buys if o.old(today)}
    if not offers:
        return []
    first = min(o.date for o in offers)
    return [f"Prices are old ({first}, spread {max(o.spread for o in offers):.0%}): ask again before you buy."]


def growth_schedule(years: Sequence[Due], workload: Workload | None, currency: str) -> list[str]:
    """What to buy when, by what each of the ``years`` brings; of a facility (``workload``) by the calendar."""
    first = calendar.date(workload.date) if workload is not None else None

    def at(years: float) -> str:
        if first is None:
            return f"in {years:.1f} years"
        return f"{first + dt.timedelta(seconds=years * YEAR_S):%Y-%m}"

    lines = []
    for year, due in enumerate(years):
        rate, when = units.show(due.target_Bps, "B/s"), f"Year {due.year}" if first is None else f"{first.year + year}"
        before = years[year - 1] if year else None
        by = ""
        if before is not None and 0 < before.lasts_years < math.inf:
            low, high = before.outgrown_years
            likely = f" (outgrown {at(low)} to {at(high)}, {often()})" if high < _AHEAD else ""
            by = f"; due {at(before.lasts_years)}{likely}"
        if due.stage is None:
            lines.append(f"{when}: {rate} is beyond the list{by} (probability {due.probability:.0%}).")
            break
        if before is not None and before.stage is due.stage:
            continue
        purchase = due.stage.name if due.stage.options else f"nothing to buy ({due.stage.name})"
        costs = f"{due.cost:,.0f} {due.stage.price.currency}"
        lines.append(f"{when}: {rate} needs {purchase}: {costs} then{by} (probability {due.probability:.0%}).")
    if any(d.cost for d in years):
        total = f"{sum(d.cost for d in years):,.0f} {currency} at the list's prices"
        lines.append(f"All years together: {total}; each piece is bought in the year in which it is first needed.")
    if first is not None and lines:
        lines.append("When each class first misses a deadline, with queues and failures: dtnsim fleet on this path.")
    return lines


def tool_advice(choices: Sequence[Choice]) -> str:
    """The finding in a sentence: what the fastest way saves, and the fastest that needs nothing that is not there."""
    alternatives = sorted((c for c in choices if not c.own), key=lambda c: c.duration_s.p50)
    if not alternatives:
        return f"{choices[0].name} will do: no other tool can do this transfer"
    best = alternatives[0]
    was = next((c for c in choices if c.own), None) or next((c for c in choices if c.name == "scp"), choices[-1])
    old, least = (units.show(c.duration_s.p50, "s", digits=2) for c in (was, best))
    if best.duration_s.p50 > _CHANGE * was.duration_s.p50:
        return f"{was.name} will do: no tool here is more than a tenth faster than its {old}"
    simple = next((c for c in alternatives if c.needs in READY), best)
    if simple.duration_s.p50 > _CHANGE * was.duration_s.p50:  # nothing over ssh is a gain
        simple = best
    text = f"use {simple.name} ({simple.line}): {units.show(simple.duration_s.p50, 's', digits=2)} instead of {old}"
    if simple.needs not in READY:
        text += f"; it needs {simple.needs}"
    if best is not simple:
        text += f"; {best.name} takes {least}, and needs {best.needs}"
    return text
