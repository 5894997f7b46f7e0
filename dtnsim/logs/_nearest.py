"""Which tool's line a line that nobody could read comes nearest to, and up to where it is as that tool prints it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from types import FunctionType
from typing import Final, NamedTuple

from dtnsim.logs._catalogue import Shapes, catalogue
from dtnsim.logs._commands import clean, decode, without_codes, without_prefix
from dtnsim.logs._declared import Line, LinesParser, beginnings, compiled
from dtnsim.logs._source import logs
from dtnsim.logs.base import LineParser

#: lines that are compared, and their length
_LINES: Final = 2000
_LONGEST: Final = 500
#: characters of a line, blanks left out, and letters of a pattern, below which they have nothing in common
_LEAST: Final = 8
_LETTERS: Final = 4


class Nearest(NamedTuple):
    """A line that is as a tool prints it up to some place."""

    tool: str
    line: int
    text: str  # up to there
    rest: str  # from there on

    def __str__(self) -> str:
        """``hdparm comes nearest: the line is as it prints it up to 'Timing cached reads: 5 MB in', not ' ages'``."""
        return f"{self.tool} comes nearest: the line is as it prints it up to {self.text!r}, not {self.rest[:40]!r}"


def nearest(source: str | Path) -> Nearest | None:
    """The line of a file that agrees longest with what a tool prints; None where none agrees.

    Raises:
        LogError: as of `dtnsim.logs.iter_log`.
    """
    best, shapes, parsers = None, Shapes(catalogue()), catalogue().lines
    for number, raw in _lines(source):
        text = clean(without_prefix(decode(raw)))[:_LONGEST]
        for at in shapes[raw.translate(None, b"0123456789.")].parsers:
            patterns = _patterns(parsers[at])
            if any(pattern.search(text) for pattern in patterns):
                continue  # a line that is read, of which no figure came
            agreed = max((_agreed(pattern.pattern, text) for pattern in patterns), key=_size, default="")
            if _size(agreed) >= max(_LEAST, 0 if best is None else _size(best.text) + 1):
                best = Nearest(parsers[at].tool, number, agreed, text[text.index(agreed) + len(agreed) :])
    return best


def _size(text: str) -> int:
    return len("".join(text.split()))


def _lines(source: str | Path) -> Iterator[tuple[int, bytes]]:
    """The first lines of a log (of an archive those of its first member)."""
    for _, blocks in logs(source, str(source)):
        for block in blocks:
            yield from enumerate(without_codes(block).split(b"\n")[:_LINES], 1)
            return


@lru_cache(maxsize=128)
def _patterns(parser: type[LineParser]) -> tuple[re.Pattern[str], ...]:
    """The patterns of a parser's lines: those that are declared, and those of its module that its methods name."""
    kinds = [kind.pattern for kind in parser.kinds] if issubclass(parser, LinesParser) else []
    methods = (found for found in vars(parser).values() if isinstance(found, FunctionType))
    names = dict.fromkeys(name for method in methods for name in method.__code__.co_names)
    known = (getattr(sys.modules[parser.__module__], name, None) for name in names)
    named = [found.pattern if isinstance(found, Line) else found for found in (*known, getattr(parser, "line", None))]
    lines = (found for found in named if isinstance(found, re.Pattern) and len(found.groupindex) > 1)
    return (*kinds, *lines)


def _agreed(pattern: str, text: str) -> str:
    """The longest part of a line that a beginning of the pattern matches."""
    parts = [part for part in beginnings(pattern, 0) if sum(map(str.isalpha, part)) >= _LETTERS]
    low, high, agreed = 0, len(parts), ""
    while low < high:  # the longest comes first; what a beginning matches, a shorter one matches, too
        middle = (low + high) // 2
        if (match := compiled(parts[middle]).search(text)) is None:
            low = middle + 1
        else:
            high, agreed = middle, match[0]
    return agreed
