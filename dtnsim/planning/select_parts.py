"""Parts of a kind side by side: those that meet conditions, in the order of one of their numbers."""

import difflib
import fnmatch
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any, Final

from dtnsim.description import catalogue
from dtnsim.ground import units
from dtnsim.ground.errors import InputError, UnitError
from dtnsim.ground.units import Money, money
from dtnsim.planning.money import Exchange, exchange

#: other names of numbers
ALSO: Final = {"watts": "power_busy", "power": "power_busy", "idle": "power_idle", "name": "part", "size": "capacity"}

_CONDITION: Final = re.compile(r"\s*([A-Za-z_]+)\s*(<=|>=|==|!=|<|>|=)\s*(.+?)\s*")
_COMPARED: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "=": operator.eq, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
_CLOSE: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Selection:
    """Parts that were asked for."""

    rows: list[dict[str, Any]]  #: A record of each, in order.
    columns: list[str]  #: Keys of the records that say most, what was asked for among them.
    units: dict[str, str]  #: Unit of each number; of prices the currency is in each record.
    lines: frozenset[str]  #: Rates that count bits.
    notes: tuple[str, ...]  #: What was left out, and why; what was taken for granted.


def select(kind: str, sort: str | None = None, where: Sequence[str] = (), rates: Sequence[str] = ()) -> Selection:
    """The parts of a kind.

    Args:
        kind: The kind.
        sort: Number to sort by, ``-`` in front for the largest first; parts that do not have it come last.
        where: Conditions that all hold, like ``price < 500 EUR``; parts that lack the number do not meet them.
    """
    key_units = catalogue.units_of(kind)
    shop = _Shop(kind, key_units, exchange(rates))
    rows, unread = catalogue.parts(kind)
    keys = []
    notes = [f"Left out: {text}" for text in unread]
    for text in where:
        for condition in re.split(r"\s+and\s+", text):
            key, holds = shop.condition(condition)
            keys.append(key)
            lacking = [r["part"] for r in rows if r[key] is None]
            if lacking:
                notes.append(f"Left out, since nobody says their {key}: {', '.join(lacking)}.")
            rows = [r for r in rows if r[key] is not None and holds(r)]
    if sort is not None:
        key = shop.key(sort.lstrip("-"), "--sort")
        keys.append(key)
        rows = shop.ordered(rows, key, largest_first=sort.startswith("-"))
    shown = ["part", *catalogue.columns(kind), *keys, *catalogue.FACTS, "price"]
    columns = [c for c in dict.fromkeys(shown) if c == "part" or any(r[c] is not None for r in rows)]
    return Selection(rows, columns, key_units, catalogue.lines(kind), (*notes, *shop.said))


class _Shop:
    """Compares the numbers of one kind of parts."""

    def __init__(self, kind: str, key_units: Mapping[str, str], rates: Exchange) -> None:
        self._kind, self._known, self._rates = kind, key_units, rates
        self.said: list[str] = []

    def key(self, name: str, option: str) -> str:
        """A key of the records; `InputError` where there is none of that name."""
        key = ALSO.get(name, name)
        if key in self._known:
            return key
        near = difflib.get_close_matches(name, [*self._known, *ALSO], n=1)
        meant = f"did you mean {near[0]!r}? " if near else ""
        remedy = f"{meant}write one of {', '.join(self._known)}"
        raise InputError(f"{option}: {name!r} is nothing that a {self._kind} has; {remedy}")

    def condition(self, text: str) -> tuple[str, Callable[[Mapping[str, Any]], bool]]:
        """(key that a condition is about, whether a record meets it); `InputError` where it is no condition."""
        match = _CONDITION.fullmatch(text)
        if match is None:
            raise InputError(f"--where: {text!r} is no condition; write it like 'price < 500 EUR' or 'year >= 2020'")
        key, compare = self.key(match[1], "--where"), _COMPARED[match[2]]
        if key == "price":
            limit = money(match[3], "--where: price")
            return key, lambda row: compare(self._price(row, limit.currency), limit.amount)
        number = self._number(key, match[3])
        if number is None:
            if match[2] not in ("=", "==", "!="):
                if match[3].lower() in ("nan", "inf", "-inf", "+inf"):
                    raise InputError(f"--where: {match[3]!r} is no number to compare {key} with; write a finite one")
                raise InputError(f"--where: {key} is a word, which has no order; write {key} = {match[3]}")
            return key, lambda row: fnmatch.fnmatch(str(row[key]).lower(), match[3].lower()) == (match[2] != "!=")
        equal = match[2] in ("=", "==", "!=")
        near = partial(math.isclose, number, rel_tol=_CLOSE)
        return key, lambda row: near(row[key]) == (match[2] != "!=") if equal else compare(row[key], number)

    def _number(self, key: str, text: str) -> float | None:
        """The number that a key is compared with, in SI; None where words are compared."""
        dim = self._known[key]
        try:
            return units.parse(text, dim or "1")
        except UnitError as error:
            if dim:
                raise InputError(f"--where: {key}: {error}") from None
            return None

    def ordered(self, rows: Sequence[dict[str, Any]], key: str, *, largest_first: bool) -> list[dict[str, Any]]:
        """Records by one of their numbers, those without it last."""
        have = [r for r in rows if r[key] is not None]
        currency = have[0]["currency"] if have and key == "price" else ""
        by = (lambda r: self._price(r, currency)) if currency else (lambda r: r[key])
        return [*sorted(have, key=by, reverse=largest_first), *(r for r in rows if r[key] is None)]

    def _price(self, row: Mapping[str, Any], currency: str) -> Decimal:
        self.said += [n for n in self._rates.notes((row["currency"], currency)) if n not in self.said]
        return self._rates.convert(Money(Decimal(str(row["price"])), row["currency"]), currency, row["part"])
