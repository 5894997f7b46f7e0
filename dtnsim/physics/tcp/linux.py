"""What the Linux sender and receiver do that no RFC fixes: bursts, pacing, thresholds, buffer shares.

Numbers are those of the kernel source (net/ipv4, version 6.18); each function says which file.
"""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray

#: share of a receive buffer that is window in kernels before these versions (ip-sysctl, tcp_adv_win_scale 2 and 1)
ADV_WIN_SHARES: Final = (((3, 4), 0.75), ((6, 6), 0.5))
#: most that a program gets of a buffer it asks for, in kernels before these versions and since (net/core/sock.c,
#: SK_RMEM_MAX: 256 packets of 488 B, then of 832 B; admin-guide/sysctl/net.rst: 4194304) [B]
GRANTED_B: Final = (((3, 2), 124928.0), ((6, 18), 212992.0), ((1000,), 4194304.0))
#: largest buffers to receive and to send where nobody raised them (net/ipv4/tcp.c, tcp_init: from 768 MB of memory) [B]
DEFAULT_B: Final = (6 * 2**20, 4 * 2**20)
#: the largest to receive since a version (the same; Documentation/networking/ip-sysctl.rst, tcp_rmem) [B]
RECEIVED_B: Final = ((6, 16), 32 * 2**20)
#: least and first size of a buffer, as tcp_rmem and tcp_wmem have them before the largest (the same) [B]
STARTS: Final = {"rmem": "4096 131072", "wmem": "4096 16384"}
NEWEST: Final = "6.18"  #: the kernel that answers where none is named
INITIAL_WINDOW: Final = 10.0  #: include/net/tcp.h: TCP_INIT_CWND [segments]
#: sysctl tcp_pacing_ss_ratio and tcp_pacing_ca_ratio
PACING_SLOW_START: Final = 2.0
PACING_AVOIDANCE: Final = 1.2
BURSTS_PER_S: Final = 1024.0  #: net/core/sock.c: sk_pacing_shift = 10, a burst is 1/1024 s of the pacing rate
#: include/net/tcp.h: GSO_LEGACY_MAX_SIZE; sysctl tcp_tso_rtt_log = 9; sysctl tcp_tso_win_divisor = 3
GSO_B: Final = 65536.0
TSO_RTT_UNIT_S: Final = 512e-6
TSO_WINDOW_SHARE: Final = 1 / 3
#: net/ipv4/tcp.c, tcp_stream_alloc_skb: SKB_TRUESIZE(MAX_TCP_HEADER) is charged for the packet that holds the payload:
#: headers 320 B, skb_shared_info 320 B, sk_buff 256 B
SKB_B: Final = 896.0
#: include/net/sock.h, sk_stream_min_wspace: a writer that waits is woken when half of what is queued is free again
WOKEN_SHARE: Final = 2 / 3
#: net/ipv4/tcp_cubic.c: beta, growth of the Reno-friendly window a round, update interval HZ/32,
#: floor of the growth before the first loss (cnt <= 20), least cnt
RENO_BETA: Final = 1 / 2
CUBIC_BETA: Final = 717 / 1024
CUBIC_FRIENDLY: Final = 8 / 15
CUBIC_UPDATE_S: Final = 1 / 32
CUBIC_FIRST_GROWTH: Final = 1 / 20
CUBIC_MOST_GROWTH: Final = 1 / 2
CUBIC_C: Final = 0.4
CUBIC_FAST_CONVERGENCE: Final = 0.85
#: net/ipv4/tcp_htcp.c: least and largest share kept (64/128 and 102/128); f(D) is scaled by T/0.1 s within these
HTCP_BETA: Final = (0.5, 0.8)
HTCP_SCALE_S: Final = 0.1
HTCP_SCALE: Final = (0.1, 2.0)
#: net/ipv4/tcp_scalable.c: one segment for so many acknowledged ones, and what is kept (Kelly 2003)
SCALABLE_COUNT: Final = 100.0
SCALABLE_BETA: Final = 7 / 8
#: net/ipv4/tcp_illinois.c: least and largest growth, least and largest cut, below this window as Reno
ILLINOIS_ALPHA: Final = (0.3, 10.0)
ILLINOIS_CUT: Final = (1 / 8, 1 / 2)
ILLINOIS_WINDOW: Final = 15.0
#: net/ipv4/tcp_westwood.c: two filters of 7/8 in series lag by so many samples, one a round trip or 50 ms; recovery,
#: 1.5 round trips at half the window, lowers the estimate to which the window returns by 1.5 x 1/2 / 15
WESTWOOD_SAMPLES: Final = 15.0
WESTWOOD_SAMPLE_S: Final = 0.05
WESTWOOD_BETA: Final = 1 - 1.5 * 0.5 / 15
#: net/ipv4/tcp_cubic.c: HyStart's low window, gap of an ACK train, least and most delay threshold
HYSTART_LOW: Final = 16.0
HYSTART_GAP_S: Final = 2e-3
HYSTART_DELAY_S: Final = (4e-3, 16e-3)
#: net/ipv4/tcp_cubic.c, hystart_ack_delay: at most 1 ms is added to the train's threshold
HYSTART_ACK_DELAY_S: Final = 1e-3
IDLE_WINDOW: Final = 2.0  #: include/net/tcp.h, tcp_is_cwnd_limited: slow start goes on to twice what was in flight
RTO_MIN_S: Final = 0.2  #: include/net/tcp.h: TCP_RTO_MIN = HZ/5
#: include/net/tcp.h: TCP_RTO_MAX; sysctl tcp_retries2: time-outs in a row before a connection is given up
RTO_MAX_S: Final = 120.0
RETRIES: Final = 15
#: include/net/tcp.h: TCP_TIMEOUT_MIN, two ticks that timers of RACK and of tail probes add, of 250 a second
TIMEOUT_MIN_S: Final = 2 / 250
DELAYED_ACK_S: Final = 0.04  #: include/net/tcp.h: TCP_DELACK_MIN = HZ/25
#: three duplicate acknowledgments, or a quarter of the least round trip (RACK, tcp_recovery.c)
DUPTHRESH: Final = 3.0
RACK_SHARE: Final = 0.25
#: net/ipv4/tcp_bbr.c
BBR_HIGH_GAIN: Final = 2.885
BBR_CYCLE: Final = (1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0)
BBR_MARGIN: Final = 0.99
BBR_CWND_GAIN: Final = 2.0
BBR_MIN_WINDOW: Final = 4.0
BBR_MIN_RTT_S: Final = 10.0
BBR_PROBE_RTT_S: Final = 0.2
BBR_FILTER_ROUNDS: Final = 10
BBR_FULL_GROWTH: Final = 1.25
BBR_FULL_ROUNDS: Final = 3
#: BBR v2 and v3 (google/bbr, branches v2alpha and v3: net/ipv4/tcp_bbr2.c, tcp_bbr.c; draft-ietf-ccwg-bbr): loss of a
#: flight that is too much, share of rate and flight that a loss leaves, part of the flight left free while cruising
BBR3_LOSS_THRESHOLD: Final = 0.02
BBR3_BETA: Final = 0.7
BBR3_HEADROOM: Final = 0.15
#: probes come after this time and up to a second more, or after as many rounds as there are segments, at most these
BBR3_PROBE_S: Final = 2.0
BBR3_MOST_ROUNDS: Final = 63.0
#: interval of ProbeRTT, and the part of the pipe that it keeps
BBR3_PROBE_RTT_S: Final = 5.0
BBR3_PROBE_RTT_GAIN: Final = 0.5
#: gain of start-up, of a probe's end (v2 and v3), window of a probe, losses in a round that end start-up (v2 and v3)
BBR3_START_GAIN: Final = 2.77
BBR2_DOWN_GAIN: Final = 0.75
BBR3_DOWN_GAIN: Final = 0.9
BBR3_UP_WINDOW: Final = 2.25
BBR2_LOSS_EVENTS: Final = 8.0
BBR3_LOSS_EVENTS: Final = 6.0


