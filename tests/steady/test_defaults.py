"""Defaults without a spread: what the list says of another value is what comes of writing it."""

from typing import Annotated, Any

import pytest
from pydantic import TypeAdapter

from dtnsim.components import base
from dtnsim.components.tuning import TcpTuning, Vm
from dtnsim.ground.quantity import Draw
from dtnsim.ground.uncertainty import Otherwise
from dtnsim.physics.tcp import rate_over_time
from dtnsim.planning import actions
from dtnsim.simulation import simulate
from dtnsim.steady import assumed as defaults, epochs, timed
from dtnsim.steady.prediction import predict
from tests.each import rows
from tests.lab import journey, machine, volume
from tests.strategies import load

TUNED = {"rmem_max": "1 GiB", "wmem_max": "1 GiB"}


def lossy(**nic: str) -> dict[str, Any]:
    host = machine(nic={"kind": "nic", "rate": "100 Gb/s", **nic}, tcp=TUNED)
    wan = {"rtt": "15 ms", "bandwidth": "100 Gb/s", "loss": "1e-5", "buffer": "100 MB"}
    return journey(host, host, wan=wan, tool={"name": "iperf3", "t": "30 s"})


def test_what_is_listed_is_what_writing_it_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tried first runs its connections together, and so do the parts of what moves."""
    bare, runs, real = predict(load(lossy())), list[int](), rate_over_time.answers
    monkeypatch.setattr(rate_over_time, "answers", lambda *of, **how: (runs.append(len(of[1])), real(*of, **how))[1])
    found = {a.key: a for a in bare.assumed}
    assert len(runs) <= 2, runs
    frames, control = "hosts.a.nics.nic.mtu and hosts.b.nics.nic.mtu", "hosts.a.tcp.cc"
    written = {
        frames: ("hosts.a.nic.mtu=9000 B", "hosts.b.nic.mtu=9000 B"),
        control: ("hosts.a.tcp.cc=bbr",),  # the sender's counts alone
    }
    for key, overrides in written.items():
        assert not found[key].ranges
        spec = load(lossy(), *overrides)
        again = predict(spec, samples=0).throughput_Bps.p50
        assert again / bare.ceiling == pytest.approx(found[key].at_low, rel=1e-3)
        assert key not in {a.key for a in predict(spec).assumed}


def test_frames_that_a_network_between_may_not_carry() -> None:
    """Both ends have jumbo frames; whether the WAN carries them nobody says."""
    bare = predict(load(lossy(mtu="9000 B")))
    found = {a.key: a for a in bare.assumed}["wan.mtu"]
    assert (found.value, found.low) == ("as large as the frames of its ends", "1500 B")
    spec = load(lossy(mtu="9000 B"), "wan.mtu=1500 B")
    again = predict(spec, samples=0).throughput_Bps.p50 / bare.ceiling
    assert again == pytest.approx(found.at_low, rel=1e-3)
    assert again < 0.5  # a loss-based connection has a sixth of the rate
    assert "wan.mtu" not in {a.key for a in predict(spec).assumed}


def test_what_moves_nothing_is_not_listed() -> None:
    """Frames of 9000 are written, and the window holds it: neither frames nor congestion control matter."""
    path = lossy(mtu="9000 B")
    path["wan"]["loss"] = "0"
    path["hosts"]["b"] = {**path["hosts"]["b"], "tcp": {"rmem_max": "1 MiB"}}
    assert {a.key for a in predict(load(path)).assumed} <= {"hosts.b.stack.kernel", "wan.background.share"}


def test_a_cache_that_may_be_larger() -> None:
    host = machine(
        memory={"kind": "memory", "channels": 8, "rate": "3200 MT/s", "size": "64 GiB"}, vm={},
        volumes={"/d": volume({"kind": "ssd", "read": "500 MB/s", "write": "400 MB/s"})},
    )  # fmt: skip
    moved = {"from": "n:memory", "to": "n:/d", "tool": {"name": "dd", "bs": "1 MiB"}, "dataset": {"size": "15 GB"}}
    path = {"name": "t", "hosts": {"n": host}, "transfer": moved}
    found = {a.key: a for a in predict(load(path)).assumed}["hosts.n.vm.dirty_ratio"]
    now, then = (predict(load(path, *o), samples=0).throughput_Bps.p50 for o in ([], ["hosts.n.vm.dirty_ratio=40 %"]))
    assert then / now == pytest.approx(found.at_low)
    assert then > 2 * now


def test_simulate_lists_the_same() -> None:
    spec = load(lossy())
    assert {a.key: a.at_low for a in simulate(spec).assumed} == {a.key: a.at_low for a in predict(spec).assumed}


def test_every_other_value_fits_its_field_and_is_another() -> None:
    models = [*map(base.find_kind, base.kinds()), Vm, TcpTuning]
    found = 0
    for model in models:
        for name, field in model.model_fields.items():
            for other in (m for m in field.metadata if isinstance(m, Otherwise)):
                value = defaults.read(model, name, other.text)
                assert TypeAdapter(Annotated[field.annotation, *field.metadata]).validate_python(value) == value
                assert value != field.default
                assert other.why
                found += 1
    assert found >= 10


CORES = {"cpu": {"kind": "cpu", "cores": 8, "clock": "3 GHz"}, "stack": {"kind": "stack"}}
CACHED = {"memory": {"kind": "memory", "channels": 8, "rate": "3200 MT/s", "size": "64 GiB"}, "vm": {}}
SMALL, LARGE = {"files": 2000, "each": "1 MB"}, {"files": 1, "size": "10 GB"}
FAST = {"kind": "ssd", "read": "20 GB/s", "write": "20 GB/s"}
DISKS = {"kind": "raidz", "of": {"kind": "hdd", "rate": "200 MB/s"}, "disks": 10, "parity": 2}


def between(tool: object, dataset: object = None, rtt: str = "10 ms") -> dict[str, Any]:
    """From memory to memory of two hosts with cores of today."""
    return journey(
        machine(**CORES), machine(**CORES), wan={"rtt": rtt, "bandwidth": "100 Gb/s"}, tool=tool, dataset=dataset
    )


def within(tool: object, dataset: object, array: dict[str, Any], fs: object = "xfs", **host: Any) -> dict[str, Any]:
    """To a volume of one host, from its memory."""
    made = machine(**{**CORES, **host}, volumes={"/d": volume(array, fs)})
    return {
        "name": "t",
        "hosts": {"n": made},
        "transfer": {"from": "n:memory", "to": "n:/d", "tool": tool, "dataset": dataset},
    }


def reading(path: dict[str, Any], **ends: str) -> dict[str, Any]:
    """The same the other way."""
    path["transfer"].update({"from": "n:/d", "to": "n:memory", **ends})
    return path


def over_nfs() -> dict[str, Any]:
    client = machine(**CORES, volumes={"/n": volume(filesystem="nfs", server="b:/d")})
    path = journey(client, machine(**CORES, volumes={"/d": volume(FAST)}), start="a:/n", to="a:memory", tool="cp")
    return {**path, "wan": {"rtt": "1 ms", "bandwidth": "100 Gb/s"}, "transfer": {**path["transfer"], "dataset": LARGE}}


SSD = {"kind": "ssd", "read": "500 MB/s", "write": "400 MB/s"}
DSYNC = {"name": "dd", "bs": "1 MiB", "oflag": "dsync"}
ZFS = "hosts.n.volumes./d.filesystem"
#: what a path leaves open -> the path, the key, and what else it may be
OPEN = {
    "iperf3": (between({"name": "iperf3", "P": 8}), "transfer.tool.version", "3.9"),
    "rsync": (between({"name": "rsync", "compress": True}, LARGE), "transfer.tool.version", "3.1.3"),
    "old ssh": (between("scp", LARGE, "0.5 ms"), "transfer.tool.version", "7.4"),
    "new ssh": (between("scp", SMALL), "transfer.tool.version", "9.6"),
    "rsync's ssh": (between("rsync", LARGE, "0.5 ms"), "transfer.tool.ssh.version", "7.4"),
    "lftp's ssh": (between({"name": "lftp", "protocol": "sftp"}, LARGE, "0.5 ms"), "transfer.tool.ssh.version", "7.4"),
    "gridftp": (between("gridftp", SMALL), "transfer.tool.pp", "true"),
    "rclone": (between("rclone", SMALL), "transfer.tool.backend", "webdav"),
    "cp": (within("cp", LARGE, SSD, **CACHED), "transfer.tool.sync", "true"),
    "tar": (within("tar", LARGE, SSD, **CACHED), "transfer.tool.sync", "true"),
    "dd": (within({"name": "dd", "bs": "1 MiB"}, LARGE, SSD, **CACHED), "transfer.tool.sync", "true"),
    "dd's blocks": (within("dd", LARGE, FAST), "transfer.tool.bs", "1 MiB"),
    "fio's blocks": (reading(within("fio", LARGE, FAST), to="n:/dev/null"), "transfer.tool.bs", "1 MiB"),
    "fio's cache": (reading(within("fio", LARGE, FAST), to="n:/dev/null"), "transfer.tool.direct", "true"),
    "iozone's memory": (
        reading(within({"name": "iozone", "test": "read", "r": "1 MiB"}, LARGE, SSD, **CACHED), to="n:/dev/null"),
        "transfer.cached", "false",
    ),
    "zfs": (reading(within("cp", LARGE, DISKS, "zfs")), f"{ZFS}.version", "0.7"),
    "lz4": (within("cp", LARGE, FAST, "zfs", cpu={**CORES["cpu"], "cores": 2}), f"{ZFS}.compression", "lz4"),
    "zfs sync": (within(DSYNC, LARGE, DISKS, "zfs"), f"{ZFS}.sync", "disabled"),
    "nfs": (over_nfs(), "hosts.a.volumes./n.filesystem.read_ahead", "15 MiB"),
}  # fmt: skip


def listed(path: dict[str, Any], *overrides: str) -> tuple[float, dict[tuple[str, str], float]]:
    """The ceiling, and what each default's other value makes of it."""
    spec = load(path, *overrides)
    composer = timed.composer(spec, Draw())
    nominal = composer.problem()
    whole = float(epochs.total(nominal)[0])
    found = defaults.moved(composer, nominal, whole)
    return whole, {(a.key, a.low): a.at_low for a in found}


