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
