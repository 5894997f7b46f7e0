"""Copies and coded shards (Ceph, WEKA, DAOS): what is stored, what crosses the servers' ports, what a request costs.

All functions broadcast.
"""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float

#: 1 + 1/2 + ... + 1/c by the number of copies or shards c; erasure codes have 48 at most here
_HARMONIC: Final = np.cumsum([0.0, *(1.0 / n for n in range(1, 49))])

_SMALL_B: Final = 4096.0  #: what makers and benchmarks call a small request [B]


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


def shard_bytes(part_B: ArrayLike, stored_per_byte: ArrayLike, shards: ArrayLike, arrays: ArrayLike) -> FloatArray:
    """Bytes that one array moves for a part of an object before its drives position for the next: s B / min(n, a).

    Args:
        part_B: Bytes of the part, or of an object that is smaller B [B].
        stored_per_byte: Bytes on drives for one of the part s, 1 where it is read [1].
        shards: Copies or shards that it is written to or read from n, each on a drive of its own [1].
        arrays: Arrays behind the store, or single drives a [1].

    Returns:
        Bytes a visit [B]: 4 kB on each of twelve disks for an object of 40 kB in ten data shards.

    Valid: objects at random places, each part of them in one piece.
    Neglects: positioning for the object's own metadata and for the log, which commits of many at once share.
    Source: MinIO documentation, "Erasure Coding" (data and parity shards of each object on the drives of its set);
        cmd/xl-storage.go (a file on each drive for each part).
    """
    return as_float(part_B) * as_float(stored_per_byte) / np.minimum(as_float(shards), as_float(arrays))


def ceph_port_bytes(
    stored_per_byte: ArrayLike, data: ArrayLike, reading: ArrayLike, here: ArrayLike = 0.0
) -> FloatArray:
    """Bytes through the busier direction of the nodes' ports for a byte of data.

    Written: the primary takes the byte in, and every other copy or shard comes in at another node. Read: it goes out
    once; of a coded object k - 1 of k shards come to the primary first.

    Args:
        stored_per_byte: See `stored` [1].
        data: Data shards k, 0 for a replicated pool [1].
        reading: 1 for reads, 0 for writes [1].
        here: Part of the objects whose primary is on the client's own node [1].

    Returns:
        Bytes per byte, over all nodes together [1].

    Valid: client and cluster traffic on the same ports, which are full duplex; shards on different nodes.
    Neglects: a cluster network of its own (then the ports count twice).
    Source: Ceph documentation, "Architecture" (primary-copy replication; the primary encodes and decodes).
    """
    shard = 1.0 / np.maximum(as_float(data), 1.0)
    return 1.0 - as_float(here) + np.where(as_float(reading) > 0.0, 1.0 - shard, as_float(stored_per_byte) - shard)


def ceph_client_bytes(stored_per_byte: ArrayLike, data: ArrayLike, reading: ArrayLike, here: ArrayLike) -> FloatArray:
    """Bytes through the busier direction of a client's own port for a byte of data, where it is one of the nodes.

    What has its primary here passes no wire on its way to it: 1 - h. The primary here sends every copy or shard but its
    own to other nodes; of a coded object that is read it gathers k - 1 of k shards.

    Args:
        stored_per_byte: See `stored` [1].
        data: Data shards k, 0 for a replicated pool [1].
        reading: 1 for reads, 0 for writes [1].
        here: Part of the objects whose primary is on the client's own node h: 1 / nodes, or 0 [1].

    Returns:
        Bytes per byte [1].

    Valid: primaries spread evenly over equal nodes (CRUSH); client and cluster traffic on the same port.
    Neglects: what other clients' objects bring to this node.
    Source: Ceph documentation, "Architecture" (clients ask the primary, which sends the copies).
    """
    k, h = as_float(data), as_float(here)
    sent = np.where(as_float(reading) > 0.0, 1.0, as_float(stored_per_byte)) - 1.0 / np.maximum(k, 1.0)
    return 1.0 - h + h * sent


