"""File systems on local drives: ext4, XFS, btrfs, tmpfs."""

from typing import Any

import pytest

from dtnsim.components.base import Component, find_kind
from dtnsim.components.disk_filesystem import LocalFilesystem
from dtnsim.components.local import Ext4, Xfs
from dtnsim.description.host import build_host
from dtnsim.physics.core_rates import CORE_RATES
from tests.each import cases, rows, tables
from tests.lab import (
    FREE,
    GiB,
    KiB,
    Sheet,
    access,
    all_tried,
    charged,
    journey,
    machine,
    moves,
    problem,
    rate,
    sheet,
    volume,
    waiting,
)

SSD = {"kind": "ssd", "read": "500 MB/s", "write": "400 MB/s", "link": "10 GB/s"}


@pytest.mark.parametrize("flags", [{}, {"conv": "fdatasync"}, {"oflag": "dsync"}, {"oflag": "direct"}])
def test_what_the_page_cache_does_is_the_same_under_every_local_file_system(flags: dict[str, str]) -> None:
    rates = [
        rate(journey(machine(volumes={"/d": volume(SSD, kind)}), start="a:/dev/zero", to="a:/d",
                     tool={"name": "dd", "bs": "1 MiB", **flags}))
        for kind in ("ext4", "xfs")
    ]  # fmt: skip
    assert rates[0] == rates[1]


@cases("kind, flags, expected", rows("components/tables", "one_thread_writes_back_what_all_writers_leave"))
def test_one_thread_writes_back_what_all_writers_leave(kind: str, flags: dict[str, Any], expected: float) -> None:
    """Two drives of 7.25 GB/s in RAID 0, 128 writers, Linux 6.8 (Solidigm, KA-01862)."""
    drive = {"kind": "ssd", "read": "14 GB/s", "write": "7.25 GB/s", "link": "16 GB/s"}
    host = machine(
        cpu={"kind": "cpu", "cores": 128, "clock": "3.5 GHz"},
        stack={"kind": "stack", "kernel": "6.8"},
        volumes={"/d": volume({"kind": "raid", "level": 0, "disks": 2, "of": drive}, kind)},
    )
    tool = {"name": "fio", "rw": "write", "bs": "1 MiB", "numjobs": 128, "end_fsync": True, **flags}
    path = journey(host, start="a:memory", to="a:/d", tool=tool, dataset={"files": 128, "size": "100 TB"})
    assert rate(path) == pytest.approx(expected, rel=0.03)


def looked_at(files: int, kind: str = "ext4", memory: str = "4 GiB", test: str = "stat", **more: str) -> float:
    """Files that one task looks at, or removes, in a second, so many of them on flash."""
    flash = {**SSD, "latency_read": "100 us", "read": "4 GB/s", "iops_read": "9M IOPS", **more}
    host = machine(
        memory={"kind": "memory", "channels": 8, "rate": "3200 MT/s", "size": memory},
        volumes={"/d": volume(flash, {"kind": kind, "op_time": "2 us"})},
    )
    tool = {"name": "mdtest", "test": test}
    return rate(journey(host, start="a:/dev/zero", to="a:/d", tool=tool, dataset={"files": files, "each": "1 B"}))


@pytest.mark.parametrize(("kind", "blocks"), [("ext4", 1 / 16 + 1 / 64), ("xfs", 1 / 32 + 1 / 64)])
def test_inodes_that_memory_does_not_hold_come_from_the_drives(kind: str, blocks: float) -> None:
    """1 / x = t + (1 - M / (N b)) n (t_read + 4 KiB / R): the operation, and its share of two blocks."""
    few, many = looked_at(1_000_000, kind), looked_at(1_000_000_000, kind)
    assert few == pytest.approx(1 / 2e-6, rel=1e-6)
    room = 1.0 - 4 * GiB / (1e9 * 1.3 * KiB)
    assert 1 / many == pytest.approx(2e-6 + room * blocks * (100e-6 + 4096 / 4e9), rel=0.01)


