"""Window limits: what socket buffers, autotuning and the receive window allow in flight, and a sender's lead."""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray
from dtnsim.physics.tcp import linux

SOCKBUF_DOUBLING: Final = 2.0  #: Linux setsockopt(2): SO_RCVBUF and SO_SNDBUF are doubled for bookkeeping
MOST_WINDOW_B: Final = 2.0**30  #: RFC 7323, section 2.3: a shift of at most 14 keeps windows under 2^30
MOST_SYSCTL_B: Final = 2.0**31 - 1  #: sysctl tcp_rmem and tcp_wmem are signed 32-bit numbers


def window_rate(window_B: ArrayLike, rtt_s: ArrayLike) -> FloatArray:
    """One window each round trip: X = W / T.

    Args:
        window_B: Bytes in flight that the smallest of cwnd, receive and send window allows [B].
        rtt_s: Round-trip time, queueing included [s].

    Returns:
        Goodput [B/s].

    Valid: any.
    Neglects: the gap between windows of a sender that stops and waits.
    Source: Little's law; fasterdata.es.net: 64 KiB at 10 ms gives about 50 Mb/s.
    """
    with np.errstate(divide="ignore"):
        return np.asarray(np.asarray(window_B, float) / np.asarray(rtt_s, float), float)


def autotuned_window(buffer_B: ArrayLike, share: ArrayLike) -> FloatArray:
    """Most payload in flight that one end's autotuned buffer allows.

    Args:
        buffer_B: Third value of net.ipv4.tcp_rmem at the receiver, of net.ipv4.tcp_wmem at the sender [B].
        share: Part of that buffer that is window (`linux.receive_share`, `linux.send_share`) [1].

    Returns:
        Window [B].

    Valid: Linux 2.6.17 and later.
    Neglects: that the ratio differs from packet to packet.
    Source: Linux Documentation/networking/ip-sysctl.rst, tcp_adv_win_scale, tcp_rmem, tcp_wmem.
    """
    return np.asarray(np.asarray(buffer_B, float) * np.asarray(share, float), float)


def fixed_window(
    sockbuf_B: ArrayLike, share: ArrayLike, most_B: ArrayLike = np.inf, doubling: float = SOCKBUF_DOUBLING
) -> FloatArray:
    """Window of a socket buffer set with SO_RCVBUF or SO_SNDBUF (iperf3 -w): cut, doubled, then its share.

    Args:
        sockbuf_B: What the program asks for [B].
        share: Part of the buffer that is window (`linux.receive_share`, `linux.send_share`) [1].
        most_B: What it is cut to (net.core.rmem_max at the receiver, net.core.wmem_max at the sender) [B].
        doubling: What becomes of each byte asked for; one where no bookkeeping is counted (other systems) [1].

    Returns:
        Window [B].

    Valid: Linux; setting the size switches autotuning off.
    Neglects: that the ratio differs from packet to packet; that BSD refuses sizes above kern.ipc.maxsockbuf.
    Source: socket(7), SO_RCVBUF; net/core/sock.c, sk_setsockopt: min(val, sysctl_rmem_max) * 2.
    """
    size = np.minimum(np.asarray(sockbuf_B, float), np.asarray(most_B, float))
    return np.asarray(size * doubling * np.asarray(share, float), float)


def in_flight(window_B: ArrayLike, mss_B: ArrayLike) -> FloatArray:
    """Payload in flight that a window allows: no more than 1 GiB, less the pair of segments a delayed ACK holds back.

    Args:
        window_B: Receive window [B].
        mss_B: Segment payload [B].

    Returns:
        Window in flight [B], at least two segments.

    Valid: Linux.
    Neglects: a slow reader.
    Source: RFC 7323 section 2.3 (2^30); RFC 1122 section 4.2.3.2 (the pair).
    """
    mss = np.asarray(mss_B, float)
    size = np.minimum(np.asarray(window_B, float), MOST_WINDOW_B)
    return np.asarray(np.maximum(size - 2 * mss, 2 * mss), float)


#: how often a window counts what has come behind a hole: as not acknowledged yet, and at a receiver as memory taken
SENDER: Final = 1.0
RECEIVER: Final = 2.0


