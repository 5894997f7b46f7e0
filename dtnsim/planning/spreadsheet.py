"""Price lists as dealers and spreadsheets write them: German, French, Swiss and American columns, amounts and dates.

What is clear is read, what is not is listed by line. Headings are found in the first lines, in any case and order;
columns that say nothing of a price are left out. An amount whose last separator has three digits behind it has
thousands there, since no price has a tenth of a cent; 01/05 is the first of May, in US dollars the fifth of January.
"""

from __future__ import annotations

import csv
import datetime as dt
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from dtnsim.ground.errors import InputError
from dtnsim.ground.units import money

#: headings of each key, without accents, in small letters
HEADINGS: Final = {
    "part": "part, part name, article, artikel, artikelbezeichnung, bezeichnung, produkt, product, item, "
    "item description, description, modell, model, modele, designation, produit, reference, name",
    "price": "price, unit price, list price, your price, price each, preis, einzelpreis, stuckpreis, listenpreis, "
    "nettopreis, preis netto, bruttopreis, preis brutto, price net, price gross, prix ttc, prix, "
    "prix unitaire, prix ht, prix unitaire ht, prix net, tarif, msrp",
    "date": "date, price date, as of, valid from, quote date, datum, stand, preisdatum, gultig ab, angebotsdatum, "
    "date du prix, date du devis, valable des",
    "currency": "currency, wahrung, devise, monnaie, cur, curr",
    "source": "source, quelle, dealer, vendor, supplier, handler, lieferant, fournisseur, shop",
    "watts": "watts, power, leistung, leistungsaufnahme, puissance",
    "stock": "stock, in stock, availability, lager, auf lager, lagerbestand, verfugbar, verfugbarkeit, disponibilite",
    "lead": "lead, lead time, delivery, delivery time, lieferzeit, delai, delai de livraison",
    "least": "least, from quantity, from qty, min qty, minimum quantity, moq, ab menge, ab stuck, staffel, a partir de",
    "discount": "discount, rabatt, nachlass, remise",
    "support": "support, support a year, wartung, wartung pro jahr, maintenance",
    **{key: key for key in ("spread", "fits", "with", "replaces", "rate", "size", "what")},
}
_KEY: Final = {heading: key for key, headings in HEADINGS.items() for heading in headings.split(", ")}
_SIGNS: Final = {"€": "EUR", "$": "USD", "£": "GBP", "FR.": "CHF", "SFR": "CHF", "EURO": "EUR", "US$": "USD"}
_AMOUNT: Final = re.compile(r"\d[\d.,' ]*")
#: lines in which the heading is looked for
_FIRST: Final = 15


def read(path: Path) -> tuple[list[tuple[int, dict[str, str]]], list[str]]:
    """(line and cells by key, what was left out) of a list with a heading.

    Raises:
        InputError: it cannot be read, or has no heading with a part and a price.
    """
    try:
        raw = path.read_bytes()
        text = raw.decode("utf-8-sig" if not raw.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-16")
    except UnicodeDecodeError:
        text = raw.decode("cp1252", errors="replace")
    except OSError as error:
        raise InputError(f"--catalog: {path} cannot be read: {error}") from None
    lines = text.splitlines()
    found = next((n for n in range(min(_FIRST, len(lines))) if _is_heading(lines[n])), None)
    if found is None:
        raise InputError(
            f"--catalog: {path} needs a heading with part and price, and a date (of {', '.join(HEADINGS)}), and rows"
        )
    mark = _separator(lines[found])
    heading = _cells(lines[found], mark)
    keys = [_key(h) for h in heading]
    ignored = [h.strip() for h, k in zip(heading, keys, strict=True) if not k and h.strip()]
    notes = [f"{path.name}: columns left out: {', '.join(ignored)}."] if ignored else []
    notes += _tax(path.name, next(h for h, k in zip(heading, keys, strict=True) if k == "price"))
    rows = []
    for number, line in enumerate(lines[found + 1 :], found + 2):
        cells = _cells(line, mark)
        row: dict[str, str] = {}
        for key, cell in zip(keys, cells, strict=False):
            if key and cell.strip():  # an article's number and its name are read together
                row[key] = f"{row[key]} {cell.strip()}" if key == "part" and key in row else cell.strip()
        if len(cells) > len(heading):
            notes.append(f"{path.name}: line {number} is left out: it has more cells than the heading.")
        elif "part" in row:
            rows.append((number, {**_of_heading(heading, keys), **row}))
        elif row:
            notes.append(f"{path.name}: line {number} is left out: it names no part.")
    return list(_normal(rows)), notes


def _tax(name: str, heading: str) -> list[str]:
    """What the heading of the prices says of value-added tax; nothing where it says nothing."""
    words = set(re.findall(r"[a-z]+", heading.lower()))
    if words & {"brutto", "bruttopreis", "ttc", "incl", "inkl", "gross"}:
        return [f"{name}: prices with VAT."]
    if words & {"netto", "nettopreis", "ht", "excl", "exkl", "zzgl", "net"}:
        return [f"{name}: prices without VAT."]
    return []


def _cells(line: str, mark: str) -> list[str]:
    """The cells of a line.

    Raises:
        InputError: a cell of more than 128 KiB.
    """
    try:
        return next(csv.reader([line], delimiter=mark), [])
    except csv.Error as error:
        raise InputError(f"--catalog: the price list cannot be read: {error}") from None


def _separator(line: str) -> str:
    return max(";\t,|", key=line.count)


def _is_heading(line: str) -> bool:
    keys = {_key(h) for h in _cells(line, _separator(line))}
    return {"part", "price"} <= keys


def _key(heading: str) -> str:
    """The key of a column; empty where it is none."""
    bare = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode().lower()
    return _KEY.get(re.sub(r"[(\[].*?[)\]]|[._/:*-]+", " ", bare).strip(), "") or _KEY.get(
        re.sub(r"\s+(in\s+)?(eur|usd|chf|gbp|euro)$", "", re.sub(r"[^a-z]+", " ", bare).strip()), ""
    )


def _of_heading(heading: Sequence[str], keys: Sequence[str]) -> dict[str, str]:
    """The currency that the heading of the prices names."""
    text = next(h for h, k in zip(heading, keys, strict=True) if k == "price").upper()
    found = re.search(r"EUR|USD|CHF|GBP|€|\$|£", text)
    return {"currency": _SIGNS.get(found[0], found[0])} if found else {}


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
    text = re.sub(r"[\u00a0\u202f\u2009]", " ", row.get("price", "")).replace("’", "'")
    text = re.sub(r"[.,][-–]+", "", text)  # 1200,-
    found = _AMOUNT.search(text)
    if found is None:
        return text
    sign = (text[: found.start()] + text[found.end() :]).strip().upper()
    currency = _SIGNS.get(sign, sign) or row.get("currency", "").strip().upper()
    whole = found[0].strip().replace("'", "").replace(" ", "")
    last = max(whole.rfind(","), whole.rfind("."))
    if last >= 0 and (len(whole) - last - 1 == 3 or whole.count(whole[last]) > 1):
        last = -1  # thousands
    digits = re.sub(r"[.,]", "", whole if last < 0 else whole[:last])
    amount = digits if last < 0 else f"{digits}.{whole[last + 1 :] or '0'}"
    made = f"{amount} {_SIGNS.get(currency, currency)}".strip()
    try:
        money(made, "")
    except InputError:
        return text
    return made


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
