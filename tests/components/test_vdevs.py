"""Vdevs: mirrors, RAIDZ and dRAID."""

import math
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from tests.lab import KiB, MiB, access, answer, charged, device, journey, machine, served, volume

DRIVE = {"kind": "ssd", "read": "100 MB/s", "write": "100 MB/s", "link": "100 GB/s"}


def rate(operation: str = "read", **array: object) -> float:
    return served(device(kind="mirror", of=DRIVE, **array), access(operation)).rate("d.ssds")


@settings(max_examples=15)
@given(st.integers(2, 4), st.integers(1, 24))
def test_groups_add(copies: int, groups: int) -> None:
    assert rate(disks=copies, groups=groups) == pytest.approx(copies * groups * 100e6)
    assert rate("write", disks=copies, groups=groups) == pytest.approx(groups * 100e6)


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


@settings(max_examples=10)
@given(st.integers(2, 4), st.integers(1, 12))
def test_more_copies_of_disks_never_read_slower(copies: int, groups: int) -> None:
    found = read_of_disks(disks=copies, groups=groups)
    assert groups * 225e6 < found < copies * groups * 225e6
    assert read_of_disks(disks=copies + 1, groups=groups) > found


R = 1e8


def raidz(parity: int = 1, disks: int = 8, **more: object) -> Any:
    return device(kind="raidz", parity=parity, disks=disks, **{"of": DRIVE, "record": "1 MiB", **more})


def by_hand(record: float, disks: int, parity: int) -> float:
    """Sectors of 4 KiB with parity, one in every row of n - p, over those without (OpenZFS, vdev_raidz.c)."""
    data = math.ceil(record / 4096)
    rows = math.ceil(data / (disks - parity))
    return (data + parity * rows) / data


@given(st.integers(1, 3), st.integers(4, 20), st.sampled_from([4, 8, 16, 128, 1024]))
def test_parity_by_hand(parity: int, disks: int, record: int) -> None:
    array = raidz(parity, disks, record=f"{record} KiB")
    assert array.bus_factor(access("write")) == pytest.approx(by_hand(record * KiB, disks, parity), rel=1e-12)


def test_a_small_random_read_reads_the_whole_record() -> None:
    """The checksum is that of the record: 4 KiB cost 128 KiB."""
    array = raidz(record="128 KiB")
    small, whole = (served(array, access(random=True, block_B=b * KiB)).rate("d.ssds") for b in (4, 128))
    assert whole / small == pytest.approx(32, rel=1e-9)


def test_one_request_runs_on_the_data_disks_of_its_group() -> None:
    found: list[float] = []
    charged(lambda row: found.append(float(raidz(1, 8, groups=2).single_rate(row, access()))))
    assert found == [pytest.approx(7 * R)]
    array = raidz(2, 10, groups=3)
    assert (array.drives, array.data_disks) == (30, 24)


@pytest.mark.parametrize(
    ("drives", "files", "says"),
    [(3, 200_000, "the first bytes of each file ("), (12, 200_000, "each file, from the slowest of the 10 disks that"),
     (12, 8_000, "disk read with seeks to each file on 12 disks")],
)  # fmt: skip
def test_what_is_slower_on_more_disks_says_that_all_of_them_seek(drives: int, files: int, says: str) -> None:
    """A file of 40 kB is on one disk of three, or on ten of twelve: the last is there after most of a turn."""
    array = {"kind": "raidz", "parity": 2, "drives": drives, "of": {"kind": "hdd", "rate": "250 MB/s"}}
    host, dataset = machine(volumes={"/d": volume(array, "zfs")}), {"files": files, "size": "8 GB"}
    made = answer(journey(host, start="a:/d", tool={"name": "cp"}, to="a:memory", dataset=dataset)).bottleneck
    assert says in made.reason


def draid(**more: object):  # type: ignore[no-untyped-def]  # a device
    return device(kind="draid", **{"parity": 2, "data": 8, "disks": 24, "of": DRIVE, "record": "1 MiB", **more})


@settings(max_examples=15)
@given(st.integers(1, 12), st.integers(0, 4), st.integers(1, 3))
def test_it_is_never_faster_than_its_disks(data: int, spares: int, parity: int) -> None:
    made = draid(data=data, parity=parity, spares=spares)
    assert served(made, access(block_B=MiB)).rate("d.ssds") <= (24 - spares) * 100e6 * (1 + 1e-9)
    assert made.data_disks <= made.drives
