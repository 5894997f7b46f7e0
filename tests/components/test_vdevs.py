"""Vdevs: mirrors, RAIDZ and dRAID."""

import math
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from dtnsim.ground.errors import SpecError
from tests.lab import KiB, MiB, access, charged, device, served

DRIVE = {"kind": "ssd", "read": "100 MB/s", "write": "100 MB/s", "link": "100 GB/s"}


def rate(operation: str = "read", **array: object) -> float:
    return served(device(kind="mirror", of=DRIVE, **array), access(operation)).rate("d.ssds")


def test_one_stream_reads_all_copies_and_writes_each() -> None:
    """Two SSDs read 990 MB/s mirrored, one alone 506, and write 430 and 441 (gist.github.com/duongkai)."""
    assert rate(disks=2) == pytest.approx(200e6)
    assert rate("write", disks=2) == pytest.approx(100e6)


@settings(max_examples=15)
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


@settings(max_examples=10)
@given(st.integers(2, 4), st.integers(1, 12))
def test_more_copies_of_disks_never_read_slower(copies: int, groups: int) -> None:
    found = read_of_disks(disks=copies, groups=groups)
    assert groups * 225e6 < found < copies * groups * 225e6
    assert read_of_disks(disks=copies + 1, groups=groups) > found


#: a disk as fast, which passes parity by
TURNING = {"kind": "hdd", "rate": "100 MB/s", "position": "0", "link": "100 GB/s"}
R = 1e8


def raidz(parity: int = 1, disks: int = 8, **more: object) -> Any:
    return device(kind="raidz", parity=parity, disks=disks, **{"of": DRIVE, "record": "1 MiB", **more})


def by_hand(record: float, disks: int, parity: int) -> float:
    """Sectors of 4 KiB with parity, one in every row of n - p, over those without (OpenZFS, vdev_raidz.c)."""
    data = math.ceil(record / 4096)
    rows = math.ceil(data / (disks - parity))
    return (data + parity * rows) / data


def test_one_mebibyte_on_eight_disks() -> None:
    """256 sectors of data in rows of 7 make 37 rows: 293 sectors cross the bus for 256."""
    assert by_hand(MiB, 8, 1) == 293 / 256
    array = raidz(groups=2)
    assert array.bus_factor(access("write")) == pytest.approx(293 / 256, rel=1e-12)
    assert array.bus_factor(access("read")) == 1.0
    assert served(array, access("write")).rate("d.ssds") == pytest.approx(16 * R * 256 / 293, rel=1e-12)


@given(st.integers(1, 3), st.integers(4, 20), st.sampled_from([4, 8, 16, 128, 1024]))
def test_parity_by_hand(parity: int, disks: int, record: int) -> None:
    array = raidz(parity, disks, record=f"{record} KiB")
    assert array.bus_factor(access("write")) == pytest.approx(by_hand(record * KiB, disks, parity), rel=1e-12)


def test_one_sector_is_stored_as_a_mirror() -> None:
    """A block of one sector has one row: raidz1 writes it twice, raidz2 three times."""
    for parity in (1, 2, 3):
        assert raidz(parity, record="4 KiB").bus_factor(access("write")) == pytest.approx(1 + parity)


@pytest.mark.parametrize(("parity", "disks", "groups"), [(1, 8, 2), (2, 6, 1), (3, 11, 3)])
def test_streams_read_from_the_data_disks(parity: int, disks: int, groups: int) -> None:
    """The heads pass parity by: g (n - p) R (OpenZFS docs, RAIDZ: streaming grows with the data disks)."""
    found = served(raidz(parity, disks, groups=groups, of=TURNING), access("read"))
    assert found.rate("d.disks") == pytest.approx(groups * (disks - parity) * R, rel=5e-3)  # less the last row


def test_six_disks_of_an_openzfs_report() -> None:
    """OpenZFS issue 9375: raidz2 of six disks of 250 MB/s streams 987 MB/s; 4 x 250 less parity's rounding."""
    array = raidz(2, 6, of={**DRIVE, "write": "250 MB/s"})
    assert served(array, access("write")).rate("d.ssds") == pytest.approx(987e6, rel=0.02)


