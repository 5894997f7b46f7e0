"""The history of a folder of logs: a JSON line for each log, with what it says; only new and changed logs are read.

A line is ``{"log": name, "digest": of its bytes, "runs": tests of volumes and facts of parts as they were read,
"series": daily medians of all else, "note": what could not be read}``, or ``{"told": [series, since]}`` for a change
that somebody was told. Lines of logs that are gone stay: they are why there is a history.
"""

import hashlib
import json
import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from statistics import median
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field, PositiveInt, TypeAdapter

from dtnsim.evidence import fit_wan
from dtnsim.evidence.cases import is_cases_file
from dtnsim.evidence.dates import when
from dtnsim.ground import output
from dtnsim.ground.errors import DtnsimError, InputError
from dtnsim.ground.units import plural
from dtnsim.logs import iter_log
from dtnsim.logs._catalogue import catalogue
from dtnsim.logs.base import Evidence
from dtnsim.logs.measurement import Condition, Measurement, Unread, of_data

#: logs whose figures the fit of a host takes one by one, and those of which a day's median is enough
_FITTED: Final = (Evidence.FITS, Evidence.CORRECTS)
_DAILY: Final = (Evidence.WAY, Evidence.DELAYS, Evidence.NETWORK, Evidence.TRANSFER, Evidence.BUSY)
#: conditions that make it another test
_OPTIONS: Final = ("operation", "protocol", "streams", "interface", "device", "includes", "bidir")
_PREFIXES: Final = ("B", "kB", "MB", "GB", "TB", "PB")

Figure = Annotated[float, Field(allow_inf_nan=False, ge=0)]
Run = tuple[str, str, Figure, str, dict[str, Condition], str | None, int | None]
Series = tuple[str, str, str, str, str, str, list[tuple[date, Figure, PositiveInt]]]

_TOLD: Final = TypeAdapter(tuple[str, date])  #: series and first day of a change that somebody was told


class _Line(BaseModel):
    """What a log says, as its line has it."""

    log: str
    digest: str
    runs: list[Run]
    series: list[Series]
    note: str


@dataclass(slots=True)
class Log:
    """One log of the folder."""

    name: str  #: File, relative to the folder.
    digest: str  #: Of its bytes.
    #: Measurements for the fit of a host, with their time among the conditions.
    runs: list[Measurement] = field(default_factory=list)
    #: (tool, quantity, unit, source, target, options) -> (day, median, figures) of each day.
    series: dict[tuple[str, ...], list[tuple[str, float, int]]] = field(default_factory=dict)
    note: str = ""  #: What could not be read; empty for nothing.

    @property
    def line(self) -> str:
        """As a line of the history."""
        runs = [[m.tool, m.quantity, m.value, m.unit, dict(m.conditions), m.version, m.line] for m in self.runs]
        series = [[*key, days] for key, days in sorted(self.series.items())]
        return _json({"log": self.name, "digest": self.digest, "runs": runs, "series": series, "note": self.note})


class History:
    """What is known of a folder."""

    def __init__(self, folder: Path, file: Path | None) -> None:
        if not folder.is_dir():
            raise InputError(f"--watch: {folder} is no folder; give the folder in which the logs gather")
        self.folder, self.file = folder, file
        self.logs: dict[str, Log] = {}  #: By name, in the order in which they came.
        self.told: list[tuple[str, str]] = []  #: Changes that somebody was told: (series, first day).
        for number, line in enumerate(_lines(file), 1):
            try:
                self._take(json.loads(line))
            except (ValueError, RecursionError):
                remedy = "move the file away, and it is made anew from the logs that are there"
                raise InputError(f"--history: {file}:{number}: is no line of a history; {remedy}") from None
        self.new = [log.name for log in self._read()]  #: Names of logs that are new or have changed.

    def _take(self, entry: object) -> None:
        if isinstance(entry, dict) and "told" in entry:
            name, since = _TOLD.validate_python(entry["told"])
            self.told.append((name, since.isoformat()))
            return
        line = _Line.model_validate(entry)
        if not catalogue().evidence.keys() >= {tool for tool, *_ in (*line.runs, *line.series)}:
            raise ValueError  # of a parser that is not there
        file = str(self.folder / line.log)
        runs = [Measurement(t, q, v, u, "", c, "complete", w, file, n) for t, q, v, u, c, w, n in line.runs]
        series = {tuple(key): [(d.isoformat(), v, n) for d, v, n in days] for *key, days in line.series}
        self.logs[line.log] = Log(line.log, line.digest, runs, series, line.note)

    def _read(self) -> Iterator[Log]:
        for file in sorted(self.folder.rglob("*")):
            name = file.relative_to(self.folder).as_posix()
            own = self.file is not None and file.resolve() == self.file.resolve()
            if own or any(p.startswith(".") for p in Path(name).parts) or not file.is_file() or not file.stat().st_size:
                continue
            if file.suffix in (".yaml", ".yml", ".sh", ".html") or is_cases_file(file):
                continue
            with file.open("rb") as raw:
                digest = hashlib.file_digest(raw, "blake2b").hexdigest()[:32]
            if name not in self.logs or self.logs[name].digest != digest:
                self.logs[name] = _read(file, name, digest)
                yield self.logs[name]

    def write(self, changes: list[tuple[str, str]]) -> None:
        """Writes the history with what was told now, in one piece."""
        if self.file is not None:
            lines = [log.line for log in self.logs.values()]
            lines += [_json({"told": pair}) for pair in dict.fromkeys([*self.told, *changes])]
            output.write(self.file, "\n".join([*lines, ""]), "--history")


