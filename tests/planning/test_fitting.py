"""What can be bought: growing arrays, cards in free slots, memory in free channels, cables; and what cannot."""

from pathlib import Path

import pytest

import dtnsim
from dtnsim.components.device import Device
from dtnsim.description import spec
from dtnsim.ground.errors import SpecError
from dtnsim.planning import actions, catalog, fitting
from dtnsim.planning.actions.drive import growths
from dtnsim.planning.money import exchange
from dtnsim.planning.option import Offered, Option, Refused
from tests.each import rows
from tests.strategies import load, written

TO_BUY = "examples/dtn-100g-to-buy"


@pytest.fixture(scope="module")
def starter() -> Offered:
    """What fits the server that is bought into."""
    return fitting.options(fitting.Shop(spec.load(TO_BUY), catalog.read(), exchange([]), "USD"), ["ours"])


@pytest.mark.parametrize(("array", "free", "grown"), rows("planning/tables", "arrays_grow_by_their_own_steps"))
def test_arrays_grow_by_their_own_steps(array: dict, free: int, grown: list) -> None:
    built = Device.build({**array, "of": "samsung-pm9a3"})
    assert [[g.key, g.value, g.added] for g in growths(built, free)] == grown
    assert not list(growths(Device.build("samsung-pm9a3"), free))  # a single drive becomes no array
    for key, value, added in grown:
        larger = Device.build({**array, key: value, "of": "samsung-pm9a3"})
        assert larger.drives == built.drives + added


def test_drives_cards_and_memory_go_where_there_is_room(starter: Offered) -> None:
    drives = starter.choices["hosts.ours.volumes./data.array"]
    more = {o.what: o for o in drives if o.part == "samsung-pm9a3"}
    assert list(more) == [f"{n} more samsung-pm9a3: {n + 2} disks in RAID 10" for n in (2, 4, 6, 8)]
    assert [o.uses for o in more.values()] == [(("hosts.ours.bays.U.2", n),) for n in (2, 4, 6, 8)]
    # memory is changed once: with the board of another processor, or by itself
    assert starter.stock == {"hosts.ours.slots.x16": 1, "hosts.ours.bays.U.2": 8, "hosts.ours.memory": 1}
    cards = starter.choices["hosts.ours.nics.eth"]
    wide = [o for o in cards if o.part == "connectx-5-100g"]
    assert [o.overrides[-1] for o in wide] == ["hosts.ours.nics.eth.slot=x16"]  # x16 does not go into the x8 slot
    assert [n for o in wide for _, n in o.buys] == [1, 2]  # with an optic at both ends of its fibre
    assert wide[0].price == 700 + 2 * 500
    second = next(o for o in cards if o.what.startswith("2 x intel-xxv710-25g bonded"))
    assert "hosts.ours.nics.eth.more_slots=[x16]" in second.overrides
    assert second.buys[0][1] == 1  # one is there
    assert second.price == 350 + 40  # with its cable
    ports = next(o for o in cards if o.what == "2 ports of intel-xxv710-25g bonded")
    assert (ports.price, [o.part for o, _ in ports.buys]) == (40, ["sfp28-dac-3m"])  # a port is there, a cable is not
    (memory,) = (o for o in starter.choices["hosts.ours.memory"] if o.part.startswith("rdimm"))
    assert (memory.buys[0][1], memory.overrides[0]) == (4, "hosts.ours.memory.channels=8")


