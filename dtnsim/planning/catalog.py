"""Prices of parts and where they fit: shipped, or a user's own YAML or CSV."""

from __future__ import annotations

import csv
import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from dtnsim.components.base import Component, expand
from dtnsim.description import spec as _spec
from dtnsim.ground import library, units, yamlio
from dtnsim.ground.errors import DtnsimError, InputError
from dtnsim.planning.money import Money, money

#: the shipped list
SHIPPED: Final = "parts-2023"
#: years from which on a price is old
_OLD_YEARS: Final = 1.0
_KEYS: Final = ("part", "price", "date", "source", "spread", "watts", "fits")

__all__ = ["SHIPPED", "Catalog", "Offer", "read"]


@dataclass(frozen=True, slots=True)
class Offer:
    """A part that can be bought.

    Attributes:
        part: Name of the part.
        family: ``nic``, ``cpu``, ``memory``, ``hba``, ``device`` (a drive).
        price: Of one.
        spread: Relative standard deviation of the price.
        date: Day of the price.
        source: Who says so.
        watts: Power it takes [W]; None where nobody says.
        fits: Sockets, bays or form factors, its own first; empty for cards, whose slots are checked.
    """

    part: str
    family: str
    price: Money
    spread: float
    date: dt.date
    source: str
    watts: float | None
    fits: str

    @property
    def places(self) -> tuple[str, ...]:
        """Where it fits, its own form first."""
        return tuple(p.strip() for p in self.fits.split(",") if p.strip())

    def old(self, today: dt.date) -> bool:
        """Whether its price is."""
        return (today - self.date).days > 365.25 * _OLD_YEARS


@dataclass(frozen=True, slots=True)
class Catalog:
    """Offers, and where parts fit that nobody offers."""

    offers: tuple[Offer, ...]
    fits: Mapping[str, str]

    def place_of(self, part: str | None) -> str:
        """Socket, bay or form factor of a part; empty where it is not known."""
        return self.fits.get(part or "", "").partition(",")[0].strip()


def read(file: str | None = None) -> Catalog:
    """Reads a price list.

    Args:
        file: A ``.yaml`` or ``.csv`` file; the shipped list where none is given.

    Raises:
        InputError: it cannot be read, names parts that do not exist, or lacks a price or a date.
    """
    path = library.root("models") / "catalog" / f"{SHIPPED}.yaml" if file is None else Path(file)
    rows, fits = _yaml(path) if path.suffix != ".csv" else (_csv(path), dict[str, str]())
    offers = tuple(_offer(row, path.name) for row in rows)
    return Catalog(offers, {**{o.part: o.fits for o in offers}, **fits})


def _yaml(path: Path) -> tuple[list[dict[str, Any]], dict[str, str]]:
    given = yamlio.load(path)
    items = given.get("items")
    if not isinstance(items, Mapping) or not items:
        raise InputError(f"--catalog: {path} has no 'items: {{part: {{price: 700 USD, date: 2026-05-01}}}}'")
    common = {k: given[k] for k in ("date", "source", "spread") if k in given}
    rows = []
    for name, item in items.items():
        if not isinstance(item, Mapping):
            raise InputError(f"--catalog: {path}: {name}: write {{price: 700 USD}}")
        rows.append({"part": str(name), **common, **item})
    fits = given.get("fits")
    return rows, {str(k): str(v) for k, v in fits.items()} if isinstance(fits, Mapping) else {}


def _csv(path: Path) -> list[dict[str, Any]]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--catalog: {path} cannot be read: {error}") from None
    rows = [{str(k).strip(): (v or "").strip() for k, v in row.items() if v} for row in csv.DictReader(lines)]
    if not rows or not all("part" in r and "price" in r for r in rows):
        raise InputError(f"--catalog: {path} needs a heading with part and price (of {', '.join(_KEYS)}), and rows")
    return rows


def _offer(row: Mapping[str, Any], file: str) -> Offer:
    where = f"--catalog: {file}: {row['part']}"
    unknown = [k for k in row if k not in _KEYS]
    if unknown or "price" not in row:
        raise InputError(
            f"{where}: {unknown[0] + ' is no key' if unknown else 'has no price'}; keys: {', '.join(_KEYS)}"
        )
    try:
        kind = expand(str(row["part"])).get("kind")
        family = _family(str(kind))
        spread = units.parse(str(row.get("spread", "0 %")), "1")
        watts = units.parse(str(row["watts"]), "W") if row.get("watts") else None
        date = dt.date.fromisoformat(str(row.get("date", "")))
    except ValueError:
        raise InputError(f"{where}: needs the day of its price; write date: 2026-05-01") from None
    except DtnsimError as error:
        raise InputError(f"{where}: {error}") from None
    price = money(str(row["price"]), f"{where}: price")
    return Offer(
        str(row["part"]), family, price, spread, date, str(row.get("source", "")), watts, str(row.get("fits", ""))
    )


def _family(kind: str) -> str:
    from dtnsim.components.base import find_kind

    component: type[Component] = find_kind(kind)
    return component.family


def part_of(given: _spec.PathSpec, steps: tuple[str, ...]) -> str | None:
    """Name of the part at a place of a path."""
    value: Any = given
    for step in steps:
        value = value[step] if isinstance(value, Mapping) else getattr(value, step)
    part: str | None = getattr(value, "part", None)
    return part
