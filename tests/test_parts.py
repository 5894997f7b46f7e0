"""The parts library: every part builds, and every number in it says where it comes from."""

import numpy as np
import pytest

from dtnsim.components import base
from dtnsim.components.base import find_kind
from dtnsim.components.segment import Segment
from dtnsim.ground import library, yamlio
from dtnsim.ground.quantity import Quantity
from dtnsim.physics import pcie
from dtnsim.planning import catalog
from tests.each import of_each, rows

GIVEN = rows("tables", "parts")
#: bays and slots that a drive's `facts.fits` may name
FORMS = {"M.2", "U.2", "SATA 2.5", "2.5 inch", "3.5 inch"}

NAMES = library.names("parts")
#: InfiniBand cards whose bus limits them, and what they are known to reach on it [B/s]: QDR on
#: PCIe 2.0 x8 about 3.2 GB/s; FDR on PCIe 3.0 x8 52 to 53 Gb/s (vendor's answer, mellanox38.rssing.com 788)
BUS_LIMITED = {"nic/mellanox-connectx-qdr-ib": 3.2e9, "nic/mellanox-cx3-fdr-ib": 52.5e9 / 8}


def part(name):
    raw = library.read("parts", name)
    return find_kind(str(raw["kind"])).build(name)


def quantities(component):
    for field in type(component).model_fields:
        value = getattr(component, field)
        if isinstance(value, Quantity):
            yield field, value


def test_the_library_is_there():
    kinds = {name.split("/")[0] for name in NAMES}
    assert {"ssd", "hdd", "hba", "nic", "cpu", "memory", "slot", "stack", "firewall"} <= kinds
    short = [name.rsplit("/", 1)[-1] for name in NAMES]
    assert len(short) == len(set(short)), "a part is found by its short name only while that is unique"


@of_each(NAMES)
def test_part_builds_and_every_number_has_a_source(name):
    raw = library.read("parts", name)
    assert str(raw["kind"]) == name.split("/")[0]
    assert len(str(raw["source"])) > 12
    component = part(name)
    assert component.kind == raw["kind"]
    for field, quantity in quantities(component):
        assert len(quantity.source) > 8, f"{field}: write its source, {quantity.source!r} is none"
        assert np.isfinite(quantity.value), field
        if quantity.source.startswith("assumed"):
            assert quantity.spread > 0, f"{field} is assumed, so it needs a spread"


def written(raw):
    """Numbers written out with a spread or source of their own, also those of components inside (a firewall)."""
    for key, value in raw.items():
        if isinstance(value, yamlio.Mapping):
            if "value" in value or (
                {"spread", "source"} & set(value) and not {"kind", "part"} & set(value) and key != "facts"
            ):
                yield key, value
            else:
                yield from written(value)


@of_each(NAMES)
def test_written_sources_are_complete(name):
    # a number written out may not hide behind an empty text
    for key, value in written(library.read("parts", name)):
        assert "value" in value, key
        assert len(str(value.get("source", "inherited"))) > 8, f"{key}: write its source"


@of_each(NAMES)
def test_a_price_has_its_date_and_source_and_is_marked_as_a_class_where_nobody_prints_it(name):
    price = part(name).price
    if price is not None:
        assert 1 < price.money.amount < 1e6
        assert price.date
        assert len(price.source) > 12
        assert price.source != part(name).source, "what a file's figures come from is no price list"
        least = 0.35 if price.source.startswith("assumed") else 0.1
        assert price.spread.value >= least, "shops differ, and prices fall by the year"


@of_each(n for n in NAMES if n.startswith("ssd/"))
def test_ssd_figures_fit_together(name):
    ssd = part(name)
    link = float(pcie.drive_link(ssd.read.value)) if ssd.link is None else ssd.link.value
    assert ssd.read.value <= link, "its own link would hold it below what it is sold for"
    assert ssd.write.value <= ssd.read.value
    if ssd.burst_write is not None:
        assert ssd.write.value <= ssd.burst_write.value <= link