def _lines(file: Path | None) -> list[str]:
    try:
        return file.read_text(encoding="utf-8").splitlines() if file is not None and file.exists() else []
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--history: {file} cannot be read: {error}") from None


def _json(entry: dict[str, Any]) -> str:
    return json.dumps(entry, sort_keys=True, separators=(",", ":"))


def _read(file: Path, name: str, digest: str) -> Log:
    """What a log says; what cannot be read of it is one note, and the rest counts."""
    log, troubles = Log(name, digest), []
    days: dict[tuple[str, ...], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    undated = 0
    try:
        for m in iter_log(file):
            if isinstance(m, Unread):
                troubles.append(f"{m.line}: {m.why}")
            elif m.status == "truncated":
                troubles.append(f"{m.line}: the log stops in a run")
            elif (key := _series_of(m)) is not None:
                stamp = when(m)
                if stamp is None and key != ():
                    undated += 1
                elif stamp is not None and key:
                    days[key][stamp.date().isoformat()].append(_figure(m))
                if key == () or (m.tool == "iperf3" and key and m.quantity == "throughput"):
                    conditions = {k: v for k, v in m.conditions.items() if v is not None and k != "end"}
                    conditions |= {"time": stamp.isoformat()} if stamp is not None else {}
                    log.runs.append(m._replace(conditions=conditions))
    except DtnsimError as error:
        troubles.append(f"1: {error}")
    if not any(m.quantity == "cpu_share" for m in log.runs):  # a rate alone is of the way, and in the series
        log.runs = [m for m in log.runs if m.tool != "iperf3"]
    if undated:
        troubles.append(f"1: {plural(undated, 'figure')} without a date in the log or in its name")
    log.series = {k: [(d, median(v), len(v)) for d, v in sorted(by_day.items())] for k, by_day in days.items()}
    if troubles:
        more = f" (and {len(troubles) - 1} more)" if len(troubles) > 1 else ""
        log.note = f"{name}:{troubles[0]}{more}"
    return log


def _series_of(m: Measurement) -> tuple[str, ...] | None:
    """The series that a figure belongs to; () for one that the fit of a host takes, None for one that says nothing."""
    cond, evidence = m.conditions, catalogue().evidence[m.tool]
    if m.status != "complete" or cond.get("interval") or cond.get("cumulative") or not of_data(m):
        return None
    if evidence in _FITTED:
        return () if m.quantity == "throughput" or evidence is Evidence.CORRECTS else None
    if m.tool == "iperf3" and m.quantity == "cpu_share":
        return ()
    if (
        evidence not in _DAILY
        or cond.get("stream") is not None
        or cond.get("statistic")
        or not fit_wan.is_end_to_end(m)
    ):
        return None
    if m.quantity not in ("throughput", "rtt", "latency", "loss") or (m.quantity != "loss" and not m.value > 0):
        return None
    if m.quantity == "latency" and not cond.get("one_way"):
        return None
    options = [f"{k} {cond[k]}" for k in _OPTIONS if cond.get(k) not in (None, False)]
    if evidence is Evidence.TRANSFER:
        options.append(_size(float(cond.get("bytes") or 0.0)))
    return (m.tool, m.quantity, m.unit, *fit_wan.ends(m), ", ".join(filter(None, options)))


def _size(moved: float) -> str:
    """The decade of a size: transfers of much and of little are not compared."""
    if moved < 1:
        return ""
    power = int(math.log10(moved))
    return f"{10 ** (power % 3)} to {10 ** (power % 3 + 1)} {_PREFIXES[min(power // 3, 5)]}"


def _figure(m: Measurement) -> float:
    """A figure whose logarithm is finite: of lost packets ``(lost + 1/2) / (sent + 1)``."""
    if m.quantity != "loss":
        return m.value
    sent = float(m.conditions.get("packets") or 1000.0)
    return (m.value * sent + 0.5) / (sent + 1.0)
