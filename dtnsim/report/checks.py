"""What to find out first: how, and what becomes of the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from dtnsim.ground import units
from dtnsim.steady.why_wide import how

if TYPE_CHECKING:
    from dtnsim.ground.records import Prediction
    from dtnsim.ground.uncertainty import Assumption
    from dtnsim.steady.goals import Goal

#: said of what makes an answer miss its deadline
LATE: Final = " (too late)"


def measured(p: Prediction, a: Assumption, wanted: Sequence[Goal] = ()) -> str:
    """What to find out, how, and what becomes of the answer.

    Args:
        p: The prediction.
        a: What was assumed.
        wanted: What is asked of the transfer.
    """
    late = next((g.value for g in wanted if g.kind == "deadline"), np.inf)
    ends, now = [(a.at_low, a.low), *([(a.at_high, a.high)] if a.ranges else [])], p.duration_s.p50
    if p.drawn is None or all(t.timed for t in p.problem.transfers):
        then = [units.show(p.throughput_Bps.p50 * factor, "B/s", digits=2) for factor, _ in ends]
        words = [f"{rate} with {value}" for rate, (_, value) in zip(then, ends, strict=True)]
    else:
        took = [now / max(factor, 1e-300) for factor, _ in ends]
        then = beside((now, p.duration_s.p10, p.duration_s.p90), took)
        missed = (LATE if now <= late < seconds else "" for seconds in took)
        words = [f"{end} with {value}{no}" for end, (_, value), no in zip(then, ends, missed, strict=True)]
    return f"{a.key}, by {how(a.key)}: taken as {a.value}; {', '.join(words)}"


def beside(now: Sequence[float], took: Sequence[float]) -> list[str]:
    """Times in the unit of those of now, with as many digits as show that one is another."""
    for digits in (2, 3, 4):
        shown = units.alike([*now, *took], digits)
        then = shown[len(now) :]
        if any(each != shown[0] for each in then):
            break
    return then
