"""Small files and metadata: round trips, operations in flight, servers that queue.

What every file system shares. The round trips k per operation are constants of `nfs`, `lustre` and
`gpfs`; a local file system has ``rtt_s`` 0. All functions broadcast.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float

#: Largest number of servers of `mmc_wait_time`, a bound of its loop.
MAX_SERVERS: Final = 512


def serial_time(
    operations: ArrayLike,
    round_trips: ArrayLike,
    rtt_s: ArrayLike,
    service_s: ArrayLike,
    processes: ArrayLike = 1,
    local_s: ArrayLike = 0.0,
) -> FloatArray:
    """Time for operations that each wait for their round trips.

    t = N (k (T + t_op) + t_local) / P.

    Args:
        operations: Operations N (files created, removed, scanned) [1].
        round_trips: Round trips per operation k [1].
        rtt_s: Round-trip time to the server T [s].
        service_s: Server time of one request t_op [s].
        processes: Processes that work in parallel P, at least 1 [1].
        local_s: Client time per operation outside the file system (untar, checksum) [s].

    Returns:
        Time [s].

    Valid: each process strictly serial; server and network far from full.
    Neglects: the ceiling of the server (`operation_rate` has it); uneven split over processes.
    Source: latency of dependent round trips; for tar over NFS c0t0d0s0.org, "tarxpathology".
    """
    one = as_float(round_trips) * (as_float(rtt_s) + as_float(service_s)) + as_float(local_s)
    return as_float(operations) * one / np.maximum(as_float(processes), 1.0)


def operation_rate(
    processes: ArrayLike,
    round_trips: ArrayLike,
    rtt_s: ArrayLike,
    service_s: ArrayLike,
    in_flight: ArrayLike = np.inf,
    client_rate: ArrayLike = np.inf,
    server_rate: ArrayLike = np.inf,
) -> FloatArray:
    """Operations a second of one client: min(min(P, slots) / (k (T + t_op)), client, server).

    Args:
        processes: Processes that work in parallel P [1].
        round_trips: Round trips per operation k [1].
        rtt_s: Round-trip time T [s].
        service_s: Server time of one request, at light load t_op [s].
        in_flight: Requests the client may have in flight (slots) [1].
        client_rate: Ceiling of the client [1/s].
        server_rate: Ceiling of the server, or this client's share of it [1/s].

    Returns:
        Operations a second [1/s].

    Valid: closed loop, each process waits for its answer.
    Neglects: queueing below the knee (bounds of operational analysis are upper bounds).
    Source: Little's law and the bottleneck law (Denning and Buzen 1978).
    """
    parallel = np.minimum(np.maximum(as_float(processes), 1.0), as_float(in_flight))
    waiting = parallel / (as_float(round_trips) * (as_float(rtt_s) + as_float(service_s)))
    return np.minimum(waiting, np.minimum(as_float(client_rate), as_float(server_rate)))


def small_file_time(files: ArrayLike, total_B: ArrayLike, files_per_s: ArrayLike, data_rate: ArrayLike) -> FloatArray:
    """Time to move many files, per-file costs and bytes one after another: N / X_files + V / X.

    Args:
        files: Files N [1].
        total_B: Bytes of all files V [B].
        files_per_s: Files a second by their per-file operations alone [1/s].
        data_rate: Rate of the bytes alone [B/s].

    Returns:
        Time [s]; tends to V/X for few large files, to N / X_files for many small ones.

    Valid: no overlap of a file's operations with the bytes of other files (one process). With
        pipelining the larger of the two terms is the lower bound.
    Neglects: overlap.
    Source: affine time per file, t = t_file + s / X.
    """
    return as_float(files) / as_float(files_per_s) + as_float(total_B) / as_float(data_rate)


def local_operation_time(
    cpu_s: ArrayLike, commit_s: ArrayLike = 0.0, batch: ArrayLike = 1.0, sync: ArrayLike = 0.0
) -> FloatArray:
    """Time of one metadata operation on a local journaling file system.

    t = t_cpu + f t_commit / batch: only synchronous operations wait for the journal, and those that
    arrive together share one commit.

    Args:
        cpu_s: CPU time of the operation in memory [s].
        commit_s: Time of one journal commit on the device [s].
        batch: Operations that share a commit, at least 1 [1].
        sync: Share f of operations followed by fsync [1].

    Returns:
        Mean time per operation [s].

    Valid: metadata cached in memory; ext4, XFS, ZFS.
    Neglects: reads of directories and inodes that are not cached.
    Source: group commit of write-ahead logs (Gray and Reuter, "Transaction processing", 1993).
    """
    return as_float(cpu_s) + as_float(sync) * as_float(commit_s) / np.maximum(as_float(batch), 1.0)


def mmc_wait_time(arrival_rate: ArrayLike, service_s: ArrayLike, servers: ArrayLike = 1) -> FloatArray:
    """Mean wait in queue of a server with c threads: M/M/c (Erlang C).

    W_q = C(c, a) t / (c - a), a = lambda t, with C from Erlang's B by its recursion.

    Args:
        arrival_rate: Requests a second from all clients lambda [1/s].
        service_s: Service time of one request on one thread t [s].
        servers: Threads c, rounded down to a whole number, at least 1 [1].

    Returns:
        Mean wait before service [s]; inf where lambda t >= c.

    Valid: independent arrivals, exponential service, c up to `MAX_SERVERS`.
    Neglects: bursts of parallel jobs (longer waits), caches that make repeated requests quicker.
    Source: Erlang 1917; Cooper, "Introduction to queueing theory", 2nd edition, 1981.
    """
    load = as_float(arrival_rate) * as_float(service_s)
    c = np.clip(np.floor(as_float(servers)), 1.0, MAX_SERVERS)
    blocking = np.ones(np.broadcast_shapes(load.shape, c.shape))
    for k in range(1, int(np.max(c, initial=1.0)) + 1):
        blocking = np.where(k <= c, load * blocking / (k + load * blocking), blocking)
    free = c - load
    stable = free > 0.0
    gap = np.where(stable, free, 1.0)
    delayed = c * blocking / (gap + load * blocking)
    return np.where(stable, delayed * as_float(service_s) / gap, np.inf)


def shared_rate(rate: ArrayLike, others: ArrayLike = 0.0) -> FloatArray:
    """Share of a server's rate that one of several equal users gets: R / (1 + others).

    Args:
        rate: Rate of the server alone [B/s or 1/s].
        others: Other users as busy as this one, on the mean (need not be whole) [1].

    Returns:
        Rate left for this user, in the unit of ``rate``.

    Valid: fair service, all users want all they can get.
    Neglects: correlated bursts; interleaving losses on the disks below.
    Source: processor sharing.
    """
    return as_float(rate) / (1.0 + np.maximum(as_float(others), 0.0))
