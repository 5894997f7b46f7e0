"""Hard disks: zoned media rate, seeks, positioning with a queue and on several disks, and what write caches save.

Conventions: ``rate`` [B/s] is the media rate of one disk, ``position`` the fraction of the capacity
counted from the outer edge. What streams and files cost is in `hdd_streams`. All functions broadcast.
"""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float

#: E sqrt|x - y| = 8/15 of two uniform points on a unit stroke, from the density 2 (1 - d) of the distance d.
MEAN_SQRT_SEEK_DISTANCE: Final = 8.0 / 15.0


def zone_rate(position: ArrayLike, outer_rate: ArrayLike, radius_ratio: ArrayLike) -> FloatArray:
    """Media rate at a place on a zoned disk.

    R(x) = R_out sqrt(1 - x (1 - rho^2)).

    Args:
        position: Fraction x of the capacity that lies further out, clipped to 0..1 [1].
        outer_rate: Media rate R_out on the outermost zone [B/s].
        radius_ratio: Innermost over outermost recorded radius rho [1].

    Returns:
        Media rate at that place [B/s].

    Valid: constant linear density (zoned bit recording), 0 < rho <= 1.
    Neglects: the steps between zones, spare tracks, the head and cylinder switch inside a zone.
    Source: geometry (rate grows with the radius, capacity with the area); the shape is measured in
        Van Meter, "Observing the effects of multi-zone disks", USENIX ATC 1997.
    """
    x = np.clip(as_float(position), 0.0, 1.0)
    rho = as_float(radius_ratio)
    return as_float(outer_rate) * np.sqrt(1.0 - x * (1.0 - rho * rho))


def zone_mean_rate(outer_rate: ArrayLike, radius_ratio: ArrayLike) -> FloatArray:
    """Mean rate of one sequential pass over the whole disk.

    1 / integral dx / R(x) = (R(0) + R(1)) / 2, exact for `zone_rate`.

    Args:
        outer_rate: Media rate on the outermost zone [B/s].
        radius_ratio: Innermost over outermost recorded radius [1].

    Returns:
        Bytes read over the time of the pass [B/s].

    Valid: as `zone_rate`.
    Neglects: as `zone_rate`.
    Source: integral of `zone_rate`.
    """
    return 0.5 * (zone_rate(0.0, outer_rate, radius_ratio) + zone_rate(1.0, outer_rate, radius_ratio))


def rotation_time(spindle_Hz: ArrayLike) -> FloatArray:
    """Time of one turn of the platters: t_rev = 1 / f (7200 rpm is 120 Hz).

    Args:
        spindle_Hz: Turns a second [Hz].

    Returns:
        Time of one turn [s]; the mean rotational latency of a random access is half of it.

    Valid: any spinning disk.
    Neglects: spin-up.
    Source: definition.
    """
    return 1.0 / as_float(spindle_Hz)


def seek_time(distance: ArrayLike, track_seek_s: ArrayLike, average_seek_s: ArrayLike) -> FloatArray:
    """Seek time for a distance, from the two seek figures every datasheet prints.

    t(d) = t_track + b sqrt(d), b = (t_avg - t_track) / E sqrt(d), E sqrt(d) = 8/15 over random pairs.

    Args:
        distance: Seek distance over the full stroke, clipped to 0..1 [1].
        track_seek_s: Track-to-track seek time [s].
        average_seek_s: Average seek time of the datasheet [s].

    Returns:
        Seek time [s]; 0 where the distance is 0 (no seek).

    Valid: short and middle distances; the mean over random pairs is the datasheet's average.
    Neglects: the coasting part of long strokes, where the time grows linearly;
        the extra settle time of writes (use the datasheet's write figures for writes).
    Source: square-root form of Ruemmler and Wilkes, "An introduction to disk drive modeling",
        IEEE Computer 27(3), 1994; mean of sqrt|x - y| by integration.
    """
    d = np.clip(as_float(distance), 0.0, 1.0)
    track = as_float(track_seek_s)
    slope = np.maximum(as_float(average_seek_s) - track, 0.0) / MEAN_SQRT_SEEK_DISTANCE
    return np.where(d > 0.0, track + slope * np.sqrt(d), 0.0)


def positioning_time(seek_s: ArrayLike, spindle_Hz: ArrayLike, disks: ArrayLike = 1.0) -> FloatArray:
    """Time from a random request to its first byte, or until each of its disks has one: t_seek + t_rev m / (m + 1).

    Args:
        seek_s: Seek time [s].
        spindle_Hz: Turns a second [Hz].
        disks: Disks m whose parts are all waited for, with their arms side by side [1].

    Returns:
        Positioning time [s]; the seek and half a turn of one disk.

    Valid: request angle independent of the head, spindles that are not synchronised.
    Neglects: command overhead (0.1 ms class), zero-latency (whole-track) reads.
    Source: Ruemmler and Wilkes 1994; mean of the largest of m uniform angles (order statistics; Bitton and Gray, VLDB
        1988).
    """
    m = as_float(disks)
    return as_float(seek_s) + m / (m + 1.0) * rotation_time(spindle_Hz)


