"""BeeGFS: buffers of files, connections to servers, chunks over targets, mirrors."""

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from dtnsim.components.base import find_kind
from dtnsim.ground.errors import SpecError
from tests import lab
from tests.each import cases, rows
from tests.lab import FREE as FREE_STACK, KiB, MiB, Sheet, journey, machine, problem, rate, sheet, volume, waiting

FREE = {"kind": "beegfs", "latency": "1 us", "target_rate": "1 TB/s", "share": "1", "metadata_time": "0 s",
        "change_time": "0 s", "unlinks": "1000000000000 ops/s", "servers": {"rate": "1000 TB/s"}}  # fmt: skip


def path(*, write: bool = False, streams: int = 1, size: str = "100 TB", block: str = "512 KiB", **given: Any) -> Any:
    host = machine(volumes={"/b": volume(filesystem={**FREE, **given})})
    start, to = ("a:memory", "a:/b") if write else ("a:/b", "a:memory")
    tool = {"name": "iozone", "test": "write" if write else "read", "r": block, "t": streams}
    return journey(host, start=start, to=to, tool=tool, dataset={"files": streams, "size": size})


def charges(**given: Any) -> Sheet:
    return sheet(problem(path(**given)))


def test_one_thread_and_one_node_of_a_qdr_system() -> None:
    """University of Kiel, parallel file system page: one thread 0.6 to 1.5 GB/s, one node 3.8 GB/s."""
    qdr = {"kind": "nic", "rate": "32 Gb/s", "protocol": "infiniband"}
    servers = {"count": 4, "port_rate": "32 Gb/s"}
    host = machine(
        nics={"eth": machine()["nic"], "ib": qdr},
        volumes={"/b": volume(filesystem={"kind": "beegfs", "share": "1", "servers": servers}, via=["ib"])},
    )
    del host["nic"]

    def run(threads: int) -> float:
        tool = {"name": "iozone", "test": "read", "r": "512 KiB", "t": threads}
        return rate(journey(host, start="a:/b", to="a:memory", tool=tool, dataset={"files": threads, "size": "100 TB"}))

    assert 0.6e9 < run(1) < 1.5e9
    assert run(16) == pytest.approx(3.8e9, rel=0.1)


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


def test_nothing_gathers_in_the_clients_memory() -> None:
    """BeeGFS documentation, "Client Side Caching Modes": buffered keeps a few hundred kilobytes of a file."""
    made = path(write=True, block="1 MiB", size="1 GB", latency="1 ms", numtargets=1)
    made["hosts"]["a"]["vm"] = {"dirty_ratio": "0.2"}
    assert rate(made) == pytest.approx(512 * KiB / 1e-3, rel=0.05)


@settings(max_examples=10)
@given(st.integers(1, 12), st.integers(1, 30))
def test_more_targets_never_hurt(each: int, streams: int) -> None:
    given = {"streams": streams, "target_rate": "100 MB/s", "targets": 24}
    assert charges(numtargets=each + 1, **given).rate("b.targets") >= charges(numtargets=each, **given).rate(
        "b.targets"
    )


@pytest.mark.parametrize(("test", "messages"), [("create", 2), ("stat", 1), ("read", 2), ("remove", 2)])
def test_names_are_looked_up_again_at_each_use(test: str, messages: int) -> None:
    """BeeGFS, FhgfsOpsDir.c: a file is asked for again before it is removed; create, open and look-up are one."""
    servers = {"metadata": dict.fromkeys(("create", "stat", "remove"), "1000000000000 ops/s")}
    host = machine(volumes={"/b": volume(filesystem={**FREE, "metadata_time": "1 ms", "servers": servers})})
    tool = {"name": "mdtest", "test": test}
    made = journey(host, start="a:memory", to="a:/b", tool=tool, dataset={"files": 1000, "size": "1 GB"})
    assert waiting(problem(made)) * 1e9 == pytest.approx(messages, rel=1e-3)
    made["hosts"]["a"]["volumes"]["/b"]["filesystem"]["share"] = "0.5"  # others have every second turn
    assert waiting(problem(made)) * 1e9 == pytest.approx(2 * messages, rel=1e-3)


@pytest.mark.parametrize(("test", "changes"), [("create", 4), ("stat", 0), ("read", 0), ("remove", 2)])
def test_a_file_is_a_file_of_the_metadata_server(test: str, changes: int) -> None:
    """BeeGFS documentation, "Metadata Node Tuning": one metadata file for each file, attributes as xattr."""
    servers = {"metadata": dict.fromkeys(("create", "stat", "remove"), "1000000000000 ops/s")}
    host = machine(volumes={"/b": volume(filesystem={**FREE, "change_time": "1 ms", "servers": servers})})
    made = journey(host, start="a:memory", to="a:/b", tool={"name": "mdtest", "test": test},
                   dataset={"files": 1000, "size": "1 GB"})  # fmt: skip
    assert waiting(problem(made)) * 1e9 == pytest.approx(changes, rel=1e-3, abs=1e-6)


@pytest.mark.parametrize(("targets", "rate"), [(1, 2000), (4, 500), (8, 500)])
def test_a_removal_asks_every_target_of_the_file(targets: int, rate: float) -> None:
    """Two storage servers that take a thousand chunks a second away each; a pattern has no more targets than exist."""
    servers = {"count": 2, "metadata": dict.fromkeys(("create", "stat", "remove"), "1000000000000 ops/s")}
    given = {"servers": servers, "unlinks": "1000 ops/s", "numtargets": targets, "targets": 4}
    host = machine(volumes={"/b": volume(filesystem={**FREE, **given})})

    def bound(test: str) -> Sheet:
        tool = {"name": "mdtest", "test": test}
        made = journey(host, start="a:memory", to="a:/b", tool=tool, dataset={"files": 1000, "size": "1 GB"})
        return sheet(problem(made))

    assert bound("remove").rate("b.unlinks") == pytest.approx(rate * 1e6, rel=1e-3)
    assert not bound("create").has("b.unlinks")


def test_the_fullest_target_ends_ior() -> None:
    """Two files of one target each are on the same of two in half of all cases; IOzone stops all with the first."""
    given = {"targets": 2, "numtargets": 1, "target_write": "1 GB/s"}
    host = machine(volumes={"/b": volume(filesystem={**FREE, **given})})
    tools = ({"name": "ior", "np": 2, "t": "1 MiB"}, {"name": "iozone", "t": 2, "r": "1 MiB"})
    data = {"files": 2, "size": "100 TB"}
    ior, iozone = (
        sheet(problem(journey(host, start="a:memory", to="a:/b", tool=t, dataset=data))).rate("b.targets")
        for t in tools
    )
    assert iozone == pytest.approx(1.5e9)
    assert ior == pytest.approx(2e9 / 1.5, rel=0.05)


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


def test_servers_whose_number_alone_is_stated_work_as_the_kind_s_do() -> None:
    """20,000 removals a second of one of BeeGFS; the 130,000 of one of Lustre stood for it."""

    def made(**given: Any) -> Sheet:
        host = machine(volumes={"/b": volume(filesystem={"kind": "beegfs", "servers": given})})
        data = {"files": 1000, "each": "1 B"}
        return sheet(problem(journey(host, start="a:/dev/zero", to="a:/b", tool={"name": "rm"}, dataset=data)))

    assert made(metadata={"count": 3}).rate("b.metadata") == pytest.approx(3 * made().rate("b.metadata"))