def short_trip_burst(rtt_s: ArrayLike, mss_B: ArrayLike) -> FloatArray:
    """Segments that a short round trip adds to a burst: 64 KiB 2^-floor(T / 512 us) / M.

    Args:
        rtt_s: Least round-trip time T [s].
        mss_B: Segment payload M [B].

    Returns:
        Segments; they broadcast.

    Valid: Linux 5.18 and later.
    Neglects: as `burst_segments`.
    Source: net/ipv4/tcp_output.c: tcp_tso_autosize; sysctl tcp_tso_rtt_log.
    """
    shift = np.minimum(np.floor(np.asarray(rtt_s, float) / TSO_RTT_UNIT_S), 60.0)
    return np.asarray(np.where(shift < 31, GSO_B * np.exp2(-shift), 0.0) / np.asarray(mss_B, float), float)


def burst_segments(
    rate_pps: ArrayLike, rtt_s: ArrayLike, mss_B: ArrayLike, cwnd: ArrayLike, ratio: ArrayLike
) -> FloatArray:
    """Segments that the sender hands down in one piece (TSO autosizing and deferral).

    N = ratio rate / 1024 + 64 KiB 2^-floor(T / 512 us) / M, at least 2, at most a third of the window.

    Args:
        rate_pps: Sending rate [segments/s].
        rtt_s: Least round-trip time [s].
        mss_B: Segment payload [B].
        cwnd: Congestion window [segments].
        ratio: Pacing rate over sending rate [1].

    Returns:
        Burst [segments]; it leaves at line rate and the bottleneck's buffer must take it.

    Valid: Linux 5.18 and later (tcp_tso_rtt_log); NICs and drivers that do not split the burst in time.
    Neglects: the byte limit of the device.
    Source: net/ipv4/tcp_output.c: tcp_tso_autosize, tcp_tso_should_defer.
    """
    mss = np.asarray(mss_B, float)
    wanted = np.asarray(ratio, float) * np.asarray(rate_pps, float) / BURSTS_PER_S + short_trip_burst(rtt_s, mss)
    most = np.maximum(np.minimum(np.asarray(cwnd, float) * TSO_WINDOW_SHARE, GSO_B / mss), 2.0)
    return np.asarray(np.clip(wanted, 2.0, most), float)


