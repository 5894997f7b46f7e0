"""Volumes whose servers lie beyond a network: segments, TCP windows, round trips; connections that mounts share."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import dtnsim
from dtnsim.composition.resolved_transfer import ways
from dtnsim.ground.errors import SpecError
from tests.each import rows, tables
from tests.lab import machine, problem, rate, sheet, volume
from tests.strategies import load

#: every kind that is reached over TCP, as a mount of servers elsewhere
KINDS: dict[str, dict[str, Any]] = tables("composition/tables")["remote_kinds"]


def far(
    filesystem: dict[str, Any],
    *,
    write: bool = False,
    wan: Any = None,
    over: Any = "wan",
    tool: Any = None,
    **more: Any,
) -> dict[str, Any]:
    """One host and a volume whose servers are at the other end of the WAN."""
    beyond = {"over": over} if over else {}
    host = machine(volumes={"/far": volume(filesystem=filesystem, **beyond)}, **more)
    start, to = ("a:memory", "a:/far") if write else ("a:/far", "a:/dev/null")
    made: dict[str, Any] = {"name": "far", "hosts": {"a": host}}
    made["wan"] = wan or {"bandwidth": "10 Gb/s", "rtt": "100 ms", "loss": 0, "background": {"share": 0}}
    tool = tool or {"name": "dd", "bs": "1 MiB", **({"conv": "fdatasync"} if write else {})}
    made["transfer"] = {"from": start, "to": to, "tool": tool, "dataset": {"files": 1, "size": "100 GB"}}
    return made


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("write", [False, True])
def test_what_every_kind_charges_on_the_way(kind: str, *, write: bool) -> None:
    """The segments in the direction of the bytes, and connections whose windows hold over the round trip."""
    made = far({"kind": kind, **KINDS[kind]}, write=write)
    found = sheet(problem(made))
    assert found.has("network.wan" if write else "network.wan.back")
    assert not found.has("network.wan.back" if write else "network.wan")
    (tcp,) = (
        name
        for name in found.stations
        if name.startswith("network.tcp.a:/far-a" if not write else "network.tcp.a-a:/far")
    )
    assert tcp.partition("[")[2] == ("transfer]" if kind in ("s3", "cephfs", "lustre", "beegfs") else "a:/far]")
    # no farther, no slower: of two ways with equal links the longer one carries less
    near = {**made, "wan": {**made["wan"], "rtt": "1 ms"}}
    assert rate(made) < rate(near) <= 10e9 / 8


@pytest.mark.parametrize("kind", KINDS)
def test_a_way_without_length_or_limit_changes_nothing(kind: str) -> None:
    """The limit of no distance: what the file system itself allows."""
    filesystem = {"kind": kind, **KINDS[kind]}
    plain = far(filesystem, over=None)
    del plain["wan"]  # of one host it would lead to the servers
    assert rate(far(filesystem, wan={"bandwidth": "100 Tb/s"})) == pytest.approx(rate(plain), rel=1e-6)


@settings(max_examples=6)
@given(rtt_ms=st.sampled_from([2, 20, 60, 200]), number=st.sampled_from([1, 3, 9]))
def test_farther_is_slower_and_more_connections_are_not(rtt_ms: int, number: int) -> None:
    def at(rtt: float, connections: int) -> float:
        wan = {"bandwidth": "10 Gb/s", "rtt": f"{rtt} ms"}
        return rate(far({"kind": "s3", "concurrency": connections}, wan=wan))

    assert at(1.5 * rtt_ms, number) <= at(rtt_ms, number) * (1 + 1e-9)
    assert at(rtt_ms, number + 1) >= at(rtt_ms, number) * (1 - 1e-9)


def test_the_round_trip_counts_for_every_file() -> None:
    """A create on CephFS waits for its metadata server: 1 ms there, 100 ms on the way."""
    made = far({"kind": "cephfs", "metadata_time": "1 ms"}, write=True)
    made["transfer"] = {"from": "a:memory", "to": "a:/far", "tool": "cp", "dataset": {"files": 1000, "size": "1 MB"}}
    seconds = dtnsim.predict(load(made), samples=0).duration_s.p50
    near = {**made, "wan": {**made["wan"], "rtt": "0 s"}}
    assert (seconds - dtnsim.predict(load(near), samples=0).duration_s.p50) / 1000 % 0.1 == pytest.approx(0, abs=0.01)
    assert seconds > 1000 * 0.1


def test_the_simulation_agrees_and_feels_outages() -> None:
    made = far({"kind": "s3", "concurrency": 8})
    seconds = dtnsim.predict(load(made), samples=0).duration_s.p50
    (run,) = dtnsim.simulate(load(made)).runs
    assert run.transfers[0].duration_s == pytest.approx(seconds, rel=0.01)
    made["events"] = [{"at": "10 s", "station": "network.wan.back", "factor": 0, "until": "70 s", "what": "down"}]
    (stopped,) = dtnsim.simulate(load(made)).runs
    assert stopped.transfers[0].duration_s - run.transfers[0].duration_s == pytest.approx(60, rel=0.05)


def test_a_network_transfer_meets_the_traffic_of_a_mount() -> None:
    """Two machines and a store behind one link: its direction is shared."""
    made = far({"kind": "s3", "concurrency": 64, "part_size": "64 MiB"})
    made["hosts"]["b"] = machine()
    made["transfers"] = [
        {"name": "get", **made.pop("transfer")},
        {
            "name": "back",
            "from": "b:memory",
            "to": "a:memory",
            "tool": {"name": "iperf3", "P": 64},
            "dataset": {"size": "100 GB"},
        },
    ]
    found = dtnsim.predict(load(made), samples=0)
    assert sum(t.all_run_Bps for t in found.transfers) <= 10e9 / 8
    assert all(t.all_run_Bps < 0.8 * 10e9 / 8 for t in found.transfers)


def test_over_links_in_a_graph() -> None:
    links = {
        "campus": {"between": ["a", "border"], "bandwidth": "40 Gb/s", "rtt": "1 ms"},
        "internet": {"between": ["border", "cloud"], "bandwidth": "10 Gb/s", "rtt": "49 ms"},
    }
    made = {**far({"kind": "s3"}, over=["campus", "internet"]), "links": links}
    del made["wan"]
    found = sheet(problem(made))
    assert found.has("network.campus.back")
    assert found.has("network.internet.back")
    (way,) = ways(load(made))
    assert way.nodes == ("a.far", "network.internet", "network.border", "network.campus", "a.nic", "a.memory")
    with pytest.raises(SpecError, match="does not begin at"):
        problem({**made, "hosts": far({"kind": "s3"}, over=["internet"])["hosts"]})


def test_a_faster_way_with_losses_is_no_slower() -> None:
    """Connections that wait for answers send as they would alone; rounds agree to 0.5 %."""
    made = far({"kind": "s3"}, tool={"name": "aws-s3", "max_concurrent_requests": 16, "client": "destination"})
    made["transfer"]["dataset"] = {"files": 100, "size": "400 GB"}
    way = {"rtt": "70 ms", "loss": 1e-4, "background": {"share": 0}}
    rates = [rate({**made, "wan": {**way, "bandwidth": f"{x} Gb/s"}}) for x in (0.1, 0.5, 1, 5, 20)]
    assert all(b >= a * 0.995 for a, b in pairwise(rates))
    assert rates[-1] > 2 * rates[0]


@pytest.mark.parametrize(("changes", "words"), rows("composition/tables", "what_is_refused"))
def test_what_is_refused(changes: dict[str, Any], words: str) -> None:
    made = far({"kind": "s3"})
    made["hosts"]["a"]["volumes"]["/far"].update(changes)
    with pytest.raises(SpecError, match=words):
        load(made)


# -- one mount, one set of connections --------------------------------------------------------------
def mounted(*names: str, nconnect: int = 1) -> dict[str, Any]:
    """Transfers that read from one NFS mount of a server 10 ms away."""
    mount = {"kind": "nfs", "nconnect": nconnect, "read_ahead": "1 GiB", "slots": "4096", "rpc_byte": "0 cycles/B"}
    client = machine(volumes={"/n": volume(filesystem=mount, server="b:/export")}, tcp={"rmem_max": "8 MiB"})
    server = machine(volumes={"/export": volume(filesystem="tmpfs")})
    one = {"from": "a:/n", "to": "a:/dev/null", "tool": {"name": "dd", "bs": "1 MiB"}, "dataset": {"size": "100 GB"}}
    return {
        "name": "m",
        "hosts": {"a": client, "b": server},
        "wan": {"bandwidth": "10 Gb/s", "rtt": "10 ms"},
        "transfers": [{**one, "name": name} for name in names],
    }


def test_two_programs_share_the_connection_of_their_mount() -> None:
    """nfs(5): all mounts of a server use one connection unless nconnect says more."""
    alone, both, more = (
        dtnsim.predict(load(made), samples=0)
        for made in (mounted("one"), mounted("one", "two"), mounted("one", "two", nconnect=2))
    )
    whole = sum(t.throughput_Bps.p50 for t in both.transfers)
    assert whole == pytest.approx(alone.throughput_Bps.p50, rel=0.01)
    assert sum(t.throughput_Bps.p50 for t in more.transfers) == pytest.approx(2 * whole, rel=0.01)


def test_mounts_of_one_server_share_its_connection() -> None:
    """nfs(5), nosharetransport; mount.cifs(8), nosharesock: what is not said shares the socket."""
    made = mounted("one", "two")
    made["hosts"]["a"]["volumes"]["/other"] = dict(made["hosts"]["a"]["volumes"]["/n"])
    made["transfers"][1]["from"] = "a:/other"
    alone = dtnsim.predict(load(mounted("one")), samples=0).throughput_Bps.p50
    both = dtnsim.predict(load(made), samples=0)
    assert sum(t.throughput_Bps.p50 for t in both.transfers) == pytest.approx(alone, rel=0.01)


def test_every_transfer_has_connections_to_its_own_servers() -> None:
    """Two readers of files on one Lustre server each: two connections, which may be on two ports."""
    nic = {"kind": "nic", "rate": "10 Gb/s", "ports": 2, "bonding": "hash", "mtu": "9000 B"}
    made = far({"kind": "lustre", "stripe_count": 1, "servers": {"count": 50}}, over=None, nic=nic)
    made["hosts"]["a"]["volumes"]["/far"]["via"] = ["nic"]
    one = made.pop("transfer")
    made["transfers"] = [{**one, "name": "one"}, {**one, "name": "two"}]
    found = problem(made)
    names = {s.name for s in found.stations if "bond-hash" in s.name}
    assert names == {"a.nic.bond-hash.rx[one]", "a.nic.bond-hash.rx[two]"}


def test_a_plan_of_a_host_with_nothing_to_buy_says_what_to_set() -> None:
    """The store is somebody else's, and no part of this host is in the catalogue."""
    made = far(
        {"kind": "s3", "concurrency": 1}, tcp={"rmem_max": "6 MiB"}, wan={"bandwidth": "1 Gb/s", "rtt": "130 ms"}
    )
    found = dtnsim.plan(load(made), target="500 Mb/s", samples=16)
    assert len(found.purchases) == 1
    assert any("tcp_rmem" in command for win in found.wins for command in win.setting.commands)
