"""The answer of `plan`: the path in stages, from as it is to the purchases that can be made for it."""

import itertools
import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Final, TypeVar

import numpy as np

from dtnsim.description.spec import PathSpec
from dtnsim.ground import units
from dtnsim.ground.errors import frame
from dtnsim.ground.lazy import Shown
from dtnsim.ground.output import fields, rates
from dtnsim.ground.records import Prediction
from dtnsim.ground.units import Money
from dtnsim.physics._arrays import FloatArray as Array
from dtnsim.planning.option import Option, Setting
from dtnsim.planning.search import price
from dtnsim.planning.tuning import Win
from dtnsim.planning.whynot import WhyNot
from dtnsim.steady.reasons import key_of
from dtnsim.steady.why_wide import Share

#: gain in probability, and relative gain in throughput, that is worth a line on the frontier
_SURER: Final = 0.01
_FASTER: Final = 0.005
_TOLD: Final = 1.96  #: standard errors of a share of the draws by which it is another: 95 of 100 seeds are within
_IDLE: Final = 0.5  #: utilisation of a bought part below which it is mostly idle

T = TypeVar("T")


class Progress:
    """Reports the step that a plan is at, and its progress, where somebody listens."""

    def __init__(self, say: Callable[[str], object] | None = None) -> None:
        self._say, self._step = say or (lambda _: None), ""

    def __call__(self, step: str) -> None:
        """Tells that a step of the search begins."""
        self._step = step
        self._say(step)

    def within(self, far: str) -> None:
        """Reports progress within the step."""
        self._say(f"{self._step}, {far}")

    def count_items(self, items: Collection[T]) -> Iterator[T]:
        """Yields items, reporting each as one of their number."""
        for n, item in enumerate(items, 1):
            self.within(f"{n} of {len(items)}")
            yield item


@dataclass(frozen=True, slots=True, repr=False)
class Stage:
    """The path with some changes."""

    name: str  #: What was.
    options: tuple[Option, ...]  #: What was bought for it.
    price: Money  #: Of that.
    prediction: Prediction  #: What it gives.
    probability: float  #: That the target is met.
    #: Throughput for each 1,000 of the currency beyond the next cheaper stage; None where nothing was bought.
    marginal_Bps: float | None = None
    idle: tuple[tuple[str, float], ...] = ()  #: Bought parts that are used by less than half, with their use.
    price_spread: float = 0.0  #: Standard deviation of the price, over the price.
    overrides: tuple[str, ...] = ()  #: ``key=value`` that make this path of the given one.
    settings: tuple[Setting, ...] = ()  #: What of that costs nothing.

    def __repr__(self) -> str:
        rate = units.show(self.rate, "B/s")
        return f"<Stage {self.name}: {rate}, P {self.probability:.0%}, {self.price}>"

    @property
    def rate(self) -> float:
        """Its median [B/s]."""
        return self.prediction.throughput_Bps.p50

    @property
    def total_Bps(self) -> Array:
        """Its rate in each draw, all transfers together [B/s]."""
        assert self.prediction.drawn is not None  # a probability has been asked for
        return self.prediction.drawn.total_Bps

    @property
    def watts(self) -> float:
        """Power of what was bought, as far as it is known [W]."""
        return sum(o.watts for o in self.options)


@dataclass(frozen=True, slots=True)
class Due:
    """What is due in a year."""

    year: int  #: 0 is now.
    target_Bps: float  #: What is to be reached by then.
    stage: Stage | None  #: What the path has to be; None where nothing on the list is enough.
    cost: Decimal  #: What has to be paid in that year, for what is not there yet.
    probability: float  #: That the target of that year is met.
    lasts_years: float  #: Until when, from now, the target is met as surely as asked.
    #: p10 and p90 of when the target outgrows it, its growth drawn where that is not sure.
    outgrown_years: tuple[float, float] = (math.nan, math.nan)


