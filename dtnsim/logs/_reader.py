"""Streams a log past all parsers in constant memory.

Lines are told apart by their *shape* (the line without digits and dots): a log of millions of lines
has few shapes, so that which parsers care for a line is one dictionary look-up, done in C for a
whole block. Only lines somebody cares for are decoded and cleaned.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Final

from dtnsim.logs._clean import ANSI, clean, decode, host_of
from dtnsim.logs._commands import CommandReader
from dtnsim.logs._documents import DocumentBuffer
from dtnsim.logs.base import Context, Document, DocumentParser, LineParser, Record, parser_types

LONGEST_LINE: Final = 32 << 20
_CACHE: Final = 50_000
_DELETED: Final = b"0123456789."
_BLANKS: Final = bytes(
    byte if 65 <= byte <= 90 or 97 <= byte <= 122 or byte >= 128 or byte in b"${" else 32 for byte in range(256)
)
#: pseudo-parsers in a dispatch tuple
_COMMAND, _DOCUMENT = -1, -2

Targets = tuple[int, ...]


class Catalogue:
    """All parsers of the package and the word index to find those that care for a line."""

    def __init__(self, types: Iterable[type[Any]]) -> None:
        types = list(types)
        self.lines: list[type[LineParser]] = [t for t in types if issubclass(t, LineParser)]
        self.documents: list[type[DocumentParser]] = [t for t in types if issubclass(t, DocumentParser)]
        self.commands = frozenset(c for t in types for c in t.commands)
        self._words: dict[bytes, list[int]] = {}
        for at, kind in enumerate(self.lines):
            for word in kind.words:
                self._words.setdefault(word.encode(), []).append(at)
        for name in self.commands:
            for word in re.findall(r"[A-Za-z]+", name):
                self._words.setdefault(word.encode(), []).append(_COMMAND)
        self._words.setdefault(b"$", []).append(_COMMAND)
        self._words.setdefault(b"{", []).append(_DOCUMENT)
        self._keys = self._words.keys()
        self._shapes = [(at, re.compile(kind.shape.encode())) for at, kind in enumerate(self.lines) if kind.shape]

    def targets(self, shape: bytes) -> Targets:
        """Indices of the parsers that care for lines of this shape."""
        found: set[int] = set()
        words = shape.translate(_BLANKS).split()
        if not self._keys.isdisjoint(words):
            for word in words:
                found.update(self._words.get(word, ()))
        for at, pattern in self._shapes:
            if pattern.search(shape):
                found.add(at)
        if b"@" in shape or b"]#" in shape or shape.startswith((b"# ", b"+ ", b"$")):
            found.add(_COMMAND)
        if shape.startswith((b"<?xml", b"<topology", b"<table", b"[{", b"[\n")) or shape == b"[" or b"<table" in shape:
            found.add(_DOCUMENT)
        return tuple(sorted(found))


@lru_cache(maxsize=1)
def catalogue() -> Catalogue:
    """Imports every parser module of the package once."""
    import dtnsim.logs as package

    names = sorted(m.name for m in pkgutil.iter_modules(package.__path__) if m.name[0] != "_" and m.name != "base")
    return Catalogue(parser_types([importlib.import_module(f"dtnsim.logs.{name}") for name in names]))


class _Host:
    """Parsers of one host of a pdsh log (or of the whole file)."""

    def __init__(self, parsers: Catalogue, file: str | None, memo: dict[str, Any]) -> None:
        self.ctx = Context(file=file, memo=memo)
        self.parsers = [kind(self.ctx) for kind in parsers.lines]
        self.documents = [kind(self.ctx) for kind in parsers.documents]
        self.commands = CommandReader(parsers.commands)
        self.open: dict[int, LineParser] = {}

    def mark(self, at: int) -> None:
        if self.parsers[at].open:
            self.open[at] = self.parsers[at]
        else:
            self.open.pop(at, None)


class LogReader:
    """Feeds blocks of bytes to the parsers and yields records."""

    def __init__(self, file: str | None = None, parsers: Catalogue | None = None) -> None:
        self.file = file
        self.all = parsers or catalogue()
        self._memo: dict[str, Any] = {}
        self._hosts: dict[str | None, _Host] = {None: _Host(self.all, file, self._memo)}
        self._main = self._hosts[None]
        self._cache: dict[bytes, Targets] = {}
        self._line = 0
        self._rest = b""
        self._redrawn = False
        self._cut = False
        self._busy = False  # some parser, command or document wants every line
        self._document: DocumentBuffer | None = None

    # ---- bytes to lines -------------------------------------------------------------------------
    def feed(self, block: bytes) -> Iterator[Record]:
        """Takes the next bytes of the log."""
        if self._rest:
            block = self._rest + block
        end = max(block.rfind(b"\n"), block.rfind(b"\r", 0, len(block) - 1)) + 1
        if end == 0:
            if len(block) < LONGEST_LINE:
                self._rest = block
                return
            end = len(block)  # no log has such lines; read on without keeping them
        self._rest = block[end:]
        yield from self._lines(block[:end])

    def finish(self) -> Iterator[Record]:
        """The log ends: the last line, then whatever the parsers still hold."""
        if self._rest:
            rest, self._rest = self._rest, b""
            self._cut = rest[-1:] in b"0123456789.,"
            yield from self._lines(rest)
        if self._document is not None:
            yield from self._abandon(ended=True)
        for host in self._hosts.values():
            for parser in host.parsers:
                yield from parser.close()

    def _lines(self, block: bytes) -> Iterator[Record]:
        if b"\x1b" in block or b"\x00" in block or b"\x07" in block:
            block = ANSI.sub(b"", block)
        if b"\r" in block:
            while b"\r\r" in block:
                block = block.replace(b"\r\r", b"\r")
            block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\r\n")
        block = block.removesuffix(b"\n")
        lines = block.split(b"\n")
        shapes = block.translate(None, _DELETED).split(b"\n")
        found = list(map(self._cache.get, shapes))
        for at, targets in enumerate(found):
            if targets is None:
                targets = self._targets(shapes[at])
            if targets or self._busy or self._redrawn:
                yield from self._take(lines[at], targets)
            else:
                self._line += 1
                if lines[at][-1:] == b"\r":
                    self._line -= 1
                    self._redrawn = True

    def _targets(self, shape: bytes) -> Targets:
        targets = self.all.targets(shape)
        if len(shape) <= 300:
            if len(self._cache) >= _CACHE:
                self._cache.clear()
            self._cache[shape] = targets
        return targets

    # ---- lines to records -----------------------------------------------------------------------
    def _take(self, raw: bytes, targets: Targets) -> Iterator[Record]:
        """One line somebody may care for; a trailing carriage return marks an overwritten one."""
        redraw = raw[-1:] == b"\r"
        after, self._redrawn = self._redrawn, redraw
        number = self._line + 1
        if redraw:
            raw = raw[:-1]
        else:
            self._line = number
        if self._document is not None:
            yield from self._more(raw, number)
            return
        if _DOCUMENT in targets:
            self._document = DocumentBuffer.start(raw, number)
            if self._document is not None:
                self._busy = True
                yield from self._try_document()
                return
        yield from self._text(raw, targets, number, redraw=redraw, after=after)

    def _text(self, raw: bytes, targets: Targets, number: int, *, redraw: bool, after: bool) -> Iterator[Record]:
        text = clean(decode(raw))
        host = self._main
        if ": " in text:
            name, rest = host_of(text)
            if name is not None:
                text = rest
                host = self._hosts.get(name) or self._new_host(name)
        ctx = host.ctx
        ctx.line, ctx.redraw, ctx.after_redraw, ctx.cut = number, redraw, after, self._cut
        if (targets and targets[0] <= _COMMAND and _COMMAND in targets) or host.commands.open:
            command = host.commands.feed(text, number)
            if command is not None:
                for at in list(host.open):
                    yield from host.parsers[at].on_command(command)
                    host.mark(at)
                ctx.command = command
        wanted = sorted({*host.open, *(t for t in targets if t >= 0)}) if host.open else [t for t in targets if t >= 0]
        for at in wanted:
            parser = host.parsers[at]
            yield from parser.feed(text)
            if parser.open is not (at in host.open):
                host.mark(at)
        self._busy = self._document is not None or any(h.open or h.commands.open for h in self._hosts.values())

    def _new_host(self, name: str) -> _Host:
        if len(self._hosts) > 4096:
            return self._main
        host = self._hosts[name] = _Host(self.all, self.file, self._memo)
        host.ctx.host = name
        host.ctx.command = self._main.ctx.command
        return host

    # ---- documents ------------------------------------------------------------------------------
    def _more(self, raw: bytes, number: int) -> Iterator[Record]:
        assert self._document is not None
        if self._document.add(raw, number):
            yield from self._try_document()
        else:
            yield from self._abandon(ended=False)

    def _try_document(self) -> Iterator[Record]:
        buffer = self._document
        assert buffer is not None
        state, doc, tail = buffer.decoded()
        if state == "more":
            return
        if state == "never" or doc is None:
            yield from self._abandon(ended=False)
            return
        parser = self._parser_of(doc)
        if parser is None:
            if doc.kind == "json":
                self._document, self._busy = None, self._still_busy()
            else:
                yield from self._abandon(ended=False)
            return
        self._document, self._busy = None, self._still_busy()
        yield from parser.read(doc)
        if tail.strip():
            yield from self._take(tail, self._targets(tail.translate(None, _DELETED)))

    def _parser_of(self, doc: Document) -> DocumentParser | None:
        ctx = self._main.ctx
        ctx.line, ctx.cut = doc.line, False
        return next((p for p in self._main.documents if p.kind == doc.kind and p.match(doc)), None)

    def _abandon(self, *, ended: bool) -> Iterator[Record]:
        """What looked like a document is none (or the file ends in it): read its lines as text."""
        buffer = self._document
        assert buffer is not None
        self._document, self._busy = None, self._still_busy()
        note = buffer.note(self.file, ended=ended)
        if note is not None:
            yield note
            doc = buffer.cut() if ended else None
            parser = None if doc is None else self._parser_of(doc)
            if doc is not None and parser is not None:
                yield from parser.read(doc)
                return
        cut, self._cut = self._cut, False
        last = len(buffer.lines) - 1
        for at, (number, raw) in enumerate(buffer.lines):
            self._cut = cut and at == last
            targets = self._targets(raw.translate(None, _DELETED))
            yield from self._text(raw, targets, number, redraw=False, after=False)

    def _still_busy(self) -> bool:
        return any(h.open or h.commands.open for h in self._hosts.values())
