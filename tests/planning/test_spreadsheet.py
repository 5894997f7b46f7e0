"""Price lists as people have them: twenty-five of them, German, French, Swiss, British and American."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from dtnsim.ground.errors import InputError
from dtnsim.ground.units import Money
from dtnsim.planning import catalog

CARD, DRIVE = "connectx-5-100g", "samsung-pm9a3"
MAY, EUR, USD = dt.date(2026, 5, 1), Money(1200, "EUR"), Money(1200, "USD")
#: (list, what its first offer has to be, lines that are left out)
LISTS: list[tuple[str, tuple[str, Money, dt.date], tuple[int, ...]]] = [
    # German: semicolons, decimal commas, days first
    (f"Artikel;Preis;Datum\n{CARD};1.200,00 EUR;01.05.2026\n", (CARD, EUR, MAY), ()),
    (f"Artikel;Preis (EUR);Stand\n{CARD};1.200,00;01.05.2026\n", (CARD, EUR, MAY), ()),
    ("Pos;Artikelnummer;Bezeichnung;Einzelpreis;Währung;Datum\n1;MCX516A;NVIDIA ConnectX-5 100G;1.200,00;EUR;1.5.26\n",
     (CARD, EUR, MAY), ()),
    (f"Artikel;Preis;Datum\n{CARD};1.200,00 EUR;01.05.2026\nSumme;2.400,00 EUR;01.05.26\n", (CARD, EUR, MAY), (3,)),
    (f"Angebot Nr. 4711\nFirma X GmbH\n\nBEZEICHNUNG;PREIS NETTO;GÜLTIG AB\n{CARD};1200,- €;1.5.2026\n",
     (CARD, EUR, MAY), ()),
    (f"Bezeichnung\tListenpreis [EUR]\tDatum\n{CARD}\t1.200\t01.05.2026\n", (CARD, EUR, MAY), ()),
    (f"Modell;Stückpreis;Währung;Datum;Lieferzeit\n{CARD};1200,00;Euro;2026-05-01;14 Tage\n", (CARD, EUR, MAY), ()),
    (f"Artikel;Preis;Datum\n{CARD};1.200,00 EUR;01.05.2026\nKaffeemaschine;89,90 EUR;01.05.2026\n",
     (CARD, EUR, MAY), (3,)),
    (f"Artikel;Preis;Datum\nLüfter;9,90 EUR;01.05.2026\n{CARD};auf Anfrage;01.05.2026\n{DRIVE};450,00 EUR;01.05.2026\n",
     (DRIVE, Money(450, "EUR"), MAY), (2, 3)),
    # Swiss and French: apostrophes and spaces between thousands
    (f"Artikel;Preis CHF;Datum\n{CARD};1'200.00;01.05.2026\n", (CARD, Money(1200, "CHF"), MAY), ()),
    (f"Désignation;Prix unitaire HT;Devise;Date du devis\n{CARD};1 200,00;EUR;01/05/2026\n", (CARD, EUR, MAY), ()),
    ("Référence;Désignation;Prix HT;Date\nMZQL23T8;Samsung PM9A3 3,84 To;450,50 €;15/04/2026\n",
     (DRIVE, Money(450.5, "EUR"), dt.date(2026, 4, 15)), ()),
    (f"Modèle;Prix (€);Valable dès;Disponibilité\n{CARD};1\u202f200,00;01/05/2026;en stock\n", (CARD, EUR, MAY), ()),
    (f"Produit;Tarif;Date;Fournisseur\n{CARD};1200 EUR;1/5/2026;Marchand SA\n", (CARD, EUR, MAY), ()),
    # American and British: commas, months first where dollars are counted
    (f"Part,Price,Date\n{CARD},\"$1,200.00\",05/01/2026\n", (CARD, USD, MAY), ()),
    ("Item,Item Description,Qty,Unit Price,Quote Date,Vendor\n7,NVIDIA ConnectX-5 100G,1,\"$ 1,200\",5/1/2026,Acme\n",
     (CARD, USD, MAY), ()),
    (f"SKU,Product,MSRP (USD),As of\nX-1,{CARD},1200,2026-05-01\n", (CARD, USD, MAY), ()),
    (f"Model|List Price|Currency|Valid from\n{CARD}|1,200.00|usd|05/01/2026\n", (CARD, USD, MAY), ()),
    (f"PART,YOUR PRICE,PRICE DATE\n{CARD},US$ 1200.00,4/30/2026\n{DRIVE},US$ 450,5/1/2026\n",
     (CARD, USD, dt.date(2026, 4, 30)), ()),
    (f"Part,Price (GBP),Date\n{CARD},\"1,200.00\",01/05/2026\n", (CARD, Money(1200, "GBP"), MAY), ()),
    (f"Part,Price,Date\n\n{CARD},1200 USD,2026-05-01\n,1200 USD,2026-05-01\n{DRIVE},450 USD\n",
     (CARD, USD, MAY), (4, 5)),
    # nasty: cells of two lines, headings of two rows, sums, credits, what a sheet says of itself, zeros that pad
    (f"sep=;\nArtikel;Preis;Datum\n\"{CARD}\nmit Kabel\";\"1.200,00\n€\";01.05.2026\n{DRIVE};x;01.05.2026\n",
     (CARD, EUR, MAY), (6,)),
    (f"Produkt;Preis (EUR);;Stand\n;brutto;netto;\n{CARD};1.428,00;1.200,00;01.05.2026\n;;1.200,00;\n",
     (CARD, EUR, MAY), (4,)),
    ((f"Artikel;Einzelpreis;Datum\n{CARD};EUR\u00a01\u00a0200,00/Stk zzgl. MwSt.;01.05.2026\n"
     f"Rabatt;-120,00 EUR;01.05.2026\n{DRIVE};-450,00 EUR;01.05.2026\nGesamtsumme;1.080,00 EUR;\n"),
     (CARD, EUR, MAY), (3, 4, 5)),
    (f"Part\tDescription, long\tUnit Price\tAs of\n{CARD}\t\"a card, with, commas\"\tUSD 1,200.00\t2026-05-01\t\t\n",
     (CARD, USD, MAY), ()),
    (f"\"Quote 4711; valid, until, further, notice\"\n\nItem;List price;Date\n{CARD};0001200.00 USD;2026-05-01\n",
     (CARD, USD, MAY), ()),
]  # fmt: skip


@pytest.mark.parametrize(("text", "first", "left_out"), LISTS, ids=range(len(LISTS)))
@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp1252", "utf-16", "utf-16-le"])
def test_a_spreadsheet_is_read(
    tmp_path: Path, text: str, first: tuple[str, Money, dt.date], left_out: tuple[int, ...], encoding: str
) -> None:
    file = tmp_path / "shop.csv"
    file.write_bytes(text.replace("\n", "\r\n").encode(encoding, errors="replace"))
    if encoding == "cp1252" and "\u202f" in text:
        return  # that encoding has no narrow space
    found = catalog.read(str(file))
    assert (found.offers[0].part, found.offers[0].price, found.offers[0].date) == first
    assert [int(n.partition("line ")[2].split()[0]) for n in found.notes if " line " in n] == list(left_out)


def test_what_is_no_price_list_says_what_to_write(tmp_path: Path) -> None:
    file = tmp_path / "shop.csv"
    for text, words in (
        ("Name;Telefon\nMeier;123\n", "needs a heading with part and price"),
        ("Artikel;Preis;Datum\n", "no rows below"),
        ("Artikel;Preis\nconnectx-5-100g;1200 EUR\n", "needs the day"),
        ("Artikel;Preis;Datum\nconnectx-5-100g;1200;01.05.2026\n", "no price"),
    ):
        file.write_text(text)
        with pytest.raises(InputError, match=words):
            catalog.read(str(file))