@pytest.mark.parametrize(("year", "rsync", "ssh"), rows("steady/tables", "a_host_has_the_tools_of_its_year"))
def test_a_host_has_the_tools_of_its_year(year: int, rsync: str, ssh: str) -> None:
    """As Red Hat Enterprise Linux had them; the older end decides, and what is written wins."""
    tool = {"name": "rsync", "z": True}
    path = journey(machine(year=year), machine(year=2024), tool=tool, dataset={"files": 1, "size": "1 GB"})
    found: Any = load(path).transfers[0].tool
    assert (found.version, found.ssh.version) == (rsync, ssh)
    changes = {(c.name, c.other.text) for c in defaults.unwritten(load(path))}
    assert (("version", "3.2.7") in changes) == (rsync != "3.2.7")  # hosts are upgraded
    written: Any = load(path, "transfer.tool.version=3.4.1").transfers[0].tool
    assert written.version == "3.4.1"


@pytest.mark.parametrize("name", OPEN)
def test_what_a_path_leaves_open_is_listed_until_it_is_stated(name: str) -> None:
    path, key, other = OPEN[name]
    bare, found = listed(path)
    then, left = listed(path, f"{key}={other}")
    assert abs(found[key, other] - 1) > defaults.WORTH
    assert then / bare == pytest.approx(found[key, other], rel=1e-3)
    assert key not in {k for k, _ in left}


