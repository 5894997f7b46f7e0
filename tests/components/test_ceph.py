"""CephFS: objects in flight, copies and shards on OSDs, the nodes' ports."""

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from tests.each import cases, rows
from tests.lab import MiB, Sheet, journey, machine, problem, rate, sheet, volume

FREE = {"kind": "cephfs", "latency": "1 us", "share": "1", "metadata_time": "0 s"}


def path(*, write: bool = False, streams: int = 1, size: str = "100 TB", **given: Any) -> Any:
    host = machine(volumes={"/c": volume(filesystem={**FREE, **given})})
    start, to = ("a:memory", "a:/c") if write else ("a:/c", "a:memory")
    if not write and size != "100 TB":  # small files would be in memory after a test of writing
        tool: Any = {"name": "dd", "bs": "1 MiB"}
        return journey(host, start=start, to="a:/dev/null", tool=tool, dataset={"files": streams, "size": size})
    tool = {"name": "iozone", "test": "write" if write else "read", "r": "1 MiB", "t": streams}
    return journey(host, start=start, to=to, tool=tool, dataset={"files": streams, "size": size})


def charges(**given: Any) -> Sheet:
    return sheet(problem(path(**given)))


#: ceph.com 2023, Reef RGW on 60 NVMe drives: GET 53, PUT 18.6 GB/s with three replicas; what an OSD does by the GETs
@pytest.mark.parametrize(("write", "seconds"), [(False, 1 / 970e6), (True, 3 / 360e6)])
def test_a_node_of_a_hyperconverged_mount_works_for_its_own_osds(write: bool, seconds: float) -> None:
    """Time of a core of 3 GHz, as with RBD (tests/components/test_layers.py): of four nodes a quarter is here."""
    pool = {"osds": 1000, "servers": {"count": 4, "port_rate": "100 Gb/s"}}
    apart, here = (charges(write=write, hyperconverged=there, **pool) for there in (False, True))
    assert here.demand("a.cpu") - apart.demand("a.cpu") == pytest.approx(seconds * 3e9 / 4, rel=0.05)


def test_a_direct_write_is_one_object_after_the_other() -> None:
    """Linux fs/ceph/file.c: without aio each object of a call is waited for; then the wire twice, and the OSDs."""
    dd = {"name": "dd", "bs": "64 MiB", "oflag": "direct"}
    pool = {**FREE, "osds": 1000, "osd_write": "140 MB/s", "servers": {"count": 12, "port_rate": "1.25 GB/s"}}

    def made(**given: Any) -> float:
        host = machine(volumes={"/c": volume(filesystem={**pool, **given})})
        return rate(journey(host, start="a:/dev/zero", to="a:/c", tool=dd, dataset={"files": 1, "size": "64 GiB"}))

    wire = 3 / (0.93 * 1.25e9)
    assert made() == pytest.approx(1 / (1 / 140e6 + wire), rel=0.01)
    assert made(latency="10 ms") == pytest.approx(1 / (1 / 140e6 + wire + 10e-3 / (4 * MiB)), rel=0.01)


def test_a_mount_is_reached_through_the_only_card() -> None:
    """Ceph, network configuration reference: clients and daemons speak IP."""
    host = machine(nic={"kind": "nic", "rate": "1 Gb/s"}, volumes={"/c": volume(filesystem=FREE)})
    made = journey(host, start="a:/c", to="a:memory", tool={"name": "dd"}, dataset={"files": 1, "size": "100 TB"})
    assert rate(made) < 125e6


@settings(max_examples=10)
@given(st.integers(1, 5))
def test_more_copies_never_help_writers(replicas: int) -> None:
    few, more = (charges(write=True, replicas=n).rate("c.osds") for n in (replicas, replicas + 1))
    assert more < few


