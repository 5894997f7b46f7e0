"""VAST: connections of a mount over many server nodes."""

from __future__ import annotations

from typing import Any

import pytest

from dtnsim.components.base import Component, find_kind
from tests.formulas import evaluate
from tests.lab import FREE, Sheet, journey, machine, problem, rate, sheet, volume

READ = (
    {"name": "fio", "rw": "read", "bs": "1 MiB", "direct": True, "iodepth": 8, "ioengine": "libaio", "numjobs": 32},
    "a:/v",
)
CPU = {"kind": "cpu", "cores": 64, "clock": "3 GHz"}
TCP = {**FREE, "receive_byte": "0.5 cycles/B"}
NODES = {"count": 8, "port_rate": "100 Gb/s", "port_share": "1"}


def path(**given: Any) -> dict[str, Any]:
    mount = {"kind": "vast", "servers": NODES, "share": "1", **given}
    nic = {"kind": "nic", "rate": "1 Tb/s", "mtu": "9000 B"}
    host = machine(cpu=CPU, stack=TCP, nics={"e": nic}, volumes={"/v": volume(filesystem=mount, via=["e"])})
    del host["nic"]
    tool, start = READ
    return journey(host, start=start, to="a:/v", tool=tool, dataset={"files": 32, "size": "10 TB"})


def charges(**given: Any) -> Sheet:
    return sheet(problem(path(**given)))


def test_a_connection_is_a_core() -> None:
    """1.5 of RPC and 0.5 of TCP: 1.5 GB/s each at 3 GHz (published: 2 GB/s a mount, eight fill 100 Gb/s)."""
    assert charges().rate("v.connections") == pytest.approx(1.5e9)
    assert charges(nconnect=8).rate("v.connections") == pytest.approx(12e9)
    # two connections for each 100 Gb/s with RDMA (kb.vastdata.com)
    assert charges(proto="rdma", nconnect=2).rate("v.connections") == pytest.approx(2 * 3e9 / 0.45)


@pytest.mark.parametrize(("connections", "addresses", "nodes"), [(1, 8, 1), (8, 1, 1), (8, 4, 4), (32, 64, 8)])
def test_connections_reach_as_many_nodes_as_there_are_addresses(connections: int, addresses: int, nodes: int) -> None:
    found = charges(nconnect=connections, remoteports=addresses)
    assert found.rate("v.touched") == pytest.approx(nodes * 12.5e9)


def test_packets_are_those_of_the_transport() -> None:
    assert charges().demand("e.port0.rx") == pytest.approx(9038 / 8948)
    assert charges(proto="rdma").demand("e.port0.rx") == pytest.approx(4178 / 4096)


@pytest.mark.parametrize(
    ("key", "value", "around"),
    [
        ("nconnect", 16, {}),
        ("remoteports", 8, {"nconnect": 16, "proto": "rdma"}),
        ("service", "1 s", {"nconnect": 16}),
    ],
)
def test_a_key_moves_the_answer(key: str, value: Any, around: dict[str, Any]) -> None:
    assert rate(path(**{**around, key: value})) != pytest.approx(rate(path(**around)), rel=1e-4)


def test_read_ahead_holds_a_buffered_reader() -> None:
    made = [path(nconnect=16, remoteports=8, read_ahead=size) for size in ("15 MiB", "128 KiB")]
    for one in made:
        one["transfer"].update({"to": "a:/dev/null", "tool": {"name": "dd", "bs": "1 MiB"}})
    # a window is read and the next one asked for meanwhile (mm/readahead.c): two are under way
    assert rate(made[1]) == pytest.approx(2 * 128 * 1024 / 0.5e-3, rel=0.01)
    assert rate(made[0]) > 5 * rate(made[1])


def test_its_other_keys_are_those_of_nfs() -> None:
    own = set(find_kind("vast").model_fields) - set(find_kind("nfs").model_fields) - set(Component.model_fields)
    assert own == {"remoteports"}


def test_formulas_give_their_numbers() -> None:
    for station in problem(path(nconnect=8, remoteports=4)).stations:
        assert evaluate(station.formula) == pytest.approx(float(station.capacity), rel=1e-5)
