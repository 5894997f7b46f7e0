"""What streams and files cost a hard disk: visits, turns, new files, shingled bands.

Conventions: ``rate`` [B/s] is the media rate of one disk, ``visit_B`` the bytes one disk serves to one stream before
the heads leave for the next stream. All functions broadcast.
"""

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float


def visits_cost(
    file_B: ArrayLike,
    rate: ArrayLike,
    visit_B: ArrayLike,
    *,
    first_s: ArrayLike,
    later_s: ArrayLike = 0.0,
    places: ArrayLike = 1.0,
) -> FloatArray:
    """Disk time of files, over that of their bytes alone: 1 + R (m t_1 + max(s / b - m, 0) t_2) / s.

    Each disk that holds a part of a file positions to it, however many read; what follows on that disk costs a
    positioning at each visit where the heads have been elsewhere meanwhile. Blocks of metadata that a new file needs
    besides are such places too, whose bytes are next to none.

    Args:
        file_B: Mean file size s, infinite for a stream without end [B].
        rate: Media rate of a disk R [B/s].
        visit_B: Contiguous bytes of one visit b [B].
        first_s: Positioning of a disk to its part of a file, or to metadata in the sorted sweep t_1 [s].
        later_s: Positioning to each later visit t_2, 0 where one stream has the disk to itself [s].
        places: Disks m that hold a part of the file, each of which has to position; or its share of inode and directory
            blocks [1].

    Returns:
        Factor on the disk time of a byte [1], at least 1; tends to 1 + R t_2 / b for large files.

    Valid: files not stored next to each other, read from their beginning to their end; each read once, inodes in the
        same place or in memory; delayed allocation, by which the data of new files follow each other.
    Neglects: neighbouring files that one read-ahead catches; a last visit that is not full; the journal's own transfer
        (sequential, a few per cent), barriers.
    Source: time per file, s/R to transfer and a positioning to each of its visits (Ruemmler and Wilkes 1994); ext4
        disk layout (kernel.org: 256-B inodes, 16 in a 4-KiB block).
    """
    s, b, m = as_float(file_B), as_float(visit_B), as_float(places)
    later = np.maximum(1.0 / b - m / s, 0.0)
    return 1.0 + as_float(rate) * (m / s * as_float(first_s) + later * as_float(later_s))


def visit_bytes(window_B: ArrayLike, data_disks: ArrayLike) -> FloatArray:
    """Bytes one disk serves per visit when a window is striped over an array.

    B = window / data disks. The window is the read-ahead of the array device for reads and the
    write-back run of one file for buffered writes.

    Args:
        window_B: Read-ahead or write-back run of one stream on the array [B].
        data_disks: Disks the window is spread over [1].

    Returns:
        Bytes per disk and visit [B].

    Valid: window of at least one chunk per disk; below that fewer disks serve each visit.
    Neglects: merging of neighbouring windows in the scheduler.
    Source: geometry of striping.
    """
    return as_float(window_B) / as_float(data_disks)


def interleaved_rate(streams: ArrayLike, rate: ArrayLike, visit_B: ArrayLike, switch_s: ArrayLike) -> FloatArray:
    """Aggregate rate of a disk (or of each disk of an array) that serves several sequential streams.

    R_agg = B / (B/R + t_sw) for n >= 2 streams, R for n = 1; linear in t_sw between 1 and 2, so that
    a fluid number of streams has no step.

    Args:
        streams: Sequential streams n that want this disk at the same time [1].
        rate: Media rate R [B/s].
        visit_B: Bytes B served to a stream before the next one gets its turn [B].
        switch_s: Seek over the gap between two streams and half a turn, t_sw [s].

    Returns:
        Sum of the streams' rates [B/s]. Not the number of streams but B sets the loss.

    Valid: every stream keeps its own read-ahead or write-back run; equal turns.
    Neglects: the loss of sequential detection in arrays that track few streams (then B falls to the
        request size); several streams merged in one sweep.
    Source: time per visit, B/R to transfer and t_sw to get there; Li, Shen and Papathanasiou,
        "Competitive prefetching for concurrent sequential I/O", EuroSys 2007.
    """
    switching = np.clip(as_float(streams) - 1.0, 0.0, 1.0) * as_float(switch_s)
    return as_float(rate) / visits_cost(np.inf, rate, visit_B, first_s=0.0, later_s=switching)


