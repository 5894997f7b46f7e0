"""BeeGFS: chunks over targets, a call or a buffer of a file at a time, connections, mirrors, names.

All functions broadcast.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float


def request_time(
    asked_B: ArrayLike,
    chunk_B: ArrayLike,
    targets: ArrayLike,
    buffer_B: ArrayLike,
    latency_s: ArrayLike,
    message_s: ArrayLike = 0.0,
    wire_Bps: ArrayLike = np.inf,
    trip_s: ArrayLike = 0.0,
) -> FloatArray:
    """Time of what is asked for at once: r = ceil(asked / (m chunk)) rounds, each t0 + (t - t0) b / buffer + b / w + T.

    The chunks of a round go to their targets at the same time, b of each; the next round begins when all of them are
    there. A server reads a chunk and sends it then: what is not the message t0 is copied byte by byte, so that a
    request of half a buffer takes less, and one of two takes longer; it is whole on the wire before it is worked on.

    Args:
        asked_B: Bytes that are asked for at once, see `asked_bytes` [B].
        chunk_B: Chunk size [B].
        targets: Targets of the file m [1].
        buffer_B: tuneFileCacheBufSize: the request that t is of [B].
        latency_s: Time of one such request, its wire left out t [s].
        message_s: What of it a message without bytes takes, t at most t0 [s].
        wire_Bps: Rate of a server's ports w [B/s].
        trip_s: Round-trip time of a network to the servers T [s].

    Returns:
        Time [s].

    Valid: a program that waits for each of its calls; nothing is read ahead beyond the buffer.
    Neglects: the copies into the program's memory, see `stream_rate`; chunks of a round that share the client's port;
        the hop to a mirror.
    Source: BeeGFS client_module, FhgfsOpsRemoting.c (readfileVec, writefileVec: rounds over the stripe's targets);
        storage, ReadLocalFileV2MsgEx.cpp (incrementalReadStatefulAndSendV2).
    """
    chunk, wide, whole = as_float(chunk_B), as_float(targets), as_float(latency_s)
    rounds = np.ceil(as_float(asked_B) / (wide * chunk))
    each = np.minimum(as_float(asked_B) / rounds, chunk)
    message = np.minimum(as_float(message_s), whole)
    copied = (whole - message) * each / as_float(buffer_B)
    return as_float(rounds * (message + copied + each / as_float(wire_Bps) + as_float(trip_s)))
