"""Buses of a host: cards without a slot, two in one slot, storage over Ethernet; adapters (hba), memory."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from dtnsim.components import memory
from dtnsim.components.memory import Crossing, Memory
from dtnsim.components.nic import Hba
from dtnsim.description.host import build_host
from dtnsim.ground.errors import SpecError
from tests.each import cases, tables, worked_out
from tests.lab import FREE, KiB, MiB, Sheet, access, charged, expect, machine, volume

SLOT = {"kind": "slot", "generation": 3, "lanes": 16}


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


@cases("parameters, figures", tables("components/hosts")["adapters"])
def test_what_an_adapter_carries(parameters: dict[str, Any], figures: dict[str, Any]) -> None:
    use = worked_out(parameters.get("use", {}), {})
    expect(carried(use, **{key: value for key, value in parameters.items() if key != "use"}).figure, figures)


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


#: a drive that never limits
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
