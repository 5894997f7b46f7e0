"""Benchmark logs to figures of hosts: which host and volume, which tool with which options each run was.

dd says in its command where it reads and writes. bonnie++, IOzone and fio logs often do not say on which
volume they ran; then the host must have only one, or the caller names it. Of runs over a network the processor's time
is a figure of its host (`dtnsim.evidence.fit_tests`), and the rates are of the way (`dtnsim.evidence.fit_wan`).
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from dtnsim.description import spec
from dtnsim.description.spec import PathSpec
from dtnsim.evidence.cases import Case
from dtnsim.evidence.dates import when
from dtnsim.evidence.figures import Figure, case_of
from dtnsim.evidence.fit_facts import Fact, of_host
from dtnsim.evidence.fit_targets import Skip, Target, Targets, devices_of
from dtnsim.evidence.fit_tests import described, of_processors, why_not
from dtnsim.evidence.fit_wan import ends
from dtnsim.ground import yamlio
from dtnsim.ground.errors import InputError
from dtnsim.ground.grouping import by_key
from dtnsim.logs import read_logs
from dtnsim.logs._catalogue import catalogue
from dtnsim.logs.base import Evidence
from dtnsim.logs.measurement import Measurement

#: tests of the same kind that differ by more than this factor contradict each other
CONFLICT: Final = 1.5
SPREAD: Final = 0.03


def read(
    logs: Sequence[Path],
    hosts: str | Sequence[str],
    volume: str | None = None,
    names: Mapping[str, str] | None = None,
    runs: Sequence[Measurement] | None = None,
) -> tuple[list[Figure], list[str], list[Fact]]:
    """(figures of component tests in raw logs, what was left out and why, what outputs say of the hosts' parts)."""
    targets = Targets([hosts] if isinstance(hosts, str) else hosts, volume, names, devices_of(logs))
    measured, unread = read_logs(logs) if runs is None else (list(runs), [])
    notes = [f"{u.file}:{u.line}: not read: {u.why}" for u in unread]
    facts: list[Fact] = []
    if len(targets.all) == 1:
        mine = [m for m in measured if targets.knows(m, *ends(m))]
        targets.all[0], facts, unmatched = of_host(targets.all[0], mine, logs)
        notes += unmatched
    figures, unused, network = of_processors(measured, targets)
    notes += unused
    foreign: list[InputError] = []
    cache: dict[str, tuple[PathSpec, str]] = {}
    for m in whole_runs(measured):
        if m.tool in ("iperf3", "nuttcp") and m.file in network:
            continue  # its rate is in the figure of its processor
        try:
            figures.append(_figure(m, targets.target_of(m), cache))
        except Skip as why:
            notes.append(f"{m.file}:{m.line}: left out: {why}")
        except InputError as why:
            foreign.append(why)
    notes += _idle(measured)
    if not figures:
        if foreign:
            raise foreign[0]
        files = ", ".join(str(f) for f in logs)
        reason = f" ({notes[0]})" if notes else ""
        called = " or ".join(repr(t.name) for t in targets.all)
        raise InputError(f"{files}: no component test of {called} in it{reason}")
    return figures, notes + [f"left out: {why}" for why in foreign], facts


def _idle(measured: Iterable[Measurement]) -> list[str]:
    """What logs without any rate are good for, a line a file and tool."""
    rates = {(m.file, m.tool) for m in measured if m.quantity == "throughput"}
    evidence = catalogue().evidence
    pairs = dict.fromkeys((m.file, m.tool) for m in measured if evidence[m.tool] is not Evidence.CORRECTS)
    return [f"{file}: left out: {why_not(tool)}" for file, tool in pairs if (file, tool) not in rates]


def whole_runs(measured: Iterable[Measurement]) -> list[Measurement]:
    """Throughputs of whole runs: fio's jobs that ran together are one test."""
    runs: list[Measurement] = []
    for m in measured:
        if m.quantity != "throughput" or m.conditions.get("interval") or m.conditions.get("cumulative"):
            continue
        if m.tool == "fio" and m.conditions.get("scope") == "group":
            _group(m, runs)
        else:
            runs.append(m)
    return _joined(runs)


def _group(m: Measurement, runs: list[Measurement]) -> None:
    """A group's line in the place of those of its jobs, with what all of them have."""
    count = int(m.conditions.get("jobs") or 0)
    same = ("operation",)
    mine = [
        r for r in runs[-count:]
        if r.tool == "fio" and r.file == m.file and all(r.conditions.get(k) == m.conditions.get(k) for k in same)
    ]  # fmt: skip
    shared = ("pattern", "block_B", "depth", "engine", "direct", "target", "sync")
    if count < 2 or len(mine) != count or any(len({r.conditions.get(k) for r in mine}) > 1 for k in shared):
        return
    del runs[-count:]
    moved = sum(float(r.conditions.get("bytes") or 0.0) for r in mine)
    conditions = {**mine[0].conditions, "jobs": count, "bytes": moved or None}
    runs.append(mine[0]._replace(value=m.value, printed=m.printed, line=m.line, conditions=conditions))


def _joined(runs: list[Measurement]) -> list[Measurement]:
    """Entries of fio's JSON of jobs that ran together without group reporting: one entry a job, ``numjobs`` in each."""
    joined: list[Measurement] = []
    open_: dict[tuple[object, ...], list[Measurement]] = {}
    for m in runs:
        jobs = m.conditions.get("jobs")
        if m.tool != "fio" or not isinstance(jobs, int) or jobs < 2:
            joined.append(m)
            continue
        key = (m.file, *(m.conditions.get(k) for k in ("job", "operation", "pattern", "block_B", "depth")))
        open_.setdefault(key, []).append(m)
    for same in open_.values():
        count = int(same[0].conditions.get("jobs") or 1)
        if len(same) != count:
            joined += same
            continue
        moved = sum(float(m.conditions.get("bytes") or 0.0) for m in same)
        conditions = {**same[0].conditions, "bytes": moved or None}
        combined = same[0]._replace(value=sum(m.value for m in same), conditions=conditions)
        joined.append(combined)
    return sorted(joined, key=lambda m: (str(m.file), m.line or 0))


def check_conflicts(figures: Sequence[Figure]) -> None:
    """Refuses two figures of one and the same test that contradict each other; more of them say how they scatter."""
    tests = ((f.case.path, f.case.overrides, f.case.quantity, f.case.pattern, f.case.transfer) for f in figures)
    for cases in by_key(zip(tests, (f.case for f in figures), strict=True)).values():
        low, high = min(cases, key=lambda c: c.measured), max(cases, key=lambda c: c.measured)
        bounded = any(c.bound is not None for c in cases)
        if len(cases) == 2 and not bounded and high.measured > CONFLICT * low.measured:
            one, other = cases
            values = f"{one.measured:.4g} and {other.measured:.4g} {one.unit}"
            remedy = "leave the wrong one out, or describe what was different in a cases file"
            both = f"{place_of(one)} and {place_of(other)} are the same test and contradict each other"
            raise InputError(f"{both}: {values}; {remedy}; a third run would say which it is")


def place_of(case: Case) -> str:
    """Where a figure is written."""
    return f"{case.log[0]}:{case.log[1]}" if case.log else case.name


def _figure(m: Measurement, target: Target, cache: dict[str, tuple[PathSpec, str]]) -> Figure:
    """A figure; runs of one test share its path, so that it is composed once."""
    if m.status != "complete":
        raise Skip(f"the run is {m.status}")
    if not m.value > 0:
        raise Skip("nothing was moved")
    transfer = described(m, target)
    # what a run of fio moves in its time differs from run to run, and its rate does not depend on it
    same = {k: v for k, v in transfer.items() if m.tool != "fio" or k != "dataset"}
    key = f"{target.name} {json.dumps(same, sort_keys=True)}"
    if key not in cache:
        description = {"name": m.tool, "transfer": transfer, "hosts": {target.name: target.raw}}
        cache[key] = (spec.resolve(yamlio.mapping(description, str(m.file), m.line or 0)), json.dumps(transfer))
    resolved, override = cache[key]
    name = f"{Path(m.file or 'log').name}:{m.line}:{m.conditions.get('operation', '')}"
    kind = {"quantity": "throughput", "spread": SPREAD, "role": "fit"}
    case = case_of(m, target.name, id=name, overrides=(override,), **kind)
    return Figure(case, resolved, when(m))
