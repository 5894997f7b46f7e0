"""Tables in the width of a terminal: names stay whole, bars shrink, long texts go below their row."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Final

#: blanks between columns; indent of what lies below a row
GAP: Final = 2
#: least width in which a column of text is folded beside the others, and least length of a bar
TEXT: Final = 36
BAR: Final = 6

Lines = list[tuple[str, ...]]


def arranged(headings: Sequence[tuple[str, str]], rows: Lines, width: int, bars: str) -> list[str]:
    """Lines of a table, the first one its headings, none wider than ``width`` where words allow it.

    Args:
        headings: (heading, ``left`` or ``right``) of each column.
        rows: Cells, without marks.
        width: Width of the terminal.
        bars: Characters that bars are drawn with.
    """
    head = tuple(h for h, _ in headings)
    rows = _shorter_bars(head, rows, width, bars)
    natural = _natural(head, rows)
    shown = list(range(len(head)))
    while len(shown) > 1 and _total(natural, shown) > width:
        if _folds(headings, natural, shown, width):
            break
        shown.pop()
    below = [c for c in range(len(head)) if c not in shown]
    room = width - _total(natural, shown[:-1]) - GAP if _total(natural, shown) > width else 0
    lines = []
    for number, row in enumerate([head, *rows]):
        cells = [_fit(row[c], natural[c], headings[c][1]) for c in shown]
        first, more = "  ".join(cells).rstrip(), []
        if room and len(shown) > 1:
            folded = textwrap.wrap(row[shown[-1]], room) or [""]
            indent = " " * (_total(natural, shown[:-1]) + GAP)
            first = "  ".join([*cells[:-1], folded[0]]).rstrip()
            more = [indent + line for line in folded[1:]]
        lines += [first, *more]
        if number and below:
            lines += _below(head, row, [(c, natural[c] > TEXT) for c in below], natural[0], width)
    return lines


def _natural(head: tuple[str, ...], rows: Lines) -> list[int]:
    return [max(len(row[c]) for row in [head, *rows]) for c in range(len(head))]


def _total(natural: list[int], columns: Sequence[int]) -> int:
    return sum(natural[c] for c in columns) + GAP * max(len(columns) - 1, 0)


def _folds(headings: Sequence[tuple[str, str]], natural: list[int], shown: list[int], width: int) -> bool:
    """Whether the last column is text that may be folded beside the others."""
    left = width - _total(natural, shown[:-1]) - GAP
    return headings[shown[-1]][1] == "left" and natural[shown[-1]] > TEXT <= left


def _shorter_bars(head: tuple[str, ...], rows: Lines, width: int, bars: str) -> Lines:
    natural = _natural(head, rows)
    over = _total(natural, range(len(head))) - width
    for column in range(len(head)):
        cells = [row[column] for row in rows]
        if over > 0 and cells and all(cell and not cell.strip(bars) for cell in cells):
            length = max(BAR, natural[column] - over, len(head[column]))
            made = [_bar(cell, length, bars) for cell in cells]
            rows = [(*row[:column], bar, *row[column + 1 :]) for row, bar in zip(rows, made, strict=True)]
    return rows


def _bar(cell: str, length: int, bars: str) -> str:
    full = round(cell.count(bars[0]) / len(cell) * length)
    return bars[0] * full + bars[1] * (length - full)


def _below(
    head: tuple[str, ...], row: tuple[str, ...], columns: list[tuple[int, bool]], first: int, width: int
) -> list[str]:
    """What found no room beside: cells of short columns with their headings, those of long ones as they are."""
    short = ", ".join(f"{head[c]} {row[c]}".strip() for c, is_long in columns if row[c] and not is_long)
    long = [row[c] for c, is_long in columns if is_long]
    indent = " " * (first + GAP if first < BAR else 2 * GAP)
    parts = [p for p in (short, *long) if p]
    return [
        line for part in parts for line in textwrap.wrap(part, width, initial_indent=indent, subsequent_indent=indent)
    ]


def _fit(cell: str, width: int, justify: str) -> str:
    return cell.rjust(width) if justify == "right" else cell.ljust(width)
