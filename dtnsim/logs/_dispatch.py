"""The parsers of one host of a log, and how lines and documents are handed to them safely."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from dtnsim.logs._catalogue import Catalogue
from dtnsim.logs._commands import CommandReader
from dtnsim.logs.base import Context, DocumentParser, LineParser, Record
from dtnsim.logs.measurement import Unread

#: what a figure raises that only looks like a number (``1.7.44``, a superscript digit, 400 digits)
NO_NUMBER: Final = (ValueError, OverflowError, ZeroDivisionError)


def hand_over(parser: LineParser, text: str, out: list[Record]) -> None:
    """Hands a line over; a figure that is no number is noted."""
    try:
        records = parser.feed(text)
        if records:
            out += records
    except NO_NUMBER as error:
        out.append(no_number(parser, text, error))


def no_number(parser: LineParser | DocumentParser, text: str, error: Exception) -> Unread:
    return parser.unread(text, f"a figure of the line is no number ({error})")


def safely(
    parser: LineParser | DocumentParser, settle: Callable[..., Iterable[Record]], *args: object
) -> Iterator[Record]:
    """Records that a parser settles; one that is no number is noted and does not lose the others' figures."""
    try:
        yield from settle(*args)
    except NO_NUMBER as error:
        yield no_number(parser, "", error)


class Host:
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
