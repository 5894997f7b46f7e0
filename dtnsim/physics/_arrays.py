"""The one array type of the physics functions and the way into it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]


def as_float(value: ArrayLike) -> FloatArray:
    """Returns ``value`` as float64; a scalar becomes an array of no dimension.

    Integers become floats, so that no size in bytes overflows an int32 and no division truncates.
    """
    return np.asarray(value, dtype=np.float64)
