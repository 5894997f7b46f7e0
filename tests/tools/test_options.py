"""Every option of every tool moves an answer somewhere, or its schema says that it is there for the reader only."""

import functools
import json
import sys
from typing import Any, get_args

import pytest

from dtnsim.components.base import find_kind, kinds
from dtnsim.ground.errors import DtnsimError
from dtnsim.ground.quantity import Quantity, Unit
from dtnsim.tools.plan import Job
from tests.each import rows, tables
from tests.lab import answer, journey, machine, volume

GIVEN = rows("tools/tables", "options")

pytestmark = pytest.mark.long

TOOLS = sorted(k for k, module in kinds().items() if module.startswith("dtnsim.tools."))
#: what an option needs beside it before it matters; ``kind.option`` where it is one kind's alone
BESIDE: dict[str, dict[str, Any]] = tables("tools/tables")["beside"]
WORDS, TRIED, DATA = (GIVEN[name] for name in ("WORDS", "TRIED", "DATA"))
_NFS = {"filesystem": {"kind": "nfs"}, "server": "b:/s"}


def _leaves(annotation: Any) -> list[Any]:
    """Everything that a type is made of."""
    return [annotation, *(leaf for part in get_args(annotation) for leaf in _leaves(part))]


def values(name: str, annotation: Any, metadata: tuple[Any, ...], now: Any) -> list[Any]:
    """Values of an option other than the one it has."""
    leaves = [*_leaves(annotation), *metadata]
    units = [u for u in (*leaves, *(m for p in leaves for m in getattr(p, "__metadata__", ()))) if isinstance(u, Unit)]
    if name in WORDS:
        return WORDS[name]
    if isinstance(now, Quantity) or units:
        return TRIED[now.dim if isinstance(now, Quantity) else units[0].dim]
    if bool in leaves:
        return [not now]
    if int in leaves or float in leaves:
        return [1, 2, 9, 300, -1]
    return [*(w for w in leaves if isinstance(w, str)), "4.0", "8.9", "3.1.3"]


def world(name: str, tool: dict[str, Any], data: dict[str, Any] | None) -> dict[str, Any]:
    """A path on which one thing is scarce: the network, the cores, or the drives."""
    slow = {"kind": "cpu", "cores": 4, "clock": "0.4 GHz" if name in ("cores", "into", "within") else "3 GHz"}
    if name in ("network", "cores"):
        wan = {"network": {"bandwidth": "1 Gb/s", "rtt": "30 ms"}, "cores": {"bandwidth": "400 Gb/s", "rtt": "0.1 ms"}}
        host = machine(cpu=slow)
        if name == "cores":
            host.pop("stack")  # the kernel costs what it costs
        return journey(host, host, tool=tool, dataset=data, wan=wan[name])
    drive = {"kind": "ssd", "read": "2 GB/s", "write": "300 MB/s"}
    pool = volume(
        {"kind": "raid", "level": 5, "disks": 8, "of": "seagate-exos-x16", "software": False},
        {"kind": "zfs", "recordsize": "128 KiB"},
    )
    memory = {"kind": "memory", "channels": 2, "rate": "2400 MT/s", "size": "4 GiB"}
    host = machine(cpu=slow, volumes={"/z": pool, "/s": volume(drive), "/n": {**_NFS}}, memory=memory)
    there = machine(cpu=slow, volumes={"/z": pool, "/s": volume(drive)}, memory=memory)
    for one in (host, there):
        one.pop("vm")
        one.pop("stack")
    start, to = {
        "drives": ("a:/s", "b:/z"), "host": ("a:/s", "a:/z"), "mount": ("a:/s", "a:/n"), "pool": ("a:/z", "a:/s"),
        "into": ("a:/s", "a:memory"), "within": ("a:/s", "a:/s"),
    }[name]  # fmt: skip
    wan = {"bandwidth": "10 Gb/s", "rtt": "2 ms"}
    return journey(host, there, tool=tool, dataset=data, wan=wan, start=start, to=to)


