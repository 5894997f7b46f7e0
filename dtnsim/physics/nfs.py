"""NFS: slots over the round trip, several connections, round trips of metadata, stable writes.

Times of many small files come from `metadata` with the round trips given here. All functions
broadcast.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float

#: Largest rsize and wsize, and largest nconnect, of Linux (nfs(5)).
MAX_IO_B: Final = 1048576
MAX_CONNECTIONS: Final = 16
#: Fixed slot table of clients before Linux 3.1 and of some current ones; newer tables grow to 65536,
#: some filers grant 128 (SUSE KB 7023238; Google Cloud NetApp, "Linux NFS concurrency").
OLD_SLOTS: Final = 16
FILER_SLOTS: Final = 128
#: Round trips of a small file that tar extracts: LOOKUP, exclusive CREATE, SETATTR, WRITE, SETATTR (RFC 1813).
K_CREATE: Final = 5.0
#: Round trips to look at an entry that is not cached: LOOKUP, and GETATTR or ACCESS (RFC 1813).
K_SCAN: Final = 2.0
#: Names that one READDIRPLUS brings: 62 requests for a directory of 1000 entries (Linux commit 82f2e5472e23).
NAMES_PER_REPLY: Final = 16.0
#: Round trips of a directory that rm opens, checks, reads and removes: GETATTR, ACCESS, READDIRPLUS, RMDIR.
K_REMOVE_DIRECTORY: Final = 4.0


def data_rate(
    slots: ArrayLike,
    io_B: ArrayLike,
    rtt_s: ArrayLike,
    service_s: ArrayLike = 0.0,
    connections: ArrayLike = 1,
    connection_rate: ArrayLike = np.inf,
    server_rate: ArrayLike = np.inf,
) -> FloatArray:
    """Rate of large reads or asynchronous writes.

    X = min(n slots io / (T + t_srv), n R_conn, R_server) over n connections.

    Args:
        slots: Requests in flight per connection [1].
        io_B: rsize or wsize [B].
        rtt_s: Round-trip time T [s].
        service_s: Server time of one request t_srv [s].
        connections: TCP connections n (nconnect) [1].
        connection_rate: Limit of one connection: TCP window, one core [B/s].
        server_rate: Limit of the server, or its share [B/s].

    Returns:
        Rate [B/s].

    Valid: enough read-ahead or dirty pages to fill the slots.
    Neglects: the time of the bytes on the wire when it is not small beside T (put it in `service_s`).
    Source: nfs(5); Little's law over the slot table; FreeBSD commit 9ec7dbf (nconnect).
    """
    n = np.clip(as_float(connections), 1.0, MAX_CONNECTIONS)
    window = n * as_float(slots) * as_float(io_B) / (as_float(rtt_s) + as_float(service_s))
    return np.minimum(window, np.minimum(n * as_float(connection_rate), as_float(server_rate)))


def slots_needed(rate: ArrayLike, io_B: ArrayLike, rtt_s: ArrayLike, service_s: ArrayLike = 0.0) -> FloatArray:
    """Requests in flight that a rate needs: X (T + t_srv) / io.

    Args:
        rate: Rate X [B/s].
        io_B: rsize or wsize [B].
        rtt_s: Round-trip time T [s].
        service_s: Server time of one request [s].

    Returns:
        Requests in flight over all connections [1].

    Valid: as `data_rate`.
    Neglects: as `data_rate`.
    Source: `data_rate` solved for the slots.
    """
    return as_float(rate) * (as_float(rtt_s) + as_float(service_s)) / as_float(io_B)


def stable_write_rate(
    slots: ArrayLike,
    io_B: ArrayLike,
    rtt_s: ArrayLike,
    stable_s: ArrayLike,
    stable_rate: ArrayLike,
    connections: ArrayLike = 1,
) -> FloatArray:
    """Write rate when the server answers only after stable storage has each WRITE (sync export).

    X = min(n slots io / (T + t_stable), R_stable).

    Args:
        slots: WRITEs in flight per connection; 1 for an application that writes with O_SYNC [1].
        io_B: wsize, or the application's block if smaller [B].
        rtt_s: Round-trip time T [s].
        stable_s: Latency of one stable write on the server t_stable [s].
        stable_rate: Rate of stable writes with many in flight R_stable [B/s].
        connections: TCP connections [1].

    Returns:
        Rate [B/s].

    Valid: exports(5) sync with a server that does not gather writes.
    Neglects: write gathering and battery-backed caches (then t_stable is theirs).
    Source: exports(5) and nfs(5); RFC 1813, section 3.3.7 (stable WRITE).
    """
    return data_rate(slots, io_B, rtt_s, stable_s, connections, np.inf, stable_rate)


def close_time(
    dirty_B: ArrayLike, rate: ArrayLike, rtt_s: ArrayLike, stable_s: ArrayLike = 0.0, commits: ArrayLike = 1
) -> FloatArray:
    """Time close() takes: what is dirty is written, then committed (close-to-open consistency).

    t = V_dirty / X + commits (T + t_stable).

    Args:
        dirty_B: Dirty bytes of the file at close [B].
        rate: Write rate, see `data_rate` [B/s].
        rtt_s: Round-trip time T [s].
        stable_s: Server time of a COMMIT [s].
        commits: COMMIT round trips; 0 where the last WRITE was stable [1].

    Returns:
        Time [s].

    Valid: without nocto and delegations.
    Neglects: the GETATTR that open costs the next reader (one round trip, count it in k).
    Source: nfs(5), "Data and metadata coherence".
    """
    commit = as_float(commits) * (as_float(rtt_s) + as_float(stable_s))
    return as_float(dirty_B) / as_float(rate) + commit


def remove_round_trips(files: ArrayLike, directories: ArrayLike = 0.0) -> FloatArray:
    """Round trips of rm -r over NFSv3: a REMOVE a file, whose name came with others in a READDIRPLUS.

    n = files (1 + 1/16) + 4 directories.

    Args:
        files: Files [1].
        directories: Directories [1].

    Returns:
        Round trips of the whole tree [1].

    Valid: names not cached before; READDIRPLUS fills the client's cache, so that no LOOKUP is left.
    Neglects: attributes that expire on the way (some per cent more).
    Source: RFC 1813, sections 3.3.12 (REMOVE), 3.3.13 (RMDIR), 3.3.17 (READDIRPLUS).
    """
    return as_float(files) * (1.0 + 1.0 / NAMES_PER_REPLY) + K_REMOVE_DIRECTORY * as_float(directories)


def create_round_trips(
    file_B: ArrayLike,
    io_B: ArrayLike = MAX_IO_B,
    slots: ArrayLike = OLD_SLOTS,
    setattrs: ArrayLike = 2,
    opens: ArrayLike = 2,
) -> FloatArray:
    """Round trips to create and write one file in a serial program (tar, cp).

    k = opens + ceil(ceil(b/io) / slots) + [b > io] + setattrs: LOOKUP that misses and CREATE, the
    WRITEs in waves of `slots`, a COMMIT unless one stable WRITE held all, times and mode set after.

    Args:
        file_B: Size of the file b [B].
        io_B: wsize [B].
        slots: WRITEs in flight [1].
        setattrs: SETATTRs after the data (tar: times and mode) [1].
        opens: Round trips to make the file (LOOKUP, CREATE) [1].

    Returns:
        Round trips k [1]; 5 for a small file of a tar archive.

    Valid: NFSv3; NFSv4 packs OPEN but adds CLOSE.
    Neglects: ACCESS and GETATTR that miss the attribute cache, directories along the path.
    Source: RFC 1813; c0t0d0s0.org, "tarxpathology"; agrees with the untar of the UCI LightPath report.
    """
    b, io = as_float(file_B), as_float(io_B)
    waves = np.ceil(np.ceil(b / io) / as_float(slots))
    commit = np.where(b > io, 1.0, 0.0)
    return as_float(opens) + waves + commit + as_float(setattrs)
