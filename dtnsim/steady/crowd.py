"""Alike transfers whose workers wait now and then, and meet at a station that they share.

One by one none of them fills it, and together they do only now and then: those who are there share it meanwhile. For
equals that is one closed queueing network of all their workers (`dtnsim.physics.closed`).

Neglects: unlike transfers that meet so, of which each is as fast as the station's capacity allows all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from dtnsim.physics.closed import cycle_time

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnsim.steady.matrices import Matrices

    Array = NDArray[np.float64]
    Index = NDArray[np.intp]

#: digits in which transfers are alike
_DIGITS: Final = 6


def crowds(m: Matrices) -> list[tuple[Index, Index]]:
    """(transfers, stations that all of them share) of each group of at least two that wait and are alike."""
    waits = np.logical_or.reduceat((m.delay > m.served).any(axis=0), m.begins)
    visitors = np.bincount(m.total.station, minlength=m.capacity.shape[1] + 1)
    at_work = m.at_work
    alike: dict[tuple[object, ...], list[int]] = {}
    for f in np.flatnonzero(waits & (visitors[m.total.station[m.total.first]] > 0)):
        station, demand = m.total.of(int(f))
        many = (visitors[station] > 1) & (station < m.capacity.shape[1])
        if not many.any():
            continue
        waited = sum(float(m.delay[0, p]) for p in m.phases_of(int(f)))
        figures = (waited, float(m.lead[0, f]), *demand[0][many].tolist())
        key = (
            int(m.turn[f]),
            float(m.workers[f]),
            float(at_work[f]),
            station[many].tobytes(),
            tuple(float(f"{v:.{_DIGITS}g}") for v in figures),
        )
        alike.setdefault(key, []).append(int(f))
    found = []
    for members in alike.values():
        if len(members) > 1:
            station, _ = m.total.of(members[0])
            shared = station[(visitors[station] > 1) & (station < m.capacity.shape[1])]
            found.append((np.array(members, np.intp), shared))
    return found


def pace(
    m: Matrices, crowd: tuple[Index, Index], capacity: Array, alone_s: tuple[Array, Array], under_way: Index
) -> tuple[Array, Array]:
    """(S,) seconds per payload byte of one transfer of a crowd while some of them are under way, and if nobody queued.

    Args:
        m: The problem.
        crowd: One of `crowds`.
        capacity: (S, K).
        alone_s: Of one of them: (S,) seconds of a worker alone for a byte, and (S,) those of them in which it moves, or
            its requests are served.
        under_way: (S,) how many of them are under way.
    """
    members, shared = crowd
    busy, moving = alone_s  # what is left of busy are its waits
    station, demand = m.total.of(int(members[0]))
    here = np.isin(station, shared)
    with np.errstate(divide="ignore", invalid="ignore"):
        alone = np.where(demand[:, here] > 0, demand[:, here] / capacity[:, station[here]], 0.0).max(axis=1)
    workers = m.workers[members[0]]
    shape = np.broadcast_shapes(alone.shape, busy.shape, under_way.shape)
    busy, moving, alone, many = (np.broadcast_to(v, shape) for v in (busy, moving, alone, np.maximum(under_way, 1)))
    found = np.zeros(shape)
    for count in np.unique(many):
        at = many == count
        found[at] = count * cycle_time(workers * count, busy[at] - moving[at], alone[at], moving[at])
    return found, np.maximum(many * alone, busy / workers)
