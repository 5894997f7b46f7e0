"""Processor time of iperf3 as figures of the hosts at both ends: cycles a byte of their network stacks.

``cpu_utilization_percent`` is what the process and the kernel on its behalf took of one core. The same test at the rate
that was measured is held against it, over a network that holds nothing back: how fast the way is does not matter then.
Since 3.16 each stream has a thread, and the share is of as many cores (esnet/iperf release notes). What interrupts take
on other cores is in neither.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final

from dtnsim.description import spec
from dtnsim.evidence.cases import Case
from dtnsim.evidence.dates import when
from dtnsim.evidence.figures import Figure
from dtnsim.evidence.fit_targets import Skip, Target, Targets
from dtnsim.ground import yamlio
from dtnsim.ground.errors import DtnsimError
from dtnsim.logs.measurement import Measurement

#: error of a share of the processor (as of those of the shipped sites), which repeats do not lessen
_SPREAD: Final = 0.07
#: runs of one test that are used, the last ones: more say no more, and each has a path of its own
_MOST: Final = 6
#: a network that holds nothing back
_WAY: Final = {"bandwidth": "800 Gb/s", "rtt": "1 ms"}
_LOOPBACK: Final = ("localhost", "127.", "::1")
_THREADS: Final = (3, 16)


def figures(measured: Iterable[Measurement], targets: Targets) -> tuple[list[Figure], list[str], set[str | None]]:
    """(figures, notes on what was left out, files that have a figure, whether or not it is one of the last)."""
    found: list[Figure] = []
    notes: list[str] = []
    rates: dict[str | None, Measurement] = {}
    files: set[str | None] = set()
    for m in measured:
        if m.tool != "iperf3" or m.status != "complete" or m.conditions.get("interval"):
            continue
        if m.quantity == "throughput" and m.value > 0 and m.conditions.get("stream") is None:
            rates[m.file] = m
        elif m.quantity == "cpu_share" and m.value > 0 and m.file in rates:
            try:
                figure = _figure(m, rates[m.file], targets)
            except (Skip, DtnsimError) as why:
                notes.append(f"{m.file}:{m.line}: left out: {why}")
            else:
                found += [figure] if figure is not None else []
                files |= {m.file} if figure is not None else set()
    tests: dict[tuple[object, ...], list[Figure]] = {}
    for figure in found:
        tests.setdefault(_key(figure), []).append(figure)
    found = [f for runs in tests.values() for f in runs[-_MOST:]]
    same = Counter(_key(f) for f in found)
    found = [replace(f, case=replace(f.case, spread=_SPREAD * math.sqrt(same[_key(f)]))) for f in found]
    return found, notes, files


def _key(figure: Figure) -> tuple[object, ...]:
    return figure.case.site, figure.case.overrides


def _figure(m: Measurement, rate: Measurement, targets: Targets) -> Figure | None:
    """None where nobody describes the host."""
    said, role = rate.conditions, m.conditions.get("role")
    peer = str(said.get("target") or "")
    if peer.startswith(_LOOPBACK):
        raise Skip("both ends are on one host: its stack has no NIC there; test between two hosts")
    if role not in ("sender", "receiver") or said.get("protocol") == "udp":
        raise Skip("the direction is not known" if role is None else "datagrams: test TCP")
    far = targets.peer(peer)
    if m.conditions.get("where") == "remote":
        if far is None:
            return None
        return _case(m, rate, far, None)
    return _case(m, rate, targets.of(m), far)


def _case(m: Measurement, rate: Measurement, own: Target, far: Target | None) -> Figure:
    streams = int(rate.conditions.get("streams") or 1)
    other = far.name if far is not None and far.name != own.name else f"beyond-{own.name}"
    ends = (own.name, other) if m.conditions["role"] == "sender" else (other, own.name)
    version = tuple(int(p) for p in (m.version or "").split("+")[0].split(".")[:2] if p.isdigit())
    tool: dict[str, object] = {"name": "iperf3", "P": streams} | ({"version": m.version} if len(version) == 2 else {})
    moved = {"from": f"{ends[0]}:memory", "to": f"{ends[1]}:memory"}
    paced = moved | {"tool": tool | {"b": f"{rate.value / streams:.6g} B/s"}}
    raws = {own.name: own.raw, other: far.raw if far is not None else own.raw}
    given = {"name": m.tool, "transfer": paced, "hosts": raws, "wan": _WAY}
    path = spec.resolve(yamlio.mapping(given, str(m.file), m.line or 0))
    threads = streams if len(version) == 2 and version >= _THREADS else 1
    case = Case(
        id=f"{Path(m.file or 'log').name}:{m.line}:{m.conditions['role']}",
        site=own.name,
        path=Path(f"{m.tool} on {own.name}"),
        overrides=(json.dumps(moved | {"tool": tool}),),
        quantity="cpu_share",
        pattern=rf"^{re.escape(own.name)}\.cpu\.iperf3 {m.conditions['role']}",
        measured=m.value / threads,
        spread=_SPREAD,
        role="fit",
        tool=m.tool,
        log=(Path(m.file or "log"), m.line or 0),
        what=m.printed,
    )
    return Figure(case, path, when(rate))
