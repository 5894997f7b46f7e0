"""One transfer of a path file: its ends, its tool, its data, and when it begins."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping as MappingABC, Sequence
from typing import Annotated, Any, Final, Self

import numpy as np
from pydantic import AliasChoices, Field, field_validator, model_validator
from pydantic.fields import FieldInfo

from dtnsim.components.base import Model, Pick, among_others, empty, find_kind, kinds, place
from dtnsim.components.model import Names
from dtnsim.description import dataset
from dtnsim.description.dataset import Dataset
from dtnsim.description.host import Host
from dtnsim.ground import units
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Quantity, Scalar, Unit, unit_of
from dtnsim.ground.uncertainty import Otherwise
from dtnsim.ground.yamlio import Mapping
from dtnsim.tools.plan import Timing, Tool, usages

#: ends of a transfer that are no volume, and what kind of end they are
DEVICES = {
    "/dev/zero": "zero",
    "/dev/null": "null",
    "/dev/urandom": "random",
    "/dev/random": "random",
    "/dev/shm": "memory",  # noqa: S108 - an end of a transfer, not a file of ours
    "memory": "memory",
}

_PROGRAM: Final = {"gridftp": "globus-url-copy"}  #: what is typed, where that is not the tool's name
_ONE_DASH: Final = frozenset({"gridftp"})  #: tools whose long options have one dash
_CENTURY_S: Final = 3.2e9  #: latest that a transfer begins [s]
#: counts of one file
_ONE: Final = np.ones(1, np.int64)
_ONE.setflags(write=False)


class TransferSpec(Model):
    """One transfer: from where, to where, with which tool, what data.

    Attributes:
        name: What it is called in answers.
        source_end: host:/path, host:memory, host:/dev/zero ...
        to: host:/path, host:memory, host:/dev/null ...
        tool: Name of the tool, or {name: ..., options under the tool's own names}.
        dataset: {files, size or each, directories}, {groups: [{count, size}, ...]}, or the name of a shipped one.
        via: Links in the order in which the path takes them.
        start: When it begins at the earliest.
        after: Transfers that must have finished before it begins.
        pause: Time between the last of those and its own beginning.
        duration: How long it lasts, where a time ends it and the tool has no option for that.
        core: Which of the placed application cores it runs on.
        runs: Runs of the tool at once, each with its share of the files and on the next of those cores.
        pool: Hosts that share it with the one that an end names, each with its share of the files: {dtn1: [dtn2]};
            with GridFTP's stripe, of the bytes of every file.
        archive: Whether the files go as one archive: tar -c at the source before, tar -x where they arrive after.
        counted: Whether its bytes count in the rate of the whole path; those of a copy on the way are there already.
    """

    name: str = "transfer"
    source_end: Annotated[str, Field(alias="from")]
    to: str
    tool: Annotated[Tool, Pick(Tool)]
    dataset: Any = None
    via: Names = Field(default_factory=empty)
    nics: dict[str, str] = Field(default_factory=dict, description="host: NIC to use there")
    ports: dict[str, int] = Field(default_factory=dict, description="host: port of its NIC to use")
    start: Annotated[Quantity, Unit("s", high=_CENTURY_S)] | None = None
    after: Names = Field(default_factory=empty, description="names of transfers that it waits for")
    pause: Annotated[
        Quantity | None,
        Unit("s", high=_CENTURY_S),
        Field(description="time between the end of those and its own beginning"),
    ] = None
    duration: Annotated[
        Quantity | None,
        Unit("s", low=0.001, high=_CENTURY_S),
        Field(description="ends after so long; its files are moved over and over until then"),
    ] = None
    core: Annotated[int, Field(ge=0, description="which of the placed application cores it runs on")] | None = None
    runs: Annotated[int, Field(ge=1, description="runs of the tool at once, each with its share of the files")] = 1
    pool: dict[str, list[str]] = Field(
        default_factory=dict, description="host of an end: others that share the transfer with it"
    )
    archive: Annotated[bool, Field(description="packed into one file at the source, unpacked where it arrives")] = False
    counted: Annotated[bool, Field(description="its bytes count in the rate of the whole path")] = True
    cached: Annotated[
        bool | None,
        Field(
            description="whether what is read lies in memory of who reads it, of an object store in its servers'; "
            "where not said, as the tool has it"
        ),
        Otherwise(
            "false",
            "caches that were dropped, or files that another client wrote (echo 3 > /proc/sys/vm/drop_caches)",
            "in memory, where the tool itself has just written it",
        ),
    ] = None

    def timing(self) -> Timing | None:
        """How long it lasts where a time ends it, said here or by the tool; None where its bytes do."""
        tool = self.tool.timing(sized=self.dataset is not None)
        if self.duration is None:
            return tool
        if tool is not None:
            where: dict[str, Any] = {"key": f"transfer {self.name}.duration", "value": str(self.duration)}
            raise SpecError(f"{self.tool.kind} has a time of its own", **where, remedy="write the tool's own option")
        return Timing(self.duration.value)

    @model_validator(mode="after")
    def _files_of_tool(self) -> Self:
        """Files that the tool's own options ask for."""
        files = self.tool.files()
        if files is not None and self.dataset is not None:
            raise ValueError(f"{self.tool.kind} says itself how much it moves; write that or a dataset")
        if files is not None:
            self.__dict__["dataset"] = dataset.load({"files": files[0], "each": f"{files[1]:.0f} B"})
        return self

    @field_validator("dataset", mode="before")
    @classmethod
    def _load_dataset(cls, raw: object) -> object:
        try:
            return None if raw is None else (_one_file(raw) or dataset.load(raw))
        except SpecError as error:
            for one in error.findings:
                one.key = (one.key or "").removeprefix("dataset").removeprefix(".") or None
            raise among_others(error) from None


def _one_file(spec: object) -> Dataset | None:
    """``{files: 1, size: 10 GB}`` at once, since very many transfers have that; None where it is not just so."""
    if not isinstance(spec, dict) or len(spec) != 2 or spec.get("files") != "1":
        return None
    try:
        size = dataset.SIZE.read(spec.get("size")).value
    except ValueError:
        return None  # who reads all of it says where
    if not 0 < size <= dataset.MAX_BYTES:
        return None
    sizes = np.array([size])
    sizes.setflags(write=False)
    return Dataset(f"1 file, {units.show(size, 'B')}", sizes, _ONE)


def check_order(transfers: Sequence[TransferSpec], number: int, spot: dict[str, Any]) -> None:
    """Refuses a transfer that waits for what does not exist, or in the end for itself."""
    transfer = transfers[number]
    if not transfer.after and transfer.pause is None:
        return  # very many transfers wait for none
    by_name = {t.name: t for t in transfers}
    where: dict[str, Any] = {**spot, "key": f"transfer {transfer.name}.after"}
    for name in transfer.after:
        if name not in by_name:
            raise SpecError("is no transfer of this path", **where, value=name, remedy=f"one of {', '.join(by_name)}")
    if transfer.pause is not None and not transfer.after:
        where["key"] = f"transfer {transfer.name}.pause"
        raise SpecError("a pause follows other transfers", **where, remedy="write 'after', or 'start' for a time")
    seen: set[str] = set()
    ahead = list(transfer.after)
    while ahead:
        name = ahead.pop()
        if name == transfer.name:
            raise SpecError("waits for itself", **where, value=", ".join(transfer.after), remedy="take a name out")
        if name not in seen:
            seen.add(name)
            ahead += by_name[name].after if name in by_name else []


def elsewhere(hosts: Iterable[Host], systems: Collection[str]) -> str:
    """That what runs on some systems does not run on some hosts; empty where it runs on all of them."""
    unsupported = [f"{host.name} ({host.os or 'Linux'})" for host in hosts if host.system not in systems]
    return f"does not run on {' and '.join(unsupported)}" if unsupported else ""


def misplaced(transfers: Sequence[TransferSpec], hosts: MappingABC[str, Host]) -> tuple[str, ...]:
    """What is said of tools that no usage has on a system that a host at their ends states."""
    warnings: dict[str, str] = {}
    for kind, *ends in {(t.tool.kind, *sorted({split_end(e)[0] for e in (t.source_end, t.to)})) for t in transfers}:
        stated = [hosts[name] for name in ends if name in hosts and hosts[name].os]
        runs = {system for tool, usage in usages() if tool == kind for system in usage.systems} if stated else set()
        if runs and (where := elsewhere(stated, runs)):
            warnings[f"{kind} {where}"] = f"{kind} {where}: predicted as if it did; 'dtnsim tools' has those that do"
    return tuple(warnings[key] for key in sorted(warnings))


def written(raw: Mapping) -> list[Any]:
    """The transfers of a path file as they are written there: one, a list, or by name."""
    items = raw.get("transfers", [raw.get("transfer")])
    return list(items.values() if isinstance(items, Mapping) else items if isinstance(items, list) else ())


def rewrite(raw: Mapping, change: Callable[[Any, str], Any]) -> None:
    """Puts what ``change`` makes of each transfer of a path file, told its key, in its place."""
    items = raw.get("transfers")
    if isinstance(items, list):
        raw["transfers"] = [change(item, f"transfers.{number}") for number, item in enumerate(items)]
    elif isinstance(items, Mapping):
        raw["transfers"] = updated = items.clone()
        updated.update({name: change(item, f"transfers.{name}") for name, item in items.items()})
    if "transfer" in raw:
        raw["transfer"] = change(raw["transfer"], "transfer")


def split_end(end: str) -> tuple[str, str]:
    """``host:/path`` as (host, path); ``host`` alone means its memory."""
    host, colon, path = end.partition(":")
    return host.strip(), path.strip() if colon and path.strip() else "memory"


def with_ends(item: Mapping, hosts: Sequence[str]) -> Mapping:
    """A transfer whose tool may stand under its own name (``fio: {rw: write}``) and may name the files itself.

    A file without a host is on the only one there is.
    """
    item = _with_tool(item.clone())
    tool = item.get("tool")
    if not isinstance(tool, Mapping) or str(tool.get("kind")) not in kinds():
        return item  # what is wrong with it is said when it is built
    tool_type = find_kind(str(tool["kind"]))
    if not issubclass(tool_type, Tool):
        return item
    _timed(item, tool, tool_type)
    for end, option in (("from", tool_type.reads_option), ("to", tool_type.writes_option)):
        written = [name for name in names(option, tool_type.model_fields.get(option)) if name in tool]
        if not written:
            continue
        key, path = written[0], str(tool[written[0]])
        location = tool.at(key)
        where: dict[str, Any] = {**place(tool, key), "key": f"transfer.tool.{key}", "value": path}
        mount = split_end(str(item.get(end, "")))[1]
        relative = path[:1] != "/" and ":" not in path
        if end in item and (relative or f"{path.rpartition(':')[2]}/".startswith(f"{mount.rstrip('/')}/")):
            continue  # a file on the volume that the end names
        if end in item:
            raise SpecError(f"the transfer has its {end!r} already", **where, remedy="write one of the two")
        beside = split_end(str(item.get("to" if end == "from" else "from", "")))[0]
        if path in DEVICES and beside in hosts:  # dd if=/dev/zero, to: web:/data
            path = f"{beside}:{path}"
        if ":" not in path and len(hosts) != 1:
            raise SpecError("is on which host?", **where, remedy=f"write HOST:{path}, of {', '.join(hosts)}")
        item.put(end, Scalar(path if ":" in path else f"{hosts[0]}:/{path.removeprefix('/')}", *location), *location)
    ends = [end for end in ("from", "to") if end in item]
    if tool_type.reads_option and tool_type.reads_option == tool_type.writes_option and len(ends) == 1:
        # a test of one volume, as if its own option named it
        item.put("from" if ends == ["to"] else "to", item[ends[0]], *item.at(ends[0]))
    return item


def _timed(item: Mapping, tool: Mapping, tool_type: type[Tool]) -> None:
    """Gives a test that has an option for its time the transfer's ``duration``, where it says none or the same."""
    option = tool_type.time_option
    if "duration" not in item or not option:
        return
    written = [name for name in names(option, tool_type.model_fields[option]) if name in tool]
    if not written or tool[written[0]] == item["duration"]:
        location = item.at("duration")
        tool.put(written[0] if written else option, item.pop("duration"), *location)


def names(name: str, field: FieldInfo | None) -> list[str]:
    """Every name under which a file may write a key."""
    if field is None:
        return [name]
    if isinstance(field.validation_alias, AliasChoices):
        return [name, *(str(c) for c in field.validation_alias.choices)]
    return [field.alias or name]


def _with_tool(item: Mapping) -> Mapping:
    """A transfer with its ``tool`` as its kind expects it."""
    if "tool" not in item:
        short = [key for key in item if key not in TransferSpec.model_fields and key in kinds()]
        if len(short) != 1 or find_kind(short[0]).family != Tool.family:
            return item
        location, options = item.at(short[0]), item.pop(short[0])
        tool = options.clone() if isinstance(options, Mapping) else Mapping(*location)
        tool.put("name", short[0], *location)
        item.put("tool", tool, *location)
    try:
        item["tool"] = typed = written_tool(item["tool"])
    except SpecError as error:
        for one in error.findings:
            one.key, (one.file, one.line) = "transfer.tool", item.lines["tool"]
        raise
    if isinstance(typed, Mapping) and str(typed.get("kind")) in kinds():
        tool_type = find_kind(str(typed["kind"]))
        for key, value in typed.items() if issubclass(tool_type, Tool) else ():
            # sizes as programs write them, whose k is 1024
            if isinstance(value, Scalar) and (size := re.fullmatch(r"(\d+)([kKmMgGtT])", value)):
                written = f"{size[1]} {size[2].upper()}iB"
                # what the field of that option, under any of its names, says of its number
                fields = (field for name, field in tool_type.model_fields.items() if key in names(name, field))
                if any((unit := unit_of(field)) is not None and unit.dim == "B/s" for field in fields):
                    from dtnsim.tools._command import rate_of

                    written = rate_of(tool_type.kind, value)
                typed[key] = Scalar(written, value.file, value.line)
    return item


def written_tool(tool: object) -> object:
    """A tool as its kind expects it, from its name, its command line or its options."""
    if isinstance(tool, str):
        short = Mapping(tool.file, tool.line) if isinstance(tool, Scalar) else Mapping()
        typed: dict[str, Any] = {"name": tool}
        if " " in tool.strip() or tool not in kinds():  # a command line, or a program that goes by another name
            from dtnsim.tools._command import parse, programs

            typed = parse(tool) if " " in tool.strip() or tool in programs() else typed
        for key, value in typed.items():
            short.put(key, Scalar(value) if isinstance(value, str) else value, short.file, short.line)
        tool = short
    if isinstance(tool, Mapping) and "name" in tool:
        tool = tool.clone()
        tool.put("kind", tool.pop("name"), *tool.at("name"))
    return tool


def typed(tool: Tool, option: str, value: int | str = "") -> str:
    """An option of a tool as it is typed, with its number, or alone where it is a switch."""
    if tool.kind == "robocopy":
        return f"robocopy /{option}:{value}"
    if tool.kind == "aws-s3":  # its configuration has it
        return f"aws configure set default.s3.{option} {value}"
    dash = "-" if len(option) == 1 or tool.kind in _ONE_DASH else "--"
    program = "s5cmd cp" if (tool.kind, option) == ("s5cmd", "c") else _PROGRAM.get(tool.kind, tool.kind)
    return f"{program} {dash}{option} {value}".rstrip()


def at_once(transfers: Sequence[TransferSpec]) -> list[tuple[int, str, int]]:
    """(number of the transfer, option, its value) of the tools' options that are a number of things at once.

    Streams, files, processes; a tool that finds the number itself where it is left out (Globus) is not asked for
    another.
    """
    return [
        (number, name, getattr(transfer.tool, name))
        for number, transfer in enumerate(transfers)
        for name, field in type(transfer.tool).model_fields.items()
        if name in (transfer.tool.files_option, transfer.tool.streams_option) and field.default is not None
    ]
