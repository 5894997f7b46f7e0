"""RAID 0, 1, 10, 5, 6, 50, 60: what a byte of a layout costs its members, healthy, degraded and while it rebuilds.

One description covers all layouts: ``disks`` n per group, ``parity`` disks p per group, ``groups`` g
striped together, ``copies`` of every byte (mirrors). RAID0: p = 0, copies = 1. RAID1: copies = n.
RAID10: copies = 2. RAID5/6: p = 1/2. RAID50/60: the same with g > 1. A *load* is the number of bytes that the
members move, all together, for a byte of payload. Thin volumes (LVM) come last. All functions broadcast.
"""

from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float

#: Parity disks per group by level; mirrors have none (their redundancy is `copies`).
PARITY_DISKS: Final = MappingProxyType({0: 0, 1: 0, 10: 0, 5: 1, 6: 2, 50: 1, 60: 2})


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


def striped(size_B: ArrayLike, unit_B: ArrayLike, members: ArrayLike) -> FloatArray:
    """Members (disks, OSTs, NSDs, OSDs) with a part of a request, a file or a block: min(m, ceil(s / c)), at least 1.

    Args:
        size_B: Size of the request, the file, or the stored block s [B].
        unit_B: Chunk, stripe, object, sector: what goes to one member before the next c [B].
        members: Members m that data are spread over, parity apart: data disks, stripes of a layout, or all targets of a
            pool where files are striped over all [1].

    Returns:
        Members that have to work, at least 1 [1]; the part of each is the size over them.

    Valid: plain (RAID 0) layouts, round robin; each component of a composite one; requests aligned to their own size.
    Neglects: unaligned requests, which meet one chunk more; overstriping; failure groups and replicas; the last row of
        a RAID-Z block, which some disks do without.
    Source: md(4): consecutive chunks lie on consecutive devices; Lustre manual, "Managing File Layout (Striping) and
        Free Space"; Schmuck and Haskin, "GPFS", FAST 2002 (wide striping of blocks over all disks); OpenZFS
        vdev_raidz.c, vdev_raidz_map_alloc; OpenZFS docs, "RAIDZ" (a block is read from all its disks).
    """
    return np.maximum(1.0, np.minimum(as_float(members), np.ceil(as_float(size_B) / as_float(unit_B))))


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


def rebuild_rate(wanted: ArrayLike, media_rate: ArrayLike) -> FloatArray:
    """Rate of a rebuild, check or resync on each disk: min(wanted, R).

    Args:
        wanted: Limit set by the array's software, per disk [B/s]; md: sync_speed_min to sync_speed_max.
        media_rate: Mean rate of a disk over its whole surface R [B/s].

    Returns:
        Rate on each disk [B/s]; a disk of C bytes takes C over it.

    Valid: a rebuild of all of the disk.
    Neglects: bitmaps and file systems that rebuild only what is used; a controller that many disks share.
    Source: md(4) (speed limits 1000 and 200000 KiB/s per device); Corbett et al., FAST 2004.
    """
    return np.minimum(as_float(wanted), as_float(media_rate))


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
    write_B: ArrayLike, chunk_B: ArrayLike, disks: ArrayLike, parity: ArrayLike, *, resyncing: ArrayLike = False
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
