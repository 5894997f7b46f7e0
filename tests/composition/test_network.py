"""What lies between hosts: which way bytes go, and what a byte costs at both ends and on the way."""

from typing import Any

import pytest

from dtnsim.composition.network import Network
from dtnsim.description import spec
from dtnsim.ground.errors import SpecError
from tests.lab import journey, machine, problem, rate, sheet
from tests.strategies import load


def linked(links: dict[str, dict[str, Any]], hosts: str = "abc", **transfer: Any) -> dict[str, Any]:
    given = journey()
    given["hosts"] = {h: machine() for h in hosts}
    given["links"] = {n: {"bandwidth": "10 Gb/s", **link} for n, link in links.items()}
    given["transfer"] |= transfer
    del given["wan"]
    return given


def hops(path: dict[str, Any], source: str = "a", destination: str = "b") -> list[tuple[str, bool]]:
    found: spec.PathSpec = load(path)
    via = found.transfers[0].via
    made = Network(found).route(found.hosts[source], found.hosts[destination], via)
    return [(name, forward) for name, _, forward in made.hops]


TRIANGLE = {
    "direct": {"between": ["a", "b"], "rtt": "50 ms"},
    "up": {"between": ["a", "router"], "rtt": "5 ms"},
    "down": {"between": ["b", "router"], "rtt": "7 ms"},
}


def test_the_shortest_way_by_delay() -> None:
    """12 ms over the router beat 50 ms direct; a link is crossed against the order it was written in."""
    assert hops(linked(TRIANGLE)) == [("up", True), ("down", False)]
    assert hops(linked(TRIANGLE), "b", "a") == [("down", True), ("up", False)]
    slow = {**TRIANGLE, "up": {"between": ["a", "router"], "rtt": "60 ms"}}
    assert hops(linked(slow)) == [("direct", True)]


def test_beside_a_wan_links_join_what_is_near() -> None:
    near = {**linked({"lan": {"between": ["a", "c"], "rtt": "0.2 ms"}}), "wan": {"bandwidth": "10 Gb/s", "rtt": "9 ms"}}
    assert [hops(near, *ends) for ends in ("ab", "ba", "ca")] == [[("wan", True)], [("wan", False)], [("lan", False)]]


def test_a_transfer_may_name_its_way() -> None:
    assert hops(linked(TRIANGLE, via=["direct"])) == [("direct", True)]
    assert hops(linked(TRIANGLE, via=["up", "down"])) == [("up", True), ("down", False)]


def test_by_name_and_by_delay_a_link_is_the_same_station() -> None:
    """Two transfers in the same direction share it, whoever chose it, and however its ends are written."""
    for ends in (["a", "b"], ["b", "a"]):
        transfers = [
            {"name": "x", "from": "a:memory", "to": "b:memory", "tool": "iperf3", "via": ["l"]},
            {"name": "y", "from": "a:memory", "to": "b:memory", "tool": "iperf3"},
        ]
        path = linked({"l": {"between": ends}}, "ab")
        both = {**path, "transfers": transfers}
        del both["transfer"]
        assert rate(both) == pytest.approx(rate(path), rel=1e-9)


@pytest.mark.parametrize("via", [["down"], ["up", "direct"]])
def test_links_that_do_not_meet(via: list[str]) -> None:
    with pytest.raises(SpecError, match="does not begin at"):
        hops(linked(TRIANGLE, via=via))


def test_hosts_that_no_links_join() -> None:
    with pytest.raises(SpecError, match=r"no links join 'a' and 'b'.*between"):
        hops(linked({"l": {"between": ["a", "c"]}}))


def test_a_link_that_is_not_there() -> None:
    with pytest.raises(SpecError, match=r"is not a link.*links: direct, up, down"):
        load(linked(TRIANGLE, via=["sideways"]))


def test_three_hosts_and_two_transfers_share_what_they_share() -> None:
    """a and c send to b over the same last link: half of it each."""
    links = {"ar": {"between": ["a", "r"]}, "cr": {"between": ["c", "r"]}, "rb": {"between": ["r", "b"]}}
    path = linked(links)
    path["transfers"] = [{"name": h, "from": f"{h}:memory", "to": "b:memory", "tool": "iperf3"} for h in ("a", "c")]
    del path["transfer"]
    alone = rate(linked(links))
    assert rate(path) == pytest.approx(alone, rel=1e-9)
    path["links"]["rb"]["bandwidth"] = "100 Gb/s"
    assert rate(path) == pytest.approx(2 * alone, rel=1e-9)


def loopback(**tool: Any) -> dict[str, Any]:
    """iperf3 between two programs of one host of sixteen cores at 3 GHz."""
    memory = {"kind": "memory", "channels": 16, "rate": "3200 MT/s", "size": "64 GiB"}
    host = machine(cpu={"kind": "cpu", "cores": 16, "clock": "3 GHz"}, memory=memory, stack={"kind": "stack"})
    return {
        "name": "lo",
        "hosts": {"a": host},
        "transfer": {"from": "a:memory", "to": "a:memory", "tool": {"name": "iperf3", "t": "10 s", **tool}},
    }


def test_loopback_costs_the_cores_of_both_programs_and_neither_wire_nor_bus() -> None:
    """The receiver's thread holds it, 3 GHz over the byte and its part of an aggregate; no card, no PCIe, no DMA."""
    made = sheet(problem(loopback()))
    cycles = made.demand("cpu.iperf3 receiver")
    assert 0.63 < cycles < 0.9
    assert rate(loopback()) == pytest.approx(3e9 / cycles, rel=0.02)
    assert made.demand("cpu") > cycles + made.demand("cpu.iperf3 sender")  # softirq besides
    assert not any("port" in name or "pcie" in name or "slot" in name for name in made.stations)
    # one copy into the socket's buffer, which is read and written, and one out of it, which is read
    assert made.demand("memory") == pytest.approx(3.0)
    assert rate(loopback(P=4)) > 2 * rate(loopback())
