"""Small files and metadata: round trips that wait for each other, servers with so many operations a second.

What every file system shares. The round trips of an operation are laws of `nfs` and `gpfs`; a local file system
has ``rtt_s`` 0. All functions broadcast.
"""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float

#: the three classes of operations that benchmarks of metadata (mdtest) distinguish; what they do not name is a look-up
CLASSES: Final = {
    "create": "create",
    "mkdir": "create",
    "rename": "create",
    "setattr": "create",
    "exclusive": "create",
    "remove": "remove",
}

#: Names that one getdents brings: glibc's buffer of 32 KiB over 32 B for an entry with a short name.
NAMES_PER_CALL: Final = 1024.0


def absent_share(files: ArrayLike, file_B: ArrayLike, memory_B: ArrayLike) -> FloatArray:
    """Part of the files whose inode and name are in no cache: 1 - M / (N b) where they do not all fit.

    Args:
        files: Files N that are looked at again and again [1].
        file_B: Memory of the kernel for one of them, inode and name b [B].
        memory_B: Memory that programs leave M [B].

    Returns:
        Share, 0 to 1 [1].

    Valid: files met in no order that the cache's age of its entries knows; data of files leave these no less room.
    Neglects: a cache that throws out what is wanted next (then none is left); vfs_cache_pressure.
    Source: as many as fit are there (slab caches, Linux Documentation/admin-guide/sysctl/vm, vfs_cache_pressure).
    """
    wanted = np.maximum(as_float(files) * as_float(file_B), 1.0)
    return np.maximum(1.0 - as_float(memory_B) / wanted, 0.0)


def listing_calls(names: ArrayLike) -> FloatArray:
    """Calls, or round trips, for one name of a directory that is listed: 1 / names in a reply.

    Args:
        names: Names that one call or reply brings [1].

    Returns:
        Calls a name [1].

    Valid: directories of more names than one reply holds.
    Neglects: the last, partly filled reply.
    Source: getdents(2); RFC 1813, section 3.3.17 (READDIRPLUS).
    """
    return 1.0 / as_float(names)


def serial_time(operations: ArrayLike, round_trips: ArrayLike, rtt_s: ArrayLike, service_s: ArrayLike) -> FloatArray:
    """Time for operations that each wait for their round trips: t = N k (T + t_op).

    Args:
        operations: Operations N (files created, removed, scanned) [1].
        round_trips: Round trips per operation k [1].
        rtt_s: Round-trip time to the server T [s].
        service_s: Server time of one request t_op [s].

    Returns:
        Time [s].

    Valid: one process, strictly serial; server and network far from full.
    Neglects: the ceiling of the server, which is a station of its own (`server_time`).
    Source: latency of dependent round trips; for tar over NFS c0t0d0s0.org, "tarxpathology".
    """
    return as_float(operations) * as_float(round_trips) * (as_float(rtt_s) + as_float(service_s))


#: Clock of a core of 2011 to 2019 (of others times its work a cycle) for which times of operations hold [Hz].
MEASURED_HZ: Final = 3.3e9


def kernel_time(time_s: ArrayLike, clock_Hz: ArrayLike) -> FloatArray:
    """Time of an operation on names that is all work of a core's, at its clock: t f0 / f.

    Args:
        time_s: Time at `MEASURED_HZ` t [s].
        clock_Hz: Clock times the work of a cycle f [Hz].

    Returns:
        Time [s].

    Valid: names and inodes in memory, a log that is not waited for.
    Neglects: misses of caches, whose part of the time is memory's and not the clock's.
    Source: a create and its close takes 32 us at 2.66 GHz (ext3, foddex.net, 2009), and 17 us at 3.65 GHz and 1.35
        times the work a cycle (ext4, xfs and btrfs on Linux 6.18, `dtnsim.components.disk_filesystem`).
    """
    return as_float(time_s) * MEASURED_HZ / as_float(clock_Hz)


def server_time(operation_rate: ArrayLike) -> FloatArray:
    """Server's time that one operation takes: 1 / X.

    Args:
        operation_rate: Operations a second of one server with many clients X [1/s].

    Returns:
        Seconds of one server [s].

    Valid: a server full of operations of one class (what mdtest prints at its peak).
    Neglects: classes that share nothing (then a mixture goes faster).
    Source: utilisation law (Denning and Buzen 1978).
    """
    return 1.0 / as_float(operation_rate)


def shared_time(alone_s: ArrayLike, left: ArrayLike) -> FloatArray:
    """Time of a request at a server that others use as well: s / (1 - u), 1 - u being what they leave.

    Args:
        alone_s: Time of a request that nobody disturbs s [s].
        left: Part of the server that others leave 1 - u, 0 to 1 [1].

    Returns:
        Time [s].

    Valid: many independent users; one server, shared equally, or requests whose times vary as the exponential ones.
    Neglects: that several threads of a server hide a load of less than all of them.
    Source: L. Kleinrock, Queueing Systems, vol. 2, section 4.4 (M/G/1 processor sharing).
    """
    return as_float(alone_s) / as_float(left)
