"""Plans: what is free, what is bought, what is said; the search against brute force; the examples of the guide."""

from __future__ import annotations

import datetime as dt
import itertools
import json
import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import dtnsim
from dtnsim.description import spec
from dtnsim.ground.errors import InputError
from dtnsim.planning import catalog, purchases, tuning
from dtnsim.planning.catalog import Offer
from dtnsim.planning.money import Money, exchange
from dtnsim.planning.plan import Plan
from dtnsim.planning.purchases import Option, Search
from tests.cli.conftest import Run
from tests.cli.conftest import run as run  # noqa: PLC0414 - a fixture

SLOW_END = [
    "hosts.east.nic=broadcom-57414-25g",
    "hosts.east.tcp.rmem_max=6 MiB",
    "hosts.east.tcp.wmem_max=4 MiB",
]


@pytest.fixture(scope="module")
def venadi() -> Plan:
    """20 Gb/s from NERSC's GPFS, at Venadi."""
    return dtnsim.plan("venadi/gridftp-gpfs", target="20Gb/s", keep=["hosts.nersc"], samples=64)


@pytest.fixture(scope="module")
def narrow() -> Plan:
    """A 100G path whose one end has a 25G card and untouched buffers."""
    return dtnsim.plan(
        "examples/dtn-100g-zfs", target="60Gb/s", mine=["east"], overrides=SLOW_END, budget="3kUSD", confidence=0.3,
        samples=64,
    )  # fmt: skip


def _options(sizes: list[list[tuple[int, tuple[int, ...]]]]) -> dict[str, tuple[Option, ...]]:
    day = dt.date(2026, 1, 1)
    return {
        f"place{n}": tuple(
            Option(f"place{n}", f"part{n}-{k}", 1, price, 0.0,
                   Offer(f"part{n}-{k}", "nic", Money(price, "USD"), 0, day, "", None, ""))
            for k, (price, _) in enumerate(parts)
        )
        for n, parts in enumerate(sizes)
    }  # fmt: skip


PARTS = st.lists(
    st.lists(st.tuples(st.integers(1, 9), st.tuples(st.integers(1, 9), st.integers(1, 9))), min_size=1, max_size=3),
    min_size=1,
    max_size=4,
)


# three parts of which a sum of times binds, and only one can be paid
@example([[(1, (1, 1))], [(1, (3, 1))], [(1, (3, 1))]], 1, [1] * 8, True)
@settings(max_examples=200)
@given(PARTS, st.integers(0, 20), st.lists(st.integers(1, 9), min_size=8, max_size=8), st.booleans())
def test_the_search_finds_what_brute_force_finds(sizes, budget: int, base: list[int], shared: bool) -> None:
    """Each part has two stations of its own; ``shared``: a further limit is the sum of the first ones' times."""
    choices = _options(sizes)
    speed = {o.override: sizes[n][k][1] for n, p in enumerate(choices) for k, o in enumerate(choices[p])}

    def limits(chosen) -> list[tuple[int, int]]:
        now = {o.place: speed[o.override] for o in chosen}
        return [now.get(p, (base[2 * n], base[2 * n + 1])) for n, p in enumerate(choices)]

    def rate(chosen) -> float:
        both = limits(chosen)
        least = min(min(b) for b in both)
        return min(least, 2 / sum(1 / b[0] for b in both)) if shared else float(least)

    def quicker(a: Option, b: Option | None) -> bool:
        n = int(a.place[5:])
        other = speed[b.override] if b is not None else (base[2 * n], base[2 * n + 1])
        return all(x >= y for x, y in zip(speed[a.override], other, strict=True))

    found = Search(choices, rate, quicker, budget).frontier()
    sets = itertools.product(*((None, *parts) for parts in choices.values()))
    every = [tuple(o for o in s if o is not None) for s in sets]
    points = [(sum(o.price for o in s), round(rate(s), 9)) for s in every]
    points = [(p, r) for p, r in points if p <= budget or p == 0]
    best = sorted({
        (p, r) for p, r in points
        if not any((q <= p and t > r * (1 + 1e-9)) or (q < p and t >= r * (1 - 1e-9)) for q, t in points)
    })  # fmt: skip
    assert [(sum(o.price for o in s), pytest.approx(r)) for s, r in found] == best


