"""How the errors of fitted parameters go together: the ``covariance`` of a calibration file.

The file has the spread of every parameter beside its value, and here the correlation of their logarithms, row by row
below the diagonal::

    covariance:
      parameters: ['venadi: cpu.clock', 'venadi: stack.file_write_byte']
      correlation: ['1', '0.62 1']
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtnsim.components.base import place
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Correlation
from dtnsim.ground.yamlio import Mapping

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: smallest eigenvalue of a correlation that is drawn from: rounding in the file may leave one below zero
_LEAST = 1e-6


def fitted_together(fitted: Mapping) -> Correlation:
    """The correlation that a calibration file states; none where it states none.

    Raises:
        SpecError: it is not a correlation of as many parameters.
    """
    given = fitted.get("covariance")
    if given is None:
        return Correlation()
    where = {**place(fitted, "covariance"), "key": "covariance"}
    remedy = "give a file that 'dtnsim calibrate' wrote"
    if not isinstance(given, Mapping):
        raise SpecError("needs parameters and their correlation", **where, remedy=remedy)
    keys = [str(k) for k in given.get("parameters") or []]
    rows = [str(r).split() for r in given.get("correlation") or []]
    if [len(r) for r in rows] != list(range(1, len(keys) + 1)):
        raise SpecError(f"needs {len(keys)} rows, each one longer than the one before", **where, remedy=remedy)
    matrix = np.eye(len(keys))
    try:
        for number, row in enumerate(rows):
            matrix[number, : number + 1] = matrix[: number + 1, number] = [float(x) for x in row]
    except ValueError:
        raise SpecError("holds something that is not a number", **where, remedy=remedy) from None
    return Correlation(tuple(keys), factor(matrix))


def factor(correlation: NDArray[np.float64]) -> NDArray[np.float64]:
    """Lower triangular factor of the nearest positive definite correlation, (K, K)."""
    if not correlation.size:
        return correlation
    values, vectors = np.linalg.eigh(correlation)
    whole = (vectors * np.maximum(values, _LEAST)) @ vectors.T
    scale = np.sqrt(np.diag(whole))
    return np.asarray(np.linalg.cholesky(whole / np.outer(scale, scale)))
