"""BeeGFS: chunks over targets, one buffer of a file in flight, connections to each server, buddy mirrors.

All functions broadcast.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float


def stream_rate(buffer_B: ArrayLike, call_B: ArrayLike, latency_s: ArrayLike) -> FloatArray:
    """Rate of one file that one thread reads or writes: max(buffer, call) / t.

    The client's own buffer of a file (not the page cache) is filled or sent before the next; calls larger than the
    buffer go past it.

    Args:
        buffer_B: tuneFileCacheBufSize [B].
        call_B: Bytes of one call of the program [B].
        latency_s: Time of one such request, transfer included t [s].

    Returns:
        Rate [B/s].

    Valid: tuneFileCacheType = buffered (the default), sequential access.
    Neglects: the longer transfer of larger calls, whose chunks go to several targets at once.
    Source: BeeGFS documentation, "Client Side Caching Modes" (buffered: a pool of small static buffers).
    """
    return np.maximum(as_float(buffer_B), as_float(call_B)) / as_float(latency_s)


def connections_rate(
    connections: ArrayLike, servers: ArrayLike, chunk_B: ArrayLike, latency_s: ArrayLike
) -> FloatArray:
    """Rate of one client by its connections, a request of one chunk on each: n m chunk / t.

    Args:
        connections: connMaxInternodeNum n [1].
        servers: Storage servers m [1].
        chunk_B: Chunk size [B].
        latency_s: Time of one request t [s].

    Returns:
        Rate [B/s].

    Valid: files spread over all servers; as many threads as connections.
    Neglects: requests smaller than a chunk.
    Source: BeeGFS documentation, "Client Node Tuning" (parallel network requests); Little.
    """
    return as_float(connections) * as_float(servers) * as_float(chunk_B) / as_float(latency_s)
