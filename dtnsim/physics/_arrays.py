"""Types of arrays, for all rooms, and the way into that of the physics functions."""

from collections.abc import Iterable
from dataclasses import fields
from typing import Any, Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
Index = NDArray[np.intp]  #: numbers of rows or columns of others

#: levels of every interval that an answer states: its lower end, the median, its upper end [1]
LEVELS: Final = (0.1, 0.5, 0.9)


def as_float(value: ArrayLike) -> FloatArray:
    """Returns ``value`` as float64; a scalar becomes an array of no dimension.

    Integers become floats, so that no size in bytes overflows an int32 and no division truncates.
    """
    return np.asarray(value, dtype=np.float64)


def broadcast(*values: ArrayLike) -> tuple[FloatArray, ...]:
    """Values as float64, of one shape."""
    return np.broadcast_arrays(*map(as_float, values))


class Rows:
    """A dataclass of arrays with a row for each of several."""

    __slots__ = ()

    def take(self, rows: slice | Index) -> Self:
        """The rows with these numbers, in the order given."""
        return type(self)(**{f.name: getattr(self, f.name)[rows] for f in fields(self)})  # type: ignore[arg-type]


def among(values: NDArray[Any], members: Iterable[object]) -> BoolArray:
    """Which of values are among some: `numpy.isin` of few, which loads masked arrays for them."""
    lookup = set(members)
    return np.array([value in lookup for value in values.ravel().tolist()], dtype=bool).reshape(values.shape)


def quantile(values: ArrayLike, shares: ArrayLike, axis: int = 0, *, between: bool = False) -> FloatArray:
    """Quantiles along an axis, digit for digit `numpy.quantile`'s, which loads masked arrays for them.

    Args:
        values: What is distributed.
        shares: Which quantiles [1].
        axis: Along which axis.
        between: Whether they lie between values, on straight lines; else each is one of the values (inverted_cdf).

    Returns:
        A quantile for each share, these on the first axis; not a number where a value is none.
    """
    ordered, wanted = np.sort(np.moveaxis(np.asarray(values, float), axis, 0), axis=0), np.asarray(shares, float)
    last = len(ordered) - 1
    place = wanted * last if between else np.maximum(np.ceil(len(ordered) * wanted - 1), 0.0)
    below = np.floor(place).astype(int)
    low, high = ordered[below], ordered[np.minimum(below + 1, last)]
    part = (place - below).reshape(wanted.shape + (1,) * (ordered.ndim - 1))
    with np.errstate(invalid="ignore"):
        picks = np.where(part < 0.5, low + (high - low) * part, high - (high - low) * (1 - part)) if between else low
    return np.asarray(np.where(np.isnan(ordered[-1]), np.nan, picks))
