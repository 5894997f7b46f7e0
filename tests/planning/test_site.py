"""Ports of a switch, rack units and watts: what has none left is refused with its reason, what has a price is paid."""

from pathlib import Path

import pytest

from dtnsim.description import spec
from dtnsim.ground.errors import InputError
from dtnsim.planning import catalog, fitting, whynot
from dtnsim.planning.actions import machine
from dtnsim.planning.money import exchange
from dtnsim.planning.option import Offered
from dtnsim.planning.proposal import named
from dtnsim.planning.search import Search
from tests.each import rows, tables

DAY = "date: 2026-05-01\n"
CARDS = tables("planning/tables")["cards"]
TO_BUY = "examples/dtn-100g-to-buy"


def _offered(folder: Path, site: str, allow: tuple[str, ...] = ("parts",), items: str = CARDS) -> Offered:
    file = folder / "shop.yaml"
    file.write_text(DAY + items + site)
    listed = catalog.read(str(file))
    return fitting.options(
        fitting.Shop(spec.load(TO_BUY, ["transfer.dataset.files=40"]), listed, exchange([]), "EUR"), ["ours"], allow
    )


def _cards(offered: Offered) -> dict[str, tuple[int, int]]:
    """Price and ports of each option with a card."""
    return {
        o.what: (int(o.price), sum(n for key, n in o.uses if "switch" in key))
        for options in offered.choices.values()
        for o in options
    }


def test_ports_of_a_switch_are_counted_and_paid(tmp_path: Path) -> None:
    plain = _cards(_offered(tmp_path, ""))
    free = "site: {switch: {100 Gb/s: {free: 2, price: 450 EUR}, 25 Gb/s: {free: 2, price: 60 EUR}}}"
    charged = _cards(_offered(tmp_path, free))
    assert plain.keys() == charged.keys()
    for what, (price, ports) in charged.items():  # one port of 25 Gb/s is plugged in, none of 100 Gb/s
        assert ports == 1
        assert price == plain[what][0] + (450 if "connectx-5" in what else 60)


def test_what_leaves_is_traded_in_for_no_more_than_what_is_bought(tmp_path: Path) -> None:
    plain = _cards(_offered(tmp_path, ""))
    for share, paid in (("20 %", 70), ("1000 %", 1200)):  # of 350 EUR; a card and its optic cost 1,200 EUR
        used = CARDS.replace("with: dac", f"with: dac, trade in: {share}")
        offered = _offered(tmp_path, "", items=used)
        assert {w: p for w, (p, _) in plain.items()} == {
            w: p + paid * ("connectx" in w) for w, (p, _) in _cards(offered).items()
        }
        card = next(o for v in offered.choices.values() for o in v if "connectx" in o.what)
        assert [(o.part, n, o.price.amount) for o, n in card.buys][-1] == ("trade-in of intel-xxv710-25g", 1, -paid)


def test_what_has_no_free_port_is_refused_with_its_reason(tmp_path: Path) -> None:
    assert [*_cards(_offered(tmp_path, "site: {switch: {100 Gb/s: {free: 1}}}"))] == ["connectx-5-100g in slot x16"]
    none = _offered(tmp_path, "site: {switch: {25 Gb/s: {free: 0}}}")
    assert not _cards(none)
    why = {(r.part, r.why) for r in none.refused}
    assert ("connectx-5-100g", "needs 1 switch ports of 100 Gb/s, 0 free") in why
    counts = whynot.why_not(
        Search({}, lambda _: (1, 1, 1, 0), lambda c: [(1, 1, 1, 0)] * len(c), 0), none.refused, named, 0.8, None
    )
    assert counts.counts["fit"] == len(none.refused)


def test_power_supplies_carry_no_more_than_is_stated(tmp_path: Path) -> None:
    short = _offered(tmp_path, "site: {watts: {ours: 4 W}}")
    assert "needs 5 ours watts, 4 free" in {r.why for r in short.refused}  # 19 W in the place of 14
    assert not any("connectx" in what for what in _cards(short))
    assert any("connectx" in what for what in _cards(_offered(tmp_path, "site: {watts: {ours: 5 W}}")))


def test_machines_need_rack_units(tmp_path: Path) -> None:
    host = "\nitems: {venadi: {price: 9000 EUR, units: 2}}\n"
    for free, sold in ((1, False), (2, True)):
        offered = _offered(tmp_path, f"site: {{rack units: {{free: {free}, price: 100 EUR}}}}", ("hosts",), host)
        prices = {o.price for options in offered.choices.values() for o in options}
        assert prices == ({9200} if sold else set())
        assert any("rack units, 1 free" in r.why for r in offered.refused) is not sold
        for options in offered.choices.values():
            assert machine.left_by(offered, options[0]).stock == offered.stock  # it is in the place, not beside


@pytest.mark.parametrize("site", rows("planning/tables", "what_is_no_site_says_what_to_write"))
def test_what_is_no_site_says_what_to_write(tmp_path: Path, site: str) -> None:
    with pytest.raises(InputError, match="site"):
        _offered(tmp_path, site)
