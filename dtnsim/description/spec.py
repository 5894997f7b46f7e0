"""A path file: hosts, what lies between them, and the transfers to predict.

`load` reads it, puts `--set` overrides in, resolves hosts and parts, and validates everything before
anything is computed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping as MappingABC, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, PrivateAttr

from dtnsim.components.base import LazyModel, empty, place, spot_of, validate
from dtnsim.description import spoken_paths
from dtnsim.description.fitted import Fits, fitted_hosts
from dtnsim.description.graph import Joined
from dtnsim.description.host import Host
from dtnsim.description.hosts import Built, comes_first, inside, machine, moves_hosts, numbered
from dtnsim.description.keys import keyed, written_as
from dtnsim.description.override import Overrides, override, overrides_apart, split_key, texts
from dtnsim.description.shared import shared_out, uneven
from dtnsim.description.templates import named_workload, with_workload
from dtnsim.description.transfer import DEVICES, check_order, misplaced, split_end, with_ends
from dtnsim.ground import library, runtime, yamlio
from dtnsim.ground.draws import Correlation
from dtnsim.ground.errors import MISSING, SpecError
from dtnsim.ground.grouping import by_key
from dtnsim.ground.ledger import Ledger
from dtnsim.ground.quantity import Scalar
from dtnsim.ground.records import Slowdown
from dtnsim.ground.yamlio import Mapping

if TYPE_CHECKING:
    from dtnsim.description.events import Event, Others
    from dtnsim.description.programs import Program
    from dtnsim.description.workload import Workload
else:
    Event, Others = (Annotated[Any, LazyModel("dtnsim.description.events", name)] for name in ("Event", "Others"))
    Program = Annotated[Any, LazyModel("dtnsim.description.programs", "Program")]
    Workload = Annotated[Any, LazyModel("dtnsim.description.workload", "Workload")]


@dataclass(frozen=True, slots=True)
class Origin:
    """What a path was read from."""

    raw: Mapping  #: As it was written.
    overrides: tuple[str, ...]  #: What was put over that.
    folder: Path  #: Where it lies.
    numbers: list[int]  #: Number of the description of each transfer.
    built: Built  #: Its hosts.
    fits: Fits  #: What its calibration said.
    read: tuple[str, ...]  #: What was read from names that the library does not have.
    mounted: dict[str, tuple[str, ...]]  #: By transfer: ``key=value`` of the share that its tool mounts.


class PathSpec(Joined):
    """A whole path file, resolved.

    Attributes:
        name: Title of the answer.
        source: Where the description comes from.
        description: What it is about.
        hosts: Machines by name: the name of a shipped one, or its description.
        wan: One segment, or several in series from the source of the first transfer to its destination.
        links: Segments by name, each 'between: [a, b]', for other topologies.
        transfers: Transfers, at once or one ``after`` the other, those of ``programs`` included; 'transfer' is short
            for one.
        programs: Programs that read, compute and write, in several instances.
        calibration: Fitted parameters to use: a file, or the name of a shipped calibration.
        setting: ``isolated`` where nobody and nothing else is on the path and what it is is known (a lab, an emulated
            link), ``production`` where systems are in daily use; it decides by whose errors the model's own are taken.
            Left out: isolated where every segment states its loss and other traffic without doubt, and no file system
            is a shared one; between the two as other traffic that is stated grows.
        workload: What a fleet moves over and over; its classes, one transfer after the other, are the ``transfers``.
        events: What happens while it is simulated.
        others: Other people's transfers while it is simulated.
    """

    source: str = ""
    description: str = ""
    workload: Workload | None = Field(None, description="what a fleet moves: a name, a file, or written out")
    programs: list[Program] = Field(default_factory=empty, description="programs that read, compute and write in turn")
    calibration: str | None = None
    setting: Literal["isolated", "production"] | None = None
    events: list[Event] = Field(default_factory=empty)
    others: list[Others] = Field(default_factory=empty)
    file: str = Field("", exclude=True)
    #: name in this path -> name of the host file, by which fitted parameters are kept
    host_files: dict[str, str] = Field(default_factory=dict, exclude=True)
    _origin: Origin = PrivateAttr()

    @property
    def written(self) -> str:
        """What it was read from, with what was put over it: equal for equal paths."""
        return repr((self._origin.raw, self._origin.overrides))

    @property
    def overrides(self) -> tuple[str, ...]:
        """What was put over what it was read from."""
        return self._origin.overrides

    def mounted(self, number: int) -> tuple[str, ...]:
        """``key=value`` of the share that a transfer's tool mounts (``tool: smb``), as another tool needs it."""
        return self._origin.mounted.get(self.transfer_key(number), ())

    def changed(self, overrides: Overrides) -> PathSpec:
        """The same path with more overrides, as if they had been given from the start; the same for the same."""
        raw, folder, over = self._origin.raw, self.folder, (*self.overrides, *texts(overrides))
        return self._origin.built.path(raw, (folder, *over), partial(resolve, raw, over, beside=folder))

    def set_apart(self, names: Collection[str]) -> PathSpec:
        """The same path, where these hosts follow no other host of the file that they are like."""
        return self.changed(sets) if (sets := overrides_apart(self._origin.raw, self.overrides, names)) else self

    def place_of(self, *steps: str | int) -> dict[str, Any]:
        """File and line where a key was written, for a `SpecError`; nothing where an override has written it."""
        spot, complete = spot_of(self._origin.raw, steps)
        return spot if complete else {}

    def located(self, error: SpecError, number: int) -> SpecError:
        """An error that names a key of a transfer (``NAME.tool.client``), with the key, file and line of its place."""
        name, _, rest = (error.key or "").partition(".")
        if error.file is not None or name != self.transfers[number].name:
            return error
        key = f"{self.transfer_key(number)}.{rest}"
        where = self.place_of(*(int(step) if step.isdigit() else step for step in split_key(key)))
        return SpecError(error.message, **where, key=key, value=error.value, remedy=error.remedy)

    def slowdowns(self, ledger: Ledger) -> tuple[Slowdown, ...]:
        """How the memory load of each host slows its cores, all that are asked for cycles."""
        cores = by_key((s.host, name) for name, s in ledger.stations.items() if s.unit == "cycles")
        return tuple(s for h in self.hosts.values() for s in h.slowdowns(ledger, tuple(cores.get(h.name, ()))))

    def transfer_key(self, number: int) -> str:
        """Where the file describes a transfer: ``transfer``, ``transfers.0`` or ``.name``, or a class of a workload."""
        raw = self._origin.raw
        if self.workload is not None:
            return f"workload.classes.{self.transfers[number].name}"
        if "transfer" in raw:
            return "transfer"
        origins = self._origin.numbers
        number = origins[number] if number < len(origins) else number
        named = raw.get("transfers")
        return f"transfers.{list(named)[number] if isinstance(named, Mapping) else number}"

    @property
    def written_as(self) -> dict[str, list[str]]:
        """Keys that ``--set`` takes, by the key that draws of the numbers there go by."""
        tools = {self.transfer_key(number): transfer.tool for number, transfer in enumerate(self.transfers)}
        return written_as(self.hosts, self.wan, self.links, tools)

    def hosts_of(self, keys: str) -> dict[str, Host]:
        """The hosts that some keys name."""
        return {name: host for name, host in self.hosts.items() if re.search(rf"\bhosts\.{re.escape(name)}\.", keys)}

    def told_whole(self) -> AbstractContextManager[None]:
        """What is found wrong on the way to an answer is refused with all that is wrong beside it."""
        return _told_whole(self._origin.raw, self.overrides, self.folder)

    @property
    def correlation(self) -> Correlation:
        """How the errors of its fitted parameters go together."""
        return self._origin.fits.correlation

    @property
    def measured(self) -> bool:
        """Whether tests of one of its hosts say how that is, and nothing that they found contradicts it."""
        return self._origin.fits.measured

    @property
    def noises(self) -> MappingABC[str, tuple[float, float | None]]:
        """(run to run, day to day or None) by host, where its calibration measured them."""
        return self._origin.fits.noises

    @property
    def notes(self) -> tuple[str, ...]:
        """What was read from names, and what a calibration would have changed, had the path not said otherwise."""
        parts = ((self.transfer_key(number), transfer) for number, transfer in enumerate(self.transfers))
        warnings = (*misplaced(self.transfers, self.hosts), *uneven(parts))
        return (*self._origin.read, *warnings, *self._origin.fits.notes)

    @property
    def folder(self) -> Path:
        """Folder that files named in the path are relative to."""
        return self._origin.folder


