"""What all parsers share: what is known of the line at hand, and the records that they make."""

import math
import re
from abc import ABC
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from types import MappingProxyType
from typing import Any, ClassVar, Final, NamedTuple, ParamSpec, TypeVar
from xml.etree.ElementTree import ParseError

from dtnsim.logs._commands import Command, CommandLine, cleaned, ends_of_copy, host_of, parse_arguments
from dtnsim.logs._documents import Document, Form
from dtnsim.logs._numbers import amount, decimal, inside, number, scale_of
from dtnsim.logs.measurement import UNITS, Condition, Conditions, Evidence, Measurement, Status, Unread

Record = Measurement | Unread
_P = ParamSpec("_P")
_T = TypeVar("_T")

#: Largest value of a unit that is taken for a measurement and not for a misread line.
PLAUSIBLE: Final = {"B/s": 1e14, "s": 1e10, "B": 1e21, "1/s": 1e14, "1": 1e18}

#: a condition beyond this is no figure of a log: a misread line, an overflow [any unit]
_LARGEST: Final = 1e24
_NUMBERS: Final = (float, int)
_NOTHING: Final[Mapping[str, Condition]] = MappingProxyType({})

#: what a figure raises that only looks like a number (``1.7.44``, a superscript digit, 400 digits), or like a unit
NO_NUMBER: Final = (ValueError, OverflowError, ZeroDivisionError, KeyError)

NO_BYTES: Final = "no bytes were transferred: no rate"  #: why there is no rate, of most tools


class NothingError(ValueError):
    """A result has no figure; the note says why (see `Parser.need`)."""

    def __init__(self, note: Unread) -> None:
        super().__init__(note.why)
        self.note = note


def noted(gives: Callable[_P, Iterator[Record]]) -> Callable[_P, Iterator[Record]]:
    """What a method or function gives, up to what `Parser.need` finds missing: there its note ends it."""

    @wraps(gives)
    def guarded(*args: _P.args, **named: _P.kwargs) -> Iterator[Record]:
        try:
            yield from gives(*args, **named)
        except NothingError as error:
            yield error.note

    return guarded


def _is_condition(value: Condition) -> bool:
    return value is not None and (value.__class__ not in _NUMBERS or -_LARGEST < float(value) < _LARGEST)


class Figure(NamedTuple):
    """A figure that a line gives; see `figure`."""

    quantity: str
    form: str  # as the tool prints it, with names of groups
    number: str  # the group that is the figure
    unit: str  # word of its unit, with names of groups
    known: Mapping[str, str]  # what holds of it alone
    above: bool  # only where it is not zero
    whole: str  # the group that it is a share of
    shaped: tuple[str, ...]  # groups that are printed as numbers

    def groups(self) -> set[str]:
        """Names of the groups that it is made of."""
        text = " ".join((self.form, self.unit, *self.known.values()))
        return {self.number, *(match[1] for match in _GROUP.finditer(text))}


_GROUP: Final = re.compile(r"\{([\w%/-]+)(:[^{}]*)?\}")
#: words of things that are counted: their figures stay whole numbers
_WHOLE: Final = frozenset({"", "bytes", "count"})
_LITERAL: Final[dict[str, Condition]] = {"True": True, "None": None}


@lru_cache(maxsize=512)
def figure(text: str) -> Figure:
    """A declared figure: ``"throughput {rate} {u}B/s : direction=receive"``.

    It is written as the tool prints it, here with the groups ``rate`` (the number: ``n``, or else the first) and ``u``,
    and behind a colon what holds of it alone (``~`` is a blank in a word). The unit is what follows the number, or
    stands in brackets where the tool prints none: ``"mtu MTU:{n} [B]"``; a share is ``"loss {lost}/{sent}"``.
    ``{line}`` is all that the pattern matches, beside which the number is ``n``. ``throughput?`` is a figure only where
    it is not zero. A figure whose number is not there is left out. A count with a prefix (``1.92 k iops``) is not
    declared. Of JSON the groups are keys: ``"jitter {jitter_ms:g} ms"``.
    """
    head, _, tail = text.partition(" : ")
    quantity, _, form = head.partition(" ")
    unit = ""
    if form.endswith("]"):
        form, _, unit = form.removesuffix("]").rpartition(" [")
    names = [match[1] for match in _GROUP.finditer(form)]
    number = "n" if "n" in names or form == "{line}" else names[0]
    unit = unit or next((form[match.end() :].strip() for match in _GROUP.finditer(form) if match[1] == number), "")
    shaped = tuple(match[1] for match in _GROUP.finditer(form) if match[2])
    if share := unit.startswith("/{"):
        unit = ""
    if "{" not in unit and scale_of(unit)[0] != UNITS.get(quantity.rstrip("?"), "1"):
        raise ValueError(f"{unit} is no unit of {quantity}")
    pairs = dict(pair.split("=") for pair in tail.split())
    whole = names[1] if share else ""
    return Figure(quantity.rstrip("?"), form, number, unit, pairs, quantity.endswith("?"), whole, shaped)


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
        text = cleaned(self.previous_raw)
        return text if self.host is None else host_of(text)[1]

    def args(self, *programs: str) -> list[str] | None:
        """Arguments of one of ``programs`` in the last shell command; None if it ran none of them."""
        return None if self.command is None else self.command.args(*programs)


