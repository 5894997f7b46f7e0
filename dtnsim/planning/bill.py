"""What the parts of a path cost, where their files say so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from dtnsim.components.base import Component
from dtnsim.ground.units import Money, cents
from dtnsim.planning.money import Exchange

if TYPE_CHECKING:
    from dtnsim.description.spec import PathSpec


@dataclass(frozen=True, slots=True)
class Item:
    """So many of a part.

    Attributes:
        part: Its name.
        count: How many.
        price: Of one; None where nobody says.
        where: Key of the path that names it.
    """

    part: str
    count: int
    price: Money | None
    where: str


def items(given: PathSpec) -> tuple[Item, ...]:
    """The named parts of a path's hosts, drives by their number; parts of an array on two mounts count twice."""
    return tuple(i for name, host in given.hosts.items() for i in _items(host, f"hosts.{name}", 1))


def _items(value: Any, where: str, count: int) -> Iterator[Item]:
    if isinstance(value, Component) and value.part is not None and value.family not in ("slot", "stack"):
        price = value.price.money if value.price is not None else None
        yield Item(value.part, count, price, where)
    if isinstance(value, BaseModel):
        for name in type(value).model_fields:
            inner = getattr(value, name)
            own = count
            if name == "of":  # members of an array, which may be arrays
                own = count * int(getattr(value, "drives", 1)) // max(int(getattr(inner, "drives", 1)), 1)
            yield from _items(inner, f"{where}.{name}", own)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _items(inner, f"{where}.{key}", count)


def total(
    found: tuple[Item, ...], rates: Exchange, currency: str | None = None
) -> tuple[Money | None, tuple[str, ...]]:
    """(sum of the known prices, parts without one); None where no price is known.

    Raises:
        InputError: prices of several currencies, and no rate.
    """
    unknown = tuple(dict.fromkeys(i.part for i in found if i.price is None))
    priced = [(i, i.price) for i in found if i.price is not None]
    if not priced:
        return None, unknown
    currency = currency or priced[0][1].currency
    return Money(sum((cents(rates.to(p, currency, i.part)) * i.count for i, p in priced), Decimal()), currency), unknown
