"""Lustre: stripes, composite layouts, RPCs in flight, read-ahead, rails of a client.

What a client's stream reaches is the least of the limits below; each is a station of its own. All functions
broadcast.
"""

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float


def component_bytes(file_B: ArrayLike, start_B: ArrayLike, end_B: ArrayLike) -> FloatArray:
    """Bytes of a file in one component of a progressive layout: those between its start and its end.

    Args:
        file_B: File size [B].
        start_B: Where the component begins [B].
        end_B: Where it ends; infinite for the last one [B].

    Returns:
        Bytes [B].

    Valid: components that follow each other without gaps.
    Neglects: components instantiated though never written.
    Source: Lustre manual, "Progressive File Layout (PFL)".
    """
    return np.maximum(np.minimum(as_float(file_B), as_float(end_B)) - as_float(start_B), 0.0)


def rpc_time(
    asked_B: ArrayLike, known_B: ArrayLike, known_s: ArrayLike, slower: ArrayLike, message_s: ArrayLike
) -> FloatArray:
    """Time of one bulk RPC of another size, or of another OST: t0 + (t - t0) b / b0 x R0 / R, t0 at most t.

    Args:
        asked_B: Its bytes b [B].
        known_B: Bytes of the RPC whose time is known b0 [B].
        known_s: The time of that one t [s].
        slower: How much slower the OST is than the one of which it is known R0 / R [1].
        message_s: What of it a message without bytes takes t0 [s].

    Returns:
        Time [s].

    Valid: OSTs whose drives stream what is asked for, or have it in memory.
    Neglects: drives that have to move first; other requests there.
    Source: service time of a message and of its bytes, one after the other (ptlrpc bulk transfer: Lustre manual,
        "Understanding Lustre Networking").
    """
    message = np.minimum(as_float(message_s), as_float(known_s))
    bytes_s = (as_float(known_s) - message) * as_float(asked_B) / as_float(known_B)
    return as_float(message + bytes_s * as_float(slower))


def osc_rate(rpcs: ArrayLike, rpc_B: ArrayLike, service_s: ArrayLike, dirty_B: ArrayLike = np.inf) -> FloatArray:
    """Rate of one client to one OST by what may be in flight: min(rpcs x size, dirty) / t.

    Args:
        rpcs: osc.*.max_rpcs_in_flight [1].
        rpc_B: RPC size [B].
        service_s: Time of one RPC, round trip, transfer and disk included t [s].
        dirty_B: osc.*.max_dirty_mb for writes [B], inf for reads.

    Returns:
        Rate [B/s].

    Valid: sequential access with read-ahead or write-back that fills the RPCs.
    Neglects: RPCs that go out short.
    Source: Lustre manual, "Lustre Parameters" (max_rpcs_in_flight; max_dirty_mb of at least 4 x rpcs x
        size is advised); Little.
    """
    flying = np.minimum(as_float(rpcs) * as_float(rpc_B), as_float(dirty_B))
    return flying / as_float(service_s)


def osts_at_work(stripes: ArrayLike, stripe_B: ArrayLike, held_B: ArrayLike) -> FloatArray:
    """OSTs that one sequential stream keeps at work: min(n, 1 / (1 - d / s)), all of them where d is s or more.

    Of each stripe the last d bytes are still on their way while the stream is at the next OST; for the others it waits.

    Args:
        stripes: OSTs of the file n [1].
        stripe_B: Stripe size s [B].
        held_B: What the client has on its way to one OST that the stream has left d: osc.*.max_dirty_mb of a writer,
            half of the read-ahead of a reader, whose window moves over to the next OST byte by byte [B].

    Returns:
        OSTs [1].

    Valid: a stream that is faster than one OST, stripe after stripe.
    Neglects: several writers or chunks of one file, each at an OST of its own; the grant of a full OST.
    Source: Lustre, lustre/osc/osc_cache.c (osc_enter_cache: a writer waits for the dirty pages of one OSC);
        renewal-reward: s bytes in (s - d) / r seconds.
    """
    waited = 1.0 - as_float(held_B) / as_float(stripe_B)
    return np.where(waited > 0.0, np.minimum(as_float(stripes), 1.0 / np.maximum(waited, 1e-9)), as_float(stripes))


def read_ahead_rate(window_B: ArrayLike, rpc_B: ArrayLike, service_s: ArrayLike) -> FloatArray:
    """Rate of one sequential reader by its read-ahead window, in whole RPCs: max(floor(window / rpc), 1) rpc / t.

    Args:
        window_B: llite.*.max_read_ahead_per_file_mb [B].
        rpc_B: RPC size [B].
        service_s: Time of one RPC t [s].

    Returns:
        Rate [B/s].

    Valid: after the ramp of the window.
    Neglects: the ramp.
    Source: Lustre manual, "Lustre Parameters" (read-ahead in RPC-sized chunks); Little.
    """
    chunks = np.maximum(np.floor(as_float(window_B) / as_float(rpc_B)), 1.0)
    return chunks * as_float(rpc_B) / as_float(service_s)


def client_rate(rail_rate: ArrayLike, rails: ArrayLike, sockets: ArrayLike) -> FloatArray:
    """Ceiling of one client: R min(rails, sockets), at least R.

    Args:
        rail_rate: What a client moves over one rail R [B/s].
        rails: Network interfaces to the servers [1].
        sockets: Processor sockets [1].

    Returns:
        Rate [B/s].

    Valid: LNet multi-rail (2.10 and later), each interface served by the cores near it (CPU partition).
    Neglects: traffic between sockets.
    Source: Lustre manual, "LNet Software Multi-Rail" and "CPU Partition Table"; bottleneck law.
    """
    return as_float(rail_rate) * np.maximum(np.minimum(as_float(rails), as_float(sockets)), 1.0)
