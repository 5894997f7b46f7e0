"""Loss as people have it: random, in bursts (Gilbert), or as a count of retransmits; and several places in series."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray
from dtnsim.physics.network import path_loss
from dtnsim.physics.tcp import controls, linux

#: factor (one standard deviation) between retransmits and the loss that they imply: they count spurious ones and those
#: of TCP's own overshoot, and hide bursts: a factor of 3 either way
RETRANSMIT_SPREAD: Final = 1.5

#: repetitions until rate and burst agree: CUBIC's rate grows with the burst to the power of 0.75, 0.75^40 is 1e-5
_TURNS: Final = 40


def events(loss: ArrayLike, burst: ArrayLike = 1.0) -> FloatArray:
    """Loss events per packet of a Gilbert channel: mean loss over mean length of a burst.

    Args:
        loss: Mean loss [1].
        burst: Mean length of a burst [packets].

    Returns:
        Events per packet [1]; a burst within a round trip costs a window reduction once.

    Valid: bursts shorter than a window.
    Neglects: bursts that a round trip divides.
    Source: Gilbert 1960; RFC 6675 (one reduction a window).
    """
    return np.asarray(np.asarray(loss, float) / np.maximum(np.asarray(burst, float), 1.0), float)


def together(losses: Sequence[ArrayLike], bursts: Sequence[ArrayLike]) -> tuple[FloatArray, FloatArray]:
    """Mean loss and mean burst of places in series: what passes multiplies, events add.

    Args:
        losses: Mean loss of each place [1].
        bursts: Mean burst of each [packets].

    Returns:
        (mean loss [1], mean burst [packets], 1 where nothing is lost).

    Valid: independent places.
    Neglects: packets that two places would lose.
    Source: products of independent chances of passing; loss over events a packet (Gilbert 1960).
    """
    lost = path_loss(np.stack(np.broadcast_arrays(0.0, *losses), axis=-1))
    happen = sum((events(*place) for place in zip(losses, bursts, strict=True)), np.zeros(()))
    return lost, np.where(happen > 0, np.maximum(lost / np.maximum(happen, 1e-300), 1.0), 1.0)


def of_whole_bursts(loss: ArrayLike, rtt_s: ArrayLike, mss_B: ArrayLike, most_Bps: ArrayLike, cc: str) -> FloatArray:
    """Segments that netem drops at once at a Linux sender: all that TSO hands down in one piece, or none of them.

    The piece follows from the rate (`linux.burst_segments`), and the rate from its loss events, p / N a segment: the
    pair that agrees with itself.

    Args:
        loss: Chance of a piece p, which is the mean loss of segments [1].
        rtt_s: Round-trip time [s].
        mss_B: Segment payload [B].
        most_Bps: What else leaves one stream: link, window [B/s].
        cc: Congestion control.

    Returns:
        Length of a burst N [segments], 2 at least; they broadcast.

    Valid: Linux from 3.12 on (TSO autosizing), segmentation offload, netem at the sender, or behind a Linux host that
        joins packets (GRO); no `corrupt`, which since 4.6 splits the pieces.
    Neglects: segments that are sent again alone; other losses of the path, which take one segment each.
    Source: net/sched/sch_netem.c: netem_enqueue (loss_event drops an sk_buff; only `corrupt` calls netem_segment).
    """
    p, rtt, mss, most = np.broadcast_arrays(*(np.asarray(values, float) for values in (loss, rtt_s, mss_B, most_Bps)))
    control = controls.find(cc)
    ratio = linux.PACING_AVOIDANCE if control.by_loss else 1.0
    burst = np.full(p.shape, 2.0)
    for _ in range(_TURNS):
        rate = np.minimum(control.response(events(p, burst), rtt, mss, most), most)
        burst = linux.burst_segments(rate / mss, rtt, mss, rate * rtt / mss, ratio)
    return burst


def of_retransmits(retransmits: ArrayLike, moved_B: ArrayLike, mss_B: ArrayLike = 1448.0) -> FloatArray:
    """Loss that a count of retransmitted segments implies: retransmits over segments sent.

    Args:
        retransmits: Segments sent again (iperf3's Retr, `ss -ti`, `netstat -s`).
        moved_B: Payload that was moved meanwhile [B].
        mss_B: Payload of a segment [B].

    Returns:
        Loss [1], with the relative spread `RETRANSMIT_SPREAD`.

    Valid: more than ten retransmits, long after slow start; of a whole run it is the most (`of_start`).
    Neglects: what of them later rounds of TCP's own overshoot caused at the bottleneck, which is no property of the
        path; spurious retransmits; that they come in bursts.
    Source: definition; RFC 6349 section 4.4 (TCP efficiency: transmitted less retransmitted bytes).
    """
    segments = np.asarray(moved_B, float) / np.asarray(mss_B, float)
    again = np.asarray(retransmits, float)
    return np.asarray(np.minimum(again / np.maximum(segments + again, 1.0), 0.5), float)


def of_start(rate_Bps: ArrayLike, rtt_s: ArrayLike, buffer_B: ArrayLike, mss_B: ArrayLike = 1448.0) -> FloatArray:
    """Segments that a slow start loses by itself at most: the pipe and its queue once more, (C T + B) / MSS.

    The window doubles each round trip, and is twice what pipe and queue hold when the first loss is heard of.

    Args:
        rate_Bps: Rate of the narrowest place C [B/s].
        rtt_s: Round-trip time without queueing T [s].
        buffer_B: Queue in front of it that drops what does not fit B [B].
        mss_B: Payload of a segment [B].

    Returns:
        Segments of all streams that start together [1].

    Valid: loss-based controls, drop-tail, a hundred segments and more; streams of one run share pipe and queue.
    Neglects: HyStart, and a sender's own port that is no wider than the path, which holds it back: both lose less;
        rounds after it, which lose more than this where pipe and queue hold less than a hundred segments; BBR, which
        lost up to nine times as much.
    Source: derived from RFC 5681, section 3.1; RFC 9406, section 1 (slow start overshoots). calibration/tcp-truth, the
        first seconds of runs without loss: Reno 1.0 to 1.05 of it with a queue of one pipe and more, CUBIC 0 to 0.8.
    """
    pipe_B = np.asarray(rate_Bps, float) * np.asarray(rtt_s, float) + np.asarray(buffer_B, float)
    return np.asarray(pipe_B / np.asarray(mss_B, float), float)
