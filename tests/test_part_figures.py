"""The parts' own figures fit together, and what a drive is sold for comes out of a prediction of that benchmark."""

from dataclasses import dataclass
from typing import Any

import pytest

from dtnsim.components.base import Component, find_kind
from dtnsim.components.cores import Cpu
from dtnsim.components.hdd import Hdd
from dtnsim.components.nic import Hba, Nic
from dtnsim.components.ssd import Ssd
from dtnsim.ground import library
from dtnsim.physics import pcie
from dtnsim.steady.prediction import predict
from tests.each import of_each, rows
from tests.lab import machine, volume
from tests.strategies import load

PARTS: dict[str, Component] = {
    name: find_kind(str(library.read("parts", name)["kind"])).build(name) for name in library.names("parts")
}
SSDS = {n: p for n, p in PARTS.items() if isinstance(p, Ssd)}
HDDS = {n: p for n, p in PARTS.items() if isinstance(p, Hdd) and p.facts is not None}
DEEP = rows("tables", "part_figures")["DEEP"]
YOUNGEST = 2026


@dataclass(frozen=True)
class Headline:
    """What a data sheet promises of one load."""

    part: str
    rw: str
    rate_Bps: float
    transfer: dict[str, Any]

    @property
    def name(self) -> str:
        return f"{self.part.rpartition('/')[2]}-{self.rw}".replace(".", "-")


def headline(name: str, rw: str, rate: float, size_B: float, **array: Any) -> Headline:
    facts = PARTS[name].facts
    said = (facts.random if rw.startswith("rand") else facts.sequential) if facts is not None else None
    bs, depth, jobs = DEEP[rw] if said is None else (f"{said.bs.value:.0f} B", said.iodepth, said.numjobs)
    made = Headline(name, rw, rate, {})
    tool = {
        "name": "fio",
        "rw": rw,
        "bs": bs,
        "iodepth": depth,
        "numjobs": jobs,
        "direct": True,
        "ioengine": "io_uring",
    }
    made.transfer.update({"from": f"{made.name}:/d", "to": f"{made.name}:/d", "tool": tool, "array": array})
    made.transfer["dataset"] = {"files": 1, "size": f"{size_B:.0f} B"}
    return made


def headlines() -> list[Headline]:
    """Of every drive; writes short enough for the fast cache, disks read at the outer edge (of two arms by one)."""
    made = []
    for name, drive in SSDS.items():
        stored = drive.burst.value / 2 if drive.burst is not None else 100e9
        promised = drive.burst_write or drive.write
        if not drive.compresses:  # sold for data that compress
            made.append(headline(name, "write", promised.value, stored, filled="0"))
            full = "1" if drive.power_loss_protection else "0"  # the steady state is rated on a full drive
            made.append(headline(name, "randwrite", drive.iops_write.value * 4096, stored, filled=full))
        made.append(headline(name, "read", drive.read.value, 100e9))
        made.append(headline(name, "randread", drive.iops_read.value * 4096, 100e9))
    made += [headline(n, "read", d.rate.value, 1e9, position="0") for n, d in HDDS.items()]
    return made


@pytest.fixture(scope="module")
def predicted() -> dict[str, float]:
    """All of them in one path, each on a host of its own that never limits."""
    hosts, transfers = {}, {}
    for one in headlines():
        transfer = dict(one.transfer)
        hosts[one.name] = machine(volumes={"/d": volume({"part": one.part, **transfer.pop("array")})})
        transfers[one.name] = transfer
    answer = predict(load({"name": "headlines", "hosts": hosts, "transfers": transfers}), samples=0)
    return {t.name: t.throughput_Bps.p50 for t in answer.transfers}


def test_data_sheets_come_out_of_predict(predicted: dict[str, float]) -> None:
    """Sequential and random rates within 5 %, at the block size and depth that the part names."""
    missed = {
        one.name: f"{predicted[one.name] / one.rate_Bps - 1:+.0%}"
        for one in headlines()
        if predicted[one.name] != pytest.approx(one.rate_Bps, rel=0.05)
    }
    assert missed == {}