def receive_share(mtu_B: ArrayLike, kernel: str = NEWEST) -> FloatArray:
    """Share of a receive buffer that becomes window, by the version of the kernel.

    Up to 3.3 tcp_adv_win_scale = 2 keeps a quarter back, from 3.4 on tcp_adv_win_scale = 1 a half. From 6.6 on the
    kernel measures payload over the memory of its packet: packet and 320 bytes of skb_shared_info go into a power of
    two (kmalloc), the sk_buff adds 256; the ratio is kept in 1/256.

    Args:
        mtu_B: IP packet size [B].
        kernel: Version of Linux.

    Returns:
        Share [1]: 0.75, 0.5, or, from 6.6 on, 0.625 at MTU 1500, 0.535 at 9000.

    Valid: default settings; from 6.6 on drivers that copy a packet into one linear buffer (TUN, virtio).
    Neglects: page-based drivers, whose packets take 2 or 4 KiB and more.
    Source: ip-sysctl.rst, tcp_adv_win_scale; commits b49960a05e32 (3.4) and dfa2f0483360 (6.6) of Linux;
        net/ipv4/tcp_input.c: tcp_measure_rcv_mss; measured 0.59 to 0.62 of the buffer in flight.
    """
    version = tuple(int(n) for n in kernel.split("."))[:2]
    mtu = np.asarray(mtu_B, float)
    for before, share in ADV_WIN_SHARES:
        if version < before:
            return np.asarray(share + 0 * mtu, float)
    memory = np.exp2(np.ceil(np.log2(mtu + 320.0))) + 256.0
    return np.asarray(np.floor((mtu - 52.0) * 256.0 / memory) / 256.0, float)


def send_share(mss_B: ArrayLike, *, modelled: bool = False) -> FloatArray:
    """Share of a send buffer (tcp_wmem[2]; SO_SNDBUF doubled) that is payload in flight.

    Pages of payload are charged byte for byte (sk_wmem_queued), and `SKB_B` for each packet of up to 64 KiB. What is
    unsent and what is unacknowledged share the buffer. A writer that found it full is woken at two thirds: the third
    that it writes then leaves at once where the window clocks it, so that acknowledgements come in such trains too
    and the buffer is full nearly always; a sender that paces at the rate it has measured sends it over a round trip,
    and two thirds are the flight that keeps itself.

    Args:
        mss_B: Segment payload [B].
        modelled: Whether two thirds count: where the congestion control paces at a rate of its own (BBR), and of a
            buffer that is to hold a flight which needs no trains (`dtnsim.physics.tcp.window.of_trains`).

    Returns:
        Share [1]: 0.986 at MTU 1500, 0.658 with BBR.

    Valid: Linux with segmentation offload, in software or in the card (always since 4.17).
    Neglects: smaller packets of slow senders (896 B for every two segments at worst); programs that do not block and
        write several times a wake-up, which overshoot by a packet of 64 KiB each time.
    Source: net/ipv4/tcp.c: tcp_sendmsg_locked, sk_stream_memory_free; net/ipv4/tcp_input.c: tcp_sndbuf_expand (up to
        tcp_wmem[2]); net/core/stream.c: sk_stream_write_space. Own runs, Linux 6.18, 100 to 350 ms, 1 to 4 MiB:
        full buffers hold 0.96 to 0.99 of their bytes in flight, means 0.82 to 0.98 (CUBIC, Reno), 0.60 to 0.65 (BBR).
    """
    mss = np.asarray(mss_B, float)
    packet = np.maximum(np.floor(GSO_B / mss), 1.0) * mss
    return np.asarray(packet / (packet + SKB_B) * (WOKEN_SHARE if modelled else 1.0), float)
