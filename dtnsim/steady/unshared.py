"""Transfers that share nothing that fills: each is as fast as by itself, which is known before anybody asks.

Whoever runs beside others in an epoch mostly meets them at stations that all together do not fill. Where that is so in
a scenario, and no memory is loaded so that cores slow down, there is nothing to solve.

Shapes: S scenarios, F transfers, K stations, N entries (`dtnsim.steady.matrices`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtnsim.physics import memory
from dtnsim.steady.ceilings import Workers, kinds
from dtnsim.steady.rows import summed
from dtnsim.steady.shares import ROUNDED, rates_alone

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnsim.steady.matrices import Matrices

    Array = NDArray[np.float64]
    Index = NDArray[np.intp]


class Unshared:
    """Rates of the transfers of a problem, each by itself.

    Attributes:
        rate: (F, S) [B/s].
    """

    def __init__(self, m: Matrices) -> None:
        self._m = m
        self.rate = np.minimum(rates_alone(m.capacity, m.total), Workers(m, meet=False).ceilings(m.capacity).T)
        self._kind = np.unique(kinds(m), return_inverse=True)[1]
        self._driver = np.array([driver for driver, _, _, _ in m.slowdowns], np.intp)
        self._drives = np.zeros(m.capacity.shape[1] + 1, dtype=bool)
        self._drives[self._driver] = True

    def holds(
        self, which: Index, active: NDArray[np.bool_], scenarios: Index | slice
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """(S,) scenarios in which those that run share nothing that fills, and those in which memory may slow cores.

        Args:
            which: (n,) some of the transfers.
            active: (S, n) who of them runs.
            scenarios: Which scenarios these are.
        """
        m, total = self._m, self._m.total
        kind, times = np.unique(self._kind[which], return_inverse=True)
        alike = np.bincount(times, minlength=len(kind))[times] > 1
        free = np.asarray(~(active & alike).any(axis=1))
        entries, row = total.entries(which)
        station = total.station[entries]
        counts = np.bincount(station, minlength=m.capacity.shape[1] + 1)
        counts[-1] = 0
        met = np.flatnonzero((counts > 1) | (self._drives & (counts > 0)))
        place = np.full(len(counts), -1)
        place[met] = np.arange(len(met))
        some = np.flatnonzero(place[station] >= 0)
        if not len(some):
            return free, np.zeros(len(active), dtype=bool)
        entries, row, at = entries[some], row[some], place[station[some]]
        rate = self.rate[which] if self.rate.shape[1] == 1 else self.rate[which][:, scenarios]
        demand = total.demand[entries]
        demand = demand if demand.shape[1] == 1 else demand[:, scenarios]
        runs = active.T[row] & (demand > 0)
        with np.errstate(invalid="ignore"):
            load = summed(at, np.where(runs, rate[row] * demand, 0.0), len(met))
        capacity = m.capacity[:, met].T
        capacity = capacity if capacity.shape[1] == 1 else capacity[:, scenarios]
        full = (summed(at, runs.astype(float), len(met)) > 1) & (load >= capacity * (1 - ROUNDED))
        slowed = self._slowed(place, load / capacity, scenarios)
        return free & ~full.any(axis=0) & ~slowed, slowed

    def _slowed(self, place: Index, used: Array, scenarios: Index | slice) -> NDArray[np.bool_]:
        """(S,) whether loads slow a core; ``used`` (n, S) are those of the stations at ``place`` (K + 1,), or -1."""
        slowed = np.zeros(used.shape[1], dtype=bool)
        for driver, (_, _, slope, reference) in zip(self._driver, self._m.slowdowns, strict=True):
            if place[driver] >= 0:
                k, known = (v if v.size == 1 else v[scenarios] for v in (slope, reference))
                slowed |= memory.interference(np.minimum(used[place[driver]], 1.0), k, known) > 1
        return slowed


def slowed(m: Matrices, rate: Array) -> Array:
    """(S, slowdowns) by which factor each makes a byte dearer when transfers run at ``rate`` (S, F), 1 at least."""
    number = {driver: n for n, driver in enumerate(dict.fromkeys(driver for driver, _, _, _ in m.slowdowns))}
    drivers, place = np.array(list(number), np.intp), [number[driver] for driver, _, _, _ in m.slowdowns]
    load = m.loads(np.where(np.isfinite(rate), rate, 0.0), drivers)[:, place]
    slope, reference = (np.array(np.broadcast_arrays(*(s[n] for s in m.slowdowns))).T for n in (2, 3))
    used = np.minimum(load / m.capacity[:, drivers[place]], 1.0)
    return np.asarray(np.maximum(memory.interference(used, slope, reference), 1.0))
