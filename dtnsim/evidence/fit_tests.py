"""Figures of benchmark logs as the tests that a path file would describe: which tool with which options did what.

Of iperf3 it is the processor's time, which gives the cycles a byte of the network stacks at both ends:
``cpu_utilization_percent`` is what the process and the kernel on its behalf took of one core. The same test at the rate
that was measured is held against it, over a network that holds nothing back: how fast the way is does not matter then.
Since 3.16 each stream has a thread, and the share is of as many cores (esnet/iperf release notes). nuttcp prints what
its process took at both ends; it has one for all streams. What interrupts take on other cores is in none of them.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from dtnsim.description import spec
from dtnsim.evidence.dates import when
from dtnsim.evidence.figures import Figure, case_of
from dtnsim.evidence.fit_targets import LOOPBACK, Skip, Target, Targets
from dtnsim.ground import yamlio
from dtnsim.ground.errors import DtnsimError
from dtnsim.ground.grouping import by_key
from dtnsim.logs._catalogue import catalogue
from dtnsim.logs.measurement import Condition, Measurement

#: conditions of a measurement; part of a path file
Conditions = Mapping[str, Condition]
Described = dict[str, Any]

_DEVICES: Final = ("/dev/zero", "/dev/null", "/dev/urandom", "/dev/random")
_BONNIE: Final = {
    "write": "block-write", "rewrite": "rewrite", "read": "block-read", "write_per_char": "char-write",
    "read_per_char": "char-read",
}  # fmt: skip
_IOZONE: Final = (
    "write", "rewrite", "read", "reread", "random_read", "random_write", "backward_read", "record_rewrite",
    "stride_read", "fwrite", "frewrite", "fread", "freread",
)  # fmt: skip
_ENGINES: Final = ("psync", "sync", "libaio", "io_uring", "posixaio")
_HDPARM_B: Final = 2 * 1024**2  #: block of ``hdparm -t`` (hdparm.c: TIMING_BUF_MB)


def described(m: Measurement, target: Target) -> Described:
    """The transfer that a figure is of; `Skip` says why it fits nothing on this host."""
    builder = _BUILDERS.get(m.tool)
    if builder is None:
        raise Skip(why_not(m.tool))
    return builder(m.conditions, target)


def why_not(tool: str) -> str:
    """Why a tool's figures fit nothing, and what would: as its parser says."""
    return str(catalogue().evidence[tool].value)


def _size(conditions: Conditions, *keys: str) -> str:
    for key in keys:
        value = conditions.get(key)
        if isinstance(value, int | float) and value > 0:
            return f"{value:.0f} B"
    raise Skip("the log does not say how much was moved")


def _dd(conditions: Conditions, target: Target) -> Described:
    source, sink = (str(conditions.get(k) or "") for k in ("source", "target"))
    if not source and not sink:
        raise Skip("the command line is not in the log: keep it, like '$ dd if=... of=...', in the line above")
    if not source:
        raise Skip("the command names no if=: how fast a pipe brings data is not known")
    # without of= it is standard output; a relative name is on the only volume, or that of --volume
    operands = (source, sink or "/dev/null")
    ends = [e if e in _DEVICES else target.mount(e if e.startswith("/") else None) for e in operands]
    if ends[0] in _DEVICES and ends[1] in _DEVICES:
        raise Skip("no volume takes part")
    sync = str(conditions.get("sync") or "none")
    options: dict[str, dict[str, str]] = {
        "fdatasync": {"conv": "fdatasync"}, "fsync": {"conv": "fsync"}, "dsync": {"oflag": "dsync"},
        "sync": {"oflag": "sync"}, "none": {},
    }  # fmt: skip
    if sync not in options:
        raise Skip(f"sync mode {sync}")
    if conditions.get("direct"):  # of the end that is no device: dd refuses it for the others
        options[sync] = options[sync] | ({"iflag": "direct"} if ends[1] in _DEVICES else {"oflag": "direct"})
    block = _size(conditions, "block_B")
    moved = _size(conditions, "bytes", "file_B")
    return _transfer(target, ends[0], ends[1], {"name": "dd", "bs": block} | options[sync], moved)


