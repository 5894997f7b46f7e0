r"""Cases: every measured figure of a site, how it came about, and whether it may fit or must judge.

A site's cases are one file, ``calibration/<site>/cases.yaml``; its raw logs lie in ``logs/`` beside it::

    schema: dtnsim.cases/1
    site: venadi
    source: Venadi FIONA post                       # of every case that names none itself
    cases:
      - id: dd-zfs-fdatasync                        # unique within the site
        path: venadi/dd-zfs                         # a shipped path, or a path file beside this one
        set: {transfer.tool.conv: fdatasync}        # overrides, as --set takes them (optional)
        measured: 4.157 GB/s                        # with its unit; never a bare number
        log: logs/dd.txt:12                         # file and line that the figure is on
        role: fit                                   # fit (component test), blind (only judges), repeat (see below)
        tool: dd
      - id: scp
        path: venadi/scp
        measured: 191.05 MB/s
        log: logs/scp.txt:2
        role: blind
        tool: scp
        bottleneck_stated: {says: "single core or source", station: "ssh|lustre"}
      - id: nuttscp-1-rx
        path: nasa/nuttscp-1
        quantity: cpu_share:c2\.cpu\.core0          # a share of a station, found by a pattern
        measured: 49 %
        role: blind
        tool: nuttscp
        log: logs/tests.txt:3

Keys of a case:

``quantity``
    ``throughput`` [B/s] of all transfers of the path (default); ``duration`` [s] until the last has
    ended; ``iops`` [1/s], throughput over ``block``; ``cpu_share:PATTERN`` [1], the utilisation of
    the busiest station whose name the pattern (a regular expression) finds; ``throughput_sd`` [B/s],
    the standard deviation of the throughput from run to run (has no interval of its own).
``transfer``
    Name of one transfer of the path: throughput, duration and bottleneck are then its own.
``block``
    Bytes of one operation, for ``iops``.
``spread``
    Relative standard error of the measured figure (3 % where nothing is said): how far another run
    would have been off. Fits weigh with it; nothing else does.
``bound``
    ``at least`` or ``at most`` where the log only bounds the figure; such a case is not averaged into errors.
``bottleneck_stated``
    What the source says held it back: ``says`` quotes it, ``station`` is a regular expression that
    is searched in "station kind work" of the predicted bottleneck. A plain text is both.
    ``inferred: true`` where no document says so; such a statement is shown and not counted.
``runs``
    Every run of the same test on the same day, where more than one is printed (``measured`` is one of them):
    their scatter is the repeat noise.
``repeats``
    ``{of: ID, on: same day}`` or ``{of: ID, on: another day}``: the figure is another run of that case.
``what``
    The command or the circumstances, for the table. ``source`` overrides that of the file.
``study``
    Where a file collects figures of several sources: which of them this is. Figures of one study share
    machines, people and mistakes, so they are left out together; without it the site is the study.
``first_predicted``
    What the figure was predicted to be (every parameter at its median) when nobody who made a mechanism had seen it.
    How far the model lies from systems that it has not met is learned from those.
``withheld: true``
    The figure is not public: the path must run, nothing is compared, and ``measured`` is left out.

A file with ``teaches: false`` judges alone: the model's own error is never learned from its figures.

Figures of one test fit or judge, never both: an ``id`` has one role, and a log line stands in for
one throughput figure only. A figure that was not fitted, but repeats what was (another run of a sample that
fits, or a quantity that follows from fitted ones), has the role ``repeat``: it says how far apart runs lie, and
counts neither as fitting nor as judging.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import Field, field_validator

from dtnsim.components.base import Model, place, validate
from dtnsim.ground import library, units, yamlio
from dtnsim.ground.errors import SpecError, UnitError
from dtnsim.ground.quantity import Quantity, Unit
from dtnsim.ground.records import Bottleneck

SCHEMA: Final = "dtnsim.cases/1"

#: quantity -> its SI unit
UNITS: Final = {"throughput": "B/s", "duration": "s", "iops": "1/s", "cpu_share": "1", "throughput_sd": "B/s"}

#: keys that a case has as its entry writes them
_AS_WRITTEN: Final = ("id", "bound", "role", "tool", "transfer", "what", "repeats")

Role = Literal["fit", "blind", "repeat"]


class Stated(Model):
    """What a source says held a transfer back, and how to recognise it in a prediction."""

    says: str
    station: str
    inferred: bool = False

    @field_validator("station")
    @classmethod
    def _pattern(cls, text: str) -> str:
        return _regex(text)

    def met_by(self, bottleneck: Bottleneck) -> bool:
        """Whether a predicted bottleneck is the one that was stated."""
        words = " ".join((bottleneck.station, bottleneck.kind, *bottleneck.work))
        return re.search(self.station, words, re.IGNORECASE) is not None


class Repeats(Model):
    """Of which case a figure is another run."""

    of: str
    on: Literal["same day", "another day"]


class CaseEntry(Model):
    """One case as the file writes it."""

    id: Annotated[str, Field(min_length=1, max_length=120)]
    path: str
    set: dict[str, Any] = Field(default_factory=dict)
    quantity: str = "throughput"
    measured: str | None = None
    first_predicted: str | None = None
    spread: Annotated[Quantity, Unit("1", high=3.0)] = Quantity(0.03, "1", 0.0, "assumed: figures repeat within 3 %")
    bound: Literal["at least", "at most"] | None = None
    role: Role
    tool: str
    log: str | None = None
    transfer: str | None = None
    block: Annotated[Quantity, Unit("B", low=1)] | None = None
    bottleneck_stated: Stated | None = None
    what: str = ""
    source: str = ""
    study: str = ""
    runs: Annotated[list[str], Field(min_length=2)] | None = None
    repeats: Repeats | None = None
    withheld: bool = False

    @field_validator("bottleneck_stated", mode="before")
    @classmethod
    def _short(cls, raw: object) -> object:
        return {"says": raw, "station": re.escape(raw)} if isinstance(raw, str) else raw

    @field_validator("set", mode="before")
    @classmethod
    def _flat(cls, raw: object) -> object:
        nested = isinstance(raw, dict) and any(isinstance(v, dict | list) for v in raw.values())
        if not isinstance(raw, dict) or nested:
            raise ValueError("needs keys with dots and plain values, like {transfer.tool.bs: 1 MiB}")
        return raw

    @field_validator("quantity")
    @classmethod
    def _known_keys(cls, text: str) -> str:
        name, _, pattern = text.partition(":")
        if name not in UNITS or bool(pattern) != (name == "cpu_share"):
            words = ", ".join(k if k != "cpu_share" else "cpu_share:PATTERN" for k in UNITS)
            raise ValueError(f"is not a quantity of a case; write one of {words}")
        _regex(pattern)
        return text


class CasesFile(Model):
    """A whole ``cases.yaml``."""

    schema_name: Annotated[Literal["dtnsim.cases/1"], Field(alias="schema")] = "dtnsim.cases/1"
    site: str
    source: str = ""
    teaches: bool = True
    cases: Annotated[list[CaseEntry], Field(min_length=1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One measured figure, ready to be compared: the keys of its entry, and of its file, in SI units."""

    id: str
    site: str
    path: Path
    overrides: tuple[str, ...]  #: ``key=value`` texts put over the path.
    quantity: str
    pattern: str | None = None  #: Regular expression on station names (``cpu_share``).
    measured: float  #: The figure [SI unit of the quantity]; nan where it is withheld.
    #: What it was predicted to be before it moved anything [SI unit of the quantity].
    first_predicted: float | None = None
    spread: float
    bound: str | None = None
    role: Role
    tool: str
    log: tuple[Path, int] | None
    transfer: str | None = None
    block_B: float | None = None
    stated: Stated | None = None  #: What the source says held it back.
    what: str
    source: str = ""
    study: str = ""
    #: All runs of the same test on the same day [SI unit of the quantity], where more than one is known.
    runs: tuple[float, ...] = ()
    repeats: Repeats | None = None
    teaches: bool = True  #: Whether the model's own error may be learned from it.

    @property
    def unit(self) -> str:
        """SI unit of the figure."""
        return UNITS[self.quantity]

    @property
    def withheld(self) -> bool:
        """Whether the figure is unknown here."""
        return math.isnan(self.measured)

    @property
    def name(self) -> str:
        """Name across sites."""
        return f"{self.site}/{self.id}"


