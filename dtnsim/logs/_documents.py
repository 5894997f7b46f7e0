"""JSON, XML and HTML tables: a document, what finds it in a stream of lines, the records inside of exports."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal, NamedTuple

from dtnsim.logs._commands import unstamped
from dtnsim.logs.measurement import Measurement, Unread

#: a longer document is read in parts (JSON) or as text [B]
LARGEST: Final = 2 << 20
_ROOT: Final = re.compile(rb"<([A-Za-z][\w:-]*)")
_JSON_START: Final = re.compile(rb"(?:\{|\[\{?)\s*(?:$|[\"{}\[])")
_JSON_LINE: Final = re.compile(rb"^\s*(?:\"[^\"]*\"\s*:|[{}\[\]\"]|-?\d|true|false|null)")

_TOKENS: Final = re.compile(r'"(?:[^"\\]|\\.)*+"?|[}\],]')
_STRINGS: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"?')
_BRACKETS: Final = re.compile(rb"[{}\[\]]")

_NEWLINE: Final = re.compile("\n")

Kind = Literal["json", "xml", "html"]
State = Literal["more", "never", "done"]


@dataclass(slots=True)
class Document:
    """A JSON value, XML text or HTML table found in a log."""

    kind: Kind
    data: Any  # decoded JSON; None of xml and html
    text: str  # as it is in the log
    line: int  # where it starts
    #: the file ends inside it; ``data`` (of JSON only) holds the elements that are whole: a missing key may be cut off
    cut: bool = False
    #: one of several of a document too long to hold: some elements of its long array beside the keys before it, or (the
    #: last) the other keys
    part: bool = False
    _breaks: list[int] | None = None

    def line_of(self, needle: str, start: int = 0) -> int:
        """Line of the first ``needle`` at or after offset ``start``; of the document if absent."""
        return self.line_at(self.text.find(needle, start))

    def line_at(self, offset: int) -> int:
        """Line of an offset into ``text``; of the document for -1."""
        if self._breaks is None:
            self._breaks = [match.start() for match in _NEWLINE.finditer(self.text)]
        return self.line + bisect_left(self._breaks, offset)

    def lines(self, start: int = 0) -> Callable[[str], int]:
        """What gives the line of one needle after another from offset ``start`` on; of one missing that before."""
        offset, missing = max(start, 0), set()

        def line(needle: str) -> int:
            nonlocal offset
            index = self.text.find(needle, offset + 1) if needle not in missing else -1
            if index < 0:
                missing.add(needle)  # is looked for once
            offset = max(offset, index)
            return self.line_at(offset)

        return line


Fits = Callable[[Document], bool]
Reads = Callable[[Any, Document], Iterable[Measurement | Unread]]  #: a method of a parser that reads documents


class Form(NamedTuple):
    """Documents that a tool writes: how they are recognised, what reads them; see `documents`."""

    kind: Kind
    fits: Fits
    long: tuple[str, ...]
    read: Reads


def documents(
    *keys: str, kind: Kind = "json", sign: str = "", fits: Fits | None = None, long: tuple[str, ...] = ()
) -> Callable[[Reads], Any]:
    """Declares that a method of a parser reads documents of the tool, of which the first form that fits takes each.

    Args:
        keys: Keys that the tool's JSON object has.
        kind: Whether they are JSON, XML or tables of HTML.
        sign: What the text of XML or HTML has (a pattern).
        fits: Whether a document is the tool's, where keys do not say it (look at keys, cheaply).
        long: Keys of arrays of which a long document may have too many elements to hold (``hits.hits`` of an array in
            an object); the method then gets several documents with ``part`` set.
    """

    def same_shape(doc: Document) -> bool:
        if kind != "json":
            return re.search(sign, doc.text) is not None
        return isinstance(doc.data, dict) and doc.data.keys() >= set(keys)

    def mark(method: Reads) -> Any:
        method.form = Form(kind, fits or same_shape, long, method)  # type: ignore[attr-defined]
        return method

    return mark


def whole_part(text: str) -> Any:
    """The elements of a JSON text that are complete although the text is cut; None if there are none.

    Cuts at the last comma or closing bracket outside strings and closes what is open there.
    """
    from pydantic_core import from_json

    end = max((mark.start() + (mark[0] != ",") for mark in _TOKENS.finditer(text) if mark[0] in ",}]"), default=0)
    try:
        return from_json(text[:end], allow_partial=True) if end else None
    except ValueError:
        return None


class DocumentBuffer:
    """Lines of one document that has not ended yet."""

    def __init__(self, kind: Kind, raw: bytes, line: int, *, stamped: bool) -> None:
        self.kind = kind
        self.stamped = stamped  # a log collector's stamp is before each line
        self.lines: list[tuple[int, bytes]] = [(line, raw)]
        self._size = len(raw)
        self._depth = 0
        self._closed = False  # everything that was opened is closed
        self._tried = 0  # size at the last attempt to decode
        self._ends = b"</table" if kind == "html" else b""  # of XML the root's end, once it is there
        self._indent = len(raw) - len(raw.lstrip())
        self._count(raw)

    @classmethod
    def start(cls, raw: bytes, line: int, *, stamped: bool) -> DocumentBuffer | None:
        """A buffer if this line starts a document, maybe commented out or behind a collector's stamp."""
        stamped = stamped or raw[:2] == b"# "
        raw = unstamped(raw) if stamped else raw
        head = raw.lstrip()
        kind: Kind | None = None
        if _JSON_START.match(head):
            kind = "json"
        elif head.startswith((b"<?xml", b"<topology", b"<Results>")):
            kind = "xml"
        elif b"<table" in head:
            kind = "html"
        return None if kind is None else cls(kind, raw, line, stamped=stamped)

    def _count(self, raw: bytes) -> None:
        """Follows the depth of JSON; strings, which may hold brackets, do not go over lines."""
        if self.kind != "json" or self._closed:
            return
        for mark in _BRACKETS.finditer(_STRINGS.sub(b"", raw)):
            self._depth += 1 if mark[0] in b"{[" else -1
            if self._depth <= 0:
                self._closed = True
                return

    def add(self, raw: bytes, line: int) -> bool:
        """Takes a line; False when this is no document (any more)."""
        raw = unstamped(raw) if self.stamped else raw
        alone = self.kind == "json" and len(self.lines) == 1 and self.lines[0][1].strip() in (b"{", b"[")
        self.lines.append((line, raw))
        if alone and raw.strip() and raw.lstrip()[:1] not in (b'"', b"{", b"}", b"[", b"]"):
            return False
        self._size += len(raw) + 1
        self._count(raw)
        return self._size <= LARGEST

    def may_end(self) -> bool:
        """Whether the last line may close the document (cheap)."""
        last = self.lines[-1][1].rstrip()
        if self.kind == "json":
            if self._closed or not last.endswith((b"}", b"]")) or self._size < 2 * self._tried:
                return self._closed
            indent = len(last) - len(last.lstrip())  # of a text that is none, so that it does not swallow the log
            return len(self.lines) > 1 and indent <= self._indent and len(last) - indent <= 2
        if not self._ends and (root := _ROOT.search(self.raw())) is not None:
            self._ends = b"</" + root[1] + b">"
        return bool(self._ends) and self._ends in last

    def decoded(self) -> tuple[State, Document | None, bytes]:
        """(state, document, what follows it on its last line)."""
        if not self.may_end():
            return "more", None, b""
        self._tried = self._size
        text = self.raw().decode("utf-8", "replace")
        first = self.lines[0][0]
        if self.kind != "json":
            return "done", Document(self.kind, None, text, first), b""
        start = len(text) - len(text.lstrip())
        data: Any
        try:
            data, end = json.JSONDecoder().raw_decode(text, start)
        except json.JSONDecodeError as error:
            unended = not self._closed and (error.pos >= len(text.rstrip()) or "Unterminated" in error.msg)
            return ("more" if unended else "never"), None, b""
        except (RecursionError, ValueError):
            return "never", None, b""
        return "done", Document("json", data, text[:end], first), text[end:].encode()

    def raw(self) -> bytes:
        """The lines so far."""
        return b"\n".join(line for _, line in self.lines)

    @property
    def long(self) -> bool:
        """Whether this is JSON too long to hold."""
        return self.kind == "json" and not self.stamped and self._size > LARGEST

    def cut(self) -> Document | None:
        """The whole elements of a JSON document in which the file ends."""
        if self.kind != "json" or self._size > LARGEST:
            return None
        text = self.raw().decode("utf-8", "replace")
        data = whole_part(text)
        return None if data is None else Document("json", data, text, self.lines[0][0], cut=True)

    def note(self, file: str | None, *, ended: bool) -> Unread | None:
        """A note about a document that could not be read, if it did look like one."""
        like = sum(self.kind != "json" or _JSON_LINE.match(raw) is not None for _, raw in self.lines[:50])
        if self.kind == "html" or like < min(3, len(self.lines)):
            return None
        head = self.lines[0][1][:80].decode("utf-8", "replace")
        why = "the file ends inside it (its whole elements are read)" if ended else "it is not valid"
        if self._size > LARGEST:
            why = f"it is longer than {LARGEST >> 20} MiB"
        return Unread(file, self.lines[0][0], head, f"{self.kind.upper()} document: {why}")


