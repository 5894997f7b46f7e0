"""What a card says of limits: what holds a path in most of its draws, and what then holds it with a change."""

from __future__ import annotations

from dataclasses import replace

from dtnsim.ground.records import Bottleneck, Prediction, TransferPrediction
from dtnsim.ground.uncertainty import Remedy
from dtnsim.report.holds import brief, holds
from dtnsim.steady.known import Assumed
from dtnsim.steady.usual import Usual


def longest(p: Prediction) -> TransferPrediction:
    """The transfer that takes longest."""
    return max(p.transfers, key=lambda t: t.duration_s.p50)


def held(p: Prediction) -> str:
    """What holds the transfer that takes longest, for people: in most of its draws, and at its best too."""
    t, found = longest(p), _usual(p)
    best = f"{holds(p, t.bottleneck)} [{t.bottleneck.station}]"
    text = best if found is None else f"{holds(p, found.holder)} [{found.holder.station}] in {found.share:.0%} of runs"
    text += "" if found is None else f"; at its best, {brief(holds(p, replace(t.bottleneck, work=())))}"
    return f"{text} ({t.name}, which takes longest)" if len(p.transfers) > 1 else text


def usual_ways(p: Prediction) -> tuple[Remedy, ...]:
    """Changes against what holds the transfer that takes longest in most of its draws, if not at the medians."""
    found = _usual(p)
    return found.ways if found is not None else ()


def _usual(p: Prediction) -> Usual | None:
    """What holds the transfer that takes longest in most of its draws, if not at the medians."""
    return p.assumed.usual[p.transfers.index(longest(p))] if isinstance(p.assumed, Assumed) else None


def following(p: Prediction, better: Prediction) -> str:
    """What holds another answer; by name where that sounds like what holds this one, as drives of two volumes do."""
    then, now = _holder(better), _holder(p)
    what, same = (brief(holds(each, replace(b, work=()))) for each, b in ((better, then), (p, now)))
    return f"{what} ({then.station})" if what == same and then.station != now.station else what


def still(p: Prediction, then: str) -> bool:
    """Whether a limit is the one of now, whatever their sizes."""
    return then.partition(": ")[0] == brief(holds(p, replace(_holder(p), work=()))).partition(": ")[0]


def _holder(p: Prediction) -> Bottleneck:
    """What holds the transfer that takes longest in most of its draws."""
    found = _usual(p)
    return found.holder if found is not None else longest(p).bottleneck