@runtime.gc_paused()
def load(
    path: str | Path | PathSpec,
    overrides: Overrides = (),
    calibration: str | Path | None = None,
    *,
    events: str | Path | None = None,
    workload: str | Path | None = None,
    built: Built | None = None,
) -> PathSpec:
    """Reads a path by file or by the name of a shipped one.

    Args:
        path: A YAML file, or a name like ``venadi/gridftp-gpfs``; or a path already loaded, which is changed.
        overrides: ``{"hosts.venadi.nic": "connectx-5-100g"}``, or texts ``hosts.venadi.nic=connectx-5-100g``.
        calibration: Fitted parameters (a file, or the name of a shipped calibration) instead of those
            that the path names itself; ``none`` for no fitted parameters at all.
        events: A YAML file whose ``events`` and ``others`` are put over those of the path.
        workload: A workload, shipped or in a file, that takes the place of the path's own, or of its transfers.
        built: Hosts of other paths, of which like ones are not built again.

    Raises:
        SpecError: with file, line, key, value and remedy.
    """
    if isinstance(path, PathSpec):
        if calibration is events is workload is None:
            return path.changed(overrides) if overrides else path
        raw, beside, before = path._origin.raw.clone(), path.folder, path.overrides  # noqa: SLF001
    else:
        file = library.find("paths", str(path))
        raw, beside, before = yamlio.load(file, name=library.shown(file)), file.parent if file.is_file() else Path(), ()
    if calibration is not None:
        raw.put("calibration", str(calibration), "--calibration", 0)
    if workload is not None:
        raw.put("workload", str(workload), "--workload", 0)
        for key in ("transfer", "transfers", "programs"):
            raw.pop(key, None)
    if events is not None:
        around = yamlio.load(Path(events))
        for key, value in around.items():
            if key not in ("events", "others"):
                raise SpecError("is not a key here", **place(around, key), key=key, remedy="write events or others")
            raw.put(key, value, *around.lines[key])
    over = [*before, *texts(overrides)]
    with _told_whole(raw, over, beside):
        return resolve(raw, over, beside=beside, built=built)


