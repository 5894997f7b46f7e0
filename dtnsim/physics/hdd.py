"""Hard disks: zoned media rate, positioning, and what several sequential streams cost.

Conventions: ``rate`` [B/s] is the media rate of one disk, ``position`` the fraction of the capacity
counted from the outer edge, ``visit_B`` the bytes one disk serves to one stream before the heads
leave for the next stream. All functions broadcast.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float

#: Inner over outer radius of the recorded band of a 3.5-inch platter; a prior, no drive vendor prints it.
RADIUS_RATIO_PRIOR: Final = 0.5
#: Mean distance of two uniform points on a unit stroke, E|x - y| = 1/3, and E sqrt|x - y| = 8/15: both
#: from the density 2 (1 - d) of the distance d.
MEAN_SEEK_DISTANCE: Final = 1.0 / 3.0
MEAN_SQRT_SEEK_DISTANCE: Final = 8.0 / 15.0


def zone_rate(position: ArrayLike, outer_rate: ArrayLike, radius_ratio: ArrayLike = RADIUS_RATIO_PRIOR) -> FloatArray:
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


def zone_mean_rate(
    outer_rate: ArrayLike,
    radius_ratio: ArrayLike = RADIUS_RATIO_PRIOR,
    start: ArrayLike = 0.0,
    end: ArrayLike = 1.0,
) -> FloatArray:
    """Mean rate of one sequential pass from one place on the disk to another.

    (x1 - x0) / integral dx / R(x) = (R(x0) + R(x1)) / 2, exact for `zone_rate`.

    Args:
        outer_rate: Media rate on the outermost zone [B/s].
        radius_ratio: Innermost over outermost recorded radius [1].
        start: Fraction of the capacity where the pass begins [1].
        end: Fraction of the capacity where the pass ends [1].

    Returns:
        Bytes read over the time of the pass [B/s].

    Valid: as `zone_rate`.
    Neglects: as `zone_rate`.
    Source: integral of `zone_rate`.
    """
    return 0.5 * (zone_rate(start, outer_rate, radius_ratio) + zone_rate(end, outer_rate, radius_ratio))


def platter_rate(known_rate: ArrayLike, known_density: ArrayLike, density: ArrayLike) -> FloatArray:
    """Media rate of a drive from that of a sister model with another platter capacity.

    R = R0 sqrt(density / density0).

    Args:
        known_rate: Media rate of the known model [B/s].
        known_density: Bytes per platter of the known model [B].
        density: Bytes per platter of the model asked for [B].

    Returns:
        Media rate [B/s].

    Valid: same rotation speed and form factor; areal density split evenly over tracks and bits.
    Neglects: any change of the bit aspect ratio between the models.
    Source: geometry (bits per track grow with the square root of bits per area); 106 MB/s at 333 GB
        and 126-138 MB/s at 500 GB per platter at 7200 rpm are reported at community.wd.com, thread
        "Caviar Blue WD10EALS platter size" (13478).
    """
    return as_float(known_rate) * np.sqrt(as_float(density) / as_float(known_density))


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
    Neglects: the coasting part of long strokes, where the time grows linearly (`seek_time_knee`);
        the extra settle time of writes (use the datasheet's write figures for writes).
    Source: square-root form of Ruemmler and Wilkes, "An introduction to disk drive modeling",
        IEEE Computer 27(3), 1994; mean of sqrt|x - y| by integration.
    """
    d = np.clip(as_float(distance), 0.0, 1.0)
    track = as_float(track_seek_s)
    slope = np.maximum(as_float(average_seek_s) - track, 0.0) / MEAN_SQRT_SEEK_DISTANCE
    return np.where(d > 0.0, track + slope * np.sqrt(d), 0.0)


def seek_time_knee(
    cylinders: ArrayLike, a_s: ArrayLike, b_s: ArrayLike, c_s: ArrayLike, e_s: ArrayLike, knee: ArrayLike
) -> FloatArray:
    """Seek time of a drive whose seek curve was measured.

    t(d) = a + b sqrt(d) up to the knee (accelerate, brake), c + e d beyond it (coast).

    Args:
        cylinders: Seek distance d [cylinders].
        a_s: Constant of short seeks [s].
        b_s: Factor of sqrt(d) [s].
        c_s: Constant of long seeks [s].
        e_s: Time per cylinder of long seeks [s].
        knee: Distance where the arm reaches its top speed [cylinders].

    Returns:
        Seek time [s]; 0 where the distance is 0.

    Valid: coefficients that meet at the knee.
    Neglects: thermal recalibration, write settle.
    Source: Ruemmler and Wilkes 1994 (HP 97560: 3.24 + 0.400 sqrt(d) ms to 383 cylinders, then
        8.00 + 0.008 d ms; HP C2200A: 3.45 + 0.597 sqrt(d) to 616, then 10.8 + 0.012 d).
    """
    d = np.maximum(as_float(cylinders), 0.0)
    short = as_float(a_s) + as_float(b_s) * np.sqrt(d)
    long = as_float(c_s) + as_float(e_s) * d
    return np.where(d > 0.0, np.where(d <= as_float(knee), short, long), 0.0)