def worlds(kind: str) -> tuple[str, ...]:
    """The paths on which a tool can do something: between hosts, or within one."""
    job = Job("j", 1, 1e9, 1e9, 0, 0.0, "volume", "volume", 8, file_memory_B=(64e9, 64e9))
    try:
        local = all(step.net is None for step in find_kind(kind).build({"kind": kind}).plan(job).steps)
    except DtnsimError:
        local = False
    between = ("network", "drives", "cores", "host", "mount")
    if local and find_kind(kind).tool_class != "local":  # it copies between hosts as well
        return (*between, "pool", "into")
    return ("host", "mount", "pool", "into", "within") if local else between


@functools.cache
def duration(kind: str, options: str, name: str, data: int) -> tuple[float, float] | None:
    """Duration and rate; None where the tool cannot do it."""
    try:
        found = answer(world(name, {"name": kind, **json.loads(options)}, DATA[data])).transfers[0]
    except DtnsimError:
        return None
    return found.duration_s.p50, found.throughput_Bps.p50


def moves(kind: str, name: str, value: Any, around: dict[str, Any]) -> bool:
    """Whether a value of an option changes an answer in any of the worlds."""
    before, after = json.dumps(around), json.dumps({**around, name: value})
    for where in worlds(kind):
        for data in range(len(DATA)):
            was, now = duration(kind, before, where, data), duration(kind, after, where, data)
            if (
                was is not None
                and now is not None
                and any(abs(n - w) > 1e-9 * abs(w) for w, n in zip(was, now, strict=True))
            ):
                return True
    return False


#: options that act on other things than the duration of one transfer, or on buckets; the tests below and plans.yaml
#: show on what
APART = {"fio.ramp_time", "program.holds", "tar-nc.m", "rclone.s3_upload_concurrency"}


def test_ramp_time_is_left_out_of_the_time(tool):
    assert tool("fio", runtime="9 s", ramp_time="2 s").timing(sized=True).omitted == 2
    assert tool("fio", runtime="9 s").timing(sized=True).omitted == 0


def test_what_a_program_holds_is_kept_from_page_caches(tool, job):
    assert tool("program", holds="2 GB").plan(job(rtt_s=0.0)).holds_B == 2e9
    assert tool("tar-nc", through="mbuffer", m="4 GB").plan(job()).holds_B == 4e9
    assert tool("tar-nc", m="4 GB").plan(job()).holds_B == 0


@pytest.mark.parametrize("kind", TOOLS)
def test_an_option_moves_an_answer_or_says_that_it_does_not(kind):
    """A quarter of the options of every tool; ``python -m tests.tools.test_options NAME ...`` tries all (a minute)."""
    assert not idle(kind, 4)


def idle(kind: str, every: int = 1) -> list[str]:
    """Options that move no answer and do not say so, of every so many of a tool."""
    model = find_kind(kind)
    default, found = model.build({"kind": kind}), []
    for number, (name, info) in enumerate(model.model_fields.items(), start=len(kind)):
        if number % every:
            continue
        if (info.json_schema_extra or {}).get("x-documentation-only") or f"{kind}.{name}" in APART:
            continue
        around = BESIDE.get(f"{kind}.{name}", BESIDE.get(name, {}))
        around = {k: v for k, v in around.items() if k in model.model_fields and k != name}
        tried = [
            v for v in values(name, info.annotation, tuple(info.metadata), getattr(default, name)) if v is not None
        ]
        if not any(moves(kind, name, v, around) for v in tried):
            found.append(name)
    return found


if __name__ == "__main__":
    for tool_kind in sys.argv[1:] or TOOLS:
        still = ", ".join(map(str, idle(tool_kind)))
        lacks = f"moves no answer: {still}; what it needs beside it is a row under 'beside' in tests/tools/tables.yaml"
        print(f"{tool_kind}: {lacks if still else 'every option moves an answer'}")
