"""Buses of a host: cards without a slot, two in one slot, storage over Ethernet; adapters (hba), memory."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from dtnsim.components import memory
from dtnsim.components.hba import Hba
from dtnsim.components.memory import Crossing, Memory
from dtnsim.description.host import build_host
from dtnsim.ground.errors import SpecError
from tests.lab import FREE, KiB, MiB, Sheet, access, charged, journey, machine, problem, sheet, volume

SLOT = {"kind": "slot", "generation": 3, "lanes": 16}


def sent(**card: Any) -> Any:
    return problem(journey(machine(nic={"kind": "nic", "rate": "100 Gb/s", "mtu": "9000 B", **card})))


def test_a_card_without_a_slot_has_its_own_link_and_the_reader_learns_of_it() -> None:
    """ConnectX-4 on gen 3 x8: 58 Gb/s of a 100 Gb/s port (pcie-bench, Neugebauer et al., SIGCOMM 2018)."""
    made = sent(card_lanes=8, card_generation=3)
    assert sheet(made).rate("a.nic.pcie.out") * 8e-9 == pytest.approx(57, rel=0.1)
    assert any(
        "a: no slot is described for nic: taken to sit in a slot of its own, gen 3 x8" in w for w in made.warnings
    )


def test_a_link_that_is_wide_enough_is_not_worth_a_word() -> None:
    made = sent(card_lanes=16, card_generation=5)
    assert sheet(made).has("a.nic.pcie.out")
    assert not any(w.startswith(("a: no slot", "a and b: no slot")) for w in made.warnings)


def test_a_card_that_says_nothing_of_its_link_is_left_out_and_told() -> None:
    made = sent()
    assert not sheet(made).has("a.nic.pcie.out")
    assert any("a and b: no slot is described for nic: PCIe is left out" in w for w in made.warnings)
    slow = problem(journey(machine(nic={"kind": "nic", "rate": "1 Gb/s"})))
    assert not any(w.startswith(("a: no slot", "a and b: no slot")) for w in slow.warnings)


def test_a_slot_takes_one_card() -> None:
    cards = {n: {"kind": "nic", "rate": "10 Gb/s", "slot": "s"} for n in ("eth0", "eth1")}
    given = machine(slots={"s": SLOT}, nics=cards)
    del given["nic"]
    with pytest.raises(SpecError, match=r"nics.eth1: sits in slot 's', and so does nics.eth0"):
        build_host("h", given).check_wiring()
    given["slots"] = {n: {**SLOT, "behind": "up"} for n in ("s", "t")} | {"up": SLOT}
    given["nics"]["eth1"] = {**cards["eth1"], "slot": "t"}
    build_host("h", given).check_wiring()


def test_storage_behind_a_network_card_costs_the_kernels_tcp_on_ethernet_only() -> None:
    costs = {**FREE, "receive_byte": "0.5 cycles/B", "receive_packet": "3276.8 cycles", "aggregate": "32 KiB",
             "interrupt_byte": "0.2 cycles/B"}  # fmt: skip
    ssd = {"kind": "ssd", "read": "10 TB/s", "write": "10 TB/s", "link": "10 TB/s"}
    for protocol, cycles in (("ethernet", 0.5 + 0.1 + 0.2), ("infiniband", 0.0)):
        nics = {"st": {"kind": "nic", "rate": "100 Gb/s", "mtu": "9000 B", "protocol": protocol}}
        given = machine(nics=nics, stack=costs, volumes={"/d": volume(ssd, via=["st"])})
        del given["nic"]
        host = build_host("h", given)
        found = charged(lambda row, h=host: h.volumes["/d"].filesystem.medium(row, access("read"), h, "/d"))  # type: ignore[misc]
        assert (found.demand("cpu") if found.has("cpu") else 0.0) == pytest.approx(cycles)


def carried(use: dict[str, object] | None = None, **parameters: object) -> Sheet:
    card = Hba.build({"kind": "hba", **parameters})
    return charged(lambda row: card.carry(row, access(**(use or {})), "sas"))  # type: ignore[arg-type]  # by name


WIDE = [(4, "600 MB/s", 2.4e9), (8, "600 MB/s", 4.8e9), (16, "1200 MB/s", 19.2e9)]


@pytest.mark.parametrize(("lanes", "lane", "rate"), WIDE)
def test_lanes_add(lanes: int, lane: str, rate: float) -> None:
    """Oracle 6-Gb SAS HBA guide p. 70: a wide port of four lanes at 6 Gb/s carries 2400 MB/s."""
    assert carried(lanes=lanes, lane=lane).rate("sas.lanes") == pytest.approx(rate)


def test_a_raid_controller_takes_less_than_it_reads() -> None:
    """LSI, MegaRAID SAS 9260-8i product brief: 2,875 MB/s read and 1,850 MB/s written in sequence."""
    chip = {"engine": "2875 MB/s", "engine_write": "1850 MB/s", "iops": "10M IOPS", "request": "1 GB"}
    assert carried({}, **chip).rate("sas.engine") == pytest.approx(2.875e9, rel=1e-3)
    assert carried({"operation": "write"}, **chip).rate("sas.engine") == pytest.approx(1.85e9, rel=1e-3)


def test_two_sas2008_chips_of_a_review() -> None:
    """ServeTheHome, LSI 9202-16: one SAS2008 does 350k requests a second and about 2.5 GB/s, two 726k and above 5.

    R = min(R_core, s X): the knee at s = R / X = 7.1 KB.
    """
    assert carried({"random": True, "block_B": 512.0}, part="sas2008").rate("sas.engine") / 512 == pytest.approx(
        726e3 / 2, rel=0.05
    )
    assert carried({"random": True, "block_B": MiB}, part="sas2008").rate("sas.engine") == pytest.approx(
        2.5e9, rel=0.05
    )


def test_sequential_calls_are_merged_to_large_requests() -> None:
    """512-B calls of a sequential stream reach the card as requests of 128 KiB (block layer merging)."""
    found = carried({"block_B": 512.0}, request="128 KiB", iops="10k IOPS")
    assert found.rate("sas.engine") == pytest.approx(10e3 * 128 * KiB)


@given(st.integers(1, 64), st.floats(0.5, 64), st.booleans())
def test_more_of_anything_never_hurts(lanes: int, size: float, random: bool) -> None:
    use = {"random": random, "block_B": size * KiB}
    base = carried(use, lanes=lanes, engine="3 GB/s", iops="200k IOPS").bound
    for better in ({"engine": "6 GB/s"}, {"iops": "400k IOPS"}, {"lane": "2 GB/s"}):
        assert carried(use, **{"lanes": lanes, "engine": "3 GB/s", "iops": "200k IOPS", **better}).bound >= base


def test_parity_made_above_is_carried_too() -> None:
    card = Hba.build({"kind": "hba"})
    found = charged(lambda row: card.carry(row, access("write", block_B=MiB), "sas"), factor=8 / 7)
    assert found.demand("sas.lanes") == pytest.approx(8 / 7)
    assert found.demand("sas.engine") == pytest.approx(8 / 7)


@pytest.mark.parametrize(("buffered", "rate"), [(False, 4 * 600e6), (True, 4 * 1200e6)])
def test_a_jbod_hangs_on_its_uplink(buffered: bool, rate: float) -> None:
    """Four 12-Gb/s lanes to an expander with 6-Gb/s drives: half of them is used unless the expander buffers."""
    found = carried(lanes=8, uplink_lanes=4, buffered=buffered, engine="20 GB/s")
    assert found.rate("sas.uplink") == pytest.approx(rate)
    assert not carried(lanes=8).has("sas.uplink")


#: a drive that never limits
FAST = {"kind": "ssd", "read": "10 TB/s", "write": "10 TB/s", "link": "10 TB/s"}


@given(st.integers(1, 64), st.integers(800, 6400), st.floats(0.5, 6))
def test_channels_times_transfers_times_eight_bytes(channels: int, rate: int, crossings: float) -> None:
    made = Memory.build({"channels": channels, "rate": f"{rate} MT/s", "size": "64 GiB", "efficiency": "0.75",
                         "kind": "memory"})  # fmt: skip
    found = charged(lambda row: made.cross(row, Crossing(dma=crossings), "copy"))
    assert found.rate("memory") == pytest.approx(channels * rate * 1e6 * 8 * 0.75 / crossings, rel=1e-12)


def test_default_efficiency_is_that_of_stream() -> None:
    """TI SPRAD45A: STREAM reaches 74 to 78 % of the wire rate."""
    made = Memory.build({"kind": "memory", "channels": 4, "rate": "2400 MT/s", "size": "128 GiB"})
    found = charged(lambda row: made.cross(row, memory.DMA, "read")).capacity("memory")
    assert 0.74 <= found / 76.8e9 <= 0.78


@pytest.mark.parametrize(
    ("end", "tool", "sending", "receiving"),
    [("d", "gridftp", 5, 5), ("memory", "iperf3", 3, 2), ("memory", {"name": "iperf3", "Z": True}, 1, 2)],
    ids=["disk to disk", "fetched, written, read by the card", "zero copy reads once"],
)
def test_crossings_of_memory_at_both_ends(end: str, tool: Any, sending: float, receiving: float) -> None:
    host, at = machine(volumes={"/d": volume(FAST)}), {"d": "/d"}.get(end, end)
    found = sheet(problem(journey(host, host, start=f"a:{at}", to=f"b:{at}", tool=tool)))
    assert (found.demand("a.memory"), found.demand("b.memory")) == pytest.approx((sending, receiving))


def test_mirrors_made_by_the_host_are_read_twice_from_memory() -> None:
    pair = {"kind": "raid", "level": 1, "disks": 2, "of": FAST}
    one, two = (
        sheet(problem(journey(machine(volumes={"/d": volume(array)}), start="a:/dev/zero", to="a:/d",
                              tool={"name": "dd", "bs": "1 MiB", "oflag": "direct"})))
        for array in (FAST, pair)
    )  # fmt: skip
    assert two.demand("a.memory") - one.demand("a.memory") == pytest.approx(1.0)
