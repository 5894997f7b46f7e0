"""Draws that belong to what they are drawn for: seed, replica, flow and number, not to a place in an array.

A table's rows may come in any company and order: each has the same draws as alone. Equal draws in all rows also make
answers smooth: what differs between two rows is their parameters, not their luck.
"""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtnsim.physics._arrays import FloatArray, IntArray

Bits = NDArray[np.uint64]

LOSS, DROPS, TRAIN, AGAIN, TAIL, PAUSE, START = range(1, 8)  #: what a draw decides

#: multipliers and shifts of the finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014)
_STEP: Final = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFTS: Final = (np.uint64(30), np.uint64(27), np.uint64(31))
_TO_UNIT: Final = 2.0**-53


def mixed(seed: int, purpose: int, number: ArrayLike, flow: ArrayLike = 0, replica: ArrayLike = 0) -> Bits:
    """Sixty-four bits that depend on all that makes one draw differ from another; arrays broadcast.

    Args:
        seed: Seed.
        purpose: What the draw decides.
        number: Number of the draw.
        flow: Number of the flow.
        replica: Number of the run.

    Source: finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
    """
    place = (np.asarray(number, np.int64) << 24) + (np.asarray(flow, np.int64) << 14) + np.asarray(replica, np.int64)
    origin = ((seed * 8 + purpose) * int(_STEP) + int(_FIRST)) % 2**64
    bits = np.atleast_1d(place).astype(np.uint64) * _STEP + np.uint64(origin)
    bits = (bits ^ (bits >> _SHIFTS[0])) * _FIRST
    bits = (bits ^ (bits >> _SHIFTS[1])) * _SECOND
    return np.asarray(bits ^ (bits >> _SHIFTS[2]))


def uniform(seed: int, purpose: int, number: ArrayLike, flow: ArrayLike = 0, replica: ArrayLike = 0) -> FloatArray:
    """A number from 0 to 1 for a seed, a purpose, and whatever else makes one draw differ from another.

    Args:
        seed: Seed.
        purpose: What the draw decides.
        number: Number of the draw.
        flow: Number of the flow.
        replica: Number of the run.

    Source: the first 53 bits of `mixed`, as many as a float has.
    """
    return np.asarray((mixed(seed, purpose, number, flow, replica) >> np.uint64(11)).astype(float) * _TO_UNIT, float)


def spread(seed: int, purpose: int, number: ArrayLike, flow: ArrayLike, replica: IntArray, replicas: int) -> FloatArray:
    """A number from 0 to 1 for each replica, one in each of as many equal parts of the interval.

    Stratified over the replicas (McKay, Beckman and Conover 1979), in an order that each draw shuffles anew: their mean
    scatters far less than that of independent draws, each of them is uniform still.

    Args:
        seed: Seed.
        purpose: What the draw decides.
        number: Number of the draw.
        flow: Number of the flow.
        replica: Number of the replica, from 0.
        replicas: How many there are; other numbers than powers of two get independent draws.

    Returns:
        The draws [1].

    Valid: any.
    Neglects: nothing.
    Source: Latin hypercube sampling.
    """
    draw = uniform(seed, purpose, number, flow, replica)
    if replicas & (replicas - 1):
        return draw
    order = mixed(seed + 1, purpose, number, flow)
    odd = (order | np.uint64(1)).astype(np.int64) & (replicas - 1)
    offset = (order >> np.uint64(32)).astype(np.int64) & (replicas - 1)
    return np.asarray((((odd * replica + offset) & (replicas - 1)) + draw) / replicas, float)
