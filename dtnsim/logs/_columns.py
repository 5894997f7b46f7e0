"""Tables whose blank cells are recognised only by position."""

from __future__ import annotations

import re
from typing import Final

_TOKEN: Final = re.compile(r"\S+")


def tokens(text: str) -> list[tuple[str, int, int]]:
    """The words of a line with where they start and end."""
    return [(m[0], m.start(), m.end()) for m in _TOKEN.finditer(text.expandtabs())]


def by_right_edge(cells: list[tuple[str, int, int]], edges: list[int], slack: int = 3) -> list[int] | None:
    """Column of each right-aligned cell: the nearest right edge, in order.

    Args:
        cells: (text, start, end) of each cell.
        edges: Right edges of the column headings, ascending.
        slack: How far an edge may be off (wide figures shift what follows).

    Returns:
        Column index per cell, strictly ascending; None when the cells do not fit the columns.
    """
    found: list[int] = []
    for _, _, end in cells:
        column = min(range(len(edges)), key=lambda i: abs(edges[i] - end))
        if abs(edges[column] - end) > slack or (found and column <= found[-1]):
            return None
        found.append(column)
    return found


def percent(text: str) -> float:
    """``81.96`` or ``81,96 %`` as a fraction."""
    return float(text.strip(" %").replace(",", ".")) / 100.0
