"""Linux md: its stripe cache, what it gathers to full stripes, its parity thread, bitmap and read-ahead.

What a stripe costs its members is `dtnsim.physics.raid`. All functions broadcast.
"""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float
from dtnsim.physics.raid import write_amplification

MD_PAGE_B: Final = 4096  #: Linux md stripe cache: bytes per entry and disk (md(4), stripe_cache_size).
#: The daemon of the write-intent bitmap passes every 5 s (mdadm(8), --delay), and clears a bit the second time: 5 to
#: 10 s after the last write.
BITMAP_PASS_S: Final = 5.0
BITMAP_HELD_S: Final = 1.5 * BITMAP_PASS_S
#: Members from which on mdadm gives an array with redundancy a bitmap by itself (mdadm(8), --bitmap).
MARKED_B: Final = 100.0 * 2**30
FLUSHES_OVERLAP: Final = (4, 18)  #: First release in which flushes of an array overlap (commit 5a409b4f56d5).
#: First release by level in which a request takes no lock of the array: reads of RAID 5 and 6 that lie in a chunk
#: (drivers/md/raid5.c, commit 97ae27252f49), requests of RAID 10 (raid10.c, b9b083f9044a). RAID 0 never had one.
LOCKLESS: Final = dict.fromkeys((5, 6, 50, 60), (5, 14)) | {10: (6, 1)}
#: First release by level in which random reads of flash go to the copy with the fewest requests before it.
IDLEST: Final = {1: (3, 6), 10: (5, 3)}
#: First release in which who writes to a mirror without a bitmap sends the write out (commit 7db922bae3ab).
WRITES_DIRECTLY: Final = (6, 5)
#: First release in which no read of RAID 5 or 6 without a disk passes its stripe cache by (commit 9ffc8f7cb964: "the MD
#: thread mostly become CPU bound").
DEGRADED_BY_STRIPE: Final = (4, 1)
_SETTLES: Final = 100  #: Rounds of a fixed point that falls without turning.


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
    """Time of sequential writes with an internal bitmap over that without: 1 + c + min(c, t_pos / T), c = R t_pos / b.

    A bit is set before its part is written; the daemon clears all that are due in one write of each pass, every T.

    Args:
        bitmap_chunk_B: Part of each member that one bit covers b [B].
        rate: Rate of a member R [B/s].
        positioning_s: Positioning of a member to its bitmap and back t_pos [s].

    Returns:
        Factor [1]; tends to 1 for large bitmap chunks.

    Valid: one sequential stream.
    Neglects: pages of the bitmap that lie apart.
    Source: md(4), write-intent bitmap ("can degrade write performance; larger bitmap chunks degrade it less"); Linux
        drivers/md/md-bitmap.c (md_bitmap_daemon_work).
    """
    each = as_float(rate) * as_float(positioning_s) / as_float(bitmap_chunk_B)
    return 1.0 + each + np.minimum(each, as_float(positioning_s) / BITMAP_PASS_S)


