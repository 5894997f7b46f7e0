"""The page cache: what buffered, fdatasync and dsync writers see, the record-size law, read-ahead.

Rates: ``memory_rate`` is that of the writer into memory (copy and file-system code), ``disk_rate``
that of write-back to the device. All functions broadcast.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float

#: vm.dirty_background_ratio and vm.dirty_ratio of Linux (mm/page-writeback.c).
DIRTY_BACKGROUND_RATIO: Final = 0.10
DIRTY_RATIO: Final = 0.20
#: Read-ahead of a Linux block device unless it is set (VM_READAHEAD_PAGES, 128 KiB).
LINUX_READAHEAD_B: Final = 131072


def dirty_limits(
    dirtyable_B: ArrayLike,
    background_ratio: ArrayLike = DIRTY_BACKGROUND_RATIO,
    ratio: ArrayLike = DIRTY_RATIO,
) -> tuple[FloatArray, FloatArray]:
    """Background threshold and limit of dirty memory.

    Args:
        dirtyable_B: Free plus reclaimable page-cache memory [B].
        background_ratio: vm.dirty_background_ratio [1].
        ratio: vm.dirty_ratio [1].

    Returns:
        (background, limit) [B]; a background at or above the limit becomes half of it.

    Valid: one memory domain, limits given as ratios.
    Neglects: the per-device and per-cgroup shares of both.
    Source: Linux mm/page-writeback.c, domain_dirty_limits.
    """
    memory = as_float(dirtyable_B)
    limit = as_float(ratio) * memory
    return below_limit(as_float(background_ratio) * memory, limit), limit


def below_limit(background_B: ArrayLike, limit_B: ArrayLike) -> FloatArray:
    """Background threshold as Linux takes it: half of the limit where it is set at or above the limit.

    Args:
        background_B: Threshold as set [B].
        limit_B: Dirty limit [B].

    Returns:
        Threshold [B].

    Valid: limits as ratios or as bytes.
    Neglects: nothing.
    Source: Linux mm/page-writeback.c, domain_dirty_limits.
    """
    background, limit = as_float(background_B), as_float(limit_B)
    return np.where(background >= limit, 0.5 * limit, background)


def dirtyable_bytes(memory_B: ArrayLike, used_B: ArrayLike) -> FloatArray:
    """Memory that the page cache may have: what programs do not hold.

    Args:
        memory_B: Memory of the host [B].
        used_B: Anonymous memory of programs [B].

    Returns:
        Memory [B], never below a thousandth of the host's.

    Valid: one memory domain without swapping.
    Neglects: the kernel's own slabs and reserves (a few per cent).
    Source: Linux mm/page-writeback.c, global_dirtyable_memory: free plus file pages.
    """
    memory = as_float(memory_B)
    return np.maximum(memory - as_float(used_B), 1e-3 * memory)


def water_filled(sizes_B: ArrayLike, room_B: float) -> FloatArray:
    """How much of a shared room each of several writers that fill it side by side comes to hold.

    Args:
        sizes_B: Bytes that each of them writes (n,) [B].
        room_B: Bytes that all may hold together [B].

    Returns:
        (n,) [B]: all that is written where everything fits, else the same level for all who would pass it.

    Valid: writers that start together and fill at the same rate.
    Neglects: writers of different speed (the faster holds more).
    Source: max-min fairness; Linux throttles each task to its share of the limit (balance_dirty_pages).
    """
    sizes = as_float(sizes_B)
    order = np.sort(sizes)
    before = np.concatenate([[0.0], np.cumsum(order)[:-1]])
    levels = (room_B - before) / np.arange(order.size, 0, -1)
    fits = levels < order
    return sizes if not fits.any() else np.minimum(sizes, levels[int(np.argmax(fits))])


def free_run_ceiling(background_B: ArrayLike, limit_B: ArrayLike) -> FloatArray:
    """Dirty memory below which no writer is throttled: (background + limit) / 2.

    Args:
        background_B: Background threshold, at most the limit [B].
        limit_B: Dirty limit [B].

    Returns:
        Ceiling [B].

    Valid: as `dirty_limits`.
    Neglects: strictlimit devices (FUSE), which are held to their own share.
    Source: Linux mm/page-writeback.c, dirty_freerun_ceiling.
    """
    limit = as_float(limit_B)
    return 0.5 * (np.minimum(as_float(background_B), limit) + limit)


def free_run_bytes(
    background_B: ArrayLike, limit_B: ArrayLike, memory_rate: ArrayLike, disk_rate: ArrayLike
) -> FloatArray:
    """Bytes a writer produces before it is throttled, with write-back draining meanwhile.

    F = bg + (ceiling - bg) R_mem / (R_mem - R_disk): dirty memory grows at R_mem up to the background
    threshold, at R_mem - R_disk above it.

    Args:
        background_B: Dirty memory at which write-back begins [B].
        limit_B: Dirty limit [B].
        memory_rate: Rate of the writer R_mem [B/s].
        disk_rate: Rate of write-back R_disk [B/s].

    Returns:
        Bytes [B], at least the free-run ceiling; capped at 1e9 ceilings where the disk keeps up.

    Valid: memory clean at the start; one writer, or the sum of all of them.
    Neglects: pages older than 30 s, which are written before the threshold.
    Source: conservation of dirty pages with the thresholds of Linux mm/page-writeback.c.
    """
    return filled_bytes(background_B, free_run_ceiling(background_B, limit_B), memory_rate, disk_rate)


def filled_bytes(
    background_B: ArrayLike, ceiling_B: ArrayLike, memory_rate: ArrayLike, disk_rate: ArrayLike
) -> FloatArray:
    """Bytes a writer has produced when dirty memory reaches a level, write-back draining from the threshold on.

    F = bg + (C - bg) R_mem / (R_mem - R_disk).

    Args:
        background_B: Dirty memory at which write-back begins [B].
        ceiling_B: Level of dirty memory at which the writer is throttled C [B].
        memory_rate: Rate of the writer R_mem [B/s].
        disk_rate: Rate of write-back R_disk [B/s].

    Returns:
        Bytes [B], at least the ceiling; capped at 1e9 ceilings where the disk keeps up.

    Valid: memory clean at the start; one writer, or the sum of all of them.
    Neglects: a writer that is slowed before it is stopped (OpenZFS delays from 60 % of its limit on).
    Source: conservation of dirty bytes.
    """
    ceiling = as_float(ceiling_B)
    background = np.minimum(as_float(background_B), ceiling)
    fast = as_float(memory_rate)
    fill = np.maximum(fast - as_float(disk_rate), 1e-9 * fast)
    return background + (ceiling - background) * fast / fill


def throttled_write_rate(
    dirty_B: ArrayLike,
    background_B: ArrayLike,
    limit_B: ArrayLike,
    memory_rate: ArrayLike,
    disk_rate: ArrayLike,
) -> FloatArray:
    """Rate granted to a writer at a level of dirty memory.

    R_mem below the free-run ceiling; above it min(R_mem, R_disk f), f = 1 + ((set - dirty)/(limit -
    set))^3 between 2 at the ceiling and 0 at the limit, set = (ceiling + limit) / 2.

    Args:
        dirty_B: Dirty memory now [B].
        background_B: Background threshold [B].
        limit_B: Dirty limit [B].
        memory_rate: Rate of the writer unthrottled [B/s].
        disk_rate: Write-back rate of the device [B/s].

    Returns:
        Rate [B/s]; in equilibrium (dirty = set) the disk's.

    Valid: one device and one writer; the rate base has converged to the device's rate.
    Neglects: the per-device part of the control and its noise.
    Source: Linux mm/page-writeback.c, pos_ratio_polynom (its comment gives f and its five properties).
    """
    dirty, limit = as_float(dirty_B), as_float(limit_B)
    ceiling = free_run_ceiling(background_B, limit_B)
    setpoint = 0.5 * (ceiling + limit)
    span = limit - setpoint  # 0 where the background threshold is the limit: then nothing lies between
    x = np.clip((setpoint - dirty) / np.where(span > 0.0, span, 1.0), -1.0, 1.0)
    x = np.where(span > 0.0, x, -1.0)
    granted = np.minimum(as_float(memory_rate), as_float(disk_rate) * (1.0 + x * x * x))
    return np.where(dirty <= ceiling, as_float(memory_rate), granted)


def buffered_write_time(
    size_B: ArrayLike, free_run_B: ArrayLike, memory_rate: ArrayLike, disk_rate: ArrayLike
) -> FloatArray:
    """Time a buffered writer without sync sees (plain dd, cp).

    t = V/R_mem + max(V - F, 0) max(1/R_disk - 1/R_mem, 0): memory speed for the first F bytes, disk
    speed after.

    Args:
        size_B: Bytes written V [B].
        free_run_B: Bytes before throttling F, see `free_run_bytes` [B].
        memory_rate: Rate into memory R_mem [B/s].
        disk_rate: Rate of write-back R_disk [B/s].

    Returns:
        Time until the writer's last call returns [s]. F bytes or less may still be in memory.

    Valid: memory clean at the start.
    Neglects: oscillation of the throttle.
    Source: Linux mm/page-writeback.c (free run, then balance_dirty_pages), as a fluid.
    """
    V, mem = as_float(size_B), as_float(memory_rate)
    slower = np.maximum(1.0 / as_float(disk_rate) - 1.0 / mem, 0.0)
    throttled = as_float(np.maximum(V - as_float(free_run_B), 0.0))
    return V / mem + throttled * slower


def fdatasync_write_time(
    size_B: ArrayLike,
    memory_rate: ArrayLike,
    disk_rate: ArrayLike,
    flush_s: ArrayLike = 0.0,
    lead_B: ArrayLike = 0.0,
) -> FloatArray:
    """Time of a buffered write that ends with fdatasync (dd conv=fdatasync).

    t = max(V/R_mem, min(V, lead)/R_mem + V/R_disk) + t_flush: write-back overlaps production once
    `lead` bytes are dirty. lead = 0: the slower of the two; lead >= V: both in series.

    Args:
        size_B: Bytes written V [B].
        memory_rate: Rate into memory R_mem [B/s].
        disk_rate: Rate of write-back R_disk [B/s].
        flush_s: Cost of the final flush: device cache, journal or txg commit [s].
        lead_B: Bytes produced before write-back begins (background threshold) [B].

    Returns:
        Time [s].

    Valid: write-back keeps running once it began.
    Neglects: the writer's own throttling, hidden here because the disk is the later one.
    Source: POSIX fdatasync; Linux mm/page-writeback.c; fluid with a delayed start.
    """
    V, mem = as_float(size_B), as_float(memory_rate)
    delayed = np.minimum(V, as_float(lead_B)) / mem + V / as_float(disk_rate)
    return np.maximum(V / mem, delayed) + as_float(flush_s)


def record_rate(record_B: ArrayLike, rate: ArrayLike, call_s: ArrayLike) -> FloatArray:
    """Rate of a caller that moves one record per call: t = a + s/R, so s / (a + s/R).

    Args:
        record_B: Record s [B].
        rate: Rate at which the bytes of a record move R [B/s].
        call_s: Fixed cost of a call a [s].

    Returns:
        Rate [B/s]; rises with s from s/a to R.

    Valid: calls one after another.
    Neglects: caches that a large record leaves (see `copy_rate`).
    Source: affine service-time law; the shape of every iozone record sweep.
    """
    s = as_float(record_B)
    return s / (as_float(call_s) + s / as_float(rate))


def dsync_rate(
    block_B: ArrayLike, disk_rate: ArrayLike, sync_s: ArrayLike, memory_rate: ArrayLike = np.inf
) -> FloatArray:
    """Rate of a writer that waits for every block to be stable (dd oflag=dsync).

    1/R = 1/R_mem + 1/R_bw + t_sync/s: production, transfer and flush of a block do not overlap.

    Args:
        block_B: Block s [B].
        disk_rate: Rate at which a block reaches stable storage R_bw [B/s].
        sync_s: Fixed cost of one synchronous write t_sync (flush, journal, barrier) [s].
        memory_rate: Rate of producing the block R_mem [B/s]; inf where it is in R_bw already.

    Returns:
        Rate [B/s].

    Valid: one writer, one block outstanding.
    Neglects: group commit between several writers.
    Source: open(2), O_DSYNC; the law needs two block sizes to be identified (`two_point_law`).
    """
    per_byte = 1.0 / as_float(memory_rate) + 1.0 / as_float(disk_rate)
    return 1.0 / (per_byte + as_float(sync_s) / as_float(block_B))


def two_point_law(
    size1_B: ArrayLike, rate1: ArrayLike, size2_B: ArrayLike, rate2: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Fixed cost and rate of the law t = a + s/R through two measured points.

    1/R = (s2/X2 - s1/X1) / (s2 - s1), a = s1/X1 - s1/R.

    Args:
        size1_B: First record or block [B].
        rate1: Rate measured with it X_1 [B/s].
        size2_B: Second record or block, another size [B].
        rate2: Rate measured with it X_2 [B/s].

    Returns:
        (a [s], R [B/s]). A negative a or R says that the two points do not follow the law.

    Valid: s1 != s2.
    Neglects: errors of the two figures; with more points fit instead.
    Source: two linear equations.
    """
    s1, s2 = as_float(size1_B), as_float(size2_B)
    t1, t2 = s1 / as_float(rate1), s2 / as_float(rate2)
    per_byte = (t2 - t1) / (s2 - s1)
    return t1 - s1 * per_byte, 1.0 / per_byte