@pytest.mark.parametrize(
    ("kind", "reads"),
    [("ext4", 1 / 512 + 1 / 64), ("xfs", 1 / 32 + 1 / 64), ("btrfs", 1 / 24), ("zfs", 1 / 32 + 1 / 128)],
)
@pytest.mark.parametrize("cached", [False, True])
def test_a_walk_reads_what_memory_has_forgotten(kind: str, reads: float, *, cached: bool) -> None:
    """Nothing has changed: 1 / x = 2 t + f (n t_read + b / R) of the end that takes longer; ext4 reads ahead."""
    flash = {**SSD, "latency_read": "100 us", "latency_sequential": "100 us", "page": "512 B", "read": "4 GB/s"}

    def each(forgotten: str) -> float:
        hosts = [
            machine(volumes={"/d": volume(flash, {"kind": kind, "op_time": "2 us", "forgotten": share})})
            for share in ("0", forgotten)
        ]
        tool, data = {"name": "rsync", "changed": 0}, {"files": 1_000_000, "size": "1 TB"}
        path = journey(*hosts, start="a:/d", to="b:/d", tool=tool, dataset=data)
        path["transfer"]["cached"] = cached
        return 1e12 / rate(path) / 1e6

    blocks = reads + (31 / 512 if kind == "ext4" else 0.0)  # of 4 KiB, 32 in a read of ext4's inodes
    expected = 0.0 if cached else 0.8 * (reads * 100e-6 + blocks * 4096 / 4e9)
    assert each("0.8") - each("0") == pytest.approx(expected, rel=0.02, abs=1e-12)


def test_what_is_removed_beyond_memory_is_written_back() -> None:
    """Requests of the drive over the blocks of a file: 5000 / (1/16 + 1/64) of what memory does not hold."""
    room = 1.0 - 4 * GiB / (1e9 * 1.3 * KiB)
    found = looked_at(1_000_000_000, test="remove", iops_write="5000 IOPS")
    assert found == pytest.approx(5000 / ((1 / 16 + 1 / 64) * room), rel=0.01)
    assert looked_at(1_000_000, test="remove", iops_write="5000 IOPS") == pytest.approx(1 / 2e-6, rel=0.01)


def test_more_memory_never_makes_a_look_slower_nor_more_files_faster() -> None:
    rates = [looked_at(100_000_000, memory=f"{size} GiB") for size in (4, 16, 64, 256)]
    assert rates == sorted(rates)
    assert rates[0] < 0.9 * rates[-1]
    rates = [looked_at(10**power) for power in (5, 6, 7, 8, 9)]
    assert rates == sorted(rates, reverse=True)


def test_dirty_pages_are_a_share_of_memory() -> None:
    """Linux: write-back from 10 %, throttled writers held around 17.5 % (half-way from 15 to 20 %)."""
    memory = {"kind": "memory", "channels": 4, "rate": "2400 MT/s", "size": "64 GiB"}
    host = build_host("h", machine(memory=memory, vm={}))
    found: list[float] = []
    charged(lambda row: found.extend(float(v) for v in Ext4.build({"kind": "ext4"}).cache_limits(row, host)))
    assert found == [pytest.approx(6.4 * GiB), pytest.approx(11.2 * GiB)]


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


def test_a_volume_without_an_array_is_only_the_kernel() -> None:
    host = machine(volumes={"/d": volume()})
    found = sheet(problem(journey(host, start="a:/d", tool="gridftp")))
    assert not found.has("d.ssds")


STACK = {"kind": "stack", "memory_stall": "0"}
CPU = {"kind": "cpu", "cores": 16, "clock": "3 GHz"}


def path(tool: Any, *, to: str = "a:/t", data: Any = None, array: Any = None, **given: Any) -> dict[str, Any]:
    slow = {"kind": "memory", "channels": 64, "rate": "20000 MT/s", "size": "4 GiB"}
    host = machine(cpu=CPU, stack=STACK, memory=slow, volumes={"/t": volume(array, {"kind": "tmpfs", **given})})
    start = "a:/dev/zero" if to == "a:/t" else "a:/t"
    return journey(host, start=start, to=to, tool=tool, dataset=data or {"files": 1, "size": "100 GB"})


@pytest.mark.parametrize("options", [{}, {"conv": "fdatasync"}, {"oflag": "direct"}, {"oflag": "dsync"}])
def test_no_write_waits_whatever_is_asked(options: dict[str, str]) -> None:
    """A copy and zeros from /dev/zero: 3 GHz over 0.9 + 3000 / 2^20 + 0.2 cycles a byte, beyond the dirty limits."""
    one = rate(path({"name": "dd", "bs": "1 MiB", **options}))
    assert one == pytest.approx(3e9 / (0.9 + 3000 / 2**20 + 0.2), rel=0.01)
    assert len(problem(path({"name": "dd", "bs": "1 MiB", **options})).stations) == 3


RM = {"name": "rm"}
SMALL = {"files": 10_000, "each": "10 KB"}


