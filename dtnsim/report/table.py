"""A table of plain text: columns side by side in a pipe, fitted to a terminal, HTML on a page.

Text goes by rich on a terminal; in a pipe as plain whole lines that grep finds, without loading rich.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, TextIO

from dtnsim.ground.errors import visible

if TYPE_CHECKING:
    from rich.text import Text

BARS: Final = "█·"  #: what bars are drawn with; '#' and '.' where a stream's encoding lacks it
_GAP: Final = 2  #: blanks between columns; indent of what lies below a row
#: least width in which a column of text is folded beside the others, and least length of a bar
_TEXT: Final = 36
BAR: Final = 6
ROWS: Final = 400  #: rows of a table that a page shows; the rest is in the JSON document

Line = tuple[str, ...]


class Table:
    """Rows of text under their headings; a column whose heading begins with ``>`` is set to the right."""

    def __init__(self, *head: str, rows: Iterable[Sequence[str]] = (), title: str = "") -> None:
        self.head = tuple(h.removeprefix(">") for h in head)
        self.rows: list[Line] = [tuple(row) for row in rows]
        self.title = title
        self._right = [h.startswith(">") for h in head]

    def add_row(self, *cells: str) -> None:
        """Adds a line of the table."""
        self.rows.append(cells)

    def columns(self, *numbers: int) -> Table:
        """Some of its columns."""
        head = ((">" if self._right[n] else "") + self.head[n] for n in numbers)
        return Table(*head, rows=[[row[n] for n in numbers] for row in self.rows], title=self.title)

    def _lines(self) -> list[Line]:
        """The headings, and the rows as a terminal may have them."""
        return [self.head, *(tuple(map(visible, row)) for row in self.rows)]

    def _set(self, cell: str, width: int, column: int) -> str:
        return cell.rjust(width) if self._right[column] else cell.ljust(width)

    def plain(self) -> str:
        """Columns side by side, no line ever wrapped."""
        lines = self._lines()
        widths = _widths(lines)
        shown = ["  ".join(map(self._set, line, widths, range(len(widths)))).rstrip() for line in lines]
        return "\n".join([self.title, *shown] if self.title else shown)

    def fitted(self, width: int) -> list[str]:
        """Lines for a terminal, the title and the headings first, none wider than ``width`` where words allow it."""
        lines = _shorter_bars(self._lines(), width)
        natural = _widths(lines)
        beside = list(range(len(self.head)))
        while len(beside) > 1 and _total(natural, beside) > width:
            left = width - _total(natural, beside[:-1]) - _GAP
            word = max((len(word) for line in lines for word in line[beside[-1]].split()), default=0)
            # text that may be folded there, between its words
            if not self._right[beside[-1]] and natural[beside[-1]] > _TEXT <= left >= word:
                break
            beside.pop()
        indent = _total(natural, beside[:-1]) + _GAP
        room = width - indent if len(beside) > 1 and _total(natural, beside) > width else 0
        shown = [self.title] if self.title else []
        for number, line in enumerate(lines):
            cells = [self._set(line[c], natural[c], c) for c in beside]
            folded = (textwrap.wrap(line[beside[-1]], room) or [""]) if room else [cells[-1]]
            shown.append("  ".join([*cells[:-1], folded[0]]).rstrip())
            shown += [" " * indent + more for more in folded[1:]]
            if number:
                shown += self._below(line, range(len(beside), len(self.head)), natural, width)
        return shown

    def _below(self, line: Line, columns: Iterable[int], natural: Sequence[int], width: int) -> list[str]:
        """What found no room beside: cells of short columns with their headings, those of long ones as they are."""
        filled = [c for c in columns if line[c]]
        short = ", ".join(f"{self.head[c]} {line[c]}".strip() for c in filled if natural[c] <= _TEXT)
        parts = [*([short] if short else []), *(line[c] for c in filled if natural[c] > _TEXT)]
        indent = " " * (natural[0] + _GAP if natural[0] < BAR else 2 * _GAP)
        folds = textwrap.TextWrapper(width, initial_indent=indent, subsequent_indent=indent)
        return [folded for part in parts for folded in folds.wrap(part)]

    def html(self, caption: str) -> str:
        """As HTML that scrolls by itself where it is wider than the page; columns without any text are left out."""
        from html import escape  # and its table of entities, which text does not need

        filled = [n for n in range(len(self.head)) if any(row[n] for row in self.rows) or not self.rows]
        kinds = {n: ' class="n"' if self._right[n] else "" for n in filled}
        head = "".join(f'<th scope="col"{kinds[n]}>{escape(self.head[n])}</th>' for n in filled)
        cells = ("".join(f"<td{kinds[n]}>{escape(row[n])}</td>" for n in filled) for row in self.rows[:ROWS])
        body = "".join(f"<tr>{row}</tr>" for row in cells)
        more = f"<p>{len(self.rows) - ROWS:,} more rows are not shown.</p>" if len(self.rows) > ROWS else ""
        return (
            f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}"><table>'
            f"<caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{more}"
        )


def bar(share: float, length: int = 24) -> str:
    """A bar for a utilisation."""
    full = round(min(max(share, 0.0), 1.0) * length)
    return BARS[0] * full + BARS[1] * (length - full)


def _widths(lines: Sequence[Line]) -> list[int]:
    return [max(map(len, column)) for column in zip(*lines, strict=True)]


def _total(widths: Sequence[int], columns: Sequence[int]) -> int:
    return sum(widths[c] for c in columns) + _GAP * max(len(columns) - 1, 0)


def _shorter_bars(lines: list[Line], width: int) -> list[Line]:
    """Lines whose columns of bars are as short as the terminal wants them."""
    head, *rows = lines
    natural = _widths(lines)
    over = _total(natural, range(len(head))) - width
    for column in range(len(head)):
        cells = [row[column] for row in rows]
        if over > 0 and cells and all(cell and not cell.strip(BARS) for cell in cells):
            length = max(BAR, natural[column] - over, len(head[column]))
            shortened = (bar(cell.count(BARS[0]) / len(cell), length) for cell in cells)
            rows = [(*row[:column], short, *row[column + 1 :]) for row, short in zip(rows, shortened, strict=True)]
    return [head, *rows]


#: what a line begins with that is seen first, and a bar by how full it is; in colour on a terminal, as a page has it
_LABELS: Final = {r"^(.+: )?bottleneck(?=  )|^held by(?=  )|^missed:|does NOT \w+": "bold red", r"^warning:": "yellow",
                  r"^met:|^do this(?=  )|^to speed up(?=  )": "bold green", r"^(.+: )?try(?=  )": "green"}  # fmt: skip
_FULL: Final = ((0.995, "red"), (0.75, "yellow"), (0.0, "green"))


class Out:
    """A stream that tables and texts are printed to: nothing in them is a mark, nothing a terminal would obey."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.is_terminal = stream.isatty()
        self._plain = {} if self.draws(BARS) else dict(zip(map(ord, BARS), "#.", strict=True))

    def draws(self, text: str) -> bool:
        """Whether its encoding has some characters."""
        try:
            text.encode(getattr(self._stream, "encoding", None) or "utf-8")
        except (UnicodeEncodeError, LookupError):
            return False
        return True

    def print(self, item: str | Table = "", *, title: str = "", apart: bool = False, most: int = 0) -> None:
        """Prints a line of text or a table.

        Args:
            item: The line or the table.
            title: What the line begins with, in bold.
            apart: Whether an empty line stands before it.
            most: Width that a table is folded to in a pipe as well; 0 leaves each row there a line, however long.
        """
        if apart:
            self._stream.write("\n")
        if not self.is_terminal:
            if isinstance(item, Table):
                text = "\n".join(item.fitted(most)) if most else item.plain()
            else:
                text = visible(title + item)
            self._stream.write(text.translate(self._plain) + "\n")
            return
        from rich.console import Console

        screen = Console(file=self._stream, highlight=False)
        if not isinstance(item, Table):
            screen.print(_line(visible(title), visible(item)))
            return
        bold = 1 + bool(item.title)
        for number, line in enumerate(item.fitted(screen.width)):
            screen.print(_row(line, number < bold), soft_wrap=True)

    def warn(self, warnings: Iterable[str]) -> None:
        """Prints warnings, a line each."""
        for warning in warnings:
            self.print(f"warning: {warning}")


def _line(title: str, text: str) -> Text:
    """A line for a terminal, what is seen first in colour."""
    from rich.text import Text

    styled = Text.assemble((title, "bold"), text)
    for label, style in _LABELS.items():
        styled.highlight_regex(label, style)
    return styled


def _row(line: str, bold: bool) -> Text:  # noqa: FBT001 - headings are
    """A line of a table for a terminal; its bars in the colour of how full they are."""
    from rich.text import Text

    styled = Text(line, "bold" if bold else "")
    for match in re.finditer(f"[{BARS}]{{{BAR},}}", line):
        share = match[0].count(BARS[0]) / len(match[0])
        styled.stylize(next(style for least, style in _FULL if share >= least), *match.span())
    return styled


def console() -> Out:
    """Standard output."""
    return Out(sys.stdout)