#: keys under which wrappers keep what a program printed: Ansible and other runners, container logs, journalctl -o json
_PRINTED: Final = ("stdout", "stderr", "log", "output", "MESSAGE")


def printed(data: Any) -> Iterator[str]:
    """What programs printed, as a runner's or collector's JSON keeps it; not twice where it gives lines as well."""
    todo, seen = [data], 0
    while todo and seen < 100_000:
        value, seen = todo.pop(), seen + 1
        if isinstance(value, list):
            todo += reversed(value)
        if not isinstance(value, dict):
            continue
        texts = [value[key] for key in _PRINTED if isinstance(value.get(key), str)]
        if not texts:
            lines = [value.get(f"{key}_lines") for key in ("stdout", "stderr")]
            texts = ["\n".join(map(str, part)) for part in lines if isinstance(part, list)]
        yield from filter(None, texts)
        if not texts:
            todo += reversed(list(value.values()))


#: keys under which an export keeps the record itself: OpenSearch, MONIT at CERN, STOMP
_ENVELOPES: Final = ("_source", "data", "payload", "body")
_DEEP: Final = 6
_NANOSECONDS: Final = re.compile(r"(\.\d{6})\d+")


def records(data: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Objects of an export, each before what it wraps."""
    if depth > _DEEP:
        return
    if isinstance(data, list):
        for item in data:
            yield from records(item, depth + 1)
    elif isinstance(data, dict):
        hits = data.get("hits")
        if isinstance(hits, dict | list):
            yield from records(hits, depth + 1)
            return
        yield data
        for key in _ENVELOPES:
            if isinstance(data.get(key), dict | list):
                yield from records(data[key], depth + 1)


def first(data: Any) -> dict[str, Any]:
    """The innermost object of an export's first record: what a parser looks at to recognise it."""
    merged: dict[str, Any] = {}
    for record in records(data):
        merged |= record
        if not any(isinstance(record.get(key), dict | list) for key in _ENVELOPES):
            break
    return merged


def stamp(when_s: float | None) -> str | None:
    """Seconds since 1970 as ISO 8601 in UTC; None for what is no time of an archive."""
    plausible = when_s is not None and 0.0 < when_s < 1e11
    return f"{datetime.fromtimestamp(when_s or 0.0, UTC):%Y-%m-%dT%H:%M:%SZ}" if plausible else None


def seconds(value: object) -> float | None:
    """A time as an archive writes it in [s] since 1970: ISO 8601 with a blank or a ``T``, or a number of s or ms."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) / (1000.0 if value > 1e11 else 1.0)
    text = value.strip() if isinstance(value, str) else ""
    if text.replace(".", "", 1).isascii() and text.replace(".", "", 1).isdigit() and len(text) < 24:
        return seconds(float(text))
    try:
        when = datetime.fromisoformat(_NANOSECONDS.sub(r"\1", text[:40]))
    except ValueError:
        return None
    return (when if when.tzinfo is not None else when.replace(tzinfo=UTC)).timestamp()