def load(file: Path) -> list[Case]:
    """Reads the cases of one file."""
    raw = yamlio.load(file)
    if "cases" not in raw:
        remedy = f"write 'schema: {SCHEMA}' and 'cases: [...]'"
        raise SpecError("holds no cases", file=str(file), key="cases", remedy=remedy)
    parsed = validate(CasesFile, raw)
    items = raw["cases"]
    cases = [_case(entry, item, parsed, file) for entry, item in zip(parsed.cases, items, strict=True)]
    _check_unique(cases, items)
    return cases


def load_all(where: Path | Iterable[Path] | None = None) -> list[Case]:
    """Reads cases of all sites: of files, of folders with ``cases.yaml`` (or ``*/cases.yaml``), or those shipped."""
    places = [library.root("calibration")] if where is None else [where] if isinstance(where, Path) else list(where)
    files: list[Path] = []
    for place_ in places:
        if place_.is_dir():
            cases_file = place_ / "cases.yaml"
            site_files = [cases_file] if cases_file.is_file() else sorted(place_.glob("*/cases.yaml"))
            if not site_files:
                remedy = "give a cases.yaml, or a folder with sites"
                raise SpecError("holds no cases.yaml", file=str(place_), remedy=remedy)
            files += site_files
        else:
            files.append(place_)
    return [case for file in files for case in load(file)]


