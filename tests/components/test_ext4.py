"""ext4 is a local file system as xfs is; its calls cost what the kernel's cost."""

from __future__ import annotations

import pytest

from dtnsim.components.base import find_kind
from dtnsim.components.ext4 import Ext4
from tests.lab import GiB, charged, journey, machine, problem, rate, volume, waiting

SSD = {"kind": "ssd", "read": "500 MB/s", "write": "400 MB/s", "link": "10 GB/s"}
#: done before the next file is there: no wait passes while it works
FAST = {**SSD, "write": "90 TB/s", "link": "90 TB/s"}


@pytest.mark.parametrize("flags", [{}, {"conv": "fdatasync"}, {"oflag": "dsync"}, {"oflag": "direct"}])
def test_what_the_page_cache_does_is_the_same_under_every_local_file_system(flags: dict[str, str]) -> None:
    rates = [
        rate(journey(machine(volumes={"/d": volume(SSD, kind)}), start="a:/dev/zero", to="a:/d",
                     tool={"name": "dd", "bs": "1 MiB", **flags}))
        for kind in ("ext4", "xfs")
    ]  # fmt: skip
    assert rates[0] == rates[1]


def test_small_files_cost_their_operations() -> None:
    """N files x (create + close) x time of an operation, for each byte 1/V of it."""
    host = machine(volumes={"/d": volume(FAST, {"kind": "ext4", "op_time": "50 us"})})
    path = journey(
        host,
        start="a:/dev/zero",
        to="a:/d",
        tool={"name": "dd", "bs": "1 MiB"},
        dataset={"files": 1000, "size": "1 GB"},
    )
    assert waiting(problem(path)) == pytest.approx(1000 * 2 * 50e-6 / 1e9, rel=1e-9)


def test_changes_cost_more_where_that_is_said() -> None:
    """create changes the directory, close does not: 80 + 50 us."""
    host = machine(volumes={"/d": volume(FAST, {"kind": "ext4", "op_time": "50 us", "change_time": "80 us"})})
    path = journey(
        host,
        start="a:/dev/zero",
        to="a:/d",
        tool={"name": "dd", "bs": "1 MiB"},
        dataset={"files": 1000, "size": "1 GB"},
    )
    assert waiting(problem(path)) == pytest.approx(1000 * 130e-6 / 1e9, rel=1e-9)


def test_dirty_pages_are_a_share_of_memory() -> None:
    """Linux: write-back from 10 %, throttled writers held around 17.5 % (half-way from 15 to 20 %)."""
    from dtnsim.description.host import build_host

    memory = {"kind": "memory", "channels": 4, "rate": "2400 MT/s", "size": "64 GiB"}
    host = build_host("h", machine(memory=memory, vm={}))
    found: list[float] = []
    charged(lambda row: found.extend(float(v) for v in Ext4.build({"kind": "ext4"}).cache_limits(row, host)))
    assert found == [pytest.approx(6.4 * GiB), pytest.approx(11.2 * GiB)]


def test_it_is_found_by_its_name() -> None:
    assert find_kind("ext4") is Ext4


def test_data_in_the_journal_are_written_twice() -> None:
    """Linux Documentation/filesystems/ext4, data=journal: half of the drive's rate."""
    tool = {"name": "dd", "bs": "1 MiB", "conv": "fdatasync"}
    rates = [
        rate(journey(machine(volumes={"/d": volume(SSD, {"kind": "ext4", "data": mode})}), start="a:/dev/zero",
                     to="a:/d", tool=tool, dataset={"files": 1, "size": "100 TB"}))
        for mode in ("ordered", "writeback", "journal")
    ]  # fmt: skip
    assert rates[0] == rates[1] == pytest.approx(400e6, rel=0.01)
    assert rates[2] == pytest.approx(200e6, rel=0.01)


def test_a_synchronous_write_waits_for_the_journal() -> None:
    """Log, then commit record: each a seek of 7.4 ms and half a turn, or flushes of flash; what is stated wins."""
    disk = {"kind": "hdd", "rate": "200 MB/s"}

    def each(array: dict[str, object], **given: str) -> float:
        host = machine(volumes={"/d": volume(array, {"kind": "ext4", "op_time": "0 s", **given})})
        tool = {"name": "dd", "bs": "4 KiB", "oflag": "dsync"}
        path = journey(host, start="a:/dev/zero", to="a:/d", tool=tool, dataset={"files": 1, "size": "4 MiB"})
        return waiting(problem(path)) * 4096

    assert each(disk) == pytest.approx(2 * (7.4e-3 + 0.5 / 120), rel=1e-6)
    assert each(disk, sync_latency="4 ms") == pytest.approx(4e-3)
    assert each({**SSD, "latency_write": "50 us", "flush": "2 ms"}) == pytest.approx(2 * 2.05e-3)
    assert each({**SSD, "flush": "2 ms", "power_loss_protection": True}) < 1e-3
