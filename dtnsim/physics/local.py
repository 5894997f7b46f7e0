"""Local file systems: what journals write and wait for, and what compression leaves of an extent.

All functions broadcast.
"""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float

#: part of the log that older copies of changed objects take up without delayed logging ("over 90 %", Linux
#: Documentation/filesystems/xfs-delayed-logging-design), and the kernel that has it by default
STALE: Final = 0.9
DELAYED_SINCE: Final = (2, 6, 39)


def written_bytes(data_journaled: ArrayLike) -> FloatArray:
    """Bytes that a drive writes for a byte of a file: 2 where data go through the journal too, else 1.

    Args:
        data_journaled: 1 with data=journal, 0 where only metadata are journaled [1].

    Returns:
        Bytes per byte [1].

    Valid: files much larger than their metadata; the journal on the same drives.
    Neglects: the journal's own blocks of metadata; a journal on another device.
    Source: Linux Documentation/filesystems/ext4 (data=journal: all data are committed into the journal prior to being
        written into the main file system).
    """
    return np.where(as_float(data_journaled) > 0.0, 2.0, 1.0)


def sync_time(waits: ArrayLike, positioning_s: ArrayLike) -> FloatArray:
    """Time until a drive has made a synchronous write durable, the transfer of the data left out: n t_pos.

    Args:
        waits: Writes that wait for each other behind a barrier n: the log's blocks, then their commit record [1].
        positioning_s: Positioning from the data to the log, and back t_pos; a turn where nothing but the log is
            written; of flash, a write and a flush of what its controller still holds [s].

    Returns:
        Time [s]; 23 ms on a disk of 7200 rpm and 7.4 ms of average seek.

    Valid: no memory that survives a loss of power; without barriers t_pos is a write into the drive's cache.
    Neglects: other synchronous writers, see `commit_turns`.
    Source: kernel.org, ext4: journal (barrier=1: the commit record is written after the blocks are flushed); SQLite
        FAQ 19 (each transaction waits for the platter twice: some 60 a second at 7200 rpm, "a few dozen"); Red Hat
        Enterprise Linux 6, Storage Administration Guide 22 (barriers flush drives' caches, nobarrier does not).
    """
    return as_float(waits) * as_float(positioning_s)


def commit_turns(writers: ArrayLike) -> FloatArray:
    """Commits that a synchronous writer waits for: the one under way, where there are others, and its own: min(k, 2).

    A log commits one transaction at a time. Who is done writes again and comes too late for the next one, which begins
    at once for those that came meanwhile: two halves of the writers take turns, and each waits for both.

    Args:
        writers: Synchronous writers at once k, at least 1 [1].

    Returns:
        Commits [1].

    Valid: writers that follow each call with the next, with data that take a small part of a commit.
    Neglects: how much longer a commit of more takes; drives with a queue for each core, which may flush for several.
    Source: Linux fs/jbd2/commit.c (one committing transaction), Documentation/admin-guide/ext4.rst (max_batch_time: a
        synchronous writer sleeps for a commit's time so that others join); block/blk-flush.c ("only one flush shall be
        in progress", double buffered).
    """
    return np.minimum(np.maximum(as_float(writers), 1.0), 2.0)


def logged_bytes(record_B: ArrayLike, stale: ArrayLike) -> FloatArray:
    """Bytes of the log that one change of metadata takes: b / (1 - stale).

    Without delayed logging every transaction writes again what earlier ones have changed in the same objects.

    Args:
        record_B: Bytes of the change itself and of its headers b [B].
        stale: Part of the log that holds older copies, 0 with delayed logging, clipped to 0..0.99 [1].

    Returns:
        Bytes [B].

    Valid: many changes of the same directories and inode clusters.
    Neglects: changes that have an object to themselves, which leave no older copies.
    Source: Linux Documentation/filesystems/xfs-delayed-logging-design ("over 90% of the space used in the log
        buffers"; "at least an order of magnitude" less with delayed logging).
    """
    return as_float(record_B) / (1.0 - np.clip(as_float(stale), 0.0, 0.99))


def forced_age(expire_s: ArrayLike, commit_s: ArrayLike, allocated: ArrayLike) -> FloatArray:
    """Age at which written data go to the medium: that of the page cache, or of the journal's next commit.

    A commit in ordered mode first writes the data of the blocks that it allocates; with delayed allocation nothing is
    allocated before write-back.

    Args:
        expire_s: Age at which write-back takes dirty pages [s].
        commit_s: Interval of commits [s].
        allocated: 1 where blocks are allocated when they are written to (nodelalloc), or data are journaled [1].

    Returns:
        Age [s].

    Valid: ext4 and jbd2.
    Neglects: commits that an fsync of another file brings forward.
    Source: Linux Documentation/admin-guide/ext4 (data=ordered, commit=5, nodelalloc).
    """
    return np.where(as_float(allocated) > 0.0, np.minimum(as_float(expire_s), as_float(commit_s)), as_float(expire_s))


#: most bytes that are compressed as one extent (btrfs(5), "Compression"), and what extents are rounded up to
COMPRESSED_B: Final = 131072.0
SECTOR_B: Final = 4096.0


def stored_share(ratio: ArrayLike) -> FloatArray:
    """Bytes stored for a byte of a compressed file: ceil(e / (r s)) s / e, at most 1, of extents e and sectors s.

    Args:
        ratio: Bytes for each byte that the algorithm leaves r [1].

    Returns:
        Share [1].

    Valid: files of many extents.
    Neglects: the heuristic that leaves what does not compress; inline extents of small files.
    Source: btrfs(5), "Compression" (128 KiB at a time); Linux fs/btrfs/inode.c compress_file_range (kept only
        where a sector is saved).
    """
    sectors = np.ceil(np.round(COMPRESSED_B / as_float(ratio) / SECTOR_B, 9))
    return np.minimum(sectors * SECTOR_B / COMPRESSED_B, 1.0)


def extent_load(request_B: ArrayLike) -> FloatArray:
    """Bytes read and decompressed for a byte of a small read: max(e / q, 1), of extents of 128 KiB e.

    Args:
        request_B: Bytes of the read q [B].

    Returns:
        Ratio [1].

    Valid: reads that each meet an extent of their own.
    Neglects: reads that cross from one extent to the next.
    Source: btrfs(5), "Compression" (an extent is decompressed as a whole).
    """
    return np.maximum(COMPRESSED_B / as_float(request_B), 1.0)
