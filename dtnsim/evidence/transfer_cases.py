"""Logs of transfers as cases: each transfer of a GridFTP server's log or a Globus history is predicted on a path.

A case takes from the log what was moved (files, bytes), with how many streams, and how fast; all else is the path's.
Files whose transfers overlap in time between the same two ends are one transfer of several files, several at a time:
its rate is their bytes over the time from the first start to the last end. A log that names its host is of that end
of the path: what went the other way is left out.
"""

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from dtnsim.description import spec
from dtnsim.description.spec import PathSpec
from dtnsim.evidence.cases import Case
from dtnsim.evidence.dates import when
from dtnsim.evidence.figures import case_of
from dtnsim.ground import library
from dtnsim.ground.errors import InputError
from dtnsim.ground.units import plural
from dtnsim.logs import read_logs
from dtnsim.logs._catalogue import catalogue
from dtnsim.logs.base import Evidence
from dtnsim.logs.measurement import Measurement, of_data
from dtnsim.steady import discrepancy
from dtnsim.steady.regime import setting

#: kinds of tools whose transfers a log may hold, where they are not called as the log's tool is
_RAN: Final[dict[str, tuple[str, ...]]] = {
    "gridftp": ("gridftp", "globus", "fts"), "globus-url-copy": ("gridftp",), "globus": ("globus", "gridftp"),
    "rsync": ("rsync", "fpsync", "parsyncfp"), "wget": ("curl",),
    "aws s3": ("aws-s3",), "xrdcp": ("xrdcp", "fts"), "mbuffer": ("tar-nc",),
}  # fmt: skip
#: logs of services that have others move the data
_ANY: Final = frozenset({"fts", "rucio", "gfal-copy", "mpifileutils"})
#: services whose logs name both ends, and logs that have a line for each file with its times
_BOTH_ENDS: Final = frozenset({"globus", "fts", "rucio"})
_FILE_BY_FILE: Final = frozenset({"gridftp", "fts", "rucio"})
_TOTALS: Final = frozenset({"rsync"})  #: tools whose totals do not say of how many files they are
MOST: Final = 100  #: transfers that are judged unless the caller wants more
_FIT: Final = 12  #: and that a fit uses: more of one way say no more
#: levels between which two thirds lie
_TWO_THIRDS: Final = np.array([1, 5]) / 6
_SPREAD: Final = 0.03


@dataclass(slots=True)
class Moved:
    """Files that went between two ends at the same time."""

    first: Measurement
    start_s: float | None
    end_s: float | None
    bytes: float = 0.0
    files: int = 0  #: 0 where the log does not say.
    at_once: int = 1
    ends: list[float] = field(default_factory=list)

    @property
    def rate_Bps(self) -> float:
        """Bytes over the whole time."""
        if self.start_s is None or self.end_s is None:
            return self.first.value
        return self.bytes / max(self.end_s - self.start_s, 1e-6)


