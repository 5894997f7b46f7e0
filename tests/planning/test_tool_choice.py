"""Another tool, or other settings of the same, where the ends have what it needs."""

import itertools
import math
from pathlib import Path
from typing import Any

import pytest

import dtnsim
from dtnsim.components.base import find_kind, kinds
from dtnsim.description import spec
from dtnsim.description.spec import PathSpec
from dtnsim.ground import library
from dtnsim.ground.errors import InputError
from dtnsim.planning import actions
from dtnsim.planning.actions import Scope
from dtnsim.planning.actions.tool import another, another_there
from dtnsim.planning.messages import tool_advice
from dtnsim.planning.tool_choice import READY, Choice, choose
from dtnsim.report.decision import verdict
from dtnsim.steady.prediction import predict
from dtnsim.tools._command import parse, programs
from dtnsim.tools.plan import Tool, usages
from tests.each import rows, tables
from tests.lab import ENDLESS, machine, volume
from tests.strategies import load, written

FAR = {"hosts": {n: machine(volumes={"/d": volume()}) for n in "ab"}, "wan": {"bandwidth": "10 Gb/s", "rtt": "35 ms"}}
STORE = {
    "hosts": {"a": machine(volumes={"/d": volume(), "/bucket": volume(filesystem={"kind": "s3"}, over="wan")})},
    "wan": {"bandwidth": "10 Gb/s", "rtt": "70 ms"},
}
LARGE, TYPED = {"files": 40, "each": "300 MB"}, "rclone copy --no-check-dest"
POOL = {**FAR, "hosts": {**FAR["hosts"], "a": FAR["hosts"]["a"] | {"count": 2}}}  # type: ignore[dict-item]
ENDS = ((FAR, "a:/d", "b:/d"), (STORE, "a:/d", "a:/bucket"), (STORE, "a:/bucket", "a:/d"), (FAR, "a:/d", "a:/d/two"),
        (POOL, "a:/d", "b:/d"))  # fmt: skip


def path(tool: Any, ends: tuple[dict[str, Any], str, str] = ENDS[0], data: Any = LARGE) -> PathSpec:
    around, start, to = ends
    return load({"name": "p", **around, "transfer": {"from": start, "to": to, "tool": tool, "dataset": data}})


@pytest.mark.parametrize("ends", ENDS, ids=["host", "put", "get", "mount", "pool"])
def test_predict_with_the_setting_of_a_row_gives_the_row(ends: tuple[dict[str, Any], str, str]) -> None:
    spec = path("cp" if ends[2] != "b:/d" else "scp", ends)
    rows, _ = choose(spec, samples=16)
    assert rows[0].own
    assert [r.duration_s.p50 for r in rows[1:]] == sorted(r.duration_s.p50 for r in rows[1:])
    for row in rows:
        assert predict(spec.changed(row.overrides), samples=16).duration_s == row.duration_s, row.name
    assert max(r.best for r in rows) <= 1
    assert sum(r.best for r in rows) >= 1  # in each draw something is the best


def test_a_row_of_ones_own_has_the_options_that_are_stated() -> None:
    names = [choose(path(tool), samples=0)[0][0].name for tool in ({"name": "fpsync", "n": 16}, TYPED)]
    assert names == ["yours: fpsync (n 16)", "yours: rclone (unmodelled --no-check-dest)"]


def _whole(name: str) -> bool:
    """Whether a shipped path is one transfer of files, so that a row is the path."""
    spec = dtnsim.load(name)
    t = spec.transfers[0]
    return len(spec.transfers) == 1 and t.dataset is not None and t.timing() is None and not spec.programs


#: shipped paths whose rows are predicted again; three of them in the suite
PATHS = [name for name in library.names("paths") if name.startswith(("esnet/", "examples/", "venadi/", "uci/"))]


@pytest.mark.parametrize(
    "name", [*PATHS[8:9], *(pytest.param(name, marks=pytest.mark.long) for name in PATHS[:8] + PATHS[9:70])]
)
def test_a_shipped_path_with_the_setting_of_a_row_is_the_row(name: str) -> None:
    """From the file, as ``dtnsim predict NAME --set ...`` reads it."""
    if not _whole(name):
        pytest.skip("several transfers, a test, or no files")
    try:
        rows, _ = choose(dtnsim.load(name), samples=4)
    except InputError:
        pytest.skip("no tool moves files here")
    for row in rows:
        assert dtnsim.predict(name, overrides=row.overrides, samples=4).duration_s == row.duration_s, row.name


