"""btrfs: checksums, compressed extents, copy on write."""

from __future__ import annotations

from typing import Any

import pytest

from dtnsim.components.base import Component, find_kind
from dtnsim.physics.core_rates import CORE_RATES
from tests.formulas import evaluate
from tests.lab import Sheet, journey, machine, problem, rate, sheet, volume, waiting

SSD = {"kind": "ssd", "read": "3 GB/s", "write": "2 GB/s", "link": "90 GB/s", "iops_write": "5k IOPS"}
DISK = {"kind": "hdd", "rate": "200 MB/s"}
CPU = {"kind": "cpu", "cores": 16, "clock": "3 GHz"}
READ = ({"name": "dd", "bs": "1 MiB"}, "a:/d", "a:/dev/null")
WRITE = ({"name": "dd", "bs": "1 MiB", "conv": "fdatasync"}, "a:/dev/zero", "a:/d")
SYNC = ({"name": "dd", "bs": "1 MiB", "oflag": "dsync"}, "a:/dev/zero", "a:/d")
RANDOM = ({"name": "fio", "rw": "randread", "bs": "4 KiB"}, "a:/d", "a:/d")
REWRITE = ({"name": "fio", "rw": "randwrite", "bs": "4 KiB", "end_fsync": True}, "a:/d", "a:/d")
COPY = ({"name": "cp", "sync": True}, "a:memory", "a:/d")
RM = ({"name": "rm"}, "a:/d", "a:/d")


def path(load: Any, array: Any = SSD, *, data: Any = None, **given: Any) -> dict[str, Any]:
    host = machine(cpu=CPU, volumes={"/d": volume(array, {"kind": "btrfs", **given})})
    tool, start, to = load
    return journey(host, start=start, to=to, tool=tool, dataset=data or {"files": 1, "size": "1 TB"})


def charges(*given: Any, **more: Any) -> Sheet:
    return sheet(problem(path(*given, **more)))


def test_eight_workers_make_checksums() -> None:
    """thread_pool: as many as cores and two more, at most 8; 3 GHz each at 0.3 cycles a byte."""
    found = charges(WRITE)
    assert found.rate("cpu.btrfs worker") == pytest.approx(8 * 3e9 / 0.3)
    assert not charges(WRITE, nodatacow=True).has("cpu.btrfs worker")


def test_compression_trades_cores_for_the_drive() -> None:
    """At 2.57 an extent is 13 sectors of 32; zeros of /dev/zero would vanish, so the source is memory."""
    found = charges(COPY, compress="zstd", ratio="2.57")
    assert found.demand("d.ssds") == pytest.approx(52 / 128)
    cycles = CORE_RATES["zstd1_kernel"].cycles_per_byte + 0.3 * 52 / 128
    assert found.demand("cpu.btrfs worker") == pytest.approx(cycles)
    assert charges(WRITE, compress="zstd", ratio="2").demand("d.ssds") == pytest.approx(1 / 32)


def test_a_reader_waits_for_each_extent() -> None:
    """Decompression on one core, one extent after the other, after the drive."""
    alone, packed = (problem(path(READ, compress=c, ratio="2")) for c in ("none", "zstd"))
    assert waiting(packed) - waiting(alone) == pytest.approx(CORE_RATES["zstd1_decompress"].cycles_per_byte / 3e9)


def test_small_reads_take_whole_extents() -> None:
    found = charges(RANDOM, compress="lzo", ratio="2")
    assert found.demand("d.ssds") == pytest.approx(32 * 0.5)
    assert charges(RANDOM).demand("d.ssds") == pytest.approx(1.0)


def test_random_rewrites_become_a_stream() -> None:
    """Copy on write: 5,000 requests a second would be 20 MB/s in place."""
    assert not charges(REWRITE).has("d.requests")
    assert charges(REWRITE, nodatacow=True).rate("d.requests") == pytest.approx(5000 * 4096, rel=0.01)


def test_formulas_give_their_numbers() -> None:
    for station in problem(path(COPY, compress="zstd", ratio="2.57")).stations:
        assert evaluate(station.formula) == pytest.approx(float(station.capacity), rel=1e-5)


SMALL = {"files": 10_000, "each": "10 KB"}
KEYS: dict[str, tuple[Any, dict[str, Any]]] = {
    "op_time": ("5 ms", {"load": RM, "data": SMALL}),
    "change_time": ("5 ms", {"load": RM, "data": SMALL}),
    "sync_latency": ("50 ms", {"load": SYNC}),
    "read_ahead": ("64 MiB", {"load": ({"name": "fio", "rw": "read", "numjobs": 8}, "a:/d", "a:/d"), "array": DISK}),
    "extent": ("256 KiB", {"load": READ, "array": DISK}),
    "checksum": ("blake2", {"load": WRITE, "thread_pool": 1}),
    "compress": ("zlib", {"load": COPY}),
    "ratio": ("4", {"load": COPY, "compress": "lzo", "thread_pool": 64}),
    "nodatacow": (True, {"load": REWRITE}),
    "thread_pool": (1, {"load": COPY, "compress": "zlib"}),
}


@pytest.mark.parametrize("key", list(KEYS))
def test_a_key_moves_the_answer(key: str) -> None:
    value, around = KEYS[key]
    given = dict(around)
    load, array = given.pop("load"), given.pop("array", SSD)
    assert rate(path(load, array, **{**given, key: value})) != pytest.approx(rate(path(load, array, **given)), rel=1e-4)


def test_every_key_is_tried() -> None:
    assert set(find_kind("btrfs").model_fields) - set(Component.model_fields) == set(KEYS)
