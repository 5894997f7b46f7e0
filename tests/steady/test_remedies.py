"""What relieves a bottleneck (`remedies`; `relief` of TCP): the key of the path file, and what then comes."""

import re
from typing import Any

import pytest

import dtnsim
from dtnsim.ground import library
from dtnsim.ground.records import Bottleneck, Problem, Station
from dtnsim.ground.uncertainty import Change
from dtnsim.physics.tcp import controls
from dtnsim.report.decision import decide
from dtnsim.report.holds import called
from dtnsim.steady.prediction import predict
from dtnsim.steady.reasons import key_of, remedy
from dtnsim.steady.relieved import NO_MORE, remedy_of_tool, remedy_words, tried
from tests.each import cases, rows
from tests.lab import answer, journey, machine, volume
from tests.strategies import load


def test_the_remedy_names_the_key_of_the_component() -> None:
    found = dtnsim.predict("venadi/gridftp-gpfs", samples=0)
    assert "hosts.nersc.cpu" in found.bottleneck.remedy
    by_station = {r.station: r.remedy for r in found.ladder}
    assert "hosts.venadi.nics.eth" in by_station["network.tcp.nersc-venadi[transfer]"]  # its narrowest place at last
    assert "hosts.venadi.volumes./bigdata" in by_station["venadi.bigdata.ssds"]


@pytest.mark.parametrize(("files", "more"), [(10_000_000, False), (10, True)])
def test_more_drives_are_advised_where_twice_as_many_help(files: int, *, more: bool) -> None:
    """One rsync of small files waits for each seek, however many disks there are; large files it reads from all."""
    pool = {"kind": "raidz", "parity": 2, "disks": 12, "of": {"kind": "hdd", "rate": "250 MB/s"}}
    host, tool = machine(volumes={"/d": volume(pool, "zfs")}), {"name": "rsync", "e": "none"}
    data = {"files": files, "size": "1 TB"}
    made = answer(journey(host, host, start="a:/d", to="b:memory", tool=tool, dataset=data), samples=0)
    assert remedy_of_tool(made, 0).startswith(
        "more or faster drives" if more else "more groups of fewer drives, or faster ones"
    )
    assert (NO_MORE in remedy_of_tool(made, 0)) != more


def test_a_file_of_sys_is_a_setting_and_costs_nothing() -> None:
    array = {"kind": "raid", "level": 6, "disks": 24, "stripe_cache": 32768, "of": {"kind": "hdd", "rate": "250 MB/s"}}
    cpu = {"kind": "cpu", "cores": 8, "clock": "0.5 GHz"}
    tool, data = {"name": "dd", "bs": "1 MiB", "conv": "fdatasync"}, {"files": 1, "size": "10 TB"}
    host = machine(cpu=cpu, volumes={"/d": volume(array, "xfs")})
    found = decide(answer(journey(host, start="a:memory", to="a:/d", tool=tool, dataset=data), samples=0))
    assert "group_thread_cnt" in found.does[0]
    assert found.costs == "nothing to buy: a setting"


def test_changes_worth_a_word_are_the_best_first_and_those_that_nobody_could_try_last() -> None:
    """Twice as fast, a twentieth faster (not worth it beside that), and of no help."""
    rates = {"a=1": 105.0, "b=1": 200.0, "c=1": 100.0}
    changes = (Change("a clock"), *(Change(key, (key,)) for key in rates))
    made = Station("s", "h", "c", "core", 1.0, "B", changes=changes)
    found = tried(Problem("p", (made,), ()), made, 100.0, lambda o: rates[o[0]])
    assert found.changes == (Change("b=1", ("b=1",)), Change("a clock"))
    assert found.remedy == "b=1; or a clock"


@pytest.mark.parametrize("path", ["venadi/gridftp-gpfs", "uci/ascp-ucinet", "examples/dtn-100g-xfs"])
def test_the_key_of_a_remedy_can_be_overridden(path: str) -> None:
    """What a remedy names is where ``--set`` reaches the component."""
    found = dtnsim.predict(path, samples=0)
    for use in found.stations:
        key = key_of(found.problem, use.station)
        if key.startswith(("hosts.", "wan", "links.")):
            dtnsim.load(path, [f"{key}.source=a test"] if not key.split(".")[-1].startswith("/") else [])


@cases("path, named, key, few, more", rows("steady/tables", "what_ceph_is_advised_is_a_key_and_helps"))
def test_what_ceph_is_advised_is_a_key_and_helps(path: str, named: str, key: str, few: str, more: str) -> None:
    found, better = (dtnsim.predict(path, overrides=[f"{key}={value}"], samples=0) for value in (few, more))
    assert named in found.bottleneck.remedy
    assert better.throughput_Bps.p50 > 1.05 * found.throughput_Bps.p50


def test_one_more_port_in_a_bond_carries_the_connections_of_storage() -> None:
    """NVMe-oF over TCP has 24 connections: hashed onto two ports they use both, as the remedy promises."""
    path, nic = "examples/nvme-of-100g", "hosts.dtn.nics.storage"
    found = dtnsim.predict(path, samples=0)
    assert f"{nic}.ports, {nic}.bonding" in found.bottleneck.remedy
    better = dtnsim.predict(path, overrides=[f"{nic}.ports=2", f"{nic}.bonding=hash"], samples=0)
    assert better.throughput_Bps.p50 > 1.6 * found.throughput_Bps.p50