def test_drives_of_another_form_go_where_bays_and_their_lanes_are_free() -> None:
    """Disks behind an adapter, NVMe bays beside them: wired to a slot they are offered, of two less none is.

    Eight of 3.84 TB in a raidz2 hold 6 x 3.84 = 23.04 TB: enough where the pool has to hold 20 TB.
    """
    bays = [
        "hosts.nas.volumes./pool.size=20TB",
        "hosts.nas.chassis={bays: {U.2: 8}, channels: 8}",
        "transfer.tool.cc=8",
        "hosts.nas.tcp.wmem_max=256MiB",
    ]
    lanes = "hosts.nas.slots.bays={part: pcie-gen4-x16, lanes: 32, bifurcation: 8}"

    def found(*overrides: str) -> dict[str, Option]:
        given = spec.load("examples/nas-24-nightly", [*bays, *overrides])
        offered = fitting.options(fitting.Shop(given, catalog.read(), exchange([]), "USD"), ["nas"])
        assert "hosts.nas.slots.bays" not in {n for o in offered.choices["hosts.nas.nics.eth"] for n, _ in o.uses}
        return {o.what: o for o in offered.choices.get("hosts.nas.volumes./pool.array", ()) if "U.2" in o.what}

    assert not found()
    assert not any("8 x" in what for what in found(lanes.replace("8}", "6}")))
    assert not found(lanes, "transfer.dataset={files: 10, each: 10 TB}")  # they would not hold the data
    option = found(lanes)["8 x samsung-pm9a3 (30.72 TB in place of 384 TB) in U.2 bays: 8 disks, raidz 2"]
    assert option.uses == (("hosts.nas.bays.U.2", 8), ("hosts.nas.slots.bays", 1))
    path = spec.load("examples/nas-24-nightly", [*bays, lanes])
    before, after = (dtnsim.predict(path.changed(o), samples=0) for o in ((), option.overrides))
    assert before.bottleneck.station == "nas.pool.disks"
    assert after.ceiling > 3 * before.ceiling  # eight drives of 6.5 GB/s, then the wire


def test_a_second_card_carries_its_part_through_its_own_slot() -> None:
    path, bond = spec.load(TO_BUY), ["hosts.ours.nics.eth.ports=2", "hosts.ours.nics.eth.bonding=application"]
    narrow = ["hosts.ours.slots.x8.generation=1", *bond]
    one = dtnsim.predict(path.changed(narrow), samples=0)
    two = dtnsim.predict(path.changed([*narrow, "hosts.ours.nics.eth.more_slots=[x16]"]), samples=0)
    demand = {u.station.name: u.demand_per_byte for u in two.stations}
    assert {u.station.name: u.demand_per_byte for u in one.stations}["ours.slot-x8.in"] == pytest.approx(
        2 * demand["ours.slot-x8.in"]
    )
    assert demand["ours.slot-x16.in"] > 0
    for slots, words in (
        ("[x8]", "another card of it"),
        ("[x99]", "is not a slot"),
        ("[bays0, bays0]", "another card"),
    ):
        with pytest.raises(SpecError, match=words):
            path.changed([f"hosts.ours.nics.eth.more_slots={slots}"])


def test_an_expander_stays_when_the_adapter_goes() -> None:
    path = spec.load("examples/nas-24-nightly").changed(["hosts.nas.hbas.sas=lsi-9300-16i"])
    adapter = path.hosts["nas"].hbas["sas"]
    assert (adapter.part, adapter.uplink_lanes, adapter.slot) == ("lsi-9300-16i", 8, "sas")


def test_an_offer_without_power_is_left_out_where_power_counts(tmp_path: Path) -> None:
    shop = written(tmp_path / "shop.yaml", "items: {connectx-5-ex-100g: {price: 700 USD, date: 2026-05-01}}\n")
    listed, path = catalog.read(str(shop)), spec.load("venadi/gridftp-gpfs")
    for matters in (False, True):
        found = fitting.options(fitting.Shop(path, listed, exchange([]), "USD", watts_matter=matters), ["venadi"])
        assert bool(found.choices.get("hosts.venadi.nics.eth")) is not matters
        assert any("nobody states its power" in r.why for r in found.refused) is matters


def test_what_replaces_a_part_fits_where_nobody_knows_its_place(tmp_path: Path) -> None:
    shop = written(
        tmp_path / "shop.csv", "part,price,date,replaces\namd-epyc-7443p,1000 EUR,2026-05-01,intel-e5-2643-v2\n"
    )
    path = spec.load("esnet/lbl-anl")
    found = fitting.options(fitting.Shop(path, catalog.read(str(shop)), exchange([]), "EUR"), [next(iter(path.hosts))])
    assert [o.part for p, v in found.choices.items() if p.endswith(".cpu") for o in v] == ["amd-epyc-7443p"]


