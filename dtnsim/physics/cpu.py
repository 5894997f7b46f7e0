"""CPU: what one payload byte costs in cycles, and what a core can then carry.

A core is a station with f cycles a second. Every activity it serves (application copy, network
softirq, disk interrupt, checksum, cipher) is a demand in cycles per byte; they add. Moving an
interrupt to another core moves its term there.
"""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float

#: most bytes one pass through the stack carries under TSO/GSO or LRO/GRO.
#: Source: Linux GSO_LEGACY_MAX_SIZE / GSO_MAX_SIZE = 65536 (BIG TCP raises it from Linux 5.19 on).
MAX_AGGREGATE_B: Final = 65536.0
LINK_WIDTH_B: Final = 2.0  #: bytes a transfer of a link between sockets (QPI, UPI: 16 data lanes of 20)
#: first releases whose unbound work queues have a pool of workers for each last-level cache, and for parts of one
_BY_CACHE: Final = (6, 6)
_BY_SHARD: Final = (7, 1)
_SHARD_CORES: Final = 8  #: workqueue.cache_shard_size
#: first release, and the rate of its AES-XTS over that of 5.12 in messages of 512 and of 4096 B, by the blocks that an
#: instruction for AES works on: 1 (AES-NI), 2 and more (VAES). Retpolines came with 4.15 (Phoronix, A Look At The Big
#: Impact To AES-XTS, December 2020), and code without indirect calls gained 65 % in 1 KiB (commit 86ad60a65f29, Core
#: i7-8650U). Today's gained (Biggers, Faster AES-XTS on modern x86_64 CPUs, v2, 2024) 31, 26, 73, 59 and 6, 4, 61, 36 %
#: on Skylake, Cascade Lake, Zen 1 and Zen 2; 120, 112, 99, 117 and 127, 151, 138, 155 % on Ice Lake, Sapphire Rapids,
#: Zen 3 and Zen 4: geometric means
_XTS: Final = (
    ((6, 10), {1: (1.46, 1.25), 2: (2.12, 2.43)}),
    ((5, 12), {1: (1.0, 1.0), 2: (1.0, 1.0)}),
    ((4, 15), {1: (1 / 1.65, 1 / 1.65), 2: (1.0, 1.0)}),
    ((0,), {1: (1.0, 1.0), 2: (1.0, 1.0)}),
)


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


def cycles_per_byte(
    per_byte: ArrayLike,
    per_call: ArrayLike = 0.0,
    call_B: ArrayLike = np.inf,
    reference_B: ArrayLike = np.inf,
    per_packet: ArrayLike = 0.0,
    traversal_B: ArrayLike = np.inf,
) -> FloatArray:
    """Cycles one payload byte costs.

    c = c_byte + c_call * max(1/s - 1/s_0, 0) + c_packet / S

    Args:
        per_byte: Copies, checksums, ciphers [cycles/B].
        per_call: One system call with its fixed work [cycles].
        call_B: Bytes s moved by one call [B].
        reference_B: Bytes s_0 of the calls that ``per_byte`` contains already [B].
        per_packet: One pass through the stack [cycles].
        traversal_B: Bytes S of one pass, see `traversal_bytes` [B].

    Returns:
        Cycles per byte [cycles/B].

    Valid: sizes > 0.
    Neglects: cache effects of very large s (see `memory.interference`), lock contention.
    Source: per-byte and per-packet split as in Cai et al., Understanding Host Network Stack Overheads,
        SIGCOMM 2021; per-call law: Amdahl-type fixed cost, t = a + s/R.
    """
    calls = np.maximum(1 / as_float(call_B) - 1 / as_float(reference_B), 0.0)
    return as_float(as_float(per_byte) + as_float(per_call) * calls + as_float(per_packet) / as_float(traversal_B))


def smt_capacity(clock_Hz: ArrayLike, busy_threads: ArrayLike, gain: ArrayLike) -> FloatArray:
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


