"""Prices of parts and hosts, and where parts fit: shipped, or a user's own YAML or CSV."""

import datetime as dt
import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from dtnsim.components.base import Component, expand, find_kind
from dtnsim.ground import library, units, yamlio
from dtnsim.ground.errors import DtnsimError, InputError, SpecError
from dtnsim.ground.grouping import by_key
from dtnsim.ground.units import Money, cents, money
from dtnsim.planning import site as sites, spreadsheet

SHIPPED: Final = "parts-2023"  #: the shipped list
#: years from which on a price is old
_OLD_YEARS: Final = 1.0
_KEYS: Final = (*(key for key in spreadsheet.HEADINGS if key != "currency"), "units", "bays")
#: numbers of a row: their units, and what they are where nobody says
_NUMBERS: Final = {"watts": ("W", "0 W"), "rate": ("1/s", "0 /s"), "size": ("B", "0 B"), "discount": ("1", "0 %"),
                   "support": ("1", "0 %"), "trade in": ("1", "0 %"), "least": ("1", "1"), "units": ("1", "0"),
                   "bays": ("1", "0")}  # fmt: skip
OUTSIDE = "external"  #: where an adapter with outer connectors fits, as to a shelf
HOST, DIMM, EXTRA, SHELF = "host", "dimm", "extra", "shelf"  #: families of what is no part of the library


@dataclass(frozen=True, slots=True)
class Offer:
    """What can be bought."""

    part: str  #: Name of the part.
    #: ``nic``, ``cpu``, ``memory``, ``hba``, ``device`` (a drive), ``host``, ``dimm``, ``shelf`` or ``extra`` (a
    #: cable).
    family: str
    price: Money  #: Of one.
    spread: float  #: Relative standard deviation of the price.
    date: dt.date  #: Day of the price.
    source: str  #: Who says so.
    watts: float | None  #: Power it takes [W]; None where nobody says.
    fits: str  #: Sockets, bays or form factors, its own first; empty for cards, whose slots are checked.
    #: What has to be bought with each, by name and number: a cable for each port.
    extras: tuple[tuple[str, int], ...] = ()
    replaces: tuple[str, ...] = ()  #: Parts in whose place it can go, whatever ``fits`` says.
    rate: float = 0.0  #: Transfers a second of a memory module.
    size_B: float = 0.0  #: Its bytes.
    library: bool = False  #: Whether its price is that of the library's part, which is in no list.
    #: From how many on each costs what, the most first; below all of them ``price`` holds.
    steps: tuple[tuple[int, Money], ...] = ()
    stock: str = ""  #: What the list says of what is in stock.
    lead: str = ""  #: ... and of how long it takes.
    support: float = 0.0  #: Price of a year's support over the price [1].
    units: int = 0  #: Rack units that it takes; 0 where nobody says.
    bays: int = 0  #: Drives that a shelf holds.
    trade_in: float = 0.0  #: What the dealer pays for a used one where something takes its place, over the price [1].

    def unit_price(self, count: int) -> Money:
        """Price of one where so many are bought."""
        return next((price for least, price in self.steps if count >= least), self.price)

    @property
    def places(self) -> tuple[str, ...]:
        """Where it fits, its own form first."""
        return tuple(p.strip() for p in self.fits.split(",") if p.strip())

    def old(self, today: dt.date) -> bool:
        """Whether the price is older than a year."""
        return (today - self.date).days > 365.25 * _OLD_YEARS


@dataclass(frozen=True, slots=True)
class Catalog:
    """Offers, and where parts fit that nobody offers."""

    offers: tuple[Offer, ...]
    fits: Mapping[str, str]
    extras: Mapping[str, Offer] = field(default_factory=dict)
    #: what of a user's list is left out
    notes: tuple[str, ...] = ()
    site: sites.Site = field(default_factory=sites.Site)

    def family_offers(self, family: str) -> list[Offer]:
        """Offers of a family."""
        return [o for o in self.offers if o.family == family]

    def named(self, part: str | None) -> Offer | None:
        """The offer of a part, if there is one."""
        return next((o for o in self.offers if o.part == part), None)

    def place_of(self, part: str | None) -> str:
        """Socket, bay or form factor of a part, by the list or else by its own facts; empty where it is not known."""
        return (self.fits.get(part or "") or _own_place(part)).partition(",")[0].strip()


