"""The contract between the log reader and the parsers: read this before writing a parser.

**A parser is a subclass** of `LineParser` (text) or `DocumentParser` (JSON, XML, HTML tables), in a file of its own or
in that of its topic. The reader finds it by itself: there is no list to extend. It says what its figures are good for
(``evidence``); its docstring (or its file's) says what the tool's unit words mean, with the source, and
``tests/logs/samples/<tool>.txt`` has outputs with their true values. `dtnsim.logs._declared` reads the common shapes
(kinds of lines, columns and keys, progress lines) from a declaration, `Parser.asked` command lines (``tables.yaml``).

**How lines reach a LineParser.** The reader deletes digits and dots from every line (its *shape*), looks up in a cache
which parsers care for that shape, and hands them the cleaned line. So a parser is asked only for lines that

- contain one of its ``words`` as a whole run of letters (``words = ("copied",)``; case matters;
  digits, dots and punctuation separate words: ``bw=253MiB/s`` has the words ``bw``, ``MiB``, ``s``;
  ``beside`` narrows words that many tools print), or
- whose shape matches its ``shape`` regular expression (for lines without words, such as CSV), or
- follow while the parser set ``self.open = True`` (in the middle of a table, of a run ...). An open
  parser gets **every** line, so keep it cheap and close it soon: on a blank line, a new command,
  a line of another kind.

The line has no line ending, no ANSI codes, no pdsh prefix, no stamp of a log collector (Jenkins, syslog,
CRI, log4j, mpirun: `dtnsim.logs._commands.PREFIX`), no ``> `` quote, ``# `` or ``(out)``, no HTML tags or
entities, no ``**``; leading blanks are kept, for columns may be positional, but the whole capture may be
indented. Use ``pattern.search`` for one-line results: titles and list dashes may precede them.

**Long stretches.** Progress and interval lines may come by the million. Of redraws (carriage returns)
of one shape only the last is handed over. Of a stretch of interval lines (`dtnsim.logs._catalogue` ``_INTERVALS``:
iperf, ping replies, nuttcp -i, bbcp -P, fio's ``Jobs:``) the first thousand and the last two hundred
are, and ``unread`` says how many lines between them were passed over. A parser may take many of them at once (`rows`).

**What a parser knows** about the line is in ``self.ctx`` (`Context`): file, line number, the last shell command
(``self.ctx.args("dd", "gdd")`` gives its arguments if it ran that tool), ``redraw`` (a carriage return overwrote this
line: only the last redraw counts), ``cut`` (the file ends in this line without a newline).

**What it yields**: ``self.measure(quantity, value, unit, printed, **conditions)`` per figure and
``self.unread(text, why)`` for what looked like the tool's output but could not be read. A figure
belongs to exactly one quantity of the project's words:

    throughput [B/s]   iops [1/s]        latency [s]      rtt [s]        jitter [s]
    duration [s]       bytes [B]         loss [1]         cpu_share [1]  utilization [1]
    retransmits [1]    count [1]         rate [1/s] (files/s, packets/s ...)
    capacity [B]       link_rate [B/s]   mtu [B]          hops [1]       failure [nan]

Direction and operation are conditions: ``operation="write"``, ``direction="send"``,
``statistic="mean" | "p99" | "max"`` (no statistic = the figure itself or the mean), ``sync="none" |
"fdatasync" | "fsync" | "dsync" | "direct"``, ``block_B``, ``record_B``, ``file_B``, ``streams``,
``threads``, ``duration_s``, ``source``, ``target``, ``device``, ``host``, ``interval=True`` for
a figure of a part of a run beside which the log has (or would have) a figure of the whole.

**Rules.** Never guess. A value is finite and >= 0. No rate for failed or zero-byte runs: a failed run gives
``self.failure(text)`` (status ``failed``, value nan, no unit of rate). The last progress line of an unfinished run is
``status="partial"``. When a line carries bytes and seconds, compute from them and compare with what is printed
(`dtnsim.logs._numbers.agrees`); if they disagree say so with ``unread``. State of a run is set in ``forget()``; what a
command or the file's end leaves open is given by ``settle()``. A parser must take any line in any order.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Literal

from dtnsim.logs._commands import Command, Given, clean, decode, given, host_of
from dtnsim.logs._numbers import UNITS, decimal
from dtnsim.logs.measurement import Condition, Conditions, Evidence, Measurement, Status, Unread

__all__ = [
    "Command", "Conditions", "Context", "Document", "DocumentParser", "Evidence", "LineParser", "Pairs", "Parser",
    "Record", "Status", "located",
]  # fmt: skip

Record = Measurement | Unread

#: statistics of a figure with their values: texts as they are printed, or numbers
Pairs = Iterable[tuple[str | None, str | float | None]]

#: Largest value of a unit that is taken for a measurement and not for a misread line.
PLAUSIBLE: Final = {"B/s": 1e14, "s": 1e10, "B": 1e21, "1/s": 1e14, "1": 1e18}

_NEWLINE: Final = re.compile("\n")
#: a condition beyond this is no figure of a log: a misread line, an overflow [any unit]
_LARGEST: Final = 1e24
_NUMBERS: Final = (float, int)


def _is_condition(value: Condition) -> bool:
    return value is not None and (value.__class__ not in _NUMBERS or -_LARGEST < float(value) < _LARGEST)


@dataclass(slots=True)
class Context:
    """What is known about the line at hand; one per file and host."""

    file: str | None = None
    line: int = 0  # from 1
    host: str | None = None  # that a pdsh-like prefix of this line names
    redraw: bool = False  # a carriage return overwrites this line
    after_redraw: bool = False  # this line overwrote another one: it is the last redraw unless ``redraw``
    cut: bool = False  # the file ends in this line, in a figure without a newline: its last word may be a piece
    last: bool = False  # the file ends in this line without a newline, whatever its last character is
    previous_raw: bytes = b""  # the line before this one, not decoded: see `previous`
    command: Command | None = None  # last shell command seen, of whatever tool
    memo: dict[str, Any] = field(default_factory=dict)  # what parsers of one tool share (its text's and its JSON's)

    @property
    def previous(self) -> str:
        """The line before this one, cleaned (a heading above a table ...)."""
        text = clean(decode(self.previous_raw).rstrip("\r"))
        return text if self.host is None else host_of(text)[1]

    def args(self, *programs: str) -> list[str] | None:
        """Arguments of one of ``programs`` in the last shell command; None if it ran none of them."""
        return None if self.command is None else self.command.args(*programs)


class Parser(ABC):
    """What line and document parsers share."""

    #: name of the tool in `Measurement.tool`
    tool: ClassVar[str]
    #: what its figures are good for; from it `dtnsim calibrate`, `validate` and the documentation know the tool
    evidence: ClassVar[Evidence]
    #: whether its rates are a line's where no unit is printed: shown in bits
    of_a_line: ClassVar[bool] = False
    #: whether fewer than three outputs of real runs were at hand: it rests on the tool's documentation and source
    by_document: ClassVar[bool] = False
    #: programs whose command lines the reader shall recognise without a prompt; by default the tool alone
    commands: ClassVar[tuple[str, ...]] = ()
    #: whether the run that is read was stopped, so that its figures are ``partial``
    stopped: bool = False

    def __init_subclass__(cls, of: type[Parser] | None = None) -> None:
        """``of``: the parser of another form of the same tool, whose name and evidence this one has."""
        for name in ("tool", "evidence", "of_a_line", "by_document", "commands") if of is not None else ():
            setattr(cls, name, getattr(of, name))
        if "tool" in vars(cls) and "commands" not in vars(cls):
            cls.commands = (cls.tool,)

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.version: str | None = None

    @property
    def where(self) -> Conditions:
        """The host a line belongs to, for figures that are settled when another prompt may have come.

        A host that is not known is kept as None, so that a record does not take the next prompt's.
        """
        ctx = self.ctx
        return {"host": ctx.host or (ctx.command.host if ctx.command is not None else None)}

    def asked(self) -> Given:
        """What the last command line says of the run, if it ran the tool."""
        return given(self.tool, self.ctx.args(*self.commands))

    def measure(
        self,
        quantity: str,
        value: float,
        unit: str,
        printed: str = "",
        *,
        status: Status = "complete",
        line: int | None = None,
        **conditions: Condition,
    ) -> Record:
        """The record of a figure of the present line (or of ``line``); a note if it is negative or not plausible."""
        return self.record(quantity, value, unit, printed, conditions, status=status, line=line)

    def record(
        self,
        quantity: str,
        value: float,
        unit: str,
        printed: str,
        conditions: Conditions,
        *,
        status: Status = "complete",
        line: int | None = None,
    ) -> Record:
        """`measure` with the conditions as a dict, which the record keeps (do not change it afterwards)."""
        ctx = self.ctx
        if not 0 <= value < PLAUSIBLE.get(unit, 1e21):  # also false for nan
            shown = f"{value:g}" if abs(value) < 1e300 else "more than 1e300"
            return Unread(ctx.file, line or ctx.line, printed[:200], f"{self.tool}: {quantity} of {shown} {unit}")
        if self.stopped and status == "complete":
            status = "partial"
        if ctx.cut and (line is None or line == ctx.line) and status == "complete":
            status = "truncated"
        if "host" not in conditions:
            command = ctx.command
            host = ctx.host
            if host is None and command is not None and command.line <= (line or ctx.line):  # not the next prompt's
                host = command.host
            if host is not None:
                conditions["host"] = host
        elif conditions["host"] == "":  # known to be unknown: not the present line's
            del conditions["host"]
        for found in conditions.values():
            if found is None or (found.__class__ in _NUMBERS and not -_LARGEST < found < _LARGEST):
                conditions = {key: value for key, value in conditions.items() if _is_condition(value)}
                break
        at = line or ctx.line
        return Measurement(self.tool, quantity, value, unit, printed, conditions, status, self.version, ctx.file, at)

    def failure(self, text: str, *, line: int | None = None, **conditions: Condition) -> Measurement:
        """Makes the record of a run that failed: it has no figure, ``printed`` is the tool's message."""
        ctx = self.ctx
        if ctx.host is not None:
            conditions.setdefault("host", ctx.host)
        known = {key: value for key, value in conditions.items() if _is_condition(value)}
        shown, at = text.strip()[:300], line or ctx.line
        return Measurement(self.tool, "failure", math.nan, "1", shown, known, "failed", self.version, ctx.file, at)

    def printed(
        self, quantity: str, text: str, word: str, times: float = 1.0, *, line: int | None = None, **known: Condition
    ) -> Record:
        """`measure` of a figure as the tool prints it: ``4.27`` and a word of `UNITS`; ``times`` is another factor."""
        unit, factor = UNITS[word]
        shown = f"{text}{word}" if word == "%" else f"{text} {word}"
        return self.record(quantity, decimal(text) * factor * times, unit, shown, known, line=line)

    def each(
        self, quantity: str, word: str, pairs: Pairs, known: Conditions, line: int | None = None
    ) -> Iterator[Record]:
        """A figure of every (statistic, value) that has a value, be it a text or a number; see `printed`."""
        for statistic, value in pairs:
            if value is not None and value != "":
                text, (unit, factor) = value if isinstance(value, str) else f"{value:g}", UNITS[word]
                number = decimal(value) if isinstance(value, str) else value
                more = {**known, "statistic": statistic}
                yield self.record(quantity, number * factor, unit, f"{text} {word}", more, line=line)

    def rate(
        self,
        value: float,
        printed: str,
        known: Conditions,
        line: int | None = None,
        *,
        text: str = "",
        status: Status = "complete",
    ) -> Record:
        """The throughput of a transfer; a note (of ``text``) where nothing was transferred."""
        if value <= 0:
            return self.unread(text or printed, "no bytes were transferred: no rate", line=line)
        return self.record("throughput", value, "B/s", printed, known, status=status, line=line)

    def copied(
        self, size: float, seconds: float, printed: tuple[str, str], known: Conditions, line: int | None = None
    ) -> Iterator[Record]:
        """Rate and duration of a copy of so many bytes, each as it is printed."""
        known = {**known, "bytes": size, "duration_s": seconds}
        yield self.measure("throughput", size / seconds, "B/s", printed[0], line=line, **known)
        yield self.measure("duration", seconds, "s", printed[1], line=line, **known)

    def unread(self, text: str, why: str, *, line: int | None = None) -> Unread:
        """Makes the note of a part that could not be read."""
        return Unread(self.ctx.file, line or self.ctx.line, text.strip()[:200], f"{self.tool}: {why}")


