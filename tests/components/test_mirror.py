"""ZFS mirrors: every copy written, any copy read."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.ground.errors import SpecError
from tests.lab import KiB, access, device, served

DRIVE = {"kind": "ssd", "read": "100 MB/s", "write": "100 MB/s", "link": "100 GB/s"}


def rate(operation: str = "read", **array: object) -> float:
    return served(device(kind="mirror", of=DRIVE, **array), access(operation)).rate("d.ssds")


def test_one_stream_reads_all_copies_and_writes_each() -> None:
    """calomel.org, ZFS raid speeds: two 4-TB disks read 488 MB/s mirrored, one alone 204; writes are one disk's."""
    assert rate(disks=2) == pytest.approx(200e6)
    assert rate("write", disks=2) == pytest.approx(100e6)


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 4), st.integers(1, 24))
def test_groups_add(copies: int, groups: int) -> None:
    assert rate(disks=copies, groups=groups) == pytest.approx(copies * groups * 100e6)
    assert rate("write", disks=copies, groups=groups) == pytest.approx(groups * 100e6)


def test_a_lost_copy_is_neither_written_nor_read() -> None:
    assert rate(disks=2, groups=3, lost=1) == pytest.approx(300e6)
    assert rate("write", disks=2, groups=3, lost=1) == pytest.approx(300e6)
    made = device(kind="mirror", of=DRIVE, lost=1)
    assert made.bus_factor(access("write")) == 1.0
    with pytest.raises(SpecError, match="does not survive"):
        device(kind="mirror", of=DRIVE, lost=2)


def test_random_reads_use_all_disks() -> None:
    """Each request is served by one copy: the requests of twelve pairs add up to those of 24 disks."""
    disk = {"kind": "hdd", "rate": "200 MB/s", "position": "0", "ncq": 1}
    use = access(random=True, block_B=128 * KiB)
    one = served(device(**disk), use).rate("d.disks")
    assert served(device(kind="mirror", groups=12, of=disk), use).rate("d.disks") == pytest.approx(24 * one)
