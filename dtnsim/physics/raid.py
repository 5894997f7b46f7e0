"""RAID 0, 1, 10, 5, 6, 50, 60: what a layout gives healthy, degraded and while it rebuilds.

One description covers all layouts: ``disks`` n per group, ``parity`` disks p per group, ``groups`` g
striped together, ``copies`` of every byte (mirrors). RAID0: p = 0, copies = 1. RAID1: copies = n.
RAID10: copies = 2. RAID5/6: p = 1/2. RAID50/60: the same with g > 1. ``rate`` [B/s] and ``iops``
[1/s] are those of the slowest disk of a group. All functions broadcast.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float

#: Parity disks per group by level; mirrors have none (their redundancy is `copies`).
PARITY_DISKS: Final[Mapping[str, int]] = MappingProxyType({"0": 0, "1": 0, "10": 0, "5": 1, "6": 2, "50": 1, "60": 2})
#: Linux md stripe cache: entries by default, and bytes per entry and disk (md(4), stripe_cache_size).
MD_STRIPE_CACHE_ENTRIES: Final = 256
MD_PAGE_B: Final = 4096


def data_disks(disks: ArrayLike, parity: ArrayLike = 0, groups: ArrayLike = 1, copies: ArrayLike = 1) -> FloatArray:
    """Disks' worth of payload: g (n - p) / copies.

    Args:
        disks: Disks per group n [1].
        parity: Parity disks per group p [1].
        groups: Groups striped together g [1].
        copies: Copies of every byte [1].

    Returns:
        Capacity, and full-stripe write rate, in disks [1].

    Valid: p < n, copies <= n.
    Neglects: spares, metadata, unequal disks.
    Source: definition of the levels; Patterson, Gibson and Katz, SIGMOD 1988.
    """
    return as_float(groups) * np.maximum(as_float(disks) - as_float(parity), 0.0) / as_float(copies)


def full_stripe_bytes(chunk_B: ArrayLike, disks: ArrayLike, parity: ArrayLike = 0) -> FloatArray:
    """Payload of one full stripe of a group: chunk (n - p).

    Args:
        chunk_B: Chunk (strip) per disk [B].
        disks: Disks per group n [1].
        parity: Parity disks per group p [1].

    Returns:
        Bytes that can be written without reading anything first [B].

    Valid: aligned writes.
    Neglects: nothing.
    Source: md(4).
    """
    return as_float(chunk_B) * (as_float(disks) - as_float(parity))


def stream_read_rate(rate: ArrayLike, disks: ArrayLike, parity: ArrayLike = 0, groups: ArrayLike = 1) -> FloatArray:
    """Sequential read rate of a striped layout without mirrors: g (n - p) R.

    Also the rate with up to p disks lost per group: then every survivor is read in full and the
    missing chunk computed, which costs the parity CPU and not the stream.

    Args:
        rate: Rate of the slowest disk R [B/s].
        disks: Disks per group n [1].
        parity: Parity disks per group p [1].
        groups: Groups g [1].

    Returns:
        Rate [B/s].

    Valid: enough read-ahead to keep all disks busy.
    Neglects: controllers that skip over parity chunks and come closer to n R.
    Source: Chen et al., "RAID: high-performance, reliable secondary storage", ACM Computing Surveys
        26(2), 1994.
    """
    return as_float(rate) * data_disks(disks, parity, groups)


def mirror_read_rate(rate: ArrayLike, copies: ArrayLike, streams: ArrayLike, groups: ArrayLike = 1) -> FloatArray:
    """Sequential read rate of mirrors: g R min(copies, streams).

    Args:
        rate: Rate of the slowest disk R [B/s].
        copies: Disks that hold the same data [1].
        streams: Sequential readers, counted as at least one [1].
        groups: Mirrors striped together g [1] (RAID10 of n disks: n / copies).

    Returns:
        Sum of the streams' rates [B/s].

    Valid: near layout (whole chunks on every copy): one stream reads one copy.
    Neglects: uneven balance of streams over copies; md's far layout, where one stream gets all disks.
    Source: md(4), sections RAID1 and RAID10.
    """
    readers = np.clip(as_float(streams), 1.0, np.maximum(as_float(copies), 1.0))
    return as_float(groups) * as_float(rate) * readers


def full_stripe_write_rate(
    rate: ArrayLike, disks: ArrayLike, parity: ArrayLike = 0, groups: ArrayLike = 1, copies: ArrayLike = 1
) -> FloatArray:
    """Sequential write rate when every stripe is written whole: g (n - p) R / copies.

    Args:
        rate: Rate of the slowest disk R [B/s].
        disks: Disks per group n [1].
        parity: Parity disks per group p [1].
        groups: Groups g [1].
        copies: Copies of every byte [1].

    Returns:
        Rate [B/s].

    Valid: writes gathered to full stripes (write-back cache, or large aligned writes).
    Neglects: parity CPU, write-intent bitmap updates.
    Source: Chen et al. 1994.
    """
    return as_float(rate) * data_disks(disks, parity, groups, copies)


def striped_rate(rates: ArrayLike) -> FloatArray:
    """Rate of a stripe over unlike members: their number times the slowest, along the last axis.

    Args:
        rates: Rates of the members [B/s], (..., g).

    Returns:
        Rate of the stripe [B/s], (...).

    Valid: equal chunks on every member (RAID0, md over hardware RAID5 sets).
    Neglects: buffering that lets a fast member run ahead for a while.
    Source: every stripe waits for its slowest member.
    """
    r = as_float(rates)
    return as_float(r.shape[-1] * np.min(r, axis=-1))


def partial_stripe_ios(
    chunks: ArrayLike, disks: ArrayLike, parity: ArrayLike, *, resyncing: ArrayLike = False
) -> FloatArray:
    """Disk requests to update k whole chunks of one stripe.

    Read-modify-write 2 (k + p); reconstruct-write (n - p - k) reads and (k + p) writes, n in all; the
    cheaper of the two, and always the second while the array resyncs.

    Args:
        chunks: Data chunks written k, 0 < k <= n - p [1].
        disks: Disks per group n [1].
        parity: Parity disks per group p [1].
        resyncing: True while the parity is not trusted [bool].

    Returns:
        Disk reads and writes [1]; k where p = 0.

    Valid: one stripe at a time.
    Neglects: chunks found in the stripe cache; RAID6 implementations that never read-modify-write.
    Source: md(4); Linux commits a785448 (reconstruct-write while resyncing) and 584acdd (RAID6 rmw).
    """
    k, n, p = as_float(chunks), as_float(disks), as_float(parity)
    rmw = np.where(np.asarray(resyncing, dtype=bool), np.inf, 2.0 * (k + p))
    return np.where(p > 0.0, np.minimum(rmw, n), k)


def small_write_iops(
    iops: ArrayLike, disks: ArrayLike, parity: ArrayLike, groups: ArrayLike = 1, copies: ArrayLike = 1
) -> FloatArray:
    """Ceiling of random writes smaller than a chunk: g n X / cost, cost = 2 (1 + p) or copies.

    Args:
        iops: Random requests a second of one disk X [1/s].
        disks: Disks per group n [1].
        parity: Parity disks per group p [1].
        groups: Groups g [1].
        copies: Copies of every byte [1].

    Returns:
        Writes a second [1/s]; n X / 4 for RAID5, n X / 6 for RAID6, n X / 2 for RAID10.

    Valid: an upper bound. A real md RAID6 did 3 to 4 times less on hard disks: calibrate.
    Neglects: the turn of the platter between the read and the write of one sector, stripe locks,
        bitmap updates.
    Source: Corbett et al., "Row-diagonal parity", FAST 2004 (four I/Os); Chen et al. 1994.
    """
    p, c = as_float(parity), as_float(copies)
    cost = np.where(p > 0.0, np.minimum(2.0 * (1.0 + p), as_float(disks)), c)
    return as_float(groups) * as_float(disks) * as_float(iops) / cost


def write_amplification(
    write_B: ArrayLike,
    chunk_B: ArrayLike,
    disks: ArrayLike,
    parity: ArrayLike,
    *,
    resyncing: ArrayLike = False,
) -> FloatArray:
    """Bytes the disks of a group move, read and written, per payload byte of an aligned write.

    Full stripes cost n / (n - p). The rest r, with parity extent e = min(r, chunk): read-modify-write
    2 (r + p e), reconstruct-write n e, the cheaper of the two.

    Args:
        write_B: Size of one write that is not merged with others [B].
        chunk_B: Chunk per disk [B].
        disks: Disks per group n [1].
        parity: Parity disks per group p [1].
        resyncing: True while only reconstruct-write is allowed [bool].

    Returns:
        Disk bytes per payload byte [1]; 1 where p = 0.

    Valid: writes that start at a stripe; an unaligned write is two of these.
    Neglects: stripe-cache hits, 4-KiB rounding (the unit of md).
    Source: md(4); as `partial_stripe_ios`, in bytes.
    """
    s, c, n, p = as_float(write_B), as_float(chunk_B), as_float(disks), as_float(parity)
    stripe = c * (n - p)
    rest = s - np.floor(s / stripe) * stripe
    extent = np.minimum(rest, c)
    rmw = np.where(np.asarray(resyncing, dtype=bool), np.inf, 2.0 * (rest + p * extent))
    moved = (s - rest) * n / (n - p) + np.minimum(rmw, n * extent)
    return np.where(p > 0.0, moved / s, 1.0)


def partial_stripe_write_rate(
    write_B: ArrayLike,
    chunk_B: ArrayLike,
    disks: ArrayLike,
    parity: ArrayLike,
    rate: ArrayLike,
    groups: ArrayLike = 1,
    *,
    resyncing: ArrayLike = False,
) -> FloatArray:
    """Rate of large writes that are not gathered to full stripes: g n R / write_amplification.

    Args:
        write_B: Size of one write [B].
        chunk_B: Chunk per disk [B].
        disks: Disks per group n [1].
        parity: Parity disks per group p [1].
        rate: Rate of the slowest disk R [B/s].
        groups: Groups g [1].
        resyncing: True while only reconstruct-write is allowed [bool].

    Returns:
        Rate [B/s]; `full_stripe_write_rate` at whole stripes.

    Valid: flash, or requests large enough that the disks stay sequential.
    Neglects: the positioning of hard disks between read and write (then use `small_write_iops`).
    Source: as `write_amplification`.
    """
    amplification = write_amplification(write_B, chunk_B, disks, parity, resyncing=resyncing)
    return as_float(groups) * as_float(disks) * as_float(rate) / amplification


def random_read_iops(iops: ArrayLike, disks: ArrayLike, groups: ArrayLike = 1) -> FloatArray:
    """Random reads smaller than a chunk, healthy: all disks serve, g n X.

    Args:
        iops: Random requests a second of one disk X [1/s].
        disks: Disks per group n [1].
        groups: Groups g [1].

    Returns:
        Reads a second [1/s].

    Valid: requests spread evenly, enough of them in flight.
    Neglects: requests that cross a chunk.
    Source: Chen et al. 1994.
    """
    return as_float(groups) * as_float(disks) * as_float(iops)


def degraded_read_share(disks: ArrayLike, parity: ArrayLike, lost: ArrayLike) -> FloatArray:
    """Random-read capacity of a group with lost disks, over that of the healthy group.

    A request for a lost disk (share l/n) costs n - p reads: ((n - l)/n) / ((n - l + l (n - p)) / n).

    Args:
        disks: Disks per group n [1].
        parity: Parity disks per group p [1].
        lost: Lost disks l [1].

    Returns:
        Share [1]; 1 for l = 0, 1/2 for RAID5 with one lost, 0 where l > p (the data are lost).

    Valid: requests smaller than a chunk.
    Neglects: the CPU of the reconstruction, the rebuild's own load.
    Source: count of requests; Holland and Gibson, ASPLOS 1992 (survivors' load doubles).
    """
    n, p, l = as_float(disks), as_float(parity), as_float(lost)  # noqa: E741 - l lost disks, the symbol of the equation
    return np.where(l > p, 0.0, (n - l) / (n - l + l * (n - p)))


def rebuild_time(
    capacity_B: ArrayLike,
    rate: ArrayLike,
    throttle: ArrayLike,
    controller_rate: ArrayLike,
    disks: ArrayLike,
) -> FloatArray:
    """Time to rebuild one disk: C / min(R, throttle, R_ctl / n).

    Args:
        capacity_B: Capacity of one disk C [B].
        rate: Mean rate of the slowest disk over its whole surface R [B/s].
        throttle: Limit set by the array's software, per disk [B/s]; md: sync_speed_max.
        controller_rate: Rate of everything the n disks share R_ctl [B/s].
        disks: Disks that take part n [1].

    Returns:
        Time [s]: bound by the disk for small groups, by the controller for large ones.

    Valid: no foreground load, or `rate` already reduced to the share the rebuild gets.
    Neglects: bitmaps and file systems that rebuild only what is used.
    Source: md(4) (speed limits 1000 and 200000 KiB/s per device); Corbett et al., FAST 2004.
    """
    shared = as_float(controller_rate) / as_float(disks)
    return as_float(capacity_B) / np.minimum(np.minimum(as_float(rate), as_float(throttle)), shared)


def stripe_cache_bytes(entries: ArrayLike, disks: ArrayLike, page_B: ArrayLike = MD_PAGE_B) -> FloatArray:
    """Memory of md's stripe cache: page x disks x entries.

    Args:
        entries: stripe_cache_size [1].
        disks: Disks n [1].
        page_B: Page size [B].

    Returns:
        Memory [B].

    Valid: Linux md RAID4/5/6.
    Neglects: the headers.
    Source: md(4).
    """
    return as_float(entries) * as_float(disks) * as_float(page_B)


def stripe_cache_write_rate(
    entries: ArrayLike,
    disks: ArrayLike,
    parity: ArrayLike,
    update_s: ArrayLike,
    page_B: ArrayLike = MD_PAGE_B,
) -> FloatArray:
    """Write rate that md's stripe cache can keep in flight: entries (n - p) page / t_update.

    Args:
        entries: stripe_cache_size [1].
        disks: Disks n [1].
        parity: Parity disks p [1].
        update_s: Time a stripe stays in the cache, from first byte to parity written [s].
        page_B: Page size [B].

    Returns:
        Rate [B/s], a ceiling beside those of disks and CPU.

    Valid: full-stripe writes.
    Neglects: stripes held for reads.
    Source: Little's law over the stripe cache of md(4).
    """
    return as_float(entries) * (as_float(disks) - as_float(parity)) * as_float(page_B) / as_float(update_s)