def test_the_search_is_brute_force_on_a_path_of_the_library() -> None:
    path = spec.load("examples/dtn-100g-zfs", SLOW_END)
    path = path.changed(
        ["hosts.east.tcp.rmem_max=1GiB", "hosts.east.tcp.wmem_max=1GiB", "hosts.west.nic=intel-x520-10g"]
    )
    listed = catalog.read()
    choices, _ = purchases.options(path, ["east", "west"], listed, exchange([]), "USD")
    few = {k: tuple(o for o in v if o.part in ("connectx-4-100g", "intel-xxv710-25g")) for k, v in choices.items()}
    few = {k: v for k, v in few.items() if v}
    compared, rate = purchases.Comparer(path), purchases.rater(path)
    found = Search(few, rate, compared.quicker, 1000, compared.matters).frontier()
    sets = [tuple(o for o in s if o) for s in itertools.product(*((None, *v) for v in few.values()))]
    priced = [(sum(o.price for o in s), rate(s)) for s in sets]
    for price, best in priced:
        reached = max(r for s, r in found if sum(o.price for o in s) <= price)
        assert price > 1000 or reached >= best * (1 - 1e-5)
    assert len(found) > 1


def test_venadi_names_the_senders_core_and_whose_it_is(venadi: Plan) -> None:
    assert venadi.now.prediction.bottleneck.station == "nersc.cpu.gridftp sender[transfer]"
    words = "\n".join(venadi.sentences)
    assert "No NIC helps by itself: nersc.cpu.gridftp sender[transfer] binds at 13.39 Gb/s." in words
    assert "nersc is not yours to change, and it binds" in words
    assert "Not reached" in words
    assert venadi.chosen is None
    assert len(venadi.purchases) == 1  # nothing on the list that fits helps, so nothing is bought


def test_what_does_not_fit_a_slot_is_not_offered(venadi: Plan) -> None:
    words = "\n".join(venadi.sentences)
    assert re.search(r"hosts\.venadi\.nics\.ib: does not take .*connectx-5-100g.*x16 card", words)
    choices, _ = purchases.options(spec.load("venadi/gridftp-gpfs"), ["venadi"], catalog.read(), exchange([]), "USD")
    assert all(k.startswith("hosts.venadi") for k in choices)
    assert {o.offer.places[0] for o in choices["hosts.venadi.volumes./bigdata.array.of"]} == {"SATA 2.5"}
    assert {o.count for o in choices["hosts.venadi.volumes./bigdata.array.of"]} == {16}


def test_a_card_is_bought_where_it_binds_and_the_numbers_are_those_of_predict(narrow: Plan) -> None:
    assert narrow.chosen is not None
    assert [o.place for o in narrow.chosen.options] == ["hosts.east.nics.eth"]
    sets = [o for w in narrow.wins if w.together for o in w.setting.overrides]
    bought = [o.override for o in narrow.chosen.options]
    same = dtnsim.predict("examples/dtn-100g-zfs", overrides=[*SLOW_END, *sets, *bought], samples=64)
    assert narrow.chosen.prediction.throughput_Bps == same.throughput_Bps
    gain = same.throughput_Bps.p50 - narrow.tuned.prediction.throughput_Bps.p50
    assert narrow.chosen.marginal_Bps == pytest.approx(gain / narrow.chosen.price.amount * 1000)
    prices = [s.price.amount for s in narrow.purchases]
    rates = [s.prediction.throughput_Bps.p50 for s in narrow.purchases]
    assert (prices, rates) == (sorted(prices), sorted(rates))
    assert any("Prices are old" in s for s in narrow.sentences)


