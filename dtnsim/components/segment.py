"""A network segment: bandwidth, round-trip time, buffer, loss, other people's traffic, firewall, policer."""

import math
from dataclasses import replace
from functools import cached_property
from typing import Annotated, ClassVar, Final, Literal, Self

import numpy as np
from pydantic import BeforeValidator, Field, PrivateAttr, model_validator

from dtnsim.components import network_kinds as media
from dtnsim.components.base import Component, Model, Pick
from dtnsim.components.middlebox import Firewall, Middlebox, Policer
from dtnsim.ground.quantity import Draw, Quantity, Scalar, Unit, Value, ideally, prior
from dtnsim.ground.term import Term, law, minimum, parameter, term
from dtnsim.ground.uncertainty import Otherwise
from dtnsim.ground.yamlio import mapping
from dtnsim.physics import network as physics
from dtnsim.physics.nic import JUMBO_B, JUMBO_Bps
from dtnsim.physics.tcp import loss as lossy

#: packet of a segment that names no MTU, and headers of IPv4 and TCP with timestamps [B]
PACKET_B, HEADERS_B = 1500.0, 52.0
MOST_LOST: Final = 0.5  #: the most that a segment loses

#: part of what slow starts may lose by themselves that they do lose
_STARTS: Final = prior(
    "0.5", 1.4, "none to all, quartiles at 0.25 and 0.8: calibration/tcp-truth, Reno 1, CUBIC 0 to 0.8"
)

#: what the MTU of a segment often is where nobody says it
_SMALL: Final = Otherwise(
    "1500 B", "networks and stores without jumbo frames (ping -M do -s 1472)", "as large as the frames of its ends"
)

Share = Annotated[Quantity, Unit("1", spread=0.3, high=physics.MOST_TAKEN)]


class Background(Component):
    """Other traffic on a segment, as a share of its bandwidth.

    ``share``, which may stand alone, is the mean; ``spread`` of that quantity carries the hour-to-hour variation.
    ``diurnal`` is the amplitude of the daily wave over the mean, ``peak_hour`` the hour of its top, and ``hour``
    the hour at which it begins (none: a random one). What takes hours has the mean of these.
    """

    kind: ClassVar[str] = "background"

    share: Share
    diurnal: Annotated[Quantity, Unit("1", high=1.0)] = prior("0", 0.0, "no daily wave asked for")
    peak_hour: Annotated[float, Field(ge=0, lt=24)] = 15.0
    hour: Annotated[float, Field(ge=0, lt=24)] | None = None
    _lasting_h: float = PrivateAttr(default=0.0)

    def beside(self, idle_h: float, tested_h: float) -> Self:
        """The same for transfers that would fill an idle link for some hours, or tests of so many."""
        alike, wave = self.model_copy(), 0.0 if self.hour is None else self.diurnal.value  # at a random hour, the mean
        taken_h = float(physics.hours_beside(idle_h, self.share.value, wave, self.hour or 0.0, self.peak_hour))
        alike._lasting_h = max(taken_h, tested_h)  # noqa: SLF001 - its own
        return alike

    @cached_property
    def anytime(self) -> Quantity:
        """The share at an hour that nobody knows: the daily wave widens its spread.

        One and the same quantity each time, so that all who ask see the same draw of it.
        """
        spread = physics.anytime_spread(self.share.spread, self.diurnal.value, self._lasting_h)
        return replace(self.share, spread=spread) if self.diurnal.value else self.share

    def share_taken(self, draw: Draw) -> Term:
        """Share of the segment that others take; at an hour that nobody knows the daily wave is in its spread."""
        if self.hour is None:
            return minimum(parameter(draw, self.anytime), term(physics.MOST_TAKEN))
        share, wave = parameter(draw, self.share), parameter(draw, self.diurnal)
        when = {"hour": self.hour, "peak_hour": self.peak_hour, "lasting": self._lasting_h}
        return law(physics.diurnal_share, mean=share, amplitude=wave, **when)


class Bursts(Model):
    """Loss in bursts (Gilbert): the mean loss that they make, and how many packets a burst takes on average."""

    rate: Annotated[Quantity, Unit("1", spread=0.5, high=0.5)]
    length: Annotated[Quantity, Unit("1", spread=0.3, low=1.0, high=1e6)]


