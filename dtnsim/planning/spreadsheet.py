"""Price lists as dealers and spreadsheets write them: German, French, Swiss and American columns, amounts and dates.

What is clear is read, what is not is listed by line. Headings are found in the first lines, in any case and order;
columns that say nothing of a price are left out. An amount whose last separator has three digits behind it has
thousands there, since no price has a tenth of a cent; 01/05 is the first of May, in US dollars the fifth of January.
"""

import csv
import datetime as dt
import io
import itertools
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from dtnsim.ground import yamlio
from dtnsim.ground.errors import InputError
from dtnsim.ground.units import money

#: headings of each key
HEADINGS: Final[dict[str, list[str]]] = yamlio.plain(Path(__file__).with_name("headings.yaml"))
_KEY: Final = {heading: key for key, headings in HEADINGS.items() for heading in headings}
_SIGNS: Final = {"€": "EUR", "$": "USD", "£": "GBP", "FR.": "CHF", "SFR": "CHF", "EURO": "EUR", "US$": "USD"}
_SIGN: Final = re.compile(r"EUR|USD|CHF|GBP|€|\$|£")
_AMOUNT: Final = re.compile(r"\d[\d.,' ]*")
_FIRST: Final = 15  #: lines in which the heading is looked for


def read(path: Path) -> tuple[list[tuple[int, dict[str, str]]], list[str]]:
    """(line and cells by key, what was left out) of a list whose heading has at least a part and a price."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(f"--catalog: {path} cannot be read: {error}") from None
    text = re.sub("\r\n?", "\n", _text(raw)).replace("\0", "")
    sheet = next((f for mark in _marks(text) if (f := _headed(path, text, mark)) is not None), None)
    if sheet is None:
        wanted = f"a heading with part and price, and a date (of {', '.join(HEADINGS)}), and rows"
        raise InputError(f"--catalog: {path} needs {wanted}")
    heading, below = sheet
    keys = _keys(heading)
    ignored = [h for h, k in zip(heading, keys, strict=True) if not k and h]
    notes = [f"{path.name}: columns left out: {', '.join(ignored)}."] if ignored else []
    taxed = _with_tax(next(h for h, k in zip(heading, keys, strict=True) if k == "price"))
    notes += [] if taxed is None else [f"{path.name}: prices {'with' if taxed else 'without'} VAT."]
    sign = _SIGN.search(next(h for h, k in zip(heading, keys, strict=True) if k == "price").upper())
    currency = {"currency": _SIGNS.get(sign[0], sign[0])} if sign else {}  # that the heading of the prices names
    rows = []
    for number, cells in below:
        row: dict[str, str] = {}
        for key, cell in zip(keys, cells, strict=False):
            if key and cell:  # an article's number and its name are read together
                row[key] = f"{row[key]} {cell}" if key == "part" and key in row else cell
        if any(cells[len(heading) :]):
            notes.append(f"{path.name}: line {number} is left out: it has more cells than the heading.")
        elif "part" in row:
            rows.append((number, {**currency, **row}))
        elif row:
            notes.append(f"{path.name}: line {number} is left out: it names no part.")
    return list(_normal(rows)), notes


def _text(raw: bytes) -> str:
    """A file's text: as its first bytes say, else UTF-16 where every other byte is nothing, UTF-8, or Windows'."""
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return raw.decode("utf-16", errors="replace")
    even, odd = raw[:200:2].count(0), raw[1:200:2].count(0)
    if max(even, odd) > len(raw[:200]) // 4:
        return raw.decode("utf-16-be" if even > odd else "utf-16-le", errors="replace")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("cp1252", errors="replace")


def _marks(text: str) -> list[str]:
    """What may stand between cells: what the sheet says (``sep=;``), else by how often the first lines have it."""
    match = re.match(r"sep=(.)\n", text)
    first = "\n".join(text.split("\n", _FIRST)[:_FIRST])
    return [match[1]] if match else sorted(";\t,|", key=first.count, reverse=True)


def _headed(path: Path, text: str, mark: str) -> tuple[list[str], list[tuple[int, list[str]]]] | None:
    """(heading, line and cells of what is below) of a sheet; None where its first rows are no heading.

    A heading of two rows, the upper of which spans columns (``Preis`` over ``netto`` and ``brutto``), is read as one.
    """
    rows: list[tuple[int, list[str]]] = []
    reader, line = csv.reader(io.StringIO(text), delimiter=mark), 1
    try:
        for cells in reader:
            rows.append((line, [" ".join(c.replace("\u200b", "").split()) for c in cells]))
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"--catalog: {path}: the price list cannot be read: {error}") from None
    for n, (_, cells) in enumerate(rows[:_FIRST]):
        below = rows[n + 1][1] if n + 1 < len(rows) else []
        two = [] if re.search(r"\d", " ".join(below)) else _merged(cells, below)
        for heading, first in ((two, n + 2), (cells, n + 1)):
            if {"part", "price"} <= set(_keys(heading)):
                return heading, [r for r in rows[first:] if any(r[1])]
    return None


def _merged(above: Sequence[str], below: Sequence[str]) -> list[str]:
    """A heading of two rows: what spans several columns stands in the first of them."""
    heading, last = [], ""
    for upper, lower in itertools.zip_longest(above, below, fillvalue=""):
        last = upper or last
        heading.append(next((h for h in (f"{last} {lower}".strip(), lower) if _key(h)), f"{last} {lower}".strip()))
    return heading


def _keys(heading: Sequence[str]) -> list[str]:
    """The key of each column; of several columns of prices the first without VAT, else the first."""
    keys = [_key(h) for h in heading]
    prices = [n for n, k in enumerate(keys) if k == "price"]
    taken = min(prices, key=lambda n: (_with_tax(heading[n]) is not False, n), default=-1)
    return [k if k != "price" or n == taken else "" for n, k in enumerate(keys)]


def _with_tax(heading: str) -> bool | None:
    """Whether prices are with value-added tax; None where their heading does not say."""
    words = set(re.findall(r"[a-z]+", heading.lower()))
    if words & {"brutto", "bruttopreis", "ttc", "incl", "inkl", "gross"}:
        return True
    return False if words & {"netto", "nettopreis", "ht", "excl", "exkl", "zzgl", "net"} else None


def _key(heading: str) -> str:
    """The key of a column; empty where it is none."""
    bare = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode().lower()
    return _KEY.get(" ".join(re.sub(r"[(\[].*?[)\]]|[._/:*-]+", " ", bare).split()), "") or _KEY.get(
        re.sub(r"\s+(in\s+)?(eur|usd|chf|gbp|euro)$", "", re.sub(r"[^a-z]+", " ", bare).strip()), ""
    )


def _normal(rows: Sequence[tuple[int, dict[str, str]]]) -> Iterator[tuple[int, dict[str, str]]]:
    """Rows with prices and days as a catalogue has them; what is not clear stays as it is, and is refused there."""
    days = [re.findall(r"\d+", row.get("date", "")) for _, row in rows]
    dollars = all("USD" in _price(row) for _, row in rows)
    american = any(len(d) == 3 and len(d[0]) < 3 and int(d[1]) > 12 for d in days)
    european = any(len(d) == 3 and len(d[0]) < 3 and int(d[0]) > 12 for d in days)
    for number, row in rows:
        price = _price(row)
        day = _day(row.get("date", ""), month_first=american or (dollars and not european))
        rest = {k: v for k, v in row.items() if k not in ("currency", "price", "date")}
        yield number, {**rest, **({"price": price} if price else {}), **({"date": day} if day else {})}


def _price(row: Mapping[str, str]) -> str:
    """A price as it is read elsewhere: ``1200.00 EUR``."""
    text = row.get("price", "").replace("’", "'")
    text = re.sub(r"[.,][-–]+", "", text)  # 1200,-
    match = _AMOUNT.search(text)
    if match is None or text[: match.start()].rstrip().endswith("-"):  # a credit is no price
        return text
    sign = (text[: match.start()] + text[match.end() :]).strip().upper()
    symbol = _SIGN.search(sign)  # beside other words: EUR/Stk, zzgl. MwSt.
    sign = symbol[0] if symbol and sign not in _SIGNS else sign
    currency = _SIGNS.get(sign, sign) or row.get("currency", "").strip().upper()
    number = match[0].strip().replace("'", "").replace(" ", "")
    last = max(number.rfind(","), number.rfind("."))
    if last >= 0 and ((len(number) - last - 1 == 3 and number[0] != "0") or number.count(number[last]) > 1):
        last = -1  # thousands
    digits = re.sub(r"[.,]", "", number if last < 0 else number[:last])
    amount = digits if last < 0 else f"{digits}.{number[last + 1 :] or '0'}"
    price = f"{amount} {_SIGNS.get(currency, currency)}".strip()
    try:
        money(price, "")
    except InputError:
        return text
    return price


def _day(text: str, *, month_first: bool) -> str:
    """A day as ISO 8601; what is none as it is."""
    parts = re.fullmatch(r"\s*(\d{1,4})[./-](\d{1,2})[./-](\d{1,4})(?:[T ].*)?\s*", text)
    if parts is None:
        return text
    a, b, c = (int(p) for p in parts.groups())
    if len(parts[1]) < 3:
        a, b, c = (c if c > 99 else 2000 + c), *((a, b) if month_first and "." not in text else (b, a))
    try:
        return dt.date(a, b, c).isoformat()
    except ValueError:
        return text
