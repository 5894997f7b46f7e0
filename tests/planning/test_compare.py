"""Variants side by side: their numbers, their prices (money), and why they differ."""

import json
import re
from decimal import Decimal

import pytest
from hypothesis import given, strategies as st

import dtnsim
from dtnsim.description import spec
from dtnsim.ground.errors import InputError
from dtnsim.ground.units import Money, money
from dtnsim.planning import money as bill
from dtnsim.planning.money import exchange
from dtnsim.planning.tool_choice import choose
from tests.conftest import Run
from tests.strategies import load

PATH = "venadi/gridftp-gpfs"


def test_a_variant_has_the_numbers_of_predict() -> None:
    made = dtnsim.compare(PATH, variants=["wan.rtt=200ms"])
    for variant, overrides in zip(made.variants, ((), ("wan.rtt=200ms",)), strict=True):
        same = dtnsim.predict(PATH, overrides=overrides)
        assert variant.prediction.throughput_Bps == same.throughput_Bps
        # what binds a transfer allows what it gets
        assert min(variant.allowances().values()) == pytest.approx(same.ceiling, rel=1e-6)


def test_the_station_that_changed_is_named() -> None:
    made = dtnsim.compare(PATH, variants=["hosts.nersc.cpu.clock=4GHz", "hosts.venadi.memory.rate=2400MT/s"], samples=0)
    held = made.variants[0].prediction.bottleneck.station
    before, after = next((c.before_Bps, c.after_Bps) for c in made.changes(1) if c.station == held)
    assert after == pytest.approx(before * 4 / 2.7, rel=0.05)  # cycles a second; memory slows the core a little
    alone = rf"{re.escape(held)}, which bound, would allow [0-9.]+ Gb/s by itself, not [0-9.]+ Gb/s; "
    assert re.search(alone, made.sentence(1))
    assert "as fast as" in made.sentence(2)
    assert len(repr(made)) < 200


def test_prices_are_those_of_the_parts_and_drives_count() -> None:
    found = bill.items(spec.load("examples/dtn-100g-xfs"))
    assert ("samsung-pm9a3", 8) in {(i.part, i.count) for i in found}
    sas = [i.count for i in bill.items(spec.load("nasa/nuttscp-1of7-put")) if i.part == "wd5001aals"]
    assert max(sas) == 32  # eight in each of four controllers
    price, unpriced = bill.total(found, exchange([]))
    assert price is not None
    assert price.amount == sum(i.count * i.price.amount for i in found if i.price is not None)
    assert not {i.part for i in found if i.price is not None} & set(unpriced)


def test_tools_are_those_that_the_search_finds() -> None:
    """The rows of ``dtnsim tools``, by the same settings, draws included."""
    path = "examples/one-large-file"
    made = dtnsim.compare(path, variants=["tools"], samples=16)
    rows = [row for row in choose(dtnsim.load(path), samples=16)[0] if row.options][:3]
    assert [v.prediction.duration_s for v in made.variants[1:]] == [row.duration_s for row in rows]
    assert all(f"name: {row.options['name']}" in v.name for v, row in zip(made.variants[1:], rows, strict=True))


@given(st.floats(1, 1e7), st.floats(0.01, 100))
def test_a_rate_goes_both_ways(amount: float, rate: float) -> None:
    known = exchange([f"EUR/USD={rate:.6f}"])
    there = Money(known.convert(Money(Decimal(str(amount)), "EUR"), "USD", "x"), "USD")
    assert float(known.convert(there, "EUR", "x")) == pytest.approx(amount)


def test_prices_are_read_as_people_write_them_and_nothing_else() -> None:
    assert money("15kEUR", "") == Money(15000, "EUR")
    assert money("$ 1,300", "") == Money(1300, "USD")
    assert money("700 usd", "") == Money(700, "USD")
    for text in ("15k", "EUR", "-5 EUR", "1 EUR 2", "5 GHz", "3 min", "1 MiB", "\uff15 EUR"):
        with pytest.raises(InputError, match="no price"):
            money(text, "--budget")
    with pytest.raises(InputError, match="no rate"):
        exchange(["EUR=1"])


