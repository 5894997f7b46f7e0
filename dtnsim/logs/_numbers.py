"""Numbers as tools print them (decimal commas, digit groups, unit prefixes), and what a JSON value should be."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

#: prefix letter -> factor, for tools whose letters mean powers of 1000
DECIMAL: Final = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
#: prefix letter -> factor, for tools whose letters mean powers of 1024
BINARY: Final = {"": 1.0, **{letter: 2.0 ** (10 * (at // 2 + 1)) for at, letter in enumerate("KkMmGgTtPpE")}}
#: word of a unit of time -> [s]
TIMES: Final = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "usec": 1e-6, "nsec": 1e-9,
                "msec": 1e-3}  # fmt: skip
#: words of units that mean the same to every tool -> (SI unit, factor)
UNITS: Final[dict[str, tuple[str, float]]] = {
    **{word: ("s", factor) for word, factor in TIMES.items()},
    **{f"{letter}iB/s": ("B/s", BINARY[letter]) for letter in "KMGT"}, "B/s": ("B/s", 1.0), "IOPS": ("1/s", 1.0),
    "Gbit/s": ("B/s", 1.25e8), "Mbit/s": ("B/s", 1.25e5), "%": ("1", 0.01), "/s": ("1/s", 1.0),
}  # fmt: skip

_DIGITS: Final = 24
_GROUPS: Final = str.maketrans("", "", " ,.'’_\u00a0\u2009\u202f")


def decimal(text: str) -> float:
    """Reads ``3.46``, ``3,46``, ``1,234.5`` or ``1.234,5``; a lone comma is the decimal mark.

    For figures that a tool prints without digit groups (seconds, scaled rates). Raises
    ValueError when it is not a number.
    """
    if "," not in text:
        return float(text)
    if "." not in text:
        return float(text.replace(",", ".")) if text.count(",") == 1 else float(text.replace(",", ""))
    if text.rindex(",") > text.rindex("."):
        return float(text.replace(".", "").replace(",", "."))
    return float(text.replace(",", ""))


def grouped(text: str) -> float:
    """Reads ``40,423,950.30`` (a lone comma or dot before exactly three digits groups digits).

    For figures that a tool prints with digit groups and at most two decimals, such as rsync's.
    """
    whole, mark, tail = text, "", ""
    at = max(text.rfind(","), text.rfind("."))
    if at >= 0 and len(text) - at - 1 != 3:
        whole, mark, tail = text[:at], ".", text[at + 1 :]
    return float(whole.translate(_GROUPS) + mark + tail)


def integer(text: str) -> int:
    """Reads a whole number with any digit groups: ``12,000,138``, ``7 681 501``, ``1.073.741``.

    Raises ValueError when it is not a number, or one of more digits than any tool counts.
    """
    digits = text.translate(_GROUPS)
    if len(digits) > _DIGITS:
        raise ValueError(f"a number of {len(digits)} digits")
    return int(digits)


def size_bytes(text: str, table: dict[str, float] = BINARY) -> float | None:
    """Reads a size argument such as ``1M``, ``4k``, ``64KiB``, ``16m``, ``1MB`` in [B]; None if it is none.

    ``table`` says what a bare letter means to the tool; ``KiB`` is always 1024. ``MB`` follows the
    table, except for dd, which has its own reader.
    """
    text = text.strip()
    body = text.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    suffix = text[len(body) :]
    try:
        number = decimal(body.strip())
    except ValueError:
        return None
    if suffix in ("", "B", "b", "byte", "bytes"):
        return number
    letter, rest = suffix[0], suffix[1:].lower()
    if rest in ("ib", "i"):
        table = BINARY
    elif rest not in ("", "b", "byte", "bytes"):
        return None
    return number * table[letter] if letter in table else None


def number(value: object) -> float | None:
    """A JSON value as a finite float, or None (for null, text that is no number, booleans)."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float | str):
        try:
            result = float(value)
        except (ValueError, OverflowError):
            return None
        return result if math.isfinite(result) else None
    return None


def whole(value: object) -> int | None:
    """A JSON value as a whole number, or None."""
    found = number(value)
    return None if found is None else int(found)


def as_dict(value: object) -> dict[str, Any]:
    """A JSON value that should be an object; an empty one where it is none."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """A JSON value that should be an array; an empty one where it is none."""
    return value if isinstance(value, list) else []


def text_in(record: Mapping[str, Any], key: str) -> str | None:
    """The text under a key; None where it is none, or empty."""
    value = record.get(key)
    return value if isinstance(value, str) and value else None


def agrees(computed: float, printed: float, text: str) -> bool:
    """Whether a computed figure is the printed one to within the printed digits.

    Args:
        computed: Value computed from bytes and seconds [any unit].
        printed: Value as printed, in the same unit.
        text: The printed figure (``4.2``), whose digits say how far rounding may go.

    Half a unit of the last digit, plus 2 % for clocks that the tool rounds or stops elsewhere.
    """
    digits = text.replace(",", ".")
    decimals = len(digits.partition(".")[2])
    shown = abs(float(digits)) if digits.count(".") <= 1 else abs(printed)
    half_ulp = 0.5 * 10.0**-decimals * (abs(printed) / shown if shown else 1.0)
    return abs(computed - printed) <= 1.01 * half_ulp + 0.02 * abs(printed)