def cases(
    logs: Sequence[Path], path: str, names: Mapping[str, str] | None = None, most: int = MOST
) -> tuple[list[Case], list[str]]:
    """(cases from logs of transfers, notes on what was left out); so many at ``most``, evenly chosen over the log."""
    loaded = spec.load(path)
    if len(loaded.transfers) != 1:
        raise InputError(f"--path {path}: has {len(loaded.transfers)} transfers; logs are held against a path of one")
    for theirs, ours in (names or {}).items():
        if ours not in loaded.hosts:
            hosts = ", ".join(loaded.hosts)
            raise InputError(f"--as {theirs}={ours}: the path has no host {ours!r}; write one of {hosts}")
    measured, unread = read_logs(list(logs))
    notes = [f"{u.file}:{u.line}: not read: {u.why}" for u in unread[:20]]
    mine = [m for m in measured if _is_transfer(m)]
    matching = _this_way(mine, loaded, names or {}, notes)
    if not matching:
        hint = f" ({'; '.join(notes[-3:])})" if notes else ""
        looked = ", ".join(map(str, logs)) or "no log there"
        if measured and not mine:
            tools = ", ".join(sorted({m.tool for m in measured}))
            hint = f"; figures of {tools} tell of one host: dtnsim calibrate {logs[0]} --host HOST"
        raise InputError(f"{looked}: no transfer that went the way of {path}{hint}")
    moved = _merged(matching)
    notes += _other_tools(matching, path, loaded.transfers[0].tool.kind)
    if len(moved) > most:
        notes.append(f"{plural(len(moved), 'transfer')}: {most} of them are judged, evenly chosen; --most N takes more")
        moved = [moved[n * len(moved) // most] for n in range(most)]
    file = library.find("paths", path)
    return [_case(m, loaded, file, number) for number, m in enumerate(moved, 1)], notes


def figures(
    logs: Sequence[Path], path: str, names: Mapping[str, str] | None = None
) -> tuple[list[Case], list[str], set[Path]]:
    """Transfers of logs as cases that fit: (cases, notes, the logs that have any).

    All of them together say no more than the model of such a path is good for: N figures whose model is wrong by d in
    common (two thirds of such errors are within d) and whose runs lie apart by e are given ``sqrt(N d^2 + e^2)`` each.
    """
    mine = {Path(m.file or "") for m in read_logs(list(logs))[0] if _is_transfer(m)}
    if not mine:
        return [], [], set()
    loaded = spec.load(path)
    fit_cases, notes = cases(
        sorted(mine), path, {n: ours for n, ours in (names or {}).items() if ours in loaded.hosts}, _FIT
    )
    learned = discrepancy.load()
    law = learned.laws.get(setting(loaded), learned.default)
    half = float(np.ptp(law.ppf(_TWO_THIRDS))) / 2
    error = math.sqrt(len(fit_cases) * half**2 + learned.default_noise.random_day**2)
    return [replace(c, role="fit", spread=error) for c in fit_cases], notes, mine


def _is_transfer(m: Measurement) -> bool:
    conditions = m.conditions
    overall = not (conditions.get("interval") or conditions.get("cumulative"))
    ended = m.quantity == "throughput" and overall and m.status == "complete" and m.value > 0 and of_data(m)
    return ended and catalogue().evidence[m.tool] is Evidence.TRANSFER


def _this_way(
    measured: Iterable[Measurement], path: PathSpec, names: Mapping[str, str], notes: list[str]
) -> list[Measurement]:
    """Transfers from the path's source to its destination, as far as the log says so."""
    ends = [str(getattr(path.transfers[0], k)).partition(":")[0] for k in ("source_end", "to")]
    matching: list[Measurement] = []
    other: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    for m in measured:
        source, target = _ends(m)
        hosts = [_called(n, path, names) for n in (source, target)]
        if (hosts[0] in (None, ends[0])) and (hosts[1] in (None, ends[1])):
            matching.append(m)
            if not any(hosts) and (source or target):
                unknown[f"{source or '?'} to {target or '?'}"] += 1
        else:
            other[f"{source or '?'} to {target or '?'}"] += 1
    for way, count in other.most_common(3):
        notes.append(f"{plural(count, 'transfer')} {way}: left out, not from {ends[0]} to {ends[1]}")
    if len(unknown) > 1:
        ways = ", ".join(way for way, _ in unknown.most_common(4))
        raise InputError(f"the logs have transfers {ways}; say which ends are the path's: --as NAME={ends[0]}")
    return matching


def _other_tools(matching: Sequence[Measurement], path: str, ours: str) -> list[str]:
    """What the reader must know where a log is of another tool than the path has: the prediction is of the path's."""
    tools = Counter(m.tool for m in matching if m.tool not in _ANY and ours not in _RAN.get(m.tool, (m.tool,)))
    return [
        f"{plural(count, 'transfer')} of {tool}: predicted with {ours}, the tool of {path}; "
        f"write {_RAN.get(tool, (tool,))[0]} there to compare like with like"
        for tool, count in tools.most_common()
    ]


def _ends(m: Measurement) -> tuple[str, str]:
    """(source, destination) as the log names them; empty where it does not."""
    conditions = m.conditions
    if m.tool in _BOTH_ENDS:
        return str(conditions.get("source") or ""), str(conditions.get("target") or "")
    host, peer = str(conditions.get("host") or ""), str(conditions.get("peer") or "")
    if conditions.get("direction") == "receive":
        return peer, host
    return (host, peer) if conditions.get("direction") == "send" else ("", "")


def _called(name: str, path: PathSpec, names: Mapping[str, str]) -> str | None:
    """The path's name of an end; None where the log's name says nothing."""
    short = name.partition(".")[0].lower()
    for theirs, ours in names.items():
        if theirs.lower() in (name.lower(), short):
            return ours
    for alias in path.hosts:
        if short and short in (alias.lower(), path.host_files.get(alias, alias).lower()):
            return alias
    return None


def _merged(measured: Sequence[Measurement]) -> list[Moved]:
    """Transfers in the order of time; overlapping ones between the same ends are one."""
    transfers: list[Moved] = []
    running: dict[tuple[str, ...], Moved] = {}
    for m in sorted(measured, key=lambda m: (_span(m)[0] or 0.0, m.line or 0)):
        start, end = _span(m)
        size = float(m.conditions.get("bytes") or m.conditions.get("file_B") or 0.0)
        if not size:
            continue
        files = int(m.conditions.get("files") or (m.tool not in _TOTALS))
        key = (m.tool, *_ends(m))
        last = running.get(key)
        one_file = m.tool in _FILE_BY_FILE and start is not None and end is not None
        if one_file and last is not None and last.end_s is not None and start < last.end_s:  # type: ignore[operator]
            last.bytes, last.files, last.end_s = last.bytes + size, last.files + files, max(last.end_s, end or 0.0)
            last.ends = [e for e in last.ends if e > (start or 0.0)] + [end or 0.0]
            last.at_once = max(last.at_once, len(last.ends))
            continue
        transfer = Moved(m, start if one_file else None, end if one_file else None, size, files, 1, [end or 0.0])
        running[key] = transfer
        transfers.append(transfer)
    return transfers


def _span(m: Measurement) -> tuple[float | None, float | None]:
    stamp, seconds = when(m), m.conditions.get("duration_s")
    if stamp is None or not isinstance(seconds, int | float):
        return None, None
    return stamp.timestamp() - seconds, stamp.timestamp()


def _case(moved: Moved, path: PathSpec, file: Path, number: int) -> Case:
    m, tool = moved.first, path.transfers[0].tool
    fields = type(tool).model_fields
    dataset, files = path.transfers[0].dataset, moved.files
    data: dict[str, Any] = {"files": files, "size": f"{moved.bytes:.0f} B"}
    if not files:
        data["files"] = files = max(round(moved.bytes / dataset.mean_B), 1)
        data["directories"] = round(dataset.directories * files / dataset.files)
    overrides = [f"transfer.dataset={json.dumps(data)}"]
    streams = m.conditions.get("streams")
    at_once = moved.at_once if moved.files > 1 else None
    for name, value in ((tool.streams_option, streams), (tool.files_option, at_once)):
        if name and isinstance(value, int) and value > 0:
            overrides.append(f"transfer.tool.{name}={value}")
    if m.tool == "gridftp":  # the server's log has the time of the data alone
        alone = {"vb": "true", "verify": "false"}
        overrides += [f"transfer.tool.{name}={value}" for name, value in alone.items() if name in fields]
    stamp = when(m)
    day = f"{stamp:%Y-%m-%d %H:%M}, " if stamp is not None else ""
    alike = "" if moved.files else " as in the path"
    study, label = Path(m.file or "log").stem, f"{day}{plural(files, 'file')}{alike}, {moved.bytes / 1e9:.4g} GB"
    keys = {"path": file, "overrides": tuple(overrides), "measured": moved.rate_Bps, "what": label, "study": study}
    keys |= {} if m.line else {"id": f"transfer {number}"}
    return case_of(m, study, **keys, quantity="throughput", spread=_SPREAD, role="blind")
