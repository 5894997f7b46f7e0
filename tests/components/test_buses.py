"""Buses of a host (`dtnsim.components.buses`): cards without a slot, two cards in one slot, storage over Ethernet."""

from __future__ import annotations

from typing import Any

import pytest

from dtnsim.description.host import build_host
from dtnsim.ground.errors import SpecError
from tests.lab import FREE, access, charged, journey, machine, problem, sheet, volume

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
    assert not any("a: no slot" in w for w in made.warnings)


def test_a_card_that_says_nothing_of_its_link_is_left_out_and_told() -> None:
    made = sent()
    assert not sheet(made).has("a.nic.pcie.out")
    assert any("a: no slot is described for nic: PCIe is left out" in w for w in made.warnings)
    slow = problem(journey(machine(nic={"kind": "nic", "rate": "1 Gb/s"})))
    assert not any("a: no slot" in w for w in slow.warnings)


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
