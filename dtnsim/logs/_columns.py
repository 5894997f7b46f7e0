"""Tables: what stands under a heading or beside a key, in text or JSON; blank cells that only position tells."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any, Final, NamedTuple

from dtnsim.logs._commands import table
from dtnsim.logs._numbers import BINARY, number, scale_of
from dtnsim.logs.base import Conditions, Parser, Record

_TOKEN: Final = re.compile(r"\S+")
_SUFFIX: Final = re.compile(r"^(?P<n>\d[\d.,]*)(?P<s>[BkKMGTP%]?)$")
_MOST_PERCENT: Final = 100.5
_SLACK: Final = 3  #: how far an edge may be off [characters]


class Column(NamedTuple):
    """What the figures under one heading are."""

    quantity: str
    times: float  # factor of the printed figure
    over: float  # divisor of it
    shown: str  # how the figure is quoted, from its ``cell`` and ``head``
    known: Conditions  # that the heading says
    above: bool  # only where it is above zero


@lru_cache(maxsize=64)
def columns(name: str) -> dict[str, Column]:
    """What the headings and keys of a table of ``tables.yaml`` mean.

    Its lines are ``headings : quantity unit-word condition=value ...``; ``~`` is a blank in a word.
    """
    by_heading: dict[str, Column] = {}
    for line in table("columns", name).splitlines():
        heads, _, meaning = line.partition(" : ")
        quantity, word, *conditions = meaning.split()
        extra: Conditions = dict(pair.replace("~", " ").split("=") for pair in conditions)
        _, times, over = scale_of(word)
        behind = " {head}" if word.endswith(("/s", "times")) else f" {word}" if word in ("%", "ms") else ""
        column = Column(quantity.rstrip("?"), times, over, f"{{cell}}{behind}", extra, quantity.endswith("?"))
        by_heading |= {head.replace("~", " "): column for head in heads.split()}
    return by_heading


def cell(text: str) -> tuple[float, str] | None:
    """A cell as (number, suffix); None for ``-`` and words."""
    if (match := _SUFFIX.match(text)) is None:
        return None
    try:
        return float(match["n"].replace(",", ".")), match["s"]
    except ValueError:
        return None


def plain(value: object) -> tuple[float, str] | None:
    """A JSON value as a cell."""
    parsed = number(value)
    return None if parsed is None else (parsed, "")


def figures(
    parser: Parser,
    table: str,
    pairs: Iterable[tuple[str, Any]],
    more: Conditions,
    *,
    read: Callable[[Any], tuple[float, str] | None] = cell,
    line: int | None = None,
) -> Iterator[Record]:
    """The figure of every (heading, cell) whose heading is declared.

    Args:
        table: Name of the table that says what the headings mean.
        pairs: Headings with their cells.
        more: Conditions of the row; they go before those of a heading.
        read: A cell as (number, suffix), of documents `plain`; the letter of a suffix replaces a rate's factor
            (``--human``).
    """
    meant = columns(table)
    for head, printed in pairs:
        if (column := meant.get(head)) is None or (parsed := read(printed)) is None:
            continue
        value, suffix = parsed
        times = column.times
        if suffix and column.quantity == "throughput":
            if suffix == "%":
                continue
            times = BINARY.get(suffix, 1.0)
        if (column.quantity == "cpu_share" and value > _MOST_PERCENT) or (column.above and value <= 0):
            continue
        text = column.shown.format(cell=printed, head=head)
        yield parser.measure(column.quantity, value * times / column.over, text, {**column.known, **more}, line=line)


def tokens(text: str) -> list[tuple[str, int, int]]:
    """The words of a line with where they start and end."""
    return [(m[0], m.start(), m.end()) for m in _TOKEN.finditer(text.expandtabs())]


def by_right_edge(cells: list[tuple[str, int, int]], edges: list[int]) -> list[int] | None:
    """Column of each right-aligned (cell, start, end): the nearest of the headings' ascending right edges.

    Wide figures shift what follows a little; None when cells do not fit the columns.
    """
    indices: list[int] = []
    for _, _, end in cells:
        column = min(range(len(edges)), key=lambda i: abs(edges[i] - end))
        if abs(edges[column] - end) > _SLACK or (indices and column <= indices[-1]):
            return None
        indices.append(column)
    return indices
