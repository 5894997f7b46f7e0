"""RAID: what the members, and what the bus, carry for one byte; healthy, degraded, rebuilding, nested."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dtnsim.components.raid import Raid
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Draw
from dtnsim.ground.term import term
from dtnsim.physics import md
from tests.each import cases, rows
from tests.lab import KiB, MiB, access, charged, device, served

#: a drive that moves 100 bytes a second and never waits, behind a link that never limits
DRIVE = {"kind": "ssd", "read": "100 MB/s", "write": "100 MB/s", "link": "100 GB/s", "iops_read": "1000 IOPS",
         "iops_write": "1000 IOPS"}  # fmt: skip
#: a disk as fast, which passes parity by
DISK = {"kind": "hdd", "rate": "100 MB/s", "position": "0", "link": "100 GB/s"}
R = 1e8


def raid(level: int, disks: int, **more: object) -> Raid:
    return device(kind="raid", level=level, disks=disks, **{"of": DRIVE, **more})  # type: ignore[return-value]  # a RAID


def streaming(array: Raid, operation: str = "read", **use: object) -> float:
    """Sequential rate of an array [B/s]."""
    found = served(array, access(operation, **use))
    return found.rate("d.disks" if array.rotates else "d.ssds")


@pytest.mark.parametrize(
    ("level", "disks", "groups", "data"),
    [(0, 8, 1, 8), (5, 8, 1, 7), (6, 8, 1, 6), (50, 8, 4, 28), (60, 8, 2, 12), (10, 8, 1, 4), (1, 2, 1, 1)],
)
def test_full_stripes_move_at_the_rate_of_the_data_disks(level: int, disks: int, groups: int, data: int) -> None:
    """g (n - p) R / copies (Chen et al., ACM Computing Surveys 26(2), 1994), written, and read by one stream."""
    array = raid(level, disks, groups=groups)
    assert (array.data_disks, array.drives) == (data, disks * groups)
    assert streaming(array, "write") == pytest.approx(data * R, rel=1e-12)
    assert streaming(raid(level, disks, groups=groups, of=DISK)) == pytest.approx(data * R, rel=1e-9)


@pytest.mark.parametrize(("level", "lost"), [(5, 1), (6, 1), (6, 2), (50, 1)])
def test_parity_groups_stream_as_before_with_disks_lost(level: int, lost: int) -> None:
    """Every survivor is read in full and the missing chunk computed: g (n - p) R still."""
    whole, degraded = raid(level, 8, groups=2, of=DISK), raid(level, 8, groups=2, lost=lost, of=DISK)
    for operation in ("read", "write"):
        assert streaming(degraded, operation) == pytest.approx(streaming(whole, operation), rel=1e-9)


def test_random_reads_of_a_degraded_raid5_have_half_the_disks() -> None:
    """The survivors' load doubles (Holland and Gibson, ASPLOS 1992): n X / 2 are left."""
    healthy = served(raid(5, 8), access(random=True, block_B=4 * KiB)).rate("d.requests")
    degraded = served(raid(5, 8, lost=1), access(random=True, block_B=4 * KiB)).rate("d.requests")
    assert degraded == pytest.approx(healthy / 2, rel=1e-12)


@pytest.mark.parametrize("streams", [1, 2, 4])
def test_mirrors_that_lost_a_disk_are_held_by_the_copy_that_is_left(streams: int) -> None:
    """A disk less takes a copy less: R is written; a stripe needs n / 2 chunks, one of which only one disk has."""
    for disks in (2, 3):
        assert streaming(raid(1, disks, lost=1), "write", streams=streams) == pytest.approx(R, rel=1e-12)
    for operation in ("read", "write"):
        assert streaming(raid(10, 8, lost=1), operation, streams=streams) == pytest.approx(4 * R, rel=1e-12)


BUS = [(5, 8, 0, 8 / 7), (5, 8, 1, 1.0), (6, 8, 0, 8 / 6), (6, 8, 1, 7 / 6), (10, 8, 0, 2.0), (1, 2, 0, 2.0),
       (1, 2, 1, 1.0), (0, 8, 0, 1.0)]  # fmt: skip


@pytest.mark.parametrize(("level", "disks", "lost", "factor"), BUS)
def test_what_the_host_computes_crosses_the_bus(level: int, disks: int, lost: int, factor: float) -> None:
    """n - l chunks leave the host for every n - p of data; nothing is sent to a disk that is not there."""
    array = raid(level, disks, lost=lost)
    assert float(array.bus_factor(access("write"))) == pytest.approx(factor, rel=1e-12)
    assert array.bus_factor(access("read")) == 1.0
    assert raid(level, disks, lost=lost, software=False).bus_factor(access("write")) == 1.0


