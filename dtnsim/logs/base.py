"""The contract between the log reader and the parsers: read this before writing a parser.

**A parser is a subclass** of `LineParser`, or of `Parser` where the tool prints no text, in a file of its own or in
that of its topic, called as the tool is. Its methods may read the tool's JSON, XML and HTML tables too (`documents`).
The reader finds it by itself: there is no list to extend. It says what its figures are good for (``evidence``); its
docstring (or its file's) says what the tool's unit words mean, with the source, and ``tests/logs/samples/<tool>.txt``
has outputs with their true values. `dtnsim.logs._declared` reads the common shapes (lines and their figures, progress
lines), `dtnsim.logs._columns` tables, `Parser.command_line` command lines.

**How lines reach a LineParser.** The reader deletes digits and dots from every line (its *shape*), looks up in a cache
which parsers care for that shape, and hands them the cleaned line. So a parser is asked only for lines that

- contain one of its ``words`` as a whole run of letters (``words = "copied transferred"``; case matters;
  digits, dots and punctuation separate words: ``bw=253MiB/s`` has the words ``bw``, ``MiB``, ``s``;
  ``beside = {"bytes": ("Mbits",)}`` narrows a word that many tools print), or
- whose shape matches its ``shape`` regular expression (for lines without words, such as CSV), or
- follow while the parser set ``self.open = True`` (in the middle of a table, of a run ...). An open
  parser gets **every** line, so keep it cheap and close it soon: on a blank line, a new command,
  a line of another kind.

The line has no line ending, no ANSI codes, no pdsh prefix, no stamp of a log collector (Jenkins, syslog,
CRI, log4j, mpirun: `dtnsim.logs._commands.PREFIX`), no ``> `` quote, ``# `` or ``(out)``, no HTML tags or
entities, no ``**``; leading blanks are kept, for columns may be positional, but the whole capture may be
indented. Use ``pattern.search`` for one-line results: titles and list dashes may precede them.

**Documents** begin in the stream with a line that starts ``{``, ``[{``, ``<?xml``, ``<topology`` or ``<table``. They
are decoded and go to the first form that fits, those of more than 2 MiB of text in parts. A document that no form fits
is read as ordinary lines; of such JSON, what programs printed (``stdout``, ``log`` ... of runners, container logs) is.

**Long stretches.** Progress and interval lines may come by the million. Of redraws (carriage returns)
of one shape only the last is handed over. Of a stretch of interval lines (`dtnsim.logs._catalogue` ``_INTERVALS``:
iperf, ping replies, nuttcp -i, bbcp -P, fio's ``Jobs:``) the first thousand and the last two hundred
are, and ``unread`` says how many lines between them were passed over. A parser may take many of them at once (`rows`).

**What a parser knows** about the line is in ``self.ctx`` (`Context`): file, line number, the last shell command
(``self.ctx.args("dd", "gdd")`` gives its arguments if it ran that tool), ``redraw`` (a carriage return overwrote this
line: only the last redraw counts), ``cut`` (the file ends in this line without a newline).

**What it yields**: ``self.measure(quantity, value, printed, **conditions)`` per figure (``self.figures`` those that
are declared) and ``self.unread(text, why)`` for what looked like the tool's output but could not be read. A figure
belongs to exactly one quantity of the project's words, which has one unit (`dtnsim.logs.measurement.UNITS`; what is
not there is a plain number: loss, cpu_share, utilization, retransmits, count, hops; a ``rate`` is of files, packets ...
a second). Direction and operation are conditions: ``operation="write"``, ``direction="send"``, ``statistic="mean" |
"p99" | "max"`` (no statistic = the figure itself or the mean), ``sync="none" | "fdatasync" | "fsync" | "dsync" |
"direct"``, ``block_B``, ``record_B``, ``file_B``, ``streams``, ``threads``, ``duration_s``, ``source``, ``target``,
``device``, ``host``, ``interval=True`` for a figure of a part of a run beside which the log has (or would have) a
figure of the whole.

**Rules.** Never guess. A value is finite and >= 0. No rate for failed or zero-byte runs: a failed run gives
``self.failure(text)`` (status ``failed``, value nan, no unit of rate). The last progress line of an unfinished run is
``status="partial"``. When a line carries bytes and seconds, compute from them and compare with what is printed
(`dtnsim.logs._numbers.agrees`); if they disagree say so with ``unread``; ``self.need(seconds > 0, text, why)`` ends a
line, or a ``settle``, that has no figure (another generator where it is `noted`). State of a run is declared with
`anew`; what a command or the file's end leaves open is given by ``settle()``. A parser must take any line in any order.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import isgeneratorfunction
from typing import Any, ClassVar, NamedTuple, TypeVar, cast

from dtnsim.logs._commands import Command
from dtnsim.logs._documents import Document, documents
from dtnsim.logs._records import NO_BYTES, Context, Mean, Parser, Record, located, noted
from dtnsim.logs.measurement import Conditions, Evidence, Status

__all__ = [
    "NO_BYTES", "Command", "Conditions", "Context", "Document", "Evidence", "LineParser", "Mean", "Parser", "Record",
    "Status", "documents", "located", "noted",
]  # fmt: skip

_T = TypeVar("_T")


class _State(NamedTuple):
    """Where an attribute of a `LineParser` begins, and whether every command sets it back."""

    start: Callable[[], Any] | None
    back: bool


def anew(start: Callable[[], _T] | None = None) -> _T:
    """Declares an attribute that every command sets to what ``start`` makes, by default None: the state of a run."""
    return cast("_T", _State(start, back=True))


def once(start: Callable[[], _T] | None = None) -> _T:
    """Declares an attribute that begins with what ``start`` makes, by default None, for as long as a log is read."""
    return cast("_T", _State(start, back=False))


class LineParser(Parser):
    """A parser that is fed line by line; see the module's docstring.

    One instance lives as long as its file (one per pdsh host); it must keep little.
    """

    words: ClassVar[str] = ""  #: blanks between them
    #: word -> pieces of the line without digits of which one must be there as well: for words that many tools print
    #: (``MB``, ``avg``), so as to be asked less
    beside: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    shape: ClassVar[str | None] = None

    #: True: give me every line. Set it in `feed`; a command ends it.
    open: bool
    known: Conditions  #: what lines said of the figures that follow
    _states: ClassVar[dict[str, _State]] = {"open": _State(bool, back=True), "known": _State(dict, back=True)}

    def __init_subclass__(cls, **traits: Evidence | bool) -> None:
        super().__init_subclass__(**traits)
        cls._states = cls._states | {name: state for name, state in vars(cls).items() if isinstance(state, _State)}
        if isgeneratorfunction(settle := vars(cls).get("settle")):
            setattr(cls, "settle", noted(settle))  # noqa: B010 (mypy has no assignment to a method)

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        self._reset(back=False)
        self.forget()

    def _reset(self, *, back: bool) -> None:
        for name, state in self._states.items():
            if state.back is back:
                setattr(self, name, None if state.start is None else state.start())

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
        """Sets the state of no run (`anew`), at the start and at every command."""
        self._reset(back=True)

    def further(self, *names: str) -> None:
        """A further run of the same command begins: of the one before it only these attributes are kept."""
        values = {name: getattr(self, name) for name in names}
        self.forget()
        for name, value in values.items():
            setattr(self, name, value)

    def settle(self) -> Iterable[Record]:
        """Gives what is open: a command or the end of the file ended it."""
        return ()

    def on_command(self, command: Command) -> Iterable[Record]:  # noqa: ARG002 (for subclasses)
        """A new shell command was seen (``self.ctx.command`` is still the one before): it ends a run."""
        ended = list(self.safely(self.settle))
        self.forget()
        return ended

    def close(self) -> Iterable[Record]:
        """The file ends."""
        return self.settle()
