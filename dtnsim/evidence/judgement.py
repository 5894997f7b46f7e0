"""One case judged: measured beside predicted, and the summary of several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dtnsim.evidence.cases import Case
from dtnsim.ground.records import Bottleneck
from dtnsim.steady.regime import Regime
from dtnsim.steady.scenarios import interval

if TYPE_CHECKING:
    from dtnsim.steady.solve import Array

#: what meters, framing and the last printed digit differ by at an edge of an interval
METER: Final = 0.002


@dataclass(frozen=True, slots=True)
class Residual:
    """One judging figure against the model.

    Attributes:
        study: Source; figures of one are left out together.
        regime: What held it.
        value: ln(measured / predicted), of a rate.
        explained: The same of the parameters' draws, (S,).
        room: How far the wires of those draws would let it rise above that, (S,).
        noise: Standard deviation of repeats.
    """

    study: str
    regime: Regime
    value: float
    explained: Array
    room: Array
    noise: float


@dataclass(frozen=True, slots=True)
class Judgement:
    """One case: measured beside predicted.

    Attributes:
        case: The case.
        p10: Predicted [SI unit], one time in ten below this.
        p50: Predicted, as often above this as below.
        p90: One time in ten above this.
        ceiling: With every parameter at its median and everything unstated at its best.
        baseline: What min(disk, network, disk) says, None where it says nothing.
        held: The predicted bottleneck.
        regime: What holds it, as evidence is collected by.
        samples: The figure in scenarios of single runs, (S,); laws learned without its study.
        explained: The same with nothing but the parameters drawn.
        most: The same at what the wires carry.
        left_out: Prediction by parameters that were fitted without this case (leave-one-out), where asked for.
    """

    case: Case
    p10: float
    p50: float
    p90: float
    ceiling: float
    baseline: float | None
    held: Bottleneck
    regime: Regime
    samples: Array = field(compare=False, repr=False)
    explained: Array = field(compare=False, repr=False)
    most: Array = field(compare=False, repr=False)
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
        return self.within(0.8)

    def within(self, level: float) -> bool:
        """Whether the figure lies in the central interval of so much probability."""
        found = interval(self.samples, level)
        return found.p10 * (1 - METER) <= self.case.measured <= found.p90 * (1 + METER)

    @property
    def sign(self) -> float:
        """1 for figures that grow with the rate, -1 for durations."""
        return -1.0 if self.case.quantity == "duration" else 1.0

    @property
    def residual(self) -> Residual | None:
        """What the discrepancy is learned from; None for figures that fit, bound, or are no rates."""
        case = self.case
        if case.role != "blind" or self.covered is None or case.quantity == "cpu_share":
            return None
        off = self.sign * np.log(case.measured / self.ceiling)
        explained, most = (
            self.sign * np.log(np.maximum(x, 1e-300) / self.ceiling) for x in (self.explained, self.most)
        )
        return Residual(case.study, self.regime, float(off), np.asarray(explained), np.asarray(most - explained), 0.0)

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

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"n": self.n, "mdape": self.mdape, "max_ape": self.max_ape, "coverage80": self.coverage80}


def summarise(errors: Sequence[float], covered: Sequence[bool]) -> Summary:
    """Median and worst absolute error, and the share of figures inside their 80 % interval."""
    if not errors:
        return Summary(0, None, None, None)
    return Summary(len(errors), float(np.median(errors)), max(errors), sum(covered) / len(covered) if covered else None)


def error_of(predicted: float, case: Case) -> float:
    """Predicted over measured, less one; nothing on the good side of a bound."""
    error = predicted / case.measured - 1.0
    if case.bound == "at least":
        return min(error, 0.0)
    return max(error, 0.0) if case.bound == "at most" else error
