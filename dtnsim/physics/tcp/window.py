"""Window limits: what socket buffers, autotuning and the receive window allow in flight."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]

#: Share of a receive buffer that the kernel offers as window: tcp_adv_win_scale = 1 (Linux 3.5 to 6.5);
#: later kernels measure the ratio of payload to buffer memory, and begin at this value.
RECEIVE_SHARE: Final = 0.5
#: Linux setsockopt(2): SO_RCVBUF and SO_SNDBUF are doubled for bookkeeping
SOCKBUF_DOUBLING: Final = 2.0
#: Linux defaults of tcp_rmem[2] and tcp_wmem[2] in bytes where a distribution sets nothing
DEFAULT_RMEM_MAX_B: Final = 6 * 2**20
DEFAULT_WMEM_MAX_B: Final = 4 * 2**20


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


def autotuned_window(rmem_max_B: ArrayLike, wmem_max_B: ArrayLike = np.inf, share: float = RECEIVE_SHARE) -> FloatArray:
    """Largest window of an autotuned connection: the receiver's share of tcp_rmem[2], or tcp_wmem[2].

    Args:
        rmem_max_B: Third value of net.ipv4.tcp_rmem at the receiver [B].
        wmem_max_B: Third value of net.ipv4.tcp_wmem at the sender [B].
        share: Part of the receive buffer that is offered as window [1].

    Returns:
        Window [B].

    Valid: Linux 2.6.17 and later; share 0.5 (adv_win_scale 1), 0.75 (scale 2, older).
    Neglects: the ratio measured per connection since Linux 6.6 (see `rounds`).
    Source: Linux Documentation/networking/ip-sysctl.rst, tcp_adv_win_scale and tcp_rmem.
    """
    sender = np.asarray(wmem_max_B, float) * share
    return np.asarray(np.minimum(np.asarray(rmem_max_B, float) * share, sender), float)


def fixed_window(sockbuf_B: ArrayLike, share: float = RECEIVE_SHARE) -> FloatArray:
    """Window of a socket buffer set with SO_RCVBUF/SO_SNDBUF (iperf3 -w): doubled, then its share.

    Args:
        sockbuf_B: What the program asks for, within rmem_max and wmem_max [B].
        share: Part of the buffer that is offered as window [1].

    Returns:
        Window [B].

    Valid: Linux; setting the size switches autotuning off.
    Neglects: the ratio measured per connection since Linux 6.6 (see `rounds`).
    Source: socket(7), SO_RCVBUF; Linux Documentation/networking/ip-sysctl.rst.
    """
    return np.asarray(np.asarray(sockbuf_B, float) * SOCKBUF_DOUBLING * share, float)


def needed_buffer(
    rate_Bps: ArrayLike, rtt_s: ArrayLike, streams: ArrayLike = 1, share: float = RECEIVE_SHARE
) -> FloatArray:
    """Socket memory (tcp_rmem[2], tcp_wmem[2]) that one stream needs to carry its part of the rate.

    B = rate T / (streams share): twice the bandwidth-delay product with the usual half share.

    Args:
        rate_Bps: Rate of the whole transfer [B/s].
        rtt_s: Round-trip time [s].
        streams: Parallel streams that share the rate.
        share: Part of the buffer that is offered as window [1].

    Returns:
        Buffer of one stream [B].

    Valid: any.
    Neglects: queueing, which makes the round trip longer; memory pressure.
    Source: fasterdata.es.net host tuning (twice the BDP).
    """
    bdp = np.asarray(rate_Bps, float) * np.asarray(rtt_s, float)
    return np.asarray(bdp / (np.asarray(streams, float) * share), float)
