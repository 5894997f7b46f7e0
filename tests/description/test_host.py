"""A host: how its parts are wired, and what an access charges on its way to memory."""

from typing import Any

import pytest

import dtnsim
from dtnsim.components.access import Thread
from dtnsim.components.memory import DMA
from dtnsim.description.host import Host, build_host
from dtnsim.ground import library
from dtnsim.ground.errors import SpecError
from dtnsim.ground.ledger import Ledger, Row
from dtnsim.ground.quantity import Draw
from dtnsim.ground.term import term
from tests.each import rows
from tests.lab import FREE, Sheet, access, charged, machine, volume

FAST = {"kind": "ssd", "read": "1 TB/s", "write": "1 TB/s", "link": "1 TB/s"}
CARD = {"kind": "hba", "engine": "1 TB/s", "lane": "1 TB/s", "iops": "1000M IOPS"}


def built(**changes: Any) -> Host:
    made = build_host("h", machine(**changes))
    made.check_wiring()
    return made


def used(made: Host, operation: str = "read", mount: str = "/d", **use: Any) -> Sheet:
    """What an access to a volume charges below the cache."""
    return charged(lambda row: made.volumes[mount].filesystem.medium(row, access(operation, **use), made, mount))


def with_slots(*names: str, **behind: str) -> dict[str, Any]:
    slots = {
        n: {"kind": "slot", "generation": 3, "lanes": 8, **({"behind": behind[n]} if n in behind else {})}
        for n in names
    }
    return {
        "slots": slots,
        "hbas": {f"h-{n}": {**CARD, "slot": n} for n in names},
        "volumes": {"/d": volume(FAST, via=[f"h-{n}" for n in names])},
    }


def test_several_adapters_carry_an_equal_part_each() -> None:
    found = used(built(**with_slots("a", "b", "c", "d")))
    assert [found.demand(f"h-{n}.lanes") for n in "abcd"] == [pytest.approx(0.25)] * 4
    one, four = used(built(**with_slots("a"))).bound, found.bound
    assert four == pytest.approx(4 * one, rel=1e-9)


def test_two_slots_behind_one_uplink_are_no_more_than_the_uplink() -> None:
    apart, shared = built(**with_slots("a", "b")), built(**with_slots("a", "b", "up", a="up", b="up"))
    shared.volumes["/d"].via.remove("h-up")
    one = used(built(**with_slots("a"))).bound
    assert used(apart).bound == pytest.approx(2 * one)
    assert used(shared).bound == pytest.approx(one)
    assert used(shared).demand("slot-up.in") == pytest.approx(2 * used(shared).demand("slot-a.in"))


def test_chains_of_switches_are_followed_to_the_processor() -> None:
    made = built(**with_slots("card", "switch", "chipset", card="switch", switch="chipset"))
    assert made.chain("card") == ["card", "switch", "chipset"]
    assert made.chain(None) == []


def test_reads_and_writes_cross_slots_in_opposite_directions() -> None:
    made = built(**with_slots("a"))
    assert used(made, "read").demand("slot-a.in") > 1 > used(made, "read").demand("slot-a.out") == 0.0
    assert used(made, "write").demand("slot-a.out") > 1 > used(made, "write").demand("slot-a.in") > 0


def test_a_drive_may_sit_in_a_slot_of_its_own() -> None:
    """An NVMe drive: its slot's lanes bind, no adapter is crossed."""
    made = built(slots={"m2": {"kind": "slot", "generation": 3, "lanes": 4}}, volumes={"/d": volume(FAST, via=["m2"])})
    found = used(made)
    assert found.bound == pytest.approx(3.52e9, rel=0.005)  # 3478 MB/s were read from a drive on 3.0 x4
    assert not found.has("m2.lanes")


def test_parity_made_by_the_host_crosses_adapter_slot_and_memory() -> None:
    """raidz1 of eight at 1 MiB: 293 sectors for 256."""
    array = {"kind": "raidz", "parity": 1, "disks": 8, "of": FAST, "record": "1 MiB"}
    given = with_slots("a")
    given["volumes"]["/d"]["array"] = array
    found, plain = used(built(**given), "write"), used(built(**with_slots("a")), "write")
    for station in ("h-a.lanes", "h-a.engine", "slot-a.out", "memory"):
        assert found.demand(station) == pytest.approx(293 / 256 * plain.demand(station))


def test_nasa_c_system() -> None:
    """NASA GSFC: four RocketRAID 4320, each RAID5 of eight, striped by md: what each controller and the bus see."""
    made = build_host("c", _nasa())
    found = used(made, mount="/raid")
    quarters = [found.demand(f"hpt{n}.lanes") for n in (1, 2, 3, 4)]
    assert quarters == [pytest.approx(0.25)] * 4
    assert used(made, "write", mount="/raid").demand("memory") == pytest.approx(1.0)  # no parity on the bus
    array = made.volumes["/raid"].array
    assert (array.drives, array.data_disks) == (32, 28)


def _nasa() -> dict[str, Any]:
    return library.read("hosts", "nasa-c-system")


def test_interrupts_of_an_adapter_go_where_they_are_told() -> None:
    stack = {**FREE, "storage_interrupt_byte": "0.1 cycles/B"}
    given = with_slots("a", "b")
    everywhere = used(built(stack=stack, **given))
    assert everywhere.demand("cpu") == pytest.approx(0.1)
    placed = used(built(stack=stack, placement={"storage_interrupts": {"h-a": [3], "all": [5]}}, **given))
    assert placed.demand("cpu.core3") == pytest.approx(0.05)
    assert placed.demand("cpu.core5") == pytest.approx(0.05)


