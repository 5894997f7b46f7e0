"""WEKA: what a request costs a core of the servers, and how often a written byte crosses their ports.

All functions broadcast.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float


def core_time(byte_rate: ArrayLike, request_s: ArrayLike, request_B: ArrayLike) -> FloatArray:
    """Time of a compute core for one byte of a client: 1 / r + t / s.

    Args:
        byte_rate: Bytes a second that a core handles in large requests r [B/s].
        request_s: Time of a request besides its bytes t [s].
        request_B: Bytes of a request s [B].

    Returns:
        Seconds of one core per byte [s/B].

    Valid: requests spread evenly over the cores, which is what the hash of the file system's chunks does.
    Neglects: what neighbouring requests share.
    Source: utilisation law; docs.weka.io, "Performance test results summary" (both shapes of request, two clusters).
    """
    return 1.0 / as_float(byte_rate) + as_float(request_s) / as_float(request_B)


def port_bytes(stored: ArrayLike, servers: ArrayLike, reading: ArrayLike) -> FloatArray:
    """Bytes into (or out of) the servers' ports for one byte of a client: 1 read, 1 + e (1 - 1/n) written.

    A written byte comes in at a compute process, and as data and parity at the drive processes of other servers.

    Args:
        stored: Data and parity for one byte e [1].
        servers: Servers n; a part 1/n of what is stored stays where it is [1].
        reading: 1 for reads, 0 for writes [1].

    Returns:
        Bytes per byte, over all servers together [1].

    Valid: ports that are full duplex.
    Neglects: a read that crosses twice: the published clusters read at 0.78 and 0.66 of their line rates.
    Source: docs.weka.io, "WEKA containers architecture overview" (frontend, compute and drive processes).
    """
    written = 1.0 + as_float(stored) * (1.0 - 1.0 / as_float(servers))
    return np.where(as_float(reading) > 0.0, 1.0, written)
