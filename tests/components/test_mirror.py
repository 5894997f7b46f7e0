"""ZFS mirrors: every copy written, any copy read."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.ground.errors import SpecError
from tests.lab import KiB, MiB, access, device, served

DRIVE = {"kind": "ssd", "read": "100 MB/s", "write": "100 MB/s", "link": "100 GB/s"}


def rate(operation: str = "read", **array: object) -> float:
    return served(device(kind="mirror", of=DRIVE, **array), access(operation)).rate("d.ssds")


def test_one_stream_reads_all_copies_and_writes_each() -> None:
    """Two SSDs read 990 MB/s mirrored, one alone 506, and write 430 and 441 (gist.github.com/duongkai)."""
    assert rate(disks=2) == pytest.approx(200e6)
    assert rate("write", disks=2) == pytest.approx(100e6)


@settings(max_examples=15, deadline=None)
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


#: the heads' way over 2 MiB, 9.3 ms, is longer than a seek to the next track and most of half a turn
DISK = {"kind": "hdd", "rate": "225 MB/s", "position": "0", "capacity": "8 TB", "ncq": 1}


def read_of_disks(**array: object) -> float:
    made = device(kind="mirror", of=DISK, **array)
    return served(made, access(active=3.0, request_B=MiB)).rate("d.disks")


def test_disks_pass_over_what_the_other_copy_reads() -> None:
    """2 MiB at the platter's rate, then 0.23 ms of seek and half a turn: 1.35 disks' worth of a pair."""
    zone, switch = 2 * MiB / 225e6, 0.23e-3 + 0.5 / 120
    assert read_of_disks(disks=2) == pytest.approx(2 * 225e6 * zone / (zone + switch), rel=0.02)
    assert read_of_disks(disks=2, lost=1) == pytest.approx(225e6)  # a copy alone reads on
    writes = served(device(kind="mirror", of=DISK, disks=2), access("write", active=10.0, request_B=MiB))
    assert writes.rate("d.disks") == pytest.approx(225e6)


@settings(max_examples=10, deadline=None)
@given(st.integers(2, 4), st.integers(1, 12))
def test_more_copies_of_disks_never_read_slower(copies: int, groups: int) -> None:
    found = read_of_disks(disks=copies, groups=groups)
    assert groups * 225e6 < found < copies * groups * 225e6
    assert read_of_disks(disks=copies + 1, groups=groups) > found