def test_currencies_mix_only_by_a_rate_stated_or_usual() -> None:
    items = (bill.Item("a", 1, Money(Decimal(100), "EUR")), bill.Item("b", 2, Money(Decimal(108), "USD")))
    usual = exchange([])
    assert bill.total(items, usual)[0] == Money(300, "EUR")
    assert usual.notes(["USD", "EUR"])[0].startswith("EUR/USD = 1.08 (ECB")
    for stated in ("EUR/USD=2", "USD/EUR=0.5"):
        assert bill.total(items, exchange([stated]))[0] == Money(208, "EUR")
        assert not exchange([stated]).notes(["USD", "EUR"])
    with pytest.raises(InputError, match=r"--rate USD/CHF"):
        bill.total((bill.Item("a", 1, Money(Decimal(100), "CHF")), items[1]), usual)


def test_two_variants_are_needed() -> None:
    with pytest.raises(InputError, match="needs two variants"):
        dtnsim.compare(PATH)
    with pytest.raises(InputError, match="variants of one path"):
        dtnsim.compare(PATH, "venadi/iperf3", variants=["wan.rtt=1ms"])


def test_the_command_shows_a_table_and_why(run: Run) -> None:
    more = ("--with", "transfer.tool={name: globus, concurrency: 64}", "--samples", "16")
    code, out, _ = run("compare", PATH, "--with", "wan.rtt=200ms; transfer.tool.p=1", *more)
    assert code == 0
    warned = "warning: transfer.tool={name: globus, concurrency: 64}: transfer: globus: concurrency 64 is cut to 4,"
    assert all(t in out for t in ("network.tcp.nersc-venadi[transfer] binds", "no price is known of", warned))
    document = json.loads(run("compare", PATH, "--with", "wan.rtt=200ms", "--samples", "16", "--json")[1])
    assert [v["variant"] for v in document["variants"]] == [PATH, "wan.rtt=200ms"]
    assert document["differences"][0]["stations"]
    code, _, err = run("compare", PATH, "--with", "wan.rrt=200ms")
    assert (code, "is not a key here" in err) == (2, True)


@pytest.mark.parametrize("change", ["bad.key=1", "wan.rtt=5", "wan.rtt", "wan.rtt={", "transfer.dataset.files.x=3"])
def test_a_change_that_cannot_be_made_is_called_as_it_was_given(change: str) -> None:
    with pytest.raises(InputError) as compared:
        dtnsim.compare(PATH, variants=[change])
    assert "--with" in str(compared.value)
    assert "--set" not in str(compared.value)
    with pytest.raises(InputError, match="--set"):  # what all variants share comes with --set
        dtnsim.compare(PATH, variants=["wan.rtt=9ms"], overrides=[change])


def test_what_differs_in_the_draws_alone_is_said_to() -> None:
    """One stream of xrdcp was 'a third as fast; the window still binds', with the same window."""
    cards = {"t1": "100GbE", "t2": "25GbE"}
    hosts = {name: {"role": "dtn", "nic": nic, "volumes": {"/d": "any-nvme"}} for name, nic in cards.items()}
    tool = {"name": "xrdcp", "streams": "4"}
    move = {"from": "t1:/d", "to": "t2:/d", "tool": tool, "dataset": {"files": "5000", "each": "2.5 GB"}}
    path = load({"name": "t", "hosts": hosts, "wan": {"rtt": "28 ms", "bandwidth": "100 Gb/s"}, "transfer": move})
    made = dtnsim.compare(path, variants=["transfer.tool.streams=1", "wan.rtt=60ms"], samples=64)
    assert made.variants[1].prediction.ceiling == pytest.approx(made.variants[0].prediction.ceiling, rel=5e-3)
    said = [made.sentence(number) for number in (1, 2)]
    assert ["at their best both are alike" in text for text in said] == [True, False], said
