"""Where text goes: rich on a terminal; in a pipe plain whole lines that grep finds, without loading rich."""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TextIO

from dtnsim.ground.errors import visible

if TYPE_CHECKING:
    from rich.text import Text

#: what bars are drawn with; '#' and '.' where a stream's encoding lacks it
BARS = "█·"
#: the only mark that texts have; what is not one is literal, with a backslash before it where it looks like one
#: what a line begins with that is seen first, and a bar by how full it is; in colour on a terminal, as a page has it
_LABELS: Final = {r"^(.+: )?bottleneck(?=  )|^held by(?=  )|^missed:|does NOT \w+": "bold red", r"^warning:": "yellow",
                  r"^met:|^do this(?=  )|^to speed up(?=  )": "bold green", r"^(.+: )?try(?=  )": "green"}  # fmt: skip
_FULL: Final = ((0.995, "red"), (0.75, "yellow"), (0.0, "green"))
_MARK: Final = re.compile(r"\\([\\\[])|\[(/?)bold\]")


@dataclass(slots=True)
class Rows:
    """A table without ornament.

    Attributes:
        columns: (heading, justification: ``left`` or ``right``) of each column.
        title: Printed above.
        rows: The cells.
    """

    columns: tuple[tuple[str, str], ...]
    title: str | None = None
    rows: list[tuple[str, ...]] = field(default_factory=list)

    def add_row(self, *cells: str) -> None:
        """Adds a line of the table."""
        self.rows.append(cells)

    def plain(self) -> str:
        """Columns side by side, no line ever wrapped."""
        lines = [tuple(h for h, _ in self.columns), *(tuple(map(_cell, r)) for r in self.rows)]
        width = [max(len(line[c]) for line in lines) for c in range(len(self.columns))]
        right = [justify == "right" for _, justify in self.columns]
        shown = ["  ".join(_fit(*cell) for cell in zip(line, width, right, strict=True)).rstrip() for line in lines]
        return "\n".join([self.title, *shown] if self.title else shown)

    def fitted(self, width: int) -> list[str]:
        """Lines for a terminal of so many columns, the title and the headings first."""
        lines = arranged(self.columns, [tuple(map(_cell, row)) for row in self.rows], width, BARS)
        return [self.title, *lines] if self.title else lines


def _fit(cell: str, width: int, right: bool) -> str:  # noqa: FBT001 - one cell of a zip
    return cell.rjust(width) if right else cell.ljust(width)


def unmarked(text: str) -> str:
    """Text without marks."""
    return _MARK.sub(lambda found: found[1] or "", text)


def _cell(text: str) -> str:
    return visible(unmarked(text))


def styled(text: str) -> Text:
    """Text for a terminal: marks become styles, everything else is literal."""
    from rich.text import Text

    made, bold, at = Text(), False, 0
    for found in _MARK.finditer(text):
        made.append(_lines(text[at : found.start()] + (found[1] or "")), "bold" if bold else None)
        bold = bold if found[1] else not found[2]
        at = found.end()
    made.append(_lines(text[at:]), "bold" if bold else None)
    for label, style in _LABELS.items():
        made.highlight_regex(label, style)
    return made


def _row(line: str, bold: bool) -> Text:  # noqa: FBT001 - headings are
    """A line of a table for a terminal; its bars in the colour of how full they are."""
    from rich.text import Text

    made = Text(line, "bold" if bold else "")
    for found in re.finditer(f"[{BARS}]{{{BAR},}}", line):
        share = found[0].count(BARS[0]) / len(found[0])
        made.stylize(next(style for least, style in _FULL if share >= least), *found.span())
    return made


def _lines(text: str) -> str:
    """Lines of text, each without what a terminal would obey."""
    return "\n".join(map(visible, text.split("\n")))


class Out:
    """A stream that tables and texts are printed to."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.is_terminal = stream.isatty()
        self._plain = {} if _prints(stream, BARS) else dict(zip(map(ord, BARS), "#.", strict=True))

    def draws(self, character: str) -> bool:
        """Whether its encoding has a character."""
        return _prints(self._stream, character)

    def print(self, item: str | Rows = "") -> None:
        """Prints a line of text or a table."""
        if not self.is_terminal:
            text = item.plain() if isinstance(item, Rows) else _lines(unmarked(item))
            self._stream.write(text.translate(self._plain) + "\n")
            return
        from rich.console import Console

        screen = Console(file=self._stream, highlight=False)
        if not isinstance(item, Rows):
            screen.print(styled(item))
            return
        bold = 1 + (item.title is not None)
        for number, line in enumerate(item.fitted(screen.width)):
            screen.print(_row(line, number < bold), soft_wrap=True)


def _prints(stream: TextIO, text: str) -> bool:
    """Whether a stream's encoding has some characters."""
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def console(*, stderr: bool = False) -> Out:
    """Standard output, or standard error."""
    return Out(sys.stderr if stderr else sys.stdout)


def table(*headings: str, title: str | None = None) -> Rows:
    """A table; a column whose heading begins with ``>`` is set to the right."""
    return Rows(tuple((h.removeprefix(">"), "right" if h.startswith(">") else "left") for h in headings), title)


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
        cells = [_filled(row[c], natural[c], headings[c][1]) for c in shown]
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


def _filled(cell: str, width: int, justify: str) -> str:
    return cell.rjust(width) if justify == "right" else cell.ljust(width)
