"""Lines that are declared in pieces, and parsers of progress lines: the last line of a copy counts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar, Final, NamedTuple

from dtnsim.logs._net import host_of
from dtnsim.logs.base import DECIMAL, Conditions, LineParser, Record
from dtnsim.logs.measurement import Status

_NEAR: Final = 2


class Line(NamedTuple):
    """A kind of line that a tool prints.

    Attributes:
        sign: Text without which the pattern is not tried.
        pieces: The pattern in pieces; where the first two match and a later one does not, the line is a near miss.
        pattern: The whole.
    """

    sign: str
    pieces: tuple[str, ...]
    pattern: re.Pattern[str]

    def beginnings(self) -> Iterator[re.Pattern[str]]:
        """Patterns of all pieces but the last, but the last two ... down to the first two."""
        return (re.compile("".join(self.pieces[:count])) for count in range(len(self.pieces) - 1, _NEAR - 1, -1))

    def last(self, text: str) -> re.Match[str] | None:
        """The last of what may be several joined drawings of the line."""
        found = None
        if self.sign in text:
            for found in self.pattern.finditer(text):  # noqa: B007 (the last one is wanted)
                pass
        return found

    def near(self, text: str) -> str | None:
        """Up to where a line that has the sign is as declared; None for one that is something else."""
        matches = (pattern.search(text) for pattern in self.beginnings()) if self.sign in text else ()
        match = next((match for match in matches if match is not None), None)
        return None if match is None else f"the line is as expected up to {match[0][-40:]!r} only"


def declare(sign: str, *pieces: str) -> Line:
    """A kind of line; see `Line`."""
    return Line(sign, pieces, re.compile("".join(pieces)))


class Progress(NamedTuple):
    """The last progress line of a copy.

    Attributes:
        moved: Bytes so far [B].
        total: Bytes in all, as far as is known [B].
        rate: Mean rate since the start [B/s].
        printed: The rate as printed.
        line: Line in the log.
        status: Whether the copy is complete.
        known: Conditions.
    """

    moved: float
    total: float
    rate: float
    printed: str
    line: int
    status: Status
    known: Conditions


class ProgressParser(LineParser):
    """Keeps the last progress line until the copy is over.

    A parser declares its ``line`` with the groups ``got``, ``gu``, ``of``, ``ou``, ``rate``, ``ru`` (figure and prefix
    of what is moved, of all, and of the rate), what its prefixes are (``units``) and its ``failures``.
    """

    line: ClassVar[Line]
    failures: ClassVar[re.Pattern[str]]
    units: ClassVar[Mapping[str, float]] = DECIMAL

    def forget(self) -> None:
        self._held: Progress | None = None

    def feed(self, text: str) -> Iterable[Record]:
        found = self.line.last(text)
        if found is not None:
            return self._progress(found)
        if self.line.sign in text:
            near = self.line.near(text)
            return () if near is None else (self.unread(text, near),)
        problem = self.failures.match(text)
        return () if problem is None else self.failed(problem[0])

    def failed(self, message: str) -> Iterable[Record]:
        """A message that says that a copy failed."""
        return (self.failure(message),)

    def status(self, found: re.Match[str], moved: float, total: float) -> Status:  # noqa: ARG002 (for subclasses)
        """Whether the copy is complete with this line."""
        return "complete" if moved == total else "partial"

    def conditions(self, found: re.Match[str], moved: float) -> Conditions:  # noqa: ARG002 (for subclasses)
        """What else the line says."""
        return {}

    def same(self, progress: Progress, held: Progress) -> bool:
        """Whether the line is of the copy that is held."""
        return progress.moved >= held.moved

    def check(self, found: re.Match[str], progress: Progress) -> Iterable[Record]:  # noqa: ARG002 (for subclasses)
        """Notes on figures of the line that contradict one another."""
        return ()

    def _progress(self, found: re.Match[str]) -> Iterator[Record]:
        moved, total, rate = (
            float(found[number]) * self.units[found[unit]]
            for number, unit in (("got", "gu"), ("of", "ou"), ("rate", "ru"))
        )
        printed = found[0][found.start("rate") - found.start() : found.end("ru") - found.start()]
        printed += "/s" if printed.endswith(("B", "s")) else "B/s"
        known = {**self.conditions(found, moved), **host_of(self.ctx)}
        progress = Progress(moved, total, rate, printed, self.ctx.line, self.status(found, moved, total), known)
        yield from self.check(found, progress)
        if self._held is not None and not self.same(progress, self._held):
            yield from self.settle()
        self._held = progress

    def settle(self) -> Iterator[Record]:
        held, self._held = self._held, None
        if held is None:
            return
        if held.moved <= 0 or held.rate <= 0:
            yield self.unread(held.printed, "no bytes were transferred: no rate", line=held.line)
            return
        more: Conditions = {**held.known, "bytes": held.moved, "duration_s": held.moved / held.rate}
        yield self.measure("throughput", held.rate, "B/s", held.printed, status=held.status, line=held.line, **more)
