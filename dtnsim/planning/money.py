"""What the parts of a path cost; currencies mix by a rate that somebody states, or by a usual one, which is said."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel

from dtnsim.components.base import Component
from dtnsim.ground.errors import InputError, short
from dtnsim.ground.units import Money, cents

if TYPE_CHECKING:
    from dtnsim.description.spec import PathSpec

#: what currencies are in each other where nobody states it: prices are classes, so a few per cent do not matter
USUAL: Final = {("EUR", "USD"): Decimal("1.08")}
USUAL_SOURCE: Final = "ECB, euro reference rates, means of 2023 and 2024"
_RATE: Final = re.compile(r"\s*([A-Z]{3})\s*/\s*([A-Z]{3})\s*=\s*(\d+(?:\.\d+)?)\s*")


@dataclass(frozen=True, slots=True)
class Exchange:
    """What one unit of a currency is in others."""

    rates: Mapping[tuple[str, str], Decimal]  #: (of, in): so many of the second for one of the first.
    stated: frozenset[tuple[str, str]] = frozenset()  #: Those that are no usual ones.

    def notes(self, currencies: Iterable[str]) -> list[str]:
        """What was taken for granted between some currencies."""
        used = set(currencies)
        usual = {pair: rate for pair, rate in self.rates.items() if set(pair) <= used and pair not in self.stated}
        return [f"{a}/{b} = {rate:g} ({USUAL_SOURCE}); --rate says otherwise." for (a, b), rate in usual.items()]

    def convert(self, price: Money, currency: str, label: str) -> Decimal:
        """A price in another currency; `InputError`, with the ``label`` of what costs it, where no rate is stated."""
        if price.currency == currency:
            return price.amount
        if (price.currency, currency) in self.rates:
            return price.amount * self.rates[price.currency, currency]
        if (currency, price.currency) in self.rates:
            return price.amount / self.rates[currency, price.currency]
        remedy = f"say what one is in the other: --rate {price.currency}/{currency}=..."
        raise InputError(f"{label} costs {price}, which nobody states in {currency}; {remedy}")


def exchange(texts: Sequence[str]) -> Exchange:
    """Reads ``EUR/USD=1.08``: one EUR is 1.08 USD; pairs that nobody states are as usual."""
    rates: dict[tuple[str, str], Decimal] = {}
    for text in texts:
        match = _RATE.fullmatch(text)
        if match is None or not Decimal(match[3]) > 0 or match[1] == match[2]:
            raise InputError(f"--rate: {short(text)!r} is no rate; write EUR/USD=1.08, one EUR in USD")
        rates[match[1], match[2]] = Decimal(match[3])
    usual = {(one, into): rate for (one, into), rate in USUAL.items() if not {(one, into), (into, one)} & set(rates)}
    return Exchange({**rates, **usual}, frozenset(rates))


@dataclass(frozen=True, slots=True)
class Item:
    """So many of a part that a path names."""

    part: str  #: Its name.
    count: int  #: How many.
    price: Money | None  #: Of one; None where nobody says.


def items(path: PathSpec) -> tuple[Item, ...]:
    """The named parts of a path's hosts, drives by their number; parts of an array on two mounts count twice."""
    return tuple(i for host in path.hosts.values() for i in _items(host, 1))


def _items(value: Any, count: int) -> Iterator[Item]:
    if isinstance(value, Component) and value.part is not None and value.family not in ("slot", "stack"):
        price = value.price.money if value.price is not None else None
        yield Item(value.part, count, price)
    if isinstance(value, BaseModel):
        for name in type(value).model_fields:
            inner = getattr(value, name)
            inner_count = count
            if name == "of":  # members of an array, which may be arrays
                inner_count = count * int(getattr(value, "drives", 1)) // max(int(getattr(inner, "drives", 1)), 1)
            yield from _items(inner, inner_count)
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _items(inner, count)


def total(
    parts: tuple[Item, ...], rates: Exchange, currency: str | None = None
) -> tuple[Money | None, tuple[str, ...]]:
    """(sum of the known prices in a currency, or that of the first, parts without one); None where none is known."""
    unknown = tuple(dict.fromkeys(i.part for i in parts if i.price is None))
    priced = [(i, i.price) for i in parts if i.price is not None]
    if not priced:
        return None, unknown
    currency = currency or priced[0][1].currency
    return Money(
        sum((cents(rates.convert(p, currency, i.part)) * i.count for i, p in priced), Decimal()), currency
    ), unknown
