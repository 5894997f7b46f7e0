"""`plan`: what to set for nothing, what to buy, what it gives, how sure that is, and what then holds the path."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dtnsim.description import spec
from dtnsim.ground import units
from dtnsim.ground.errors import DtnsimError, InputError, UnitError
from dtnsim.ground.shown import Shown
from dtnsim.planning import catalog as catalogs
from dtnsim.planning import purchases, swept, tuning
from dtnsim.planning.frame import frame
from dtnsim.planning.money import Exchange, Money, exchange, money
from dtnsim.steady import goals, why_wide
from dtnsim.steady.prediction import predict
from dtnsim.steady.remedies import key_of

if TYPE_CHECKING:
    from dtnsim.ground.records import Prediction
    from dtnsim.planning.purchases import Option, Search
    from dtnsim.planning.tuning import Win
    from dtnsim.steady.why_wide import Share

ALLOWED = ("tuning", "parts")
#: use of a bought part below which most of it is idle
_IDLE = 0.5
#: gain below which nothing is gained
_WORTH = 0.005
_FAMILIES = {"nic": "NIC", "cpu": "processor", "memory": "memory", "hba": "adapter", "device": "drive"}


@dataclass(frozen=True, slots=True, repr=False)
class Stage:
    """The path with something changed.

    Attributes:
        name: What was.
        options: What was bought for it.
        price: Of that.
        prediction: What it gives.
        probability: That the target is met.
        marginal_Bps: Throughput gained for each 1,000 of the currency; None where nothing was bought.
        idle: Bought parts that are used by less than half, with their use.
    """

    name: str
    options: tuple[Option, ...]
    price: Money
    prediction: Prediction
    probability: float
    marginal_Bps: float | None = None
    idle: tuple[tuple[str, float], ...] = ()

    def __repr__(self) -> str:
        """One line."""
        rate = units.show(self.prediction.throughput_Bps.p50, "B/s")
        return f"<Stage {self.name}: {rate}, P {self.probability:.0%}, {self.price}>"


@dataclass(frozen=True, slots=True, repr=False)
class Plan(Shown):
    """What `plan` found.

    Attributes:
        path: Name of the path.
        target_Bps: Rate to reach.
        confidence: How sure that has to be.
        hosts: Hosts that are yours to change.
        now: The path as it is.
        wins: Settings that help.
        tuned: The path with those that help together.
        purchases: The frontier of price against throughput, on top of the settings; the first buys nothing.
        chosen: The cheapest that meets the target as surely as asked; None where none does.
        measure_first: What makes the answer unsure, and how to find it out.
        sentences: What to know, in words.
        given: The path as it is.
    """

    path: str
    target_Bps: float
    confidence: float
    hosts: tuple[str, ...]
    now: Stage
    wins: tuple[Win, ...]
    tuned: Stage
    purchases: tuple[Stage, ...]
    chosen: Stage | None
    measure_first: tuple[Share, ...]
    sentences: tuple[str, ...]
    given: spec.PathSpec | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        """One line."""
        found = "not met" if self.chosen is None else f"met with {self.chosen.name}"
        return f"<Plan {self.path}: {units.show(self.target_Bps, 'B/s')} {found}>"

    def to_dicts(self) -> list[dict[str, Any]]:
        """A row for the path as it is, tuned, and with each set of purchases."""
        return [
            {
                "stage": s.name,
                "price": s.price.amount,
                "currency": s.price.currency,
                "p10_Bps": s.prediction.throughput_Bps.p10,
                "throughput_Bps": s.prediction.throughput_Bps.p50,
                "p90_Bps": s.prediction.throughput_Bps.p90,
                "probability": s.probability,
                "bottleneck": s.prediction.bottleneck.station,
                "marginal_Bps_per_1000": s.marginal_Bps,
                "buys": "; ".join(f"{o.count} x {o.part} ({o.place})" for o in s.options),
                "idle": "; ".join(f"{part} {use:.0%}" for part, use in s.idle),
            }
            for s in (self.now, self.tuned, *self.purchases[1:])
        ]

    def to_frame(self) -> Any:
        """The same as a ``pandas.DataFrame``."""
        rows = self.to_dicts()
        return frame(rows, list(rows[0]))


def plan(
    path: str | Path | spec.PathSpec,
    *,
    target: str | None = None,
    move: str | None = None,
    within: str | None = None,
    budget: str | None = None,
    confidence: float = 0.8,
    allow: Sequence[str] = ALLOWED,
    keep: Sequence[str] = (),
    mine: Sequence[str] = (),
    catalog: str | None = None,
    max_watts: float = float("inf"),
    most: int = 6,
    rates: Sequence[str] = (),
    overrides: Sequence[str] = (),
    calibration: str | Path | None = None,
    samples: int = 256,
    seed: int = 1,
) -> Plan:
    """Plans settings and purchases that make a path reach a rate.

    Args:
        path: A path file, the name of a shipped path, or a path already loaded.
        target: Rate to reach, ``40Gb/s``; or
        move: bytes to move, ``10TB``,
        within: in so much time, ``8h``.
        budget: Most to spend, ``15kEUR``; without it, sums are in the currency of the first offer.
        confidence: How likely the target has to be met.
        allow: Of ``tuning`` and ``parts``.
        keep: Hosts that are not yours, ``hosts.there``.
        mine: Hosts that are; without either, that of the first transfer's source.
        catalog: Price list to use.
        max_watts: Most power that what is bought may take.
        most: Most parts to replace at once.
        rates: ``EUR/USD=1.08`` where prices are in several currencies.
        overrides: ``key=value`` put over the path.
        calibration: File of fitted parameters to use.
        samples: Draws behind the probabilities.
        seed: Seed of the draws.

    Raises:
        InputError: constraints that contradict each other, or that name what is not there.
    """
    goal = _goal(target, move, within)
    _check(confidence, allow, max_watts)
    given = path.changed(overrides) if isinstance(path, spec.PathSpec) else spec.load(path, overrides, calibration)
    hosts = _hosts(given, keep, mine)
    listed, known = catalogs.read(catalog), exchange(rates)
    most_money = money(budget, "--budget") if budget is not None else None
    if most_money is not None and not most_money.amount > 0:
        raise InputError("--budget: nothing to spend; leave parts out with --allow tuning, or give more")
    currency = most_money.currency if most_money is not None else listed.offers[0].price.currency

    def stage(name: str, made: spec.PathSpec, options: tuple[Option, ...] = ()) -> Stage:
        found = predict(made, samples=samples, seed=seed)
        price = Money(sum(o.price for o in options), currency)
        return Stage(name, options, price, found, goal.probability(found))

    now = stage("as it is", given)
    won = _tuned(given, hosts, goal.value) if "tuning" in allow else ()
    better = given.changed([o for w in won if w.together for o in w.setting.overrides])
    tuned = stage("tuned", better) if any(w.together for w in won) else now
    asked = _Asked(better, hosts, currency, most_money.amount if most_money is not None else float("inf"))
    bought: list[Stage] = [tuned]
    search: Search | None = None
    notes: tuple[str, ...] = ()
    if "parts" in allow:
        search, notes = asked.search(listed, known, max_watts, most)
        bought += [_valued(stage(*asked.named(chosen)), tuned) for chosen, _ in search.frontier()[1:]]
    met = next((s for s in (now, *bought) if s.probability >= confidence), None)
    last = met or max(bought, key=lambda s: s.prediction.throughput_Bps.p50)
    final = better.changed([o.override for o in last.options]) if last is not now else given
    drawn = predict(final, samples=why_wide.SAMPLES, seed=seed).drawn
    shares = why_wide.shares(drawn, final.correlation.keys)[:3] if drawn is not None else ()
    words = [*_sentences(given, hosts, goal, tuned, bought, met, search, confidence), *_old(bought), *notes]
    return Plan(
        given.name,
        goal.value,
        confidence,
        tuple(hosts),
        now,
        won,
        tuned,
        tuple(bought),
        met,
        shares,
        tuple(words),
        given,
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """What purchases are for: the tuned path, whose hosts, and for how much at most."""

    path: spec.PathSpec
    hosts: Sequence[str]
    currency: str
    budget: float

    def search(
        self, listed: catalogs.Catalog, rates: Exchange, max_watts: float, most: int
    ) -> tuple[Search, tuple[str, ...]]:
        """(the search for sets of parts, what does not fit and why)."""
        choices, notes = purchases.options(self.path, self.hosts, listed, rates, self.currency)
        compared, rate = purchases.Comparer(self.path), purchases.rater(self.path)
        made = purchases.Search(choices, rate, compared.quicker, self.budget, compared.matters, max_watts, most)
        return made, notes

    def named(self, chosen: tuple[Option, ...]) -> tuple[str, spec.PathSpec, tuple[Option, ...]]:
        """A set's name, the path with it, and itself."""
        return ", ".join(o.part for o in chosen), self.path.changed([o.override for o in chosen]), chosen


