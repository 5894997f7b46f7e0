"""Prices: lists as people have them, parts of the library beside a list, and which of them nobody buys."""

import datetime as dt
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

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
from tests.each import rows
from tests.strategies import written


def _nas(listed: catalog.Catalog) -> Offered:
    path = spec.load("examples/nas-24-nightly", ["hosts.nas.volumes./pool.size=10 TB"])  # a night's data are enough
    return fitting.options(fitting.Shop(path, listed, exchange([]), "USD"), ["nas"])


def test_a_priced_part_of_the_library_is_an_offer_and_what_is_listed_wins() -> None:
    listed = catalog.read()
    whole = offers.world(listed, None, shipped=True)
    assert len(whole.offers) > len(listed.offers) + 100
    assert whole.named("connectx-5-100g") is listed.named("connectx-5-100g")
    found = whole.named("kingston-dc600m-960gb")
    assert (found.library, found.family, found.size_B) == (True, "device", 960e9)
    card = whole.named("intel-e810-cqda2-100g")
    assert card.extras == (("qsfp28-lr4", 2),)  # those of listed cards of its rate
    assert offers.world(listed, None, shipped=False) == listed  # a list of one's own is all there is


def test_parts_of_your_own_beside_the_path_are_offers_too(tmp_path: Path) -> None:
    (tmp_path / "parts" / "ssd").mkdir(parents=True)
    text = "kind: ssd\nprice: 500 EUR\nread: 7 GB/s\nwrite: 5 GB/s\nfacts: {fits: U.2, capacity: 4 TB}\n"
    (tmp_path / "parts" / "ssd" / "house-brand.yaml").write_text(text)
    mine = offers.world(catalog.read(), tmp_path / "parts", shipped=False).named("house-brand")
    assert mine is None or mine.price == Money(500, "EUR")
    mine = offers.world(catalog.read(), tmp_path, shipped=False).named("house-brand")
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
    assert [drive.unit_price(n).amount for n in (1, 9, 10, 24)] == [500, 500, 450, 450]
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
    items = tuple(bill.Item("x", c, Money(p, "EUR")) for p, c in lines)
    there = [bill.total((i,), known, "USD")[0] for i in dice.sample(items, len(items))]
    whole_there = bill.total(items, known, "USD")[0]
    assert sum(t.amount for t in there if t is not None) == whole_there.amount
    assert whole_there.amount == whole_there.amount.quantize(Decimal("0.01"))


LISTS = rows("planning/tables", "price lists")


@pytest.mark.parametrize(("text", "said"), LISTS, ids=range(len(LISTS)))
@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp1252", "utf-16", "utf-16-le"])
def test_a_spreadsheet_is_read(tmp_path: Path, text: str, said: list[Any], encoding: str) -> None:
    part, amount, currency, date, *left_out = said
    file = tmp_path / "shop.csv"
    file.write_bytes(text.replace("\n", "\r\n").encode(encoding, errors="replace"))
    if encoding == "cp1252" and "\u202f" in text:
        return  # that encoding has no narrow space
    found = catalog.read(str(file))
    assert (found.offers[0].part, found.offers[0].price) == (part, Money(amount, currency))
    assert found.offers[0].date == dt.date.fromisoformat(date)
    assert [int(n.partition("line ")[2].split()[0]) for n in found.notes if " line " in n] == left_out


@pytest.mark.parametrize(("text", "words"), rows("planning/tables", "no_price_lists"))
def test_what_is_no_price_list_says_what_to_write(tmp_path: Path, text: str, words: str) -> None:
    file = written(tmp_path / "shop.csv", text)
    with pytest.raises(InputError, match=words):
        catalog.read(str(file))
