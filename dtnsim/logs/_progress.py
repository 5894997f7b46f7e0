"""What parsers of progress lines share: the last line of a copy counts, whatever came before it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dtnsim.logs._net import figure, host_of
from dtnsim.logs.base import Context, LineParser, Record
from dtnsim.logs.measurement import Condition, Status


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
    known: dict[str, Condition]


class ProgressParser(LineParser):
    """Keeps the last progress line until the copy is over."""

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        self._held: Progress | None = None

    def hold(self, progress: Progress) -> Iterator[Record]:
        """Takes a progress line; settles the copy before it if this is another's."""
        held = self._held
        if held is not None and progress.moved < held.moved:
            yield from self.settle()
        self._held = progress._replace(known={**progress.known, **host_of(self.ctx)})

    def settle(self) -> Iterator[Record]:
        """The figures of the copy that is over."""
        held, self._held = self._held, None
        if held is None:
            return
        if held.moved <= 0 or held.rate <= 0:
            yield self.unread(held.printed, "no bytes were transferred: no rate", line=held.line)
            return
        more: dict[str, Condition] = {**held.known, "bytes": held.moved, "duration_s": held.moved / held.rate}
        yield figure(self, "throughput", held.rate, "B/s", held.printed, more, status=held.status, line=held.line)