class Parser(ABC):
    """What line and document parsers share."""

    tool: ClassVar[str]  #: name of the tool in `Measurement.tool`; by default that of the class in small letters
    #: what its figures are good for; from it `dtnsim calibrate`, `validate` and the documentation know the tool
    evidence: ClassVar[Evidence]
    of_a_line: ClassVar[bool] = False  #: whether its rates are a line's where no unit is printed: shown in bits
    #: whether fewer than three outputs of real runs were at hand: it rests on the tool's documentation and source
    by_document: ClassVar[bool] = False
    #: programs whose command lines the reader shall recognise without a prompt; by default the tool alone
    commands: ClassVar[tuple[str, ...]] = ()
    kilo: ClassVar[int] = 1024  #: what a bare k of bytes means to the tool (that of bits is always 1000)
    forms: ClassVar[tuple[Form, ...]] = ()  #: documents that its methods read, as of `documents`
    stopped: bool = False  #: whether the run that is read was stopped, so that its figures are ``partial``

    def __init_subclass__(cls, **traits: Evidence | bool) -> None:
        """Keywords of the class say its ``evidence`` and what else holds of its tool."""
        for name, value in traits.items():
            setattr(cls, name, value)
        namespace = vars(cls)
        cls.forms = tuple(method.form for method in namespace.values() if hasattr(method, "form"))
        if "evidence" in namespace and "tool" not in namespace:
            cls.tool = cls.__name__.lower()
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

    def command_line(self) -> CommandLine:
        """What the last command line says of the run, if it ran the tool."""
        return parse_arguments(self.tool, self.ctx.args(*self.commands))

    def measure(
        self,
        quantity: str,
        value: float,
        printed: str = "",
        base: Mapping[str, Condition] = _NOTHING,
        *,
        status: Status = "complete",
        line: int | None = None,
        **more: Condition,
    ) -> Record:
        """The record of a figure of the present line (or of ``line``); a note if it is negative or not plausible."""
        conditions, unit, ctx = {**base, **more}, UNITS.get(quantity, "1"), self.ctx
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
        for condition in conditions.values():
            if condition is None or (condition.__class__ in _NUMBERS and not -_LARGEST < condition < _LARGEST):
                conditions = {key: value for key, value in conditions.items() if _is_condition(value)}
                break
        place = line or ctx.line
        return Measurement(self.tool, quantity, value, unit, printed, conditions, status, self.version, ctx.file, place)

    def failure(self, text: str, *, line: int | None = None, **conditions: Condition) -> Measurement:
        """The record of a run that failed: it has no figure, ``printed`` is the tool's message."""
        ctx = self.ctx
        if ctx.host is not None:
            conditions.setdefault("host", ctx.host)
        valid = {key: value for key, value in conditions.items() if _is_condition(value)}
        shown, place = text.strip()[:300], line or ctx.line
        return Measurement(self.tool, "failure", math.nan, "1", shown, valid, "failed", self.version, ctx.file, place)

    def printed(
        self, quantity: str, text: str, word: str, conditions: Mapping[str, Condition] = _NOTHING, **more: Any
    ) -> Record:
        """`measure` of a figure as the tool prints it, ``4.27``, in the tool's ``word`` of the unit, of `scale_of`."""
        shown = f"{text}{word}" if word == "%" else f"{text} {word}"
        return self.measure(quantity, amount(text, word), shown, conditions, **more)

    def figures(
        self,
        source: re.Match[str] | Mapping[str, Any],
        conditions: Mapping[str, Condition],
        *declared: str,
        to: Callable[[Any], float | None] | None = None,
        at: Callable[[str], int] | None = None,
        **how: Any,
    ) -> Iterator[Record]:
        """The figures that a line, or an object of JSON, gives.

        Args:
            source: The line, or the object.
            conditions: What holds of all of them.
            declared: Each as of `figure`.
            to: As of `dtnsim.logs._declared.gives`.
            at: What gives the line of a figure by its key, such as `Document.line_of`.
            how: Line and status, as of `measure`.
        """
        groups: Mapping[str, Any] = source if not isinstance(source, re.Match) else {
            **{name: text or "" for name, text in source.groupdict().items()}, "line": source[0].strip()
        }  # fmt: skip
        read = to or (number if groups is source else None)
        for quantity, form, name, unit, pairs, above, whole, shaped in map(figure, declared):
            raw = inside(groups, *name.split("/")) if "/" in name else groups.get(name, "")
            if raw == "":
                continue
            parts = number(groups.get(whole)) if whole else 1.0
            value = read(raw) if read else int(raw) if unit in _WHOLE and raw.isdigit() else decimal(raw)
            if value is None or not parts:
                continue
            shown = {**groups, **{group: number(groups[group]) for group in shaped}} if shaped else groups
            if "/" in name:
                shown = {**groups, name: raw}
            _, times, over = scale_of(unit.format_map(groups), self.kilo)
            if whole or times != over:
                value = value * times / over / parts
            words = ((key, word.format_map(groups).replace("~", " ")) for key, word in pairs.items())
            extra = {key: int(word) if word.isdigit() else _LITERAL.get(word, word) for key, word in words}
            if at is not None:
                how["line"] = at(f'"{name.rpartition("/")[2]}"')
            if value or not above:
                yield self.measure(quantity, value, form.format_map(shown), {**extra, **conditions}, **how)

    def rate(self, value: float, printed: str, conditions: Conditions, *, text: str = "", **how: Any) -> Record:
        """The throughput of a transfer; a note (of ``text``) where nothing was transferred.

        Args:
            value: The rate [B/s].
            printed: The rate as the tool printed it.
            text: What is noted where nothing was transferred, if not ``printed``.
            how: Line and status, as of `measure`.
        """
        if value <= 0:
            return self.unread(text or printed, NO_BYTES, line=how.get("line"))
        return self.measure("throughput", value, printed, conditions, **how)

    def release(self, record: Record | None, status: Status = "complete", **more: Condition) -> Iterator[Record]:
        """A figure that was kept until it was known how its run ended, if any; one that is cut stays so if complete."""
        if isinstance(record, Measurement):
            conditions = {**record.conditions, **{key: value for key, value in more.items() if value is not None}}
            record = record._replace(conditions=conditions, status=record.status if status == "complete" else status)
        if record is not None:
            yield record

    def copy(self) -> Conditions:
        """What the last command line says of a copy: its options, its ends and its direction."""
        conditions, _, paths = self.command_line()
        return conditions | ends_of_copy(paths)

    def unread(self, text: str, why: str, *, line: int | None = None) -> Unread:
        """Makes the note of a part that could not be read."""
        return Unread(self.ctx.file, line or self.ctx.line, text.strip()[:200], f"{self.tool}: {why}")

    def need(self, needed: _T | None, text: str, why: str, *, line: int | None = None) -> _T:
        """Ends a line, document or run at hand (or what is `noted`) with a note, if what its figures need is not there.

        What is ``needed`` is given back.
        """
        if needed is None or not needed:
            raise NothingError(self.unread(text, why, line=line))
        return needed

    def no_number(self, text: str, error: Exception) -> Unread:
        """Makes the note of a figure that is no number, or of a result without one."""
        if isinstance(error, NothingError):
            return error.note
        return self.unread(text, f"a figure of the line is no number ({error})")

    def safely(self, settle: Callable[..., Iterable[Record]], *args: object) -> Iterator[Record]:
        """Records that a method of the parser settles; one that is no number does not lose the others' figures."""
        try:
            yield from settle(*args)
        except NO_NUMBER as error:
            yield self.no_number("", error)

    def read_document(self, form: Form, doc: Document) -> Iterator[Record]:
        """What a document gives; its version is not the text's, and the present line is the document's after it."""
        before, self.version = self.version, None
        try:
            yield from self.safely(form.read, self, doc)
        except ParseError as error:
            yield self.unread(doc.text[:80], f"not valid XML ({error})", line=doc.line)
        self.ctx.line, self.version = doc.line, before


@dataclass(slots=True)
class Mean:
    """The mean of the intervals of a run, for one that stops before its summary."""

    seconds: float = 0.0
    volume: float = 0.0  # [B]
    line: int = 0  # of the last one

    def add(self, volume: float, seconds: float, line: int) -> None:
        """Counts an interval: what was moved [B], and how long it took [s]."""
        if seconds > 0:
            self.seconds += seconds
            self.volume += volume
        self.line = line

    def records(self, parser: Parser, conditions: Mapping[str, Condition]) -> Iterator[Record]:
        """The mean as a figure; none where nothing was moved."""
        if self.seconds > 0 and self.volume > 0:
            more: Conditions = {"duration_s": self.seconds, "derived": "mean of intervals"}
            rate = self.volume / self.seconds
            yield parser.measure("throughput", rate, "", conditions, status="partial", line=self.line, **more)


def located(pattern: re.Pattern[str], text: str, *words: str) -> re.Match[str] | None:
    """The match at the first place of a word the pattern begins with: one try, however long the text."""
    starts = [offset for word in words if (offset := text.find(word)) >= 0]
    return pattern.match(text, min(starts)) if starts else None