@contextmanager
def _told_whole(raw: Mapping, overrides: Sequence[str], beside: Path | None) -> Iterator[None]:
    """What a path is refused for is told with all that is wrong beside it."""
    try:
        yield
    except SpecError as error:
        from dtnsim.description.findings import everything

        raise everything(error, raw, overrides, partial(resolve, beside=beside, built=Built())) from None


def resolve(
    raw: Mapping, overrides: Sequence[str] = (), *, beside: Path | None = None, built: Built | None = None
) -> PathSpec:
    """Validates the mapping of a path file; ``built``: its hosts as they were with other overrides."""
    try:
        return _resolved(raw, overrides, beside, Built() if built is None else built)
    except SpecError as error:
        for one in error.findings:
            one.file = one.file or raw.file or None
        raise


def _resolved(raw: Mapping, overrides: Sequence[str], beside: Path | None, built: Built) -> PathSpec:
    raw = named_workload(raw, beside)
    given_raw, raw = raw, raw.clone()
    if "name" not in raw:  # an answer is called after its file then
        raw.put("name", Path(raw.file).stem or "path", raw.file, raw.line)
    for text in filter(comes_first, overrides):
        override(raw, text)
    if isinstance(raw.get("hosts"), Mapping):
        raw.put("hosts", numbered(raw["hosts"]), *raw.lines["hosts"])
    read: list[str] = []
    of_hosts, remaining = _of_hosts(raw, overrides)
    for text in remaining:  # before anything rewrites what they act on, so that they do what the file would do
        override(raw, text, read)
    for key, field in PathSpec.model_fields.items():
        if field.exclude and key in raw:  # what is put in below
            raise SpecError("is not a key here", **place(raw, key), key=key)
    written_hosts = raw.get("hosts")
    spoken_paths.buckets(raw, read)
    mounted = spoken_paths.shares(raw, read)
    spoken_paths.segments(raw, read)
    if raw.get("hosts") is written_hosts:
        remaining = tuple(filter(moves_hosts, remaining))
    inputs = (beside, of_hosts, remaining)
    hosts, files, fits, notes = built.path(given_raw, inputs, partial(fitted_hosts, raw, of_hosts, beside))
    raw.put("host_files", files, raw.file, raw.line)
    raw.put("hosts", hosts, *raw.at("hosts"))
    if isinstance(raw.get("wan"), dict | str):
        raw.put("wan", [raw["wan"]], *raw.lines["wan"])
    raw = named_workload(raw, beside)  # an override may have named one
    with_workload(raw)
    raw.put("file", Scalar(raw.file), raw.file, raw.line)
    origins = _one_or_many(raw, hosts)
    with built.parts():
        spec = validate(PathSpec, raw)
    _check_names(spec, raw)
    spoken_paths.check(spec, raw)
    updates = keyed(spec.hosts, spec.host_files, spec.wan, spec.links, spec.transfers, fits, built)
    spec, folded = spec.model_copy(update=updates), spoken_paths.folded([*read, *notes])
    spec._origin = Origin(given_raw, tuple(overrides), beside or Path(), origins, built, fits, folded, mounted)  # noqa: SLF001
    return spec


