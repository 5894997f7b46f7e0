"""Workers that wait and then share a station: a closed queueing network of one queue and a delay."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray

#: beyond so many workers the station is taken to be full, or never queued at
MOST_WORKERS: Final = 64


def cycle_time(workers: float, away_s: ArrayLike, station_s: ArrayLike, own_s: ArrayLike = 0.0) -> FloatArray:
    """Time per unit of work of N workers that are away for Z and then share a station that takes D alone.

    A worker at the station goes no faster than it can by itself, one unit in s: n of them pass min(n / s, 1 / D). The
    birth-death chain of n at the station has p(n - 1) (N - n + 1) / Z = p(n) min(n / s, 1 / D), and the answer is one
    over the mean of min(n / s, 1 / D). It lies between max(D, (Z + s) / N) and (Z + max(s, N D)) / N. Where s is no
    longer than D this is exact mean value analysis; where it is N D nobody ever waits for another. Less of any of Z, D
    and s never makes it longer.

    Args:
        workers: Number of workers N, at least 1; a part of a worker counts as none.
        away_s: Z, time of a unit of work away from the station [s].
        station_s: D, time of a unit of work at the station when nobody else is there, as far as the station goes [s].
        own_s: s, time of a unit of work at the station that its worker needs by itself; D where that is longer [s].

    Returns:
        Seconds per unit of work of all workers together [s].

    Valid: a station that is shared equally (processor sharing, which is insensitive to the distribution of the work),
        as connections share a link; waits that differ.
    Neglects: further shared stations; workers in step with each other.
    Source: M. Reiser, S. S. Lavenberg, "Mean-Value Analysis of Closed Multichain Queuing Networks", JACM 27(2), 1980;
        load-dependent stations: F. Baskett et al., "Open, Closed, and Mixed Networks of Queues", JACM 22(2), 1975.
    """
    away, station, own = np.broadcast_arrays(*(np.asarray(v, float) for v in (away_s, station_s, own_s)))
    own = np.maximum(own, station)
    count = max(int(workers), 1)
    if count > MOST_WORKERS:
        return np.asarray(np.maximum(station, (away + own) / count), float)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):  # times near 0 pass without end
        passing = [np.minimum(n / own, 1 / station) for n in range(count + 1)]
        chance = whole = np.ones(away.shape)
        mean = passing[count]
        for n in range(count, 0, -1):
            chance = np.nan_to_num(chance * passing[n] * away / (count - n + 1), nan=0.0)
            whole = whole + chance
            mean = mean + chance * passing[n - 1]
            scale = np.maximum(chance, 1.0)
            chance, whole, mean = chance / scale, whole / scale, mean / scale
        busy = whole / mean
    return np.asarray(np.where(own > 0, busy, away / count), float)
