"""NFS, SMB and iSCSI: requests in flight over the round trip, several connections, round trips of metadata and writes.

All functions broadcast.
"""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float

#: Names that one READDIRPLUS brings: 62 requests for a directory of 1000 entries (Linux commit 82f2e5472e23).
NAMES_PER_REPLY: Final = 16.0


def data_rate(
    slots: ArrayLike, io_B: ArrayLike, rtt_s: ArrayLike, service_s: ArrayLike, connections: ArrayLike = 1
) -> FloatArray:
    """Rate of large reads or writes by the requests in flight: n slots io / (T + t_srv).

    Args:
        slots: Requests in flight per connection [1].
        io_B: rsize or wsize, or the program's own block where nothing joins its requests [B].
        rtt_s: Round-trip time T [s].
        service_s: Server time of one request, stable storage included where the client asks for it t_srv [s].
        connections: TCP connections n (nconnect) [1].

    Returns:
        Rate [B/s].

    Valid: enough read-ahead or dirty pages to fill the slots.
    Neglects: the time of the bytes on the wire when it is not small beside T (put it in `service_s`).
    Source: nfs(5); Little's law over the slot table; FreeBSD commit 9ec7dbf (nconnect).
    """
    flying = as_float(connections) * as_float(slots) * as_float(io_B)
    return flying / (as_float(rtt_s) + as_float(service_s))


def service_time(request_s: ArrayLike, byte_s: ArrayLike, request_B: ArrayLike) -> FloatArray:
    """Time that a thread of the server takes for one request whose data are in memory: t + c b.

    Args:
        request_s: Time of a request without data t [s].
        byte_s: Time of each of its bytes, copied or sent c [s/B].
        request_B: Bytes of the request b [B].

    Returns:
        Time [s].

    Valid: data in the server's memory; drives are waited for besides.
    Neglects: what a reply waits for behind others on its connection.
    Source: github beckerg/nct, README: one GETATTR after the other 14.5 us, one READ of 128 KiB after the other 77 us
        at 100 Gb/s, 32.6 and 193 us at 10 Gb/s.
    """
    return as_float(request_s) + as_float(byte_s) * as_float(request_B)


#: Kernels from which on slots of a connection are added as needed (3.1, commit d9ba131d8f58; RHEL 6.3 has it in
#: 2.6.32), read-ahead is that of any device (c128e575514c), SMB asks for 4 MiB (3d621230b867), reads two ahead and
#: keeps a handle open for a second more (c3f207ab29f7).
DYNAMIC_SLOTS, SMALL_READ_AHEAD, LARGE_SMB, DEEP_SMB = (2, 6, 32), (5, 4), (4, 20), (5, 13)


def largest_request(memory_B: ArrayLike) -> FloatArray:
    """Largest READ or WRITE that a server agrees to: the power of two in a 4096th of its memory, 8 KiB to 1 MiB.

    Args:
        memory_B: Memory of the server that its kernel has [B].

    Returns:
        Bytes [B]; 1 MiB with 4 GiB and more, 32 KiB with 128 MiB.

    Valid: the kernel's server, Linux 2.6.20 and later, max_block_size not set.
    Neglects: what the kernel has taken of the memory that was bought, which halves this for boxes of just 4 GiB.
    Source: Linux fs/nfsd/nfssvc.c, nfsd_get_default_max_blksize.
    """
    return np.clip(np.exp2(np.floor(np.log2(as_float(memory_B) / 4096.0))), 8192.0, 2.0**20)


def read_ahead_bytes(requests: ArrayLike, rsize_B: ArrayLike) -> FloatArray:
    """Bytes that Linux reads ahead on a mount: requests x rsize; what a reader gets of them is `cache.read_ahead_rate`.

    Args:
        requests: Requests of a read-ahead: of NFS 15 (NFS_MAX_READAHEAD), of SMB 2, and 1 before Linux 5.13 [1].
        rsize_B: rsize [B].

    Returns:
        Window of one sequential reader [B].

    Valid: SMB mounts without ``rasize``; of NFS, Linux before 5.4, from which on mounts have the 128 KiB of any device
        (commit c128e575514c; Microsoft, Linux NFS read-ahead best practices for Azure NetApp Files: so RHEL from 8.3
        and Ubuntu from 18.04 on).
    Neglects: the ramp of the window.
    Source: Linux fs/nfs/client.c (server->backing_dev_info.ra_pages = server->rpages * NFS_MAX_READAHEAD);
        fs/smb/client/cifsfs.c, cifs_read_super (ra_pages of two rsize; of one in the releases before).
    """
    return as_float(requests) * as_float(rsize_B)


def revalidation(objects: ArrayLike, attribute_s: ArrayLike, request_s: ArrayLike) -> FloatArray:
    """GETATTRs of attributes that expire, for each request that does the work: n t / max(T_ac, t).

    A serial program sends a request every t seconds. The directories on the way to its files are in use all the
    time, and each is asked for again when its attributes are T_ac old: each time that one walks there, at most.

    Args:
        objects: Directories in use at a time n [1].
        attribute_s: Time that a directory's attributes are trusted T_ac (acdirmin, 0 with noac) [s].
        request_s: Time from one request to the next t [s].

    Returns:
        Requests, 0 to n [1].

    Valid: serial programs that run longer than T_ac; names seen once (the next file is another one).
    Neglects: attributes that come with the answers (WCC data) and save some of these; acdirmax, to which T_ac
        grows where nothing changes; what these requests take of the server's threads.
    Source: nfs(5), "Attribute caching" (acdirmin 30 s, noac); Linux fs/nfs/dir.c, nfs_check_verifier (the parent of
        each name on the way), inode.c, nfs_attribute_cache_expired; RFC 1813, section 3.3.1 (GETATTR).
    """
    elapsed = np.maximum(as_float(request_s), 1e-30)
    return as_float(objects) * elapsed / np.maximum(as_float(attribute_s), elapsed)