class LineParser(Parser):
    """A parser that is fed line by line; see the module's docstring.

    One instance lives as long as its file (one per pdsh host); it must keep little.
    """

    words: ClassVar[tuple[str, ...]] = ()
    #: word -> pieces of the line without digits of which one must be there as well: for words that many tools print
    #: (``MB``, ``avg``), so as to be asked less
    beside: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    shape: ClassVar[str | None] = None
    #: pieces of the line without digits of which `shape` needs one, to save trying (not needed after ``^``)
    needs: ClassVar[tuple[str, ...]] = ()

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        #: True: give me every line. Set it in `feed`; a command ends it.
        self.open = False
        self.forget()

    @abstractmethod
    def feed(self, text: str) -> Iterable[Record]:
        """Takes one line and returns (or yields) what it completes."""

    def rows(self, text: str, lines: Sequence[int]) -> list[Record]:  # noqa: ARG002 (for subclasses)
        """Takes interval lines at once, of which ``lines`` are the numbers; none of them if it gives no record."""
        return []

    @property
    def rules_read(self) -> bool:
        """Whether a further line of dashes would tell nothing, so that `rows` may come from both of its sides."""
        return False

    def forget(self) -> None:
        """Sets the state of no run, at the start and at every command."""

    def settle(self) -> Iterable[Record]:
        """Gives what is open: a command or the end of the file ended it."""
        return ()

    def on_command(self, command: Command) -> Iterable[Record]:  # noqa: ARG002 (for subclasses)
        """A new shell command was seen (``self.ctx.command`` is still the one before): it ends a run."""
        ended = self.settle()
        ended = list(ended) if ended else ended
        self.open = False
        self.forget()
        return ended

    def close(self) -> Iterable[Record]:
        """The file ends."""
        return self.settle()


