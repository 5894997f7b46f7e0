"""Every key of block storage moves an answer: each is changed on a load where it should matter."""

from __future__ import annotations

from typing import Any

import pytest

from dtnsim.components.base import Component, find_kind
from tests.lab import KiB, answer, journey, machine, volume

DISK = {"kind": "hdd", "rate": "200 MB/s", "link": "550 MB/s"}
FLASH = {"kind": "ssd", "read": "3 GB/s", "write": "1 GB/s", "iops_read": "500k IOPS", "iops_write": "100k IOPS"}
BURST = {"burst": "20 GB", "burst_write": "2 GB/s"}
HBA = {"kind": "hba", "lanes": 8, "engine": "20 GB/s", "iops": "10M IOPS"}

#: loads: tool, where from and to, data
LARGE = {"files": 1, "size": "1 TB"}
LOADS: dict[str, tuple[dict[str, Any], str, str, dict[str, Any]]] = {
    "read": ({"name": "dd", "bs": "1 MiB"}, "a:/d", "a:/dev/null", LARGE),
    "readers": ({"name": "fio", "rw": "read", "bs": "1 MiB", "numjobs": 4}, "a:/d", "a:/d", LARGE),
    "write": ({"name": "dd", "bs": "1 MiB", "conv": "fdatasync"}, "a:/dev/zero", "a:/d", LARGE),
    "writes": ({"name": "fio", "rw": "randwrite", "bs": "4 KiB", "direct": True, "numjobs": 8}, "a:/d", "a:/d", LARGE),
    "random": ({"name": "fio", "rw": "randread", "bs": "4 KiB", "direct": True, "numjobs": 64}, "a:/d", "a:/d", LARGE),
    "large": ({"name": "fio", "rw": "randread", "bs": "256 KiB", "direct": True, "numjobs": 64}, "a:/d", "a:/d", LARGE),
    "alone": ({"name": "fio", "rw": "randread", "bs": "4 KiB", "direct": True}, "a:/d", "a:/d", LARGE),
    "mixed": ({"name": "fio", "rw": "randrw", "bs": "4 KiB", "direct": True, "numjobs": 64}, "a:/d", "a:/d", LARGE),
    "direct": ({"name": "dd", "bs": "1 MiB", "oflag": "direct"}, "a:/dev/zero", "a:/d", LARGE),
    "sync": ({"name": "dd", "bs": "64 KiB", "oflag": "dsync"}, "a:/dev/zero", "a:/d", {"files": 1, "size": "10 GB"}),
    "waits": ({"name": "fio", "rw": "randwrite", "bs": "4 KiB", "direct": True}, "a:/d", "a:/d", LARGE),
    "tree": ({"name": "cp"}, "a:/d", "a:/e", {"files": 200000, "each": "100 kB"}),
}


def rate(array: dict[str, Any], load: str, filesystem: dict[str, Any] | None = None, **host: Any) -> float:
    tool, start, to, data = LOADS[load]
    held = volume(array, filesystem or {"kind": "xfs"}, **({"via": host.pop("via")} if "via" in host else {}))
    spare = volume({**FLASH, "write": "20 GB/s", "read": "20 GB/s", "link": "90 GB/s"})
    small = {"kind": "memory", "channels": 64, "rate": "20000 MT/s", "size": "8 GiB"}
    made = machine(volumes={"/d": held, "/e": spare}, memory=small, **host)
    return answer(journey(made, start=start, to=to, tool=tool, dataset=data)).throughput_Bps.p50


R5 = {"kind": "raid", "level": 5, "disks": 5, "of": DISK}
HARD = {**R5, "software": False}
RZ = {"kind": "raidz", "level": 1, "disks": 5, "of": DISK}
DRAID = {"kind": "draid", "level": 2, "disks": 20, "data": 4, "of": DISK}
MIRROR = {"kind": "mirror", "groups": 2, "of": DISK}
JBOD = {"kind": "jbod", "disks": 4, "of": DISK}

