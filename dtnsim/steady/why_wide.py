"""Why an interval is wide: each uncertain thing's share of the variance, and what to measure first.

The first-order Sobol' indices of ln(rate), from the scenarios themselves: Hermite polynomials of first and second
degree in the standard normal score of each thing are fitted to the scenarios; a thing's index is the variance of its
own polynomials (Sudret, Global sensitivity analysis using polynomial chaos expansions, 2008). Parameters that were
fitted together are correlated and form one group, whose index is that of their joint polynomials (Jacques et al.
2006). The remainder are interactions. If a thing were known, about ``sqrt(1 - index)`` of the width would remain.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from dtnsim.description.spec import PathSpec
from dtnsim.discovery.finding_out import how, how_on
from dtnsim.ground.uncertainty import Drawn
from dtnsim.physics._arrays import quantile
from dtnsim.steady.assumed import named
from dtnsim.steady.prediction import predict
from dtnsim.steady.reasons import WORDS

SAMPLES: Final = 4096  #: scenarios that the shares are computed from, well above the number of polynomials
#: scenarios further out count as if they were here, as the outermost ones do not widen an interval
_INSIDE: Final = (0.01, 0.99)


@dataclass(frozen=True, slots=True)
class Share:
    """Share of an interval's width due to one uncertain thing, or to a group fitted together."""

    name: str  #: The key of its draw, or what the group is.
    share: float  #: Part of the variance of ln(rate).
    left: float  #: Part of the interval's width that would stay if it were known.
    measure: str  #: How to find it out.
    key: str = ""  #: Its keys in the path file, or what it is charged for.

    @property
    def cause(self) -> str:
        """The cause of the spread in words; a parameter by its key."""
        first, _, rest = self.name.partition(" ")
        if first == "discrepancy":
            return f"the model's own error for {WORDS['tools'].get(rest, rest)}"
        if first == "repeat":
            return f"chance from run to run where {WORDS['evidence'].get(rest, {'says': rest})['says']} holds"
        return self.key or self.name


def of_path(path: PathSpec, seed: int = 1, samples: int = SAMPLES, *, mean: bool = False) -> tuple[Share, ...]:
    """Why the interval of a path's rate, or of its long-run mean, is wide: shares of the variance, largest first."""
    p = predict(path, samples=samples, seed=seed, mean=mean)
    parts = shares(p.drawn, path.correlation.keys) if p.drawn is not None else ()
    places, nominal = path.written_as, p.problem
    keys = [named(s.name, nominal, places) for s in parts]
    return tuple(
        replace(s, key=key, measure=how_on(key if key.startswith("cost of ") else s.name, path.hosts_of(key)))
        for s, key in zip(parts, keys, strict=True)
    )


def shares(drawn: Drawn, correlated: Iterable[str] = (), least: float = 0.005) -> tuple[Share, ...]:
    """Shares of the variance, the largest first.

    Args:
        correlated: Keys of parameters that were fitted together (``PathSpec.correlation.keys``).
        least: Shares below this are left out.
    """
    y = np.log(np.maximum(drawn.total_Bps, 1e-300))
    y = np.clip(y, *quantile(y, _INSIDE))
    y = y - y.mean()
    variance = float(y.var())
    if variance < 1e-18:
        return ()
    groups = _groups(drawn.scores, frozenset(correlated))
    normal = ([drawn.scores[k] for k in keys] for keys in groups.values())
    columns = [np.column_stack([h for z in own for h in (z, (z**2 - 1) / math.sqrt(2))]) for own in normal]
    design = np.column_stack(columns)
    design -= design.mean(axis=0)
    # the columns are nearly orthogonal, or the same: normal equations take a fiftieth of what all scenarios take
    fitted, *_ = np.linalg.lstsq(design.T @ design, design.T @ y, rcond=1e-12)
    left = float((y - design @ fitted).var())
    parts, begin = [], 0
    for name, part in zip(groups, columns, strict=True):
        end = begin + part.shape[1]
        own = float((design[:, begin:end] @ fitted[begin:end]).var())
        # what as many polynomials of nothing would explain by chance
        index = max(own - left * part.shape[1] / y.size, 0.0) / variance
        begin = end
        if index >= least:
            parts.append(Share(name, min(index, 1.0), math.sqrt(max(1 - index, 0.0)), how(name)))
    return tuple(sorted(parts, key=lambda s: -s.share))


def _groups(keys: Iterable[str], correlated: frozenset[str]) -> dict[str, list[str]]:
    """Keys that one measurement settles: parameters fitted together; the model's errors for a tool, whatever binds."""
    groups: dict[str, list[str]] = {}
    for key in keys:
        name = f"fitted parameters of {key.partition(': ')[0]}" if key in correlated else key
        if name.startswith("discrepancy "):
            name = f"discrepancy {name.removeprefix('discrepancy ').rpartition('/')[2]}"
        groups.setdefault(name, []).append(key)
    return groups