def test_free_wins_come_with_commands_that_the_kernel_takes(narrow: Plan) -> None:
    buffers = next(w for w in narrow.wins if "TCP buffers" in w.setting.what)
    assert buffers.together
    assert buffers.alone_Bps > 2 * narrow.now.prediction.throughput_Bps.p50
    for line in buffers.setting.commands:
        assert all(int(n) <= 2**31 - 1 for n in re.findall(r"\d{4,}", line))
    whole = dtnsim.plan("examples/dtn-100g-zfs", target="900Gb/s", allow=["tuning"], overrides=SLOW_END, samples=16)
    numbers = [int(n) for w in whole.wins for c in w.setting.commands for n in re.findall(r"\d{4,}", c)]
    assert max(numbers) == 2**31 - 1


def test_settings_that_only_help_at_once_are_found() -> None:
    path = spec.load("venadi/iperf3")
    one, two = (tuning.Setting(n, (f"wan.rtt={n}ms",), ()) for n in "34")

    def rate(overrides) -> float:
        return 2.0 if len(overrides) == 2 else 1.0

    assert [w.together for w in tuning.wins(path, [one, two], rate)] == [True, True]
    assert tuning.wins(path, [one, two], lambda _: 1.0) == ()


def test_nasa_of_2010_wants_more_cores_and_then_better_disks(tmp_path: Path) -> None:
    """One stream's core binds first; of two files at once it is the disks, then the cores again."""
    one = dtnsim.plan("nasa/nuttscp-1of7-put", target="20Gb/s", mine=["c1", "c2"], allow=["tuning"], samples=16)
    assert one.now.prediction.bottleneck.kind in ("core", "cpu")
    assert re.search(r"What relieves it: .*more cores: more streams or processes", "\n".join(one.sentences))
    shop = tmp_path / "shop.yaml"
    shop.write_text(
        "date: 2026-05-01\nfits: {wd5001aals: 3.5 inch}\nitems:\n  wd-hc310: {price: 180 USD, fits: 3.5 inch}\n"
        "  connectx-5-100g: {price: 700 USD}\n  intel-x520-10g: {price: 120 USD}\n"
    )
    disks = dtnsim.plan(
        "nasa/nuttscp-3of7", target="20Gb/s", mine=["c1", "c2"], allow=["parts"], samples=16, catalog=str(shop)
    )
    assert "No NIC helps by itself: c1.raid.disks binds" in "\n".join(disks.sentences)
    assert disks.now.prediction.bottleneck.station == "c1.raid.disks"
    best = disks.purchases[-1]
    assert {o.place for o in best.options} == {f"hosts.c{n}.volumes./raid.array.of.of" for n in (1, 2)}
    assert {o.count for o in best.options} == {32}
    assert best.prediction.bottleneck.kind in ("core", "cpu")


