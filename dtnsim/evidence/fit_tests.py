"""Figures of benchmark logs as the tests that a path file would describe: which tool with which options did what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from dtnsim.evidence.fit_targets import Skip, Target
from dtnsim.logs._catalogue import catalogue
from dtnsim.logs.measurement import Condition, Measurement

#: conditions of a measurement; part of a path file
Conditions = Mapping[str, Condition]
Described = dict[str, Any]

_DEVICES: Final = ("/dev/zero", "/dev/null", "/dev/urandom", "/dev/random")
_BONNIE: Final = {
    "write": "block-write",
    "rewrite": "rewrite",
    "read": "block-read",
    "write_per_char": "char-write",
    "read_per_char": "char-read",
}
_IOZONE: Final = {
    "write": "write",
    "rewrite": "rewrite",
    "read": "read",
    "reread": "reread",
    "random_read": "random-read",
    "random_write": "random-write",
    "backward_read": "backward-read",
    "record_rewrite": "record-rewrite",
    "stride_read": "stride-read",
    "fwrite": "fwrite",
    "frewrite": "frewrite",
    "fread": "fread",
    "freread": "freread",
}
_ENGINES: Final = ("psync", "sync", "libaio", "io_uring", "posixaio")
#: block of ``hdparm -t`` (hdparm.c: TIMING_BUF_MB)
_HDPARM_B: Final = 2 * 1024**2


def described(m: Measurement, target: Target) -> Described:
    """The transfer that a figure is of.

    Raises:
        Skip: it fits nothing on this host, and why.
    """
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
    given = (source, sink or "/dev/null")
    ends = [e if e in _DEVICES else target.mount(e if e.startswith("/") else None) for e in given]
    if ends[0] in _DEVICES and ends[1] in _DEVICES:
        raise Skip("no volume takes part")
    sync = str(conditions.get("sync") or "none")
    options: dict[str, dict[str, str]] = {
        "fdatasync": {"conv": "fdatasync"},
        "fsync": {"conv": "fsync"},
        "dsync": {"oflag": "dsync"},
        "sync": {"oflag": "sync"},
        "none": {},
    }
    if sync not in options:
        raise Skip(f"sync mode {sync}")
    if conditions.get("direct"):  # of the end that is no device: dd refuses it for the others
        options[sync] = options[sync] | ({"iflag": "direct"} if ends[1] in _DEVICES else {"oflag": "direct"})
    block = _size(conditions, "block_B")
    moved = _size(conditions, "bytes", "file_B")
    return _transfer(target, ends[0], ends[1], {"name": "dd", "bs": block} | options[sync], moved)


def _transfer(target: Target, source: str, sink: str, tool: Described, size: str, files: int = 1) -> Described:
    ends = {"from": f"{target.name}:{source}", "to": f"{target.name}:{sink}"}
    return ends | {"tool": tool, "dataset": {"files": files, "size": size}}


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
    test = _IOZONE.get(str(conditions.get("operation")))
    if test is None or conditions.get("processes", 1) not in (1, None):
        raise Skip(f"test {conditions.get('operation')}")
    direct = {"direct": True} if conditions.get("direct") else {}
    return _on_volume({"name": "iozone", "test": test, "r": _size(conditions, "record_B")} | direct, conditions, target)


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
    "dd": _dd,
    "bonnie++": _bonnie,
    "iozone": _iozone,
    "fio": _fio,
    "hdparm": _hdparm,
}
