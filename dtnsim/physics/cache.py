"""The page cache: what buffered, fdatasync and dsync writers see, read-ahead, and what a reader finds.

Rates: ``memory_rate`` is that of the writer into memory (copy and file-system code), ``disk_rate``
that of write-back to the device. All functions broadcast.
"""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float

#: First release, and vm.dirty_background_ratio and vm.dirty_ratio where nobody sets them (mm/page-writeback.c; commits
#: 1b5e62b42b55 and 07db59bd6b0f).
DIRTY_RATIOS: Final = (((2, 6, 30), (0.10, 0.20)), ((2, 6, 22), (0.05, 0.10)), ((0,), (0.10, 0.40)))
#: Kernel from which on one writer is held below the limit (commit 3e26c149c358, dirty balancing for tasks).
HELD_BELOW: Final = (2, 6, 24)
#: Read-ahead of a Linux block device unless it is set (VM_READAHEAD_PAGES, 128 KiB).
LINUX_READ_AHEAD_B: Final = 131072
LARGE_CALLS: Final = (4, 10)  #: Kernel from which on a program's large call widens the window (commit 9491ae4aade6).
#: Windows that a sequential reader has under way: the next one is asked for as soon as it enters one, whether that one
#: has arrived or not (Linux mm/readahead.c, "readahead pipelining": async_size is size, and the mark comes first).
WINDOWS: Final = 2.0
#: Part of the limit on dirty bytes that must be free again before throttled writers run ahead once more: fewer turns,
#: the same mean.
SLACK: Final = 0.02