def _transfer(target: Target, source: str, sink: str, tool: Described, size: str) -> Described:
    ends = {"from": f"{target.name}:{source}", "to": f"{target.name}:{sink}"}
    return ends | {"tool": tool, "dataset": {"files": 1, "size": size}}


def _on_volume(tool: Described, conditions: Conditions, target: Target) -> Described:
    where = conditions.get("directory") or conditions.get("target")
    mount = target.mount(str(where) if where and str(where).startswith("/") else None)
    moved, size = _size(conditions, "file_B", "bytes"), target.host.volumes[mount].size
    if size is not None:  # a run of a given time goes over its files again: more is moved than there is room for
        moved = f"{min(float(moved.split()[0]), size.value / 2):.0f} B"
    return _transfer(target, "memory", mount, tool, moved)


def _bonnie(conditions: Conditions, target: Target) -> Described:
    test = _BONNIE.get(str(conditions.get("operation")))
    if test is None:
        raise Skip(f"test {conditions.get('operation')}")
    return _on_volume({"name": "bonnie", "test": test}, conditions, target)


def _iozone(conditions: Conditions, target: Target) -> Described:
    test = str(conditions.get("operation"))
    if test not in _IOZONE or conditions.get("processes", 1) not in (1, None):
        raise Skip(f"test {test}")
    direct = {"direct": True} if conditions.get("direct") else {}
    tool = {"name": "iozone", "test": test.replace("_", "-"), "r": _size(conditions, "record_B")} | direct
    return _on_volume(tool, conditions, target)


def _fio(conditions: Conditions, target: Target) -> Described:
    pattern = str(conditions.get("pattern"))
    if pattern == "None":
        raise Skip("the log does not say what was done (rw=): keep fio's whole output, or --output-format=json")
    if pattern not in ("read", "write", "randread", "randwrite"):
        raise Skip(f"reads and writes are mixed ({pattern}): run them one after the other")
    tool: Described = {"name": "fio", "rw": pattern, "bs": _size(conditions, "block_B")}
    for key, option in (("depth", "iodepth"), ("jobs", "numjobs"), ("engine", "ioengine")):
        if conditions.get(key) is not None:
            tool[option] = conditions[key]
    if tool.get("ioengine", "psync") not in _ENGINES:
        raise Skip(f"engine {tool['ioengine']}: engines that fit are {', '.join(_ENGINES)}")
    if conditions.get("direct"):
        tool["direct"] = True
    for key in ("end_fsync", "fdatasync"):
        if conditions.get("sync") == key:
            tool[key] = True
    return _on_volume(tool, conditions, target)


def _hdparm(conditions: Conditions, target: Target) -> Described:
    if conditions.get("operation") != "read":
        raise Skip("cached reads measure memory")
    tool = {"name": "dd", "bs": f"{_HDPARM_B} B"} | ({"iflag": "direct"} if conditions.get("direct") else {})
    mount = target.mount(str(conditions["device"])) if conditions.get("device") else target.mount(None)
    return _transfer(target, mount, "/dev/null", tool, _size(conditions, "bytes"))


_BUILDERS: Final[dict[str, Callable[[Conditions, Target], Described]]] = {
    "dd": _dd, "bonnie++": _bonnie, "iozone": _iozone, "fio": _fio, "hdparm": _hdparm,
}  # fmt: skip

#: error of a share of the processor (as of those of the shipped sites), which repeats do not lessen
_SPREAD: Final = 0.07
_MOST: Final = 6  #: runs of one test that are used, the last ones: more say no more, and each has a path of its own
#: a network that holds nothing back
_WAY: Final = {"bandwidth": "800 Gb/s", "rtt": "1 ms"}
_THREADS: Final = (3, 16)