def elevator_seek_distance(queue: ArrayLike) -> FloatArray:
    """Mean distance to the next request when the drive sorts its queue by position.

    E[gap] = 1 / (q + 2): q requests and the head are q + 1 uniform points on the stroke.

    Args:
        queue: Requests q waiting at one drive, at least 1 [1].

    Returns:
        Mean seek distance over the full stroke [1]; 1/3 at q = 1, the random mean.

    Valid: random requests, sweep order (elevator, NCQ without rotational sorting).
    Neglects: sorting by angle, which also cuts the rotational latency; the return sweep.
    Source: mean spacing of uniform order statistics.
    """
    return 1.0 / (np.maximum(as_float(queue), 1.0) + 2.0)


def positioning_time(seek_s: ArrayLike, spindle_Hz: ArrayLike) -> FloatArray:
    """Time from a random request to its first byte: t_pos = t_seek + t_rev / 2.

    Args:
        seek_s: Seek time [s].
        spindle_Hz: Turns a second [Hz].

    Returns:
        Positioning time [s].

    Valid: request angle independent of the head.
    Neglects: command overhead (0.1 ms class), zero-latency (whole-track) reads.
    Source: Ruemmler and Wilkes 1994.
    """
    return as_float(seek_s) + 0.5 * rotation_time(spindle_Hz)


def files_cost(file_B: ArrayLike, rate: ArrayLike, positioning_s: ArrayLike, disks: ArrayLike = 1.0) -> FloatArray:
    """Disk time of reading files one after another, over that of reading one large file: 1 + m R t_pos / s.

    Args:
        file_B: Mean file size s [B].
        rate: Media rate R of a disk [B/s].
        positioning_s: Positioning from one file to the next t_pos [s].
        disks: Disks m that hold a part of the file, each of which has to position [1].

    Returns:
        Factor on the disk time of a byte [1], at least 1; tends to 1 for large files.

    Valid: files not stored next to each other; each read once, inodes in the same place or in memory.
    Neglects: neighbouring files that one read-ahead catches; sorting by several readers.
    Source: time per file, s/R to transfer and t_pos to get there (Ruemmler and Wilkes 1994).
    """
    return 1.0 + as_float(disks) * as_float(rate) * as_float(positioning_s) / as_float(file_B)


def random_iops(request_B: ArrayLike, rate: ArrayLike, positioning_s: ArrayLike) -> FloatArray:
    """Random requests a second of one disk, one after another: X = 1 / (t_pos + s / R).

    Args:
        request_B: Request size s [B].
        rate: Media rate R [B/s].
        positioning_s: Positioning time t_pos [s].

    Returns:
        Requests a second [1/s].

    Valid: one request at a time, or `positioning_s` already shortened by the queue.
    Neglects: the drive's cache.
    Source: Ruemmler and Wilkes 1994.
    """
    return 1.0 / (as_float(positioning_s) + as_float(request_B) / as_float(rate))


def random_rate(request_B: ArrayLike, rate: ArrayLike, positioning_s: ArrayLike) -> FloatArray:
    """Bytes a second of random requests on one disk: s / (t_pos + s / R).

    Args:
        request_B: Request size s [B].
        rate: Media rate R [B/s].
        positioning_s: Positioning time t_pos [s].

    Returns:
        Rate [B/s]; tends to R for large requests.

    Valid: as `random_iops`.
    Neglects: as `random_iops`.
    Source: Ruemmler and Wilkes 1994.
    """
    return as_float(request_B) * random_iops(request_B, rate, positioning_s)


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
    R, B = as_float(rate), as_float(visit_B)
    switching = np.clip(as_float(streams) - 1.0, 0.0, 1.0) * as_float(switch_s)
    return R * B / (B + R * switching)


def interleaved_rates(visits_B: ArrayLike, rates: ArrayLike, switch_s: ArrayLike) -> FloatArray:
    """Rates of unlike streams on one disk, streams along the last axis.

    X_i = B_i / sum_j (B_j / R_j + t_sw), without t_sw where only one stream is there.

    Args:
        visits_B: Bytes served to each stream per turn, 0 for a stream that is absent [B], (..., n).
        rates: Media rate of each stream's place on the disk [B/s], (..., n).
        switch_s: Switch cost between two streams [s], scalar or (...).

    Returns:
        Rate of every stream [B/s], (..., n).

    Valid: round-robin turns; a rebuild or scrub is one more stream with its own visit.
    Neglects: as `interleaved_rate`.
    Source: as `interleaved_rate`, one cycle of turns.
    """
    B, R = np.broadcast_arrays(as_float(visits_B), as_float(rates))
    present = np.sum(B > 0.0, axis=-1)
    switches = np.where(present >= 2, present, 0) * as_float(switch_s)
    cycle = np.sum(B / R, axis=-1) + switches
    return np.where(B > 0.0, B / np.maximum(cycle, np.finfo(float).tiny)[..., None], 0.0)


def visit_for_efficiency(efficiency: ArrayLike, rate: ArrayLike, switch_s: ArrayLike) -> FloatArray:
    """Visit size that explains a measured efficiency: B = R t_sw eta / (1 - eta).

    Args:
        efficiency: Aggregate rate of interleaved streams over the rate of one stream eta, below 1 [1].
        rate: Media rate R [B/s].
        switch_s: Switch cost t_sw [s].

    Returns:
        Bytes per disk and visit [B]; R t_sw, the half-rate visit, at eta = 1/2.

    Valid: 0 < eta < 1; nothing but head movement between the two figures.
    Neglects: as `interleaved_rate`.
    Source: `interleaved_rate` solved for B.
    """
    eta = as_float(efficiency)
    return as_float(rate) * as_float(switch_s) * eta / (1.0 - eta)
