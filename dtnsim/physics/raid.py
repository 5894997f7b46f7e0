"""RAID 0, 1, 10, 5, 6, 50, 60: what a byte of a layout costs its members, healthy, degraded and while it rebuilds.

One description covers all layouts: ``disks`` n per group, ``parity`` disks p per group, ``groups`` g
striped together, ``copies`` of every byte (mirrors). RAID0: p = 0, copies = 1. RAID1: copies = n.
RAID10: copies = 2. RAID5/6: p = 1/2. RAID50/60: the same with g > 1. A *load* is the number of bytes that the
members move, all together, for a byte of payload. Thin volumes (LVM) come last. All functions broadcast.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float

#: Parity disks per group by level; mirrors have none (their redundancy is `copies`).
PARITY_DISKS: Final = MappingProxyType({0: 0, 1: 0, 10: 0, 5: 1, 6: 2, 50: 1, 60: 2})
#: Linux md stripe cache: bytes per entry and disk (md(4), stripe_cache_size).
MD_PAGE_B: Final = 4096
#: A bit of the write-intent bitmap is cleared on the daemon's second pass (mdadm(8), --delay: 5 s), 5 to 10 s on.
BITMAP_HELD_S: Final = 7.5
#: Rounds of a fixed point that falls without turning.
_SETTLES: Final = 100


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


def request_members(request_B: ArrayLike, chunk_B: ArrayLike, members: ArrayLike) -> FloatArray:
    """Members that hold a part of one request: min(m, ceil(s / c)).

    Args:
        request_B: Request size s [B].
        chunk_B: Chunk per member c [B].
        members: Members m that data are spread over [1].

    Returns:
        Members that have to work for the request [1].

    Valid: requests aligned to their own size.
    Neglects: unaligned requests, which meet one chunk more.
    Source: md(4): consecutive chunks lie on consecutive devices.
    """
    return np.minimum(as_float(members), np.ceil(as_float(request_B) / as_float(chunk_B)))


def fork_join_load(in_flight: ArrayLike, slowest: ArrayLike) -> FloatArray:
    """Time of members that wait for each other over that of members always at work: (q - 1 + h) / q.

    A request is done with its slowest part, and the next one is asked for then: members that were faster idle.

    Args:
        in_flight: Requests that one member has a part of at once q, counted as at least 1 [1].
        slowest: Mean time of the slowest part of a request over that of any part h, at least 1 [1].

    Returns:
        Factor [1], from h for one request at a time to 1 for deep queues.

    Valid: as many requests in flight all the time; parts that take their time independently of each other.
    Neglects: that queues of the members differ in length.
    Source: Varki, "Mean value technique for closed fork-join networks", SIGMETRICS 1999: a request that finds q - 1
        others takes their q - 1 services and the slowest of its own parts.
    """
    q = np.maximum(as_float(in_flight), 1.0)
    return (q - 1.0 + np.maximum(as_float(slowest), 1.0)) / q


def mirror_read_load(copies: ArrayLike, readers: ArrayLike) -> FloatArray:
    """Load of reading mirrors, where a reader keeps one copy busy: k / min(k, readers).

    Args:
        copies: Copies k that are left [1].
        readers: Sequential streams, or random requests in flight, counted as at least one [1].

    Returns:
        Share of the members' time per byte, over that of all copies at work [1].

    Valid: near layout (whole chunks on every copy): one stream reads one copy.
    Neglects: uneven balance of streams over copies; md's far layout, where one stream gets all disks.
    Source: md(4), sections RAID1 and RAID10.
    """
    k = np.maximum(as_float(copies), 1.0)
    return k / np.clip(as_float(readers), 1.0, k)


def read_ahead_bytes(chunk_B: ArrayLike, disks: ArrayLike) -> FloatArray:
    """Read-ahead that md sets on an array: two stripes of data, 2 m c.

    Args:
        chunk_B: Chunk per disk c [B].
        disks: Disks that data are spread over m [1].

    Returns:
        Read-ahead of the array [B].

    Valid: Linux md RAID 0, 4, 5, 6, 10, unless blockdev --setra says otherwise.
    Neglects: the floor of 128 KiB.
    Source: Linux drivers/md/raid0.c and raid5.c ("we want to read at least two whole stripes").
    """
    return 2.0 * as_float(disks) * as_float(chunk_B)


def bitmap_cost(bitmap_chunk_B: ArrayLike, rate: ArrayLike, positioning_s: ArrayLike) -> FloatArray:
    """Time of sequential writes with an internal write-intent bitmap over that without: 1 + 2 R t_pos / b.

    Args:
        bitmap_chunk_B: Part of each member that one bit covers b [B].
        rate: Rate of a member R [B/s].
        positioning_s: Positioning of a member to its bitmap and back t_pos [s].

    Returns:
        Factor [1]; tends to 1 for large bitmap chunks.

    Valid: one sequential stream: a bit is set before, and cleared some seconds after each bitmap chunk is written.
    Neglects: bits of several chunks that are cleared in one write.
    Source: md(4), write-intent bitmap ("can degrade write performance; larger bitmap chunks degrade it less").
    """
    return 1.0 + 2.0 * as_float(rate) * as_float(positioning_s) / as_float(bitmap_chunk_B)


def bitmap_clear_share(
    write_s: ArrayLike, commit_s: ArrayLike, chunks: ArrayLike, in_flight: ArrayLike, held_s: ArrayLike = BITMAP_HELD_S
) -> FloatArray:
    """Part of the random writes that find their bit of a write-intent bitmap clear: p = exp(-q T / (M (t + p w))).

    A bit is set on all members before the first write to its part goes out, and cleared some seconds after the last.
    Each of q writers takes t a write, and w more for a bit; the bits of M parts stay set for T. Where they keep
    themselves set there are two answers, and this is the slower one, which an idle array begins with.

    Args:
        write_s: Time of a write beside the bitmap t [s].
        commit_s: Time of setting a bit on all members w [s].
        chunks: Parts of the array that the writes fall on, one bit each M [1].
        in_flight: Writes that are under way together q [1].
        held_s: Time that a bit stays set after a write T [s].

    Returns:
        Share [1]; near 1 for large arrays of small bitmap chunks, 0 where the chunks are few.

    Valid: writes scattered evenly; those under way together wait for one update.
    Neglects: pages of the bitmap that lie apart; bits that are cleared in between.
    Source: md(4); Linux drivers/md/md-bitmap.c (md_bitmap_unplug writes all dirty pages before a batch; the daemon
        clears a bit on its second pass).
    """
    t, w, m, q = (as_float(v) for v in (write_s, commit_s, chunks, in_flight))
    share = np.ones(np.broadcast(t, w, m, q).shape)
    for _ in range(_SETTLES):  # falls to the answer from above
        share = np.exp(-q * as_float(held_s) / (np.maximum(m, 1.0) * np.maximum(t + share * w, 1e-12)))
    return as_float(share)


def bitmap_random_cost(
    disks: ArrayLike, parity: ArrayLike, in_flight: ArrayLike, clear_share: ArrayLike = 1.0
) -> FloatArray:
    """Requests of a random write with an internal bitmap over those without: 1 + p n / (q c).

    Every member writes its bitmap page before a batch of q writes, each of which costs c = 2 (1 + r) requests (c = the
    copies of a mirror, given as parity r = copies / 2 - 1).

    Args:
        disks: Disks per group n [1].
        parity: Parity disks per group r [1].
        in_flight: Writes that are in flight together q [1].
        clear_share: Part of the writes that find their bit clear p [1].

    Returns:
        Factor [1]; tends to 1 for deep queues.

    Valid: writes scattered over the array.
    Neglects: pages of the bitmap that lie apart.
    Source: md(4); Linux drivers/md/md-bitmap.c (md_bitmap_unplug writes all dirty pages before a batch).
    """
    cost = 2.0 * (1.0 + as_float(parity))
    return 1.0 + as_float(clear_share) * as_float(disks) / (np.maximum(as_float(in_flight), 1.0) * cost)


def rebuild_rate(
    wanted: ArrayLike, media_rate: ArrayLike, disks: ArrayLike = 1.0, controller_rate: ArrayLike = np.inf
) -> FloatArray:
    """Rate of a rebuild, check or resync on each disk: min(wanted, R, R_ctl / n).

    Args:
        wanted: Limit set by the array's software, per disk [B/s]; md: sync_speed_min to sync_speed_max.
        media_rate: Mean rate of a disk over its whole surface R [B/s].
        disks: Disks that take part n [1].
        controller_rate: Rate of everything the n disks share R_ctl [B/s].

    Returns:
        Rate on each disk [B/s]: bound by the disk for small groups, by the controller for large ones. A disk of C
        bytes takes C over it.

    Valid: a rebuild of all of the disk.
    Neglects: bitmaps and file systems that rebuild only what is used.
    Source: md(4) (speed limits 1000 and 200000 KiB/s per device); Corbett et al., FAST 2004.
    """
    shared = as_float(controller_rate) / as_float(disks)
    return np.minimum(np.minimum(as_float(wanted), as_float(media_rate)), shared)


def rebuild_load(
    rebuild: ArrayLike,
    media_rate: ArrayLike,
    window_B: ArrayLike = np.inf,
    switch_s: ArrayLike = 0.0,
    visit_s: ArrayLike = 0.0,
) -> FloatArray:
    """Time of everything else on a disk that also rebuilds, over that without: 1 / (1 - u).

    u = min(r w / W, w / (w + v)) with w = W / R + t_sw: each window of the rebuild is transferred and costs the heads
    the way there and back; it gets no more than one window to each visit of everything else.

    Args:
        rebuild: Rate of the rebuild on the disk r [B/s].
        media_rate: Rate of the disk R [B/s].
        window_B: Bytes that the rebuild moves at once W [B].
        switch_s: Positioning of the disk to the rebuild's place, and back where it would have stayed t_sw [s].
        visit_s: Time of one visit of everything else v [s].

    Returns:
        Factor [1], at most 20; tends to 1 for a slow rebuild.

    Valid: a rebuild that keeps its rate, as far as turns let it.
    Neglects: that md slows its rebuild to sync_speed_min as soon as there is other traffic.
    Source: utilisation law; md(4), sync_speed_min ("the guaranteed reconstruction speed"); equal turns as in
        `hdd_streams.interleaved_rate`.
    """
    r, speed, away = as_float(rebuild), as_float(media_rate), as_float(switch_s)
    window = as_float(window_B)
    taken = r / speed + r / window * away
    turn = window / speed + away
    with np.errstate(invalid="ignore"):
        most = np.where(np.isinf(turn), 1.0, turn / (turn + as_float(visit_s)))
    return 1.0 / np.maximum(1.0 - np.minimum(taken, most), 0.05)


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
    Source: md(4); Linux commits a785448 (reconstruct-write while resyncing) and 584acdd (RAID6 read-modify-write).
    """
    s, c, n, p = as_float(write_B), as_float(chunk_B), as_float(disks), as_float(parity)
    stripe = c * (n - p)
    rest = s - np.floor(s / stripe) * stripe
    extent = np.minimum(rest, c)
    rmw = np.where(np.asarray(resyncing, dtype=bool), np.inf, 2.0 * (rest + p * extent))
    moved = (s - rest) * n / (n - p) + np.minimum(rmw, n * extent)
    return np.where(p > 0.0, moved / s, 1.0)