#: kind, key, another value, the load, and the keys around it
CASES: list[tuple[str, str, object, str, dict[str, Any]]] = [
    ("hdd", "rate", "150 MB/s", "read", DISK),
    ("hdd", "capacity", "500 GB", "tree", {**DISK, "position": "0.5"}),
    ("hdd", "inner", "0.9", "read", {**DISK, "position": "0.9"}),
    ("hdd", "position", "0.8", "read", DISK),
    ("hdd", "spindle", "90 Hz", "random", DISK),
    ("hdd", "seek", "12 ms", "alone", DISK),
    ("hdd", "track_seek", "2 ms", "random", DISK),
    ("hdd", "ncq", 1, "random", DISK),
    ("hdd", "cached_writes", 1000, "waits", DISK),
    ("hdd", "file_distance", "0.9", "readers", DISK),
    ("hdd", "tree_distance", "0.9", "tree", DISK),
    ("hdd", "visit", "4 MiB", "readers", DISK),
    ("hdd", "actuators", 2, "readers", DISK),
    ("hdd", "shingled_cache", "20 GB", "write", DISK),
    ("hdd", "band", "300 MiB", "writes", {**DISK, "shingled_cache": "1 GB"}),
    ("hdd", "link", "100 MB/s", "read", DISK),
    ("hdd", "write_cache", "protected", "sync", DISK),
    ("hdd", "answer", "2 ms", "waits", DISK | {"ncq": 256, "seek": "0.3 ms", "spindle": "400 Hz"}),
    ("ssd", "read", "2 GB/s", "read", FLASH),
    ("ssd", "write", "500 MB/s", "write", FLASH),
    ("ssd", "burst_write", "3 GB/s", "write", {**FLASH, **BURST}),
    ("ssd", "burst", "500 GB", "write", {**FLASH, **BURST}),
    ("ssd", "dynamic", "1", "write", {**FLASH, **BURST, "burst": "400 GB"}),
    ("ssd", "filled", "0.9", "write", {**FLASH, **BURST, "burst": "400 GB", "dynamic": "1"}),
    ("ssd", "direct_write", "1.5 GB/s", "write", {**FLASH, **BURST, "direct": "400 GB", "direct_write": "1.2 GB/s"}),
    ("ssd", "direct", "100 GB", "write", {**FLASH, **BURST, "direct": "400 GB", "direct_write": "1.2 GB/s"}),
    ("ssd", "write_compressed", "700 MB/s", "write", {**FLASH, "compresses": True}),
    ("ssd", "compresses", True, "write", FLASH),
    ("ssd", "spare", "0.07", "writes", {**FLASH, "write": "50 MB/s", "filled": "1", "latency_write": "1 us"}),
    ("ssd", "indirection", "64 KiB", "writes", {**FLASH, "write": "50 MB/s", "latency_write": "1 us"}),
    ("ssd", "hot", "200 MB/s", "write", FLASH),
    ("ssd", "hot_after", "500 s", "write", {**FLASH, "hot": "200 MB/s"}),
    ("ssd", "interference", "3", "mixed", {**FLASH, "latency_read": "1 us", "latency_write": "1 us"}),
    ("ssd", "latency_read", "1 ms", "alone", FLASH),
    ("ssd", "latency_write", "1 ms", "waits", FLASH),
    ("ssd", "iops_read", "20k IOPS", "random", FLASH),
    ("ssd", "iops_write", "2k IOPS", "writes", FLASH),
    ("ssd", "power_loss_protection", True, "sync", FLASH),
    ("ssd", "flush", "20 ms", "sync", FLASH),
    ("ssd", "link", "1 GB/s", "read", FLASH),
    ("raid", "level", 6, "write", {**R5, "disks": 6}),
    ("raid", "disks", 9, "read", R5),
    ("raid", "groups", 2, "read", {**R5, "level": 50}),
    ("raid", "of", {**DISK, "rate": "100 MB/s"}, "read", R5),
    ("raid", "software", False, "write", R5),
    ("raid", "chunk", "64 KiB", "large", R5),
    ("raid", "answer", "1 ms", "sync", {**R5, "software": False}),
    ("raid", "window", "64 MiB", "readers", R5),
    ("raid", "lost", 1, "random", R5),
    ("raid", "rebuild", "50 MB/s", "read", R5),
    ("raid", "rebuilding", True, "read", R5),
    ("raid", "rebuild_window", "64 KiB", "read", {**R5, "rebuild": "5 MB/s"}),
    ("raid", "mirrored", True, "write", {**HARD, "disks": 40}),
    ("raid", "mirror_rate", "1 GB/s", "write", {**HARD, "disks": 40, "mirrored": True}),
    ("raid", "resync", True, "writes", {**R5, "disks": 12}),
    ("raid", "cache", "500 GB", "write", HARD),
    ("raid", "write_back", False, "write", {**HARD, "disks": 8}),
    ("raid", "read_ahead", False, "direct-read", {**HARD, "chunk": "4 MiB", "of": FLASH}),
    ("raid", "stripe_cache", 4096, "write", R5),
    ("raid", "bitmap", True, "write", {**R5, "stripe_cache": 32768}),
    ("raid", "bitmap_chunk", "1 MiB", "write", {**R5, "bitmap": True}),
    ("raid", "journal", {**FLASH, "write": "100 MB/s"}, "write", R5),
    ("raid", "parity_work", "400 cycles/B", "write", R5),
    ("raid", "parity_threads", 4, "write", {**R5, "parity_work": "400 cycles/B"}),
    ("raidz", "level", 2, "write", RZ),
    ("raidz", "disks", 9, "read", RZ),
    ("raidz", "groups", 2, "read", RZ),
    ("raidz", "of", {**DISK, "rate": "100 MB/s"}, "read", RZ),
    ("raidz", "ashift", 16, "write", RZ),
    ("raidz", "recordsize", "4 KiB", "write", RZ),
    ("raidz", "lost", 1, "random", RZ),
    ("draid", "data", 8, "read", DRAID),
    ("draid", "spares", 2, "read", DRAID),
    ("mirror", "disks", 3, "read", MIRROR),
    ("mirror", "groups", 4, "write", MIRROR),
    ("mirror", "of", {**DISK, "rate": "100 MB/s"}, "read", MIRROR),
    ("mirror", "lost", 1, "read", MIRROR),
    ("jbod", "disks", 8, "readers", JBOD),
    ("jbod", "of", {**DISK, "rate": "100 MB/s"}, "read", JBOD),
]  # fmt: skip
LOADS["direct-read"] = ({"name": "dd", "bs": "1 MiB", "iflag": "direct"}, "a:/d", "a:/dev/null", LARGE)


