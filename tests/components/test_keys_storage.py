"""Every key of block storage moves an answer: each is changed on a load where it should matter."""

from typing import Any

import pytest

from tests import lab
from tests.each import tables
from tests.lab import KiB, all_tried, journey, machine, moves, volume

TABLES = tables("components/keys_storage")
LOADS, CASES = TABLES["loads"], TABLES["cases"]
DISK, FLASH, HBA, RZ, POOL = (TABLES["devices"][name] for name in ("disk", "flash", "hba", "rz", "pool"))
LARGE = {"files": 1, "size": "1 TB"}


def path(array: dict[str, Any], load: str, filesystem: dict[str, Any] | None = None, **host: Any) -> dict[str, Any]:
    tool, start, to, data = LOADS[load]
    held = volume(array, filesystem or {"kind": "xfs"}, **({"via": host.pop("via")} if "via" in host else {}))
    spare = volume({**FLASH, "write": "20 GB/s", "read": "20 GB/s", "link": "90 GB/s"})
    small = {"kind": "memory", "channels": 64, "rate": "20000 MT/s", "size": "8 GiB"}
    made = machine(volumes={"/d": held, "/e": spare}, memory=small, **host)
    return journey(made, start=start, to=to, tool=tool, dataset=data)


def rate(*given: Any) -> float:
    return lab.rate(path(*given))


def found(kind: str, key: str, given: dict[str, Any], load: str, drives: dict[str, Any]) -> dict[str, Any]:
    """The path where a device is that which holds: a pool over its drives, an adapter or a slot before a fast drive."""
    if kind == "zfs":
        return path(drives, load, given, cpu={"kind": "cpu", "cores": 2, "clock": "3 GHz"})
    if kind == "hba":
        seat = {"s": {"kind": "slot", "generation": 4, "lanes": 16}}
        return path({**FLASH, "latency_read": "1 us"}, load, hbas={"h": {**given, "slot": "s"}}, slots=seat, via=["h"])
    if kind == "slot":
        card = {"hbas": {"h": {**HBA, "card_lanes": 4, "slot": "s"}}} if key == "bifurcation" else {}
        return path({**FLASH, "write": "2.9 GB/s"}, load, slots={"s": given}, via=["h" if card else "s"], **card)
    assert given["kind"] == kind
    return path(given, load)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}.{case[1]}")
def test_the_key_moves_the_answer(case: list[Any]) -> None:
    kind, key, other, load, around, *drives = case
    before, after = (found(kind, key, given, load, *drives or [{}]) for given in (around, {**around, key: other}))
    assert moves(before, after, rel=1e-3)


#: keys that have tests of their own, or are words about the part and not about its work
ELSEWHERE: dict[str, set[str]] = {
    "zfs": {  # tests/components/test_zfs.py, test_filesystem.py and test_local.py: costs of calls, and of metadata
        "write_byte", "write_call", "record_call", "read_byte", "read_call", "fresh_byte", "rest_byte", "jump_call",
        "fetch_record", "pipeline_byte", "sync_at", "txg_timeout", "op_time", "change_time", "sync_latency",
        "read_ahead", "arc_max", "forgotten",
    },
    "draid": {"level", "disks", "groups", "of", "ashift", "recordsize", "lost"},  # as raidz
}  # fmt: skip


@pytest.mark.parametrize("kind", ["hdd", "ssd", "raid", "raidz", "draid", "mirror", "jbod", "zfs"])
def test_no_key_is_left_out(kind: str) -> None:
    all_tried(kind, {key for k, key, *_ in CASES if k == kind}, "keys_storage", ELSEWHERE.get(kind, ()))


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