def is_cases_file(file: Path) -> bool:
    """Whether a file is meant as a cases file rather than a log (it is YAML by its name)."""
    return file.is_dir() or file.suffix in (".yaml", ".yml")


def _case(entry: CaseEntry, item: object, parsed: CasesFile, file: Path) -> Case:
    quantity, _, pattern = entry.quantity.partition(":")
    where = {**place(item, "measured"), "key": f"cases.{entry.id}"}
    try:
        path = library.find("paths", entry.path, beside=file.parent)
    except SpecError as error:
        key = f"cases.{entry.id}.path"
        raise SpecError(error.message, **place(item, "path"), key=key, remedy=error.remedy) from None
    first = {**where, "key": f"cases.{entry.id}.first_predicted"}
    if quantity == "iops" and entry.block is None:
        raise SpecError("needs the size of one operation", **where, remedy="write 'block: 8 KiB'")
    return Case(
        **{name: getattr(entry, name) for name in _AS_WRITTEN},
        site=parsed.site,
        path=path,
        overrides=tuple(f"{k}={v}" for k, v in entry.set.items()),
        quantity=quantity,
        pattern=pattern or None,
        measured=_measured(entry, quantity, where),
        first_predicted=None if (then := entry.first_predicted) is None else _figure(then, quantity, first),
        runs=tuple(_figure(run, quantity, {**where, "key": f"cases.{entry.id}.runs"}) for run in entry.runs or ()),
        teaches=parsed.teaches,
        spread=entry.spread.value,
        log=_log(entry, item, file),
        block_B=entry.block.value if entry.block else None,
        stated=entry.bottleneck_stated,
        source=entry.source or parsed.source,
        study=f"{parsed.site}/{entry.study}" if entry.study else parsed.site,
    )


def _measured(entry: CaseEntry, quantity: str, where: dict[str, Any]) -> float:
    if entry.withheld:
        if entry.measured is not None:
            raise SpecError("is withheld and measured at once", **where, remedy="leave 'measured' out")
        return float("nan")
    if entry.measured is None:
        remedy = f"write 'measured: {units.EXAMPLES[UNITS[quantity]]}'"
        raise SpecError("has no measured figure", **where, remedy=remedy)
    return _figure(entry.measured, quantity, {**where, "key": f"cases.{entry.id}.measured"})


def _figure(text: str, quantity: str, where: dict[str, Any]) -> float:
    try:
        value = units.parse(str(text), UNITS[quantity])
    except UnitError as error:
        timed = quantity == "throughput" and "is a time where" in str(error)
        raise SpecError(f"{error}{', or add quantity: duration' if timed else ''}", **where) from None
    if not value > 0:
        remedy = "a run that moved nothing measured nothing: leave the case out"
        raise SpecError("must be above zero", **where, value=str(text), remedy=remedy)
    return value


def _log(entry: CaseEntry, item: object, file: Path) -> tuple[Path, int] | None:
    if entry.log is None:
        return None
    where = {**place(item, "log"), "key": f"cases.{entry.id}.log"}
    name, colon, line = entry.log.rpartition(":")
    if not colon or not line.isdigit():
        remedy = "write 'logs/dd.txt:12'"
        raise SpecError("needs a file and a line", **where, value=str(entry.log), remedy=remedy)
    path = file.parent / name
    if not path.is_file():
        remedy = f"put the raw log into {file.parent / 'logs'}"
        raise SpecError("there is no such log", **where, value=str(name), remedy=remedy)
    return path, int(line)


def _check_unique(cases: list[Case], items: list[Any]) -> None:
    """One id, one case; and one figure has one role."""
    seen: dict[str, Case] = {}
    figures: dict[tuple[object, ...], Case] = {}
    for case, item in zip(cases, items, strict=True):
        if case.id in seen:
            where = {**place(item, "id"), "key": "cases", "value": case.id}
            raise SpecError("is given twice", **where, remedy="give each case its own id")
        seen[case.id] = case
        if case.repeats is not None and case.repeats.of not in {c.id for c in cases}:
            where = {**place(item, "repeats"), "key": f"cases.{case.id}.repeats.of", "value": case.repeats.of}
            raise SpecError("there is no case of that id in this file", **where, remedy="write the id of a case")
        figure = (case.log, case.quantity, case.pattern, case.measured)
        other = figures.setdefault(figure, case)
        if case.log is not None and other.role != case.role:
            where = {**place(item, "log"), "key": f"cases.{case.id}.role", "value": case.role}
            message = f"uses the same figure as {other.id!r} in another role"
            raise SpecError(message, **where, remedy="a figure fits or judges, never both")


def _regex(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"is not a regular expression: {error}") from None
    return text