@pytest.mark.parametrize(("kind", "key", "other", "load", "around"), CASES, ids=[f"{c[0]}.{c[1]}" for c in CASES])
def test_the_key_moves_the_answer(kind: str, key: str, other: object, load: str, around: dict[str, Any]) -> None:
    assert around["kind"] == kind
    assert rate({**around, key: other}, load) != pytest.approx(rate(around, load), rel=1e-3)


POOL = {"kind": "zfs", "recordsize": "128 KiB"}
BUSY = {"kind": "cpu", "cores": 2, "clock": "3 GHz"}
SLOW = {**FLASH, "latency_read": "1 ms"}
STRIPE = {"kind": "raid", "level": 0, "disks": 4, "of": FLASH}
ZFS: list[tuple[str, object, str, dict[str, Any], dict[str, Any]]] = [
    ("version", "0.8", "readers", POOL, RZ),
    ("recordsize", "1 MiB", "random", POOL, RZ),
    ("checksum", "sha256", "read", POOL, STRIPE),
    ("compression", "gzip", "write", POOL, STRIPE),
    ("ratio", "3", "read", {**POOL, "compression": "lz4"}, {**RZ, "of": {**DISK, "rate": "20 MB/s"}}),
    ("encryption", "aes-256-gcm", "read", POOL, STRIPE),
    ("sync", "always", "write", POOL, RZ),
    ("log", FLASH, "sync", POOL, RZ),
    ("special", FLASH, "tree", {**POOL, "special_blocks": "200 kB"}, RZ),
    ("special_blocks", "200 kB", "tree", {**POOL, "special": FLASH}, RZ),
    ("l2arc", {**FLASH, "read": "10 MB/s"}, "read", {**POOL, "l2arc_hits": "0.5"}, RZ),
    ("l2arc_hits", "0.5", "read", {**POOL, "l2arc": {**FLASH, "read": "10 MB/s"}}, RZ),
    ("arc_hits", "0.5", "read", POOL, RZ),
    ("prefetch", "1 MiB", "readers", POOL, RZ),
    ("fragmentation", "0.5", "write", POOL, RZ),
    ("filled", "0.9", "write", {**POOL, "fragmentation": "0.5"}, RZ),
    ("filled", "0.9", "write", {**POOL, "filled": "0.1"}, {**RZ, "of": {**DISK, "rate": "20 MB/s"}}),
    ("dirty_max", "100 MB", "write", POOL, {**RZ, "groups": 8}),
    ("sync_passes", "60", "write", POOL, RZ),
    ("commit_time", "10 ms", "sync", POOL, RZ),
    ("sync_read_max_active", 20, "random", POOL, SLOW),
    ("sync_write_max_active", 1, "sync", POOL, {**SLOW, "latency_write": "20 ms", "power_loss_protection": True}),
    ("async_read_max_active", 1, "read", POOL, SLOW),
    ("async_write_max_active", 1, "write", POOL, {**SLOW, "latency_write": "1 ms"}),
    ("aggregation_limit", "1 MiB", "read", POOL, SLOW),
]