def cache_hit_share(record_B: ArrayLike, cache_B: ArrayLike, footprint: ArrayLike = 2.0) -> FloatArray:
    """Share of a reused record buffer still in the last-level cache at the next call.

    h = min(1, C / (k s)): a copy of s bytes sweeps k s bytes (source and destination) through C.

    Args:
        record_B: Record s [B].
        cache_B: Last-level cache the core can fill C [B].
        footprint: Bytes swept per byte of record k [1].

    Returns:
        Share [1].

    Valid: a cache that protects part of what is reused. It is the most a cache can keep: past the knee
        exact LRU falls to 0 at once, random replacement to h = exp(-(k - h) s / C).
    Neglects: other cores in the same cache, way partitioning.
    Source: share of a cyclic sweep that the best replacement (Belady, IBM Systems Journal 5(2), 1966)
        can hold.
    """
    return np.minimum(1.0, as_float(cache_B) / (as_float(footprint) * as_float(record_B)))


def random_replacement_share(
    record_B: ArrayLike, cache_B: ArrayLike, footprint: ArrayLike = 2.0, reused: ArrayLike = 1.0
) -> FloatArray:
    """Share of a reused record buffer still in a cache that replaces lines at random.

    h = exp(-(k - r h) s / C): between two uses of a line, (k - r h) s bytes miss, each in a random line's place.

    Args:
        record_B: Record s [B].
        cache_B: Cache the core can fill C [B].
        footprint: Bytes swept per byte of record k, at least r [1].
        reused: Bytes per byte of record that are met again r: 1 the program's buffer, 2 source and target [1].

    Returns:
        Share [1], the smallest solution; 1 for s much below C, 0 for s much above.

    Valid: 0 < r <= k. Hashed pseudo-LRU caches lie between this and `cache_hit_share`.
    Neglects: other cores in the same cache, prefetch.
    Source: random replacement: Rao, JACM 25(3), 1978.
    """
    load = as_float(record_B) / as_float(cache_B)
    k, r = as_float(footprint), as_float(reused)
    h = np.zeros_like(load * k * r)
    for _ in range(100):  # a monotone map: from below it rises to the smallest solution, the stable one
        h = np.exp(-np.maximum(k - r * h, 0.0) * load)  # never below 0 where r exceeds k
    return as_float(h)


