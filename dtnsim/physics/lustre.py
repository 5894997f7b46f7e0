"""Lustre: stripes, RPCs in flight, shares of OST and OSS, and the metadata server.

The rate of one client's stream is the least of the limits below; each is a function of its own so
that it can be a station of its own. All functions broadcast.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float

#: Defaults (Lustre manual, "Managing File Layout (Striping) and Free Space" and "Lustre Parameters").
STRIPE_COUNT: Final = 1
STRIPE_B: Final = 1048576
RPC_B: Final = 4194304
RPCS_IN_FLIGHT: Final = 8
MDC_RPCS_IN_FLIGHT: Final = 8
MDC_MODIFYING_RPCS: Final = 7
#: Share of the network's line rate a client reaches (Lustre manual, "Understanding Lustre Architecture").
NETWORK_SHARE: Final = 0.9
#: Known production figures (Lustre manual, table "Lustre File System Scalability and Performance"): one
#: client on FDR, one OSS, metadata operations of one client, creates and stats of one MDS. Priors for a
#: site that says nothing.
CLIENT_RATE_FDR: Final = 4.5e9
OSS_RATE: Final = 10e9
CLIENT_METADATA_RATE: Final = 1000.0
MDS_CREATE_RATE: Final = 15e3
MDS_STAT_RATE: Final = 50e3
#: Round trips per file, in units of one stat. Dell's HPC Lustre storage papers print mdtest with one thread:
#: 1100 creates, 1900 removes, 2000 stats a second (Omni-Path, Lustre 2.7), 504, 1800 and 2000 (2.5). Priors
#: with a spread of a factor 2.
K_CREATE: Final = 2.0
K_REMOVE: Final = 1.0
K_STAT: Final = 1.0


def file_stripes(file_B: ArrayLike, stripe_count: ArrayLike, stripe_B: ArrayLike = STRIPE_B) -> FloatArray:
    """OSTs that hold a part of the file: min(count, ceil(size / stripe)).

    Args:
        file_B: File size [B].
        stripe_count: Stripes of the layout [1].
        stripe_B: Stripe size [B].

    Returns:
        OSTs, at least 1 [1].

    Valid: plain (RAID0) layouts.
    Neglects: composite layouts (PFL), overstriping.
    Source: Lustre manual, "Managing File Layout (Striping) and Free Space".
    """
    used = np.ceil(as_float(file_B) / as_float(stripe_B))
    return np.maximum(1.0, np.minimum(as_float(stripe_count), used))


def osc_rate(
    rpcs: ArrayLike, rpc_B: ArrayLike, rtt_s: ArrayLike, service_s: ArrayLike, dirty_B: ArrayLike = np.inf
) -> FloatArray:
    """Rate of one client to one OST by what may be in flight: min(rpcs x size, dirty) / (T + t).

    Args:
        rpcs: osc.*.max_rpcs_in_flight [1].
        rpc_B: RPC size [B].
        rtt_s: Round-trip time T [s].
        service_s: Server time of one RPC, transfer and disk included t [s].
        dirty_B: osc.*.max_dirty_mb for writes [B], inf for reads.

    Returns:
        Rate [B/s].

    Valid: sequential access with read-ahead or write-back that fills the RPCs.
    Neglects: RPCs that go out short.
    Source: Lustre manual, "Lustre Parameters" (max_rpcs_in_flight; max_dirty_mb of at least 4 x rpcs x
        size is advised); Little.
    """
    flying = np.minimum(as_float(rpcs) * as_float(rpc_B), as_float(dirty_B))
    return flying / (as_float(rtt_s) + as_float(service_s))


def target_rate(stripes: ArrayLike, ost_rate: ArrayLike, others: ArrayLike = 0.0) -> FloatArray:
    """Rate of the OSTs a file lies on: stripes x R_ost / (1 + others).

    Args:
        stripes: OSTs touched [1].
        ost_rate: Rate of one OST alone [B/s].
        others: Other streams on each of them, as busy, on the mean [1].

    Returns:
        Rate [B/s].

    Valid: equal shares; the file waits for all its OSTs alike.
    Neglects: the slowest of several OSTs, seeks between streams (`hdd.interleaved_rate`).
    Source: processor sharing; Lustre manual, "Understanding Lustre Architecture" (bandwidth
        is the sum over OSTs).
    """
    return as_float(stripes) * as_float(ost_rate) / (1.0 + np.maximum(as_float(others), 0.0))


def server_rate(
    stripes: ArrayLike, servers: ArrayLike, oss_rate: ArrayLike = OSS_RATE, others: ArrayLike = 0.0
) -> FloatArray:
    """Rate of the object servers a file lies on: min(stripes, OSSs) R_oss / (1 + others).

    Args:
        stripes: OSTs touched; the allocator spreads them over servers first [1].
        servers: Object storage servers of the file system [1].
        oss_rate: Rate of one server [B/s].
        others: Other streams on each server, as busy, on the mean [1].

    Returns:
        Rate [B/s].

    Valid: round-robin allocation.
    Neglects: weighted allocation when OSTs fill unevenly.
    Source: Lustre manual, "Managing File Layout (Striping) and Free Space" (round-robin allocator).
    """
    touched = np.minimum(as_float(stripes), as_float(servers))
    return touched * as_float(oss_rate) / (1.0 + np.maximum(as_float(others), 0.0))


def stream_rate(
    stripes: ArrayLike,
    osc: ArrayLike,
    targets: ArrayLike,
    servers: ArrayLike,
    network_rate: ArrayLike,
    core_rate: ArrayLike = np.inf,
) -> FloatArray:
    """Rate of one client's stream: min(stripes x osc, targets, servers, 0.9 network, one core).

    Args:
        stripes: OSTs touched [1].
        osc: Rate of one client to one OST, see `osc_rate` [B/s].
        targets: Rate of the OSTs, see `target_rate` [B/s].
        servers: Rate of their servers, see `server_rate` [B/s].
        network_rate: Line rate of the client's fabric or LNet route [B/s].
        core_rate: Rate of the one thread that copies and checksums [B/s].

    Returns:
        Rate [B/s].

    Valid: large sequential transfers.
    Neglects: lock traffic between clients that write one file.
    Source: Lustre manual, "Understanding Lustre Architecture" and "Lustre Parameters"; bottleneck law.
    """
    inner = np.minimum(as_float(stripes) * as_float(osc), as_float(targets))
    outer = np.minimum(as_float(servers), NETWORK_SHARE * as_float(network_rate))
    return np.minimum(np.minimum(inner, outer), as_float(core_rate))


def occupied_targets(files: ArrayLike, targets: ArrayLike, stripes: ArrayLike = 1) -> FloatArray:
    """Mean number of OSTs in use by files placed at random: m (1 - (1 - c/m)^f).

    Args:
        files: Files moved at the same time f [1].
        targets: OSTs of the file system m [1].
        stripes: Stripes of each file c [1].

    Returns:
        OSTs [1]; times R_ost the aggregate rate they allow.

    Valid: independent placement; files made at different times.
    Neglects: round-robin placement of files made together (then min(f c, m)).
    Source: occupancy problem (Feller, vol. 1, ch. 4).
    """
    m = as_float(targets)
    missed = np.maximum(1.0 - as_float(stripes) / m, 0.0)
    return m * (1.0 - as_float(np.power(missed, as_float(files))))


def readahead_rate(window_B: ArrayLike, rpc_B: ArrayLike, rtt_s: ArrayLike, service_s: ArrayLike) -> FloatArray:
    """Rate of one sequential reader by its read-ahead window, in whole RPCs.

    X = floor(window / rpc) rpc / (T + t), at least one RPC: before the second sequential read is seen
    there is one in flight.

    Args:
        window_B: llite.*.max_read_ahead_per_file_mb [B].
        rpc_B: RPC size [B].
        rtt_s: Round-trip time T [s].
        service_s: Server time of one RPC t [s].

    Returns:
        Rate [B/s].

    Valid: after the ramp of the window.
    Neglects: the ramp.
    Source: Lustre manual, "Lustre Parameters" (read-ahead in RPC-sized chunks); Little.
    """
    chunks = np.maximum(np.floor(as_float(window_B) / as_float(rpc_B)), 1.0)
    return chunks * as_float(rpc_B) / (as_float(rtt_s) + as_float(service_s))