def test_waiting_and_unknown_kinds() -> None:
    empty = Problem("p", (), ())
    assert "pipelining" in remedy(empty, None)
    assert remedy(empty, Station("x.y", "x", "y", "nothing known", 1.0, "B")) == ""
    assert remedy(empty, Station("x.y", "x", "y", "nic", 1.0, "B", remedy="do this")) == "do this"


PLAIN = machine(tcp={})
TCP = {
    "window": ({"rtt": "50 ms", "buffer": "125 MB"}, {"name": "iperf3", "t": "60 s"}),
    "tool's window": ({"rtt": "50 ms", "buffer": "125 MB"}, {"name": "iperf3", "t": "60 s", "w": "2 MiB"}),
    "find the loss": ({"rtt": "50 ms", "loss": "1e-4", "buffer": "125 MB"}, {"name": "iperf3", "t": "60 s"}),
    "buffer of": ({"rtt": "50 ms", "buffer": "600 kB"}, {"name": "iperf3", "t": "60 s", "C": "reno"}),
}


def held(name: str, *overrides: str) -> Bottleneck:
    wan, tool = TCP[name]
    hosts = (PLAIN, PLAIN) if name == "window" else (None, None)
    path = journey(*hosts, wan={"bandwidth": "10 Gb/s", **wan}, tool=tool)
    return answer(path, *overrides).transfers[0].bottleneck


def test_small_windows_name_the_keys_of_the_hosts_and_what_comes_of_them() -> None:
    text = held("window").remedy
    assert "hosts.a.tcp.wmem_max (net.ipv4.tcp_wmem) from 4 MiB" in text
    assert "hosts.b.tcp.rmem_max (net.ipv4.tcp_rmem) from 6 MiB" in text
    assert re.search(r"at least [\d.]+ MiB$", text)
    wan, tool = TCP["window"]
    path = journey(PLAIN, PLAIN, wan={"bandwidth": "10 Gb/s", **wan}, tool=tool)
    made = answer(path)
    (way,) = (w for w in made.transfers[0].ways if "wmem_max" in w.overrides[0])
    assert way.ceiling_Bps > 2 * made.throughput_Bps.p50
    then = answer(path, *way.overrides).transfers[0]
    assert then.throughput_Bps.p50 == pytest.approx(way.ceiling_Bps, rel=1e-9)
    assert "window-limited" not in then.bottleneck.reason


@pytest.mark.parametrize(("name", "change"), [("find the loss", "wan.loss=0"), ("buffer of", "wan.buffer=62")])
def test_what_a_remedy_of_tcp_names_can_be_typed(name: str, change: str) -> None:
    assert name in held(name).remedy
    wan, tool = TCP[name]
    made = answer(journey(wan={"bandwidth": "10 Gb/s", **wan}, tool=tool))
    assert any(w.overrides[0].startswith(change) for w in made.transfers[0].ways)


PATHS = ["examples/nightly-sync", "examples/campus-25g-firewall", "examples/nas-24-nightly", "venadi/gridftp-gpfs",
         "examples/small-files-40ms", "examples/lustre-cluster-globus", "uci/ascp-ucinet", "nasa/nuttscp-3of7",
         "venadi/rsync-scratch", "examples/s3-upload-nas", "examples/tape-recall"]  # fmt: skip


@pytest.mark.parametrize("name", [p for p in PATHS if p in library.names("paths")])
def test_what_is_said_to_relieve_a_path_does_when_it_is_typed(name: str) -> None:
    """Every option is one that the tool has, and `predict` with it says the number that was printed."""
    made = dtnsim.predict(name, samples=0)
    for f in range(min(len(made.transfers), 2)):
        for way in made.transfers[f].ways:
            then = dtnsim.predict(name, overrides=list(way.overrides), samples=0)
            if ".runs=" in way.overrides[0]:  # in parts, of which the largest ends last
                assert then.ceiling == pytest.approx(way.ceiling_Bps, rel=0.03)
            else:  # while all run: how workers of several steps begin is left out
                steps = len({phase.step for phase in then.problem.transfers[f].phases})
                near = pytest.approx(way.ceiling_Bps, rel=1e-6 if steps == 1 else 0.01)
                assert then.transfers[f].throughput_Bps.p50 == near
            assert way.ceiling_Bps > 1.05 * made.transfers[f].throughput_Bps.p50


def test_windows_that_linux_does_not_have_ask_for_streams() -> None:
    wan = {"bandwidth": "100 Gb/s", "rtt": "250 ms", "buffer": "3 GB"}
    assert "at least 3 streams" in answer(journey(wan=wan)).transfers[0].bottleneck.remedy


