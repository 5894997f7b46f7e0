"""`plan`: what to tune at no cost, what to buy, the rate that it reaches and how likely, and what binds then."""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Final

import numpy as np

from dtnsim.description import spec
from dtnsim.description.drawn_hosts import at_centre
from dtnsim.description.override import Overrides
from dtnsim.description.transfer import split_end
from dtnsim.ground import units
from dtnsim.ground.errors import InputError, UnitError
from dtnsim.ground.lazy import Lazy
from dtnsim.ground.records import Prediction
from dtnsim.ground.units import Money, money
from dtnsim.planning import actions, catalog as catalogs, explore, growth, messages, offers, whynot
from dtnsim.planning.actions import ALLOWED, USUAL
from dtnsim.planning.explore import Request
from dtnsim.planning.growth import Growth
from dtnsim.planning.money import exchange
from dtnsim.planning.option import Offered, Setting
from dtnsim.planning.proposal import Plan, Progress, Stage, cheapest, frontier, surest, with_margins
from dtnsim.planning.tuning import Win
from dtnsim.steady import goals, ordering, why_wide

__all__ = ["Plan", "Stage", "plan"]

_AHEAD: Final = 5  #: years ahead that a growing facility is planned for where nobody says
_WORTH: Final = 0.05  #: part of the variance from which on it is worth a measurement
_SURE, _SUREST = 0.8, 0.995  #: probability that is asked for where nobody says, and the most that draws can show


def plan(
    path: str | Path | spec.PathSpec,
    *,
    target: str | None = None,
    move: str | None = None,
    within: str | None = None,
    budget: str | None = None,
    confidence: float = _SURE,
    allow: Sequence[str] = USUAL,
    keep: Sequence[str] = (),
    mine: Sequence[str] = (),
    catalog: str | None = None,
    max_watts: float = float("inf"),
    most: int = 6,
    grows: str | None = None,
    years: int = 0,
    kwh: str | None = None,
    rates: Sequence[str] = (),
    overrides: Overrides = (),
    calibration: str | Path | None = None,
    samples: int = 256,
    seed: int = 1,
    hints: bool = True,
    progress: Callable[[str], object] | None = None,
) -> Plan:
    """Plans settings and purchases that make a path reach a rate.

    Args:
        path: A path file, the name of a shipped path, or a path already loaded.
        target: Rate to reach, ``40Gb/s``; of a facility, without it, what its classes need by their deadlines; or
        move: bytes to move, ``10TB``,
        within: in so much time, ``8h``; alone, what the path moves is to be moved.
        budget: Most to spend, ``15kEUR``; without it, sums are in the currency of the first offer.
        confidence: How likely the target has to be met.
        allow: Of ``tuning``, ``tools`` (other ones), ``parts``, ``layout`` (how data lie on their drives), ``hosts``
            (whole machines in the place of yours, or beside them), ``network`` (firewalls, losses, frames and rates
            between) and ``far`` (settings of the others' hosts, tools that need a service there).
        keep: Hosts that are not yours, ``hosts.there``.
        mine: Hosts that are; without either, all that are not called after a computing centre.
            For a provider's machine (``role: cloud``, or with an allowance) settings are tried, and nothing is bought.
        catalog: Price list to use.
        max_watts: Most power that what is bought may take; what states no power is then left out.
        most: Most changes at once.
        grows: How the target grows, ``40%/year`` or, drawn, ``40+-10%/year``; of a facility, what its workload says,
        years: for how many years (of a facility that grows five), over which the cost of ownership is counted too.
        kwh: Price of a kilowatt-hour, ``0.30 EUR``; without it, one that is assumed, and said.
        rates: ``EUR/USD=1.08`` where prices are in several currencies.
        overrides: Keys and values put over the path: ``{"wan.rtt": "50 ms"}``, or ``key=value`` texts.
        calibration: File of fitted parameters to use.
        samples: Draws behind the probabilities.
        seed: Seed of the draws.
        hints: Whether kinds of change that are not allowed are tried too where the goal is not met.
        progress: Called with the step that is at work, and how far it is.

    Raises:
        InputError: constraints that contradict each other, or that name what is not there.
    """
    _check(confidence, allow, max_watts, grows, years)
    path_spec = spec.load(path, overrides, calibration)
    grow = growth.growth(grows) if grows is not None else None
    if target is None and move is None and path_spec.workload is not None:
        goal, grow = growth.of_workload(path_spec.workload), grow or path_spec.workload.growth
        years = years or (_AHEAD if grow.value else 0)
    else:
        move = _moved_by_path(path_spec) if within is not None and target is None and move is None else move
        goal = goal_of(target, move, within)
    rate = growth.drawn(grow, samples, seed) if grow is not None else 0.0
    hosts = _hosts(path_spec, keep, mine)
    foreign = [name for name in path_spec.hosts if name not in hosts]
    written, path_spec = path_spec, path_spec.set_apart(foreign)
    for name in dict.fromkeys(split_end(end)[0] for t in path_spec.transfers for end in (t.source_end, t.to)):
        path_spec = path_spec.set_apart([name])  # so that no end of a transfer follows the other end
    listed = offers.world(catalogs.read(catalog), path_spec.folder, shipped=catalog is None)
    most_money = money(budget, "--budget") if budget is not None else None
    if most_money is not None and not most_money.amount > 0:
        raise InputError("--budget: nothing to spend; leave parts out with --allow tuning, or give more")
    currency = most_money.currency if most_money is not None else listed.offers[0].price.currency
    spend = most_money.amount if most_money is not None else Decimal("Infinity")
    energy = money(kwh, "--kwh") if kwh is not None else None
    request = Request(goal, confidence, hosts, currency, spend, max_watts, most, samples, seed, listed, exchange(rates),
                  tuple(allow), hints, Progress(progress), written,
                  path_spec.overrides[len(written.overrides):])  # fmt: skip
    draft = _planned(path_spec, request, rate, years, energy)
    applied = {o for s in (draft.tuned, *draft.purchases) for o in s.overrides}
    follow = [n for n in path_spec.hosts if any(o.startswith(f"hosts.{n}=") for o in applied & set(request.apart))]
    verdict = messages.verdict(draft, f"{move} within {within}" if move is not None else goal.words)
    sentences = (*draft.sentences, *messages.hosts_set_apart(follow))
    return replace(draft, stated=bool(keep or mine), sentences=sentences, verdict=verdict)