def dirty_limits(
    dirtyable_B: ArrayLike, background_ratio: ArrayLike, ratio: ArrayLike
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


def drained_bytes(
    written_B: ArrayLike, background_B: ArrayLike, memory_rate: ArrayLike, disk_rate: ArrayLike
) -> FloatArray:
    """Bytes that write-back has moved when a writer that was not throttled has produced a number of bytes.

    D = max(V - bg, 0) min(R_disk / R_mem, 1).

    Args:
        written_B: Bytes produced V, at most `filled_bytes` [B].
        background_B: Dirty memory at which write-back begins [B].
        memory_rate: Rate of the writer R_mem [B/s].
        disk_rate: Rate of write-back R_disk [B/s].

    Returns:
        Bytes [B].

    Valid: memory clean at the start.
    Neglects: pages that are written because of their age alone.
    Source: conservation of dirty bytes, as `filled_bytes`.
    """
    gathered = np.maximum(as_float(written_B) - as_float(background_B), 0.0)
    return gathered * np.minimum(as_float(disk_rate) / as_float(memory_rate), 1.0)


def written_bytes(time_s: ArrayLike, filled_B: ArrayLike, memory_rate: ArrayLike, disk_rate: ArrayLike) -> FloatArray:
    """Bytes that a writer has produced after a time: V = R_mem t, and from F on V = F + R_disk (t - F / R_mem).

    Args:
        time_s: Time t since the first byte [s].
        filled_B: Bytes F produced until the writer is throttled, of `filled_bytes` [B].
        memory_rate: Rate of the writer until then R_mem [B/s].
        disk_rate: Rate of write-back R_disk [B/s].

    Returns:
        Bytes [B].

    Valid: memory clean at the start.
    Neglects: that write-back begins a little earlier than the cache is full.
    Source: conservation of dirty bytes, as `filled_bytes`.
    """
    time, filled, memory = as_float(time_s), as_float(filled_B), as_float(memory_rate)
    return np.minimum(memory * time, filled + as_float(disk_rate) * np.maximum(time - filled / memory, 0.0))


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
    return sizes if not fits.any() else np.minimum(sizes, np.maximum(levels[int(np.argmax(fits))], 0.0))


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


def set_point(background_B: ArrayLike, limit_B: ArrayLike) -> FloatArray:
    """Dirty memory around which Linux holds throttled writers: (ceiling + limit) / 2, ceiling that of the free run.

    Args:
        background_B: Background threshold, at most the limit [B].
        limit_B: Dirty limit [B].

    Returns:
        Dirty memory in equilibrium [B].

    Valid: as `dirty_limits`; Linux 3.2 and later, and from 2.6.24 on (`HELD_BELOW`), which held one writer at 7/8 of
        the limit, the same where the threshold is half of it. What a writer has produced less what the medium has is
        this, however it came there.
    Neglects: the way there: between ceiling and set point pos_ratio_polynom leaves a writer 1 + x^3 times its share
        of the medium's rate R; that alone gives x = 1 / sqrt(1 + 2 R t / (limit - set point)) at t after the ceiling.
        Measured writes are faster than that, for a reason that is not known: 75 GB in 38 s, where it gives 56 s and
        the set point 36 s; 100 GB in 99 s, where 124 and 114 (Do et al., CLUSTER 2021).
    Source: Linux mm/page-writeback.c, wb_position_ratio: "setpoint = (freerun + limit) / 2".
    """
    return 0.5 * (free_run_ceiling(background_B, limit_B) + as_float(limit_B))


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


def write_back_begins(
    written_B: ArrayLike, background_B: ArrayLike, memory_rate: ArrayLike, age_s: ArrayLike
) -> FloatArray:
    """Time from the first byte until write-back begins, of writers that nobody flushes.

    t = min(bg / R_mem, age) where they write as much as the threshold, else the age of the oldest page.

    Args:
        written_B: Bytes that all writers of the host write together V [B].
        background_B: Dirty memory at which write-back begins bg [B].
        memory_rate: Rate at which they fill memory while nothing throttles them R_mem [B/s].
        age_s: Age at which pages are written however few there are (vm.dirty_expire_centisecs) [s].

    Returns:
        Time [s].

    Valid: memory clean at the start.
    Neglects: the flusher's own period (vm.dirty_writeback_centisecs).
    Source: Linux mm/page-writeback.c: background_dirty, dirty_expire_interval.
    """
    gathers = as_float(background_B) / as_float(memory_rate)
    enough = as_float(written_B) >= as_float(background_B)
    return np.where(enough, np.minimum(gathers, as_float(age_s)), as_float(age_s))


def on_medium_time(
    size_B: ArrayLike, write_rate: ArrayLike, disk_rate: ArrayLike, begins_s: ArrayLike = 0.0
) -> FloatArray:
    """Time of a buffered write until the medium has every byte: t = max(V / x, t0 + V / R_disk).

    Args:
        size_B: Bytes written V [B].
        write_rate: Rate of the writer over all of its time x [B/s].
        disk_rate: Rate of write-back R_disk [B/s].
        begins_s: When write-back begins t0 [s].

    Returns:
        Time [s].

    Valid: write-back keeps running once it began.
    Neglects: that it may catch up with a slow writer.
    Source: conservation of dirty bytes; Linux mm/page-writeback.c.
    """
    V = as_float(size_B)
    return np.maximum(V / as_float(write_rate), as_float(begins_s) + V / as_float(disk_rate))


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

    Valid: 0 < r <= k. Hashed pseudo-LRU caches lie between this and the best, C / (k s) (Belady 1966).
    Neglects: other cores in the same cache, prefetch.
    Source: random replacement: Rao, JACM 25(3), 1978.
    """
    load = as_float(record_B) / as_float(cache_B)
    k, r = as_float(footprint), as_float(reused)
    h = np.zeros_like(load * k * r)
    for _ in range(100):  # a monotone map: from below it rises to the smallest solution, the stable one
        before, h = h, np.exp(-np.maximum(k - r * h, 0.0) * load)  # never below 0 where r exceeds k
        if np.array_equal(before, h):
            break
    return as_float(h)


def read_ahead_rate(disk_rate: ArrayLike, window_B: ArrayLike, latency_s: ArrayLike) -> FloatArray:
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


def read_ahead_window(set_B: ArrayLike, call_B: ArrayLike, largest_B: ArrayLike) -> FloatArray:
    """Bytes of one window of a sequential reader's read-ahead: max(w, min(c, m)).

    A program that asks for more at a time than is read ahead has a window of its own size.

    Args:
        set_B: Read-ahead as set w (read_ahead_kb) [B].
        call_B: Bytes of one call of the program c [B].
        largest_B: Largest request of the device m; 0 before Linux 4.10, which kept to what is set [B].

    Returns:
        Window [B].

    Valid: sequential reads through the page cache.
    Neglects: the ramp of the window at the start of a file.
    Source: Linux mm/readahead.c, ractl_max_pages (io_pages); commit 9491ae4aade6 (4.10).
    """
    return np.maximum(as_float(set_B), np.minimum(as_float(call_B), as_float(largest_B)))


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


def sequential_hits(size_B: ArrayLike, resident_B: ArrayLike, spare_B: ArrayLike) -> FloatArray:
    """Bytes of a file that a reader from start to end finds in memory.

    resident where size - resident <= spare, else 0

    What memory has of a file is its end, since pages leave in the order in which they came. Each page of the missing
    beginning takes the place of another: first of what is spare, then of the file's own oldest page, which is the next
    one that the reader wants; from there on it never catches up.

    Args:
        size_B: Bytes of the file [B].
        resident_B: Bytes of it in memory, at most its size [B].
        spare_B: Free memory, and pages that leave before the file's own [B].

    Returns:
        Bytes [B].

    Valid: one sequential reader, least recently used pages leave first.
    Neglects: refaults that Linux puts onto its active list (mm/workingset.c), which keeps a part of such a file.
    Source: cyclic access under LRU (Denning, "The working set model", CACM 11(5), 1968, on sequential reference).
    """
    resident = np.minimum(as_float(resident_B), as_float(size_B))
    return np.where(as_float(size_B) - resident <= as_float(spare_B) * (1 + 1e-12), resident, 0.0)


def evicted(pages_B: ArrayLike, pinned_B: ArrayLike, wanted_B: float) -> FloatArray:
    """Bytes that leave memory, of files in the order in which their pages are taken.

    Args:
        pages_B: Bytes of each file in memory (n,), those that leave first at the front [B].
        pinned_B: Of these, bytes that cannot leave: dirty, or under way (n,) [B].
        wanted_B: Bytes that shall leave [B].

    Returns:
        (n,) [B]; less in all where no more can leave.

    Valid: clean pages of the inactive list at the front, then those of the active list, each oldest first.
    Neglects: reclaim that waits for write-back of dirty pages; swap.
    Source: Linux mm/vmscan.c (inactive before active); mm/swap.c, mark_page_accessed (used twice: active).
    """
    free = np.maximum(as_float(pages_B) - as_float(pinned_B), 0.0)
    before = np.concatenate([[0.0], np.cumsum(free)[:-1]]) if free.size else free
    return np.clip(max(wanted_B, 0.0) - before, 0.0, free)