#: a drive without positions
EVEN = {**DRIVE, "latency_read": "0 s", "latency_write": "0 s"}


def test_a_rebuild_takes_its_rate_from_every_disk() -> None:
    """25 MB/s of 100 leave 75: 8 x 75 for two streams; at most every other turn is the rebuild's."""
    rates = [streaming(raid(10, 8, rebuild=f"{rate} MB/s", of=EVEN), streams=2) for rate in (0, 1e-6, 10, 25, 50, 90)]
    assert rates == sorted(rates, reverse=True)
    assert rates[0] == pytest.approx(rates[1], rel=1e-6)
    assert rates[3] == pytest.approx(8 * 75e6, rel=1e-12)
    assert rates[-1] > 0.45 * rates[0]


@pytest.mark.parametrize(("software", "left"), [(True, (0.95, 0.99)), (False, (0.699, 0.701))])
def test_a_rebuild_at_its_default_rate(software: bool, left: tuple[float, float]) -> None:
    """md(4): 1000 KiB/s beside other traffic; Dell PERC and MegaRAID guides: 30 % of the drives."""
    disk = {"kind": "hdd", "rate": "180 MB/s", "link": "600 MB/s"}
    rates = []
    for runs in (False, True):
        array = raid(6, 8, of=disk, software=software, rebuilding=runs)
        rates.append(served(array, access("read")).rate("d.disks"))
    assert left[0] < rates[1] / rates[0] < left[1]


def test_mirrored_caches_hold_writes_and_not_reads() -> None:
    made: dict[str, object] = {"of": EVEN, "software": False, "mirror_rate": "1 GB/s"}
    for operation, bound in (("write", 1e9), ("read", 40e8)):
        found = served(raid(6, 40, mirrored=True, **made), access(operation))
        assert found.bound == pytest.approx(bound)
    assert served(raid(6, 40, **made), access("write")).bound == pytest.approx(38e8)
    with pytest.raises(SpecError, match="mirrored by hardware controllers"):
        raid(6, 8, mirrored=True)


def test_what_a_time_ends_moves_more_with_a_larger_cache_and_never_without_end() -> None:
    """100 s of a drive that takes 100 MB/s behind a cache of 1 GB: 110 MB/s; of 2 and 20 GB, 120 and 300 MB/s."""
    done = access("write", total_B=11e9, timed=True)
    for cache, rate in ((1e9, 110e6), (2e9, 120e6), (20e9, 300e6)):
        assert 100e6 / float(done.missed_part(term(cache, "B"), 1e9).value) == pytest.approx(rate)
    whole = access("write", total_B=11e9)  # a file of that size fits a cache of 20 GB
    assert float(whole.missed_part(term(20e9, "B"), 1e9).value) == 0.0
    missed = float(done.missed_part(term(1e9, "B"), 1e9).value)
    assert float(whole.missed_part(term(1e9, "B"), 1e9).value) == pytest.approx(missed)


def test_stripes_over_hardware_raid5_as_at_nasa() -> None:
    """Four controllers, each RAID5 over eight drives, striped by the host: 28 data disks of 32.

    NASA GSFC's 17.8-Gb/s slides: dd reads 68.72 GB in 25.88 s, 2.655 GB/s, 94.8 MB/s for each of 28. Behind
    the controllers nothing of the parity is seen: a byte read or written crosses the bus once.
    """
    inner = {"kind": "raid", "level": 5, "disks": 8, "of": {**DISK, "rate": "94.8 MB/s"}, "software": False}
    array = raid(0, 4, of=inner)
    assert array.data_disks == 28
    assert array.drives == 32
    assert streaming(array) == pytest.approx(2.655e9, rel=0.001)  # the slide prints four digits
    assert streaming(array, "write") == pytest.approx(28 * 94.8e6, rel=1e-12)
    assert array.bus_factor(access("write")) == 1.0
    # made by the host instead, parity crosses the bus
    soft = raid(0, 4, of={**inner, "software": True})
    assert float(soft.bus_factor(access("write"))) == pytest.approx(8 / 7)


def test_nothing_behind_a_controller_crosses_the_bus() -> None:
    array = raid(0, 4, software=False, of={"kind": "raid", "level": 5, "disks": 8, "of": DRIVE})
    assert array.bus_factor(access("write")) == 1.0


@settings(max_examples=15)
@given(st.sampled_from([0, 5, 6, 10]), st.integers(2, 10), st.sampled_from(["read", "write"]), st.booleans())
def test_more_disks_never_hurt(level: int, half: int, operation: str, random: bool) -> None:
    use = access(operation, random=random, block_B=4 * KiB if random else MiB, queue_depth=64)
    rates = [served(raid(level, 2 * d), use).bound for d in (half, half + 1, half + 2)]
    assert rates == sorted(rates)