def test_options_are_the_best_of_those_tried() -> None:
    """Brute force over what rclone may try to a bucket: nothing is more than 3 % faster, twice over."""
    spec = path("cp", ENDS[1], {"files": 20_000, "each": "1 MB"})
    row = next(r for r in choose(spec, samples=256)[0] if r.name == "rclone to or from a bucket")
    usage = next(u for _, u in usages() if u.name == row.name)
    took = []
    for values in itertools.product(*usage.tries.values()):
        tool = {"name": "rclone", **usage.with_options(dict(zip(usage.tries, values, strict=True)))}
        took.append(predict(path(tool, ENDS[1], {"files": 20_000, "each": "1 MB"}), samples=256).duration_s.p50)
    assert row.duration_s.p50 <= min(took) * 1.061
    assert row.duration_s.p50 < 0.2 * max(took)  # four at once wait for round trips


@pytest.mark.parametrize("tool", ["globus", "scp", "mscp"])
def test_the_path_s_own_tool_has_a_row_at_its_best(tool: str) -> None:
    """Endpoints of Globus told otherwise, runs at once and connections gain: there was no row of them."""
    given = path(tool)
    rows, _ = choose(given, samples=64, have=[tool, "rsync"])
    tuned = next(r for r in rows if r.name == f"{tool}, tuned")
    changes = [s.overrides for s in actions.settings(given, (), 1e9, ("tuning",))]
    alone = min(predict(given.changed(o), samples=64).duration_s.p50 for o in changes)
    assert alone < 0.97 * rows[0].duration_s.p50
    assert tuned.duration_s.p50 < 1.03 * alone
    assert tuned.line.startswith(("as yours, with -", "# ", "globus-connect-server "))
    again, _ = choose(given.changed(tuned.overrides), samples=64, have=[tool, "rsync"])
    assert tuned.name not in {r.name for r in again}


MANY = {"files": 20_000, "each": "10 kB"}


@pytest.fixture(scope="module")
def of_many() -> list[Choice]:
    """The choice for many small files that scp would send."""
    return choose(path("scp", data=MANY), samples=16)[0]


def test_many_small_files_are_tried_as_one_archive(of_many: list[Choice]) -> None:
    packed = next(r for r in of_many if r.name.startswith("tar first"))
    assert [t.name for t in packed.prediction.transfers] == ["transfer", "transfer-pack", "transfer-unpack"]
    sets = packed.overrides
    same = predict(path("scp", data=MANY).changed(sets), samples=16)
    assert same.throughput_Bps == packed.prediction.throughput_Bps
    assert same.drawn.total_Bps * same.drawn.seconds == pytest.approx(200e6)  # bytes count once
    longest = max(t.duration_s.p50 for t in packed.prediction.transfers)
    assert longest < packed.duration_s.p50 < of_many[0].duration_s.p50
    assert not any(r.name.startswith("tar first") for r in choose(path("scp"), samples=0)[0])


def test_the_finding_names_the_line_and_what_it_saves(of_many: list[Choice]) -> None:
    said = tool_advice(of_many)
    ready = [r for r in of_many if not r.own and r.needs in READY]  # in the order of the table
    assert said.startswith(f"use {ready[0].name} ({ready[0].line})")
    fast = next(r for r in of_many[1:] if r.duration_s.p50 == min(x.duration_s.p50 for x in of_many[1:]))
    tuned = next(r for r in choose(path(fast.options, data=MANY), samples=16)[0] if r.name.endswith(", tuned"))
    again, _ = choose(path(fast.options, data=MANY).changed(tuned.overrides), samples=16)
    assert "will do: no tool here is more than a tenth faster" in tool_advice(again)


def test_a_row_is_had_by_its_name() -> None:
    found, _ = choose(path("scp", data=MANY), 0, have=["rsync behind xargs"])
    assert {r.name for r in found if not r.own and not r.archived} == {"rsync behind xargs"}