def copy_rate(hit_share: ArrayLike, cached_rate: ArrayLike, memory_rate: ArrayLike) -> FloatArray:
    """Rate of a copy whose source is partly in cache: 1/R = h/R_cached + (1 - h)/R_memory.

    Args:
        hit_share: Share h of bytes found in cache [1].
        cached_rate: Copy rate from cache [B/s].
        memory_rate: Copy rate from memory [B/s].

    Returns:
        Rate [B/s]. Serves any two-level cache (page cache over disk, ARC over pool) as well.

    Valid: hits and misses one after another.
    Neglects: prefetch that overlaps them.
    Source: mean time per byte.
    """
    h = np.clip(as_float(hit_share), 0.0, 1.0)
    return 1.0 / (h / as_float(cached_rate) + (1.0 - h) / as_float(memory_rate))


def first_write_rate(
    record_B: ArrayLike, rate: ArrayLike, call_s: ArrayLike, page_B: ArrayLike, page_s: ArrayLike
) -> FloatArray:
    """Rate of writing new pages: the record law and the allocation of every page.

    1/X = a/s + 1/R + t_page / page; a rewrite of cached pages has no last term.

    Args:
        record_B: Record s [B].
        rate: Copy rate of a rewrite R [B/s].
        call_s: Fixed cost of a call a [s].
        page_B: Unit of allocation (page, or file-system block) [B].
        page_s: Time to allocate, clear and index one unit t_page [s].

    Returns:
        Rate [B/s], below `record_rate`.

    Valid: records of at least a page, or smaller ones written in order.
    Neglects: block allocation that is delayed to write-back.
    Source: iozone documentation (write against re-write: a new file also stores metadata).
    """
    extra = as_float(page_s) / as_float(page_B)
    return 1.0 / (1.0 / record_rate(record_B, rate, call_s) + extra)


