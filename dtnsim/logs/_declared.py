"""What formats are declared with: kinds of lines, progress lines of a copy.

- `LinesParser`: the lines that a tool prints, each with the figures that it gives (`gives`), with what it says of the
  figures that follow (`notes`), or, where there is more to it, with a method (`reads`);
- `ProgressParser`: the last line of a copy counts.

Tables are declared with `dtnsim.logs._columns`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, ClassVar, Final, NamedTuple

from dtnsim.logs._numbers import DECIMAL, regex
from dtnsim.logs._records import figure
from dtnsim.logs.base import Conditions, Evidence, LineParser, Record, anew
from dtnsim.logs.measurement import Condition, Measurement, Status, Unread

_NEAR: Final = 2
#: pieces of a pattern: an escape, a class of characters, how often, a character
_PIECE: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*+\]|\{[\d,]+\}|.", re.DOTALL)

Match = re.Match[str]
Found = Record | Iterable[Record] | None  #: what a method gives that reads one kind of line


class _Kind(NamedTuple):
    """A kind of line: how it is found, what reads it."""

    find: Callable[[str], Match | None]
    pattern: re.Pattern[str]
    inside: bool | str
    opens: bool | str
    settles: bool
    result: str
    method: Callable[[Any, Match], Found]


def reads(
    pattern: str, *, inside: bool | str = False, opens: bool | str = False, settles: bool = False, result: str = ""
) -> Callable[[Callable[[Any, Match], Found]], Any]:
    """Declares that a method of a `LinesParser` reads the lines of a pattern; of several the first in order takes it.

    Args:
        pattern: As of `regex`; anywhere in the line, unless it begins with ``^``.
        inside: Only in a block that is open, or in the ``block`` of that name.
        opens: The line opens a block, which may have a name: all lines up to its end are handed over.
        settles: The line ends a run: what that leaves open is given.
        result: A line with this text that matches only in part is noted, with the part that is as expected.
    """
    compiled = regex(pattern)
    find = compiled.match if pattern.removeprefix("(?i)")[0] == "^" else compiled.search

    def mark(method: Callable[[Any, Match], Found]) -> Any:
        kinds = [_Kind(find, compiled, inside, opens, settles, result, method), *getattr(method, "kinds", ())]
        method.kinds = kinds  # type: ignore[attr-defined]
        return method

    return mark


def notes(
    pattern: str,
    *,
    to: Callable[[str], Any] | None = None,
    more: Callable[[Any], Conditions] | None = None,
    new: bool = False,
    inside: bool | str = False,
    opens: bool | str = False,
    settles: bool = False,
    **state: object,
) -> Callable[[Any, Match], None]:
    """Declares lines whose named groups are conditions of the figures that follow, or that set the state of a run.

    Args:
        to: What makes a condition of the text; a whole number becomes one by default.
        more: What the parser knows by then, of the command say; it goes before the line's own.
        new: Nothing of what was known before is kept.
        state: Attributes of the parser, and what they are from this line on (or what makes it: ``_seen=set``).
    """

    @reads(pattern, inside=inside, opens=opens, settles=settles)
    def note(parser: LinesParser, match: Match) -> None:
        conditions = (more(parser) if more else {}) | parser.conditions(match, match.re.groupindex, to)
        parser.version = str(conditions.pop("version", parser.version or "")) or None
        parser.known = conditions if new else parser.known | conditions
        for name, value in state.items():
            setattr(parser, name, value() if callable(value) else value)

    return note  # type: ignore[no-any-return]  # what reads marks


def gives(
    pattern: str,
    *figures: str,
    to: Callable[[str], float | None] | None = None,
    inside: bool | str = False,
    after: str = "",
) -> Callable[[Any, Match], Found]:
    """Declares lines by the figures that they give; other named groups are conditions of all of them.

    Args:
        figures: What the line gives, as of `dtnsim.logs._records.figure`.
        to: What makes a number of the text; by default `decimal`, and whole numbers of bytes and of things stay whole.
        after: A condition, or an attribute of the parser, without which the line gives nothing.
    """
    used = set[str]().union(*(figure(text).groups() for text in figures))
    names = [name for name in regex(pattern).groupindex if name not in used]

    @reads(pattern, inside=inside)
    def give(parser: LinesParser, match: Match) -> Iterator[Record]:
        if not after or getattr(parser, after, None) or parser.known.get(after):
            yield from parser.figures(match, {**parser.conditions(match, names), **parser.about()}, *figures, to=to)

    return give  # type: ignore[no-any-return]  # what reads marks


class LinesParser(LineParser):
    """Lines that are declared with `reads`; a block that one of them opened is over after ``longest`` further lines."""

    longest: ClassVar[int] = 0
    #: condition -> words that the tool prints -> what they mean
    terms: ClassVar[Mapping[str, Mapping[str, Condition]]] = {}
    kinds: ClassVar[tuple[_Kind, ...]] = ()
    within: ClassVar[str] = ""  #: what a line of no kind is that does not end a block

    def __init_subclass__(cls, **traits: Evidence | bool) -> None:
        super().__init_subclass__(**traits)
        declared = [kind for method in vars(cls).values() for kind in getattr(method, "kinds", ())]
        cls.kinds = (*declared, *cls.kinds)

    #: name of the block; lines since the one that opened it
    block = anew(str)
    lines = anew(int)

    def about(self) -> Conditions:
        """What holds of every figure that a line gives."""
        return self.known

    def conditions(self, match: Match, names: Iterable[str], to: Callable[[str], Any] | None = None) -> Conditions:
        """Named groups of a line as conditions: whole numbers, what the tool's words mean (`terms`), or text.

        Args:
            match: The line.
            names: Its groups.
            to: What makes a condition of the text.
        """
        pairs = ((name, text) for name in names if (text := match[name]) is not None)
        return {name: to(text) if to else self._term(name, text) for name, text in pairs}

    def _term(self, name: str, text: str) -> Condition:
        terms = self.terms.get(name)
        return terms.get(text, text) if terms is not None else int(text) if text.isdigit() else text

    def feed(self, text: str) -> Iterable[Record]:
        """One line."""
        self.lines += 1
        if self.open and 0 < self.longest < self.lines:
            self.open = False
        missed = None
        for find, pattern, inside, opens, settles, result, method in self.kinds:
            if inside and not (self.open if inside is True else self.block == inside):
                continue
            if (match := find(text)) is not None:
                ended = list(self.safely(self.settle)) if settles else ()
                if opens:
                    self.open, self.lines, self.block = True, 0, "" if opens is True else str(opens)
                return (*ended, *listed(method(self, match))) if ended else listed(method(self, match))
            if result and missed is None and result in text:
                missed = matched_up_to(pattern.pattern, text)
        return listed(self.other(text)) if missed is None else (self.unread(text, missed),)

    def other(self, text: str) -> Found:
        """A line of no kind."""
        if self.open and self.within and re.match(self.within, text) is None:
            self.open, self.block = False, ""
        return None


def said_in(text: str, to: Callable[[str], Any] = int, **patterns: str) -> Conditions:
    """Conditions that a part of a line says, in any order: what the first group of each pattern holds."""
    matches = ((name, re.search(pattern, text)) for name, pattern in patterns.items())
    return {name: to(match[1]) for name, match in matches if match is not None}


def listed(records: Found) -> Iterable[Record]:
    """What a method gave as records."""
    return () if records is None else (records,) if isinstance(records, Measurement | Unread) else records


@lru_cache(maxsize=256)
def beginnings(pattern: str, groups: int = _NEAR) -> tuple[str, ...]:
    """A pattern cut off before each of its pieces that follow so many named groups, the longest first."""
    cuts, depth, seen = [], 0, 0
    for piece in _PIECE.finditer(pattern):
        if depth == 0 and seen >= groups and piece[0][0] not in "?*+{":
            cuts.append(piece.start())
        seen += depth == 0 and pattern.startswith("(?P<", piece.start())
        depth += {"(": 1, ")": -1}.get(piece[0], 0)
    return tuple(pattern[:cut] for cut in reversed(cuts))


@lru_cache(maxsize=1024)
def compiled(beginning: str) -> re.Pattern[str]:
    """A beginning of a pattern."""
    return re.compile(beginning)


def matched_up_to(pattern: str, text: str) -> str | None:
    """Up to where a line is as declared; None for one that is something else."""
    match = next(filter(None, (compiled(part).search(text) for part in beginnings(pattern))), None)
    return None if match is None else f"the line is as expected up to {match[0][-40:]!r} only"


class Progress(NamedTuple):
    """The last progress line of a copy."""

    moved: float  # so far [B]
    total: float  # in all, as far as is known [B]
    rate: float  # mean since the start [B/s]
    printed: str
    line: int
    status: Status
    known: Conditions


class ProgressParser(LineParser):
    """Keeps the last progress line until the copy is over.

    A parser declares its ``line`` with the groups ``got``, ``gu``, ``of``, ``ou``, ``rate``, ``ru`` (figure and prefix
    of what is moved, of all, and of the rate), a ``sign`` without which a text is none, what its prefixes are
    (``units``) and its ``failures``. Of drawings that are joined the last counts. The copy is complete if its ``share``
    is 100, if all of its ``files`` are ``done``, or if all is moved and there is no ``more``.
    """

    line: ClassVar[re.Pattern[str]]
    sign: ClassVar[str]
    failures: ClassVar[re.Pattern[str]]
    units: ClassVar[Mapping[str, float]] = DECIMAL

    _held: Progress | None = anew()

    def feed(self, text: str) -> Iterable[Record]:
        if self.sign in text:
            if (match := max(self.line.finditer(text), key=re.Match.start, default=None)) is not None:
                return self._progress(match)
            why = matched_up_to(self.line.pattern, text)
            return () if why is None else (self.unread(text, why),)
        problem = self.failures.match(text)
        return () if problem is None else self.failed(problem[0])

    def failed(self, message: str) -> Iterable[Record]:
        """A message that says that a copy failed."""
        return (self.failure(message),)

    @staticmethod
    def _complete(match: re.Match[str], progress: Progress) -> bool:
        groups = match.groupdict()
        if "share" in groups:
            return bool(groups["share"] == "100")
        all_moved = progress.moved == progress.total and not groups.get("more")
        return all_moved or ("files" in groups and groups["done"] == groups["files"] != "0")

    def conditions(self, match: re.Match[str], moved: float) -> Conditions:  # noqa: ARG002 (for subclasses)
        """What else the line says."""
        return {"files": int(match["done"])} if "done" in match.re.groupindex else {}

    def same(self, progress: Progress, last: Progress) -> bool:
        """Whether the line is of the copy that is held."""
        return progress.moved >= last.moved

    def check(self, match: re.Match[str], progress: Progress) -> Iterable[Record]:  # noqa: ARG002 (for subclasses)
        """Notes on figures of the line that contradict one another."""
        return ()

    def _progress(self, match: re.Match[str]) -> Iterator[Record]:
        pairs = (("got", "gu"), ("of", "ou"), ("rate", "ru"))
        moved, total, rate = (float(match[figure]) * self.units[match[unit]] for figure, unit in pairs)
        printed = match[0][match.start("rate") - match.start() : match.end("ru") - match.start()]
        printed += "/s" if printed.endswith(("B", "s")) else "B/s"
        conditions = {**self.conditions(match, moved), **self.where}
        progress = Progress(moved, total, rate, printed, self.ctx.line, "partial", conditions)
        if self._complete(match, progress):
            progress = progress._replace(status="complete")
        yield from self.check(match, progress)
        if self._held is not None and not self.same(progress, self._held):
            yield from self.settle()
        self._held = progress

    def settle(self) -> Iterator[Record]:
        last, self._held = self._held, None
        if last is not None:
            more = {**last.known, "bytes": last.moved, "duration_s": last.moved / last.rate if last.rate > 0 else None}
            rate = last.rate if last.moved > 0 else 0.0
            yield self.rate(rate, last.printed, more, line=last.line, status=last.status)