def test_only_what_is_there() -> None:
    rows, _ = choose(path("scp"), samples=0, have=["rsync", "lftp"])
    assert {r.options["name"] for r in rows if r.options} == {"rsync", "lftp"}
    with pytest.raises(InputError, match="'teleport' is no tool; write some of aws-s3, ") as refused:
        choose(path("scp"), samples=0, have=["teleport"])
    assert len(kinds := str(refused.value).partition("some of ")[2].split(", ")) == len(set(kinds))
    with pytest.raises(InputError, match="no tool is left"):
        choose(path("scp"), samples=0, have=["s5cmd"])


def test_every_usage_can_be_typed() -> None:
    """Its options are the tool's own, and what is typed is read as those."""
    for kind, usage in usages():
        options = usage.with_options({name: values[-1] for name, values in usage.tries.items()})
        tool = Tool.build({"kind": kind, **options})
        program = usage.line.split()[0]
        if program not in programs() or "|" in usage.line or "(" in usage.line or program == "lftp":
            continue
        said = parse(usage.line.format(**options))
        assert said.pop("name") == kind
        read = Tool.build({"kind": kind, **said})
        assert all(getattr(read, k) == getattr(tool, k) for k in usage.tries), usage.name
    assert {k for k, _ in usages()} <= {k for k in kinds() if issubclass(find_kind(k), Tool)}


WINDOWS = {"cpu": {"kind": "cpu", "cores": 16, "clock": "3 GHz"}, "memory": "ddr4-2400-4ch-128g", "os": "Windows 11"}


def _windows(*, mounted: bool) -> PathSpec:
    """Two machines with Windows; ``mounted``: one copies to a share of the other."""
    share = {"/far": volume(filesystem={"kind": "smb"}, server="b:/d")} if mounted else {}
    drive, nic = {"/d": volume(ENDLESS, {"part": "ntfs"})}, {"kind": "nic", "rate": "10 Gb/s"}
    ends = {n: {**WINDOWS, "nic": nic, "volumes": drive | more} for n, more in (("a", share), ("b", {}))}
    around = {"hosts": ends, "wan": {"bandwidth": "10 Gb/s", "rtt": "1 ms"}}
    return path("robocopy" if mounted else "scp", (around, "a:/d", "a:/far" if mounted else "b:/d"), MANY)


def test_between_machines_with_windows_robocopy_is_offered_with_its_threads_and_rsync_is_not() -> None:
    """Microsoft, robocopy: /MT[:n], 8 threads where n is left out, at most 128; no build of rsync or xargs."""
    spec = _windows(mounted=True)
    rows, refused = choose(spec, samples=0)
    assert {r.options["name"] for r in rows[1:] if r.options} == {"robocopy", "rclone", "cp"}
    best = next(r for r in rows[1:] if r.options.get("name") == "robocopy")
    assert 8 <= best.options["MT"] <= 128
    assert best.line == f"robocopy SRC DST /E /MT:{best.options['MT']}"
    assert best.duration_s.p50 < 0.5 * rows[0].duration_s.p50  # one thread waits for each file
    assert ("rsync between mounts", "does not run on a (Windows 11)") in [(r.part, r.why) for r in refused]
    knobs = [s for s in actions.settings(spec, ["a"], 1e9, ("tuning",)) if s.what == "transfer: /MT"]
    said = [(f"transfer.tool.MT={n}", f"robocopy /MT:{n}") for n in (2, 4)]
    assert [(s.overrides[0], s.commands[0]) for s in knobs][:2] == said
    tuned = actions.settings(spec, ["a"], 1e9, ("tuning",))
    others = {s.what: s.commands[0] for s in tuned if not s.commands[0].startswith("robo")}
    assert others == tables("planning/tables")["tuning of Windows"]  # nothing of ethtool, mount or md
    assert all(len(s.commands) == 1 for s in tuned if s.what in others)