def _of_hosts(raw: Mapping, overrides: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Overrides that hosts are read with, and those of what is read before: what hosts are, buckets, all else."""
    stores = spoken_paths.stores(raw)
    host_texts = {text for text in overrides if comes_first(text) or inside(text) not in (None, *stores)}
    late = tuple(text for text in overrides if text in host_texts and not machine(text))
    return late, tuple(text for text in overrides if text not in late)


def _one_or_many(raw: Mapping, hosts: dict[str, Host]) -> list[int]:
    """Makes a list of the transfers, parts of shared ones by themselves; the number of each one's description."""
    origins: list[int] = []
    if "transfer" in raw:
        if "transfers" in raw:
            raise SpecError("write either 'transfer' or 'transfers'", **place(raw, "transfer"), key="transfer")
        location = raw.lines["transfer"]
        raw.put("transfers", [raw.pop("transfer")], *location)
    items = raw.get("transfers")
    if isinstance(items, Mapping):
        items = [i if not isinstance(i, Mapping) or "name" in i else i.but("name", name) for name, i in items.items()]
    if isinstance(items, list):
        parts, origins = shared_out(_transfers(items, list(hosts)), hosts)
        raw.put("transfers", parts, *raw.lines["transfers"])
    if "programs" in raw:
        from dtnsim.description.programs import expanded

        location = raw.lines["programs"]
        steps = _transfers(expanded(raw["programs"], location), list(hosts))
        raw.put("transfers", [*(raw.get("transfers") or []), *steps], *raw.lines.get("transfers", location))
    return origins


def _transfers(items: list[Any], hosts: Sequence[str]) -> list[Any]:
    """Gives every transfer a name of its own, and its tool a kind (a tool is called by its name in a file)."""
    seen: set[str] = set()
    done = []
    for number, item in enumerate(items):
        if isinstance(item, Mapping):
            item = item.clone()
            base = str(item.get("name", "transfer"))
            if base in seen and "name" in item:
                where = {**place(item, "name"), "key": f"transfers.{number}.name", "value": base}
                raise SpecError("is the name of two transfers", **where, remedy="write another, or leave it out")
            unique = base if base not in seen else f"{base}-{number + 1}"
            seen.add(unique)
            item["name"] = unique
            item = with_ends(item, hosts)
        done.append(item)
    return done


def _check_core(core: int | None, placed: int, item: Mapping) -> None:
    if core is not None and core >= placed:
        host = "write the host's placement: {application: [0, 1]}, or leave it out"
        remedy = f"write 0 to {placed - 1}" if placed else host
        where: dict[str, Any] = {**place(item, "core"), "key": "transfer.core", "value": core}
        raise SpecError("is none of the cores that applications are placed on", **where, remedy=remedy)


def _check_names(spec: PathSpec, raw: Mapping) -> None:
    items = raw["transfers"]
    known_ends: set[str] = set()  # ends that there are
    for number, transfer in enumerate(spec.transfers):
        for key, end in (("from", transfer.source_end), ("to", transfer.to)):
            if end in known_ends:
                continue
            known_ends.add(end)
            host, path = split_end(end)
            where = {**place(items[number], key), "key": f"transfer.{key}", "value": end}
            if host not in spec.hosts:
                raise SpecError(
                    f"there is no host {host!r}", **where, remedy=spoken_paths.hosts_to_name(end, spec.hosts)
                )
            if path not in DEVICES and spec.hosts[host].mount_of(path) is None:
                mounts = ", ".join([*spec.hosts[host].volumes, "/dev/zero", "/dev/null", "memory"])
                remedy = f"write {host}: and one of {mounts}; or give it one, 'volumes: {{{path}: unknown}}'"
                raise SpecError(f"host {host!r} has no volume for {path}", **where, remedy=remedy)
        ends = [spec.hosts[split_end(end)[0]] for end in (transfer.source_end, transfer.to)]
        if ends[0] is not ends[1] and not (spec.wan or spec.links or all(host.nics for host in ends)):
            remedy = "write wan: {bandwidth: 10 Gb/s, rtt: 20 ms}; if unknown: the rate of the slower host's card"
            raise SpecError(MISSING, **place(raw), key="wan", remedy=f"{remedy}, and no rtt within a building")
        _check_core(transfer.core, max(len(host.placement.application) for host in ends), items[number])
        for key, named in (("nics", transfer.nics), ("ports", transfer.ports)):
            for host in set(named) - set(spec.hosts):
                where = {**place(items[number], key), "key": f"transfer.{key}", "value": host}
                raise SpecError(f"there is no host {host!r}", **where, remedy=f"hosts: {', '.join(spec.hosts)}")
        if transfer.after or transfer.pause is not None:
            check_order(spec.transfers, number, place(items[number], "after"))
        for link in transfer.via:
            if link not in spec.links:
                remedy = f"links: {', '.join(spec.links)}"
                raise SpecError("is not a link", key="transfer.via", value=link, remedy=remedy)
