"""What formats are declared with: kinds of lines, tables and their units, progress lines of a copy.

- `LinesParser`: the lines that a tool prints, each with the method that says what it means (`reads`), or what they say
  of the figures that follow (`notes`);
- `declared` and `figures`: what stands under a heading or beside a key; blank cells that only position tells;
- `ProgressParser`: the last line of a copy counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, ClassVar, Final, NamedTuple

from dtnsim.logs._net import host_of
from dtnsim.logs._numbers import BINARY, DECIMAL
from dtnsim.logs.base import Conditions, DocumentParser, LineParser, Parser, Record
from dtnsim.logs.measurement import Measurement, Status, Unread

_TOKEN: Final = re.compile(r"\S+")
_SUFFIX: Final = re.compile(r"^(?P<n>\d[\d.,]*)(?P<s>[BkKMGTP%]?)$")
_MOST_PERCENT: Final = 100.5
#: unit word of a declaration -> (SI unit, factor, divisor, how the figure is quoted)
_WORDS: Final[dict[str, tuple[str, float, float, str]]] = {
    "B": ("B", 1.0, 1.0, "{cell}"), "B/s": ("B/s", 1.0, 1.0, "{cell} {head}"),
    "KiB/s": ("B/s", 2.0**10, 1.0, "{cell} {head}"), "MiB/s": ("B/s", 2.0**20, 1.0, "{cell} {head}"),
    "sectors": ("B", 512.0, 1.0, "{cell}"),
    "sectors/s": ("B/s", 512.0, 1.0, "{cell} {head}"), "data-units": ("B", 512_000.0, 1.0, "{cell}"),
    "1/s": ("1/s", 1.0, 1.0, "{cell} {head}"), "1": ("1", 1.0, 1.0, "{cell}"),
    "times": ("1", 1.0, 1.0, "{cell} {head}"), "%": ("1", 1.0, 100.0, "{cell} %"),
    "percent": ("1", 1.0, 100.0, "{cell}"), "ms": ("s", 1.0, 1e3, "{cell} ms"), "s": ("s", 1.0, 1.0, "{cell}"),
    "min": ("s", 60.0, 1.0, "{cell}"), "h": ("s", 3600.0, 1.0, "{cell}"),
}  # fmt: skip

_NEAR: Final = 2
#: pieces of a pattern: an escape, a class of characters, how often, a character
_PIECE: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*+\]|\{[\d,]+\}|.", re.DOTALL)


Match = re.Match[str]
#: what a method gives that reads one kind of line
Found = Record | Iterable[Record] | None


class _Kind(NamedTuple):
    """A kind of line: how it is found, what reads it."""

    find: Callable[[str], Match | None]
    pattern: re.Pattern[str]
    signs: tuple[str, ...]
    inside: bool
    opens: bool
    result: bool
    method: Callable[[Any, Match], Found]


def reads(
    pattern: str, *signs: str, inside: bool = False, opens: bool = False, result: bool = False
) -> Callable[[Callable[[Any, Match], Found]], Any]:
    """Declares that a method of a `LinesParser` reads the lines of a pattern; of several the first in order takes it.

    Args:
        pattern: Anywhere in the line, unless it begins with ``^``.
        signs: Texts of which the line has one, to save trying.
        inside: Only in a block that is open.
        opens: The line opens a block: all lines up to its end are handed over.
        result: A line with a sign that matches only in part is noted, with the part that is as expected.
    """
    compiled = re.compile(pattern)
    find = compiled.match if pattern.removeprefix("(?i)")[0] == "^" else compiled.search

    def mark(method: Callable[[Any, Match], Found]) -> Any:
        kinds = [_Kind(find, compiled, signs, inside, opens, result, method), *getattr(method, "kinds", ())]
        method.kinds = kinds  # type: ignore[attr-defined]
        return method

    return mark


def notes(
    pattern: str, *signs: str, to: Callable[[str], Any] | None = None, new: bool = False, **how: bool
) -> Callable[[Any, Match], None]:
    """Declares lines whose named groups are conditions of the figures that follow.

    Args:
        pattern: See `reads`, also for ``signs`` and ``how``.
        signs: Texts of which the line has one.
        to: What makes a condition of the text; a whole number becomes one by default.
        new: Nothing of what was known before is kept.
        how: As of `reads`.
    """

    @reads(pattern, *signs, **how)
    def note(parser: LinesParser, found: Match) -> None:
        pairs = {key: text for key, text in found.groupdict().items() if text is not None}
        said = {key: to(text) if to else int(text) if text.isdigit() else text for key, text in pairs.items()}
        parser.version = str(said.pop("version", parser.version or "")) or None
        parser.known = said if new else parser.known | said

    return note  # type: ignore[no-any-return]  # what reads marks


class LinesParser(LineParser):
    """Lines that are declared with `reads`; a block that one of them opened is over after ``longest`` further lines."""

    longest: ClassVar[int] = 0
    kinds: ClassVar[tuple[_Kind, ...]] = ()

    def __init_subclass__(cls, of: type[Parser] | None = None) -> None:
        super().__init_subclass__(of)
        own = [kind for method in vars(cls).values() for kind in getattr(method, "kinds", ())]
        cls.kinds = (*own, *cls.kinds)

    def forget(self) -> None:
        """No block is open."""
        self.open, self.lines = False, 0
        self.known: Conditions = {}

    def feed(self, text: str) -> Iterable[Record]:
        """One line."""
        self.lines += 1
        if self.open and 0 < self.longest < self.lines:
            self.open = False
        missed = None
        for find, pattern, signs, inside, opens, result, method in self.kinds:
            if inside and not self.open:
                continue
            for sign in signs:  # any() takes twice the time
                if sign in text:
                    break
            else:
                if signs:
                    continue
            if (match := find(text)) is not None:
                if opens:
                    self.open, self.lines = True, 0
                return listed(method(self, match))
            if result and missed is None:
                missed = near(pattern.pattern, text)
        return listed(self.other(text)) if missed is None else (self.unread(text, missed),)

    def other(self, text: str) -> Found:  # noqa: ARG002 (for subclasses)
        """A line of no kind."""
        return None


def listed(found: Found) -> Iterable[Record]:
    """What a method gave as records."""
    return () if found is None else (found,) if isinstance(found, Measurement | Unread) else found


class Column(NamedTuple):
    """What the figures under one heading are."""

    quantity: str
    unit: str  # of SI
    times: float  # factor of the printed figure
    over: float  # divisor of it
    shown: str  # how the figure is quoted, from its ``cell`` and ``head``
    known: Conditions  # that the heading says


def declared(text: str) -> dict[str, Column]:
    """Columns from lines ``headings : quantity unit-word condition=value ...``; ``~`` is a blank in a word."""
    found: dict[str, Column] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        heads, _, what = line.partition(" : ")
        quantity, word, *conditions = what.split()
        known: Conditions = dict(pair.replace("~", " ").split("=") for pair in conditions)
        found |= {head.replace("~", " "): Column(quantity, *_WORDS[word], known) for head in heads.split()}
    return found


def cell(text: str) -> tuple[float, str] | None:
    """A cell as (number, suffix); None for ``-`` and words."""
    if (match := _SUFFIX.match(text)) is None:
        return None
    try:
        return float(match["n"].replace(",", ".")), match["s"]
    except ValueError:
        return None


def figures(
    parser: LineParser | DocumentParser,
    columns: Mapping[str, Column],
    pairs: Iterable[tuple[str, Any]],
    more: Conditions,
    *,
    read: Callable[[Any], tuple[float, str] | None] = cell,
    line: int | None = None,
) -> Iterator[Record]:
    """The figure of every (heading, cell) whose heading is declared.

    Args:
        parser: Who reads.
        columns: What the headings mean.
        pairs: Headings with their cells.
        more: Conditions of the row; they go before those of a heading.
        read: A cell as (number, suffix); the letter of a suffix replaces a rate's factor (``--human``).
        line: Line of the row, where it is not the present one.
    """
    for head, printed in pairs:
        column = columns.get(head)
        found = None if column is None else read(printed)
        if column is None or found is None:
            continue
        value, suffix = found
        times = column.times
        if suffix and column.unit == "B/s":
            if suffix == "%":
                continue
            times = BINARY.get(suffix, 1.0)
        if column.quantity == "cpu_share" and value > _MOST_PERCENT:
            continue
        text = column.shown.format(cell=printed, head=head)
        known = {**column.known, **more}
        yield parser.record(column.quantity, value * times / column.over, column.unit, text, known, line=line)


def tokens(text: str) -> list[tuple[str, int, int]]:
    """The words of a line with where they start and end."""
    return [(m[0], m.start(), m.end()) for m in _TOKEN.finditer(text.expandtabs())]


def by_right_edge(cells: list[tuple[str, int, int]], edges: list[int], slack: int = 3) -> list[int] | None:
    """Column of each right-aligned cell: the nearest right edge, ascending; None when cells do not fit the columns.

    Args:
        cells: (text, start, end) of each cell.
        edges: Right edges of the column headings, ascending.
        slack: How far an edge may be off (wide figures shift what follows).
    """
    found: list[int] = []
    for _, _, end in cells:
        column = min(range(len(edges)), key=lambda i: abs(edges[i] - end))
        if abs(edges[column] - end) > slack or (found and column <= found[-1]):
            return None
        found.append(column)
    return found


class Line(NamedTuple):
    """A kind of line that a tool prints: text without which it is not tried, and its pattern."""

    sign: str
    pattern: re.Pattern[str]

    def beginnings(self) -> Iterable[re.Pattern[str]]:
        """The pattern cut off before each piece; see `beginnings`."""
        return beginnings(self.pattern.pattern)

    def last(self, text: str) -> re.Match[str] | None:
        """The last of what may be several joined drawings of the line."""
        found = None
        if self.sign in text:
            for found in self.pattern.finditer(text):  # noqa: B007 (the last one is wanted)
                pass
        return found


def declare(sign: str, pattern: str) -> Line:
    """A kind of line; see `Line`."""
    return Line(sign, re.compile(pattern))


@lru_cache(maxsize=64)
def beginnings(pattern: str) -> tuple[re.Pattern[str], ...]:
    """A pattern cut off before each of its pieces that follow two named groups, the longest first."""
    cuts, depth, groups = [], 0, 0
    for piece in _PIECE.finditer(pattern):
        if depth == 0 and groups >= _NEAR and piece[0][0] not in "?*+{":
            cuts.append(piece.start())
        groups += depth == 0 and pattern.startswith("(?P<", piece.start())
        depth += {"(": 1, ")": -1}.get(piece[0], 0)
    return tuple(re.compile(pattern[:cut]) for cut in reversed(cuts))


def near(pattern: str, text: str) -> str | None:
    """Up to where a line is as declared; None for one that is something else."""
    match = next((match for part in beginnings(pattern) if (match := part.search(text)) is not None), None)
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
            why = near(self.line.pattern.pattern, text)
            return () if why is None else (self.unread(text, why),)
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
        pairs = (("got", "gu"), ("of", "ou"), ("rate", "ru"))
        moved, total, rate = (float(found[figure]) * self.units[found[unit]] for figure, unit in pairs)
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
        if held is not None:
            more = {**held.known, "bytes": held.moved, "duration_s": held.moved / held.rate if held.rate > 0 else None}
            yield self.rate(held.rate if held.moved > 0 else 0.0, held.printed, more, held.line, status=held.status)
