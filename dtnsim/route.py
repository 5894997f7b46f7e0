"""A route between two hosts: its segments in order, packet sizes, and what others leave of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from dtnsim.components.segment import Background, Segment
from dtnsim.host import Host
from dtnsim.quantity import Draw, Value


@dataclass(frozen=True, slots=True)
class Route:
    """The segments between two hosts, in order, each with the direction it is crossed in."""

    source: Host
    destination: Host
    hops: tuple[tuple[str, Segment, bool], ...]

    def rtt(self, draw: Draw) -> Value:
        """Round-trip time of all segments."""
        return sum((draw(s.rtt) for _, s, _ in self.hops), 0.0)

    @property
    def nominal_rtt(self) -> float:
        """Round-trip time at nominal values."""
        return sum(s.rtt.value for _, s, _ in self.hops)


class Framing(NamedTuple):
    """Sizes of a packet on a route [B]."""

    mtu: float
    mss: float
    wire: float


def background_share(draw: Draw, background: Background | None) -> Value:
    """Share of a segment that other traffic takes; an unknown hour widens the spread by the daily wave."""
    if background is None:
        return 0.0
    share, wave = background.share, draw(background.diurnal)
    if background.hour is None:
        half = background.diurnal.value**2 / 2
        wide = replace(share, spread=math.sqrt(share.spread**2 + half)) if half else share
        mean: Value = draw(wide)
    else:
        angle = 2 * math.pi * (background.hour - background.peak_hour) / 24
        mean = draw(share) * (1 + wave * math.cos(angle))
    return np.clip(mean, 0.0, 0.999)
