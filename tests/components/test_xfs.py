"""xfs costs what the kernel costs, and its synchronous calls what its log costs."""

from __future__ import annotations

from typing import Any

import pytest

from dtnsim.components.filesystem import LocalFilesystem
from dtnsim.components.xfs import Xfs
from dtnsim.description.host import build_host
from tests.lab import FREE, KiB, access, charged, journey, machine, problem, rate, sheet, volume

SSD = {"kind": "ssd", "read": "500 MB/s", "write": "400 MB/s", "link": "10 GB/s", "interference": "0"}


def made(**given: object) -> LocalFilesystem:
    return Xfs.build({"kind": "xfs", **given})


@pytest.mark.parametrize(("operation", "cost"), [("read", 0.5 + 4000 / (4 * KiB)), ("write", 0.8 + 4000 / (4 * KiB))])
def test_cycles_are_those_of_the_kernels_file_path(operation: str, cost: float) -> None:
    stack = {**FREE, "file_read_byte": "0.5 cycles/B", "file_write_byte": "0.8 cycles/B", "file_call": "4000 cycles"}
    host = build_host("h", machine(stack=stack))
    found: list[float] = []
    use = access(operation, block_B=4 * KiB)
    charged(lambda row: found.append(float(made().cycles(row, use, host.stack).value)))
    assert found == [pytest.approx(cost)]


def test_read_ahead_decides_how_long_a_disk_stays_with_a_stream() -> None:
    """A read-ahead of 1 MiB on one disk: B / (B/R + half a turn) where two streams take turns."""
    disk = {"kind": "hdd", "rate": "100 MB/s", "position": "0", "file_distance": "0", "link": "1 GB/s"}

    def two(read_ahead: str | None) -> float:
        filesystem: dict[str, Any] = {"kind": "xfs", **({"read_ahead": read_ahead} if read_ahead else {})}
        host = machine(volumes={"/d": volume(disk, filesystem)})
        data = {"files": 2, "size": "100 TB"}
        return sheet(problem(journey(host, start="a:/d", tool={"name": "gridftp", "cc": 2}, dataset=data))).rate(
            "d.disks"
        )

    visit = 1024 * KiB
    assert two("1 MiB") == pytest.approx(visit / (visit / 100e6 + 0.5 / 120), rel=1e-6)
    assert two("128 KiB") < two("1 MiB") < two("8 MiB") < 100e6


def test_a_volume_without_an_array_is_only_the_kernel() -> None:
    host = machine(volumes={"/d": volume()})
    found = sheet(problem(journey(host, start="a:/d", tool="gridftp")))
    assert not found.has("d.ssds")


def test_reading_and_writing_the_same_volume_shares_the_drive() -> None:
    """A copy within one drive: 1 / (1/500 + 1/400) MB/s."""
    host = machine(volumes={"/d": volume(SSD)})
    data = {"files": 1, "size": "1 PB"}
    found = rate(journey(host, start="a:/d", to="a:/d/copy", tool={"name": "dd", "bs": "1 MiB"}, dataset=data))
    assert found == pytest.approx(1e6 / (1 / 500 + 1 / 400), rel=1e-3)


def made_a_second(kernel: str, logbsize: str, writers: int = 64) -> float:
    """Files of 4 KiB that so many writers make in a second on one disk."""
    disk = {"kind": "hdd", "rate": "200 MB/s"}
    host = machine(
        stack={**FREE, "kernel": kernel}, volumes={"/d": volume(disk, {"kind": "xfs", "logbsize": logbsize})}
    )
    tool = {"name": "fio", "rw": "write", "bs": "4 KiB", "numjobs": writers}
    path = journey(host, start="a:/dev/zero", to="a:/d", tool=tool, dataset={"files": 100_000, "each": "4 KiB"})
    return rate(path) / (4 * KiB)


def test_the_log_limits_creates_on_old_kernels() -> None:
    """Eight buffers of 32 KiB in half a turn and their transfer, 4000 B a create without delayed logging."""
    expected = 8 * 32 * KiB / (0.5 / 120 + 32 * KiB / (200e6 * 0.75)) / 4000
    assert made_a_second("2.6.32", "32 KiB") == pytest.approx(expected, rel=1e-3)
    assert made_a_second("2.6.32", "256 KiB") > 2 * made_a_second("2.6.32", "32 KiB")
    assert made_a_second("5.15", "32 KiB") > 2 * made_a_second("2.6.32", "32 KiB")
    assert made_a_second("5.15", "256 KiB") == made_a_second("5.15", "32 KiB")  # the disk itself binds


def test_clients_of_an_nfs_server_fill_its_log_too() -> None:
    host = machine(volumes={"/m": volume(None, {"kind": "nfs", "threads": 256}, server="b:/d")})
    server = machine(volumes={"/d": volume(SSD, {"kind": "xfs", "log_record": "1 MB"})})
    data = {"files": 10_000, "each": "4 KiB"}
    path = journey(host, server, start="a:memory", to="a:/m", tool={"name": "tar"}, dataset=data)
    found = sheet(problem(path))
    assert found.demand("b.d.log") == pytest.approx(3e6 / 4096)  # tar creates, then sets mode and times
