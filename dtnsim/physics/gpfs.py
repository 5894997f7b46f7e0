"""GPFS (Spectrum Scale): blocks striped over all NSDs, prefetch threads, page pool, tokens.

Metadata times come from `metadata` with the round trips given here. All functions broadcast.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float

#: Page pool at its default (IBM docs, "Spectrum Scale cache usage"); it replaces the Linux page cache.
PAGEPOOL_B: Final = 2.0**30
#: Threads that prefetch and write behind: 72 by default (a copy of an IBM note names 64 to 72), and the
#: share of the page pool they may fill (prefetchPct, 20 %). Both priors with a spread of a factor 1.5.
PREFETCH_THREADS: Final = 72
PREFETCH_SHARE: Final = 0.20
#: Round trips per entry from one client that keeps the directory's token: create = inode and directory
#: block under tokens held, one log force; the first touch of a directory another node used adds a
#: token request and its revocation. Priors with a spread of a factor 2: no published measure of k.
K_CREATE: Final = 1.0
K_REMOVE: Final = 1.0
K_STAT: Final = 1.0
K_TOKEN_STEAL: Final = 2.0


def blocks_in_flight(
    threads: ArrayLike,
    block_B: ArrayLike,
    pagepool_B: ArrayLike = PAGEPOOL_B,
    share: ArrayLike = PREFETCH_SHARE,
) -> FloatArray:
    """Blocks a node keeps in flight: min(threads, share x pagepool / block), at least 1.

    Args:
        threads: prefetchThreads, or worker threads for write-behind [1].
        block_B: File-system block [B].
        pagepool_B: pagepool [B].
        share: prefetchPct [1].

    Returns:
        Blocks [1].

    Valid: sequential access that was recognised.
    Neglects: other streams on the node, which share both.
    Source: IBM docs, "Setting the pagepool size" (the pool bounds what is done asynchronously).
    """
    room = as_float(share) * as_float(pagepool_B) / as_float(block_B)
    return np.maximum(1.0, np.minimum(as_float(threads), room))


def prefetch_rate(blocks: ArrayLike, block_B: ArrayLike, latency_s: ArrayLike) -> FloatArray:
    """Rate by what is in flight: blocks x block / latency.

    Args:
        blocks: Blocks in flight, see `blocks_in_flight` [1].
        block_B: File-system block [B].
        latency_s: Time of one block from request to page pool, network included [s].

    Returns:
        Rate [B/s].

    Valid: light load; under load the servers bind instead.
    Neglects: adaptive prefetch depth.
    Source: Little's law over the prefetch threads.
    """
    return as_float(blocks) * as_float(block_B) / as_float(latency_s)


def nsd_rate(
    nsds: ArrayLike,
    nsd: ArrayLike,
    servers: ArrayLike,
    server: ArrayLike,
    others: ArrayLike = 0.0,
) -> FloatArray:
    """Rate of the storage side: min(NSDs x R_nsd, servers x R_server) / (1 + others).

    Args:
        nsds: Network shared disks the blocks are striped over [1].
        nsd: Rate of one NSD [B/s].
        servers: NSD servers [1].
        server: Rate of one server, its fabric ports included [B/s].
        others: Other streams as busy as this one on the whole file system, on the mean [1].

    Returns:
        Rate left for this stream [B/s].

    Valid: every file striped over all NSDs (a large file uses the whole system).
    Neglects: files of a few blocks, which touch as many NSDs.
    Source: Schmuck and Haskin, "GPFS", FAST 2002 (wide striping of blocks over all disks).
    """
    disks = as_float(nsds) * as_float(nsd)
    together = np.minimum(disks, as_float(servers) * as_float(server))
    return together / (1.0 + np.maximum(as_float(others), 0.0))


def stream_rate(
    prefetch: ArrayLike, nsd: ArrayLike, network_rate: ArrayLike, core_rate: ArrayLike = np.inf
) -> FloatArray:
    """Rate of one client's stream: min(prefetch, NSDs, network, one core).

    Args:
        prefetch: Rate by blocks in flight, see `prefetch_rate` [B/s].
        nsd: Rate of the storage side, see `nsd_rate` [B/s].
        network_rate: Rate of the client's fabric [B/s].
        core_rate: Rate of the application thread that copies out of the page pool [B/s].

    Returns:
        Rate [B/s].

    Valid: large sequential transfers.
    Neglects: token traffic between nodes that write one file.
    Source: Schmuck and Haskin 2002; bottleneck law.
    """
    inner = np.minimum(as_float(prefetch), as_float(nsd))
    return np.minimum(inner, np.minimum(as_float(network_rate), as_float(core_rate)))


def nsds_touched(file_B: ArrayLike, block_B: ArrayLike, nsds: ArrayLike) -> FloatArray:
    """NSDs that hold a part of a file: min(NSDs, ceil(size / block)), at least 1.

    Args:
        file_B: File size [B].
        block_B: File-system block [B].
        nsds: NSDs of the pool [1].

    Returns:
        NSDs [1].

    Valid: round-robin placement.
    Neglects: failure groups and replicas.
    Source: Schmuck and Haskin 2002.
    """
    return np.maximum(1.0, np.minimum(as_float(nsds), np.ceil(as_float(file_B) / as_float(block_B))))


def allocated_bytes(file_B: ArrayLike, block_B: ArrayLike, subblocks: ArrayLike = 32) -> FloatArray:
    """Space a file takes: whole blocks, and subblocks for its tail.

    Args:
        file_B: File size [B].
        block_B: File-system block [B].
        subblocks: Subblocks per block: 32 to version 4, more since 5 (4-MiB block: 512 of 8 KiB) [1].

    Returns:
        Bytes [B].

    Valid: one data replica, files larger than what fits into the inode.
    Neglects: indirect blocks.
    Source: Schmuck and Haskin 2002 (subblocks of 1/32); IBM docs, mmcrfs (subblock table).
    """
    unit = as_float(block_B) / as_float(subblocks)
    return np.ceil(as_float(file_B) / unit) * unit


def first_touch_time(
    entries: ArrayLike, rtt_s: ArrayLike, service_s: ArrayLike, contended: ArrayLike = 0.0
) -> FloatArray:
    """Time spent on tokens: N f k_steal (T + t).

    Args:
        entries: Entries touched N [1].
        rtt_s: Round-trip time between nodes T [s].
        service_s: Time of one token request or revocation, with the flush it forces t [s].
        contended: Share f of entries whose token another node holds [1].

    Returns:
        Time [s], beside that of the operations themselves.

    Valid: serial client.
    Neglects: whole-directory and byte-range tokens got at once.
    Source: Schmuck and Haskin 2002 (token manager: request, then revoke at the holder).
    """
    stolen = as_float(np.clip(as_float(contended), 0.0, 1.0))
    one = K_TOKEN_STEAL * (as_float(rtt_s) + as_float(service_s))
    return as_float(entries) * stolen * one
