"""BBR flows that have a bottleneck to themselves: start-up, cruise, ProbeRTT, in closed form by event.

BBR v1 paces at its estimate of the bottleneck's rate, so that its goodput follows from few things: the
exponential start-up, the link, the window limit, the losses, and a pause of about 200 ms + T every ten
seconds in which it looks for the least round trip.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import BoolArray, FloatArray, IntArray
from dtnsim.physics.tcp import _chance, coefficients as known, linux
from dtnsim.physics.tcp.controls.bbr import bbr3, collapse

PAUSES: Final = 64  #: pauses that are drawn; later ones come at their mean


@dataclass(frozen=True, slots=True)
class Flows:
    """BBR transfers, one a lane; all arrays (lanes,)."""

    C: FloatArray  #: Rate left by the background [segments/s].
    T: FloatArray  #: Base round-trip time, hosts included [s].
    B: FloatArray  #: Drop-tail buffer left by the background [segments].
    lost: FloatArray  #: Random loss [1].
    cap: FloatArray  #: Most segments in flight a stream may have.
    streams: FloatArray  #: Streams of the transfer.
    mss: FloatArray  #: Segment payload [B].
    start: FloatArray  #: Time of the first segment [s].
    background: FloatArray  #: Part of the rate that the background takes [1].
    bounded: BoolArray  #: Whether it bounds what is in flight (v2 and v3).
    replica: IntArray  #: Number of the run of its case.
    seed: int = 1  #: Seed of the draws.


def cruise(f: Flows) -> FloatArray:
    """Goodput between the pauses [segments/s].

    Args:
        f: The flows.

    Returns:
        (lanes,) rate of all streams.

    Valid: paths of a few segments and more; loss under 15 %.
    Neglects: competing flows that yield (see `shared`).
    Source: net/ipv4/tcp_bbr.c; coefficients `BBR_ROOM`, `BBR_PUSH`.
    """
    link = f.C * np.minimum(1.0, known.BBR_ROOM.value * f.B / burst(f))
    link = link + _pushed(f)
    lump = linux.burst_segments(f.C / f.streams, f.T, f.mss, np.inf, 1.0)
    window = f.streams * f.cap / (f.T + (lump - 1) / (2 * f.C))
    first = np.minimum(link * collapse(f.lost), window) * (1 - f.lost)
    later = bbr3(f.lost, f.T, 1.0, link / f.streams) * f.streams
    return np.asarray(np.where(f.bounded, np.minimum(later, window), first), float)


def burst(f: Flows) -> FloatArray:
    """Segments that reach the buffer in one piece: TSO's, at most a third of the window of 2 BDP + 3 bursts (lanes,).

    On round trips of a few milliseconds they are 3 to 6 segments at any rate (tcp_tso_rtt_log): what of them finds
    no room in a buffer of 4 to 8 packets is lost, and BBR's estimate of the rate follows.
    """
    share = f.C / f.streams
    spaced = np.maximum(share / linux.BURSTS_PER_S, 2.0)
    window = linux.BBR_CWND_GAIN * share * f.T + 3 * spaced
    return linux.burst_segments(share, f.T, f.mss, window, 1.0)


def _pushed(f: Flows) -> FloatArray:
    """What BBR v1 takes from a background that does not yield, once its window fills the buffer.

    Its window of 2 BDP plus three bursts overfills a buffer of one BDP; the lasting loss l solves
    l x = 3 N / (2 T), and the background loses the same share.
    """
    bdp = f.C * f.T
    extra = 3 * linux.burst_segments(f.C / f.streams, f.T, f.mss, np.inf, 1.0)
    total = f.C / np.maximum(1 - f.background, 1e-9)
    loss = np.clip(extra / (2 * bdp), 0.0, 0.2)
    sent = total / (1 - loss) - f.background * total
    gain = np.maximum(sent * (1 - loss) - f.C, 0.0) * known.BBR_PUSH.value
    pushes = (f.background > 0) & (bdp + extra >= f.B) & ~f.bounded
    return np.asarray(np.where(pushes, gain, 0.0), float)


def pause(f: Flows) -> FloatArray:
    """Length of ProbeRTT in which nothing is delivered: the pipe drains, then 200 ms or a round [s]."""
    queue = np.minimum(np.where(f.streams > 1, np.minimum(f.B / f.C, f.T), 5e-3), f.B / f.C)
    return np.asarray(f.T + queue + np.maximum(linux.BBR_PROBE_RTT_S, f.T), float)


class Ramp:
    """The start until the cruise's rate is reached: two flights, then `n 2^(t/T)` segments after t, n = 7.9.

    Linux paces no connection's first ten segments (net/ipv4/tcp_output.c, tcp_update_skb_after_send); the twenty that
    their acknowledgments let out go at 2.89 windows a round trip (bbr_init_pacing_rate_from_rtt).
    """

    def __init__(self, f: Flows, rate: FloatArray) -> None:
        self.rate, self.T, self.start, self.n = rate, f.T, f.start, known.BBR_STARTUP.value * f.streams
        window = np.minimum(linux.INITIAL_WINDOW * f.streams, rate * f.T)
        self.link, self.first, self.pace = f.C, window, np.minimum(linux.BBR_HIGH_GAIN * window / f.T, f.C)
        self.both = window + np.minimum(2 * window, rate * f.T)
        self.until = f.T * np.log2(np.maximum(rate * f.T / (self.n * np.log(2)), 1.0))
        self.sent = self._early(self.until)

    def _early(self, age: FloatArray) -> FloatArray:
        """Segments delivered by then as long as the rate grows (lanes,)."""
        first = np.minimum(self.link * age, self.first)
        second = np.minimum(self.first + self.pace * (age - self.T), self.both)
        later = np.maximum(self.n * np.exp2(age / self.T), self.both)
        return np.asarray(np.select([age < self.T, age < 2 * self.T], [first, second], later))

    def delivered(self, t: FloatArray) -> FloatArray:
        """Segments delivered at t without any pause (lanes,)."""
        age = np.maximum(t - self.start, 0.0)
        early = self._early(np.minimum(age, self.until))
        return np.asarray(early + self.rate * np.maximum(age - self.until, 0.0), float)

    def time_of(self, segments: FloatArray) -> FloatArray:
        """Time at which so many segments have been delivered, without any pause (lanes,)."""
        second = self.T + (segments - self.first) / self.pace
        later = self.T * np.maximum(np.log2(segments / self.n), 2.0)
        early = np.select([segments <= self.first, segments <= self.both], [segments / self.link, second], later)
        late = self.until + (segments - self.sent) / self.rate
        return np.asarray(self.start + np.where(segments < self.sent, early, late), float)


def pauses(f: Flows) -> FloatArray:
    """Times at which the pauses begin, drawn (lanes, k) [s]; BBR v3 has its share in `controls.bbr`.

    A pause comes ten seconds after the least round trip was last seen; seeing it again in between, which
    grows likelier with few round trips in ten seconds, puts it off.
    """
    number = np.arange(PAUSES)
    draws = [_chance.uniform(f.seed, _chance.PAUSE, number, half, f.replica[:, None]) for half in (0, 1)]
    late = np.cumsum((draws[0] < _refreshed(f)[:, None]) * draws[1], axis=1) * linux.BBR_MIN_RTT_S
    first = (f.start + 2 * f.T)[:, None]
    times = first + late + linux.BBR_MIN_RTT_S * (number + 1) + pause(f)[:, None] * number
    return np.asarray(np.where(f.bounded[:, None], np.inf, times), float)


def delivered(f: Flows, marks: FloatArray) -> FloatArray:
    """Segments delivered at the marks (lanes, M), pauses taken off."""
    rate = cruise(f)
    course = Ramp(f, rate)
    begin, length = pauses(f), pause(f)
    idle = 4 * f.streams / f.T
    out = np.empty(marks.shape)
    for k in range(marks.shape[1]):
        t = marks[:, k]
        quiet = np.clip(t[:, None] - begin, 0.0, length[:, None]).sum(axis=1)
        quiet = quiet + _mean_pauses(f, t, begin)
        out[:, k] = course.delivered(t) - quiet * np.maximum(rate - idle, 0.0)
    return out


def _refreshed(f: Flows) -> FloatArray:
    """Chance that a pause is put off, by half of its interval on average (lanes,)."""
    return np.asarray(np.minimum(0.5, known.BBR_REFRESH.value * (f.T / 0.01) ** 2), float)


def _mean_pauses(f: Flows, t: FloatArray, begin: FloatArray) -> FloatArray:
    """Pauses after the drawn ones, at their mean, until t (lanes,) [s]."""
    length = pause(f)
    last = np.where(np.isfinite(begin[:, -1]), begin[:, -1] + length, np.inf)
    spaced = linux.BBR_MIN_RTT_S * (1 + _refreshed(f) / 2) + length
    return np.asarray(np.maximum(t - last, 0.0) * length / spaced, float)


def completion(f: Flows, size: FloatArray) -> FloatArray:
    """Time at which the last of `size` segments has left the bottleneck (lanes,) [s].

    The start-up overfills buffers under two BDP; drops of the last rounds arrive two round trips later.
    """
    rate = cruise(f)
    course = Ramp(f, rate)
    end = course.time_of(size)
    begin, length = pauses(f), pause(f)
    for k in range(begin.shape[1]):
        end = end + np.where(begin[:, k] < end, length, 0.0)
    end = end + _mean_pauses(f, end, begin)
    return np.asarray(np.maximum(end, _repaired(f, course, size[:, None])[:, 0]), float)


def behind(f: Flows, segments: FloatArray, marks: FloatArray) -> FloatArray:
    """Until what start-up had dropped would have come, had what had been delivered by then been all [s].

    Args:
        f: The flows.
        segments: Delivered by the marks (lanes, M).
        marks: Times (lanes, M) [s].

    Source: as `completion`.
    """
    return np.asarray(np.maximum(_repaired(f, Ramp(f, cruise(f)), segments) - marks, 0.0), float)


def _repaired(f: Flows, course: Ramp, size: FloatArray) -> FloatArray:
    """When the drops of start-up have come, of transfers of so many segments (lanes, M); 0 where nothing drops [s]."""
    bdp = f.C * f.T
    fill = np.minimum(f.B, 2 * bdp)
    full = course.start + course.until + fill / f.C
    overfills = ((linux.BBR_HIGH_GAIN - 1) * bdp > f.B) & (course.rate > 0.95 * f.C)
    tail = _chance.uniform(f.seed, _chance.TAIL, 0, 0, f.replica) < known.TAIL_LOSS.value
    repaired = full + f.T + fill / f.C + f.T * (1 + tail)
    dropped = overfills[:, None] & (size > (course.sent + 2 * fill)[:, None])
    return np.asarray(np.where(dropped, repaired[:, None], 0.0), float)


def drops(f: Flows) -> FloatArray:
    """Share of what BBR v1 sends that the buffer drops while it cruises.

    A stream alone probes with 5/4 of its rate in one round trip of eight, and a quarter of a BDP has to find room.
    Beside others it takes more for its rate than it has: each keeps the most that a probe brought, so that
    S + S / (4 N) + background = 5/4 of the link, until the windows of 2 BDP and three bursts each are in flight.

    Args:
        f: The flows.

    Returns:
        (lanes,) share of the segments sent [1]; 0 for v2 and v3, whose bound on what is in flight keeps it below 2 %.

    Valid: streams of equal round trips.
    Neglects: bursts that find no room by themselves; streams that have not met yet.
    Source: net/ipv4/tcp_bbr.c (bbr_pacing_gain, bbr_inflight); Hock, Bless, Zitterbart, ICNP 2017, section III.
    """
    most, bdp, N = linux.BBR_CYCLE[0], f.C * f.T, f.streams
    probes = np.maximum(np.minimum(most * bdp, N * f.cap) - bdp - f.B, 0.0) / (len(linux.BBR_CYCLE) * bdp)
    total = f.C / np.maximum(1 - f.background, 1e-9)
    taken = (most * total - f.background * total) / (1 + (most - 1) / N)
    over = 1 - total / (taken + f.background * total)
    window = linux.BBR_CWND_GAIN * bdp + 3 * N * linux.burst_segments(f.C / N, f.T, f.mss, np.inf, 1.0)
    lasting = np.minimum(over, np.maximum(np.minimum(window, N * f.cap) - bdp - f.B, 0.0) / window)
    return np.asarray(np.where(f.bounded, 0.0, np.maximum(probes, lasting)), float)


def overshoot(f: Flows) -> FloatArray:
    """Segments that the start-up drops: about two BDP where the buffer holds less than 1.9 (lanes,)."""
    bdp = f.C * f.T
    return np.asarray(np.where((linux.BBR_HIGH_GAIN - 1) * bdp > f.B, 2 * bdp, 0.0), float)


def sent_in_start_up(segments: ArrayLike, rtt_s: ArrayLike, gain: float) -> FloatArray:
    """Time in which a start-up sends what fits in a flight, where its sender waits before the next: it never ends.

    An estimate of the rate is one flight over a round trip and the time s that it is sent in, b = n / (T + s), and the
    next is sent at g b but for its last pair, and half of the first, which idle time pays for: s = q T / (g - q).

    Args:
        segments: n, segments of a flight [1].
        rtt_s: T, round-trip time [s].
        gain: g, of start-up [1].

    Returns:
        Time; 0 for three segments or less [s].

    Valid: BBR v1 to v3 whose connection has sent ten segments and found no bottleneck, as only flights tell of that
        which the program does not end.
    Neglects: larger files between, that find it.
    Source: Linux net/ipv4/tcp_bbr.c (bbr_update_bw, bbr_check_full_bw_reached: what the application limits does not
        end start-up), net/ipv4/tcp_rate.c, tcp_output.c (tcp_update_skb_after_send). Own runs, curl over one
        connection, 100 ms and 50 Mb/s, round trips beside the answer's: 10 kB 0.22 (0.27), 20 kB 0.40 (0.38), 50 kB
        0.51 (0.47), 100 kB 0.52 to 0.55 (0.50), 200 kB over 60 ms and 200 Mb/s 0.53 (0.52).
    """
    unpaced = 3.0 / np.maximum(np.asarray(segments, float), 3.0)
    return np.asarray((1 - unpaced) * np.asarray(rtt_s, float) / (gain * linux.BBR_MARGIN - (1 - unpaced)))