def writeback_visit_bytes(rate: ArrayLike) -> FloatArray:
    """Bytes of one file that the Linux write-back writes before it turns to the next file: max(4 MiB, R x 0.5 s).

    Args:
        rate: Rate at which the device writes R [B/s].

    Returns:
        Bytes a file and turn [B].

    Valid: Linux from 3.2 on; buffered writes of files larger than that.
    Neglects: the cap by the dirty limit; older kernels, which wrote 4 MiB.
    Source: Linux fs/fs-writeback.c, writeback_chunk_size (half of the measured bandwidth, at least
        MIN_WRITEBACK_PAGES = 4 MiB).
    """
    return np.maximum(4.0 * 2**20, 0.5 * as_float(rate))


def shingled_write_time(
    size_B: ArrayLike, cache_B: ArrayLike, rate: ArrayLike, request_B: ArrayLike, band_B: ArrayLike
) -> FloatArray:
    """Time to write to a drive-managed shingled disk: persistent cache first, then cleaning of whole bands.

    t = V_1 / R + V_2 (1 + 2 a) / R with V_1 = min(V, cache), V_2 the rest, a = max(1, band / request): once the
    cache is full, each byte that comes in is written there and its band is read and written anew.

    Args:
        size_B: Bytes written V [B].
        cache_B: Persistent cache, empty at the start [B].
        rate: Media rate R [B/s].
        request_B: Contiguous bytes that meet in one band: the request for random writes [B].
        band_B: Shingled band [B].

    Returns:
        Time [s]; a third of the media rate is left for long sequential writes, far less for random ones.

    Valid: drives that pass all writes through their cache.
    Neglects: sequential writes that a drive recognises and puts into the bands directly; cleaning in pauses; several
        random writes that meet in one band.
    Source: Aghayev and Desnoyers, "Skylight: a window on shingled disk operation", FAST 2015 (persistent cache of
        tens of GB, bands of 15 to 40 MiB, cleaning by read-modify-write of a band).
    """
    size, speed = as_float(size_B), as_float(rate)
    first = np.minimum(size, as_float(cache_B))
    moved = np.maximum(as_float(band_B) / as_float(request_B), 1.0)
    return first / speed + (size - first) * (1.0 + 2.0 * moved) / speed


def run_cost(run_B: ArrayLike, gap_B: ArrayLike, rate: ArrayLike, positioning_s: ArrayLike) -> FloatArray:
    """Disk time of data that lie in runs, over that of contiguous data: 1 + min(g, R t_pos) / r.

    The heads pass over a short gap at the media rate, and position over a long one.

    Args:
        run_B: Contiguous bytes on one disk r, infinite on a fresh file system [B].
        gap_B: Bytes between one run and the next g [B].
        rate: Media rate of the disk R [B/s].
        positioning_s: Positioning from one run to the next t_pos [s].

    Returns:
        Factor [1], at least 1.

    Valid: runs that are met in the order of their places (a file written in one go, a sorted write-back).
    Neglects: read-ahead of the drive that begins in a gap.
    Source: time to pass a gap, g / R, or to position (Ruemmler and Wilkes 1994).
    """
    speed = as_float(rate)
    return 1.0 + np.minimum(as_float(gap_B), speed * as_float(positioning_s)) / as_float(run_B)


def gap_bytes(run_B: ArrayLike, filled: ArrayLike) -> FloatArray:
    """Bytes in use between two free runs: r f / (1 - f).

    Args:
        run_B: Free run r [B].
        filled: Part of the space that is in use f, clipped to 0..0.99 [1].

    Returns:
        Gap [B].

    Valid: free runs spread evenly over the space.
    Neglects: empty regions at the end of a disk, which an allocator takes first.
    Source: r free bytes in every r / (1 - f).
    """
    f = np.clip(as_float(filled), 0.0, 0.99)
    run = as_float(run_B)
    return np.where(f > 0.0, run * f / (1.0 - f), 0.0)