def test_drives_that_do_not_hold_the_data_are_not_offered_and_smaller_ones_say_so() -> None:
    def found(*overrides: str) -> tuple[list[str], tuple[str, ...]]:
        given = spec.load("examples/nas-24-nightly", overrides)
        offered = fitting.options(fitting.Shop(given, catalog.read(), exchange([]), "USD"), ["nas"])
        return [o.what for o in offered.choices.get("hosts.nas.volumes./pool.array", ())], offered.refused

    def why(refused: tuple[Refused, ...]) -> str:
        (one,) = (r for r in refused if r.part == "intel-s4500" and "would hold" in r.why)
        return one.why

    # two raidz2 of twelve: 20 of 24 drives hold data, 16 TB of each of now, 3.84 TB of each SSD
    all_of_it, refused = found()
    assert not [what for what in all_of_it if "s4500" in what]
    assert why(refused).startswith("the drives would hold 76.8 TB, and the volume holds 320 TB (if it")
    assert "say so: hosts.nas.volumes./pool.size=10TB)" in why(refused)
    some, _ = found("hosts.nas.volumes./pool.size=60TB")
    assert "24 x intel-s4500 (92.16 TB in place of 384 TB)" in some
    _, refused = found("hosts.nas.volumes./pool.size=80TB")
    assert "and the volume holds 80 TB (" in why(refused)
    used = "hosts.nas.volumes./pool.filesystem.filled"
    assert found(f"{used}=20%")[0] == some  # 64 TB
    assert "s4500" not in str(found(f"{used}=30%")[0])  # 96 TB
    large, refused = found("hosts.nas.volumes./pool.size=60TB", "transfer.dataset={files: 10, each: 10 TB}")
    assert not [what for what in large if "s4500" in what]
    assert why(refused).endswith("would hold 76.8 TB, and the path's data are 100 TB")


def test_drives_in_generic_words_have_the_form_of_their_class() -> None:
    """Nothing was said to fit in the place of `16TB SAS HDD`, whose part is of disks of 3.5 inches."""
    array = {"kind": "raid", "level": 6, "disks": 24, "of": "16TB SAS HDD"}
    volumes = {"/data": {"filesystem": "xfs", "array": array, "size": "50 TB"}}
    path = load({
        "hosts": {"a": {"nic": "100GbE", "volumes": volumes}},
        "transfer": {"from": "a:/data", "to": "a:/dev/null", "tool": "dd", "dataset": {"files": 1, "size": "1 TB"}},
    })  # fmt: skip
    sold = fitting.options(fitting.Shop(path, catalog.read(), exchange([]), "USD"), ["a"])
    assert "24 x seagate-exos-x16" in [o.what for o in sold.choices["hosts.a.volumes./data.array"]]
    assert not any("in the place of any-disk" in note for note in sold.notes)


def test_what_is_put_into_one_of_several_alike_is_paid_for_in_each() -> None:
    """A change of the first reaches the others: one card was paid for where three were put in, and tried for each."""
    files = "transfer.dataset.files=40"
    one, three = spec.load(TO_BUY, [files]), spec.load(TO_BUY, [files, "hosts.ours.count=3"])
    ours = ["ours", "ours-2", "ours-3"]
    assert [h for h in three.hosts if h.startswith("ours")] == ours
    shops = (fitting.Shop(path, catalog.read(), exchange([]), "USD") for path in (one, three))
    single, several = (fitting.options(s, h) for s, h in zip(shops, (ours[:1], ours), strict=True))
    assert several.choices.keys() == single.choices.keys()
    for place, options in single.choices.items():
        for a, b in zip(options, several.choices[place], strict=True):
            assert (b.what, b.price, b.uses) == (f"in each of 3: {a.what}", 3 * a.price, a.uses)
            assert [n for _, n in b.buys] == [3 * n for _, n in a.buys]
            assert b.watts == pytest.approx(3 * a.watts)
    found = (actions.settings(p, h, 1e9, ("tuning",)) for p, h in ((one, ours[:1]), (three, ours)))
    first, all_of_them = ([s.what for s in each] for each in found)
    assert [what for what in all_of_them if what not in first] == []
