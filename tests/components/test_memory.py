"""Memory: what the channels carry, and how often a byte crosses them on its way."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtnsim.components import memory
from dtnsim.components.memory import Crossing, Memory
from tests.lab import FREE, charged, journey, machine, problem, sheet, volume

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


@pytest.mark.parametrize(("tool", "sending", "receiving"), [({"name": "gridftp"}, 5, 5)])
def test_disk_to_disk_crosses_five_times_at_both_ends(tool: dict[str, str], sending: float, receiving: float) -> None:
    hosts = [machine(volumes={"/d": volume(FAST)}, stack=FREE) for _ in range(2)]
    found = sheet(problem(journey(*hosts, start="a:/d", to="b:/d", tool=tool)))
    assert found.demand("a.memory") == pytest.approx(sending)
    assert found.demand("b.memory") == pytest.approx(receiving)


def test_memory_to_memory_skips_the_disks() -> None:
    found = sheet(problem(journey()))
    assert found.demand("a.memory") == 3  # fetched, written, read by the card
    assert found.demand("b.memory") == 2


def test_zero_copy_reads_once() -> None:
    assert sheet(problem(journey(tool={"name": "iperf3", "Z": True}))).demand("a.memory") == 1


def test_mirrors_made_by_the_host_are_read_twice_from_memory() -> None:
    pair = {"kind": "raid", "level": 1, "disks": 2, "of": FAST}
    one, two = (
        sheet(problem(journey(machine(volumes={"/d": volume(array)}), start="a:/dev/zero", to="a:/d",
                              tool={"name": "dd", "bs": "1 MiB", "oflag": "direct"})))
        for array in (FAST, pair)
    )  # fmt: skip
    assert two.demand("a.memory") - one.demand("a.memory") == pytest.approx(1.0)
