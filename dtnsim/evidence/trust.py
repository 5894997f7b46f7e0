"""A case judged (measured beside predicted), the summary of several, and how far answers of a kind can be trusted.

Intervals: coverage at several levels, proper scores beside one factor, kind by kind. Proper scores of predictive
distributions: an interval that is too wide is punished like one that is too narrow. All on the logarithm of the figure,
so that a factor of two counts the same at any rate.
Source: Gneiting and Raftery, Strictly proper scoring rules, prediction, and estimation, JASA 2007.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from dtnsim.evidence.cases import Case
from dtnsim.ground.output import fields
from dtnsim.ground.records import Bottleneck
from dtnsim.ground.uncertainty import COVERED
from dtnsim.physics._arrays import FloatArray as Array, quantile
from dtnsim.steady.regime import KINDS, Regime

METER: Final = 0.002  #: what meters, framing and the last printed digit differ by at an edge of an interval


@dataclass(frozen=True, slots=True)
class Residual:
    """One judging figure against the model."""

    study: str  #: Source; figures of one are left out together.
    regime: Regime  #: What held it.
    value: float  #: ln(measured / predicted), of a rate.
    explained: Array  #: The same of the parameters' draws, (S,).
    room: Array  #: How far the wires of those draws would let it rise above that, (S,).
    noise: float  #: Standard deviation of repeats.
    unseen: bool = False  #: Whether it was predicted when no mechanism or law had met it.
    #: The same of each kind that does not hold it, before its own error.
    rooms: Mapping[str, Array] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Parts:
    """What the residual of a case is made of."""

    explained: Array  #: The figure in scenarios with nothing but the parameters drawn, (S,).
    most: Array  #: The same at what the wires carry.
    rooms: Mapping[str, Array]  #: How far each other kind of thing would let it rise, by kind: logarithms, (S,).


@dataclass(frozen=True, slots=True)
class Judgement:
    """One case: measured beside predicted."""

    case: Case  #: The case.
    p10: float  #: Predicted [SI unit], lower end of its interval.
    p50: float  #: Predicted, as often above this as below.
    p90: float  #: Upper end.
    ceiling: float  #: With every parameter at its median and everything unstated at its best.
    baseline: float | None  #: What min(disk, network, disk) says, None where it says nothing.
    held: Bottleneck  #: The predicted bottleneck.
    regime: Regime  #: What holds it, as evidence is collected by.
    #: The figure in scenarios of single runs, (S,); laws learned without its study.
    samples: Array = field(compare=False, repr=False)
    parts: Parts | None = field(default=None, compare=False, repr=False)  #: Where asked for.
    #: Prediction by parameters that were fitted without this case (leave-one-out), where asked for.
    left_out: float | None = None

    @property
    def error(self) -> float | None:
        """Predicted over measured, less one; None where the figure is withheld."""
        return None if self.case.withheld else error_of(self.p50, self.case)

    @property
    def covered(self) -> bool | None:
        """Whether the figure lies between p10 and p90; None where there is no figure, or no interval for it."""
        if self.case.withheld or self.case.quantity == "throughput_sd" or self.case.bound is not None:
            return None
        return self._between(self.p10, self.p90)

    def within(self, levels: Sequence[float]) -> list[bool]:
        """Whether the figure lies in the central interval of so much probability each."""
        ends = quantile(self.samples, [(1 + side * level) / 2 for side in (-1, 1) for level in levels]).tolist()
        return list(map(self._between, ends[: len(levels)], ends[len(levels) :]))

    def _between(self, low: float, high: float) -> bool:
        return low * (1 - METER) <= self.case.measured <= high * (1 + METER)

    @property
    def sign(self) -> float:
        """1 for figures that grow with the rate, -1 for durations."""
        return -1.0 if self.case.quantity == "duration" else 1.0

    @property
    def residual(self) -> Residual | None:
        """What the discrepancy is learned from; None for figures that fit, bound, judge alone, or are no rates."""
        case, parts = self.case, self.parts
        taught = case.role == "blind" and case.teaches and case.quantity != "cpu_share"
        if parts is None or not taught or self.covered is None:
            return None
        off = self.sign * np.log(case.measured / (case.first_predicted or self.ceiling))
        explained, most = (
            self.sign * np.log(np.maximum(x, 1e-300) / self.ceiling) for x in (parts.explained, parts.most)
        )
        room, unseen = np.asarray(most - explained), case.first_predicted is not None
        return Residual(case.study, self.regime, float(off), np.asarray(explained), room, 0.0, unseen, parts.rooms)

    @property
    def bottleneck_right(self) -> bool | None:
        """Whether the bottleneck is the one that the source states; None where it states none."""
        stated = self.case.stated
        return None if stated is None or stated.inferred else stated.met_by(self.held)

    @property
    def counted(self) -> bool:
        """Whether it enters the summary: bounds and withheld figures do not."""
        return not self.case.withheld and self.case.bound is None


@dataclass(frozen=True, slots=True)
class Summary:
    """Errors of a group of cases; fractions."""

    n: int
    mdape: float | None
    max_ape: float | None
    coverage80: float | None


def summarise(errors: Sequence[float], covered: Sequence[bool]) -> Summary:
    """Median and worst absolute error, and the share of figures inside their interval."""
    if not errors:
        return Summary(0, None, None, None)
    return Summary(len(errors), float(np.median(errors)), max(errors), sum(covered) / len(covered) if covered else None)


def error_of(predicted: float, case: Case) -> float:
    """Predicted over measured, less one; nothing on the good side of a bound."""
    error = predicted / case.measured - 1.0
    if case.bound == "at least":
        return min(error, 0.0)
    return max(error, 0.0) if case.bound == "at most" else error


_TINY = 1e-12  #: the least that a figure is taken to be before its logarithm
CENTRAL: Final = (0.5, COVERED, 0.95)  #: central intervals of the calibration curve


@dataclass(frozen=True, slots=True)
class Trust:
    """Coverage and scores of a group of judging figures."""

    n: int  #: Figures.
    coverage: dict[float, float]  #: Share inside the central interval, by its level.
    below: float  #: Share below p10.
    above: float  #: Share above p90.
    high: float  #: Share of medians that are too high a rate; those that meet the figure count half.
    width: float  #: Median of ln(p90 / p10).
    interval_score: float  #: Mean score of the intervals of ln(figure); smaller is better.
    #: The same of one factor for all, whose interval holds its share of the other studies' figures.
    constant_factor: float
    crps: float  #: Mean continuous ranked probability score of ln(figure).

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        counts = {"n": self.n, "coverage": {f"{level:.0%}": share for level, share in self.coverage.items()}}
        sides = fields(self, below_p10="below", above_p90="above", median_too_high="high")
        scores = fields(self, "width", "interval_score", interval_score_of_a_constant_factor="constant_factor")
        return counts | sides | scores | fields(self, "crps")


def judging(judged: Sequence[Judgement]) -> list[Judgement]:
    """Figures that fitted nothing and have an interval."""
    return [j for j in judged if j.case.role == "blind" and j.covered is not None]


def first(judged: Sequence[Judgement]) -> list[Judgement]:
    """Figures as they were first predicted, when no mechanism had met them; those that do not say so are left out.

    Laws of production are as wide as unseen systems need (`dtnsim.evidence.learn`), and these are to lie inside as
    often as promised. Mechanisms have been mended by the same figures since: today's predictions of them are nearer,
    and more lie inside. Neglects: that spreads of parameters are today's.
    """
    rejudged = []
    for j in judged:
        if j.case.first_predicted is not None:
            then = j.case.first_predicted / j.ceiling
            rejudged.append(replace(j, p10=j.p10 * then, p50=j.p50 * then, p90=j.p90 * then, samples=j.samples * then))
    return rejudged


def trust(judged: Sequence[Judgement], among: Sequence[Judgement] | None = None) -> Trust | None:
    """Coverage and scores of the judging figures, the constant factor of those ``among``; None where there are none."""
    chosen, pool = judging(judged), judging(judged if among is None else among)
    if not chosen:
        return None
    errors = np.array([abs(_log(j.case.measured) - _log(j.p50)) for j in pool])
    studies = np.array([j.case.study for j in pool])
    halves = {s: constant_factor(errors[studies != s], COVERED) for s in {j.case.study for j in chosen}}
    rows = []
    for j in chosen:
        figure, middle, half = _log(j.case.measured), _log(j.p50), halves[j.case.study]
        sides = j.case.measured < j.p10 * (1 - METER), j.case.measured > j.p90 * (1 + METER)
        score = interval_score(_log(j.p10), _log(j.p90), figure, COVERED)
        factor = interval_score(middle - half, middle + half, figure, COVERED)
        ranked = crps(np.log(np.maximum(j.samples, _TINY)), figure)
        off = j.sign * (j.p50 / j.case.measured - 1)  # too high a rate, beyond what meters differ by
        rows.append((*sides, 0.5 + 0.5 * np.sign(off) * (abs(off) > METER), score, factor, ranked))
    below, above, high, *scores = (float(np.mean(column)) for column in zip(*rows, strict=True))
    coverage = dict(zip(CENTRAL, np.mean([j.within(CENTRAL) for j in chosen], axis=0).tolist(), strict=True))
    width = float(np.median([_log(j.p90) - _log(j.p10) for j in chosen]))
    return Trust(len(chosen), coverage, below, above, high, width, *scores)


def by_kind(judged: Sequence[Judgement]) -> dict[str, Trust]:
    """Trust by the kind of the binding station."""
    kinds = sorted({j.regime.kind for j in judged}, key=lambda k: KINDS.index(k) if k in KINDS else len(KINDS))
    trusts = {kind: trust([j for j in judged if j.regime.kind == kind], judged) for kind in kinds}
    return {kind: t for kind, t in trusts.items() if t is not None}


def ranks(judged: Sequence[Judgement]) -> list[float]:
    """Share of the scenarios below each judging figure (its probability integral transform); equal ones count half."""
    shares = []
    for j in judging(judged):
        below, upto = (float(np.mean(j.samples < j.case.measured * (1 + side * METER))) for side in (-1, 1))
        shares.append((below + upto) / 2)
    return shares


def _log(value: float) -> float:
    return math.log(max(value, _TINY))


def crps(samples: Array, measured: float) -> float:
    """Continuous ranked probability score of samples (S,): E|X - y| - E|X - X'| / 2 (eq. 21)."""
    ordered = np.sort(samples)
    count = ordered.size
    # E|X - X'| by order statistics
    between = 2 * float((ordered * (2 * np.arange(1, count + 1) - count - 1)).sum()) / count**2
    return float(np.abs(samples - measured).mean()) - between / 2


def interval_score(low: float, high: float, measured: float, level: float) -> float:
    """Width of a central interval, and what a figure outside of it costs (eq. 43).

    Args:
        low: Its lower end.
        high: Its upper end.
        measured: The figure.
        level: Its probability.
    """
    alpha = 1 - level
    return (high - low) + 2 / alpha * (max(low - measured, 0.0) + max(measured - high, 0.0))


def constant_factor(errors: Array, level: float) -> float:
    """Half width of the one interval for all that would have held ``level`` of the other studies' |ln ratios|."""
    return float(quantile(errors, level, between=True)) if errors.size else 0.0