@of_each(n for n in NAMES if n.startswith("nic/"))
def test_one_port_fits_its_own_bus(name):
    nic = part(name)
    generation = nic.card_generation
    bus = pcie.write_rate(generation, nic.card_lanes, 256)
    if name in BUS_LIMITED:
        assert bus == pytest.approx(BUS_LIMITED[name], rel=0.05)
        assert nic.rate.value > bus
    else:
        assert nic.rate.value <= bus


@of_each(n for n in NAMES if n.startswith("hdd/"))
def test_disks_turn_and_seek_like_disks(name):
    disk = part(name)
    assert 85 <= disk.spindle.value <= 170
    assert disk.track_seek.value < disk.seek.value < 0.02
    assert disk.rate.value < disk.link.value


def test_nasa_stack_gives_back_the_shares_it_was_fitted_to():
    # reference figures: share x 3.2 GHz / rate, nuttcp in 64-KiB calls
    stack = part("stack/linux-2010-lro")
    receive = stack.receive_byte.value + stack.receive_packet.value / stack.aggregate.value
    send = stack.send_byte.value + stack.send_packet.value / stack.aggregate.value
    call = stack.file_call.value / 65536
    assert receive == pytest.approx(0.49 * 3.2e9 / (17324.4416e6 / 8), rel=0.005)
    both = [0.34 * 3.2e9 / (19805.8537e6 / 8), 0.39 * 3.2e9 / (19808.7300e6 / 8)]
    assert send == pytest.approx(sum(both) / 2, rel=0.005)
    read = send + stack.file_read_byte.value + call
    assert read == pytest.approx(0.98 * 3.2e9 / (17324.4416e6 / 8), rel=0.005)
    write = receive + stack.file_write_byte.value + call
    assert write == pytest.approx(0.99 * 3.2e9 / (10129.7218e6 / 8), rel=0.005)
    zero = send + stack.zero_byte.value
    assert zero == pytest.approx(0.27 * 3.2e9 / (10129.7218e6 / 8), rel=0.01)


def test_modern_stack_receives_what_the_study_found():
    # Cai et al., SIGCOMM 2021: about 42 Gb/s on one 3.4 GHz core that also takes its interrupts
    stack = part("stack/linux-modern")
    cost = stack.receive_byte.value + stack.receive_packet.value / stack.aggregate.value + stack.interrupt_byte.value
    assert 3.4e9 / cost * 8 == pytest.approx(42e9, rel=0.05)


def test_venadi_memory_has_the_bandwidth_of_its_modules():
    # PC4-19200: 19.2 GB/s a module's channel
    memory = part("memory/ddr4-2400-4ch-128g")
    assert memory.channels * memory.rate.value * 8 == pytest.approx(4 * 19.2e9)


def test_genoa_memory_has_the_published_bandwidth():
    memory = part("memory/ddr5-4800-12ch-384g")
    assert memory.channels * memory.rate.value * 8 == pytest.approx(460.8e9)


def test_a_segment_takes_a_firewall_by_name():
    segment = Segment.build({"bandwidth": "10 Gb/s", "firewall": "campus-stateful-10g", "policer": "cloud-10g"})
    assert segment.firewall.engine.value == pytest.approx(2.5e8)
    assert segment.policer is not None
    inline = Segment.build({"bandwidth": "1 Gb/s", "firewall": {"engine": "800 Mb/s"}})
    assert inline.firewall.engine.value == pytest.approx(1e8)


def test_a_part_is_found_by_kind_and_name_and_by_name_alone():
    assert base.Component.build("ssd/intel-535-480").read == base.Component.build("intel-535-480").read


SHELVES = GIVEN["SHELVES"]
#: part of something else: a chipset, a DPU, a system whose board has the price
IN_SOMETHING = {
    "hba/sata-c612",
    "nic/bluefield-3-2x200g",
    "chassis/dell-r7725xd-bays",
    "chassis/supermicro-2124us-tnrp-bays",
}


@pytest.mark.parametrize("kind", SHELVES)
def test_the_shelves_are_full(kind):
    assert sum(n.startswith(f"{kind}/") for n in NAMES) >= SHELVES[kind]