def _planned(path: spec.PathSpec, request: Request, rate: Growth, years: int, energy: Money | None) -> Plan:
    goal, hosts, confidence, allow = request.goal, request.hosts, request.confidence, request.allow
    now = request.stage("as it is", path)
    won, tried = _free(path, request, now)
    settings = explore.combined(won)
    name = "another tool" if all(w.setting.another_tool for w in won if w.together) else "tuned"
    tuned = request.stage(name, path, (), settings) if settings else now
    request.tell("step 3 of 4: what can be bought")
    stages, offered, purchases = _purchases(path, request, settings)
    refused = (*(r for o in offered for r in o.refused), *actions.refused(path, hosts, goal.value, allow))
    bought = with_margins(frontier([tuned, *stages], confidence))
    meets = next((s for s in (now, *bought) if s.probability >= confidence), None)
    top = meets or surest(bought)
    best = top if top is now else cheapest(bought, top, confidence)
    met = best if meets is not None else None
    request.tell("step 4 of 4: what is short, and of what")
    shares = Lazy(lambda: _unsure(path.changed(best.overrides), request.seed))
    foreign = [n for n in path.hosts if n not in hosts]
    ours = None
    if purchases is not None and met is None and best.prediction.bottleneck.host in foreign:
        ours = explore.purchases(purchases.rater.relieving(foreign), request, purchases.offered)
    spent = met.price.amount if met is not None else None
    hints = met is None and request.hints
    would = explore.would_help(best, path, request) if hints else []
    out = whynot.why_not(purchases.search if purchases is not None else None, refused, request.named, confidence, spent)
    out = replace(out, nearest=None, instead=explore.instead(best, confidence)) if met is None else out
    currencies = (offer.price.currency for s in bought for option in s.options for offer, _ in option.buys)
    lines = [
        *messages.of_all_files(path.transfers),
        *(messages.no_help(purchases, tuned) if purchases is not None else ()),
        *(messages.joint_gain(purchases, best, tuned) if purchases is not None else ()),
        *messages.foreign_bottleneck(hosts, best, foreign),
        *messages.outcome(goal, confidence, tuned, best, met, shares),
        *messages.hardly_better(best, top, request.samples),
        *messages.own_side_alone(ours, confidence, foreign, request.currency),
        *(messages.kinds_tried(allow, ALLOWED, would, confidence) if hints else ()),
        *out.sentences(confidence, request.currency),
        *messages.ownership(best, years, energy, request.exchange),
        *messages.old_prices(bought),
        *request.exchange.notes((request.currency, *currencies)),
        *request.catalog.notes,
        *(note for o in offered for note in o.notes),
        *messages.refused(refused),
    ]
    grown = bool(np.any(rate))
    due = growth.due(_steps(path, request, bought, rate, years), goal.value, confidence, rate, years) if grown else ()
    sentences = (*lines, *messages.growth_schedule(due, path.workload, request.currency))
    return Plan(path.name, goal.value, confidence, tuple(hosts), now, won, tuned, tuple(bought), met, shares,
                sentences, due, path, best, tuple(tried), out, tuple(would))  # fmt: skip