@pytest.mark.parametrize(("key", "other", "load", "pool", "array"), ZFS, ids=[c[0] for c in ZFS])
def test_the_pool_s_key_moves_the_answer(
    key: str, other: object, load: str, pool: dict[str, Any], array: dict[str, Any]
) -> None:
    def found(filesystem: dict[str, Any]) -> float:
        return rate(array, load, filesystem, cpu=BUSY)

    assert found({**pool, key: other}) != pytest.approx(found(pool), rel=1e-3)


#: keys that have tests of their own, or are words about the part and not about its work
ELSEWHERE: dict[str, set[str]] = {
    "": {"part", "source", "price", "facts"},
    "zfs": {  # tests/components/test_zfs.py and test_filesystem.py: costs of calls, and of metadata
        "write_byte", "write_call", "record_call", "read_byte", "read_call", "fresh_byte", "rest_byte", "jump_call",
        "fetch_record", "pipeline_byte", "sync_at", "txg_timeout", "op_time", "change_time", "sync_latency",
        "read_ahead", "arc_max",
    },
    "draid": {"level", "disks", "groups", "of", "ashift", "recordsize", "lost"},  # as raidz
}  # fmt: skip


@pytest.mark.parametrize("kind", ["hdd", "ssd", "raid", "raidz", "draid", "mirror", "jbod", "zfs"])
def test_no_key_is_left_out(kind: str) -> None:
    tried = {key for k, key, *_ in CASES if k == kind} | ({key for key, *_ in ZFS} if kind == "zfs" else set())
    fields = set(find_kind(kind).model_fields) - ELSEWHERE[""] - ELSEWHERE.get(kind, set())
    assert issubclass(find_kind(kind), Component)
    assert fields - tried == set()


CARD: list[tuple[str, object, str, dict[str, Any]]] = [
    ("lanes", 1, "read", HBA),
    ("lane", "100 MB/s", "read", HBA),
    ("uplink_lanes", 1, "read", {**HBA, "lane": "1 GB/s"}),
    ("drive_lane", "300 MB/s", "read", {**HBA, "uplink_lanes": 2}),
    ("buffered", True, "read", {**HBA, "uplink_lanes": 2}),
    ("engine", "1 GB/s", "read", HBA),
    ("engine_write", "500 MB/s", "write", HBA),
    ("iops", "5k IOPS", "random", HBA),
    ("request", "4 KiB", "read", {**HBA, "iops": "100k IOPS"}),
    ("card_lanes", 1, "read", HBA),
    ("card_generation", 1, "read", {**HBA, "card_lanes": 4}),
]
SEAT: list[tuple[str, object, str, dict[str, Any]]] = [
    ("generation", 2, "read", {"kind": "slot", "generation": 3, "lanes": 2}),
    ("lanes", 1, "read", {"kind": "slot", "generation": 3, "lanes": 2}),
    ("bifurcation", 4, "read", {"kind": "slot", "generation": 3, "lanes": 4}),
    ("mps", "128 B", "read", {"kind": "slot", "generation": 2, "lanes": 4}),
    ("mrrs", "128 B", "write", {"kind": "slot", "generation": 3, "lanes": 16, "tags": 1, "latency": "3 us"}),
    ("tags", 2, "write", {"kind": "slot", "generation": 3, "lanes": 16, "tags": 1, "latency": "3 us"}),
    ("latency", "6 us", "write", {"kind": "slot", "generation": 3, "lanes": 16, "tags": 1}),
]