@dataclass(frozen=True, slots=True)
class Would:
    """A kind of change that was not allowed and would help."""

    kind: str  #: The word of ``--allow``.
    what: str  #: What would change, in words.
    commands: tuple[str, ...]  #: What to type or to ask for.
    probability: float  #: That the goal is met with it.


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
        purchases: The frontier of price against throughput and probability, on top of the settings; the first buys
            nothing.
        chosen: The cheapest that meets the target as surely as asked, within a point; None where none does.
        measure_first: What makes the answer unsure, and how to find it out.
        sentences: What to know, in words.
        due: What to buy when, as the target grows; empty where nobody said that it does.
        given: The path as it is.
        best: What is chosen, or else the cheapest that the draws do not tell from the surest that was found.
        tried: Settings that were tried, whether they help or not.
        stated: Whether somebody said whose the hosts are.
        verdict: What to do, and what comes of it.
        why_not: What else was tried and is out.
        would: Kinds of change that were not allowed and would help; empty where the goal is met.
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
    measure_first: Sequence[Share]
    sentences: tuple[str, ...]
    due: tuple[Due, ...]
    given: PathSpec = field(compare=False)
    best: Stage
    tried: tuple[str, ...]
    why_not: WhyNot
    would: tuple[Would, ...]
    stated: bool = True
    verdict: str = ""

    def __repr__(self) -> str:
        status = "not met" if self.chosen is None else f"met with {self.chosen.name}"
        return f"<Plan {self.path}: {units.show(self.target_Bps, 'B/s')} {status}>"

    def to_dicts(self) -> list[dict[str, Any]]:
        """A row for the path as it is, tuned, and with each set of purchases."""
        return [
            {"stage": s.name, "price": float(s.price.amount)}
            | fields(s, "price_spread", currency="price.currency", **rates("prediction"))
            | fields(s, "probability", bottleneck="prediction.bottleneck.station")
            | fields(s, marginal_Bps_per_1000="marginal_Bps", watts_W="watts")
            | {"buys": "; ".join(f"{n} x {offer.part}" for o in s.options for offer, n in o.buys)}
            | {"set": "; ".join(s.overrides), "idle": "; ".join(f"{part} {use:.0%}" for part, use in s.idle)}
            for s in (self.now, self.tuned, *self.purchases[1:])
        ]

    def to_frame(self) -> Any:
        """The same as a ``pandas.DataFrame``."""
        return frame(self.to_dicts())


def named(options: Sequence[Option], *, several: bool = False) -> str:
    """A set of purchases in words, each with its host where they are, or may be, for several."""
    hosts = [o.place.split(".")[1] for o in options]
    several = several or len(set(hosts)) > 1
    return "; ".join(f"{h}: {o.what}" if several else o.what for h, o in zip(hosts, options, strict=True)) or "nothing"


def price_spread(options: Sequence[Option]) -> float:
    """Relative standard deviation of what a set costs: offers are wrong independently, pieces of one alike."""
    total = float(price(tuple(options)))
    errors: dict[str, float] = {}
    for option in options:
        list_price = sum(offer.price.amount * n for offer, n in option.buys)
        for offer, n in option.buys:
            share = float(option.price * offer.price.amount * n / list_price) if list_price else 0.0
            errors[offer.part] = errors.get(offer.part, 0.0) + share * offer.spread
    return math.sqrt(sum(e**2 for e in errors.values())) / total if total else 0.0


def idle(options: Sequence[Option], prediction: Prediction) -> tuple[tuple[str, float], ...]:
    """Bought parts with a utilisation below one half, with that."""
    parts = []
    for option in options:
        keys = ((u, key_of(prediction.problem, u.station)) for u in prediction.stations)
        uses = [u.utilization for u, k in keys if k and (option.place.startswith(k) or k.startswith(option.place))]
        if uses and max(uses) < _IDLE:
            parts.append((option.part, max(uses)))
    return tuple(parts)


def with_margins(stages: Sequence[Stage]) -> list[Stage]:
    """Stages with the gain per money of each over the one before."""
    margins = list(stages[:1])
    for before, stage in itertools.pairwise(stages):
        more = stage.price.amount - before.price.amount
        gain = (stage.rate - before.rate) / float(more) * 1000 if more > 0 else None
        margins.append(replace(stage, marginal_Bps=gain))
    return margins


def frontier(stages: Sequence[Stage], confidence: float) -> list[Stage]:
    """Stages by rising price, without those that are neither faster nor surer, nor the first that is sure enough."""
    front: list[Stage] = []
    # prices that are shown alike, in whole units, are: converted ones differ by cents
    for stage in sorted(stages, key=lambda s: (round(s.price.amount), len(s.options) > 0, -s.probability, -s.rate)):
        faster = all(stage.rate > k.rate * (1 + _FASTER) for k in front)
        surer = all(stage.probability > k.probability + _SURER for k in front)
        enough = stage.probability >= confidence > max((k.probability for k in front), default=0.0)
        if faster or surer or enough:
            front.append(stage)
    return front


def surest(stages: Sequence[Stage]) -> Stage:
    """The stage likeliest to meet the goal, or the fastest if none differs significantly from never."""
    top = max(stages, key=lambda s: (s.probability, s.rate))
    return top if _least_probability(top) > 0 else max(stages, key=lambda s: s.rate)


def _least_probability(stage: Stage) -> float:
    """The lowest probability that does not differ significantly from a stage's."""
    return stage.probability - _TOLD * math.sqrt(stage.probability * (1 - stage.probability) / len(stage.total_Bps))


def cheapest(stages: Sequence[Stage], top: Stage, confidence: float) -> Stage:
    """The cheapest stage that does not differ significantly from the best.

    Shares of draws are known to two standard errors. A goal is kept within a point; medians count where it never is.
    """
    each, least, slowest = top.total_Bps, _least_probability(top), 0.0
    if top.probability >= confidence:
        least = max(least, confidence - _SURER)
    elif least <= 0:
        slowest = float(np.quantile(each, max(0.5 - _TOLD * 0.5 / math.sqrt(len(each)), 0.0), method="inverted_cdf"))
    return next((s for s in stages if s.probability >= least and s.rate >= slowest), top)
