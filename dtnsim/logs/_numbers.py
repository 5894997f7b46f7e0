"""Numbers as tools print them (decimal commas, digit groups, unit prefixes, durations), what a JSON value should be."""

import math
import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import accumulate
from typing import Any, Final

#: prefix letter -> factor, for tools whose letters mean powers of 1000
DECIMAL: Final = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
#: prefix letter -> factor, for tools whose letters mean powers of 1024
BINARY: Final = {"": 1.0, **{letter: 2.0 ** (10 * (at // 2 + 1)) for at, letter in enumerate("KkMmGgTtPpE")}}
#: word of a unit of time -> [s]
TIMES: Final = {
    **dict.fromkeys(("ns", "nsec"), 1e-9), **dict.fromkeys(("us", "µs", "usec", "micros"), 1e-6),
    **dict.fromkeys(("ms", "msec", "millis"), 1e-3), **dict.fromkeys(("s", "sec", "secs"), 1.0),
    **dict.fromkeys(("m", "min", "mins"), 60.0), **dict.fromkeys(("h", "hours"), 3600.0), "d": 86400.0, "w": 604800.0,
}  # fmt: skip
#: words of units that mean the same to every tool, and those of declarations where tools print none, or one of their
#: own -> (SI unit, factor, divisor)
UNITS: Final[dict[str, tuple[str, float, float]]] = {
    **{word: ("s", factor, 1.0) for word, factor in TIMES.items()}, "ms": ("s", 1.0, 1e3),
    **{f"{letter}iB/s": ("B/s", BINARY[letter], 1.0) for letter in "KMGT"}, "B/s": ("B/s", 1.0, 1.0),
    "Gbit/s": ("B/s", 1.25e8, 1.0), "Mbit/s": ("B/s", 1.25e5, 1.0), "rpm": ("1/s", 1.0, 60.0),
    **dict.fromkeys(("%", "percent"), ("1", 1.0, 100.0)),
    **dict.fromkeys(("", "count", "packets", "times"), ("1", 1.0, 1.0)),
    **dict.fromkeys(("IOPS", "/s"), ("1/s", 1.0, 1.0)), "MBd": ("1/s", 1e6, 1.0), "data-units": ("B", 512_000.0, 1.0),
    "sectors": ("B", 512.0, 1.0), "sectors/s": ("B/s", 512.0, 1.0),
}  # fmt: skip
_UNIT: Final = re.compile(r"([kKMGTPE]?)(i?)(?:(B|[Bb]ytes?)|b|[Bb]its?)(/s(?:ec)?|ps)?")
_CLOCK: Final = re.compile(r"(?:(?:(\d+)[-:d ]\s?)?(\d+):)?(\d+):(\d+(?:[.,]\d+)?)")
_PARTS: Final = re.compile(r"(?<!\d)(\d++(?:\.\d++)?)(ms|us|µs|w|d|h|m|s)")
_SIZE: Final = re.compile(r"([^a-z]*+(?:(?<=\d)e[+-]?\d++)?)\s*+(?:([a-z])(i?))??(?:b|bytes?)?", re.IGNORECASE)
_DIGITS: Final = 24
_GROUPS: Final = str.maketrans("", "", " ,.'’_\u00a0\u2009\u202f")

#: what ``<name:kind>`` stands for in a pattern: numbers as they are printed, the prefix of a unit, a word
_KINDS: Final = {
    "int": r"\d++", "num": r"\d++(?:\.\d++)?", "comma": r"\d++(?:[.,]\d++)?", "real": r"\d++\.\d++",
    "dots": r"[\d.]++", "k": "[kKMGTPE]?", "word": r"\S++", "rest": r"\S*+(?:\s++\S++)*",
}  # fmt: skip
_NAMED: Final = re.compile(r"<(\w+):(\w+)>")


def regex(pattern: str) -> re.Pattern[str]:
    """Compiles a pattern in which ``<rate:num>`` is a group of that name that holds a number (``_KINDS``)."""
    return re.compile(_NAMED.sub(lambda found: f"(?P<{found[1]}>{_KINDS[found[2]]})", pattern))


@lru_cache(maxsize=512)
def scale_of(word: str, kilo: int = 1024) -> tuple[str, float, float]:
    """(SI unit, factor, divisor) of a figure behind which this word stands; a bare k of bytes is ``kilo``."""
    if (entry := UNITS.get(word)) is not None:
        return entry
    match = _UNIT.fullmatch(word)
    if match is None:
        raise ValueError(f"{word} is no unit; of bytes and bits (KiB/s, Mb), or one of {' '.join(UNITS)}")
    letter, binary, size, per = match.groups()
    table = BINARY if binary or (size and kilo == 1024) else DECIMAL
    return "B/s" if per else "B", table[letter], 1.0 if size else 8.0


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


def amount(figure: str, word: str) -> float:
    """A figure as it is printed, with a word of its unit (``9.41`` ``Gb``, of `scale_of`), in SI."""
    _, times, over = scale_of(word)
    return decimal(figure) * times / over


def grouped(text: str) -> float:
    """Reads ``40,423,950.30`` (a lone comma or dot before exactly three digits groups digits).

    For figures that a tool prints with digit groups and at most two decimals, such as rsync's.
    """
    head, mark, tail = text, "", ""
    index = max(text.rfind(","), text.rfind("."))
    if index >= 0 and len(text) - index - 1 != 3:
        head, mark, tail = text[:index], ".", text[index + 1 :]
    return float(head.translate(_GROUPS) + mark + tail)


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
    if (match := _SIZE.fullmatch(text.strip())) is None:
        return None
    factor = (BINARY if match[3] else table).get(match[2] or "")
    try:
        return None if factor is None else decimal(match[1].strip()) * factor
    except ValueError:
        return None


def number(value: object) -> float | None:
    """A JSON value as a finite float, or None (for null, text that is no number, booleans)."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        result = float(value)
    except (ValueError, OverflowError):
        return None
    return result if math.isfinite(result) else None


def whole_number(value: object) -> int | None:
    """A JSON value as a whole number, or None."""
    parsed = number(value)
    return None if parsed is None else int(parsed)


def as_dict(value: object) -> dict[str, Any]:
    """A JSON value that should be an object; an empty one where it is none."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """A JSON value that should be an array; an empty one where it is none."""
    return value if isinstance(value, list) else []


def inside(value: object, *keys: str) -> Any:
    """What a JSON value holds under keys of objects one in the other; None where it is not there."""
    for key in keys:
        value = as_dict(value).get(key)
    return value


def text_in(record: Mapping[str, Any], key: str) -> str | None:
    """The text under a key; None where it is none, or empty."""
    value = record.get(key)
    return value if isinstance(value, str) and value else None


def agrees(computed: float, printed: float, text: str) -> bool:
    """Whether a computed figure is the ``printed`` one, of the same unit, to within the digits of its text (``4.2``).

    Half a unit of the last digit, plus 2 % for clocks that the tool rounds or stops elsewhere.
    """
    digits = text.replace(",", ".")
    decimals = len(digits.partition(".")[2])
    shown = abs(float(digits)) if digits.count(".") <= 1 else abs(printed)
    half_ulp = 0.5 * 10.0**-decimals * (abs(printed) / shown if shown else 1.0)
    return abs(computed - printed) <= 1.01 * half_ulp + 0.02 * abs(printed)


def clock_s(text: str) -> float | None:
    """``09:22``, ``1:24:37`` or ``2-03:04:05`` in [s]; None if it is none of these."""
    match = _CLOCK.fullmatch(text.strip())
    if match is None:
        return None
    days, hours, minutes, seconds = match.groups()
    return int(days or 0) * 86400.0 + int(hours or 0) * 3600.0 + int(minutes) * 60.0 + decimal(seconds)


def parts_s(text: str) -> float | None:
    """``3.1s``, ``1m2.5s`` or ``1h2m3s`` in [s]; None if it is none of these."""
    parts = _PARTS.findall(text)
    if not parts or "".join(n + u for n, u in parts) != text.strip():
        return None
    return sum(float(n) * TIMES[u] for n, u in parts)


def iso_s(text: object) -> float | None:
    """An ISO 8601 duration such as ``PT0.0627S`` or ``P1DT2H`` in [s]; None if it is none."""
    return parts_s(text[1:].replace("T", "", 1).lower()) if isinstance(text, str) and text[:1] == "P" else None


#: words of statistics; the mean needs none
_STATISTICS: Final = {
    "avg": None, "average": None, "mean": None, "best": "min", "fastest": "min", "minimum": "min", "worst": "max",
    "wrst": "max", "slowest": "max", "maximum": "max", "standard-deviation": "stddev", "std deviation": "stddev",
    "stdev": "stddev", "50%": "median",
}  # fmt: skip


def statistic(word: str) -> str | None:
    """What a tool's word of a statistic (``Maximum``, ``95th``, ``percentile-95``) is to us; None of a mean."""
    word = word.lower()
    share = re.fullmatch(r"(?:p_|percentile-)?(\d\d)(?:th|%)?", word) if word not in _STATISTICS else None
    return f"p{share[1]}" if share is not None else _STATISTICS.get(word, word)


def of_histogram(counts: Mapping[str, object]) -> tuple[int, dict[str, float]]:
    """(packets, mean, median, least, greatest) of a histogram, delay -> packets; nothing of an empty one."""
    pairs = [(number(delay), number(count)) for delay, count in counts.items()]
    bins = sorted((delay, count) for delay, count in pairs if delay is not None and count is not None and count > 0)
    packets = sum(count for _, count in bins)
    if not packets:
        return 0, {}
    sums = accumulate(count for _, count in bins)
    middle = next((delay for (delay, _), seen in zip(bins, sums, strict=True) if seen >= packets / 2), bins[-1][0])
    mean = sum(delay * count for delay, count in bins) / packets
    return int(packets), {"mean": mean, "median": middle, "min": bins[0][0], "max": bins[-1][0]}


def positive_int(text: str | None) -> int | None:
    """A count from a command line, or None."""
    if text is None or not text.isascii() or not text.isdigit() or len(text) > 6:
        return None
    return int(text) or None