def _seek_share(seconds: FloatArray, track: FloatArray, stroke: FloatArray) -> FloatArray:
    """Integral from 0 to t of P(seek <= s) ds, for the distance of two uniform points on the stroke."""
    x = np.clip((seconds - track) / stroke, 0.0, 1.0)
    over = np.maximum(seconds - track - stroke, 0.0)
    square = x * x  # products: powers take ten times as long
    return stroke * x * square * (2.0 / 3.0 - square / 5.0) + over


def _positioning(
    track_seek_s: ArrayLike, average_seek_s: ArrayLike, spindle_Hz: ArrayLike, stroke: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Times t (last axis), and the share of random requests that the head reaches within t."""
    track = as_float(track_seek_s)
    slope = np.maximum(as_float(average_seek_s) - track, 0.0) / MEAN_SQRT_SEEK_DISTANCE
    full = np.maximum(slope * np.sqrt(np.clip(as_float(stroke), 0.0, 1.0)), 1e-9)
    turn = rotation_time(spindle_Hz)
    track, full, turn = np.broadcast_arrays(track, full, turn)
    t = (track + full + turn)[..., None] * np.linspace(0.0, 1.0, 401)
    a, b, r = track[..., None], full[..., None], turn[..., None]
    return t, np.clip((_seek_share(t, a, b) - _seek_share(t - r, a, b)) / r, 0.0, 1.0)


def sorted_positioning_time(
    queue: ArrayLike, track_seek_s: ArrayLike, average_seek_s: ArrayLike, spindle_Hz: ArrayLike, stroke: ArrayLike = 1.0
) -> FloatArray:
    """Mean positioning time of a drive that always serves the request it reaches first.

    t = E min of q independent T = integral (1 - F(t))^q dt, T = seek(|x - y|) + U t_rev: seek over the distance
    of two uniform points, then the rest of a turn.

    Args:
        queue: Requests q that the drive may choose from, counted as at least 1 [1].
        track_seek_s: Track-to-track seek time [s].
        average_seek_s: Average seek time of the datasheet [s].
        spindle_Hz: Turns a second [Hz].
        stroke: Part of the stroke that the requests lie on, 0 to 1 [1].

    Returns:
        Positioning time [s]; average seek and half a turn at q = 1 on the whole stroke.

    Valid: random requests, queue refilled at once (NCQ, TCQ).
    Neglects: that the requests left over are those that are hard to reach, and limits on how long they may wait,
        both of which cost some of the gain; command overhead.
    Source: shortest access time first of Jacobson and Wilkes, "Disk scheduling algorithms based on rotational
        position", HPL-CSP-91-7, 1991; mean of a minimum.
    """
    t, reached = _positioning(track_seek_s, average_seek_s, spindle_Hz, stroke)
    q = np.maximum(as_float(queue), 1.0)
    return as_float(np.trapezoid((1.0 - reached) ** q[..., None], t, axis=-1))


def queued_positioning_time(queue: ArrayLike, alone_s: ArrayLike, power: ArrayLike) -> FloatArray:
    """Mean positioning time of a drive that sorts the requests of a queue, as drives are measured to: t_1 / q^p.

    Args:
        queue: Requests q that the drive may choose from, counted as at least 1 [1].
        alone_s: Positioning time of one request after the other t_1 [s].
        power: Power p of the queue that it gains [1].

    Returns:
        Positioning time [s]; that of one request at q = 1.

    Valid: random reads, whole stroke or a file of 1 GB, up to 32 requests.
    Neglects: what tells one firmware from another: five drives gain 1.5 to 2.75 at 32 requests.
    Source: CrystalDiskMark of drives (`dtnsim.components.hdd` names them); about the fifth root of the queue, as
        Thomasian's rule for shortest access time first has it (Computer Architecture News 39(2), 2011).
    """
    return as_float(alone_s) * np.maximum(as_float(queue), 1.0) ** -as_float(power)


def slowest_positioning_time(
    members: ArrayLike,
    track_seek_s: ArrayLike,
    average_seek_s: ArrayLike,
    spindle_Hz: ArrayLike,
    stroke: ArrayLike = 1.0,
) -> FloatArray:
    """Mean positioning time of the slowest of several disks that all have to serve one request.

    t = E max of m independent T = integral (1 - F(t)^m) dt, with T as in `sorted_positioning_time`.

    Args:
        members: Disks m that hold a part of the request, counted as at least 1 [1].
        track_seek_s: Track-to-track seek time [s].
        average_seek_s: Average seek time of the datasheet [s].
        spindle_Hz: Turns a second [Hz].
        stroke: Part of the stroke that the requests lie on, 0 to 1 [1].

    Returns:
        Positioning time of the request [s]; average seek and half a turn for one disk.

    Valid: spindles that are not synchronised, one request at a time.
    Neglects: arms in the same place because they served the same requests before.
    Source: mean of a maximum; Bitton and Gray, "Disk shadowing", VLDB 1988 (the slowest of k arms).
    """
    t, reached = _positioning(track_seek_s, average_seek_s, spindle_Hz, stroke)
    m = np.maximum(as_float(members), 1.0)
    return as_float(np.trapezoid(1.0 - reached ** m[..., None], t, axis=-1))


def mean_distance(filled: ArrayLike, places: ArrayLike = 2.0) -> FloatArray:
    """Mean seek distance between places on the part of a disk that holds data, visited in order: f / (n + 1).

    Args:
        filled: Part f of the stroke that the places lie on, clipped to 0..1 [1].
        places: Places n that a sweep visits; 2 for any two of them, one after the other [1].

    Returns:
        Distance over the full stroke [1].

    Valid: places independent of each other: files that were written at other times, directories apart.
    Neglects: neighbours that an allocator put side by side, which are nearer.
    Source: E|x - y| = 1/3 of two uniform points; mean spacing of n uniform points (order statistics).
    """
    return np.clip(as_float(filled), 0.0, 1.0) / (np.maximum(as_float(places), 2.0) + 1.0)


def sweep_choice(active: ArrayLike, request_B: ArrayLike, run_B: ArrayLike) -> FloatArray:
    """Runs that a drive may choose from when only so many requests are before it: max(1, q min(s, r) / r).

    Args:
        active: Requests before the drive q [1].
        request_B: Largest size of a request s [B].
        run_B: Contiguous bytes r; no request is longer [B].

    Returns:
        Runs [1]; 1 for long runs, q where each run is one request.

    Valid: runs that are read in the order of their places.
    Neglects: a run that requests of several sizes share.
    Source: OpenZFS vdev_queue.c (neighbours are joined, gaps above zfs_vdev_read_gap_limit are not).
    """
    run = as_float(run_B)
    return np.maximum(as_float(active) * np.minimum(as_float(request_B), run) / run, 1.0)


def place_by_fill(filled: ArrayLike, writing: ArrayLike) -> FloatArray:
    """Place of the data on a disk that is filled from the outside in: f for new data, f / 2 for what is read.

    Args:
        filled: Part of the space in use f, clipped to 0..1 [1].
        writing: True for new data, false for data of any age [bool].

    Returns:
        Fraction of the capacity that lies further out [1].

    Valid: allocators that take the outermost free space first.
    Neglects: holes that deleted files left further out.
    Source: OpenZFS metaslab.c (of equal metaslabs that of the lowest offset; zfs(4), metaslab_lba_weighting_enabled);
        mean of 0 to f.
    """
    f = np.clip(as_float(filled), 0.0, 1.0)
    return np.where(np.asarray(writing, dtype=bool), f, 0.5 * f)


def lost_turns_cost(
    request_B: ArrayLike, rate: ArrayLike, spindle_Hz: ArrayLike, in_flight: ArrayLike = 1.0
) -> FloatArray:
    """Disk time of sequential writes that are acknowledged from the platter, over that of their transfer.

    1 + (2 - q) R t_rev / s for q from 1 to 2 in flight: the host asks for the next block when the last is on the
    platter, whose next sector has passed the head by then and comes round after one turn in all. A second request
    that is there already follows without a gap.

    Args:
        request_B: Size of one write at the disk s [B].
        rate: Media rate of the disk R [B/s].
        spindle_Hz: Turns a second [Hz].
        in_flight: Writes in flight at the disk q, counted from 1 to 2 [1].

    Returns:
        Factor on the disk time of a byte [1], at least 1.

    Valid: write cache off; a host that asks again within one turn.
    Neglects: drives that begin a write wherever the head is (zero latency) and so save a part of the turn.
    Source: Ruemmler and Wilkes, "An introduction to disk drive modeling", IEEE Computer 27(3), 1994 (a write
        that is not cached misses a revolution).
    """
    alone = np.clip(2.0 - as_float(in_flight), 0.0, 1.0)
    return 1.0 + alone * as_float(rate) / (as_float(spindle_Hz) * as_float(request_B))


def mirrored_write_rate(write_rate: ArrayLike, mirror_rate: ArrayLike) -> FloatArray:
    """Rate at which a pair of controllers takes writes that each copies into the other's cache: min(W, M).

    Args:
        write_rate: Rate at which the pair takes writes that nobody copies W [B/s].
        mirror_rate: Rate at which the pair copies, both directions together M [B/s].

    Returns:
        Rate of writes [B/s].

    Valid: write-back caching with mirroring, as arrays have it by default; reads are not copied.
    Neglects: that the processors and memory of the controllers do both at the same time.
    Source: IBM, DS3500 Introduction and Implementation Guide, 9.4 (by default all write data are mirrored to the
        alternate controller); NetApp SANtricity (full stripes are mirrored unless a volume says otherwise).
    """
    return np.minimum(as_float(write_rate), as_float(mirror_rate))
