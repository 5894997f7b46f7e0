"""Prices: an amount in one currency."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from dtnsim.ground.errors import InputError, short

_PRICE: Final = re.compile(r"\s*([$€£]?)\s*(\d[\d_,]*(?:\.\d+)?)\s*([kM]?)\s*([A-Za-z]{3}|[$€£])?\s*")
_SIGN: Final = {"$": "USD", "€": "EUR", "£": "GBP"}
_SCALE: Final = {"": 1.0, "k": 1e3, "M": 1e6}


@dataclass(frozen=True, slots=True)
class Money:
    """So much of a currency (ISO 4217)."""

    amount: float
    currency: str

    def __str__(self) -> str:
        """``15,000 EUR``."""
        return f"{self.amount:,.0f} {self.currency}"


def money(text: str, what: str) -> Money:
    """Reads ``15kEUR``, ``700 USD`` or ``$ 700``.

    Raises:
        InputError: it is no price.
    """
    found = _PRICE.fullmatch(text)
    sign = (found[4] or found[1]) if found else ""
    if found is None or not sign or (found[1] and found[4]):
        raise InputError(f"{what}: {short(text)!r} is no price; write it like 15kEUR or 700 USD")
    amount = float(found[2].replace(",", "").replace("_", "")) * _SCALE[found[3]]
    return Money(amount, _SIGN.get(sign, sign.upper()))