def _goal(target: str | None, move: str | None, within: str | None) -> goals.Goal:
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


def _check(confidence: float, allow: Sequence[str], max_watts: float) -> None:
    if not 0 < confidence < 1:
        raise InputError("--confidence: write a share like 80%")
    unknown = [a for a in allow if a not in ALLOWED]
    if unknown:
        more = "; whole hosts: 'dtnsim compare PATH --with hosts.NAME=OTHER'" if "hosts" in unknown else ""
        raise InputError(f"--allow: {unknown[0]!r} cannot be allowed; write {' or '.join(ALLOWED)}{more}")
    if not allow:
        raise InputError("--allow: nothing may be changed; write tuning, parts or both")
    if not max_watts >= 0:
        raise InputError("--max-watts: write a power from 0 W on")


def _hosts(given: spec.PathSpec, keep: Sequence[str], mine: Sequence[str]) -> list[str]:
    kept, own = ([n.removeprefix("hosts.") for n in names] for names in (keep, mine))
    for name in (*kept, *own):
        if name not in given.hosts:
            raise InputError(f"--keep, --mine: there is no host {name!r}; hosts: {', '.join(given.hosts)}")
    both = set(kept) & set(own)
    if both:
        raise InputError(f"--keep and --mine contradict each other: {', '.join(sorted(both))} cannot be both")
    if own:
        return own
    if kept:
        left = [n for n in given.hosts if n not in kept]
        if not left:
            raise InputError("--keep: no host is left to change; keep fewer")
        return left
    return [given.transfers[0].source_end.partition(":")[0].strip()]


