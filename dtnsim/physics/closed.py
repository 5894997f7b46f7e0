"""Workers that wait and then share a station: a closed queueing network of one queue and a delay."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]

#: beyond so many workers the station is taken to be full, or never queued at
MOST_WORKERS: Final = 64


def cycle_time(workers: float, away_s: ArrayLike, station_s: ArrayLike) -> FloatArray:
    """Time per unit of work of N workers that are away for Z and then share a station that takes D alone.

    Exact mean value analysis: R_1 = D, X_n = n / (Z + R_n), Q_n = X_n R_n, R_{n+1} = D (1 + Q_n); the
    answer is 1 / X_N.
    It lies between the bounds max(D, (Z + D) / N) and (Z + N D) / N.

    Args:
        workers: Number of workers N, at least 1; a part of a worker counts as none.
        away_s: Z, time of a unit of work away from the station [s].
        station_s: D, time of a unit of work at the station when nobody else is there [s].

    Returns:
        Seconds per unit of work of all workers together [s].

    Valid: one station that is shared equally (processor sharing), as connections share a link; waits that differ.
    Neglects: further shared stations; workers in step with each other.
    Source: M. Reiser, S. S. Lavenberg, "Mean-Value Analysis of Closed Multichain Queuing Networks", JACM 27(2), 1980.
    """
    away, station = np.broadcast_arrays(np.asarray(away_s, float), np.asarray(station_s, float))
    count = max(int(workers), 1)
    if count > MOST_WORKERS:
        return np.asarray(np.maximum(station, (away + station) / count), float)
    queue = np.zeros(away.shape)
    whole = away + station
    for n in range(1, count + 1):
        there = station * (1 + queue)
        whole = away + there
        with np.errstate(invalid="ignore", divide="ignore"):
            queue = np.where(whole > 0, n * there / whole, 0.0)
    return np.asarray(whole / count, float)
