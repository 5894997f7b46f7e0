"""How connections open up, as shares of their steady rate over time, from the round model of TCP.

The shape is worked out once for the median of all draws and told in round trips; a draw with a longer
round trip takes longer over the same shape. Its level is that of the transfer's own TCP station.

Neglects: what slow start gains over the steady rate before the first loss (`dtnsim tcp --size` has it).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dtnsim.ground.records import Connection

#: shortest round trip that the round model tells anything of [s]; below it the opening is over at once
LEAST_RTT_S: Final = 1e-4
#: steps that differ by less are put together
_ALIKE: Final = 0.05


@dataclass(frozen=True, slots=True)
class Ramp:
    """A step function from the moment at which the connections are open.

    Attributes:
        ends_s: End of each step [s].
        shares: Share of the steady rate that its connections allow in it [1]; afterwards all of it.
    """

    ends_s: tuple[float, ...]
    shares: tuple[float, ...]

    @property
    def lost_s(self) -> float:
        """What the opening costs a transfer that nothing else holds back [s]."""
        begins = (0.0, *self.ends_s[:-1])
        return sum((e - b) * (1 - s) for b, e, s in zip(begins, self.ends_s, self.shares, strict=True))

    def after(self, age_s: float) -> Iterator[tuple[float, float]]:
        """(how long from then on [s], share) of every step that is not over at an age."""
        for end, share in zip(self.ends_s, self.shares, strict=True):
            if end > age_s:
                yield end - age_s, share
                age_s = end


def ramp_of(streams: Connection, scenario: int = 0) -> Ramp | None:
    """How the streams of a transfer open up in one scenario; None where that takes no time."""
    from dtnsim.physics.tcp.opening import opening

    def median(value: Any) -> float:
        return value if isinstance(value, float) else float(np.median(value))

    rtt = median(streams.rtt_s)
    if rtt < LEAST_RTT_S:
        return None
    found = opening(
        rate_Bps=median(streams.rate_Bps), rtt_s=rtt, buffer_B=median(streams.buffer_B), loss=median(streams.loss),
        mtu_B=streams.mtu_B, mss_B=streams.mss_B, streams=streams.streams, cc=streams.cc,
        window_B=median(streams.window_B),
    )  # fmt: skip
    if not found.steady_Bps > 0:
        return None
    own = np.ravel(streams.rtt_s)
    stretch = float(own[scenario if own.size > 1 else 0]) / rtt
    # before the first of them there is the handshake, which is a round trip of the tool's
    ends = (found.times_s[2:] - found.times_s[1]) * stretch
    return _merged(ends.tolist(), np.minimum(found.rates_Bps[1:] / found.steady_Bps, 1.0).tolist())


def _merged(ends: list[float], shares: list[float]) -> Ramp | None:
    """Neighbours that are alike put together, their mean kept; steps of nothing last until the next."""
    steps: list[tuple[float, float, float]] = []  # begin, end, share
    begin = 0.0
    for end, share in zip(ends, shares, strict=True):
        if steps and abs(steps[-1][2] - share) <= _ALIKE * max(share, 0.2):
            first, middle, before = steps.pop()
            mean = (before * (middle - first) + share * (end - begin)) / (end - first)
            steps.append((first, end, mean))
        else:
            steps.append((begin, end, share))
        begin = end
    while steps and steps[-1][2] >= 1 - _ALIKE / 2:
        steps.pop()
    return Ramp(tuple(e for _, e, _ in steps), tuple(max(s, 1e-6) for _, _, s in steps)) if steps else None