def test_answers_list_what_a_tool_leaves_open() -> None:
    path, key, other = OPEN["rsync"]
    (found,) = [a for a in predict(load(path)).assumed if a.key == key]
    assert (found.value, found.low, found.ranges) == ("3.2.7", other, False)


@pytest.mark.parametrize(("streams", "composed"), [(1, False), (8, True)])
def test_releases_that_plan_alike_are_not_composed(
    streams: int, composed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One stream has one thread in every release of iperf3; eight have one before 3.16."""
    tried: list[str] = []
    whole = defaults._Trial.__call__

    def noted(self: Any, *changes: defaults.Change) -> float:
        tried.extend(change.name for change in changes)
        return whole(self, *changes)

    monkeypatch.setattr(defaults._Trial, "__call__", noted)
    listed(between({"name": "iperf3", "P": streams}, LARGE))
    assert tried
    assert ("version" in tried) == composed


def test_what_is_tried_for_a_given_time_is_composed_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """What moves then is asked without what moved before, and no answer to the other question is taken for it."""
    anew, answer = set[bool](), defaults._Trial._answer
    monkeypatch.setattr(defaults._Trial, "_answer", lambda t, c: (anew.add(t.known is None), answer(t, c))[1])
    listed(between({"name": "iperf3", "P": 8}))
    assert anew == {True, False}


@pytest.mark.parametrize("name", ["old ssh", "lz4", "zfs sync", "gridftp"])
def test_what_is_tried_together_hides_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    together = listed(OPEN[name][0])
    monkeypatch.setattr(defaults, "_LITTLE", -1.0)  # each by itself
    assert listed(OPEN[name][0]) == together


@pytest.mark.parametrize(("system", "bbr"), rows("steady/tables", "a_control_that_a_system_cannot_have_is_no_try"))
def test_a_control_that_a_system_cannot_have_is_no_try(system: dict[str, Any], bbr: bool) -> None:
    path = lossy()
    path["hosts"]["a"] = {**path["hosts"]["a"], **system}
    found = predict(load(path), samples=4)
    listed = "hosts.a.tcp.cc" in {a.key for a in found.assumed}
    assert listed == (bbr and "FreeBSD" not in str(system))  # whose default is known
    sets = {o for u in found.stations for c in u.station.changes for o in c.overrides if ".tcp.cc=" in o}
    assert ("hosts.a.tcp.cc=bbr" in sets) == bbr
    typed = {c for s in actions.settings(load(path), ["a"], 1e9, ("tuning",)) for c in s.commands if "bbr" in c}
    assert bool(typed) == bbr
    assert all("sysctl net.inet." in c or "kldload" in c for c in typed) or "FreeBSD" not in str(system)


@pytest.mark.parametrize(("wan", "nic", "jumbo"), rows("steady/tables", "jumbo_frames_are_no_try_where_there_are_none"))
def test_jumbo_frames_are_no_try_where_there_are_none(wan: dict[str, str], nic: dict[str, str], jumbo: bool) -> None:
    path = lossy(**{"rate": "1 Gb/s", **nic})
    path["wan"] |= {"bandwidth": "1 Gb/s", "loss": "1e-3", **wan}
    given = load(path)
    assert any(a.key.startswith("hosts.a.nics.nic.mtu") for a in predict(given, samples=4).assumed) == jumbo
    found = actions.settings(given, ["a", "b"], 1e9, ("tuning",))
    assert any(s.what == "jumbo frames" for s in found) == jumbo
