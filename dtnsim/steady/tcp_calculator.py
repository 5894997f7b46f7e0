"""The TCP calculator as a call: goodput over one bottleneck, with interval and reason."""

import math
from dataclasses import dataclass, replace

from dtnsim.ground import units
from dtnsim.ground.errors import InputError
from dtnsim.ground.uncertainty import Interval
from dtnsim.physics.tcp import controls, window
from dtnsim.physics.tcp.rate_over_time import answers
from dtnsim.physics.tcp.rounds import LEAST_BUFFER, SHALLOW_B
from dtnsim.physics.tcp.setting import ETHERNET_B, Setting

Given = str | float


@dataclass(frozen=True, slots=True)
class TcpAnswer:
    """What streams get over one bottleneck."""

    goodput_Bps: Interval  #: Payload of all streams together [B/s].
    completion_s: Interval | None  #: Time of a transfer of given size [s]; None where a time was given.
    limit: str  #: What holds it: link, window, loss, buffer, start or sharing.
    link_Bps: float  #: Payload that the link leaves [B/s].
    window_needed_B: float  #: Payload in flight that each stream needs to fill the link [B].
    retransmits: float  #: Segments sent again.
    rtt_s: float  #: Mean round trip, with queues [s].


def tcp(
    rate: Given,
    rtt: Given,
    *,
    loss: Given = 0.0,
    streams: int = 1,
    cc: str = "cubic",
    buffer: Given | None = None,
    mtu: int = 1500,
    window_each: Given | None = None,
    background: Given = 0.0,
    duration: Given = 30.0,
    size: Given | None = None,
    ethernet: bool = True,
    pacing: bool = False,
    seed: int = 1,
) -> TcpAnswer:
    """Goodput of TCP streams over one bottleneck: what ``dtnsim tcp`` says.

    Args:
        rate: Rate of the bottleneck on the wire: ``"10 Gb/s"``, or a number [B/s].
        rtt: Round trip without queues: ``"50 ms"``, or a number [s].
        loss: Random loss of packets [1].
        streams: Streams at once.
        cc: Congestion control, a name of `dtnsim.physics.tcp.controls`.
        buffer: Buffer of the bottleneck [B], or ``"0.5bdp"``; where left out one bandwidth-delay product, and no less
            than a shallow switch has.
        mtu: IP packet size [B].
        window_each: Most payload of a stream in flight [B]; what TCP allows where left out.
        background: Share of the rate taken by traffic that does not yield [1].
        duration: Length of the transfer [s].
        size: Size of the transfer [B], instead of its length.
        ethernet: Whether the rate is that of the wire, with framing, as those of a path are; else it counts IP packets.
        pacing: Whether the sender spaces its packets (fq, or a pacing rate).
        seed: Seed of the draws.

    Returns:
        The `TcpAnswer`.

    Raises:
        InputError: a text that cannot be read, a number that is none, or an algorithm that is not known.
    """
    inputs = setting(rate, rtt, cc, streams, buffer, mtu, background, duration=duration, size=size, ethernet=ethernet)
    most = math.inf if window_each is None else positive("window_each", window_each, "B")
    inputs = replace(inputs, loss=share("loss", loss), window_B=min(most, window.MOST_WINDOW_B), paced=pacing)
    o, _ = answers([inputs], seed=seed)
    done = float(o.completion_s[0])
    completion = Interval(float(o.completion_p10_s[0]), done, float(o.completion_p90_s[0]))
    return TcpAnswer(
        Interval(float(o.goodput_p10_Bps[0]), float(o.goodput_p50_Bps[0]), float(o.goodput_p90_Bps[0])),
        completion if math.isfinite(done) else None,
        str(o.limit[0]),
        inputs.link_Bps,
        inputs.link_Bps * inputs.rtt_s / streams,
        float(o.retransmits[0]),
        float(o.trip_s[0]),
    )


def setting(
    rate: Given, rtt: Given, cc: str, streams: int, buffer: Given | None, mtu: int, background: Given, *,
    duration: Given, size: Given | None, ethernet: bool, option: str = "",
) -> Setting:  # fmt: skip
    """The bottleneck of `tcp` and of the command, without loss and windows.

    Args:
        rate: Rate of the bottleneck [B/s].
        rtt: Round trip without queues [s].
        cc: A name of `dtnsim.physics.tcp.controls`.
        streams: Streams at once.
        buffer: [B], or a text of bandwidth-delay products; where left out one, and no less than a shallow switch has.
        mtu: IP packet size [B].
        background: Share of the rate taken by traffic that does not yield [1].
        duration: Length of the transfer [s].
        size: Its size instead [B].
        ethernet: Whether the rate is that of the wire.
        option: What stands before the names in a refusal (``--``).
    """
    if cc not in controls.names():
        raise InputError(f"{option}cc: {cc!r} is not known; write {', '.join(controls.names())}")
    if streams < 1:
        raise InputError(f"{option}streams: {streams} is none; write 1 or more")
    bottleneck = positive(f"{option}rate", rate, "B/s") * Setting.ip_share(mtu, ethernet=ethernet)
    trip = positive(f"{option}rtt", rtt, "s", 100.0)
    if buffer is None:
        queue = max(bottleneck * trip, SHALLOW_B)
    elif isinstance(buffer, str) and buffer.strip().lower().endswith("bdp"):
        queue = share(f"{option}buffer", buffer.strip()[:-3] or "1", 1e6) * bottleneck * trip
    else:
        queue = positive(f"{option}buffer", buffer, "B")
    traffic, lasts = share(f"{option}background", background), positive(f"{option}duration", duration, "s")
    return Setting(
        bottleneck, trip, 0.0, float(mtu), max(queue, LEAST_BUFFER * mtu), streams, cc, math.inf, traffic,
        size_B=math.inf if size is None else positive(f"{option}size", size, "B"), duration_s=lasts,
        framing_B=ETHERNET_B if ethernet else 0.0,
    )  # fmt: skip


def positive(name: str, number: Given, dimension: str, most: float = 1e18) -> float:
    """A positive number in SI, or a text with its unit.

    Args:
        name: What it is called in a refusal.
        number: The number, or the text.
        dimension: Its unit (a key of `EXAMPLES`).
        most: Largest that is meant [SI].
    """
    value = units.of_option(name, number, dimension) if isinstance(number, str) else float(number)
    if most < value < math.inf:
        raise InputError(f"{name}: {number!r} is not from above 0 to {units.show(most, dimension)}")
    if not math.isfinite(value) or value <= 0:
        raise InputError(f"{name}: {number!r} is not positive; write it like {units.EXAMPLES[dimension]}")
    return value


def share(name: str, number: Given, most: float = 1.0) -> float:
    """A share from 0 to below ``most``.

    Args:
        name: Of the option, for errors.
        number: The share, or its text.
        most: The least that is refused.
    """
    value = units.of_option(name, number, "1") if isinstance(number, str) else float(number)
    if not 0 <= value < most:
        raise InputError(f"{name}: {number!r} is not a share from 0 to below {most:g}; write it like 1e-5 or 0.01 %")
    return value