def test_a_campus_nas_learns_whether_tuning_is_enough(tmp_path: Path) -> None:
    file = tmp_path / "nightly.yaml"
    file.write_text(
        "name: NAS of 24 disks to the centre\nhosts: {nas: example-nas-24, centre: example-dtn-100g}\n"
        "wan: {rtt: 20 ms, bandwidth: 100 Gb/s, mtu: 9000 B}\n"
        "transfer: {from: 'nas:/pool', to: 'centre:/xfs', tool: {name: gridftp, fast: true},"
        " dataset: {files: 1000, each: 10 GB}}\n"
    )
    made = dtnsim.plan(file, move="10TB", within="8h", allow=["tuning"], samples=64)
    assert made.target_Bps == pytest.approx(10e12 / 8 / 3600)
    assert made.hosts == ("nas",)
    better = made.tuned.prediction.throughput_Bps.p50 > 1.5 * made.now.prediction.throughput_Bps.p50
    assert better
    assert re.search(r"(is enough|Not reached): .* probability", "\n".join(made.sentences))
    assert made.measure_first


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "say what is to be reached"),
        ({"target": "1Gb/s", "move": "1TB", "within": "1h"}, "say what is to be reached"),
        ({"move": "1TB"}, "say what is to be reached"),
        ({"move": "0 B", "within": "1h"}, "more than nothing"),
        ({"target": "1Gb/s", "budget": "0 EUR"}, "nothing to spend"),
        ({"target": "1Gb/s", "budget": "15k"}, "no price"),
        ({"target": "1Gb/s", "budget": "15kEUR"}, r"--rate USD/EUR"),
        ({"target": "1Gb/s", "keep": ["hosts.there"]}, "there is no host 'there'"),
        ({"target": "1Gb/s", "keep": ["nersc"], "mine": ["nersc"]}, "contradict"),
        ({"target": "1Gb/s", "keep": ["nersc", "venadi"]}, "no host is left"),
        ({"target": "1Gb/s", "allow": ["hosts"]}, "dtnsim compare"),
        ({"target": "1Gb/s", "allow": []}, "nothing may be changed"),
        ({"target": "1Gb/s", "confidence": 80}, "share like 80%"),
        ({"target": "1Gb/s", "overrides": ["wan.rrt=1ms"]}, "is not a key"),
        ({"target": "1Gb/s", "catalog": "none.yaml"}, "none.yaml"),
    ],
)
def test_what_contradicts_itself_is_refused(arguments: dict, words: str) -> None:
    with pytest.raises(InputError, match=words):
        dtnsim.plan("venadi/gridftp-gpfs", samples=16, **arguments)


def test_price_lists_of_users_are_read_and_faults_named(tmp_path: Path) -> None:
    good = tmp_path / "shop.csv"
    good.write_text("part,price,date,watts\nconnectx-5-100g,650 EUR,2026-05-01,19 W\n")
    (offer,) = catalog.read(str(good)).offers
    assert (offer.family, offer.price, offer.watts) == ("nic", Money(650, "EUR"), 19)
    assert not offer.old(dt.date(2026, 11, 1))
    assert offer.old(dt.date(2027, 11, 1))
    for text, words in (
        ("part,price,date\nno-such-card,650 EUR,2026-05-01\n", "no-such-card"),
        ("part,price\nconnectx-5-100g,650 EUR\n", "needs the day"),
        ("part,cost\nconnectx-5-100g,650 EUR\n", "part and price"),
        ("part,price,date,colour\nconnectx-5-100g,650 EUR,2026-05-01,red\n", "colour is no key"),
    ):
        good.write_text(text)
        with pytest.raises(InputError, match=words):
            catalog.read(str(good))


def test_no_more_power_than_allowed(tmp_path: Path) -> None:
    shop = tmp_path / "shop.yaml"
    shop.write_text("items: {connectx-5-100g: {price: 700 USD, date: 2026-05-01, watts: 20 W}}\n")
    tuned = [f"hosts.east.tcp.{k}mem_max=1GiB" for k in "rw"]
    for most, count in ((19.0, 1), (20.0, 2)):
        made = dtnsim.plan(
            "examples/dtn-100g-zfs", target="60Gb/s", mine=["east"], overrides=[SLOW_END[0], *tuned], catalog=str(shop),
            max_watts=most, samples=16, allow=["parts"],
        )  # fmt: skip
        assert len(made.purchases) == count


def test_the_command_shows_the_plan_and_exits_with_3_where_it_is_not_reached(run: Run, narrow: Plan) -> None:
    line = ["plan", "examples/dtn-100g-zfs", "--target", "7Gb/s", "--allow", "tuning", "--samples", "16"]
    code, out, _ = run(*line, *(x for o in SLOW_END for x in ("--set", o)), "--confidence", "20%")
    assert code == 0
    assert "sysctl -w net.ipv4.tcp_rmem=" in out
    assert "measure first:" in out
    code, out, _ = run("plan", "venadi/iperf3", "--target", "900Gb/s", "--allow", "tuning", "--samples", "16", "--json")
    assert code == 3
    assert json.loads(out)["chosen"] is None
    assert len(repr(narrow)) < 200
    assert [r["stage"] for r in narrow.to_dicts()][:2] == ["as it is", "tuned"]