def numa_cycles(cycles_per_B: ArrayLike, remote_share: ArrayLike, penalty: ArrayLike) -> FloatArray:
    """Cycles per byte when a share of the work runs on the socket away from device or memory.

    c' = c * (1 + r * (penalty - 1))

    Args:
        cycles_per_B: Cycles on the right socket [cycles/B].
        remote_share: Share r of the bytes handled on the wrong socket [1].
        penalty: Cost there over cost here [1].

    Returns:
        Cycles per byte [cycles/B].

    Valid: remote_share in [0, 1], penalty in [1, 2].
    Neglects: the bandwidth of the link between the sockets (`socket_link_rate`, a station of its own).
    Source: ESnet fasterdata, Interrupt Binding (up to a factor of two at 40/100G).
    """
    return as_float(cycles_per_B) * (1 + as_float(remote_share) * (as_float(penalty) - 1))


def remote_share(cores: Sequence[int], near: int, sockets: int, cores_per_socket: int, *, alternate: bool) -> float:
    """Share of the work on named cores that runs away from the socket of a device.

    r = (cores c with socket(c) != near) / cores;  socket(c) = c div k in blocks, c mod n where they alternate

    Args:
        cores: Numbers of the cores as the kernel counts them; siblings follow after all first threads [1].
        near: Socket that the device's lanes end at [1].
        sockets: Sockets n [1].
        cores_per_socket: Physical cores k of a socket [1].
        alternate: True where the firmware numbers the sockets in turn instead of one after the other [1].

    Returns:
        Share [1]: 0 with all on the near socket.

    Valid: at least one core.
    Neglects: clusters and sub-NUMA domains within a socket.
    Source: Linux Documentation/admin-guide/cputopology.rst (numbers are the firmware's); ESnet fasterdata, Interrupt
        Binding.
    """
    total = sockets * cores_per_socket
    place = [c % sockets if alternate else c % total // cores_per_socket for c in cores]
    return sum(p != near for p in place) / len(place)


def worker_pools(release: tuple[int, ...], sockets: int, cores_per_socket: int, cache_groups: int = 1) -> int:
    """Pools of workers that a kernel's unbound work queues have, one lock each: all queues of a host share them.

    One for each NUMA node before Linux 6.6; one for each last-level cache from then on; from 7.1 on one for eight cores
    of such a cache at most.

    Args:
        release: Release of the kernel [1].
        sockets: Sockets [1].
        cores_per_socket: Physical cores of a socket [1].
        cache_groups: Last-level caches of a socket [1].

    Returns:
        Pools [1].

    Valid: one NUMA node a socket; queues of default attributes.
    Neglects: work that a worker takes to another cache (non-strict scopes); queues of high priority, whose pools are
        others.
    Source: Linux Documentation/core-api/workqueue.rst, Affinity Scopes; commits 63c5484e7495 (6.6), 4cdc8a7389d5 (7.1).
    """
    if release < _BY_CACHE:
        return sockets
    shards = math.ceil(cores_per_socket / cache_groups / _SHARD_CORES) if release >= _BY_SHARD else 1
    return sockets * cache_groups * shards


def socket_link_rate(transfers_per_s: ArrayLike, links: ArrayLike = 1.0) -> FloatArray:
    """Rate of the links between two sockets in one direction: n * GT/s * 2 B, the payload of 16 data lanes of 20.

    Args:
        transfers_per_s: Transfers a second of a link [1/s].
        links: Links n between the two sockets [1].

    Returns:
        Rate in one direction [B/s].

    Valid: QPI and UPI; AMD's xGMI is 16 lanes too.
    Neglects: packet headers and snoops, some 10 to 30 % of it.
    Source: Intel, An Introduction to the Intel QuickPath Interconnect (2009): 6.4 GT/s are 12.8 GB/s a direction.
    """
    return as_float(links) * as_float(transfers_per_s) * LINK_WIDTH_B


def xts_speedup(release: tuple[int, ...], blocks: int, sector_B: ArrayLike) -> FloatArray:
    """Rate of a kernel's AES-XTS over that of Linux 5.12.

    Args:
        release: Release of the kernel [1].
        blocks: Blocks of AES that an instruction of the processor works on: 1, or 2 and more with VAES [1].
        sector_B: Bytes that are ciphered at once [B].

    Returns:
        Factor [1].

    Valid: x86 with AES-NI; sectors of 512 to 4096 B.
    Neglects: what distributions bring into older kernels; kernels started with mitigations=off; other processors.
    Source: commits and figures at `_XTS`.
    """
    small, large = next(by[min(blocks, 2)] for first, by in _XTS if release >= first)
    return np.interp(np.log2(as_float(sector_B)), (9.0, 12.0), (small, large))