def test_buffers_are_sized_by_the_answer_s_own_way_where_loss_holds_the_steady_state() -> None:
    """From a cold start a transfer fills more than the steady windows before its losses have brought it there."""
    wan = {"bandwidth": "20 Gb/s", "rtt": "50 ms", "loss": "1e-6"}
    tool = {"name": "iperf3", "t": "30 s"}

    def given(size: str) -> tuple[float, list[str]]:
        ends = [machine(tcp={"rmem_max": size, "wmem_max": size}) for _ in range(2)]
        told = predict(load({"name": "lossy", **journey(*ends, wan=wan, tool=tool)}), samples=0)
        return told.throughput_Bps.p50, re.findall(r"to at least ([\d.]+ MiB)", told.bottleneck.remedy)

    now, sizes = given("30 MiB")
    most, none = given("2 GiB")
    assert now < 0.3 * most
    assert not none
    assert given(max(sizes, key=lambda size: float(size.split()[0])))[0] > 0.9 * most


@pytest.mark.long
@pytest.mark.parametrize("path", library.names("paths"))
def test_advice_is_worth_a_tenth_or_says_that_nothing_is(path: str) -> None:
    """What is named first brings the most; ladder and trials are solved apart from the words."""
    found = dtnsim.predict(path, samples=0)
    for f, t in enumerate(found.transfers[:4]):
        tried = t.ways
        assert [w.ceiling_Bps for w in tried] == sorted((w.ceiling_Bps for w in tried), reverse=True)
        assert all(w.ceiling_Bps > 1.1 * t.ceiling for w in tried)
        said = remedy_words(found, f)
        assert said
        rungs = [r.throughput_Bps for r in t.ladder]
        if said.startswith("no single change by a tenth"):
            assert not tried
        else:
            assert tried or len(rungs) < 2 or rungs[-1] > 1.1 * t.ceiling


def test_no_advice_for_a_few_percent() -> None:
    """Two ends of one port are the same limit; of a core a third below the drives the gain is named."""
    few = dtnsim.predict("examples/rdma-100g", samples=0)
    assert remedy_words(few, 0).startswith("no single change by a tenth: without this limit the ceiling is 98")
    much = dtnsim.predict("venadi/gridftp-gpfs", samples=0)
    assert remedy_words(much, 0).startswith("a faster clock (hosts.nersc.cpu.clock)")


def test_several_runs_are_advised_beside_another_transfer_as_well() -> None:
    """The rate of all its runs counts; beside another transfer that of one of them did, or the other's."""
    same = {"via": ["core"], "dataset": "10 GB in 100 files"}
    one = {"from": "a", "to": "b:/dev/null", "tool": "rsync", **same}
    two = {"from": "c", "to": "d:/dev/null", "tool": {"name": "rsync", "z": True}, **same}
    links = {"core": {"bandwidth": "400 Gb/s", "rtt": "1 ms"}}
    said = answer({"hosts": dict.fromkeys("abcd", "unknown"), "links": links, "transfers": [one, two]})
    for t in said.transfers:
        gains = [w.ceiling_Bps / t.ceiling for w in t.ways if w.words.startswith("start rsync 4 times")]
        assert 3 < min(gains) <= 4
    assert called(said, "network.core") == "network link core"  # not a processor's core


def test_no_buffer_is_raised_to_less_than_it_has() -> None:
    """Eight connections over 40 ms: the receiver's 6 MiB hold them, the sender's 16 do not."""
    nfs = {"filesystem": {"kind": "nfs", "nconnect": 8}, "server": "filer:/export"}
    disks = {"filesystem": "xfs", "array": {"kind": "raid6", "disks": 10, "of": "any-disk"}}
    hosts = {
        "filer": {"year": 2018, "nic": "10GbE", "volumes": {"/export": disks}, "tcp": {"wmem_max": "16 MiB"}},
        "ws": {"year": 2020, "nic": "10GbE", "volumes": {"/local": "any-nvme", "/mnt": nfs}},
    }
    move = {"from": "ws:/mnt", "to": "ws:/local", "tool": "cp", "dataset": "500 GB in 100 files"}
    found = answer({"hosts": hosts, "wan": {"bandwidth": "10 Gb/s", "rtt": "40 ms"}, "transfer": move})
    said = [float(n) for n in re.findall(r"from ([\d.]+) MiB to at least", found.transfers[0].bottleneck.remedy)]
    assert said == [6.0]
    assert not any("filer.tcp" in o for way in found.transfers[0].ways for o in way.overrides)


def test_the_congestion_control_that_is_named_is_the_fastest_of_all() -> None:
    """As `predict` has each of them."""
    lossy = ["wan.loss=1e-5", "wan.rtt=60ms", "transfer.tool.t=2min"]

    def answer(name: str) -> Any:
        return dtnsim.predict("venadi/iperf3", samples=0, overrides=[*lossy, f"hosts.venadi.tcp.cc={name}"])

    rates = {name: answer(name).throughput_Bps.p50 for name in controls.offered()}
    own = answer("reno")
    sets = [s for use in own.stations for c in use.station.changes for s in c.overrides if ".cc=" in s]
    assert sets == [f"hosts.venadi.tcp.cc={max(rates, key=lambda name: rates[name])}"]
    assert own.throughput_Bps.p50 < min(rates.values())
