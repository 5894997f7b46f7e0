"""DAOS: what a request costs an engine, and what the client itself sends of what is stored. All functions broadcast."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float


def engine_time(byte_rate: ArrayLike, request_rate: ArrayLike, request_B: ArrayLike) -> FloatArray:
    """Time of a server's engines for one byte: max(1 / r, 1 / (q s)).

    Args:
        byte_rate: Bytes a second in large requests r [B/s].
        request_rate: Small requests a second q [1/s].
        request_B: Bytes of a request s [B].

    Returns:
        Seconds of one server per byte [s/B].

    Valid: requests of one size; drives and network bind large ones, the targets' cores small ones.
    Neglects: sizes near the corner, where both count.
    Source: roofline of two resources; Google Cloud, Parallelstore overview, which prints r and q of its DAOS.
    """
    return np.maximum(1.0 / as_float(byte_rate), 1.0 / (as_float(request_rate) * as_float(request_B)))


def client_bytes(stored: ArrayLike, reading: ArrayLike) -> FloatArray:
    """Bytes through the client's port for a byte of data: every copy or cell where it writes, else 1.

    The server that leads forwards the request, not the data: each shard's server takes its part out of the client's
    memory.

    Args:
        stored: Copies, or data and parity, of one byte [1].
        reading: 1 for reads, 0 for writes [1].

    Returns:
        Bytes per byte [1].

    Valid: whole stripes, and requests large enough for a bulk transfer (smaller data travels in the request).
    Neglects: stripes that are written in part (they are kept as copies until they are full).
    Source: DAOS, src/object/README.md (server-side replication), src/include/cart/api.h (crt_bulk_bind).
    """
    return np.where(as_float(reading) > 0.0, 1.0, as_float(stored))