def _own_place(part: str | None) -> str:
    """Where a part says that it fits."""
    try:
        facts = expand(part).get("facts") if part else None
    except SpecError:
        return ""
    return str(facts.get("fits", "")) if isinstance(facts, Mapping) else ""


def read(file: str | None = None) -> Catalog:
    """Reads a price list, ``.yaml`` or a spreadsheet as text; the shipped list where none is given.

    What a user's list does not say of sockets, bays, watts and cables is taken from the shipped one; prices never are.
    """
    if file is None:
        return _shipped()
    catalog = _read(Path(file))
    shipped = {o.part: o for o in (*_shipped().offers, *_shipped().extras.values())}
    offers = tuple(_completed(o, shipped.get(o.part), catalog.extras) for o in catalog.offers)
    fits = {**_shipped().fits, **catalog.fits, **{o.part: o.fits for o in offers if o.fits}}
    return replace(catalog, offers=offers, fits=fits)


@lru_cache(maxsize=1)
def _shipped() -> Catalog:
    return _read(library.root("models") / "catalog" / f"{SHIPPED}.yaml")


def _completed(offer: Offer, shipped: Offer | None, extras: Mapping[str, Offer]) -> Offer:
    if shipped is None:
        return offer
    gaps: dict[str, Any] = {k: getattr(offer, k) or getattr(shipped, k) for k in ("fits", "replaces", "rate", "size_B")}
    watts = shipped.watts if offer.watts is None else offer.watts
    cables = offer.extras or tuple((n, k) for n, k in shipped.extras if n in extras)
    return replace(offer, **gaps, watts=watts, extras=cables)


def _read(path: Path) -> Catalog:
    fits, notes, site = dict[str, str](), list[str](), sites.Site()
    if path.suffix in (".yaml", ".yml"):
        document, rows, fits = _yaml(path)
        site = sites.read(document.get("site"), f"--catalog: {path.name}")
        listed = [_offer(row, path.name) for row in rows]
    else:
        listed, notes = _sheet(path)
    listed = _stepped(listed)
    offers, extras = tuple(o for o in listed if o.family != EXTRA), {o.part: o for o in listed if o.family == EXTRA}
    for part, name in ((o.part, name) for o in offers for name, _ in o.extras):
        if name not in extras:
            raise InputError(f"--catalog: {path.name}: {part}: needs {name!r}, which has no price in the list")
    return Catalog(offers, {**{o.part: o.fits for o in offers}, **fits}, extras, tuple(notes), site)


def _yaml(path: Path) -> tuple[Mapping[str, Any], list[dict[str, Any]], dict[str, str]]:
    document = yamlio.load(path)
    items = document.get("items")
    if not isinstance(items, Mapping) or not items:
        raise InputError(f"--catalog: {path} has no 'items: {{part: {{price: 700 USD, date: 2026-05-01}}}}'")
    common = {k: document[k] for k in ("date", "source", "spread") if k in document}
    rows = []
    for name, item in items.items():
        if not isinstance(item, Mapping):
            raise InputError(f"--catalog: {path}: {name}: write {{price: 700 USD}}")
        rows.append({"part": str(name), **common, **item})
    fits = document.get("fits")
    return document, rows, {str(k): str(v) for k, v in fits.items()} if isinstance(fits, Mapping) else {}


def _sheet(path: Path) -> tuple[list[Offer], list[str]]:
    """Offers of a spreadsheet, and what of it is left out."""
    rows, notes = spreadsheet.read(path)
    offers: list[Offer] = []
    faults: list[InputError] = []
    for number, row in rows:
        try:
            offers.append(_offer({**row, "part": _library_name(row)}, path.name))
        except InputError as error:
            faults.append(error)
            notes.append(f"{path.name}: line {number} is left out: {str(error).partition(path.name + ': ')[2]}.")
    if faults and not offers:
        raise faults[0]
    if not offers:
        why = f": {' '.join(notes)}" if notes else ""
        raise InputError(f"--catalog: {path} has no rows below its heading that can be used{why}")
    return offers, notes


def _library_name(row: Mapping[str, str]) -> str:
    """The part of the library that an article is: of its own name, or the longest that is in it."""
    name = row["part"]
    if "what" in row or name in library.names("hosts"):
        return name
    words = re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-")
    parts = [n.rpartition("/")[2] for n in library.names("parts")]
    return max((p for p in parts if f"-{p}-" in f"-{words}-"), key=len, default=name)


