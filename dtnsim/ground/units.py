"""The only place where bits become bytes and k, Ki, ms become SI.

Inside dtnsim every number is SI: bytes, seconds, hertz, and their quotients. Text is read here
with its unit, and never guessed: ``10 Gb/s`` is 1.25e9 B/s; ``10 Gb`` is a size in bits where sizes are
bytes, ``10G`` may be bits or bytes, ``10`` may be anything: all three are errors wherever a rate or a
size is needed. ``k M G T P`` are powers of 1000, ``Ki Mi Gi Ti Pi`` of 1024
(IEC 80000-13); ``b`` and ``bit`` are bits, ``B`` and ``byte`` bytes.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import Final

from dtnsim.ground.errors import InputError, SpecError, UnitError, short

_DECIMAL: Final = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_BINARY: Final = {"Ki": 2.0**10, "ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50}
_BYTES: Final = {"B": 1.0, "byte": 1.0, "bytes": 1.0, "Byte": 1.0, "Bytes": 1.0}
_BITS: Final = {"b": 0.125, "bit": 0.125, "bits": 0.125}
_TIME: Final = {
    name: seconds
    for names, seconds in (
        ("s sec second seconds", 1.0),
        ("ms", 1e-3),
        ("us µs μs", 1e-6),
        ("ns", 1e-9),
        ("min minute minutes", 60.0),
        ("h hour hours", 3600.0),
        ("d day days", 86400.0),
        ("week weeks", 604800.0),
        ("year", 31557600.0),
    )
    for name in names.split()
}

#: what times are shown in; the least and the most of one in which several are shown, and of seconds and below otherwise
_UNITS: Final = (("d", 86400.0), ("h", 3600.0), ("min", 60.0), ("s", 1.0), ("ms", 1e-3), ("us", 1e-6))
_NEARLY, _APART = 0.9, 200.0
_TENTH, _FAR = 0.1, 1000.0
_LONG: Final = 1e6  #: numbers below it are written out

#: what rates are told in: bytes, or times, a second, an hour, a day ...
_PER: Final = {"/s": 1.0, "/sec": 1.0} | {f"/{name}": s for name, s in _TIME.items() if s >= 60.0}

#: prefixes in words: gigabytes, megabits/s
_WORDS: Final = {
    **{word: _DECIMAL[word[0].upper()] for word in ("kilo", "mega", "giga", "tera", "peta")},
    **{f"{word[:2]}bi": _BINARY[f"{word[0].upper()}i"] for word in ("kibi", "mebi", "gibi", "tebi", "pebi")},
}
_WHOLE_WORDS: Final = re.compile(rf"(?:{'|'.join(_WORDS)})(?:bit|byte)s?(?:/s(?:ec(?:ond)?)?)?\Z", re.IGNORECASE)

#: dimension -> what it is, and an example of how a person writes it (in error messages and in the JSON Schema)
_DIMENSIONS: Final = {
    "B/s": ("a rate", "10 Gb/s or 540 MB/s"),
    "B": ("a size", "64 KiB or 6 TB"),
    "s": ("a time", "3.1 ms or 8 h"),
    "Hz": ("a frequency", "3.6 GHz"),
    "1/s": ("a count per second", "2400 MT/s, 80 IOPS, 1000 ops/s or 20 /day"),
    "1": ("a plain number or a percentage", "0.01 or 1 %"),
    "cycles/B": ("CPU cycles per byte", "0.72 cycles/B"),
    "cycles": ("CPU cycles", "3500 cycles"),
    "s/B": ("a time per byte", "1.2 ns/B"),
    "USD": ("a price", "420 USD"),
    "W": ("a power", "140 W"),
}
_WHAT: Final = {dimension: what for dimension, (what, _) in _DIMENSIONS.items()}
EXAMPLES: Final = {dimension: example for dimension, (_, example) in _DIMENSIONS.items()}


def _table() -> dict[str, tuple[str, float]]:
    """Unit text -> (dimension, factor to SI)."""
    table: dict[str, tuple[str, float]] = {"": ("1", 1.0), "%": ("1", 0.01), "ppm": ("1", 1e-6)}
    prefixes = {**_DECIMAL, **_BINARY, **_WORDS}
    for prefix, scale in prefixes.items():
        for names in (_BYTES, _BITS):
            for name, factor in names.items():
                table[prefix + name] = ("B", scale * factor)
                for per, seconds in _PER.items():
                    table[prefix + name + per] = ("B/s", scale * factor / seconds)
        table[prefix + "bps"] = ("B/s", scale * 0.125)
    for prefix, scale in _DECIMAL.items():
        table[prefix + "Hz"] = ("Hz", scale)
        for name in ("T/s", "IOPS", "iops", "ops/s", "op/s", "IO/s", "files/s", "pkt/s", "/s", "events/s"):
            table[prefix + name] = ("1/s", scale)
    for per, seconds in _PER.items():
        table[per] = ("1/s", 1 / seconds)
    for name, factor in _TIME.items():
        table[name] = ("s", factor)
    for per in ("min", "h", "hour", "d", "day", "week"):
        for name in ("ops", "files", "transfers"):
            table[f"{name}/{per}"] = ("1/s", 1 / _TIME[per])
    for name, factor in (("ns/B", 1e-9), ("us/B", 1e-6), ("s/B", 1.0)):
        table[name] = ("s/B", factor)
    table["cycles/B"] = table["cycle/B"] = ("cycles/B", 1.0)
    table["cycles"] = ("cycles", 1.0)
    table["USD"] = table["$"] = ("USD", 1.0)
    table["W"] = ("W", 1.0)
    return table


UNITS: Final = _table()
#: rates that leave the second out and say the bit: 100Gbit
BIT_RATES: Final = {
    f"{p}{name}": scale * 0.125 for p, scale in {**_DECIMAL, **_WORDS}.items() if p for name in ("bit", "bits")
} | dict.fromkeys(("GbE", "GigE", "Gig", "GBASE-T", "GigabitEthernet", "GbEthernet", "GbpsEthernet"), 125000000.0)
#: lines that go by a name alone
_LINES: Final = {"gigabit": 1.25e8, "gigabit ethernet": 1.25e8, "gige": 1.25e8, "fast ethernet": 1.25e7}
#: digits of ASCII, with _ between thousands if anywhere
NUMBER: Final = r"[+-]?(?:[0-9]{1,3}(?:_[0-9]{3})+(?:\.[0-9]*)?|[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_BETWEEN: Final = re.compile(r"(\d+(?:\.\d+)?) ?(?:-|–|to) ?(\d+(?:\.\d+)?) ?([A-Za-z/µ]+)")
#: ends of a range; a colon between figures without a unit is a time of day
_RANGE: Final = re.compile(
    r"\s*(\d[\d.]*?\s*[A-Za-z/µ%]*)\s*(?:\.\.|(?<=[A-Za-zµ%]):)\s*(\d[\d.]*\s*[A-Za-z/µ%]*)\s*(?::.*)?"
)
_AROUND: Final = re.compile(r"(.+?)\s*(?:\+-|\+/-|±)\s*(.+)")
_MOST_SPREAD: Final = 3.0
_NOTHING: Final = 1e-50  #: what is less, in SI, is none: laws take powers of its inverse
_NUMBER: Final = re.compile(rf"\s*({NUMBER})\s*((?![0-9_]).*?)\s*\Z", re.DOTALL)


def _or_none(value: float) -> float:
    return value if abs(value) > _NOTHING else 0.0


@lru_cache(maxsize=4096)
def read(text: str) -> tuple[float, str]:
    """(value in SI, dimension) of a number with its unit: ``read("10 Gb/s") == (1.25e9, "B/s")``; else `UnitError`."""
    number, unit = _split_unit(text)
    if not number:
        raise UnitError(f"{text[:80]!r} is not a number with a unit; write it like '10 Gb/s', '64 KiB' or '3.1 ms'")
    if unit not in UNITS:
        raise UnitError(
            f"{unit[:40]!r} in {text!r} is not a unit dtnsim knows; write for instance Gb/s, MB/s, KiB, ms, GHz, %"
        )
    dimension, factor = UNITS[unit]
    value = float(number.replace("_", "")) * factor
    if not math.isfinite(value):
        raise UnitError(f"{text!r} is not a finite number")
    return _or_none(value), dimension


def _split_unit(text: str) -> tuple[str, str]:
    """A number and its unit as they are written, a unit in whole words in small letters; ("", "") for other texts."""
    match = _NUMBER.match(text) if len(text) <= 100 else None
    if match is None:
        return "", ""
    unit = match[2].replace(" ", "")
    return match[1], unit.lower() if _WHOLE_WORDS.match(unit) else unit


def around(text: str, otherwise: float) -> tuple[str, float]:
    """The number and the relative standard deviation of ``45 ms +- 5 ms``, ``10 Gb/s ± 20 %`` or ``30-60 ms``."""
    if (ends := _BETWEEN.fullmatch(text)) is not None and 0 < (low := float(ends[1])) < (high := float(ends[2])):
        return f"{(low + high) / 2:g} {ends[3]}", (high - low) / (high + low)
    match = _AROUND.fullmatch(text)
    if match is None:
        return text, otherwise
    try:
        (value, due), (apart, unit) = read(match[1]), read(match[2])
    except UnitError:
        return text, otherwise  # who reads it as a number says what is wrong
    part = apart if match[2].endswith("%") else apart / value if unit == due and value > 0 else -1.0
    return (match[1], part) if 0 <= part <= _MOST_SPREAD else (text, otherwise)


def parse(text: str | float, dimension: str) -> float:
    """Reads ``text`` as a quantity of one dimension (a key of `EXAMPLES`), in SI; `UnitError` where it is none."""
    if isinstance(text, bool):
        raise UnitError(f"{text!r} is not {_WHAT[dimension]}; write it like {EXAMPLES[dimension]}")
    if isinstance(text, int | float):
        if not math.isfinite(text):
            raise UnitError(f"{text!r} is not a finite number; write it like {EXAMPLES[dimension]}")
        if dimension == "1" or text == 0:
            return _or_none(float(text))
        raise UnitError(f"{text!r} has no unit where {_WHAT[dimension]} is due; write it like {_with(text, dimension)}")
    if dimension == "B/s" and (rate := _bare_rate(text)) is not None:
        return rate
    try:
        value, dim = read(text)
    except UnitError as error:  # said again for what is due here
        if several := _RANGE.fullmatch(text):
            message = f"{text!r} is a range where one value is due; write it like {EXAMPLES[dimension]}, or all of it"
            ends = "..".join(several.groups()).replace(" ", "")
            raise UnitError(f"{message}: dtnsim sweep PATH --vary KEY={ends}:lin10") from None
        head, example, _ = str(error).partition("; write ")
        raise UnitError(f"{head}; write {_suggested(text, dimension)}" if example else head) from None
    if dim == dimension == "B" and text.rstrip().endswith(tuple(_BITS)):
        raise UnitError(f"{text!r} is in bits where a size in bytes is due; write {show(value, 'B', digits=15)}")
    if dim == dimension or (value == 0 and dim == "1"):
        return value
    if dim == "1":
        raise UnitError(f"{text!r} has no unit where {_WHAT[dimension]} is due; write it like {_with(text, dimension)}")
    raise UnitError(f"{text!r} is {_WHAT[dim]} where {_WHAT[dimension]} is due; write it like {EXAMPLES[dimension]}")


def of_option(option: str, text: str, dimension: str) -> float:
    """`parse` of what an option, or a variable, says: a refusal begins with its name."""
    try:
        return parse(text, dimension)
    except UnitError as error:
        raise UnitError(f"{option}: {error}") from None


def _with(number: object, dimension: str) -> str:
    """The examples of a dimension with the number that was written."""
    return re.sub(r"[\d.]+", str(number).strip(), {"s": "1 ms, 1 s or 1 h"}.get(dimension, EXAMPLES[dimension]))


def _suggested(text: str, dimension: str) -> str:
    """What a number may mean whose unit is in letters of another case, or an example of one."""
    number, unit = _split_unit(text)
    unit = unit.lower()
    if number and dimension == "B" and unit in ("k", "m", "g", "t", "p"):
        return f"{number} {unit.upper()}iB, or {number} {unit.upper() if unit != 'k' else 'k'}B"
    near = [u for u, (of, _) in UNITS.items() if of == dimension and u.lower() == unit and not u.endswith(tuple(_BITS))]
    meant = min(near, key=lambda u: (u.startswith("k"), len(u)), default=None)
    return f"{number} {meant}" if meant and number and dimension in ("B", "Hz") else f"it like {EXAMPLES[dimension]}"


def _bare_rate(text: str) -> float | None:
    """A rate without its second, in bits; None for other texts."""
    number, unit = _split_unit(text)
    if not unit:
        return _LINES.get(text.strip().lower())
    if unit in _DECIMAL:
        rate = f"{number} {unit}"
        raise UnitError(f"{text!r} does not say whether bits or bytes; write {rate}b/s or {rate}B/s")
    return float(number.replace("_", "")) * BIT_RATES[unit] if unit in BIT_RATES else None


def show(value: float, dimension: str, *, digits: int = 4, line: bool = True) -> str:
    """Writes an SI value the way people write it, e.g. ``show(1.25e9, "B/s") == "10 Gb/s"``.

    Rates are shown in bits per second, as network people read them, or in bytes where they are no line's; sizes in
    decimal bytes.

    Args:
        value: The number [SI].
        dimension: Its unit (a key of `EXAMPLES`).
        digits: Digits that matter.
        line: Whether a rate is that of a line, which counts bits.
    """
    if math.isinf(value):
        return "unlimited"
    if dimension == "B/s":
        return _scaled(value * 8, "b/s", digits) if line else _scaled(value, "B/s", digits)
    if dimension == "s":
        for unit, factor in _UNITS:
            if value >= factor * (2 if factor > 1 else 1):
                return f"{_written(value / factor, digits)} {unit}"
        return f"{value / 1e-9:.{digits}g} ns" if value else "0 s"
    if dimension in ("B", "Hz"):
        return _scaled(value, dimension, digits)
    if dimension == "1/s":
        return _scaled(value, "/s", digits)
    return f"{value:.{digits}g}" + ("" if dimension == "1" else f" {dimension}")


def in_one_unit(seconds: Sequence[float], digits: int = 2) -> list[str]:
    """Times in one unit, as people compare them (1.8 h, 1.6 h, 2.8 h); each in its own where they are far apart."""
    for least, most, units in ((_NEARLY, _APART, _UNITS), (_TENTH, _FAR, _UNITS[3:])):
        for unit, factor in units:
            if min(seconds) >= factor * least and factor * (2 if factor > 1 else 1) <= max(seconds) < factor * most:
                return [f"{_written(each / factor, digits)} {unit}" for each in seconds]
    return [show(each, "s", digits=digits) for each in seconds]


def digits(value: float, count: int) -> str:
    """So many digits of a number that matter, the others whole, and no exponent below a million."""
    return f"{float(f'{value:.{count}g}'):.15g}" if abs(value) < _LONG else f"{value:.{count}g}"


_written: Final = digits  #: where an argument has that name


def _scaled(value: float, unit: str, digits: int) -> str:
    for prefix, factor in (("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(value) >= factor:
            return f"{_written(value / factor, digits)} {prefix}{unit}"
    return f"{value:.{digits}g} {unit}"


#: a price: sign or code of the currency, and the amount with its k or M
_PRICE: Final = re.compile(r"\s*([$€£]?)\s*([0-9][0-9_,]*(?:\.[0-9]+)?)\s*([kM]?)\s*([A-Za-z]{3}|[$€£])?\s*")
_SIGN: Final = {"$": "USD", "€": "EUR", "£": "GBP"}
_SCALE: Final = {"": 1, "k": 1000, "M": 1_000_000}
#: codes of ISO 4217, those of currencies that are legal tender somewhere
_CURRENCIES: Final = """
AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP CNY
COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS
INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP
MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR
SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VES VND VUV
WST XAF XCD XOF XPF YER ZAR ZMW ZWG
"""


def number_in(row: Mapping[str, str], key: str, least: float, most: float, default: float | None = None) -> float:
    """The number in a cell of a table; `SpecError` where it is missing or no number that can be used.

    Args:
        row: The row by the names of its columns.
        key: The column.
        least: Least that it may be.
        most: Most that it may be.
        default: What an empty cell means; None where it has to be filled.
    """
    text = (row.get(key) or "").strip()
    if not text and default is not None:
        return default
    value = float(text) if re.fullmatch(NUMBER, text) else math.nan
    if not least <= value <= most:
        remedy = f"write a number from {least:g} to {most:g}"
        raise SpecError("is not a number that can be used", key=key, value=text, remedy=remedy)
    return value


@dataclass(frozen=True, slots=True)
class Money:
    """So much of a currency (ISO 4217), exactly: binary fractions have no cents."""

    amount: Decimal
    currency: str

    def __str__(self) -> str:
        """``15,000 EUR``."""
        return f"{self.amount:,.0f} {self.currency}"

    @property
    def to_the_cent(self) -> str:
        """``450.50 EUR``; cents only where there are any."""
        return f"{cents(self.amount):,.2f} {self.currency}".replace(".00 ", " ")


def cents(amount: Decimal) -> Decimal:
    """An amount to the cent, as invoices round: half a cent is one."""
    return amount.quantize(Decimal("0.01"), ROUND_HALF_UP)


def money(text: str, option: str) -> Money:
    """Reads ``15kEUR``, ``700 USD`` or ``$ 700``; `InputError` where it is no price."""
    match = _PRICE.fullmatch(text)
    sign = (match[4] or match[1]) if match else ""
    currency = _SIGN.get(sign, sign.upper())
    if match is None or currency not in _CURRENCIES.split() or (match[1] and match[4]):
        raise InputError(f"{option}: {short(text)!r} is no price; write it like 15kEUR or 700 USD")
    amount = Decimal(match[2].replace(",", "").replace("_", "")) * _SCALE[match[3]]
    return Money(amount, currency)


def plural(number: int, noun: str) -> str:
    """A number with its noun: ``1 drive``, ``2 drives``."""
    if abs(number) == 1:
        return f"{number} {noun}"
    if noun.endswith(("s", "x", "ch", "sh")):
        return f"{number} {noun}es"
    return f"{number} {noun[:-1]}ies" if noun.endswith("y") and noun[-2] not in "aeiou" else f"{number} {noun}s"