def trusted_share(files: ArrayLike, apart_s: ArrayLike, attribute_s: ArrayLike) -> FloatArray:
    """Part of the files just made whose attributes the client still trusts when it looks at them: min(T_ac / (N t), 1).

    Files are made t seconds apart and looked at in the same order, much faster: what is trusted is the last T_ac.

    Args:
        files: Files that a program has made N [1].
        apart_s: Time from one to the next t [s].
        attribute_s: Time that a file's attributes are trusted T_ac (acregmin) [s].

    Returns:
        Share, 0 to 1 [1].

    Valid: files that nobody else changes; looked at by the client that has made them, once.
    Neglects: attributes that grow older while others are looked at; acregmax.
    Source: nfs(5), "Attribute caching": acregmin 3 s; Linux fs/nfs/inode.c, nfs_attribute_cache_expired.
    """
    return np.minimum(as_float(attribute_s) / np.maximum(as_float(files) * as_float(apart_s), 1e-30), 1.0)


def commits(file_B: ArrayLike, wsize_B: ArrayLike) -> FloatArray:
    """COMMITs at the close of a file: one, or none where a single stable WRITE held all of it.

    Args:
        file_B: Size of the file [B].
        wsize_B: wsize [B].

    Returns:
        Requests [1].

    Valid: NFSv3 and later, buffered writes.
    Neglects: COMMITs that write-back sends before the close.
    Source: RFC 1813, section 3.3.21 (COMMIT); Linux fs/nfs/pagelist.c (a lone request goes out as FILE_SYNC).
    """
    return np.where(as_float(file_B) > as_float(wsize_B), 1.0, 0.0)


def commit_wait(sent_B: ArrayLike, begins_B: ArrayLike, sent_s: ArrayLike, drives_s: ArrayLike) -> FloatArray:
    """Time of a COMMIT beside what network and drives do at once: min(V, b) min(c_net, c_disk).

    A server writes nothing before b bytes have gathered, or somebody asks: network and drives take V max(c_net, c_disk)
    side by side, and one of them b bytes alone, at the beginning or at the end.

    Args:
        sent_B: Bytes that are written before the COMMIT V [B].
        begins_B: Dirty bytes at which the server's own write-back begins, and below which it ends b [B].
        sent_s: Time of a byte on the way to the server c_net [s/B].
        drives_s: Time of a byte at its drives c_disk [s/B].

    Returns:
        Time [s].

    Valid: a server whose memory is clean at the start, one COMMIT for all.
    Neglects: COMMITs that write-back of the client sends before, so that both may wait for each other in rounds.
    Source: RFC 1813, section 3.3.21; Linux fs/nfsd/vfs.c, nfsd_commit (vfs_fsync_range); mm/page-writeback.c,
        wb_over_bg_thresh.
    """
    late = np.minimum(as_float(sent_B), as_float(begins_B))
    return late * np.minimum(as_float(sent_s), as_float(drives_s))


#: Payload that one credit allows (MS-SMB2, section 3.1.5.2: CreditCharge = (size - 1) / 65536 + 1).
CREDIT_B: Final = 65536.0


def credits_rate(
    granted: ArrayLike, io_B: ArrayLike, rtt_s: ArrayLike, service_s: ArrayLike, channels: ArrayLike = 1
) -> FloatArray:
    """Rate by the credits that a server grants: requests of ceil(io / 64 KiB) credits, n c / charge x io / (T + t).

    Args:
        granted: Credits of one channel c [1].
        io_B: Bytes of one request [B].
        rtt_s: Round-trip time T [s].
        service_s: Server time of one request t [s].
        channels: Channels n (multichannel) [1].

    Returns:
        Rate [B/s].

    Valid: enough read-ahead or dirty pages to use the credits, at least one request's worth of them.
    Neglects: credits that grow with use at the start of a session.
    Source: MS-SMB2, sections 3.1.5.2 and 3.3.1.2 (multi-credit requests, granting of credits); Little.
    """
    charge = -(-as_float(io_B) // CREDIT_B)
    flying = as_float(channels) * as_float(granted) / charge * as_float(io_B)
    return flying / (as_float(rtt_s) + as_float(service_s))


def solicited_trips(write_B: ArrayLike, first_B: ArrayLike, burst_B: ArrayLike) -> FloatArray:
    """Round trips of a write whose data the receiver asks for in bursts, one at a time: 1 + ceil(max(s - f, 0) / b).

    Args:
        write_B: Bytes of the write s [B].
        first_B: Bytes that come with it unasked f [B].
        burst_B: Bytes that are asked for at once b [B].

    Returns:
        Round trips [1].

    Valid: one request for data outstanding (MaxOutstandingR2T 1, the default).
    Neglects: the time of the bytes on the wire.
    Source: RFC 7143, sections 4.2.4.2 (unsolicited data, R2T), 13.13, 13.14 and 13.17.
    """
    left = np.maximum(as_float(write_B) - as_float(first_B), 0.0)
    return as_float(1.0 + np.ceil(left / as_float(burst_B)))
