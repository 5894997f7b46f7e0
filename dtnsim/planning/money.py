"""Currencies mix by a rate that somebody states, or by a usual one, which is said."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from dtnsim.ground.errors import InputError, short
from dtnsim.ground.units import Money

#: what currencies are in each other where nobody states it: prices are classes, so a few per cent do not matter
USUAL: Final = {("EUR", "USD"): Decimal("1.08")}
USUAL_SOURCE: Final = "ECB, euro reference rates, means of 2023 and 2024"
_RATE: Final = re.compile(r"\s*([A-Z]{3})\s*/\s*([A-Z]{3})\s*=\s*(\d+(?:\.\d+)?)\s*")


@dataclass(frozen=True, slots=True)
class Exchange:
    """What one unit of a currency is in others.

    Attributes:
        rates: (of, in): so many of the second for one of the first.
        stated: Those that are no usual ones.
    """

    rates: Mapping[tuple[str, str], Decimal]
    stated: frozenset[tuple[str, str]] = frozenset()

    def notes(self, found: Iterable[str]) -> list[str]:
        """What was taken for granted between some currencies."""
        there = set(found)
        return [
            f"{of}/{into} = {rate:g} ({USUAL_SOURCE}); --rate says otherwise."
            for (of, into), rate in self.rates.items()
            if {of, into} <= there and (of, into) not in self.stated
        ]

    def to(self, price: Money, currency: str, what: str) -> Decimal:
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
    """Reads ``EUR/USD=1.08``: one EUR is 1.08 USD; pairs that nobody states are as usual.

    Raises:
        InputError: it is no rate.
    """
    rates: dict[tuple[str, str], Decimal] = {}
    for text in given:
        found = _RATE.fullmatch(text)
        if found is None or not Decimal(found[3]) > 0 or found[1] == found[2]:
            raise InputError(f"--rate: {short(text)!r} is no rate; write EUR/USD=1.08, one EUR in USD")
        rates[found[1], found[2]] = Decimal(found[3])
    usual = {(of, into): rate for (of, into), rate in USUAL.items() if not {(of, into), (into, of)} & set(rates)}
    return Exchange({**rates, **usual}, frozenset(rates))