@pytest.mark.parametrize(("key", "other", "load", "card"), CARD, ids=[c[0] for c in CARD])
def test_the_adapter_s_key_moves_the_answer(key: str, other: object, load: str, card: dict[str, Any]) -> None:
    seat = {"s": {"kind": "slot", "generation": 4, "lanes": 16}}
    fast = {**FLASH, "latency_read": "1 us"}

    def found(adapter: dict[str, Any]) -> float:
        return rate(fast, load, hbas={"h": {**adapter, "slot": "s"}}, slots=seat, via=["h"])

    assert found({**card, key: other}) != pytest.approx(found(card), rel=1e-3)


@pytest.mark.parametrize(("key", "other", "load", "seat"), SEAT, ids=[c[0] for c in SEAT])
def test_the_slot_s_key_moves_the_answer(key: str, other: object, load: str, seat: dict[str, Any]) -> None:
    def found(given: dict[str, Any]) -> float:
        fast = {**FLASH, "write": "2.9 GB/s"}
        if key == "bifurcation":
            adapter = {**HBA, "card_lanes": 4, "slot": "s"}
            return rate(fast, load, hbas={"h": adapter}, slots={"s": given}, via=["h"])
        return rate(fast, load, slots={"s": given}, via=["s"])

    assert found({**seat, key: other}) != pytest.approx(found(seat), rel=1e-3)


def test_small_blocks_of_the_file_are_what_a_record_is() -> None:
    """The pool's recordsize decides on parity, whatever the array's own record says."""
    small = rate(RZ, "write", {**POOL, "recordsize": "4 KiB"})
    assert small < rate(RZ, "write", POOL)
    assert rate({**RZ, "record": "4 KiB"}, "write", POOL) == pytest.approx(rate(RZ, "write", POOL))
    assert KiB == 1024


def test_libaio_keeps_nothing_in_flight_on_zfs() -> None:
    """io_submit returns when the request is done, whatever iodepth says: buffered or direct (openzfs/zfs 18660)."""

    def found(version: str, engine: str) -> float:
        LOADS["deep"] = (
            {"name": "fio", "rw": "randread", "bs": "128 KiB", "direct": True, "ioengine": engine, "iodepth": 32},
            "a:/d", "a:/d", LARGE,
        )  # fmt: skip
        return rate(RZ, "deep", {**POOL, "version": version})

    assert found("2.2", "libaio") < 0.6 * found("2.2", "io_uring")
    assert found("2.3", "libaio") < 0.6 * found("2.3", "io_uring")


@pytest.mark.parametrize("kind", ["ext4", "xfs"])
def test_an_aged_file_system_costs_the_disks_positionings(kind: str) -> None:
    fresh, aged = (rate(DISK, "read", {"kind": kind, **e}) for e in ({}, {"extent": "1 MiB"}))
    assert fresh / 3 < aged < 0.8 * fresh  # 5 ms to transfer 1 MiB, and some 2 ms to the next nearby


@pytest.mark.parametrize("kind", ["ext4", "xfs"])
def test_new_small_files_cost_the_destination_s_disk_too(kind: str) -> None:
    """100-kB files at 200 MB/s take 0.5 ms each, and a sixteenth or a thirtieth of a positioning for their inodes."""
    LOADS["untar"] = ({"name": "cp", "sync": True}, "a:/e", "a:/d", {"files": 8000000, "each": "100 kB"})
    free = {"kind": kind, "op_time": "0 s"}
    small = rate({**DISK, "rate": "20 MB/s"}, "untar", free)
    LOADS["untar"] = ({"name": "cp", "sync": True}, "a:/e", "a:/d", {"files": 8, "each": "100 GB"})
    assert (
        0.9 * rate({**DISK, "rate": "20 MB/s"}, "untar", free)
        < small
        < rate({**DISK, "rate": "20 MB/s"}, "untar", free)
    )
