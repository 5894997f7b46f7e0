"""Streams a log past all parsers in constant memory.

Lines are distinguished by their *shape* (the line without digits and dots): a log of millions of lines
has few shapes, so that which parsers care for a line is one dictionary look-up, done in C for a
whole block. Only lines somebody cares for are decoded and cleaned.
"""

import re
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from itertools import chain
from typing import Any, Final

from dtnsim.logs._catalogue import Catalogue, Host, Shapes, Targets, catalogue
from dtnsim.logs._commands import clean, decode, host_of, logged_by, needs_cleaning, without_codes, without_prefix
from dtnsim.logs._documents import DocumentBuffer, Form, printed
from dtnsim.logs._json_stream import ENDS_INSIDE, JsonStream
from dtnsim.logs._records import NO_NUMBER
from dtnsim.logs.base import Document, Parser, Record
from dtnsim.logs.measurement import Unread

#: a longer line is passed over (of a document in one line: of JSON, XML, HTML) [B]
LONGEST_LINE: Final = 2 << 20
LONGEST_DOCUMENT: Final = 17 << 20
#: of a stretch of interval lines, so many at its start and at its end are handed to the parsers
HEAD_OF_STRETCH: Final = 1000
TAIL_OF_STRETCH: Final = 200
_BREAK: Final = re.compile(rb"<br\s*/?>", re.IGNORECASE)
_DELETED: Final = b"0123456789."
#: the end of a file in a figure that may go on: 94 of 941, 0x of 0x4, 7.39 m of 7.39 ms
_MAY_GO_ON: Final = re.compile(rb"(?:[0-9.,]|[0-9]x|[0-9] ?m)[ \t]*+$")