@pytest.mark.parametrize(("key", "value"), [("op_time", "5 ms"), ("change_time", "5 ms")])
def test_a_time_moves_the_answer(key: str, value: str) -> None:
    assert rate(path(RM, data=SMALL, **{key: value})) < 0.5 * rate(path(RM, data=SMALL))


def test_every_key_is_tried() -> None:
    own = set(find_kind("tmpfs").model_fields) - set(Component.model_fields)
    assert own == {"op_time", "change_time", "sync_latency", "huge"}


SSD_BTRFS = {"kind": "ssd", "read": "3 GB/s", "write": "2 GB/s", "link": "90 GB/s", "iops_write": "5k IOPS"}
READ = ({"name": "dd", "bs": "1 MiB"}, "a:/d", "a:/dev/null")
WRITE = ({"name": "dd", "bs": "1 MiB", "conv": "fdatasync"}, "a:/dev/zero", "a:/d")
RANDOM = ({"name": "fio", "rw": "randread", "bs": "4 KiB"}, "a:/d", "a:/d")
REWRITE = ({"name": "fio", "rw": "randwrite", "bs": "4 KiB", "end_fsync": True}, "a:/d", "a:/d")
COPY = ({"name": "cp", "sync": True}, "a:memory", "a:/d")


def path_of_btrfs(load: Any, array: Any = SSD_BTRFS, *, data: Any = None, **given: Any) -> dict[str, Any]:
    host = machine(cpu=CPU, volumes={"/d": volume(array, {"kind": "btrfs", **given})})
    tool, start, to = load
    return journey(host, start=start, to=to, tool=tool, dataset=data or {"files": 1, "size": "1 TB"})


def charges(*given: Any, **more: Any) -> Sheet:
    return sheet(problem(path_of_btrfs(*given, **more)))


ZSTD, PLAIN = {"compress": "zstd", "ratio": "2.57"}, {"nodatacow": True}
#: at 2.57 an extent is 13 sectors of 32
PACKED = CORE_RATES["zstd1_kernel"].cycles_per_byte + 0.3 * 52 / 128


@cases("load, given, what, expected", {
    "thread_pool, 8 of 3 GHz at 0.3 cycles a byte": (WRITE, {}, "rate cpu.btrfs worker", 8 * 3e9 / 0.3),
    "no checksums": (WRITE, PLAIN, "has cpu.btrfs worker", False),
    "compression spares the drive": (COPY, ZSTD, "demand d.ssds", 52 / 128),
    "and costs cores": (COPY, ZSTD, "demand cpu.btrfs worker", PACKED),
    "zeros of /dev/zero vanish": (WRITE, {"compress": "zstd", "ratio": "2"}, "demand d.ssds", 1 / 32),
    "small reads take whole extents": (RANDOM, {"compress": "lzo", "ratio": "2"}, "demand d.ssds", 32 * 0.5),
    "where they are compressed": (RANDOM, {}, "demand d.ssds", 1.0),
    "copy on write makes random rewrites a stream": (REWRITE, {}, "has d.requests", False),
    "in place 5,000 requests a second bind": (REWRITE, PLAIN, "rate d.requests", pytest.approx(5000 * 4096, rel=0.01)),
})  # fmt: skip
def test_what_btrfs_charges(load: Any, given: dict[str, Any], what: str, expected: Any) -> None:
    found = charges(load, **given).figure(what)
    assert found == (pytest.approx(expected) if isinstance(expected, float) else expected)


def test_a_reader_waits_for_each_extent() -> None:
    """Decompression on one core, one extent after the other, after the drive."""
    alone, packed = (problem(path_of_btrfs(READ, compress=c, ratio="2")) for c in ("none", "zstd"))
    assert waiting(packed) - waiting(alone) == pytest.approx(CORE_RATES["zstd1_decompress"].cycles_per_byte / 3e9)


KEYS: dict[str, tuple[Any, dict[str, Any]]] = tables("components/keys")["btrfs"]["keys"]


@pytest.mark.parametrize("key", list(KEYS))
def test_a_key_moves_the_answer(key: str) -> None:
    value, around = KEYS[key]
    given = dict(around)
    load, array = given.pop("load"), given.pop("array", SSD_BTRFS)
    assert moves(path_of_btrfs(load, array, **given), path_of_btrfs(load, array, **{**given, key: value}))


def test_every_key_is_tried_of_btrfs() -> None:
    all_tried("btrfs", KEYS, "keys")
