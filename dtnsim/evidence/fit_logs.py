"""Benchmark logs to figures of a host: which volume, which tool with which options each run was.

dd says in its command where it reads and writes. bonnie++, IOzone and fio logs often do not say on which
volume they ran; then the host must have only one, or the caller names it. Runs over a network need
a path between two hosts, which no log describes: those belong into a cases file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from dtnsim.description import spec
from dtnsim.description.host import Host, build_host
from dtnsim.description.hosts import named
from dtnsim.evidence.cases import Case
from dtnsim.evidence.figures import Figure
from dtnsim.ground import yamlio
from dtnsim.ground.errors import InputError
from dtnsim.logs import read_logs
from dtnsim.logs.measurement import Condition, Measurement

#: tests of the same kind that differ by more than this factor contradict each other
CONFLICT: Final = 1.5
_SPREAD: Final = 0.03

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


#: conditions of a measurement; part of a path file
Conditions = Mapping[str, Condition]
Described = dict[str, Any]


class Skip(Exception):  # noqa: N818 - not an error: a figure that says nothing about the host
    """Why a figure is not used."""


@dataclass(frozen=True, slots=True)
class Target:
    """The host whose parameters are wanted, and where logs that do not say it ran."""

    name: str
    host: Host
    volume: str | None
    raw: yamlio.Mapping

    def mount(self, path: str | None) -> str:
        """The volume that a path of a log lies on.

        Raises:
            InputError: the host has no such volume, so the log is of another host; or the log does not say which.
        """
        if path is not None:
            mount = self.host.mount_of(path)
            if mount is None:
                raise InputError(
                    f"{path} is on no volume of host {self.name!r} ({', '.join(self.host.volumes) or 'none'}): "
                    "the log is of another host, or the host file lacks that volume"
                )
            return mount
        if self.volume is not None:
            return self.volume
        if len(self.host.volumes) == 1:
            return next(iter(self.host.volumes))
        raise InputError(
            f"the log does not say on which volume of {self.name!r} it ran; "
            f"write --volume with one of {', '.join(self.host.volumes) or 'none'}"
        )


def figures(logs: Sequence[Path], host: str, volume: str | None = None) -> tuple[list[Figure], list[str]]:
    """Reads component tests of a host from raw logs.

    Args:
        logs: Log files.
        host: Host file, or the name of a shipped host.
        volume: Mount point for tests whose log names none.

    Returns:
        (figures, notes on what was left out and why).

    Raises:
        InputError: a log cannot be read, is of another host, contradicts another, or none has a figure.
    """
    target = _target(host, volume)
    measured, unread = read_logs(logs)
    notes = [f"{u.file}:{u.line}: not read: {u.why}" for u in unread]
    found: list[Figure] = []
    for m in measured:
        if m.quantity != "throughput" or m.conditions.get("interval") or m.conditions.get("cumulative"):
            continue
        try:
            found.append(_figure(m, target))
        except Skip as why:
            notes.append(f"{m.file}:{m.line}: left out: {why}")
    if not found:
        files = ", ".join(str(f) for f in logs)
        reason = f" ({notes[0]})" if notes else ""
        raise InputError(f"{files}: no component test of {target.name!r} in it{reason}")
    check_conflicts(found)
    return found, notes


def check_conflicts(found: Sequence[Figure]) -> None:
    """Refuses figures of one and the same test that contradict each other.

    Raises:
        InputError: naming both places.
    """
    first: dict[tuple[object, ...], Figure] = {}
    for figure in found:
        case = figure.case
        same = (str(case.path), case.overrides, case.quantity, case.pattern, case.transfer)
        other = first.setdefault(same, figure)
        low, high = sorted((other.case.measured, case.measured))
        if case.bound is None and other.case.bound is None and high > CONFLICT * low:
            raise InputError(
                f"{place_of(other.case)} and {place_of(case)} are the same test and contradict each other: "
                f"{other.case.measured:.4g} and {case.measured:.4g} {case.unit}; leave the wrong one out, "
                "or describe what was different in a cases file"
            )


def place_of(case: Case) -> str:
    """Where a figure is written."""
    return f"{case.log[0]}:{case.log[1]}" if case.log else case.name


def _target(host: str, volume: str | None) -> Target:
    raw = named(host)
    name = str(raw.get("name", Path(host).stem))
    built = build_host(name, raw)
    if volume is not None and built.mount_of(volume) is None:
        raise InputError(f"host {name!r} has no volume {volume!r}; write one of {', '.join(built.volumes) or 'none'}")
    return Target(name, built, volume, raw)


def _figure(m: Measurement, target: Target) -> Figure:
    ran_on = m.conditions.get("machine") or m.conditions.get("host")
    if isinstance(ran_on, str):
        name = target.name.lower()
        if ran_on.split(".")[0].lower() not in ("localhost", name, *name.split("-")):
            raise InputError(f"{m.file}:{m.line}: ran on host {ran_on!r}, not on {target.name!r}; give --host {ran_on}")
    if m.status != "complete":
        raise Skip(f"the run is {m.status}")
    if not m.value > 0:
        raise Skip("nothing was moved")
    builder = _BUILDERS.get(m.tool)
    if builder is None:
        raise Skip(f"{m.tool} tests more than this host; describe it in a cases file")
    transfer = builder(m.conditions, target)
    given = {"name": m.tool, "transfer": transfer, "hosts": {target.name: target.raw}}
    resolved = spec.resolve(yamlio.mapping(given, str(m.file), m.line or 0))
    case = Case(
        id=f"{Path(m.file or 'log').name}:{m.line}:{m.conditions.get('operation', '')}",
        site=target.name,
        path=Path(f"{m.tool} on {target.name}"),
        overrides=(json.dumps(transfer),),
        quantity="throughput",
        pattern=None,
        measured=m.value,
        spread=_SPREAD,
        bound=None,
        role="fit",
        tool=m.tool,
        log=(Path(m.file or "log"), m.line or 0),
        transfer=None,
        block_B=None,
        stated=None,
        what=m.printed,
        source="",
    )
    return Figure(case, resolved)


def _size(conditions: Conditions, *keys: str) -> str:
    for key in keys:
        value = conditions.get(key)
        if isinstance(value, int | float) and value > 0:
            return f"{value:.0f} B"
    raise Skip("the log does not say how much was moved")


def _dd(conditions: Conditions, target: Target) -> Described:
    source, sink = (str(conditions.get(k) or "") for k in ("source", "target"))
    if not source and not sink:
        raise Skip("the command line is not in the log")
    ends = [e if e in _DEVICES else target.mount(e) if e.startswith("/") else "" for e in (source, sink or "/dev/null")]
    if "" in ends:
        raise Skip("the command names no full path")
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


def _transfer(target: Target, source: str, sink: str, tool: Described, size: str) -> Described:
    ends = {"from": f"{target.name}:{source}", "to": f"{target.name}:{sink}"}
    return ends | {"tool": tool, "dataset": {"files": 1, "size": size}}


def _on_volume(tool: Described, conditions: Conditions, target: Target) -> Described:
    where = conditions.get("directory") or conditions.get("target")
    mount = target.mount(str(where) if where else None)
    return _transfer(target, "memory", mount, tool, _size(conditions, "file_B", "bytes"))


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
    if pattern not in ("read", "write", "randread", "randwrite") or conditions.get("scope"):
        raise Skip(f"pattern {pattern}")
    tool: Described = {"name": "fio", "rw": pattern, "bs": _size(conditions, "block_B")}
    for key, option in (("depth", "iodepth"), ("jobs", "numjobs"), ("engine", "ioengine")):
        if conditions.get(key) is not None:
            tool[option] = conditions[key]
    if conditions.get("direct"):
        tool["direct"] = True
    return _on_volume(tool, conditions, target)


_BUILDERS: Final[dict[str, Callable[[Conditions, Target], Described]]] = {
    "dd": _dd,
    "bonnie++": _bonnie,
    "iozone": _iozone,
    "fio": _fio,
}
