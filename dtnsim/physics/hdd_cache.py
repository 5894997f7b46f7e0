"""Write caches of hard disks and of arrays' controllers: turns that are lost without one, copies for a partner.

Conventions: ``rate`` [B/s] is the media rate of one disk. All functions broadcast.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float


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