def thread_load(moved: ArrayLike, disks: ArrayLike, parity: ArrayLike) -> FloatArray:
    """Work of md's thread on a payload byte over that on a byte of full stripes: a (n - p) / n.

    The thread runs a state machine for each stripe of one page a disk: it has each page to ask for, to compute with or
    to write, whatever part of it is payload. Full stripes have n pages for n - p of payload.

    Args:
        moved: Member bytes read and written per payload byte a, see `write_amplification` [1].
        disks: Disks per group n [1].
        parity: Parity disks per group p [1].

    Returns:
        Factor [1]: 1 for full stripes, 2 (1 + p) (n - p) / n where each page is read, modified and written alone.

    Valid: pages that cost alike, whether read or written.
    Neglects: passes over a stripe that find nothing to do; locks that several threads share.
    Source: Linux commit 851c30c9badf (a stripe is a page on every disk; one thread reads, computes and writes it).
    """
    n = as_float(disks)
    return as_float(moved) * (n - as_float(parity)) / n


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


def provision_load(write_B: ArrayLike, chunk_B: ArrayLike, zeroed: ArrayLike, run_B: ArrayLike = 0.0) -> FloatArray:
    """Bytes written per byte where writes meet chunks of a thin pool for the first time: 1 + max(c - s, 0) / max(r, s).

    A chunk that the first write does not cover is filled with zeros before it.

    Args:
        write_B: Bytes of one write s [B].
        chunk_B: Chunk size of the pool c [B].
        zeroed: 1 where the pool zeroes new chunks (lvcreate --zero y, the default), 0 where not [1].
        run_B: Bytes that come to a chunk in all r: the chunk where writes follow each other, 0 where they do not [B].

    Returns:
        Ratio [1], at least 1.

    Valid: aligned writes.
    Neglects: the metadata of the mapping, which is written with the next commit (every second).
    Source: lvmthin(7), "Zeroing"; Linux Documentation/admin-guide/device-mapper/thin-provisioning (skip_block_zeroing).
    """
    s, c = as_float(write_B), as_float(chunk_B)
    return 1.0 + as_float(zeroed) * np.maximum(c - s, 0.0) / np.maximum(as_float(run_B), s)