def test_drives_reach_from_4_to_32_tb_and_from_consumers_to_122_tb_of_flash():
    drives = {n: part(n) for n in NAMES if n.startswith(("ssd/", "hdd/"))}
    assert len(drives) >= 60
    # a drive that lacks its size is named by what it lacks, below
    sizes = {n: d.facts.capacity.value for n, d in drives.items() if "facts.capacity" not in unsaid(n)}
    assert min(s for n, s in sizes.items() if n.startswith("hdd/") and s > 1e12) <= 4e12
    assert max(s for n, s in sizes.items() if n.startswith("hdd/")) >= 32e12
    assert max(s for n, s in sizes.items() if n.startswith("ssd/")) >= 122e12
    assert sum("smr" in n for n in drives) >= 4
    links = {n: part(n).read.value for n in drives if n.startswith("ssd/")}
    for low, high in ((0, 0.6e9), (1e9, 3.95e9), (4.5e9, 7.9e9), (9e9, 15.8e9)):  # SATA, PCIe 3.0 to 5.0
        assert sum(low < rate <= high for rate in links.values()) >= 4


BY_NAME = GIVEN["BY_NAME"]


@of_each(n for n in NAMES if n.split("/")[0] in SHELVES)
def test_what_is_bought_has_year_power_and_price(name):
    if part(name).facts is None and name.partition("/")[2].startswith(BY_NAME):  # neither offered nor drawn
        assert part(name).price is None
        return
    assert not unsaid(name), f"models/parts/{name}.yaml: write {', '.join(unsaid(name))}"
    assert (part(name).price is None) == (name in IN_SOMETHING), f"{name}: has a price, and is part of something else"


def unsaid(name):
    """Keys that a planner needs of what is bought, and a part does not have."""
    made = part(name)
    keys = ["year", "power_busy"]
    if name.startswith(("ssd/", "hdd/")):
        keys += ["capacity", "endurance", *([] if "usb" in name else ["fits"])]
    missing = [f"facts.{key}" for key in keys if made.facts is None or getattr(made.facts, key) in (None, "")]
    if "fits" in keys and made.facts is not None and not {*made.facts.places} <= FORMS:
        missing.append(f"facts.fits as {' or '.join(sorted(FORMS))} (a new form: in FORMS of tests/test_parts.py)")
    return [*missing, *(["price"] if made.price is None and name not in IN_SOMETHING else [])]


def test_a_part_that_says_little_is_named_with_its_keys(monkeypatch):
    bare = find_kind("ssd").build({"read": "3 GB/s", "write": "2 GB/s"})
    monkeypatch.setitem(globals(), "part", lambda _: bare)
    assert unsaid("ssd/bare") == [
        "facts.year", "facts.power_busy", "facts.capacity", "facts.endurance", "facts.fits", "price",
    ]  # fmt: skip


@pytest.mark.parametrize("folder", ["parts", "hosts", "catalog"])
def test_nothing_is_from_memory(folder):
    for file in sorted((library.root("models") / folder).rglob("*.yaml")):
        text = file.read_text(encoding="utf-8").lower()
        assert "from memory" not in text, file
        assert "(m)" not in text, file


def test_what_is_assumed_of_power_and_price_says_so_with_a_wide_spread():
    for name in NAMES:
        facts = part(name).facts
        for quantity in (facts.power_idle, facts.power_busy, facts.endurance) if facts else ():
            if quantity is not None and quantity.source.startswith("assumed"):
                assert quantity.spread >= 0.15, name


def test_the_price_list_and_the_parts_mean_the_same_size_of_a_drive():
    for offer in catalog.read().family_offers("device"):
        assert part(offer.part).facts.capacity.value == offer.size_B, offer.part


def test_the_price_list_and_the_parts_mean_the_same_price():
    for offer in catalog.read().offers:
        if offer.family in ("host", "dimm", "shelf"):  # of which the library has no part
            continue
        assert part(offer.part).price.money == offer.price, offer.part
