"""BeeGFS: buffers of files, connections to servers, chunks over targets, mirrors."""

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from dtnsim.components.base import find_kind
from dtnsim.ground.errors import SpecError
from tests import lab
from tests.each import cases, rows
from tests.lab import FREE as FREE_STACK, KiB, MiB, Sheet, journey, machine, problem, rate, sheet, volume

FREE = {"kind": "beegfs", "latency": "1 us", "target_rate": "1 TB/s", "share": "1", "metadata_time": "0 s",
        "change_time": "0 s", "unlinks": "1000000000000 ops/s", "servers": {"rate": "1000 TB/s"}}  # fmt: skip


def path(*, write: bool = False, streams: int = 1, size: str = "100 TB", block: str = "512 KiB", **given: Any) -> Any:
    host = machine(volumes={"/b": volume(filesystem={**FREE, **given})})
    start, to = ("a:memory", "a:/b") if write else ("a:/b", "a:memory")
    tool = {"name": "iozone", "test": "write" if write else "read", "r": block, "t": streams}
    return journey(host, start=start, to=to, tool=tool, dataset={"files": streams, "size": size})


def charges(**given: Any) -> Sheet:
    return sheet(problem(path(**given)))


@pytest.mark.parametrize(
    ("kind", "write", "wire", "ports"),
    rows("components/tables", "a_client_on_one_of_four_servers_has_a_quarter_without_a_wire"),
)
def test_a_client_on_one_of_four_servers_has_a_quarter_without_a_wire(kind, write, wire, ports) -> None:
    """Files lie on all servers alike: 1 - 1 / n of them elsewhere (copies: Ceph documentation, Architecture)."""
    made, port = {}, f"nic.port0.{'tx' if write else 'rx'}"
    for here in (False, True):
        given = {"kind": kind, "share": "1", "hyperconverged": here, "servers": {"count": 4, "port_rate": "100 Gb/s"}}
        host = machine(volumes={"/b": volume(filesystem=given, via=["nic"])})
        ends = ("a:memory", "a:/b") if write else ("a:/b", "a:memory")
        tool = {"name": "iozone", "test": "write" if write else "read", "r": "1 MiB", "t": 4}
        data = {"files": 4, "size": "100 TB"}
        made[here] = sheet(problem(journey(host, start=ends[0], to=ends[1], tool=tool, dataset=data)))
    assert made[True].demand(port) / made[False].demand(port) == pytest.approx(wire)
    assert made[True].demand("b.servers") == pytest.approx(ports)


def test_a_host_is_one_of_a_number_of_servers() -> None:
    with pytest.raises(SpecError, match="hyperconverged says nothing without"):
        find_kind("beegfs").build({**FREE, "hyperconverged": True, "servers": None})


@pytest.mark.parametrize(("streams", "depth", "number"), [(1, 1, 1), (1, 4, 4), (2, 4, 8), (5, 100, 48)])
def test_each_request_under_way_has_a_connection_while_there_are_some(streams: int, depth: int, number: int) -> None:
    """Twelve to each server (connMaxInternodeNum)."""
    made = find_kind("beegfs").build({**FREE, "servers": {"count": 4, "rate": "1000 TB/s"}})
    use, found = lab.access(own_streams=streams, queue_depth=depth, block_B=4 * KiB), []
    lab.charged(lambda row: found.append(made.connections_of(row, use)))  # type: ignore[attr-defined]
    assert found[0].number == number


@pytest.mark.parametrize(
    ("block", "targets", "asked", "rounds"),
    [("4 KiB", 4, 512 * KiB, 1), ("512 KiB", 4, 512 * KiB, 1), ("4 MiB", 4, 4 * MiB, 2), ("4 MiB", 1, 4 * MiB, 8)],
)
@pytest.mark.parametrize("streams", [1, 5])
def test_a_thread_waits_for_each_call_or_buffer(
    block: str, targets: int, asked: float, rounds: int, streams: int
) -> None:
    """Rounds of 512 KiB to each target, and the copy on the thread's own core."""
    found = charges(block=block, streams=streams, latency="2 ms", numtargets=targets)
    assert found.rate("b.buffers") == pytest.approx(streams * asked / (rounds * 2e-3), rel=0.01)
    # a kernel that copies at a cycle a byte: 10 GB/s of these cores
    slow = machine(stack={**FREE_STACK, "file_read_byte": "1 cycles/B"})
    made = path(block=block, streams=streams, latency="2 ms", numtargets=targets)
    made["hosts"]["a"]["stack"] = slow["stack"]
    one = asked / (rounds * 2e-3 + asked / 10e9)
    assert sheet(problem(made)).rate("b.buffers") == pytest.approx(streams * one, rel=0.01)


@settings(max_examples=10)
@given(st.integers(1, 12), st.integers(1, 30))
def test_more_targets_never_hurt(each: int, streams: int) -> None:
    given = {"streams": streams, "target_rate": "100 MB/s", "targets": 24}
    assert charges(numtargets=each + 1, **given).rate("b.targets") >= charges(numtargets=each, **given).rate(
        "b.targets"
    )


@cases("kind, test, hosts, expected", rows("components/tables", "a_shared_folder_is_held_there_while_it_is_changed"))
def test_a_shared_folder_is_held_there_while_it_is_changed(kind: str, test: str, hosts: int, expected: float) -> None:
    """i_rwsem at each client for all of a removal; the lock of BeeGFS' directory for its two or three changes of 25 us.

    MetaStore.cpp (mkNewMetaFile): after the message has come, before its answer goes. Lustre has no such lock (LU-50).
    """
    fast = dict.fromkeys(("create", "stat", "remove"), "1 Tops/s")
    mine = {"kind": kind, "system": "s", "share": "1", "servers": {"count": 4, "metadata": fast}}
    mount = {"/b": {"filesystem": mine | ({"unlinks": "1 Tops/s"} if kind == "beegfs" else {})}}
    names = [f"n{n}" for n in range(hosts)]
    tool = {"name": "mdtest", "test": test, "u": False}
    data = {"files": 800, "each": "1 B"}
    transfers = {
        n: {"from": f"{n}:/dev/zero", "to": f"{n}:/b", "runs": 8, "tool": tool, "dataset": data} for n in names
    }
    found = rate({"name": "t", "hosts": {n: machine(volumes=mount) for n in names}, "transfers": transfers})
    assert found == pytest.approx(expected, rel=0.03)