@pytest.mark.parametrize(("path", "mount"), rows("description/spoken", "mounts"))
def test_a_path_lies_on_the_longest_mount(path: str, mount: str | None) -> None:
    made = built(volumes={m: volume(FAST) for m in ("/", "/data", "/data/fast")})
    assert made.mount_of(path) == mount


def test_nic_is_short_for_one_nic() -> None:
    assert list(built().nics) == ["nic"]
    with pytest.raises(SpecError, match="either 'nic' or 'nics'"):
        build_host("h", machine(nics={}))


@pytest.mark.parametrize(("given", "says"), rows("description/refused", "wires"))
def test_wires_that_lead_nowhere(given: dict[str, Any], says: str) -> None:
    with pytest.raises(SpecError, match=says):
        built(**given)


def test_memory_load_slows_the_cores_of_its_own_host() -> None:
    made = built(stack={**FREE, "memory_stall": "0.3"})
    ledger = Ledger(Draw())
    assert made.slowdowns(ledger, ()) == ()  # nothing was charged: nothing slows
    row = Row(ledger, "t", [], 1.0, "h")
    made.core(row, Thread("app"), term(1.0), "work")
    made.memory.cross(row, DMA, "work")
    row.seen_from("other").charge("cpu.app", "core", capacity=1.0, unit="cycles", what="x")
    cores = tuple(n for n, s in ledger.stations.items() if s.host == "h" and s.unit == "cycles")
    (slow,) = made.slowdowns(ledger, cores)
    assert slow.driver == "h.memory"
    assert set(slow.affected) == {"h.cpu.app[t]", "h.cpu"}
    assert slow.slope == pytest.approx(0.3)


def test_a_volume_needs_a_file_system() -> None:
    with pytest.raises(SpecError, match="filesystem"):
        build_host("h", machine(volumes={"/d": {"array": FAST}}))


PINNED = "hosts.west.placement={application: [0, 1], nic_interrupts: [0]}"


def test_threads_on_named_cores_share_them_however_many_they_are():
    """Eight senders on two cores, one of which serves the interrupts, cannot use the six others."""
    path = "examples/dtn-100g-xfs"
    free = dtnsim.predict(path, samples=0)
    bound = dtnsim.predict(path, overrides=[PINNED], samples=0)
    assert bound.bottleneck.station == "west.cpu.core0"
    assert bound.throughput_Bps.p50 < 0.5 * free.throughput_Bps.p50
    used = {s.station.name: s.utilization for s in bound.stations}
    assert used["west.cpu.core1"] < used["west.cpu.core0"] == pytest.approx(1.0, rel=0.02)
    one = dtnsim.predict(path, overrides=[PINNED, "transfer.tool.cc=1"], samples=0)
    assert one.throughput_Bps.p50 <= bound.throughput_Bps.p50 * 1.000001


@pytest.mark.parametrize("core", [-1, 99])
def test_many_threads_on_a_core_that_is_not_there_are_refused(core):
    placed = f"hosts.west.placement={{application: [{core}]}}"
    with pytest.raises(SpecError, match="is not a core of this host"):
        dtnsim.predict("examples/dtn-100g-xfs", overrides=[placed], samples=0)


FIO = "{name: fio, rw: write, bs: 3 MiB, direct: true, iodepth: 32, numjobs: 4, ioengine: libaio}"
MD = (
    "hosts.west.volumes./xfs.array.level=6", "transfer.from=west:/dev/zero", "transfer.to=west:/xfs",
    f"transfer.tool={FIO}",
)  # fmt: skip


def test_one_thread_of_md_computes_the_parity_of_what_is_written():
    """1.2 x 3.6 GHz over 2 cycles/B of full stripes, whatever the drives take; more threads or a controller lift it."""
    path = "examples/dtn-100g-xfs"
    one = dtnsim.predict(path, overrides=MD, samples=0)
    assert one.bottleneck.station == "west.xfs.raid5d"
    assert one.throughput_Bps.p50 == pytest.approx(1.2 * 3.6e9 / 2)
    three = dtnsim.predict(path, overrides=[*MD, "hosts.west.volumes./xfs.array.parity_threads=3"], samples=0)
    assert three.throughput_Bps.p50 == pytest.approx(3 * one.throughput_Bps.p50)
    engine = dtnsim.predict(path, overrides=[*MD, "hosts.west.volumes./xfs.array.software=false"], samples=0)
    striped = dtnsim.predict(path, overrides=MD[1:], samples=0)
    assert not any(s.station.name.endswith("raid5d") for p in (engine, striped) for s in p.stations)
    assert engine.throughput_Bps.p50 > 3 * one.throughput_Bps.p50


def test_parity_of_an_atom_is_what_its_measurement_says():
    """Nine drives of 180 MB/s on an Atom, large requests: 600 MB/s (Linux commit 765d704db1f5), within the spread."""
    work = dtnsim.description.spec.load("examples/dtn-100g-xfs", MD).hosts["west"].volumes["/xfs"].array.parity_work
    assert pytest.approx(2 * work.value, rel=work.spread) == 2.2e9 / 600e6