def readahead_rate(disk_rate: ArrayLike, window_B: ArrayLike, latency_s: ArrayLike) -> FloatArray:
    """Rate of one sequential reader: min(R_disk, window / latency).

    Args:
        disk_rate: Rate of the device with enough in flight [B/s].
        window_B: Bytes kept in flight ahead of the reader [B].
        latency_s: Time from asking for a window to having it, at light load [s].

    Returns:
        Rate [B/s].

    Valid: the next window is asked for before the last is used up.
    Neglects: the ramp of the window at the start of a file.
    Source: Little's law; Linux mm/readahead.c (asynchronous read-ahead marker).
    """
    return np.minimum(as_float(disk_rate), as_float(window_B) / as_float(latency_s))


def resident_share(size_B: ArrayLike, cache_B: ArrayLike, retention: ArrayLike = 0.0) -> FloatArray:
    """Share of a file found in memory when it is read again from its start.

    1 where V <= C; beyond, retention x C / V: plain LRU drops each page just before it is wanted
    (retention 0), a scan-resistant cache keeps up to all it has (retention 1).

    Args:
        size_B: File size V [B].
        cache_B: Memory the cache may use C [B].
        retention: Share of the cache that survives a sequential pass, 0 to 1 [1].

    Returns:
        Share [1].

    Valid: one sequential pass after another.
    Neglects: other users of the cache.
    Source: cyclic access under LRU; Megiddo and Modha, "ARC", FAST 2003, for scan resistance.
    """
    V, C = as_float(size_B), as_float(cache_B)
    return np.where(V <= C, 1.0, np.clip(as_float(retention), 0.0, 1.0) * C / V)
