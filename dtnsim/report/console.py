"""Where text goes: rich on a terminal; in a pipe plain whole lines that grep finds, without loading rich."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TextIO

from dtnsim.ground.errors import visible

if TYPE_CHECKING:
    from rich.text import Text

#: what bars are drawn with; '#' and '.' where a stream's encoding lacks it
BARS = "█·"
#: the only mark that texts have; what is not one is literal, with a backslash before it where it looks like one
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
        from dtnsim.report.layout import arranged

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
        from rich.text import Text

        screen = Console(file=self._stream, highlight=False)
        if not isinstance(item, Rows):
            screen.print(styled(item))
            return
        bold = 1 + (item.title is not None)
        for number, line in enumerate(item.fitted(screen.width)):
            screen.print(Text(line, "bold" if number < bold else ""), soft_wrap=True)


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


def table(*columns: tuple[str, str], title: str | None = None) -> Rows:
    """A table; columns are (heading, justification)."""
    return Rows(columns, title)