class LogReader:
    """Feeds blocks of bytes to the parsers and yields records."""

    def __init__(self, file: str | None = None, parsers: Catalogue | None = None) -> None:
        self.file = file
        self.all = parsers or catalogue()
        self._memo: dict[str, Any] = {}
        self._hosts: dict[str | None, Host] = {None: Host(self.all, file, self._memo)}
        self._main = self._printed_by = self._hosts[None]  # and who printed the document at hand
        self._shape = Shapes(self.all).__getitem__
        self._line = self._first = 0
        self._offered = 0  # lines of the block up to here were offered to a parser at once
        self._rest = b""
        self._skipping = False  # in a line too long to keep
        self._redrawn = False
        self._cut = self._last = False
        self._stretch = 0  # interval lines in a row up to here
        self._tail: deque[tuple[bytes, Targets, int]] = deque(maxlen=TAIL_OF_STRETCH)
        self._before = self._last_raw = b""
        self._busy = False  # some parser, command or document wants every line
        self._document: DocumentBuffer | None = None
        self._stream: JsonStream | None = None  # JSON too long to hold
        self._to_stream: list[bytes] = []

    def feed(self, block: bytes) -> Iterator[Record]:
        """Takes the next bytes of the log."""
        if self._skipping:
            _, newline, block = block.partition(b"\n")
            if not newline:
                return
            self._line, self._skipping = self._line + 1, False
        if self._rest:
            block, self._rest = self._rest + block, b""
        if self._stream is not None and not (block := (yield from self._streamed(block))):
            return
        end = max(block.rfind(b"\n"), block.rfind(b"\r", 0, len(block) - 1)) + 1
        if end == 0:
            longest = LONGEST_DOCUMENT if block.lstrip()[:1] in (b"{", b"[", b"<") else LONGEST_LINE
            if len(block) < longest:
                self._rest = block
                return
            self._rest = b""
            if block.lstrip()[:1] in (b"{", b"[") and self._document is None:
                self._line, self._before = self._line + 1, b""
                self._stream = JsonStream(self._line, self.all.long)
                yield from self.feed(block)
                return
            why = f"a line of more than {longest >> 20} MiB is passed over"
            yield Unread(self.file, self._line + 1, decode(block[:100]), why)
            self._skipping = True
            return
        self._rest = block[end:]
        yield from self._through(block[:end])

    def finish(self) -> Iterator[Record]:
        """The log ends: the last line, then whatever the parsers still hold."""
        while self._rest or self._stream is not None:
            rest, self._rest = self._rest, b""
            if self._stream is not None:
                yield from self.feed((yield from self._streamed(rest, last=True)))
            else:
                self._last, self._cut = True, _MAY_GO_ON.search(rest[-99:]) is not None
                yield from self._through(rest)
        if self._tail:
            yield from self._end_of_stretch(self._stretch)
        if self._document is not None:
            yield from self._abandon(self._document, ended=True)
        for host in self._hosts.values():
            for parser in host.parsers:
                yield from parser.safely(parser.close)

    def _through(self, block: bytes) -> Iterator[Record]:
        """Reads whole lines, of which a long document may have begun in the middle."""
        yield from self._lines(block)
        while self._to_stream:
            text, self._to_stream = b"\n".join([*self._to_stream, b""]), []
            tail = yield from self._streamed(text)
            if tail.strip():
                yield from self._lines(tail)

    def _lines(self, block: bytes) -> Iterator[Record]:
        block = without_codes(block).removesuffix(b"\n")
        lines = block.split(b"\n")
        shapes = block.translate(None, _DELETED).split(b"\n")
        all_targets = list(map(self._shape, shapes))
        if self._redrawn or b"\r" in block:
            yield from self._redrawn_lines(lines, shapes, all_targets)
            return
        self._first = first = self._line + 1
        self._offered = 0
        stretch = self._stretch
        taken = 0  # lines up to here went to a parser at once
        for index, targets in enumerate(all_targets):
            if index < taken:
                continue
            if targets.interval:
                stretch += 1
                if stretch > HEAD_OF_STRETCH:
                    self._tail.append((lines[index], targets, first + index))
                    continue
            elif stretch:
                if stretch > HEAD_OF_STRETCH:
                    yield from self._end_of_stretch(stretch)
                stretch = 0
            if targets.rows >= 0 and (rows := self._rows(lines, all_targets, index, stretch)):
                taken, stretch = self._offered, self._stretch
                yield from rows
            elif (targets.plain or (targets.plus and lines[index][:1] != b"+")) and not self._busy and not self._last:
                self._before = lines[index - 1] if index else self._last_raw
                yield from self._plain(lines[index], targets, first + index)
            elif self._busy or not targets.idle:
                self._line = first + index
                self._before = lines[index - 1] if index else self._last_raw
                yield from self._take(lines[index], targets, first + index)
        self._stretch = stretch
        self._line, self._last_raw = first + len(lines) - 1, lines[-1]

    def _rows(self, lines: list[bytes], all_targets: list[Targets], start: int, stretch: int) -> list[Record]:
        """A record of each of the rows alike that begin here, if their parser takes all of them at once.

        They end before ``_offered``; ``_stretch`` is how many of them are in a row there.
        """
        if self._busy or self._last or start < self._offered:
            return []
        targets = all_targets[start]
        parser = self._main.parsers[targets.rows]
        rules, rows = parser.rules_read, [start]
        end, limit = start + 1, min(len(lines), start + HEAD_OF_STRETCH)
        while end < limit:
            if all_targets[end] is targets and stretch < HEAD_OF_STRETCH:
                stretch += 1
                rows.append(end)
            elif rules and all_targets[end].rule:
                stretch = 0
            else:
                break
            end += 1
        self._offered, self._stretch = end, stretch
        return parser.rows(decode(b"\n".join([lines[row] for row in rows])), [self._first + row for row in rows])

    def _end_of_stretch(self, stretch: int) -> Iterator[Record]:
        """Hands over the last lines of a long stretch of interval lines."""
        passed = stretch - HEAD_OF_STRETCH - len(self._tail)
        tail, self._stretch = list(self._tail), 0
        self._tail.clear()
        if passed > 0:
            raw, _, number = tail[0]
            why = f"{passed} interval lines like this are passed over"
            yield Unread(self.file, number - passed, decode(raw)[:100], why)
        for raw, targets, number in tail:
            yield from self._take(raw, targets, number)

    def _redrawn_lines(self, lines: list[bytes], shapes: list[bytes], all_targets: list[Targets]) -> Iterator[Record]:
        last = len(lines) - 1
        if self._tail:
            yield from self._end_of_stretch(self._stretch)
        for index, raw in enumerate(lines):
            self._before = lines[index - 1] if index else self._last_raw
            redraw = raw[-1:] == b"\r"
            number = self._line + 1
            if not redraw:
                self._line = number
            after, self._redrawn = self._redrawn, redraw
            if redraw and index < last and shapes[index] == shapes[index + 1]:
                continue  # a progress line redrawn many times: the next says more
            targets = all_targets[index]
            if self._busy or not targets.idle:
                yield from self._take(raw[:-1] if redraw else raw, targets, number, redraw=redraw, after=after)
        self._last_raw = lines[-1]

    def _take(
        self, raw: bytes, targets: Targets, number: int, *, redraw: bool = False, after: bool = False
    ) -> Iterable[Record]:
        """One line somebody may care for."""
        if self._stream is not None:
            self._to_stream.append(raw)
            return ()
        if (document := self._document) is not None:
            if document.add(raw, number):
                return list(self._try_document(document)) if document.may_end() else []
            if not document.long:
                return list(self._abandon(document, ended=False))
            self._document, self._stream = None, JsonStream(document.lines[0][0], self.all.long)
            self._to_stream = [line for _, line in document.lines]
            return ()
        if targets.document:
            self._printed_by = self._host(logged_by(decode(raw))) if targets.prefixed else self._main
            self._document = DocumentBuffer.start(raw, number, stamped=targets.prefixed)
            if self._document is not None:
                self._busy = True
                return list(self._try_document(self._document))
        if b"<br" in raw or b"<BR" in raw:  # a web page may hold a whole run in one line
            parts = [part for part in _BREAK.split(raw) if part.strip()]
            pairs = zip(parts, map(self._targets, parts), strict=True)
            return [r for part, target in pairs for r in self._text(part, target, number, redraw=redraw, after=after)]
        return self._text(raw, targets, number, redraw=redraw, after=after)

    def _plain(self, raw: bytes, targets: Targets, number: int) -> list[Record]:
        """`_text` for a line without decoration while no parser is open: most lines of results are such."""
        host = self._main
        ctx, parsers = host.ctx, host.parsers
        self._line = ctx.line = number
        ctx.redraw = ctx.after_redraw = False
        ctx.previous_raw = self._before
        text = decode(raw)
        out: list[Record] = []
        for index in targets.parsers:
            parser = parsers[index]
            try:  # this is where the time goes
                records = parser.feed(text)
                if records:
                    out += records
            except NO_NUMBER as error:
                out.append(parser.no_number(text, error))
            if parser.open:
                host.open[index] = parser
                self._busy = True
        return out

    def _targets(self, raw: bytes) -> Targets:
        """Who cares for a line."""
        return self._shape(raw.translate(None, _DELETED))

    def _text(
        self, raw: bytes, targets: Targets, number: int, *, redraw: bool = False, after: bool = False
    ) -> list[Record]:
        text, host = decode(raw), self._main
        if targets.prefixed:
            host = self._host(logged_by(text))
            text = without_prefix(text, ts=targets.ts)
        if needs_cleaning(text):
            text = clean(text)
        colon = text.find(": ")
        if 0 < colon < 80 and " " not in text[:colon]:
            name, text = host_of(text)
            host = host if name is None else self._host(name)
        ctx = host.ctx
        ctx.line, ctx.redraw, ctx.after_redraw, ctx.previous_raw = number, redraw, after, self._before
        if self._last:
            ctx.cut, ctx.last = self._cut, self._last
        out: list[Record] = []
        if targets.command or host.commands.open:
            text = self._command(host, text, number, out)
        for index in (*targets.parsers, *(index for index in host.open if index not in targets.parsers)):
            parser = host.parsers[index]
            try:
                out += parser.feed(text)
            except NO_NUMBER as error:
                out.append(parser.no_number(text, error))
            if parser.open is not (index in host.open):
                host.mark(index)
        if host.open or host.commands.open or self._busy:
            self._busy = self._still_busy()
        return out

    def _command(self, host: Host, text: str, number: int, out: list[Record]) -> str:
        """Settles runs if the line is a command; returns the line, without the sign if it is commented out."""
        command = host.commands.feed(text, number)
        if command is None:
            return text[2:] if text[:2] == "# " else text
        for index, parser in enumerate(host.parsers):
            out.extend(parser.safely(parser.on_command, command))
            host.mark(index)
        host.ctx.command = command
        return text

    def _host(self, name: str | None) -> Host:
        """The host that a prefix or a log collector's stamp names; the log's own without one, and for one too many."""
        if name not in self._hosts and len(self._hosts) <= 512:
            host = self._hosts[name] = Host(self.all, self.file, self._memo)
            host.ctx.host, host.ctx.command = name, self._main.ctx.command
        return self._hosts.get(name, self._main)

    def _try_document(self, buffer: DocumentBuffer) -> Iterator[Record]:
        state, doc, tail = buffer.decoded()
        if state == "more":
            return
        if state == "never" or doc is None or (doc.kind != "json" and self._form_of(doc) is None):
            yield from self._abandon(buffer, ended=False)
            return
        self._document, self._busy = None, self._still_busy()
        yield from self._read_document(doc)
        if tail.strip():
            yield from self._take(tail, self._targets(tail), buffer.lines[-1][0])

    def _read_document(self, doc: Document) -> Iterator[Record]:
        if (fit := self._form_of(doc)) is not None:
            yield from fit[0].read_document(fit[1], doc)
            return
        for text in printed(doc.data):  # by programs, as a wrapper's JSON has it; every line has the document's number
            block = without_codes(text.encode("utf-8", "replace") + b"\n").removesuffix(b"\n").removesuffix(b"\n")
            for raw in block.split(b"\n"):
                redraw = raw[-1:] == b"\r"
                line = raw[:-1] if redraw else raw
                yield from self._text(line, self._targets(line), doc.line, redraw=redraw)

    def _streamed(self, block: bytes, *, last: bool = False) -> Generator[Record, None, bytes]:
        """Hands a piece of a long document on; returns what follows its end."""
        stream = self._stream
        assert stream is not None
        for doc in chain(stream.feed(block), stream.cut() if last else ()):
            yield from self._read_document(doc)
        if not stream.ended:
            if last:
                self._stream = None
                yield Unread(self.file, stream.first, "", ENDS_INSIDE)
            return b""
        rest = stream.remainder()
        self._stream, self._line = None, stream.line - 1
        self._busy = self._still_busy()
        if not stream.why:
            return rest
        why = f"JSON document: {stream.why}; the rest of the line is passed over"
        yield Unread(self.file, stream.line, decode(rest[:80]), why)
        _, newline, rest = rest.partition(b"\n")
        if not newline:
            self._skipping = True
            return b""
        *lines, partial = rest.split(b"\n")
        for self._line, raw in enumerate(lines, stream.line + 1):  # as text: what is no document shall not begin again
            yield from self._text(raw, self._targets(raw), self._line)
        self._line = stream.line + len(lines)
        return partial

    def _form_of(self, doc: Document) -> tuple[Parser, Form] | None:
        """The first form that a document fits, and its parser."""
        ctx = self._printed_by.ctx
        ctx.line, ctx.cut = doc.line, False
        return next(((p, form) for p, form in self._printed_by.forms if form.kind == doc.kind and form.fits(doc)), None)

    def _abandon(self, buffer: DocumentBuffer, *, ended: bool) -> Iterator[Record]:
        """What looked like a document is none (or the file ends in it): read its lines as text."""
        self._document, self._busy = None, self._still_busy()
        if (note := buffer.note(self.file, ended=ended)) is not None:
            yield note
            if ended and (doc := buffer.cut()) is not None and (fit := self._form_of(doc)) is not None:
                yield from fit[0].read_document(fit[1], doc)
                return
        cut = self._cut
        for number, raw in buffer.lines:
            self._cut = cut and number == buffer.lines[-1][0]
            yield from self._text(raw, self._targets(raw), number)

    def _still_busy(self) -> bool:
        if self._document is not None or self._stream is not None:
            return True
        return any(h.open or h.commands.open for h in self._hosts.values())
