"""The scenarios behind an answer's interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """The scenarios behind an interval.

    Attributes:
        rates_Bps: Rates of the transfers, (S, F).
        payloads_B: Bytes of the transfers, (F,).
        scores: Standard normal scores of everything that was drawn, by key, (S,) each.
        ends_s: When each transfer ends, where some wait for others, (S, F).
    """

    rates_Bps: NDArray[np.float64]
    payloads_B: tuple[float, ...]
    scores: Mapping[str, NDArray[np.float64]]
    ends_s: NDArray[np.float64] | None = None

    @property
    def total_Bps(self) -> NDArray[np.float64]:
        """Rate of all transfers together, (S,)."""
        return np.asarray(self.rates_Bps.sum(axis=1) if self.ends_s is None else sum(self.payloads_B) / self.seconds)

    @property
    def seconds(self) -> NDArray[np.float64]:
        """Time until the last transfer has finished, (S,)."""
        if self.ends_s is not None:
            return np.asarray(self.ends_s.max(axis=1))
        with np.errstate(divide="ignore"):
            return np.asarray((np.asarray(self.payloads_B) / self.rates_Bps).max(axis=1))