@pytest.mark.parametrize(("tool", "system", "warned"), rows("planning/tables", "left_out_for_a_system"))
def test_what_tools_leaves_out_for_a_system_predict_warns_of(tool: str, system: str, *, warned: bool) -> None:
    """It was predicted without a word."""
    spec = _windows(mounted=tool == "robocopy").changed([f"transfer.tool={tool}", f"hosts.a.os={system}"])
    assert all(f"{tool} does not run on a ({system})" in n for n in spec.notes if "run on" in n)
    assert any("run on" in note for note in predict(spec, samples=0).warnings) == warned
    if tool in ("rsync", "bbcp"):
        assert tool not in {row.options.get("name") for row in choose(spec, samples=0)[0][1:]}


def test_a_share_of_the_far_machine_is_mounted_for_robocopy() -> None:
    spec = _windows(mounted=False)
    rows, _ = choose(spec, samples=0)
    offered = {r.options["name"] for r in rows[1:] if r.options}
    assert offered == {"robocopy", "rclone", "sftp", "fdt", "globus", "tar-ssh"}
    row = next(r for r in rows if r.name == "robocopy to a share")
    assert predict(spec.changed(row.overrides), samples=0).duration_s == row.duration_s
    assert row.line.startswith("robocopy SRC \\\\HOST\\SHARE /E /MT:")
    (said,) = another(Scope(spec, ["a"], 1e9))
    assert said.commands[0].partition(" ")[0] in ("robocopy", "rclone", "tar")
    assert not [r for r in choose(path("scp"), samples=0)[0] if r.options.get("name") == "robocopy"]


SMALL = "transfer.dataset={files: 100000, each: 100 kB}"


def _between(tool: object, **disk: object) -> spec.PathSpec:
    hosts = {n: machine(volumes={"/d": volume(**disk)}) for n in "ab"}
    moved = {"from": "a:/d", "to": "b:/d", "tool": tool, "dataset": {"files": 64, "each": "4 GB"}}
    return load({"name": "p", "hosts": hosts, "wan": {"bandwidth": "10 Gb/s", "rtt": "35 ms"}, "transfer": moved})


def _values(path: spec.PathSpec, what: str) -> list[str]:
    found = actions.settings(path, (), 1e9, ("tuning",))
    return [s.overrides[0].rpartition("=")[2] for s in found if s.what == f"transfer: {what}"]


def test_fewer_at_once_are_tried_too() -> None:
    assert _values(_between({"name": "gridftp", "cc": 8}), "-cc") == ["1", "4", "16", "32", "64"]
    assert _values(_between({"name": "gridftp", "cc": 1}), "-cc") == ["2", "4", "8"]


def test_one_does_not_start_globus_four_times_but_tells_its_endpoints() -> None:
    path = _between("globus")
    found = actions.settings(path, (), 1e9, ("tuning",))
    assert not [s for s in found if "runs at once" in s.what]
    knobs = [s for s in found if "network use" in s.what]
    assert [s.overrides[0] for s in knobs] == [f"transfer.tool.concurrency={n}" for n in (1, 4, 8, 16)]
    for s in knobs:
        assert path.changed(s.overrides).transfers[0].tool.max_concurrency == int(s.overrides[0].rpartition("=")[2])  # type: ignore[attr-defined]
        assert "--network-use custom" in s.commands[0]


def test_globus_on_a_personal_computer_has_no_network_use_to_set() -> None:
    path = spec.load("examples/lustre-cluster-globus")
    ends = [end.partition(":")[0] for end in (path.transfers[0].source_end, path.transfers[0].to)]
    systems = [("Windows 10", "", False), ("Windows Server 2022", "", True), ("Windows 10", "false", True)]
    for system, said, knobs in systems:
        sets = [f"hosts.{ends[0]}.os={system}", *([f"transfer.tool.personal={said}"] if said else [])]
        found = actions.settings(path.changed(sets), (), 1e9, ("tuning",))
        assert any("network use" in s.what for s in found) == knobs


def test_another_tool_needs_what_the_ends_have_unless_the_far_side_may_be_asked() -> None:
    path = _between("scp")
    (near, *more), (far, *_) = (find(Scope(path, ())) for find in (another, another_there))
    assert not any("# needs" in s.commands[0] for s in (near, *more))
    rates = [dtnsim.predict(path.changed(s.overrides), samples=0).ceiling for s in (near, far)]
    assert dtnsim.predict(path, samples=0).ceiling < rates[0] <= rates[1]
    assert not list(another_there(Scope(spec.load("venadi/iperf3"), ())))  # a test moves no files


