"""A number that nobody wrote and on which an answer rests."""

from __future__ import annotations

from dataclasses import dataclass

from dtnsim.ground import units
from dtnsim.ground.quantity import Quantity


@dataclass(frozen=True, slots=True)
class Assumption:
    """A default that moves the answer.

    Attributes:
        key: What to write in the path file.
        value: What the median answer takes.
        low, high: Its tenth and ninetieth percentile: most such systems lie between; twice the other usual value of a
            default without a spread.
        at_low, at_high: What the answer becomes there, over what it is [1].
        source: Where value and spread come from.
    """

    key: str
    value: str
    low: str
    high: str
    at_low: float
    at_high: float
    source: str

    @property
    def ranges(self) -> bool:
        """Whether it lies between two values; else it has another usual one."""
        return self.low != self.high

    @property
    def moves(self) -> float:
        """By what part the answer moves at most."""
        return max(abs(self.at_low - 1), abs(self.at_high - 1))


def written(quantity: Quantity, value: float) -> str:
    """Another value of a quantity, as people write it."""
    return units.show(value, quantity.dim, digits=3)