def _tuned(given: spec.PathSpec, hosts: Sequence[str], target_Bps: float) -> tuple[Win, ...]:
    known: dict[tuple[str, ...], float] = {}

    def rate(overrides: Sequence[str]) -> float:
        key = tuple(overrides)
        if key not in known:
            try:
                known[key] = float(swept.rates(given.changed(key)).rate_Bps[0])
            except DtnsimError:
                known[key] = 0.0
        return known[key]

    return tuning.wins(given, tuning.settings(given, hosts, target_Bps), rate)


def _valued(made: Stage, tuned: Stage) -> Stage:
    """With what its money brings, and what of it is idle."""
    gain = made.prediction.throughput_Bps.p50 - tuned.prediction.throughput_Bps.p50
    idle = []
    for option in made.options:
        own = [
            u.utilization
            for u in made.prediction.stations
            if option.place.startswith(key_of(made.prediction.problem, u.station) or "?")
        ]
        if own and max(own) < _IDLE:
            idle.append((option.part, max(own)))
    marginal = gain / made.price.amount * 1000 if made.price.amount > 0 else None
    return Stage(made.name, made.options, made.price, made.prediction, made.probability, marginal, tuple(idle))


def _sentences(
    given: spec.PathSpec,
    hosts: Sequence[str],
    goal: goals.Goal,
    tuned: Stage,
    bought: Sequence[Stage],
    met: Stage | None,
    search: Search | None,
    confidence: float,
) -> list[str]:
    base, held = tuned.prediction.throughput_Bps.p50, tuned.prediction.bottleneck
    at = units.show(base, "B/s")
    found = []
    if search is not None:
        by_family: dict[str, list[float]] = {}
        for parts in search.choices.values():
            for option in parts:
                by_family.setdefault(_FAMILIES.get(option.offer.family, option.offer.family), []).append(
                    search.alone(option)
                )
        for family, rates in by_family.items():
            if max(rates) <= base * (1 + _WORTH):
                found.append(f"No {family} helps by itself: {held.station} binds at {at}.")
    others = [n for n in given.hosts if n not in hosts]
    if held.host in others:
        found.append(f"{held.host} is not yours to change, and it binds: {held.reason}. Yours: {', '.join(hosts)}.")
    if met is None:
        top = max(bought, key=lambda s: s.prediction.throughput_Bps.p50)
        rate, last = units.show(top.prediction.throughput_Bps.p50, "B/s"), top.prediction.bottleneck
        relief = f" What relieves it: {last.remedy}." if last.remedy else ""
        found.append(
            f"Not reached: {goal.words} with a probability of {confidence:.0%}. The most that settings and the list "
            f"give is {rate} (probability {top.probability:.0%}); then {last.station} binds: {last.reason}.{relief}"
        )
    elif not met.options:
        how = "As it is" if met.name == "as it is" else "Tuning alone"
        found.append(f"{how} is enough: {goal.words} with a probability of {met.probability:.0%}.")
    else:
        found.append(f"{met.price} are enough: {goal.words} with a probability of {met.probability:.0%}.")
    return found


def _old(bought: Sequence[Stage]) -> list[str]:
    today = dt.datetime.now(tz=dt.UTC).date()
    old = {o.offer for s in bought for o in s.options if o.offer.old(today)}
    if not old:
        return []
    first = min(o.date for o in old)
    return [f"Prices are old ({first}, spread {max(o.spread for o in old):.0%}): ask again before you buy."]