@dataclass(slots=True)
class Document:
    """A JSON value, XML text or HTML table found in a log."""

    kind: Literal["json", "xml", "html"]
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
            self._breaks = [found.start() for found in _NEWLINE.finditer(self.text)]
        return self.line + bisect_left(self._breaks, offset)

    def lines(self, start: int = 0) -> LineCursor:
        """Lines of one needle after another from offset ``start`` on, in one pass."""
        return LineCursor(self, start)


class LineCursor:
    """Finds needles in a document one after another; what is missing is looked for once."""

    def __init__(self, doc: Document, start: int = 0) -> None:
        self._doc = doc
        self._at = max(start, 0)
        self._missing: set[str] = set()

    def next(self, needle: str) -> int:
        """Line of the next ``needle``; where there is none, that of the last one found."""
        if needle not in self._missing:
            at = self._doc.text.find(needle, self._at + 1)
            if at < 0:
                self._missing.add(needle)
            else:
                self._at = at
        return self._doc.line_at(self._at)


class DocumentParser(Parser):
    """A parser of documents: whole ones, and parts of those of more than 2 MiB of text (see ``long``).

    The reader finds documents in the stream (a line that starts ``{``, ``[{``, ``<?xml``,
    ``<topology`` or ``<table``), decodes them and hands each to the first parser that says `match`.
    A document nobody matches is read as ordinary lines; of JSON that nobody matches, what programs printed
    (``stdout``, ``log`` ... of runners and container logs) is.
    """

    kind: ClassVar[Literal["json", "xml", "html"]] = "json"
    #: keys of arrays of which a long document may have too many elements to hold (``hits.hits`` of an array in an
    #: object); `read` then gets several documents with ``part`` set
    long: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def match(self, doc: Document) -> bool:
        """Whether this is the tool's document (look at keys, cheaply)."""

    @abstractmethod
    def read(self, doc: Document) -> Iterable[Record]:
        """Yields the document's figures."""


def located(pattern: re.Pattern[str], text: str, *words: str) -> re.Match[str] | None:
    """The match of a pattern at the first place of one of the words it begins with: one try, however long the text."""
    starts = [at for word in words if (at := text.find(word)) >= 0]
    return pattern.match(text, min(starts)) if starts else None