@pytest.mark.parametrize(("given", "says"), rows("components/tables", "arrays_that_cannot_be"))
def test_arrays_that_cannot_be(given: dict[str, object], says: str) -> None:
    with pytest.raises(SpecError, match=says):
        device(**{"kind": "raid", "of": DRIVE, **given})


def test_a_request_waits_for_one_member() -> None:
    def latency(row: object) -> None:
        found.append(raid(0, 8).latency(row, access("write")))  # type: ignore[arg-type]  # the bench's row

    found: list[object] = []
    charged(latency, draw=Draw())
    assert found == [pytest.approx(36e-6 - 4096 / 560e6)]


def test_a_lone_write_to_a_mirror_waits_for_the_thread_that_marks_and_sends_it() -> None:
    """J. Derrick, linux-raid, 17 February 2023: 57,228 bits for 3.84 TB of RAID 10; 88 us from one write to the next.

    The drives take 10 to 20 us, and the program 10 of its own; each bit was clear.
    """
    array, found = raid(10, 4, of={**DRIVE, "latency_write": "22.3 us", "power_loss_protection": True}, bitmap=True), []
    for total in (1e18, 3.84e12):
        use = access("write", random=True, block_B=4 * KiB, finish="direct", total_B=total)
        charged(lambda row, use=use: found.append(float(np.mean(array.latency(row, use)))))
    assert found[0] == pytest.approx(78e-6, rel=0.1)
    few = 32e-6 + 50e-6 * float(md.bitmap_clear_share(32e-6, 50e-6, 57228, 1))
    assert found[1] == pytest.approx(few, rel=1e-3)
    deep = access("write", random=True, block_B=4 * KiB, finish="direct", queue_depth=64, total_B=1e9)
    charged(lambda row: found.append(float(np.mean(array.latency(row, deep)))))
    assert found[2] == pytest.approx(12e-6, rel=2e-3)  # others are held back together with it, and its bit is set


CONTROLLED = {"kind": "raid", "disks": 8, "software": False}


@cases("more, use, waited", rows("components/tables", "a_controller_answers_a_write_from_its_memory"))
def test_a_controller_answers_a_write_from_its_memory(more: dict[str, object], use: Any, waited: float) -> None:
    array, found = device(**CONTROLLED, level=6, of={"kind": "hdd", "rate": "200 MB/s"}, **more), []
    charged(lambda row: found.append(float(np.mean(array.latency(row, access("write", block_B=4 * KiB, **use))))))
    assert found == pytest.approx([waited])


@cases("more, use, waited", rows("components/tables", "what_is_read_in_sequence_is_answered_from_memory"))
def test_what_is_read_in_sequence_is_answered_from_memory(more: dict[str, object], use: Any, waited: float) -> None:
    array = device(**{**CONTROLLED, "level": 10, "of": DISK, **more})
    seen, found = access("read", block_B=16 * KiB, finish="direct", **use), []
    charged(lambda row: found.append(float(np.mean(array.latency(row, seen)))))
    assert found == pytest.approx([waited], rel=1e-9)
    assert array.answers_early(seen) is not seen.random


@pytest.mark.parametrize(("written", "level"), [("RAID 1+0", 10), ("raid6", 6), ("5+0", 50), ("RAID5", 5)])
def test_levels_as_people_write_them(written: str, level: int) -> None:
    assert device(kind="raid", level=written, disks=8, of=DRIVE).level == level


@pytest.mark.parametrize(("of", "year", "least", "most"), [("read", None, 2.8e9, 13e9), ("write", 2007, 1e8, 6.3e8)])
def test_all_bytes_pass_a_controller_that_nobody_names(of: str, year: int | None, least: float, most: float) -> None:
    """MegaRAID SAS 9260-8i product brief: 2,875 MB/s read; those of 2004 to 2007; also what stays in its memory."""
    array, draws = raid(5, 8, of=DISK, software=False, cache="1 GiB"), Draw(500, 1)
    use = access(of, loose=True, total_B=1e9, year=year)
    found = charged(lambda row: array.serve(row, use, "d"), draw=draws)
    drawn = np.asarray(found.stations["h.d.controller"].capacity)
    assert np.quantile(drawn, [0.08, 0.92]) == pytest.approx([least, most], rel=0.35)
    assert served(array, use).rate("d.controller") == 1e15
    for other, seen in ((array, use.but(loose=False)), (raid(5, 8, of=DISK), use)):
        assert "h.d.controller" not in charged(lambda row, o=other, s=seen: o.serve(row, s, "d"), draw=draws).stations