def bitmap_clear_share(write_s: ArrayLike, commit_s: ArrayLike, chunks: ArrayLike, in_flight: ArrayLike) -> FloatArray:
    """Part of the random writes that find their bit of a write-intent bitmap clear: p = exp(-q T / (M (t + p w))).

    A bit is set on all members before the first write to its part goes out, and cleared some seconds after the last.
    Each of q writers takes t a write, and w more for a bit; the bits of M parts stay set for `BITMAP_HELD_S` T. Where
    they keep themselves set there are two answers, and this is the slower one, which an idle array begins with.

    Args:
        write_s: Time of a write beside the bitmap t [s].
        commit_s: Time of setting a bit on all members w [s].
        chunks: Parts of the array that the writes fall on, one bit each M [1].
        in_flight: Writes that are under way together q [1].

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
        share = np.exp(-q * BITMAP_HELD_S / (np.maximum(m, 1.0) * np.maximum(t + share * w, 1e-12)))
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


def gathered_bytes(
    request_B: ArrayLike,
    in_flight: ArrayLike,
    chunk_B: ArrayLike,
    entries: ArrayLike,
    data_disks: ArrayLike,
    joins: ArrayLike = 1.0,
) -> FloatArray:
    """Bytes of a stream of direct writes that parity is computed of at once: j q s, at most whole stripes.

    Direct writes are synchronous (REQ_SYNC), so that md does not delay their stripes as it delays those of write-back.
    What else is in a stripe has come while it waited: for the thread, behind all that is under way (j = 1), or, where
    everything waits for the drives, while old blocks were read, half of a request's time there (j = 1/2). The stripes
    that wait are one page long, and the next page of one comes a chunk later: a stream without entries for a whole
    chunk of them gathers nothing.

    Args:
        request_B: Bytes of one request s [B].
        in_flight: Requests of the stream under way q [1].
        chunk_B: Chunk per disk c [B].
        entries: Entries of the stripe cache that the stream has e [1].
        data_disks: Disks less parity d [1].
        joins: Part of what is under way that comes before parity is computed j [1].

    Returns:
        Bytes [B].

    Valid: sequential streams, each with an equal part of the cache.
    Neglects: requests that are submitted together (io_submit of several), which one plug holds back.
    Source: Linux drivers/md/raid5.c: raid5_make_request (REQ_SYNC sets STRIPE_PREREAD_ACTIVE, else the stripe goes to
        delayed_list), handle_stripe_dirtying (all that has come, once nothing of it is locked); md(4).
    """
    s, c = as_float(request_B), as_float(chunk_B)
    stripe = c * as_float(data_disks)
    joined = np.where(as_float(entries) * MD_PAGE_B < c, s, np.maximum(as_float(joins) * as_float(in_flight), 1.0) * s)
    stripes = stripe * np.maximum(np.floor(s / stripe), 1.0)
    return np.where(joined >= np.maximum(stripe, np.where(s > stripe, 2.0 * s, 0.0)), stripes, joined)


def early_reads(
    request_B: ArrayLike, gathered_B: ArrayLike, chunk_B: ArrayLike, disks: ArrayLike, parity: ArrayLike
) -> FloatArray:
    """Bytes read in vain per payload byte of full stripes whose old blocks were asked for before they were full.

    min(k + p, n - p - k) / (n - p): what the first request of k chunks needs, to modify or to reconstruct.

    Args:
        request_B: Bytes of one request [B].
        gathered_B: Bytes that were there when parity was computed, see `gathered_bytes` [B].
        chunk_B: Chunk per disk [B].
        disks: Disks per group n [1].
        parity: Parity disks per group p [1].

    Returns:
        Bytes [1]; 0 where a request is a stripe by itself, and where stripes are modified, whose reads are needed.

    Valid: aligned requests.
    Neglects: stripes that are reconstructed half filled.
    Source: Linux drivers/md/raid5.c, handle_stripe_dirtying (a stripe that is preread-active reads at once).
    """
    s, c, n, p = as_float(request_B), as_float(chunk_B), as_float(disks), as_float(parity)
    stripe = c * (n - p)
    k = np.maximum(np.floor(s / c), 1.0)
    chunks = np.maximum(np.minimum(k + p, n - p - k), 0.0)
    return np.where((s < stripe) & (as_float(gathered_B) >= stripe), chunks / (n - p), 0.0)


def direct_amplification(
    request_B: ArrayLike,
    chunk_B: ArrayLike,
    disks: ArrayLike,
    parity: ArrayLike,
    *,
    in_flight: ArrayLike = 1.0,
    entries: ArrayLike = 0.0,
    drives_bind: bool = True,
    resyncing: ArrayLike = False,
) -> FloatArray:
    """Member bytes moved per byte of direct writes: `raid.write_amplification` of what md gathers, and its early reads.

    Args:
        request_B: Bytes of one request [B].
        chunk_B: Chunk per disk [B].
        disks: Disks per group [1].
        parity: Parity disks per group [1].
        in_flight: Requests of one sequential stream under way; 1 for random ones [1].
        entries: Entries of the stripe cache that a stream has; 0 where nothing gathers [1].
        drives_bind: Whether it is the drives that everything waits for, or the thread [bool].
        resyncing: True while only reconstruct-write is allowed [bool].

    Returns:
        Bytes [1].

    Valid: as `gathered_bytes`.
    Neglects: as `gathered_bytes` and `early_reads`.
    Source: as those.
    """
    joins, data = 0.5 if drives_bind else 1.0, as_float(disks) - as_float(parity)
    together = gathered_bytes(request_B, in_flight, chunk_B, entries, data, joins)
    moved = write_amplification(together, chunk_B, disks, parity, resyncing=resyncing)
    return moved + (early_reads(request_B, together, chunk_B, disks, parity) if drives_bind else 0.0)


def thread_load(moved: ArrayLike, disks: ArrayLike, parity: ArrayLike) -> FloatArray:
    """Work of md's thread on a payload byte over that on a byte of full stripes: a (n - p) / n.

    The thread runs a state machine for each stripe of one page a disk: it has each page to ask for, to compute with or
    to write, whatever part of it is payload. Full stripes have n pages for n - p of payload.

    Args:
        moved: Member bytes read and written per payload byte a, see `raid.write_amplification` [1].
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


def partial_load(request_B: ArrayLike, stripe_B: ArrayLike, work: ArrayLike) -> FloatArray:
    """Work of md's thread on a payload byte of writes that read first, besides their pages: w ceil(b / s) / b.

    A stripe that is written whole passes the thread's state machine once and is done. One that is written in part comes
    again when what was asked of the drives is there, once more when parity is made and when it is written: each time
    it is taken from a list and put on another, and all its devices are looked at, whatever there is to do.

    Args:
        request_B: Bytes of one request b [B].
        stripe_B: Payload of a stripe of one page a disk s [B].
        work: Work on one such stripe w [cycles].

    Returns:
        Work [cycles/B].

    Valid: writes smaller than a stripe that nothing gathers.
    Neglects: the last stripe of a larger write; locks that several threads share.
    Source: Linux drivers/md/raid5.c (handle_stripe, called again from ops_complete_compute, raid5_end_read_request and
        raid5_end_write_request through raid5_release_stripe).
    """
    request = as_float(request_B)
    return as_float(work) * np.ceil(request / as_float(stripe_B)) / request


def stripe_cache_write_rate(entries: ArrayLike, disks: ArrayLike, parity: ArrayLike, update_s: ArrayLike) -> FloatArray:
    """Write rate that md's stripe cache can keep in flight: entries (n - p) page / t_update.

    Args:
        entries: stripe_cache_size [1].
        disks: Disks n [1].
        parity: Parity disks p [1].
        update_s: Time a stripe stays in the cache, from first byte to parity written [s].

    Returns:
        Rate [B/s], a ceiling beside those of disks and CPU.

    Valid: full-stripe writes.
    Neglects: stripes held for reads.
    Source: Little's law over the stripe cache of md(4).
    """
    return as_float(entries) * (as_float(disks) - as_float(parity)) * MD_PAGE_B / as_float(update_s)
