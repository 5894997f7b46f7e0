"""One world of prices: a list, and every part of the library that has a price; and which offers beat others."""

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from dtnsim.components.base import Facts, Price, expand, find_kind
from dtnsim.ground import library, units
from dtnsim.ground.errors import DtnsimError, UnitError
from dtnsim.planning.catalog import Catalog, Offer

_SOLD: Final = ("cpu", "memory", "nic", "hba", "ssd", "hdd")  #: folders of parts that can be bought by themselves
#: figures that one buys a part for, by family; more is better
_FIGURES: Final = {
    "nic": ("rate", "ports", "card_generation"),
    "hba": ("lanes", "lane", "engine"),
    "device": ("read", "write", "outer", "rate"),
    "cpu": ("cores", "clock", "per_cycle", "memory_bandwidth"),
    "memory": ("channels", "rate"),
}
_WORDS: Final = ("protocol", "kind")  #: words that have to be the same
_CLOSE: Final = 0.03  #: relative difference of figures that nobody pays for


def world(listed: Catalog, folder: Path | None, *, shipped: bool) -> Catalog:
    """A list, whose prices win, with all other parts with a price: yours, and those of the library (``shipped``)."""
    names = [n for n in library.own_names("parts", folder) if n.partition("/")[0] in _SOLD]
    names += [n for n in library.names("parts") if shipped and n.partition("/")[0] in _SOLD]
    listed_parts = {o.part for o in listed.offers}
    cables = {_figure(_raw(o.part, folder).get("rate")): o.extras for o in listed.family_offers("nic") if o.extras}
    candidates = (of_part(n.rpartition("/")[2], folder) for n in dict.fromkeys(names))
    offers = [o for o in candidates if o is not None and o.part not in listed_parts]
    wired = [replace(o, extras=cables.get(_figure(_raw(o.part, folder).get("rate")), ())) for o in offers]
    # a card whose cable has no price has none either
    sold = [o for o in wired if o.family != "nic" or o.extras or not shipped]
    return replace(listed, offers=(*listed.offers, *sold))


@cache
def _raw(part: str, folder: Path | None) -> Mapping[str, Any]:
    return library.read("parts", part, beside=folder)


@cache
def of_part(part: str, folder: Path | None) -> Offer | None:
    """The offer that a part's own file makes; None where it names no price."""
    try:
        raw = _raw(part, folder)
        if raw.get("price") is None:
            return None
        price = Price.model_validate(raw["price"])
        facts = raw.get("facts") or {}
        year, *rest = (int(p) for p in (price.date or "2000").split("-"))
        date = dt.date(year, *(rest + [7, 1][len(rest) :]))
        watts, size = (_figure(facts.get(k), d) for k, d in (("power_busy", "W"), ("capacity", "B")))
        family = find_kind(str(raw["kind"])).family
    except DtnsimError:
        return None  # a part of one's own that cannot be read is named where it is used
    source = price.source or "the part's own file"
    return Offer(part, family, price.money, price.spread.value, date, source, watts or None, str(facts.get("fits", "")),
                 size_B=size, library=True)  # fmt: skip


def size_of(part: str | None) -> float:
    """Bytes of a drive as its own file states them; 0 where it does not."""
    stated = Facts.model_validate(expand(part).get("facts") or {}).capacity if part is not None else None
    return stated.value if stated is not None else 0.0


def _figure(entry: object, dim: str = "") -> float:
    """A number as a part's file has it, in SI; 0 where there is none."""
    number = entry.get("value") if isinstance(entry, Mapping) else entry
    text = "" if number is None else str(number)
    if not text:
        return 0.0
    for unit in (dim,) if dim else ("B/s", "s", "1/s", "B", "1"):
        try:
            return units.parse(text, unit)
        except UnitError:
            continue
    return 0.0


@cache
def _figures(part: str, family: str, folder: Path | None) -> tuple[tuple[float, ...], tuple[str, ...]]:
    """What one buys a part for, and words that have to be the same."""
    raw = _raw(part, folder)
    numbers = tuple(_figure(raw.get(key)) for key in _FIGURES.get(family, ()))
    return numbers, tuple(str(raw.get(word, "")) for word in _WORDS)


def unbeaten(offers: Sequence[Offer], folder: Path | None, present: Offer | None) -> tuple[list[Offer], list[Offer]]:
    """(offers that none beats, those that one does: it costs no more and does no less; what is there costs nothing).

    ``present`` is there; more bytes than it has make a drive no better.
    """
    best: list[Offer] = []
    out: list[Offer] = []
    installed = [present] if present is not None else []
    enough_B = present.size_B if present is not None else math.inf
    for offer in sorted(offers, key=lambda o: (o.price.amount, o.watts or 0.0)):
        beaten = any(_beats(one, offer, folder, enough_B) for one in (*installed, *best))
        (out if beaten or _unsafe(offer, folder, present) else best).append(offer)
    order = list(offers)
    return sorted(best, key=order.index), out


def _unsafe(offer: Offer, folder: Path | None, present: Offer | None) -> bool:
    """Whether a drive of the library loses what it has not written yet, where that of now does not."""
    risky = [_raw(o.part, folder) for o in (offer, present) if o is not None]
    lost = [r.get("kind") == "ssd" and not r.get("power_loss_protection") for r in risky]
    return offer.library and lost[0] and not all(lost)


def _beats(one: Offer, other: Offer, folder: Path | None, enough_B: float) -> bool:
    if one.price.currency != other.price.currency:
        return False
    mine, theirs = (_figures(o.part, o.family, folder) for o in (one, other))
    small = min(one.size_B, enough_B) < min(other.size_B, enough_B) * (1 - _CLOSE)
    less = any(a < b * (1 - _CLOSE) for a, b in zip(mine[0], theirs[0], strict=True))
    return not small and not less and mine[1] == theirs[1]