@pytest.mark.parametrize("allow", [["tuning"], ["tuning", "tools"]])
def test_small_files_on_a_mount_want_a_tool_with_many_at_once(allow: list[str]) -> None:
    made = dtnsim.plan("examples/lab-nas-nconnect", target="100Mb/s", allow=allow, overrides=[SMALL], samples=16)
    tools = [w for w in made.wins if w.setting.what == "transfer: another tool"]
    if "tools" in allow:
        assert tools[0].setting.commands[0].startswith("fpsync -n ")
        assert made.tuned.rate > 5 * made.now.rate
        assert made.chosen is made.tuned
    else:
        assert not tools
        assert made.chosen is None
        assert any(s.startswith("--allow tools would meet it (") and "fpsync -n" in s for s in made.sentences)
        assert "would: --allow tools" in made.verdict


def test_what_helps_beside_another_tool_does_not_have_that_tool_s_gain_too() -> None:
    """Larger frames gain five percent of headers; the eightfold of requests at once is the tool's."""
    hosts = {"lab": {"nic": "10GbE", "volumes": {"/d": "any-nvme", "/s3": {"filesystem": "s3"}}}}
    move = {"from": "lab:/d", "to": "lab:/s3", "tool": "aws-s3", "dataset": {"files": 1_000_000, "each": "200 kB"}}
    path = load({"hosts": hosts, "wan": {"bandwidth": "1 Gb/s", "rtt": "40 ms"}, "transfer": move})
    made = dtnsim.plan(path, target="2Gb/s", allow=["tuning", "tools"], samples=16, hints=False)
    gains = {win.setting.what: win.alone_Bps / made.now.rate for win in made.wins}
    assert gains["transfer: another tool"] > 5
    assert gains["jumbo frames"] == pytest.approx(1.1, abs=0.05)
    # of medians, as the table is
    assert math.prod(gains.values()) == pytest.approx(made.tuned.rate / made.now.rate)


def test_a_snapshot_is_no_files() -> None:
    """Tools for files stood beside zfs send, as if they moved a snapshot."""
    spec = path("scp").changed(["transfer.tool={name: tar-ssh, packer: zfs}"])
    with pytest.raises(InputError, match="zfs send moves a snapshot"):
        choose(spec, samples=0)
    assert not list(another_there(Scope(spec, ())))
    assert " by zfs send" in verdict(predict(spec, samples=0))


def test_a_plan_uses_the_tool_that_tools_finds_faster_by_medians_at_the_same_ceiling(tmp_path: Path) -> None:
    """Drives for 198,000 USD were advised where another tool is a fifth faster for nothing."""
    given = spec.load(written(tmp_path / "p.yaml", tables("planning/tables")["a share of a NAS"]))
    rows, _ = choose(given, samples=64)
    best = max(rows, key=lambda r: r.prediction.throughput_Bps.p50)
    made = dtnsim.plan(given, target="20Gb/s", allow=["tuning", "tools"], samples=64, hints=False)
    assert best.prediction.throughput_Bps.p50 > 1.1 * made.now.rate
    assert best.prediction.ceiling < 1.1 * made.now.prediction.ceiling
    assert made.wins[0].setting.another_tool
    assert made.tuned.rate > 0.9 * best.prediction.throughput_Bps.p50


def test_a_rate_above_the_wires_says_what_part_of_the_files_is_sent() -> None:
    """69.7 Gb/s over 1 Gb/s, without a word that a hundredth has changed."""
    given = path({"name": "rsync", "changed": 0.01}).changed(["wan.bandwidth=1 Gb/s"])
    p = predict(given, samples=16)
    assert p.throughput_Bps.p50 > 2 * given.wan[0].bandwidth.value
    assert " by rsync, of which rsync sends 1%: about " in verdict(p)
    assert "of which" not in verdict(predict(path("rsync"), samples=16))
    made = dtnsim.plan(given, target="1Gb/s", allow=["tuning"], samples=16, hints=False)
    assert "Rates are those of all files, of which rsync sends 1%." in made.sentences
