"""YAML in, plain dicts out, every scalar with its file and line; hostile input is refused early.

All scalars stay text (`Scalar`): what they mean is decided by the field they land in, so ``off`` is
never silently False nor ``1_0`` ten. Limits on size, depth and expanded nodes hold before anything
is built, so that a bomb of aliases or a huge file costs milliseconds.
"""

from __future__ import annotations

import codecs
import os
import re
import sys
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any, Final

import yaml

from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Scalar

MAX_BYTES: Final = 10_000_000
PATIENCE_MS: Final = 10_000  #: how long a pipe may be silent
#: what a path of ``-`` is read from
STDIN: Final = Path("/dev/stdin")
MAX_DEPTH: Final = 40
MAX_NODES: Final = 100_000  #: values that aliases may repeat, all together

_NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})  #: what a plain scalar means nothing by

#: a name of several hosts as a key within braces, where YAML takes its own for the mapping's
_NUMBERED: Final = re.compile(r"(?<=[{,\s])([\w.-]*\{\d+\.\.\d+\}[\w.-]*)(?=\s*:\s)")

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Mapping(dict[str, Any]):
    """A YAML mapping: a dict that knows the file and line of itself and of its keys."""

    def __init__(self, file: str = "", line: int = 0) -> None:
        super().__init__()
        self.file, self.line = file, line
        self.lines: dict[str, tuple[str, int]] = {}

    def put(self, key: str, value: Any, file: str, line: int) -> None:
        """Sets a key and remembers where it was written."""
        self[key] = value
        self.lines[key] = (file, line)

    def at(self, key: str) -> tuple[str, int]:
        """File and line where a key was written; of one that nobody wrote, those of the mapping."""
        return self.lines.get(key, (self.file, self.line))

    def but(self, key: str, value: Any, location: tuple[str, int] | None = None) -> Mapping:
        """A copy with a key set, as if written where it was, or at a place that is given."""
        new = self.clone()
        new.put(key, value, *(location or self.at(key)))
        return new

    def without(self, *keys: str) -> Mapping:
        """A copy that lacks some keys."""
        new = self.clone()
        for key in keys:
            new.pop(key, None)
        return new

    def clone(self) -> Mapping:
        """A copy whose keys can be set without touching this one."""
        new = Mapping(self.file, self.line)
        new.update(self)
        new.lines.update(self.lines)
        return new


def content(value: Any) -> Hashable:
    """What was read, and from where: equal for what is read as the same."""
    if isinstance(value, Scalar):  # most are
        return str(value), value.file, value.line, value.source
    if isinstance(value, dict):
        where = (value.file, value.line, tuple(value.lines.items())) if isinstance(value, Mapping) else ()
        return where, (*value, *map(content, value.values()))
    if isinstance(value, list):
        return tuple(map(content, value))
    return type(value), repr(value)


def mapping(entries: dict[str, Any], file: str, line: int) -> Mapping:
    """A dict, and those in it, as a mapping, every key of which was written at one place, like the line of a log."""
    new = Mapping(file, line)
    for key, value in entries.items():
        new.put(key, mapping(value, file, line) if type(value) is dict else value, file, line)
    return new


def sourced(node: Any) -> Any:
    """A mapping whose own ``source`` holds for the scalars written in it, those of number mappings without one too.

    What came there from another file (a part that it names) keeps its own source.
    """
    source = node.get("source") if isinstance(node, Mapping) else None
    if not isinstance(source, Scalar):
        return node
    new = node.clone()
    for key, value in node.items():
        if isinstance(value, Scalar) and value.file == source.file and key != "source":
            new[key] = Scalar(str(value), value.file, value.line, str(source))
        elif isinstance(value, Mapping) and "value" in value and "source" not in value and value.file == source.file:
            new[key] = sourced(value.but("source", source, (source.file, source.line)))
    return new


def plain(path: Path) -> Any:
    """What one of dtnsim's own tables holds, with the types that YAML gives it."""
    with path.open("rb") as file:  # whose name errors say
        return yaml.load(file, Loader=_Loader)  # noqa: S506 - a safe one


def load(path: Path, *, inherit: bool = False, name: str = "") -> Mapping:
    """Reads the mapping that a YAML file holds; ``name`` is its name in messages and sources."""
    name = name or str(path)
    if path == STDIN and not path.exists():  # Windows has no such file
        return loads(_text(sys.stdin.buffer.read(MAX_BYTES), name), name, inherit=inherit)
    try:
        if path.is_dir():
            raise SpecError("is a folder, not a YAML file", file=name)
        if path.stat().st_size > MAX_BYTES:
            message = f"is {path.stat().st_size} bytes long; a description has at most {MAX_BYTES}"
            raise SpecError(message, file=name, remedy="give a path file, not data")
        raw = path.read_bytes() if path.is_file() else _from_pipe(path, name)
    except OSError as error:
        raise SpecError(f"cannot be read: {error.strerror or error}", file=name) from None
    return loads(_text(raw, name), name, inherit=inherit)