def test_a_random_read_takes_a_block_from_all_its_data_disks() -> None:
    """Each block read costs every data disk a seek: n / (n - p) blocks for one disk's worth of requests a group.

    OpenZFS docs, RAIDZ: the random-read IOPS of a group are about those of one disk.
    """
    disk = {"kind": "hdd", "rate": "100 MB/s", "position": "0", "link": "1 GB/s"}
    found = served(raidz(1, 5, of=disk, groups=2), access(random=True, block_B=MiB)).rate("d.disks") / MiB
    one = 1 / (7.4e-3 + 0.5 / 120 + MiB / 4 / 100e6)  # a quarter of the block from each
    assert found == pytest.approx(2 * 5 / 4 * one, rel=1e-9)


def test_a_small_random_read_reads_the_whole_record() -> None:
    """The checksum is that of the record: 4 KiB cost 128 KiB."""
    array = raidz(record="128 KiB")
    small, whole = (served(array, access(random=True, block_B=b * KiB)).rate("d.ssds") for b in (4, 128))
    assert whole / small == pytest.approx(32, rel=1e-9)


def test_a_degraded_group_streams_on() -> None:
    """Every survivor is read in full: n - p disks' worth."""
    for parity in (1, 2):
        read = served(raidz(parity, 8, lost=1, of=TURNING), access("read")).rate("d.disks")
        assert read == pytest.approx((8 - parity) * R, rel=5e-3)
        assert served(raidz(parity, 8, lost=1), access("read")).rate("d.ssds") == pytest.approx(7 * R)  # flash: all
    healthy, degraded = raidz(1, 8), raidz(1, 8, lost=1)
    writes = [served(array, access("write")).rate("d.ssds") for array in (healthy, degraded)]
    assert writes[1] == pytest.approx(writes[0])
    # an eighth of the sectors has nowhere to go
    assert degraded.bus_factor(access("write")) == pytest.approx(293 / 256 * 7 / 8)


def test_one_request_runs_on_the_data_disks_of_its_group() -> None:
    found: list[float] = []
    charged(lambda row: found.append(float(raidz(1, 8, groups=2).single_rate(row, access()))))
    assert found == [pytest.approx(7 * R)]
    array = raidz(2, 10, groups=3)
    assert (array.drives, array.data_disks) == (30, 24)


@pytest.mark.parametrize(
    ("given", "says"),
    [({"parity": 2, "disks": 2}, "more than 2 disks"), ({"parity": 1, "disks": 4, "lost": 2}, "survive"),
     ({"kind": "draid", "parity": 2, "data": 23, "disks": 24}, "do not fit")],
)  # fmt: skip
def test_arrays_that_cannot_be(given: dict[str, Any], says: str) -> None:
    with pytest.raises(SpecError, match=says):
        device(**{"kind": "raidz", "of": DRIVE, **given})


def draid(**more: object):  # type: ignore[no-untyped-def]  # a device
    return device(kind="draid", **{"parity": 2, "data": 8, "disks": 24, "of": DRIVE, "record": "1 MiB", **more})


def test_data_parity_and_spares_share_all_disks() -> None:
    """22 of 24 disks work, eight tenths of what they move is data."""
    turning = {"kind": "hdd", "rate": "100 MB/s", "position": "0", "link": "100 GB/s"}
    assert served(draid(spares=2, of=turning), access()).rate("d.disks") == pytest.approx(22 * 0.8 * 100e6)
    assert served(draid(spares=2), access()).rate("d.ssds") == pytest.approx(22 * 100e6)  # flash passes no parity by
    assert served(draid(spares=2), access("write")).rate("d.ssds") == pytest.approx(22 * 0.8 * 100e6)


def test_small_blocks_are_filled_up_to_a_stripe() -> None:
    """OpenZFS docs, dRAID Howto: 32 KiB is the least allocation with eight data disks and 4-KiB sectors."""
    whole, small = (draid().bus_factor(access("write", record_B=b * KiB)) for b in (32, 4))
    assert whole == pytest.approx(10 / 8)
    assert small == pytest.approx(10.0)


@settings(max_examples=15)
@given(st.integers(1, 12), st.integers(0, 4), st.integers(1, 3))
def test_it_is_never_faster_than_its_disks(data: int, spares: int, parity: int) -> None:
    made = draid(data=data, parity=parity, spares=spares)
    assert served(made, access(block_B=MiB)).rate("d.ssds") <= (24 - spares) * 100e6 * (1 + 1e-9)
    assert made.data_disks <= made.drives
