"""The page cache in front of a medium, and requests that nobody reads ahead of, against closed forms."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dtnsim.physics import cache
from tests.lab import FREE, GiB, KiB, MiB, journey, machine, problem, rate, volume, waiting

#: what the kernel's copy costs here: 10 GHz / 5 cycles a byte makes 2 GB/s into the cache
COPY, CLOCK = 5.0, 10e9
MEMORY = CLOCK / COPY
DISK = 500e6
RATED = f"{100 + 3 + 4096 / 560} us"  #: 100 us of the drive, a program's turn and 4 KiB over SATA
SSD = {"kind": "ssd", "read": "500 MB/s", "write": "500 MB/s", "link": "10 GB/s", "latency_read": RATED,
       "interference": "0", "latency_write": RATED, "iops_read": "1M IOPS", "iops_write": "1M IOPS"}  # fmt: skip


def host(array: dict[str, Any] | None = None, filesystem: Any = "xfs", **more: Any) -> dict[str, Any]:
    return machine(
        stack={**FREE, "file_write_byte": f"{COPY} cycles/B", "file_read_byte": f"{COPY} cycles/B"},
        volumes={"/d": volume(array or SSD, filesystem)},
        vm={},
        **{"memory": {"kind": "memory", "channels": 64, "rate": "20000 MT/s", "size": "100 GiB"}, **more},
    )


def written(size: float, made: dict[str, Any] | None = None, **flags: str) -> float:
    """Seconds that dd takes from memory to the volume."""
    path = journey(made or host(), start="a:memory", to="a:/d", tool={"name": "dd", "bs": "1 MiB", **flags},
                   dataset={"files": 1, "size": f"{size} B"})  # fmt: skip
    # opening and creating the file are not what is asked for
    operations = problem(path).transfers[0]
    each = sum(float(np.ravel(d.per_byte)[0]) for p in operations.phases for d in p.delays if d.each == "file")
    return size / rate(path) - each * size


LIMITS = cache.dirty_limits(100 * GiB, *cache.DIRTY_RATIOS[0][1])


@pytest.mark.parametrize("size", [1e9, 15e9, 16.2e9, 20e9, 100e9, 1e13])
def test_plain_writes_run_ahead_of_the_disk_until_they_are_throttled(size: float) -> None:
    """Dirty up to the set point (17.5 % of memory), the disk draining from 10 % on: V/R_m + (V - F)(1/R_d - 1/R_m)."""
    assert float(cache.set_point(*LIMITS)) == pytest.approx(0.175 * 100 * GiB)
    free = 0.1 * 100 * GiB + 0.075 * 100 * GiB * MEMORY / (MEMORY - DISK)
    expected = size / MEMORY + max(size - free, 0) * (1 / DISK - 1 / MEMORY)
    assert written(size) == pytest.approx(expected, rel=1e-5)  # the system calls make R_m a little less


@pytest.mark.parametrize(
    ("kernel", "begins", "held"), [("2.6.18", 0.1, 0.4), ("2.6.23", 0.05, 0.1), ("2.6.29", 0.05, 0.0875)]
)
def test_kernels_of_other_years_let_more_or_less_gather(kernel: str, begins: float, held: float) -> None:
    """RHEL 5 (2.6.18) throttles at 40 % of memory; 10 % from 2.6.22 on, of which one writer has 7/8 from 2.6.24 on."""
    old = host()
    old["stack"] = {**old["stack"], "kernel": kernel}
    memory, size = 100 * GiB, 200e9
    free = begins * memory + (held - begins) * memory * MEMORY / (MEMORY - DISK)
    assert written(size, old) == pytest.approx(size / MEMORY + (size - free) * (1 / DISK - 1 / MEMORY), rel=1e-4)


@pytest.mark.parametrize("size", [1e9, 12e9, 100e9])
def test_fdatasync_waits_for_the_disk_that_started_late(size: float) -> None:
    """Write-back starts at 10 % of memory: min(V, bg)/R_mem + V/R_disk where the disk is the slower."""
    late = min(size, float(LIMITS[0])) / MEMORY + size / DISK
    assert written(size, conv="fdatasync") == pytest.approx(late, rel=1e-6)


def test_pages_get_old_before_the_threshold() -> None:
    """A writer too slow to fill 10 % of memory in 30 s starts write-back by age (vm.dirty_expire_centisecs)."""
    slow = host()
    slow["stack"] = {**FREE, "file_write_byte": "100 cycles/B"}  # 100 MB/s into the cache
    size = 100e9
    expected = max(size / 100e6, 30 + size / DISK)
    assert written(size, slow, conv="fdatasync") == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("block", ["64 KiB", "1 MiB", "1 GiB"])
def test_dsync_copies_writes_and_flushes_in_turn(block: str) -> None:
    """1/R = 1/R_mem + 1/R_disk + t_sync / s (open(2), O_DSYNC), at every block size."""
    sync = 4e-3
    made = host(filesystem={"kind": "xfs", "sync_latency": "4 ms"})
    bytes_ = {"64 KiB": 64 * KiB, "1 MiB": MiB, "1 GiB": GiB}[block]
    found = 100e9 / written(100e9, made, bs=block, oflag="dsync")
    assert found == pytest.approx(1 / (1 / MEMORY + 1 / DISK + sync / bytes_), rel=1e-6)


def test_direct_writes_wait_for_each_request_and_cost_no_copy() -> None:
    """One block in flight: t = L + s / R."""
    found = 10e9 / written(10e9, oflag="direct")
    assert found == pytest.approx(MiB / (100e-6 + MiB / DISK), rel=1e-6)


@settings(max_examples=8)
@given(st.sampled_from([{}, {"conv": "fdatasync"}, {"oflag": "dsync"}, {"oflag": "direct"}]), st.floats(8, 12.5))
def test_more_bytes_take_longer(flags: dict[str, str], exponent: float) -> None:
    times = [written(10**exponent * f, **flags) for f in (1.0, 1.2, 3.0)]
    assert times == sorted(times)


def test_waiting_for_the_medium_never_pays() -> None:
    times = [written(50e9, **f) for f in ({}, {"conv": "fdatasync"}, {"oflag": "dsync"})]
    assert times == sorted(times)


# -- reading ----------------------------------------------------------------------------------------
def fio(array: dict[str, Any], **options: object) -> float:
    """Bytes a second of fio reading the volume."""
    made = machine(
        volumes={"/d": volume(array)}, memory={"kind": "memory", "channels": 64, "rate": "20000 MT/s", "size": "1 GiB"}
    )
    tool = {"name": "fio", "rw": "randread", "bs": "4 KiB", "direct": True, "ioengine": "libaio", **options}
    return rate(journey(made, start="a:/d", to="a:memory", tool=tool, dataset={"files": 1, "size": "10 TB"}))


@pytest.mark.parametrize("depth", [1, 2, 8, 64, 1024])
def test_requests_in_flight_over_latency_until_the_drive_is_full(depth: int) -> None:
    """X(q) = min(q / (L + s/R), X_max) (Little's law under a ceiling): 100 us and 8.2 us of transfer."""
    ceiling = 500e6 / (4 * KiB)
    found = fio(SSD, iodepth=depth) / (4 * KiB)
    assert found == pytest.approx(min(depth / (100e-6 + 4 * KiB / 500e6), ceiling), rel=1e-6)


@pytest.mark.parametrize(("jobs", "depth"), [(1, 8), (8, 1), (2, 4)])
def test_jobs_and_depth_are_the_same_eight_requests(jobs: int, depth: int) -> None:
    assert fio(SSD, numjobs=jobs, iodepth=depth) == pytest.approx(fio(SSD, iodepth=8), rel=1e-6)


@pytest.mark.parametrize(("depth", "expected"), [(1, 1), (2, 1.724), (4, 2.564), (16, 3.596)])
def test_one_random_request_uses_one_disk_of_a_stripe(depth: int, expected: float) -> None:
    """Four disks: one request in flight gives the IOPS of one, 1 / (t_seek + t_rev / 2 + s / R); several meet."""
    disk = {"kind": "hdd", "rate": "100 MB/s", "capacity": "2.5 TB", "position": "0", "ncq": 1}
    one = 1 / (7.4e-3 + 0.5 / 120 + 4 * KiB / 100e6)
    found = fio({"kind": "raid", "level": 0, "disks": 4, "of": disk}, iodepth=depth) / (4 * KiB)
    assert found == pytest.approx(expected * one, rel=0.012)


def test_direct_sequential_reads_have_no_read_ahead() -> None:
    """dd iflag=direct waits 100 us for every block and then for its bytes; a plain read only for the bytes."""
    direct = fio(SSD, rw="read", bs="1 MiB", iodepth=1)
    assert direct == pytest.approx(MiB / (100e-6 + MiB / 500e6), rel=1e-6)
    assert fio(SSD, rw="read", bs="1 MiB", direct=False) == pytest.approx(500e6, rel=1e-6)


def test_what_is_cached_waits_for_nothing() -> None:
    made = host()
    path = journey(made, start="a:/d", to="a:memory", tool={"name": "iozone", "test": "random-read", "r": "4 KiB"},
                   dataset={"files": 1, "size": "1 GB"})  # fmt: skip
    assert waiting(problem(path)) == 0.0
    assert rate(path) == pytest.approx(MEMORY, rel=1e-6)


def test_a_part_of_the_bytes_has_its_part_of_the_waiting() -> None:
    """Of a mixed load, 30 % writes wait 30 % of the time that a pure load does."""

    def waits(mix: int) -> float:
        made = machine(volumes={"/d": volume(SSD)})
        tool = {"name": "fio", "rw": "randrw", "rwmixread": mix, "bs": "4 KiB", "direct": True}
        return waiting(problem(journey(made, start="a:memory", to="a:/d", tool=tool)))

    assert waits(70) == pytest.approx(0.7 * waits(100) + 0.3 * waits(0), rel=1e-9)


def test_one_reader_of_small_files_waits_for_each_however_many_drives_there_are() -> None:
    """16 disks or one: the next file is a positioning away; a RAID of flash waits for one drive's latency."""
    disk = {"kind": "hdd", "rate": "200 MB/s", "file_distance": "0", "tree_distance": "0", "link": "10 GB/s"}
    flash = {"kind": "ssd", "read": "3 GB/s", "write": "3 GB/s", "latency_read": "100 us", "link": "10 GB/s"}

    def found(array: dict[str, Any], files: int = 10**6) -> float:
        host = machine(volumes={"/d": volume(array, {"kind": "xfs", "op_time": "0 s"})})
        tool = {"name": "tar", "mode": "c"}
        path = {"name": "t", "hosts": {"a": host}, "transfer": {"from": "a:/d", "to": "a:/dev/null", "tool": tool,
                "dataset": {"files": files, "size": "16 GB"}}}  # fmt: skip
        return rate(path)

    one, many = found(disk), found({"kind": "raid", "level": 0, "disks": 16, "of": disk})
    assert one / 16e3 == pytest.approx(1 / (1 / 240 + 16e3 / 200e6), rel=0.05)  # half a turn each
    assert many == pytest.approx(one, rel=0.05)
    assert found({"kind": "raid", "level": 0, "disks": 8, "of": flash}) / 16e3 == pytest.approx(1e4, rel=0.1)
    assert found({"kind": "raid", "level": 0, "disks": 16, "of": disk}, files=1) > 10 * many
