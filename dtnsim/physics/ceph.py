"""Ceph: copies or coded shards of objects, what they cost the nodes' ports, objects read ahead.

All functions broadcast.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float


def stored(replicas: ArrayLike, data: ArrayLike, coding: ArrayLike) -> FloatArray:
    """Bytes that OSDs write for a byte of data: n copies, or (k + m) / k coded shards.

    Args:
        replicas: Copies n; counts where ``data`` is 0 [1].
        data: Data shards k of an erasure-coded pool, 0 for a replicated one [1].
        coding: Coding shards m [1].

    Returns:
        Bytes per byte [1].

    Valid: objects of whole stripes.
    Neglects: BlueStore's write-ahead log of small writes; metadata in RocksDB.
    Source: Ceph documentation, "Pools" and "Erasure code".
    """
    k = as_float(data)
    coded = (k + as_float(coding)) / np.maximum(k, 1.0)
    return np.where(k > 0.0, coded, as_float(replicas))


def port_bytes(stored_per_byte: ArrayLike, data: ArrayLike, reading: ArrayLike) -> FloatArray:
    """Bytes through the busier direction of the nodes' ports for a byte of data.

    Written: the primary takes the byte in, and every other copy or shard comes in at another node. Read: it goes out
    once; of a coded object k - 1 of k shards come to the primary first.

    Args:
        stored_per_byte: See `stored` [1].
        data: Data shards k, 0 for a replicated pool [1].
        reading: 1 for reads, 0 for writes [1].

    Returns:
        Bytes per byte, over all nodes together [1].

    Valid: client and cluster traffic on the same ports, which are full duplex; shards on different nodes.
    Neglects: a cluster network of its own (then the ports count twice).
    Source: Ceph documentation, "Architecture" (primary-copy replication; the primary encodes and decodes).
    """
    k = as_float(data)
    gathered = np.where(k > 0.0, (k - 1.0) / np.maximum(k, 1.0), 0.0)
    written = np.where(k > 0.0, 1.0 + (as_float(stored_per_byte) - 1.0 / np.maximum(k, 1.0)), as_float(stored_per_byte))
    return np.where(as_float(reading) > 0.0, 1.0 + gathered, written)


def readahead_rate(window_B: ArrayLike, latency_s: ArrayLike) -> FloatArray:
    """Rate of one sequential reader: window / t.

    Args:
        window_B: rasize of the mount [B].
        latency_s: Time of one object read t [s].

    Returns:
        Rate [B/s].

    Valid: kernel client; the window is on its way while the one before it is read.
    Neglects: the ramp of the window.
    Source: mount.ceph(8): rasize, 8 MiB; Little.
    """
    return as_float(window_B) / as_float(latency_s)
