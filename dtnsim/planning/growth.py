"""When each purchase is due as the target grows, and the cheapest order of purchases over the years."""

import math
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final, TypeAlias

import numpy as np

from dtnsim.description.workload import Workload
from dtnsim.ground.errors import InputError
from dtnsim.ground.quantity import Draw, Quantity
from dtnsim.ground.units import cents
from dtnsim.physics._arrays import LEVELS, FloatArray as Array
from dtnsim.planning.catalog import Offer
from dtnsim.planning.option import Option
from dtnsim.planning.proposal import Due, Stage
from dtnsim.planning.search import price
from dtnsim.steady.goals import Goal

_GROWTH: Final = re.compile(
    r"\s*(\d+(?:\.\d+)?)\s*%?\s*(?:(?:\+-|±)\s*(\d+(?:\.\d+)?)\s*)?%\s*(?:/|a|per)\s*(?:y|yr|year|a)\s*", re.IGNORECASE
)

Growth: TypeAlias = float | Array  #: growth a year: a number, or draws of it beside those of a prediction


def growth(text: str) -> Quantity:
    """``40%/year`` as 0.4, ``40+-10%/year`` with a standard deviation of 0.1; `InputError` for anything else."""
    match = _GROWTH.fullmatch(text)
    if match is None:
        raise InputError(f"--growth: {text!r} is no growth; write 40%/year, or 40+-10%/year")
    value, deviation = float(match[1]) / 100, float(match[2] or 0) / 100
    return Quantity(value, "1", deviation / value if value else 0.0, "--growth")


def drawn(rate: Quantity, samples: int, seed: int) -> Growth:
    """Growth a year drawn alongside a prediction's draws; a number if it has no spread."""
    return np.asarray(Draw(samples, seed)(rate), float) if rate.spread else rate.value


def of_workload(workload: Workload) -> Goal:
    """Rate that a facility's classes need together: those with deadlines in time, the others as fast as they arrive."""
    rates = []
    for kind in workload.classes.values():
        if kind.volume is not None:
            rates.append(kind.volume.value)
        elif kind.size is not None:
            within = kind.deadline or kind.every
            rates += [kind.count * kind.mean_B / within.value] if within is not None else []
            rates += [kind.rate.value * kind.mean_B] if kind.rate is not None and within is None else []
    if not rates:
        raise InputError("no class of the workload has a deadline, an interval or a volume; write --target 40Gb/s")
    return Goal("target", sum(rates))


def due(stages: Sequence[Stage], target_Bps: float, confidence: float, rate: Growth, years: int) -> tuple[Due, ...]:
    """The cheapest order of purchases that meets a growing target every year, for so many years ahead.

    A purchase stays until something replaces it; it then brings the list's trade-in, at most what its successor costs.
    Of orders that cost the same, the one that pays later is taken.
    """
    middle = float(np.median(rate))
    needed = [target_Bps * (1 + rate) ** year for year in range(years + 1)]
    targets = [target_Bps * (1 + middle) ** year for year in range(years + 1)]
    #: cost of the cheapest way to each stage (the later it pays the better), and the stages on it
    ways: dict[int, tuple[Decimal, tuple[Decimal, ...], tuple[int, ...]]] = {0: (Decimal(), (), ())}
    for target in needed:
        good = [n for n, s in enumerate(stages) if _probability(s, target) >= confidence]
        if not good:
            break
        further: dict[int, tuple[Decimal, tuple[Decimal, ...], tuple[int, ...]]] = {}
        for n in good:
            candidates = (
                (cost + (paid := _upgrade(stages[before], stages[n])), (*spent, paid), (*order, n))
                for before, (cost, spent, order) in ways.items()
            )
            further[n] = min(candidates, key=lambda w: w[:2])
        ways = further
    _, spent, order = min(ways.values(), key=lambda w: w[:2])
    schedule = [
        Due(y, targets[y], stages[n], spent[y], _probability(stages[n], needed[y]),
            *_outgrown(stages[n], target_Bps, confidence, rate))
        for y, n in enumerate(order)
    ]  # fmt: skip
    best = max(stages, key=lambda s: _probability(s, needed[-1]))
    beyond = (
        Due(y, targets[y], None, Decimal(), _probability(best, needed[y]), 0.0) for y in range(len(order), years + 1)
    )
    return (*schedule, *beyond)


def last(stages: Sequence[Stage], target_Bps: float, confidence: float, rate: Growth, years: int) -> Stage:
    """The cheapest stage that meets the target of the latest year in which any does; if none, the present one."""
    for year in range(years, -1, -1):
        good = [s for s in stages if _probability(s, target_Bps * (1 + rate) ** year) >= confidence]
        if good:
            return min(good, key=lambda s: price(s.options))
    return stages[0]


def _probability(stage: Stage, target_Bps: Growth) -> float:
    return float(np.mean(stage.total_Bps >= target_Bps))


def _upgrade(before: Stage, after: Stage) -> Decimal:
    """Price of what a stage has beyond the one before; for more of the same, of what is added."""
    owned, by_place = set(before.options), {o.place: o for o in before.options}
    return sum((_paid(by_place.get(o.place), o) for o in after.options if o not in owned), Decimal())


def _paid(before: Option | None, after: Option) -> Decimal:
    """Price of an option whose place has an earlier purchase, which it extends or which is traded in."""
    if before is None:
        return after.price
    counts = dict(after.buys)
    if {offer for offer, _ in before.buys} == set(counts) and all(n <= counts[offer] for offer, n in before.buys):
        return after.price - before.price
    # what was there at first has gone when the other came: its trade-in counts no second time
    new = after.price - sum((each * n for (_, n), each in _charged(after) if each < 0), Decimal())
    used = ((each * n, offer) for (offer, n), each in _charged(before) if each > 0)
    return new - min(new, sum((cents(worth * Decimal(str(offer.trade_in))) for worth, offer in used), Decimal()))


def _charged(option: Option) -> Iterator[tuple[tuple[Offer, int], Decimal]]:
    """(what is bought and how many, price of one in the plan's currency)."""
    return zip(option.buys, option.each, strict=False)


def _outgrown(stage: Stage, target_Bps: float, confidence: float, rate: Growth) -> tuple[float, tuple[float, float]]:
    """Years until the target outgrows what a stage reaches: as surely as asked, and p10 and p90 of them."""
    if not np.median(rate) > 0:
        return math.inf, (math.inf, math.inf)
    ahead = np.log(np.maximum(stage.total_Bps, 1e-9) / target_Bps)
    years = np.where(np.asarray(rate) > 0, ahead / np.log1p(np.maximum(rate, 1e-9)), np.inf)
    sure, low, high = np.quantile(years, (1 - confidence, LEVELS[0], LEVELS[2]), method="inverted_cdf")
    return float(sure), (max(float(low), 0.0), max(float(high), 0.0))
