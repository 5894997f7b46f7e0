"""A network segment: bandwidth, round-trip time, buffer, loss, other people's traffic, firewall, policer."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Annotated, ClassVar

from pydantic import Field

from dtnsim.components.base import Component, Pick
from dtnsim.components.firewall import Firewall
from dtnsim.components.middlebox import Middlebox
from dtnsim.components.policer import Policer
from dtnsim.ground.quantity import Draw, Quantity, Unit, prior
from dtnsim.ground.term import Term, law, least, of, term
from dtnsim.physics import network as physics


class Background(Component):
    """Other traffic on a segment, as a share of its bandwidth.

    ``share`` is the mean; ``spread`` of that quantity carries the hour-to-hour variation. ``diurnal``
    is the amplitude of the daily wave over the mean, ``peak_hour`` the hour of its top, and ``hour``
    the hour that is asked for (none: a random one).
    """

    kind: ClassVar[str] = "background"
    family: ClassVar[str] = "background"

    share: Annotated[Quantity, Unit("1", spread=0.3, high=1.0)]
    diurnal: Annotated[Quantity, Unit("1", high=1.0)] = prior("0", 0.0, "no daily wave asked for")
    peak_hour: Annotated[float, Field(ge=0, lt=24)] = 15.0
    hour: Annotated[float, Field(ge=0, lt=24)] | None = None
    trace: str | None = None

    @cached_property
    def anytime(self) -> Quantity:
        """The share at an hour that nobody knows: the daily wave widens its spread.

        One and the same quantity each time, so that all who ask see the same draw of it.
        """
        spread = physics.anytime_spread(self.share.spread, self.diurnal.value)
        return replace(self.share, spread=spread) if self.diurnal.value else self.share

    def taken(self, draw: Draw) -> Term:
        """Share of the segment that others take; at an hour that nobody knows the daily wave is in its spread."""
        if self.hour is None:
            return least(of(draw, self.anytime), term(physics.MOST_TAKEN))
        share, wave = of(draw, self.share), of(draw, self.diurnal)
        return law(physics.diurnal_share, mean=share, amplitude=wave, hour=self.hour, peak_hour=self.peak_hour)


class Segment(Component):
    """A stretch of network: everything between two hosts is one or several of them in series.

    Attributes:
        bandwidth: Rate in bytes on the wire.
        rtt: Round-trip time that it adds.
        loss: Random loss of packets.
        buffer: Queue in front of it that drops what does not fit; a bandwidth-delay product where not given.
        mtu: Largest IP packet.
        background: Other traffic.
        firewall: A firewall in it.
        policer: A token bucket in it.
        boxes: Other boxes that all traffic passes, by name.
        between: Its two ends, where links form a graph.
    """

    kind: ClassVar[str] = "segment"
    family: ClassVar[str] = "segment"

    bandwidth: Annotated[Quantity, Unit("B/s", low=1.0)]
    rtt: Annotated[Quantity, Unit("s", spread=0.02, high=100.0)] = prior("0 s", 0.0, "not given: no added delay")
    loss: Annotated[Quantity, Unit("1", spread=0.5, high=0.5)] = prior("0", 0.0, "not given: no random loss")
    buffer: Annotated[Quantity, Unit("B", spread=0.3)] | None = None
    mtu: Annotated[Quantity, Unit("B", low=256, high=65535)] | None = None
    background: Background | None = None
    firewall: Annotated[Firewall, Pick(Firewall)] | None = None
    policer: Annotated[Policer, Pick(Policer)] | None = None
    boxes: dict[str, Annotated[Middlebox, Pick(Middlebox)]] = Field(default_factory=dict)
    between: tuple[str, str] | None = None
