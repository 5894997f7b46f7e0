"""Where text goes: plain aligned lines in a pipe, rich on a terminal."""

from __future__ import annotations

import io

import pytest

from dtnsim.report.console import Out, Rows, table, unmarked


class Terminal(io.StringIO):
    """A stream that says that somebody looks at it."""

    def isatty(self) -> bool:
        return True


def rows(title: str | None = None) -> Rows:
    made = table(("station", "left"), ("used", "right"), title=title)
    made.add_row("a.cpu\\[t]", "99.9%")
    made.add_row("b", "1%")
    return made


def test_columns_line_up_and_lines_end_where_their_text_does() -> None:
    assert rows().plain().splitlines() == ["station    used", "a.cpu[t]  99.9%", "b            1%"]
    assert rows("title").plain().startswith("title\n")


def test_no_line_is_wrapped_however_long() -> None:
    made = table(("because", "left"))
    made.add_row("x" * 5000)
    stream = io.StringIO()
    Out(stream).print(made)
    assert len(stream.getvalue().splitlines()) == 2


MARKS = [("[bold]name[/bold]", "name"), ("a\\[t]", "a[t]"), ("no marks", "no marks")]


@pytest.mark.parametrize(("text", "plain"), MARKS)
def test_marks_are_for_terminals(text: str, plain: str) -> None:
    assert unmarked(text) == plain
    stream = io.StringIO()
    Out(stream).print(text)
    assert stream.getvalue() == plain + "\n"


def test_a_terminal_gets_the_same_words() -> None:
    stream = Terminal()
    out = Out(stream)
    out.print("[bold]name[/bold]")
    out.print(rows("title"))
    shown = stream.getvalue()
    assert "[bold]" not in shown
    for word in ("name", "title", "a.cpu[t]", "99.9%"):
        assert word in shown