def decoded(raw: bytes, errors: str = "strict") -> str:
    """The text of a file, its lines ending as Python's: Windows' PowerShell redirects to UTF-16, others to UTF-8."""
    encoding = "utf-16" if raw[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8-sig"
    return raw.decode(encoding, errors).replace("\r\n", "\n").replace("\r", "\n")


def _text(raw: bytes, name: str) -> str:
    try:
        return decoded(raw)
    except UnicodeDecodeError:
        raise SpecError("is not UTF-8 text", file=name, remedy="give a YAML file") from None


def _from_pipe(path: Path, name: str) -> bytes:
    """What a pipe or a device holds: no more than a description may have, and no waiting without end."""
    import select

    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as file:
        ready, buffer = select.poll(), bytearray()
        ready.register(file, select.POLLIN)
        while ready.poll(None if file.isatty() else PATIENCE_MS):
            part = file.read(65536)
            if part == b"":
                return bytes(buffer)
            buffer += part or b""
            if len(buffer) > MAX_BYTES:
                raise SpecError(f"is longer than {MAX_BYTES} bytes", file=name, remedy="give a path file, not data")
    seconds = PATIENCE_MS / 1000
    raise SpecError(f"is a pipe that nobody wrote to for {seconds:g} s", file=name, remedy="write to it first")


def loads(text: str, name: str, *, inherit: bool = False) -> Mapping:
    """Reads the mapping in ``text``; ``name`` is the file's name in messages."""
    if "\x00" in text:
        raise SpecError("is binary, not YAML", file=name)
    builder = _Builder(name)
    try:
        root = builder.build(yaml.parse(text, Loader=_Loader))
    except yaml.YAMLError as error:
        if (quoted := _NUMBERED.sub(r'"\1"', text)) != text:  # {dtn{1..4}: ...}
            return loads(quoted, name, inherit=inherit)
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        began = getattr(error, "context_mark", None)
        opened = f" (line {began.line + 1} opens one)" if began is not None and mark and began.line < mark.line else ""
        remedy = (
            f"check that every bracket and quote is closed{opened}; put a value that holds : , # or brackets in quotes"
        )
        line = mark.line + 1 if mark else None
        if mark and re.match(r" *\t", text[text.rfind("\n", 0, mark.index) + 1 :]):
            remedy = "write spaces in its place, two for each step"
            raise SpecError("is indented with a tab, which YAML refuses", file=name, line=line, remedy=remedy) from None
        if "nesting depth" in problem:  # libyaml 0.2.6 has a limit of its own, and reads ahead
            raise SpecError(f"is nested deeper than {MAX_DEPTH} levels", file=name, line=line) from None
        raise SpecError(f"is not YAML: {problem}", file=name, line=line, remedy=remedy) from None
    if not isinstance(root, Mapping):
        raise SpecError("holds no mapping of keys to values", file=name, remedy="start with 'name: ...'")
    if inherit and isinstance(source := root.get("source"), str):
        for scalar in builder.scalars:
            scalar.source = str(source)
    return root


class _Builder:
    """Builds dicts and lists from YAML events, counting what aliases would expand to."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.scalars: list[Scalar] = []
        self.nodes = self.repeated = 0
        self.anchors: dict[str, tuple[Any, int]] = {}

    def build(self, events: Iterator[Any]) -> Any:
        root: Any = None
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                if root is not None:
                    raise SpecError("holds several documents", file=self.file, remedy="give each a file of its own")
                root = self._node(next(events), events, 0)
        return root

    def _repeat(self, event: Any, size: int) -> None:
        """Counts what an alias repeats; what is written out is as much as the file is long."""
        self.nodes += size
        self.repeated += size
        if self.repeated > MAX_NODES:
            message, line = f"expands to more than {MAX_NODES} values", event.start_mark.line + 1
            raise SpecError(message, file=self.file, line=line, remedy="remove the aliases that repeat each other")

    def _node(self, event: Any, events: Iterator[Any], depth: int) -> Any:
        line = event.start_mark.line + 1
        if depth > MAX_DEPTH:
            raise SpecError(f"is nested deeper than {MAX_DEPTH} levels", file=self.file, line=line)
        kind = event.__class__
        if kind is yaml.AliasEvent:
            if event.anchor not in self.anchors:
                message = f"alias *{event.anchor} repeats nothing that is whole before it"
                raise SpecError(message, file=self.file, line=line)
            value, size = self.anchors[event.anchor]
            self._repeat(event, size)
            return value
        before = self.nodes
        self.nodes += 1
        if kind is yaml.ScalarEvent:
            text = event.value
            value = None if text in _NULLS and event.implicit[0] else Scalar(text, self.file, line)
            if value is not None:
                self.scalars.append(value)
        elif kind is yaml.SequenceStartEvent:
            value = []
            while (item := next(events)).__class__ is not yaml.SequenceEndEvent:
                value.append(self._node(item, events, depth + 1))
        else:
            value = self._mapping(events, depth, line)
        if event.anchor:
            self.anchors[event.anchor] = (value, self.nodes - before)
        return value

    def _mapping(self, events: Iterator[Any], depth: int, line: int) -> Mapping:
        mapping = Mapping(self.file, line)
        for event in events:
            kind = event.__class__
            if kind is yaml.MappingEndEvent:
                return mapping
            key_line = event.start_mark.line + 1
            if kind is yaml.ScalarEvent and not event.anchor and event.value not in _NULLS:  # nearly every key
                self.nodes += 1
                key = event.value
            else:
                key = self._node(event, events, depth + 1)
            if not isinstance(key, str):
                raise SpecError("a key must be plain text", file=self.file, line=key_line)
            if key in mapping:
                raise SpecError("is given twice", file=self.file, line=key_line, key=str(key))
            mapping.put(str(key), self._node(next(events), events, depth + 1), self.file, key_line)
        return mapping