def test_capabilities_of_others() -> None:
    """Revoked at the holder: two more round trips; without them each call of 1 MiB waits for its OSD."""

    def made(tool: object, to: str, **given: object) -> float:
        host = machine(volumes={"/c": volume(filesystem={"kind": "cephfs", "latency": "8 ms", **given})})
        data = {"files": 10_000, "each": "10 KB"} if tool == "rm" else {"files": 1, "size": "1 TB"}
        return rate(journey(host, start="a:/c", to=to, tool=tool, dataset=data))

    assert made("rm", "a:/c") == pytest.approx(3 * made("rm", "a:/c", contended="1"), rel=0.01)
    dd = {"name": "dd", "bs": "1 MiB"}
    assert made(dd, "a:/dev/null", shared=True, osds=1, osd_read="1 TB/s", share="1") == pytest.approx(
        2**20 / 8e-3, rel=0.01
    )


def test_small_calls_are_as_many_as_the_osds_serve() -> None:
    """4 KiB at random of many jobs: requests a second of the OSDs, not their bytes; disks take a turn for each."""

    def made(**given: Any) -> float:
        host = machine(volumes={"/c": volume(filesystem={**FREE, "osds": 4, **given})})
        tool = {"name": "fio", "rw": "randread", "bs": "4 KiB", "direct": True, "numjobs": 4096}
        return rate(journey(host, start="a:/c", to="a:/c", tool=tool, dataset={"files": 4096, "size": "10 TB"})) / 4096

    assert made(osd_iops="27k IOPS") == pytest.approx(4 * 27e3, rel=0.02)
    assert made(osd_read="150 MB/s") == pytest.approx(4 * 80, rel=0.02)


def test_who_makes_files_waits_for_none_with_nowsync() -> None:
    """J. Layton, ceph-devel (January 2020): 10,000 creations and closes in 9.865 s, in 5.272 without waiting.

    The difference is one message for each, since a close needs none; names just made are looked at without one.
    """
    apart = (9.865 - 5.272) / 10_000

    def seconds(test: str, **given: Any) -> float:
        servers = {"metadata": {"create": "1e6 ops/s", "stat": "1e6 ops/s", "remove": "1e6 ops/s"}}
        mount = {**FREE, "metadata_time": f"{apart} s", "servers": servers, **given}
        host = machine(volumes={"/c": volume(filesystem=mount)})
        tool = {"name": "mdtest", "test": test}
        made = journey(host, start="a:/c", to="a:/c", tool=tool, dataset={"files": 10_000, "size": "10 kB"})
        return 10e3 / rate(made)

    assert seconds("create") - seconds("create", nowsync=True) == pytest.approx(10_000 * (apart - 25e-6), rel=0.01)
    assert seconds("create") == pytest.approx(10_000 * apart, rel=0.02)
    assert seconds("stat") < 0.1 * 10_000 * apart


@cases("test, least, mean, most", rows("components/tables", "one_task_of_mdtest_as_printed"))
def test_one_task_of_mdtest_as_printed(test: str, least: float, mean: float, most: float) -> None:
    """Compare FileSystem with RBD, a text kept in a GitHub repository: mdtest -n 5000 -u -z 2 -i 3, CephFS on flash.

    Least, mean and most of three rounds; changes as its clients wait for them. What needs no message is
    within a factor of three: how fast the client is that answers it is not printed.
    """
    host = machine(volumes={"/c": volume(filesystem={"kind": "cephfs", "share": "1"})})
    tool = {"name": "mdtest", "test": test}
    made = journey(host, start="a:/c", to="a:/c", tool=tool, dataset={"files": 5000, "each": "1 B"})
    found = rate(made)
    if test in ("create", "remove"):
        assert least < found < most
    assert 1 / 3 < found / mean < 3


def test_one_mds_as_printed() -> None:
    """Ceph PR 69974 (July 2026), journal on NVMe, ceph-fuse: 2,204 to 4,525 files a second; a kernel's may be more."""
    mount = {"kind": "cephfs", "share": "1", "system": "s"}
    host = machine(volumes={"/c": volume(filesystem=mount)})
    path = journey(host, start="a:/dev/zero", to="a:/c", tool={"name": "mdtest"},
                   dataset={"files": 16_000, "each": "1 B", "directories": 64})  # fmt: skip
    path["transfer"]["runs"] = 64
    assert 2204 < rate(path) < 2 * 4525