def spanned(flight: ArrayLike, loss: ArrayLike, counted: ArrayLike) -> FloatArray:
    """Window that a flight needs under random loss: what came behind a hole stays in it until the hole is filled.

    Segments that are lost come a round trip later, those lost twice after two. The oldest of them is, in the mean over
    time, G round trips older than it would be:

        W = f (1 + n G),  G = 1 - e^(-p^2 f) (1 - e^(-p f)) / (p f) + 1 - (1 - e^(-p^2 f)) / (p^2 f).

    Args:
        flight: f, segments in flight [segments].
        loss: p, losses of segments that are sent [1].
        counted: n, `SENDER` or `RECEIVER` [1].

    Returns:
        W; f without loss, 2 f (sender) or 3 f (receiver) where each flight has many holes, more where some of them are
        lost again [segments].

    Valid: controls that hold their rate in spite of losses (BBR); those that go by losses have a window of about
        p^(-1/2), so that p W is much less than one where another window holds them.
    Neglects: time that it takes to notice a loss; segments lost three times; time-outs; memory of packets that are not
        full.
    Source: net/ipv4/tcp_output.c, __tcp_select_window (tcp_space: the receive buffer less sk_rmem_alloc, which has the
        out-of-order queue); RFC 9293, section 3.8.6 (windows begin at the oldest byte that is not acknowledged).
        net/ipv4/tcp_input.c, tcp_rcv_space_adjust: twice what comes in a round trip is "the minimal window to cope with
        packet losses". Own runs, Linux 6.18, BBR, 100 Mb/s, measured over derived: buffers of 2 MiB over 200 ms at 0.1
        and 1 % of loss, receiver 0.99 and 1.03, sender 1.00 and 1.02; 1 MiB over 60 ms at 0.3 and 2 %, receiver 0.97
        and 1.04, sender 0.96 and 1.02.
    """
    f, p = np.asarray(flight, float), np.asarray(loss, float)
    once, twice = (np.where(part > 0, part, 1e-300) for part in (p * f, p * p * f))
    none, first, second = np.exp(-twice), np.expm1(-once) / once, np.expm1(-twice) / twice
    return np.asarray(f * (1 + np.asarray(counted, float) * np.where(p * f > 0, 2 + none * first + second, 0.0)), float)


def past_holes(window: ArrayLike, loss: ArrayLike, counted: float) -> FloatArray:
    """Flight that a window allows under random loss: inverse of `spanned`.

    Args:
        window: W, least window from the oldest byte that is not acknowledged [segments].
        loss: p, losses of segments that are sent [1].
        counted: `SENDER` or `RECEIVER` [1].

    Returns:
        Flight in the mean over time [segments].

    Valid: as `spanned`.
    Neglects: as `spanned`.
    Source: `spanned`; each of the rounds leaves less than half of the error of the one before.
    """
    size, p = np.broadcast_arrays(np.asarray(window, float), np.asarray(loss, float))
    flight, lossy = np.array(size), (p > 0) & np.isfinite(size) & (size > 0)
    if lossy.any():
        for _ in range(60):
            flight[lossy] *= size[lossy] / spanned(flight[lossy], p[lossy], counted)
    return flight


def needed_buffer(rate_Bps: ArrayLike, rtt_s: ArrayLike, streams: ArrayLike, share: ArrayLike) -> FloatArray:
    """Socket memory (tcp_rmem[2], or tcp_wmem[2]) that one stream needs to carry its part of the rate.

    B = rate T / (streams share): twice the bandwidth-delay product with a share of one half.

    Args:
        rate_Bps: Rate of the whole transfer [B/s].
        rtt_s: Round-trip time [s].
        streams: Parallel streams that share the rate.
        share: Part of the buffer that is window (`linux.receive_share`, `linux.send_share`) [1].

    Returns:
        Buffer of one stream [B].

    Valid: any.
    Neglects: queueing, which makes the round trip longer; memory pressure.
    Source: fasterdata.es.net host tuning (twice the BDP).
    """
    bdp = np.asarray(rate_Bps, float) * np.asarray(rtt_s, float)
    return np.asarray(bdp / (np.asarray(streams, float) * np.asarray(share, float)), float)