def pool_rate(
    request_B: ArrayLike,
    in_flight: ArrayLike,
    osds: ArrayLike,
    parts: ArrayLike,
    service_s: ArrayLike,
    away_s: ArrayLike = 0.0,
) -> FloatArray:
    """Rate of N requests in flight, each at c OSDs that a hash chooses out of M, and done when the last of them is.

    A request meets (N - 1) c R / (M T) others at each of its OSDs (mean value analysis, Schweitzer's approximation), R
    being its time there and T its whole time, and waits W for them; the longest of c independent waits is H_c W in
    the mean, H_c = 1 + 1/2 + ... + 1/c. So T = Z + s + H W with H W^2 + (Z + s - s a) W - a s^2 = 0,
    a = (N - 1) c / M, and X = N b / T.

    Args:
        request_B: Bytes of a request b [B].
        in_flight: Requests in flight N [1].
        osds: OSDs M [1].
        parts: OSDs that each request waits for c: copies or shards that are written, shards that are read [1].
        service_s: Time of one OSD for its part of a request s [s].
        away_s: Time of a request besides: messages, the wire, the client Z [s].

    Returns:
        Rate [B/s]: N b / (Z + s) where nothing queues; of single parts without Z that of a closed product-form network,
        N M b / (s (N + M - 1)); M b / (c s) where all OSDs are busy.

    Valid: requests hashed evenly over equal OSDs, c <= M; requests of one OSD taken in turn.
    Neglects: unlike OSDs, pools of few placement groups; pauses while a journal is synchronised.
    Source: Ceph documentation, "Architecture" (CRUSH; a write is acknowledged when all replicas have it); Y. Bard,
        "Some Extensions to Multiclass Queueing Network Analysis" (1979), and Reiser and Lavenberg, JACM 27(2), 1980;
        R. Nelson, A. N. Tantawi, IEEE Trans. Computers 37(6), 1988 (fork-join: H_c of exponential times).
    """
    n, s, away = as_float(in_flight), as_float(service_s), as_float(away_s)
    longest = np.interp(as_float(parts), np.arange(len(_HARMONIC)), _HARMONIC)
    met = np.maximum(n - 1.0, 0.0) * as_float(parts) / as_float(osds)
    linear = away + s - s * met
    waited = (np.sqrt(linear**2 + 4.0 * longest * met * s**2) - linear) / (2.0 * longest)
    return as_float(n * as_float(request_B) / (away + s + longest * waited))


_NAUTILUS: Final = (0.40, 0.43)
#: releases of Ceph and what an OSD of theirs does of what one of Pacific does: small reads, small writes. Nautilus and
#: Octopus on the same hardware as Pacific: 0.8, 1.9 and 2.7 million reads, writes as 28 to 68 to 66 (chart of "Reef - 1
#: or 2 OSDs per NVMe?", ceph.io, 2023); Luminous 27,000 reads and 12,000 writes an OSD (Micron, two to a drive), for it
#: and Nautilus the geometric means; Quincy 648,620 writes to 527,603 (RocksDB Tuning Deep-Dive, 2022), Reef 800,000
#: (Reef Freeze, 2023); reads of Quincy and Reef are alike, and take a core as long as those of Pacific (PR 51821)
OSD_SMALL: Final = {
    "luminous": _NAUTILUS,
    "mimic": _NAUTILUS,
    "nautilus": _NAUTILUS,
    "octopus": (0.70, 1.03),
    "pacific": (1.0, 1.0),
    "quincy": (1.0, 1.23),
    "reef": (1.0, 1.52),
    "squid": (1.0, 1.52),
}


def osd_time(request_B: ArrayLike, object_B: ArrayLike, object_s: ArrayLike, small_s: ArrayLike) -> FloatArray:
    """Time of an OSD for a request between what is known of requests of 4 KiB and of whole objects, on a line.

    Args:
        request_B: Bytes of the request b [B].
        object_B: Bytes of an object o [B].
        object_s: Its time for a whole object [s].
        small_s: Its time for a request of 4 KiB [s].

    Returns:
        Seconds, no fewer than the object's rate allows [s].

    Valid: requests that each move a disk's heads, or cost a flash drive's OSD its processor; b from 4 KiB to o.
    Neglects: neighbours that a journal or a read-ahead joins.
    Source: positioning and transfer add up (a disk's service time); Ceph documentation, "Journal Config Reference" and
        "BlueStore" (each write is in the journal or log, and in its place).
    """
    small, span = as_float(small_s), np.maximum(as_float(object_B) - _SMALL_B, 1.0)
    part = np.clip((as_float(request_B) - _SMALL_B) / span, 0.0, 1.0)
    moved = as_float(object_s) * as_float(request_B) / as_float(object_B)
    return np.maximum(small + (as_float(object_s) - small) * part, moved)


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


def weka_port_bytes(stored: ArrayLike, servers: ArrayLike, reading: ArrayLike) -> FloatArray:
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