def _offer(row: Mapping[str, Any], file: str) -> Offer:
    where = f"--catalog: {file}: {row['part']}"
    unknown = [k for k in row if k not in _KEYS]
    if unknown or "price" not in row:
        wrong = f"{unknown[0]} is no key" if unknown else "has no price"
        raise InputError(f"{where}: {wrong}; keys: {', '.join(_KEYS)}")
    try:
        family = _family(row)
        cols = {key: units.parse(str(row.get(key) or none), dim) for key, (dim, none) in _NUMBERS.items()}
        spread = units.parse(str(row.get("spread", "0 %")), "1")
        date = dt.date.fromisoformat(str(row.get("date", "")))
    except ValueError:
        raise InputError(f"{where}: needs the day of its price; write date: 2026-05-01") from None
    except DtnsimError as error:
        raise InputError(f"{where}: {error}") from None
    least, rack, bays = (int(cols[key]) for key in ("least", "units", "bays"))
    if family == SHELF and not bays:
        raise InputError(f"{where}: a shelf needs its bays, and the drives that fit; write bays: 24 and fits: 3.5 inch")
    if family == DIMM and not (cols["rate"] and cols["size"]):
        raise InputError(f"{where}: a memory module needs its rate and size; write rate: 3200 MT/s and size: 32 GiB")
    price = money(str(row["price"]), f"{where}: price")
    price = Money(cents(price.amount * (1 - Decimal(str(cols["discount"])))), price.currency)
    words = {key: str(row.get(key, "")) for key in ("source", "fits", "stock", "lead")}
    extras, steps = tuple(_counted(text, where) for text in _list(row.get("with"))), ((least, price),) * (least > 1)
    numbers = {"rate": cols["rate"], "size_B": cols["size"], "support": cols["support"], "trade_in": cols["trade in"]}
    rest: dict[str, Any] = {**words, **numbers, "watts": cols["watts"] if row.get("watts") else None, "steps": steps}
    replaces = tuple(_list(row.get("replaces")))
    return Offer(str(row["part"]), family, price, spread, date, extras=extras, replaces=replaces, units=rack, bays=bays,
                 **rest)  # fmt: skip


def _stepped(offers: Sequence[Offer]) -> list[Offer]:
    """Rows of one part for several quantities, as one offer; below the least of them the dearest holds."""
    merged = []
    for same in by_key((offer.part, offer) for offer in offers).values():
        steps = sorted({step for o in same for step in o.steps}, key=lambda s: -s[0])
        base = next((o for o in same if not o.steps), max(same, key=lambda o: o.price.amount))
        merged.append(replace(base, steps=tuple(steps)))
    return merged


def _list(cell: object) -> list[str]:
    """``a, b`` or [a, b]."""
    items = cell if isinstance(cell, list) else str(cell or "").split(",")
    return [str(i).strip() for i in items if str(i).strip()]


def _counted(text: str, where: str) -> tuple[str, int]:
    """``2 x cable`` or ``cable``."""
    count, x, name = text.rpartition(" x ")
    if x and not re.fullmatch(r"\s*[0-9]+\s*", count):
        raise InputError(f"{where}: with: write '2 x {name.strip()}'")
    return name.strip(), int(count) if x else 1


def _family(row: Mapping[str, Any]) -> str:
    """What kind of thing is offered: what its row says, else a part of the library, else a host."""
    name, kind = str(row["part"]), row.get("what")
    if kind is not None:
        if kind not in (DIMM, EXTRA, SHELF):
            kinds = f"write {DIMM}, {EXTRA} or {SHELF}"
            raise SpecError("is no kind of offer", key="what", value=str(kind), remedy=kinds)
        return str(kind)
    if name in library.names("hosts") and not any(n.endswith(f"/{name}") for n in library.names("parts")):
        return HOST
    try:
        component: type[Component] = find_kind(str(expand(name).get("kind")))
    except SpecError as error:
        near = difflib.get_close_matches(name, [*library.names("parts"), *library.names("hosts")], n=1)
        remedy = f"did you mean {near[0]!r}?" if near else error.remedy
        raise SpecError("is neither a part nor a host of the library", value=name, remedy=remedy) from None
    return component.family
