"""Settings of tools: more and fewer at once, Globus' own knobs, another tool where the ends have what it needs."""

from __future__ import annotations

import pytest

import dtnsim
from dtnsim.description import spec
from dtnsim.planning import actions
from dtnsim.planning.actions import Scope
from dtnsim.planning.actions.tool import another, another_there
from tests.lab import machine, volume
from tests.strategies import load

SMALL = "transfer.dataset={files: 100000, each: 100 kB}"


def _between(tool: object, **disk: object) -> spec.PathSpec:
    hosts = {n: machine(volumes={"/d": volume(**disk)}) for n in "ab"}
    moved = {"from": "a:/d", "to": "b:/d", "tool": tool, "dataset": {"files": 64, "each": "4 GB"}}
    return load({"name": "p", "hosts": hosts, "wan": {"bandwidth": "10 Gb/s", "rtt": "35 ms"}, "transfer": moved})


def _values(path: spec.PathSpec, what: str) -> list[str]:
    return [
        s.overrides[0].rpartition("=")[2]
        for s in actions.settings(path, (), 1e9, ("tuning",))
        if s.what == f"transfer: {what}"
    ]


def test_fewer_at_once_are_tried_too() -> None:
    assert _values(_between({"name": "gridftp", "cc": 8}), "-cc") == ["1", "4", "16", "32", "64"]
    assert _values(_between({"name": "gridftp", "cc": 1}), "-cc") == ["2", "4", "8"]


def test_one_does_not_start_globus_four_times_but_tells_its_endpoints() -> None:
    path = _between("globus")
    found = actions.settings(path, (), 1e9, ("tuning",))
    assert not [s for s in found if "runs at once" in s.what]
    knobs = [s for s in found if "network use" in s.what]
    assert [s.overrides[0] for s in knobs] == [f"transfer.tool.concurrency={n}" for n in (4, 8, 16)]
    for s in knobs:
        assert path.changed(s.overrides).transfers[0].tool.max_concurrency == int(s.overrides[0].rpartition("=")[2])  # type: ignore[attr-defined]
        assert "--network-use custom" in s.commands[0]


def test_another_tool_needs_what_the_ends_have_unless_the_far_side_may_be_asked() -> None:
    path = _between("scp")
    (near,), (far,) = (find(Scope(path, ())) for find in (another, another_there))
    assert "# needs" not in near.commands[0]
    rates = [dtnsim.predict(path.changed(s.overrides), samples=0).ceiling for s in (near, far)]
    assert dtnsim.predict(path, samples=0).ceiling < rates[0] <= rates[1]
    assert not list(another_there(Scope(spec.load("venadi/iperf3"), ())))  # a test moves no files


@pytest.mark.parametrize("allow", [["tuning"], ["tuning", "tools"]])
def test_small_files_on_a_mount_want_a_tool_with_many_at_once(allow: list[str]) -> None:
    made = dtnsim.plan("examples/lab-nas-nconnect", target="1Gb/s", allow=allow, overrides=[SMALL], samples=16)
    tools = [w for w in made.wins if w.setting.what == "transfer: another tool"]
    if "tools" in allow:
        assert tools[0].setting.commands[0].startswith("rclone copy --transfers ")
        assert made.tuned.rate > 20 * made.now.rate
        assert made.chosen is made.tuned
    else:
        assert not tools
        assert made.chosen is None
        assert any("--allow tools: transfer: another tool: " in s and "rclone copy" in s for s in made.sentences)
        assert "would: --allow tools" in made.verdict
