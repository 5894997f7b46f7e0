"""Where text goes: rich on a terminal; in a pipe plain whole lines that grep finds, without loading rich."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Final, TextIO

from dtnsim.ground.errors import visible
from dtnsim.report.table import BAR, BARS, Table

if TYPE_CHECKING:
    from rich.text import Text

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