def of_trains(
    window: ArrayLike, buffer: ArrayLike, packet: ArrayLike, trip_s: ArrayLike, rate: ArrayLike, streams: ArrayLike
) -> FloatArray:
    """Mean flight under a receive window that is nearly as large as the sender's buffer: two trains a round trip.

    A writer that found its buffer F full sleeps until a third of it is acknowledged, then writes until no other packet
    of 64 KiB may be begun: c = F / 3 + p a waking. Two such trains are a little more than the h = 2 F / 3 that are in
    flight when it wakes again, so that it does once 2 c - h of the older one are acknowledged, and there are no three:

        W' = min(W, 2 c / (1 + (2 c - h) / (C T))).

    Args:
        window: W, what receive and congestion window let in flight [segments].
        buffer: F, what the sender's buffer holds; infinite where it never binds [segments].
        packet: p, a packet before segmentation [segments].
        trip_s: T, round-trip time without queue [s].
        rate: C, rate of the bottleneck [segments/s].
        streams: Streams that are alike.

    Returns:
        Mean flight; W where F never binds, or the streams fill the path all the same [segments].

    Valid: Linux; W up to F, programs that always have something to write, controls that go by losses. Not iperf3, which
        writes ten times without blocking: 309 runs of calibration/wan-truth over more than 100 ms (Linux 4.15, W of
        0.79 F) have 0.96 of W in flight (0.93 to 0.99), own runs (6.18, W of 0.95 F) 0.81 of F.
    Neglects: trains of several streams that meet.
    Source: include/net/sock.h, sk_stream_min_wspace; net/core/stream.c, sk_stream_write_space: a writer that waits is
        woken when half of what is queued is free. Own runs, Linux 6.18, 6 and 4 MiB, 200 Mb/s, part of F: 150 ms 0.66
        (0.67 derived), 300 ms 0.685 (0.685), with TCP_NODELAY 0.686, paced 0.66; 1 MB over 300 ms 0.82 (0.78).
    """
    W, F, p, T, C, n = (np.asarray(x, float) for x in (window, buffer, packet, trip_s, rate, streams))
    with np.errstate(invalid="ignore"):
        trains = 2 * (F / 3 + p)
        flight = np.minimum(W, trains / (1 + (trains - linux.WOKEN_SHARE * F) / (C * T)))
        return np.where(np.isfinite(F) & (n * flight < C * T), flight, W)


SEND_BUFFER_WINDOWS = 2.0  #: windows that Linux lets an autotuned send buffer hold: one in flight, one to go on with


def ahead_of_arrival(rate: ArrayLike, rtt: ArrayLike, streams: ArrayLike, window: ArrayLike) -> FloatArray:
    """Bytes that a sender has handed to its sockets and that are not acknowledged yet.

    ahead = n min(2 W, W_max), W = x rtt / n: an autotuned send buffer grows to twice the congestion window, a buffer
    of fixed size holds what it holds.

    Args:
        rate: x, rate of all streams together [B/s].
        rtt: Round-trip time [s].
        streams: n, number of streams [1].
        window: W_max, most payload that one stream's buffers hold [B].

    Returns:
        Bytes that the sender of a timed test counts and its receiver does not [B].

    Valid: streams that the application keeps supplied until the end.
    Neglects: what the receiver's socket holds unread; the queue at the bottleneck, which lengthens the round trip.
    Source: Linux net/ipv4/tcp_input.c tcp_sndbuf_expand ("sndmem = 2 * per_mss * nr_segs": Fast Recovery needs
        twice the window); esnet/iperf iperf_api.c (sender's and receiver's bytes are counted at the socket calls).
    """
    x, n = np.asarray(rate, float), np.asarray(streams, float)
    each = x * np.asarray(rtt, float) / n
    ahead = np.minimum(SEND_BUFFER_WINDOWS * each, np.maximum(np.asarray(window, float), each))
    return np.asarray(n * ahead, float)


def gained_in_flights(flights: ArrayLike, rtt: ArrayLike, held: ArrayLike) -> FloatArray:
    """Time that a file takes less than at a window a round trip, where its sender waits before the next one.

    The window is free when a file begins and goes at once: of F / W flights all but the last take a round trip, and the
    last what the rest of the way takes for its bytes. g = (x - ceil(x) + 1) T (1 - h).

    Args:
        flights: x = F / W, a file over what is in flight on average [1].
        rtt: T, round-trip time [s].
        held: h, a window a round trip over the rate of the rest of the way [1].

    Returns:
        Time, at most a round trip [s].

    Valid: connections that stay open, have opened up, and that nothing paces.
    Neglects: how a window swings that losses hold; flights of several connections that meet.
    Source: RFC 9293, section 3.8.6 (the window slides with acknowledgments). Own runs, curl over one connection, 60 ms,
        200 Mb/s, 1 MiB of buffers, round trips a file: 600 kB 1.5 (1.42; 1.93 at a window a round trip), 800 kB 2.2
        (2.1), 1.2 MB 2.56 (2.38; 2.86), 3.2 MB 5.64 (5.65; 5.95).
    """
    x = np.maximum(np.asarray(flights, float), 0.0)
    return np.asarray((x - np.ceil(x) + 1) * np.asarray(rtt, float) * np.clip(1 - np.asarray(held, float), 0, 1))
