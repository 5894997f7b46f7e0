"""BeeGFS: chunks over targets, a call or a buffer of a file at a time, connections, mirrors, names.

All functions broadcast.
"""

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float


def asked_bytes(call_B: ArrayLike, buffer_B: ArrayLike, chunk_B: ArrayLike) -> FloatArray:
    """Bytes that one wait of a sequential program brings: its call, or a buffer where the call is smaller.

    Calls that fill a buffer, or what is left of a chunk, go past it: max(call, min(buffer, chunk)).

    Args:
        call_B: Bytes of one call of the program [B].
        buffer_B: tuneFileCacheBufSize [B].
        chunk_B: Chunk size [B].

    Returns:
        Bytes [B].

    Valid: tuneFileCacheType = buffered (the default), sequential access.
    Neglects: the part of a chunk that a call begins in.
    Source: BeeGFS client_module, FhgfsOpsHelper.c (readCacheFlushed, writeCacheFlushed).
    """
    return np.maximum(as_float(call_B), np.minimum(as_float(buffer_B), as_float(chunk_B)))


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
    chunk, wide, latency = as_float(chunk_B), as_float(targets), as_float(latency_s)
    rounds = np.ceil(as_float(asked_B) / (wide * chunk))
    each = np.minimum(as_float(asked_B) / rounds, chunk)
    message = np.minimum(as_float(message_s), latency)
    copied = (latency - message) * each / as_float(buffer_B)
    return as_float(rounds * (message + copied + each / as_float(wire_Bps) + as_float(trip_s)))


def stream_rate(asked_B: ArrayLike, request_s: ArrayLike, copy_s: ArrayLike) -> FloatArray:
    """Rate of one file that one thread reads or writes: asked / (t + t_copy).

    The thread sends the request, waits for it and copies what came, one after the other.

    Args:
        asked_B: Bytes that are asked for at once, see `asked_bytes` [B].
        request_s: Time of the request, see `request_time` [s].
        copy_s: Time of its bytes on the thread's own core [s].

    Returns:
        Rate [B/s].

    Valid: one thread a file; server caches that read ahead of it and take its writes.
    Neglects: bytes copied while later ones are still on their way.
    Source: BeeGFS client_module, FhgfsOpsCommKit.c (the caller's thread does both); Little.
    """
    return as_float(as_float(asked_B) / (as_float(request_s) + as_float(copy_s)))


def operation_time(
    messages: ArrayLike, message_s: ArrayLike, trip_s: ArrayLike, changes: ArrayLike, change_s: ArrayLike
) -> FloatArray:
    """Time of an operation on a name: n (t + T) + k c.

    Names and attributes that are asked for come from the metadata server's memory; what is changed goes through the
    server's own file system before the answer: a file is a file there, which is made, takes its attributes and is
    linked by its name, and both of its names go with it.

    Args:
        messages: Messages to the metadata server, one after the other n [1].
        message_s: One of them and its answer, the server's threads that hand it on included t [s].
        trip_s: Round-trip time of a network to the servers T [s].
        changes: Changes of the server's file system k [1].
        change_s: Time of one of them c [s].

    Returns:
        Time [s].

    Valid: what is asked for is in the server's memory; one client that waits; metadata without a mirror.
    Neglects: other users' messages; a journal of the server's file system that is full.
    Source: BeeGFS documentation, "Metadata Node Tuning" (a metadata file for each file, attributes as xattr); meta,
        DirEntryStore.cpp (linked by name and by ID); Little.
    """
    exchange = as_float(messages) * (as_float(message_s) + as_float(trip_s))
    return as_float(exchange + as_float(changes) * as_float(change_s))