def of_processors(measured: Iterable[Measurement], targets: Targets) -> tuple[list[Figure], list[str], set[str | None]]:
    """(figures, notes on what was left out, files that have a figure, whether or not it is one of the last)."""
    figures: list[Figure] = []
    notes: list[str] = []
    rates: dict[str | None, Measurement] = {}
    files: set[str | None] = set()
    for m in measured:
        if m.tool not in ("iperf3", "nuttcp") or m.status != "complete" or m.conditions.get("interval"):
            continue
        if m.quantity == "throughput" and m.value > 0 and m.conditions.get("stream") is None:
            rates[m.file] = m
        elif m.quantity == "cpu_share" and m.value > 0 and m.file in rates:
            try:
                figure = _figure(m, rates[m.file], targets)
            except (Skip, DtnsimError) as why:
                notes.append(f"{m.file}:{m.line}: left out: {why}")
            else:
                figures += [figure] if figure is not None else []
                files |= {m.file} if figure is not None else set()
    tests = by_key((_key(figure), figure) for figure in figures)
    figures = [f for runs in tests.values() for f in runs[-_MOST:]]
    same = Counter(_key(f) for f in figures)
    figures = [replace(f, case=replace(f.case, spread=_SPREAD * math.sqrt(same[_key(f)]))) for f in figures]
    return figures, notes, files


def _key(figure: Figure) -> tuple[object, ...]:
    return figure.case.site, figure.case.overrides


def _figure(m: Measurement, rate: Measurement, targets: Targets) -> Figure | None:
    """None where nobody describes the host."""
    conditions, role = rate.conditions, m.conditions.get("role")
    peer = str(conditions.get("target") or "")
    if peer.startswith(LOOPBACK):
        raise Skip("both ends are on one host: its stack has no NIC there; test between two hosts")
    if role not in ("sender", "receiver") or conditions.get("protocol") == "udp":
        raise Skip("the direction is not known" if role is None else "datagrams: test TCP")
    far = targets.peer(peer)
    remote = m.conditions.get("where") == "remote"
    if m.tool == "nuttcp":  # it prints the shares of both ends
        if not peer or conditions.get("direction") not in ("send", "receive"):
            raise Skip("the command line is not in the log: keep it, like '$ nuttcp -i1 HOST', in the line above")
        remote = (role == "sender") != (conditions["direction"] == "send")
    if remote:
        return None if far is None else _case(m, rate, far, None)
    return _case(m, rate, targets.target_of(m), far)


def _case(m: Measurement, rate: Measurement, near: Target, far: Target | None) -> Figure:
    streams = int(rate.conditions.get("streams") or 1)
    other = far.name if far is not None and far.name != near.name else f"beyond-{near.name}"
    ends = (near.name, other) if m.conditions["role"] == "sender" else (other, near.name)
    version = tuple(int(p) for p in (m.version or "").split("+")[0].split(".")[:2] if p.isdigit())
    tool: dict[str, object] = {"name": "iperf3", "P": streams}
    if m.tool == "iperf3" and len(version) == 2:
        tool["version"] = m.version
    moved = {"from": f"{ends[0]}:memory", "to": f"{ends[1]}:memory"}
    paced = moved | {"tool": tool | {"b": f"{rate.value / streams:.6g} B/s"}}
    raws = {near.name: near.raw, other: far.raw if far is not None else near.raw}
    description = {"name": m.tool, "transfer": paced, "hosts": raws, "wan": _WAY}
    path = spec.resolve(yamlio.mapping(description, str(m.file), m.line or 0))
    threads = streams if "version" in tool and version >= _THREADS else 1
    name, override = f"{Path(m.file or 'log').name}:{m.line}:{m.conditions['role']}", json.dumps(moved | {"tool": tool})
    kind = {"quantity": "cpu_share", "pattern": rf"^{re.escape(near.name)}\.cpu\.iperf3 {m.conditions['role']}"}
    fields = {"id": name, "overrides": (override,), "measured": m.value / threads, "spread": _SPREAD, "role": "fit"}
    return Figure(case_of(m, near.name, **kind, **fields), path, when(rate))
