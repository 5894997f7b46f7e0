"""Prices: lists as people have them, parts of the library beside a list, and which of them nobody buys."""

from __future__ import annotations

import datetime as dt
import random
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from dtnsim.description import spec
from dtnsim.ground.errors import InputError
from dtnsim.ground.units import Money
from dtnsim.planning import catalog, fitting, messages, money as bill, offers
from dtnsim.planning.money import exchange
from dtnsim.planning.option import Offered, Option
from dtnsim.planning.proposal import Stage
from dtnsim.planning.search import price


def _nas(listed: catalog.Catalog) -> Offered:
    path = spec.load("examples/nas-24-nightly", ["hosts.nas.volumes./pool.size=10 TB"])  # a night's data are enough
    return fitting.options(fitting.Shop(path, listed, exchange([]), "USD"), ["nas"])


def test_a_priced_part_of_the_library_is_an_offer_and_what_is_listed_wins() -> None:
    listed = catalog.read()
    whole = offers.world(listed, None, shipped=True)
    assert len(whole.offers) > len(listed.offers) + 100
    assert whole.named("connectx-5-100g") is listed.named("connectx-5-100g")
    found = whole.named("kingston-dc600m-960gb")
    assert found is not None
    assert (found.library, found.family, found.size_B) == (True, "device", 960e9)
    card = whole.named("intel-e810-cqda2-100g")
    assert card is not None
    assert card.extras == (("qsfp28-lr4", 2),)  # those of listed cards of its rate
    assert offers.world(listed, None, shipped=False) == listed  # a list of one's own is all there is


def test_parts_of_your_own_beside_the_path_are_offers_too(tmp_path: Path) -> None:
    (tmp_path / "parts" / "ssd").mkdir(parents=True)
    text = "kind: ssd\nprice: 500 EUR\nread: 7 GB/s\nwrite: 5 GB/s\nfacts: {fits: U.2, capacity: 4 TB}\n"
    (tmp_path / "parts" / "ssd" / "house-brand.yaml").write_text(text)
    mine = offers.world(catalog.read(), tmp_path / "parts", shipped=False).named("house-brand")
    assert mine is None or mine.price == Money(500, "EUR")
    mine = offers.world(catalog.read(), tmp_path, shipped=False).named("house-brand")
    assert mine is not None
    assert (mine.price, mine.fits, mine.size_B) == (Money(500, "EUR"), "U.2", 4e12)


def test_what_costs_no_less_and_does_no_more_is_not_offered() -> None:
    found = _nas(offers.world(catalog.read(), None, shipped=True))
    drives = {o.part for o in found.choices["hosts.nas.volumes./pool.array"]}
    assert "kingston-dc600m-960gb" in drives  # the cheapest that keeps what it has not written yet
    assert not drives & {"crucial-bx500-500gb", "samsung-870-qvo-2tb", "wd5001aals", "wd-hc310"}
    beaten = {r.part for r in found.refused if r.test == "beaten"}
    assert {"wd-hc310", "perc-h310"} <= beaten  # slower than what is there
    for part in beaten:
        assert any(r.why for r in found.refused if r.part == part)


def test_power_is_what_is_bought_less_what_goes() -> None:
    (card,) = (o for o in _nas(catalog.read()).choices["hosts.nas.nics.eth"] if o.part == "connectx-6-200g"
               and len(o.overrides) == 1)  # fmt: skip
    optics = 2 * 7.0
    assert card.watts == pytest.approx(24 + optics - 19)


def test_quantities_discounts_stock_and_lead_times(tmp_path: Path) -> None:
    file = tmp_path / "shop.csv"
    file.write_text(
        "Artikel;Nettopreis;Datum;ab Menge;Rabatt;Lagerbestand;Lieferzeit\n"
        "samsung-pm9a3;500,00 EUR;01.05.2026;;;12 Stück;2 Tage\n"
        "samsung-pm9a3;450,00 EUR;01.05.2026;10;;;\n"
        "connectx-5-100g;700,00 EUR;01.05.2026;;10 %;;\n"
    )
    listed = catalog.read(str(file))
    drive, card = listed.named("samsung-pm9a3"), listed.named("connectx-5-100g")
    assert drive is not None
    assert card is not None
    assert [drive.each(n).amount for n in (1, 9, 10, 24)] == [500, 500, 450, 450]
    assert (drive.stock, drive.lead) == ("12 Stück", "2 Tage")
    assert card.price == Money(630, "EUR")
    assert "shop.csv: prices without VAT." in listed.notes


def test_what_it_costs_to_own() -> None:
    """3,000 EUR and 100 W: 24 x 365.25 h x 5 x 0.1 kW x 0.30 EUR, and 8 % a year of support."""
    offer = catalog.Offer("x", "nic", Money(3000, "EUR"), 0.0, catalog.dt.date(2026, 5, 1), "", 100.0, "", support=0.08)
    option = Option("hosts.a.nics.eth", "x", (), ((offer, 1),), 3000.0, 100.0)
    stage = Stage("x", (option,), Money(3000, "EUR"), None, 1.0)  # type: ignore[arg-type]
    (said,) = messages.ownership(stage, 5, Money(Decimal("0.3"), "EUR"), exchange([]))
    assert "1,315 EUR of power (+100 W at 0.3 EUR/kWh)" in said
    assert said.endswith("1,200 EUR of support: 5,515 EUR.")
    assert "assumed; --kwh says otherwise" in messages.ownership(stage, 5, None, exchange([]))[0]
    assert messages.ownership(stage, 0, None, exchange([])) == []


@given(st.lists(st.tuples(st.decimals(1, 10_000, places=2), st.integers(1, 60)), min_size=1, max_size=8), st.randoms())
def test_lines_sum_to_the_total_to_the_cent_in_any_order(lines: list[tuple[Decimal, int]], dice: random.Random) -> None:
    day = catalog.dt.date(2026, 5, 1)
    options = [
        Option(
            f"a{n}", "", (), ((catalog.Offer("x", "nic", Money(p, "EUR"), 0, day, "", 0, ""), c),), p * c, 0, (), (p,)
        )
        for n, (p, c) in enumerate(lines)
    ]
    whole = sum(int(p * 100) * c for p, c in lines)  # in cents, which are whole numbers
    dice.shuffle(options)
    assert price(tuple(options)) * 100 == whole
    known = exchange(["EUR/USD=1.1"])
    items = tuple(bill.Item("x", c, Money(p, "EUR"), "") for p, c in lines)
    there = [bill.total((i,), known, "USD")[0] for i in dice.sample(items, len(items))]
    whole_there = bill.total(items, known, "USD")[0]
    assert whole_there is not None
    assert sum(t.amount for t in there if t is not None) == whole_there.amount
    assert whole_there.amount == whole_there.amount.quantize(Decimal("0.01"))


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
