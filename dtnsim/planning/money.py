"""Currencies mix only by a rate that somebody states."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from dtnsim.ground.errors import InputError, short
from dtnsim.ground.units import Money

_RATE: Final = re.compile(r"\s*([A-Z]{3})\s*/\s*([A-Z]{3})\s*=\s*(\d+(?:\.\d+)?)\s*")


@dataclass(frozen=True, slots=True)
class Exchange:
    """What one unit of a currency is in others, as stated.

    Attributes:
        rates: (of, in): so many of the second for one of the first.
    """

    rates: Mapping[tuple[str, str], float]

    def to(self, price: Money, currency: str, what: str) -> float:
        """A price in another currency.

        Raises:
            InputError: nobody states the rate.
        """
        if price.currency == currency:
            return price.amount
        if (price.currency, currency) in self.rates:
            return price.amount * self.rates[price.currency, currency]
        if (currency, price.currency) in self.rates:
            return price.amount / self.rates[currency, price.currency]
        raise InputError(
            f"{what} costs {price}, which nobody states in {currency}; say what one is in the other: "
            f"--rate {price.currency}/{currency}=..."
        )


def exchange(given: Sequence[str]) -> Exchange:
    """Reads ``EUR/USD=1.08``: one EUR is 1.08 USD.

    Raises:
        InputError: it is no rate.
    """
    rates = {}
    for text in given:
        found = _RATE.fullmatch(text)
        if found is None or not float(found[3]) > 0 or found[1] == found[2]:
            raise InputError(f"--rate: {short(text)!r} is no rate; write EUR/USD=1.08, one EUR in USD")
        rates[found[1], found[2]] = float(found[3])
    return Exchange(rates)
