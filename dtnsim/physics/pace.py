"""Programs that let their requests begin at a steady pace, however many workers have one to make."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float


def wait_s(
    files: ArrayLike, workers: ArrayLike, requests: ArrayLike, interval_s: ArrayLike, own_s: ArrayLike
) -> FloatArray:
    """Time that a worker waits for its turn with each file: max(0, F r d / ceil(F / N) - t).

    F files of r requests take at least F r d, and each of N workers has ceil(F / N) of them: what is left of its part
    of that time once its own waits are over.

    Args:
        files: F, files of all workers [1].
        workers: N, workers with a file each [1].
        requests: r, requests of a file [1].
        interval_s: d, least time between the beginnings of two requests [s].
        own_s: t, what a worker waits for anyway with each file [s].

    Returns:
        Seconds for each file of a worker [s].

    Valid: a pace that is kept by all requests of a program together.
    Neglects: bursts that are allowed after a pause; the time of the bytes themselves.
    Source: github.com/rclone/rclone lib/pacer/pacer.go (beginCall: a token comes back after the pacer's sleep).
    """
    f, n = as_float(files), as_float(workers)
    turn = f * as_float(requests) * as_float(interval_s) / np.maximum(np.ceil(f / n), 1.0)
    return np.asarray(np.maximum(turn - as_float(own_s), 0.0))


def turn_s(others: ArrayLike, interval_s: ArrayLike, service_s: ArrayLike) -> FloatArray:
    """Mean time until one of n requests is done that begin at a pace and are served in turn: s + (n - 1) / 2 max(d, s).

    Args:
        others: n, requests [1].
        interval_s: d, time between their beginnings [s].
        service_s: s, time that each takes of the server [s].

    Returns:
        Mean time from the first one's turn to begin until a request is done [s]; 0 without requests.

    Valid: equal requests at equal distances (a D/D/1 queue): where the server is slower than the pace it sets it.
    Neglects: other work of the server.
    Source: L. Kleinrock, "Queueing Systems" I, 1975, section 1.3 (deterministic flow).
    """
    n, service = as_float(others), as_float(service_s)
    mean = service + (n - 1.0) / 2.0 * np.maximum(as_float(interval_s), service)
    return np.asarray(np.where(n >= 1.0, mean, 0.0), float)