def test_a_shallow_queue_does_not_reach_the_headline(predicted: dict[str, float]) -> None:
    """The test above would see a drive whose depth is too small for its rate: QD 1 at 80 us are 12,500 requests."""
    one = headline("ssd/samsung-pm9a3", "randread", 900e3 * 4096, 1e9)
    one.transfer["tool"] |= {"iodepth": 1, "numjobs": 1}
    one.transfer.pop("array")
    host = machine(volumes={"/d": volume({"part": one.part})})
    slow = predict(load({"name": "t", "hosts": {one.name: host}, "transfer": one.transfer}), samples=0)
    assert slow.throughput_Bps.p50 < 0.1 * predicted[one.name]


@of_each(SSDS)
def test_requests_fit_the_rate_and_the_link(name: str) -> None:
    drive = SSDS[name]
    link = float(pcie.drive_link(drive.read.value)) if drive.link is None else drive.link.value
    assert drive.iops_read.value * 4096 <= link, f"iops_read of 4 KiB are more than its link carries, {link:g} B/s"
    assert drive.latency_read.value > drive.latency_write.value / 3
    if drive.write_compressed is None:
        fastest = max(q.value for q in (drive.write, drive.burst_write) if q is not None)
        assert drive.iops_write.value * 4096 <= fastest * 1.05, f"iops_write of 4 KiB are more than {fastest:g} B/s"
    if drive.burst is not None and drive.facts is not None and drive.facts.capacity is not None:
        assert drive.burst.value < drive.facts.capacity.value


@of_each(n for n, p in PARTS.items() if p.facts is not None)
def test_facts_are_possible(name: str) -> None:
    facts = PARTS[name].facts
    assert facts.year is None or 2005 <= facts.year.value <= YOUNGEST
    if facts.power_idle is not None and facts.power_busy is not None:
        assert facts.power_idle.value <= facts.power_busy.value
    if facts.endurance is not None and facts.capacity is not None:
        drive_writes = facts.endurance.value / facts.capacity.value
        low = 10 if name in HDDS else 100  # disks: what they may read and write a year
        assert low <= drive_writes <= 200_000, "from QLC of a desktop to 100 drive writes a day over five years"


#: disks whose make nobody prints: how far their files lie apart is drawn over any size (calibration/uci/NOTES.md)
OF_ANY_SIZE = {"hdd/laptop-5400", "hdd/laptop-7200", "hdd/usb3-2.5-inch", "hdd/usb3-3.5-inch"}


@of_each(HDDS)
def test_the_heads_are_slower_than_the_link(name: str) -> None:
    disk = HDDS[name]
    printed = disk.facts and disk.facts.capacity
    same = printed is not None and disk.capacity.value == printed.value
    assert name in OF_ANY_SIZE or same, f"models/parts/{name}.yaml: write 'capacity' and 'facts.capacity', equal"
    assert disk.rate.value * disk.actuators <= disk.link.value * 1.01


@of_each(n for n, p in PARTS.items() if isinstance(p, Cpu))
def test_processors_are_possible(name: str) -> None:
    """Design power of 1 to 35 W a core (35: Nehalem), clocks of a single core that no server processor exceeds."""
    cpu = PARTS[name]
    assert isinstance(cpu, Cpu)
    assert 1e9 < cpu.clock.value < 5e9
    if cpu.facts is not None and cpu.facts.power_busy is not None:
        assert 1 <= cpu.facts.power_busy.value / cpu.cores <= 35


@of_each(n for n, p in PARTS.items() if isinstance(p, Hba))
def test_the_chip_of_an_adapter_fits_its_lanes_and_its_slot(name: str) -> None:
    hba = PARTS[name]
    assert isinstance(hba, Hba)
    carried, chip = hba.lanes * hba.lane.value, f"engine (the rate of its chip, {hba.engine.value:g} B/s)"
    assert hba.engine.value <= carried, f"{chip} is more than its {hba.lanes} lanes carry, {carried:g} B/s"
    raw = float(pcie.raw_rate(hba.card_generation, hba.card_lanes))
    assert hba.engine.value <= 1.6 * raw, f"{chip} exceeds its slot, {raw:g} B/s, by a whole generation"
    assert hba.iops.value * 512 <= hba.engine.value * 1.05, f"iops of 512 B are more than {chip}"


def test_connectx_5_has_both_names() -> None:
    """The plain card is of PCIe 3.0; what paths call connectx-5-100g is the Ex variant."""
    cards = {n: PARTS[f"nic/connectx-5-{n}"] for n in ("100g", "ex-100g", "en-100g")}
    generations = {n: card.card_generation for n, card in cards.items() if isinstance(card, Nic)}
    assert generations == {"100g": 4, "ex-100g": 4, "en-100g": 3}