def _unsure(path: spec.PathSpec, seed: int) -> list[why_wide.Share]:
    """What makes an interval wide, as far as it is worth a measurement; at least the first thing."""
    shares = why_wide.of_path(path, seed)[:3]
    return [s for n, s in enumerate(shares) if s.share >= _WORTH or not n]


def _free(path: spec.PathSpec, request: Request, now: Stage) -> tuple[tuple[Win, ...], tuple[str, ...]]:
    """What helps and costs nothing, and what was tried."""
    request.tell("step 1 of 4: what is free")
    rater = request.rater(path)
    won, tried = explore.free(path, request, rater)
    if {"parts", "tuning"} <= set(request.allow):
        request.tell("step 2 of 4: what is free beside parts")
        won = explore.free_beside(path, request, won)
    return explore.in_medians(rater, request, won, now), tried


def _purchases(
    path: spec.PathSpec, request: Request, settings: Sequence[Setting]
) -> tuple[list[Stage], list[Offered], explore.SearchResult | None]:
    """(the path with each set of parts and each machine, what was for sale, the search over parts)."""
    bought: list[Stage] = []
    offered: list[Offered] = []
    purchases = None
    if "parts" in request.allow:
        tuned = path.changed([o for s in settings for o in s.overrides])
        purchases = explore.purchases(tuned, request, request.offered(tuned, "parts"))
        bought += [
            request.stage(request.named(s), path, s, settings, purchases.rater)
            for s in request.tell.count_items([s for s, _ in purchases.frontier if s])
        ]
        offered.append(purchases.offered)
    if "hosts" in request.allow:
        stages, machines = explore.machines(path, request)
        bought, offered = [*bought, *stages], [*offered, machines]
    return bought, offered, purchases


def _steps(path: spec.PathSpec, request: Request, bought: Sequence[Stage], rate: Growth, years: int) -> list[Stage]:
    """The stages, and what becomes of those that last longest where a part of them is bought first."""
    final = growth.last(bought, request.goal.value, request.confidence, rate, years)
    stages = list(bought)
    seen = {frozenset(s.options) for s in bought}
    machines = [o for o in final.options if o.place.count(".") == 1]  # a machine comes before what goes into it
    rest = [o for o in final.options if o not in machines]
    for count in range(0 if machines else 1, len(rest)):
        for subset in itertools.combinations(rest, count):
            options = (*machines, *subset)
            if frozenset(options) not in seen:
                stages.append(request.stage(request.named(options), path, options, final.settings))
    return stages