class Retransmits(Model):
    """Segments that a transfer sent again (iperf3's Retr), the payload that it moved meanwhile, and how often it began.

    A slow start loses up to what pipe and queue hold, on paths that lose nothing: that many of each start tell nothing.
    """

    count: Annotated[float, Field(ge=0)]
    moved: Annotated[Quantity, Unit("B", low=1.0)]
    starts: Annotated[int, Field(ge=0, le=10**6)] = 1

    def loss(self, mss_B: float) -> Quantity:
        """The loss that they imply, with the spread that such a guess deserves."""
        value = float(lossy.of_retransmits(self.count, self.moved.value, mss_B))
        source = f"assumed: {self.count:g} retransmits in {self.moved}, taken as independent loss"
        return Quantity(value, "1", lossy.RETRANSMIT_SPREAD, source)


def _of_share(raw: object) -> object:
    return mapping({"share": raw}, raw.file, raw.line) if isinstance(raw, Scalar) else raw


_Taken = Annotated[Background | None, BeforeValidator(_of_share, json_schema_input_type=Background | Share | None)]


class Segment(Component):
    """A stretch of network: everything between two hosts is one or several of them in series.

    Attributes:
        bandwidth: Rate in bytes on the wire.
        rtt: Round-trip time that it adds; where not given, 0 at best (the ceiling), and drawn for the median and the
            interval as that of a building or site, or of what ``medium`` says.
        loss: Random loss of packets; where nothing is said of losses, none at the median and what such paths have in
            the interval.
        bursts: Loss in bursts; beside ``loss`` where that is given.
        emulator: What loses them where that is ``netem`` at a Linux sender: it drops whole pieces of TSO's, so that a
            loss takes several segments and comes as much more rarely.
        retransmits: Segments that transfers over it sent again, where no loss is known; beside what is given. The loss
            is what is left of them without those that slow starts have lost by themselves.
        buffer: Queue in front of it that drops what does not fit; at the median large enough where not given.
        mtu: Largest IP packet.
        background: Other traffic; where not given, none at the median.
        firewall: A firewall in it.
        policer: A token bucket in it.
        boxes: Other boxes that all traffic passes, by name.
        between: Its two ends, where links form a graph.
        medium: What kind of network it is, which chooses nothing but what is usual where loss, other traffic and
            buffer are not stated: one provider's ``backbone``, the ``internet`` between providers, a ``research``
            network, a ``campus``, a ``satellite`` in low orbit, a ``mobile`` network, or a ``lab`` without others.
    """

    kind: ClassVar[str] = "segment"

    bandwidth: Annotated[Quantity, Unit("B/s", low=1.0, line=True)]
    rtt: Annotated[Quantity, Unit("s", spread=0.02, high=100.0)] = ideally("0 s", media.RTTS[None])
    loss: Annotated[Quantity, Unit("1", spread=0.5, high=0.5)] = ideally("0", media.priors(None).loss)
    bursts: Bursts | None = None
    emulator: Literal["netem"] | None = None
    retransmits: Retransmits | None = None
    buffer: Annotated[Quantity, Unit("B", spread=0.3, low=PACKET_B)] | None = None
    mtu: Annotated[Annotated[Quantity, Unit("B", low=256, high=65535, plain=True)] | None, _SMALL] = None
    background: _Taken = None
    firewall: Annotated[Firewall, Pick(Firewall)] | None = None
    policer: Annotated[Policer, Pick(Policer)] | None = None
    boxes: dict[str, Annotated[Middlebox, Pick(Middlebox)]] = Field(default_factory=dict)
    between: tuple[str, str] | None = None
    medium: media.Medium | None = None
    _jumbo_ends: bool = PrivateAttr(default=False)

    @model_validator(mode="after")
    def _of_its_kind(self) -> Self:
        self._take_what_is_usual()
        return self

    def _take_what_is_usual(self) -> None:
        """A loss and a round trip that nobody states are those of the medium."""
        if "loss" not in self.model_fields_set:
            self.__dict__["loss"] = ideally("0", self.priors.loss)
        if "rtt" not in self.model_fields_set and self.medium is not None:
            usual = media.RTTS[self.medium]  # what is far away is not near at best
            self.__dict__["rtt"] = replace(usual, typical=usual) if self.medium in media.FAR else ideally("0 s", usual)

    def between_jumbo_ends(self) -> Self:
        """This segment, knowing that the frames of its ends are stated to be jumbo."""
        self._jumbo_ends = True
        self._take_what_is_usual()
        return self

    def crossed(self, payload_B: float, tested_s: float) -> Self:
        """This segment, whose daily wave is the mean over the time that so many bytes, or a test, take there."""
        if self.background is None or not self.background.diurnal.value:
            return self
        load = self.background.beside(payload_B / self.bandwidth.value / 3600, tested_s / 3600)
        return self.model_copy(update={"background": load})

    def _priors(self, rtt_s: float) -> media.Priors:
        stated = self._jumbo_ends or self.mtu is not None
        return media.priors(self.medium, rtt_s, jumbo=stated and self.jumbo)

    @property
    def priors(self) -> media.Priors:
        """Priors of segments of this medium."""
        return self._priors(self.rtt.value if self.medium == "satellite" else math.inf)

    @cached_property
    def usual_loss(self) -> Quantity:
        """The loss; where nobody states it, that of a segment of its length."""
        if self.loss.typical is None or self.rtt.several:
            return self.loss
        return replace(self.loss, typical=media.lost(self.loss.typical, self.medium, self.rtt.value))

    @cached_property
    def unstated_share(self) -> Quantity:
        """Other people's share of a segment that nobody has measured."""
        share = self._priors(self.rtt.value).share
        return replace(ideally("0", share), key="other traffic")

    @cached_property
    def unstated_buffer(self) -> Quantity:
        """Queue in front of a segment that nobody has described."""
        return replace(ideally("16 MB", self.priors.buffer), value=math.inf, key="buffers")

    @property
    def could_jumbo(self) -> bool:
        """Whether networks of its kind and rate can be set to pass jumbo frames."""
        return self.medium not in media.PLAIN and self.bandwidth.value >= JUMBO_Bps

    @property
    def jumbo(self) -> bool:
        """Whether jumbo frames may pass, as far as anybody says."""
        return self.could_jumbo if self.mtu is None else self.mtu.value >= JUMBO_B

    @property
    def shared(self) -> bool:
        """Whether others may use it: as long as nobody says that they take nothing of it."""
        return self.background is None or self.background.share.value > 0

    def share_taken(self, draw: Draw) -> Term | None:
        """Share of it that others take; where nobody says, none at the median, and what is usual in scenarios."""
        if self.background is not None:
            return self.background.share_taken(draw)
        return minimum(parameter(draw, self.unstated_share), term(physics.MOST_TAKEN)) if draw.samples else None

    @cached_property
    def resent(self) -> Quantity | None:
        """The loss that retransmits imply: one and the same quantity each time."""
        mtu = self.mtu.value if self.mtu is not None else PACKET_B
        return None if self.retransmits is None else self.retransmits.loss(mtu - HEADERS_B)

    @cached_property
    def started(self) -> float:
        """The part of the segments sent again that slow starts may have lost by themselves [1]."""
        if self.retransmits is None or self.retransmits.count == 0:
            return 0.0
        rate, rtt, mtu = self.bandwidth.value, self.rtt.value, PACKET_B if self.mtu is None else self.mtu.value
        queue = rate * rtt if self.buffer is None else self.buffer.value  # a pipe's worth: Villamizar and Song 1994
        lost = self.retransmits.starts * float(lossy.of_start(rate, rtt, queue, mtu - HEADERS_B))
        return min(lost / self.retransmits.count, 1.0)

    def losses(self, draw: Draw) -> tuple[Value, Value]:
        """Mean loss of packets, and the mean length of a burst of them [1]."""
        losses: list[tuple[Value, Value]] = []
        if self.loss.typical is None or (self.bursts is None and self.resent is None):
            usual = draw(self.usual_loss)
            met = usual if self.loss.typical is None else np.minimum(usual * draw(self.priors.runs), MOST_LOST)
            losses.append((met, 1.0))
        if self.bursts is not None:
            losses.append((draw(self.bursts.rate), np.maximum(draw(self.bursts.length), 1.0)))
        if self.resent is not None:
            losses.append((draw(self.resent) * (1.0 - draw(_STARTS) * self.started), 1.0))
        return lossy.together([f[0] for f in losses], [f[1] for f in losses])


def segment_names(segments: list[Segment]) -> list[str]:
    """Names of the segments of a plain path: ``wan``, or of several each its part's name, or its key (``wan.0``)."""
    if len(segments) == 1:
        return ["wan"]
    parts = [s.part for s in segments]
    return [p if p is not None and parts.count(p) == 1 else f"wan.{i}" for i, p in enumerate(parts)]
