"""CPU: what one payload byte costs in cycles, and what a core can then carry.

A core is a station with f cycles a second. Every activity it serves (application copy, network
softirq, disk interrupt, checksum, cipher) is a demand in cycles per byte; they add. Moving an
interrupt to another core moves its term there.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float

#: most bytes one pass through the stack carries under TSO/GSO or LRO/GRO.
#: Source: Linux GSO_LEGACY_MAX_SIZE / GSO_MAX_SIZE = 65536 (BIG TCP raises it from Linux 5.19 on).
MAX_AGGREGATE_B: Final = 65536.0

#: throughput of two busy SMT siblings over one thread. Assumed, spread 1.0-1.35.
#: Source: Marr et al., Hyper-Threading technology, Intel Technology Journal 6(1), 2002: 16-28 % gain.
SMT_GAIN: Final = 1.25

#: cost of stack and copy on the wrong socket over the right one. Assumed (geometric middle), spread 1-2.
#: Source: ESnet fasterdata, Interrupt Binding: up to twice the throughput at 40/100G on the NIC's socket.
NUMA_PENALTY: Final = 1.4


def traversal_bytes(mss_B: ArrayLike, aggregate_B: ArrayLike = 0.0) -> FloatArray:
    """Bytes one pass through the network stack carries.

    S = max(MSS, min(aggregate, 64 KiB))

    Args:
        mss_B: TCP payload of one packet [B].
        aggregate_B: What TSO/GSO cuts or LRO/GRO joins; 0 without offload [B].

    Returns:
        Bytes per traversal [B].

    Valid: MSS >= 1.
    Neglects: whole-packet rounding of the aggregate (at most one MSS).
    Source: Linux net/core/gro.c, include/linux/netdevice.h.
    """
    return np.maximum(as_float(mss_B), np.minimum(as_float(aggregate_B), MAX_AGGREGATE_B))


def coalesced_bytes(rate_Bps: ArrayLike, coalesce_s: ArrayLike) -> FloatArray:
    """Bytes of one flow that arrive in one interrupt moderation period: what LRO/GRO can join.

    aggregate = rate * period

    Args:
        rate_Bps: Rate of the flow [B/s].
        coalesce_s: Interrupt moderation or polling period [s].

    Returns:
        Bytes to hand to `traversal_bytes` as the aggregate [B].

    Valid: one flow a queue; several flows interleaved in one period share it.
    Neglects: polling that goes on while packets keep arriving (more is joined under load).
    Source: Linux NAPI: GRO joins within one poll.
    """
    return as_float(rate_Bps) * as_float(coalesce_s)


def cycles_per_byte(
    per_byte: ArrayLike,
    per_call: ArrayLike = 0.0,
    call_B: ArrayLike = np.inf,
    per_packet: ArrayLike = 0.0,
    traversal_B: ArrayLike = np.inf,
) -> FloatArray:
    """Cycles one payload byte costs.

    c = c_byte + c_call / s + c_packet / S

    Args:
        per_byte: Copies, checksums, ciphers [cycles/B].
        per_call: One system call with its fixed work [cycles].
        call_B: Bytes s moved by one call [B].
        per_packet: One pass through the stack [cycles].
        traversal_B: Bytes S of one pass, see `traversal_bytes` [B].

    Returns:
        Cycles per byte [cycles/B].

    Valid: sizes > 0.
    Neglects: cache effects of very large s (see `memory.interference`), lock contention.
    Source: per-byte and per-packet split as in Cai et al., Understanding Host Network Stack Overheads,
        SIGCOMM 2021; per-call law: Amdahl-type fixed cost, t = a + s/R.
    """
    return as_float(
        as_float(per_byte) + as_float(per_call) / as_float(call_B) + as_float(per_packet) / as_float(traversal_B)
    )


def core_rate(clock_Hz: ArrayLike, cycles_per_B: ArrayLike) -> FloatArray:
    """Most bytes per second one core carries when it does nothing else.

    X = f / c, with c the sum over everything that core does for a byte

    Args:
        clock_Hz: Clock of the core under load [Hz].
        cycles_per_B: Sum of the cycles per byte [cycles/B].

    Returns:
        Rate [B/s].

    Valid: c > 0.
    Neglects: waiting of the thread for other stages (`composition`).
    Source: utilisation law, Denning and Buzen, ACM Computing Surveys 10(3), 1978.
    """
    return as_float(clock_Hz) / as_float(cycles_per_B)


def core_utilization(rate_Bps: ArrayLike, cycles_per_B: ArrayLike, clock_Hz: ArrayLike) -> FloatArray:
    """Busy share of a core: U = X * c / f.

    Args:
        rate_Bps: Payload rate [B/s].
        cycles_per_B: Cycles per byte on this core [cycles/B].
        clock_Hz: Clock [Hz].

    Returns:
        Utilisation [1]; above 1 means the core cannot do it.

    Valid: all positive.
    Neglects: other work on the core.
    Source: utilisation law, Denning and Buzen 1978.
    """
    return as_float(rate_Bps) * as_float(cycles_per_B) / as_float(clock_Hz)


def cycles_from_share(share: ArrayLike, clock_Hz: ArrayLike, rate_Bps: ArrayLike) -> FloatArray:
    """Cycles per byte from a measured busy share: c = U * f / X (the inverse of `core_utilization`).

    Args:
        share: Busy share the tool printed (%TX, %RX, %CPU as a fraction) [1].
        clock_Hz: Clock [Hz].
        rate_Bps: Payload rate of that run [B/s].

    Returns:
        Cycles per byte [cycles/B].

    Valid: the process ran on one core; the share counts what ran in its context.
    Neglects: softirq work done on other cores.
    Source: utilisation law, Denning and Buzen 1978.
    """
    return as_float(share) * as_float(clock_Hz) / as_float(rate_Bps)


def shared_core_cycles(
    own: ArrayLike, interrupt: ArrayLike, same_core: ArrayLike, handoff: ArrayLike = 0.0
) -> FloatArray:
    """Cycles per byte on an application's core when a share of the interrupt work lands there too.

    c = c_own + s * c_irq + (1 - s) * c_handoff

    Args:
        own: Application's own cycles [cycles/B].
        interrupt: Softirq and interrupt cycles of the device [cycles/B].
        same_core: Share s of that work on this core: 1 pinned here, 0 pinned elsewhere,
            1/cores when spread by irqbalance [1].
        handoff: Fetching the data from the other core's cache when it was handled there [cycles/B].

    Returns:
        Cycles per byte on the application's core [cycles/B].

    Valid: same_core in [0, 1].
    Neglects: wake-up latency across cores.
    Source: utilisation law; ESnet fasterdata, Interrupt Binding (same socket, not same core).
    """
    s = as_float(same_core)
    return as_float(own) + s * as_float(interrupt) + (1 - s) * as_float(handoff)


def smt_capacity(clock_Hz: ArrayLike, busy_threads: ArrayLike, gain: ArrayLike = SMT_GAIN) -> FloatArray:
    """Cycles per second one physical core delivers to its busy SMT threads together.

    C = f * (1 + (gain - 1) * clip(n - 1, 0, 1))

    Args:
        clock_Hz: Clock [Hz].
        busy_threads: Busy siblings on the core (fractions allowed: mean number) [1].
        gain: Throughput of two siblings over one [1].

    Returns:
        Capacity [cycles/s]; divided by the threads it is what each gets.

    Valid: two-way SMT, gain >= 1.
    Neglects: what the sibling does (two copies gain less than copy and cipher).
    Source: Marr et al., Intel Technology Journal 6(1), 2002 (gain 1.16-1.28).
    """
    extra = np.clip(as_float(busy_threads) - 1, 0.0, 1.0)
    return as_float(clock_Hz) * (1 + (as_float(gain) - 1) * extra)


def numa_cycles(cycles_per_B: ArrayLike, remote_share: ArrayLike, penalty: ArrayLike = NUMA_PENALTY) -> FloatArray:
    """Cycles per byte when a share of the work runs on the socket away from device or memory.

    c' = c * (1 + r * (penalty - 1))

    Args:
        cycles_per_B: Cycles on the right socket [cycles/B].
        remote_share: Share r of the bytes handled on the wrong socket [1].
        penalty: Cost there over cost here [1].

    Returns:
        Cycles per byte [cycles/B].

    Valid: remote_share in [0, 1], penalty in [1, 2].
    Neglects: the bandwidth of the socket interconnect (a station of its own).
    Source: ESnet fasterdata, Interrupt Binding (up to a factor of two at 40/100G).
    """
    return as_float(cycles_per_B) * (1 + as_float(remote_share) * (as_float(penalty) - 1))


def queue_rate(
    clock_Hz: ArrayLike,
    cycles_per_B: ArrayLike,
    queues: ArrayLike,
    flows: ArrayLike = np.inf,
    cores: ArrayLike = np.inf,
) -> FloatArray:
    """Most bytes per second the receive queues of a NIC can hand up.

    X = q * (1 - (1 - 1/q)^n) * f / c,  q = min(queues, cores)

    Args:
        clock_Hz: Clock of the cores that serve the queues [Hz].
        cycles_per_B: Softirq cycles per byte [cycles/B].
        queues: Receive queues [1].
        flows: Flows n hashed over the queues; infinite when there are very many [1].
        cores: Cores the queues' interrupts are spread over [1].

    Returns:
        Rate [B/s]: one core's rate with one flow, whatever the number of queues.

    Valid: queues, flows, cores >= 1; uniform hash.
    Neglects: uneven flows; the hash being known (see `bonding`).
    Source: balls into bins, Feller vol. 1 (II.5); receive side scaling: Linux
        Documentation/networking/scaling.rst.
    """
    q = np.minimum(as_float(queues), as_float(cores))
    missed = np.where(q > 1, 1 - 1 / q, 0.0) ** as_float(flows)
    return q * (1 - missed) * core_rate(clock_Hz, cycles_per_B)


def packet_budget(line_Bps: ArrayLike, wire_B: ArrayLike) -> FloatArray:
    """Time a host has for each packet at full rate: t = wire bytes / rate.

    Args:
        line_Bps: Line rate [B/s].
        wire_B: Bytes of one packet on the wire, with preamble and gap [B].

    Returns:
        Time per packet [s].

    Valid: all positive.
    Neglects: bursts.
    Source: Corbet, Improving Linux networking performance, LWN 2015 (1230 ns for 1538 B at 10 Gb/s).
    """
    return as_float(wire_B) / as_float(line_Bps)