def towards(p: Prediction, goal: goals.Goal, allow: Sequence[str] = USUAL, samples: int = 256, seed: int = 1) -> Plan:
    """What would meet a goal of a path that is predicted, as surely as it is required, or else with 80 %."""
    rate = goal.value if goal.kind == "target" else ordering.moved(p)[1] / goal.value
    sure = min(goal.required or _SURE, _SUREST)
    target = f"{rate!r} B/s"
    return plan(p.given, target=target, confidence=sure, allow=allow, samples=max(samples, 16), seed=seed, hints=False)


def _moved_by_path(path: spec.PathSpec) -> str | None:
    """What the path's own transfers move; None where a time ends one of them."""
    sizes = [t.dataset.payload_B if t.dataset and not t.timing() else math.nan for t in path.transfers if t.counted]
    return units.show(sum(sizes), "B", digits=12) if sizes and math.isfinite(sum(sizes)) else None


def goal_of(target: str | None, move: str | None, within: str | None) -> goals.Goal:
    """The rate that is asked for; `InputError` for none, for two, or for what is no rate.

    Args:
        target: The rate, as ``--target`` has it.
        move: What has to be moved.
        within: The time that it may take.
    """
    if target is not None and (move is not None or within is not None):
        raise InputError("a rate and a time are two goals: give --target alone, or --move with --within, or --within")
    if (target is None) == (move is None) or (move is None) != (within is None):
        raise InputError("say what is to be reached: --target 40Gb/s, or --move 10TB --within 8h")
    if target is not None:
        return goals.target(target)
    try:
        size, time = units.parse(str(move), "B"), units.parse(str(within), "s")
    except UnitError as error:
        raise InputError(f"--move, --within: {error}") from None
    if not size > 0 or not time > 0:
        raise InputError("--move, --within: write more than nothing, like --move 10TB --within 8h")
    return goals.Goal("target", size / time)


def _check(confidence: float, allow: Sequence[str], max_watts: float, grows: str | None, years: int) -> None:
    """Refuses what cannot be asked."""
    if not 0 < confidence < 1:
        raise InputError(f"--confidence: {confidence:g} is no share between 0 and 1; write a share like 80%")
    unknown = [a for a in allow if a not in ALLOWED]
    if unknown:
        raise InputError(f"--allow: {unknown[0]!r} cannot be allowed; write {', '.join(ALLOWED[:-1])} or {ALLOWED[-1]}")
    if not allow:
        raise InputError("--allow: nothing may be changed; write tuning, parts, hosts or several of them")
    if not max_watts >= 0:
        raise InputError(f"--max-watts: {max_watts:g} W is no power that can be allowed; write it like 300W")
    if grows is not None and not years:
        raise InputError("--growth needs --years: --growth 40%/year --years 3")
    if not 0 <= years <= 50:
        raise InputError("--years: write a number from 1 to 50")


def _hosts(path: spec.PathSpec, keep: Sequence[str], mine: Sequence[str]) -> list[str]:
    kept, own = ([n.strip().removeprefix("hosts.") for n in ",".join(names).split(",") if n] for names in (keep, mine))
    for name in (*kept, *own):
        if name not in path.hosts:
            raise InputError(f"--keep, --mine: there is no host {name!r}; hosts: {', '.join(path.hosts)}")
    both = set(kept) & set(own)
    if both:
        raise InputError(f"--keep and --mine contradict each other: {', '.join(sorted(both))} cannot be both")
    if own:
        return own
    if kept:
        left = [n for n in path.hosts if n not in kept]
        if not left:
            raise InputError("--keep: no host is left to change; keep fewer")
        return left
    return [n for n in path.hosts if not at_centre(f"{n} {path.host_files.get(n, '')}")] or list(path.hosts)
