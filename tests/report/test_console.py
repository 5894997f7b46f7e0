"""Where text goes: plain aligned lines in a pipe, rich on a terminal."""

import io

import pytest

from dtnsim.report.table import Out, Table
from tests.conftest import Terminal


def rows(title: str = "") -> Table:
    made = Table("station", ">used", title=title)
    made.add_row("a.cpu[t]", "99.9%")
    made.add_row("b", "1%")
    return made


def test_columns_line_up_and_lines_end_where_their_text_does() -> None:
    assert rows().plain().splitlines() == ["station    used", "a.cpu[t]  99.9%", "b            1%"]
    assert rows("title").plain().startswith("title\n")


def test_no_line_is_wrapped_however_long() -> None:
    made = Table("because")
    made.add_row("x" * 5000)
    stream = io.StringIO()
    Out(stream).print(made)
    assert len(stream.getvalue().splitlines()) == 2


def test_words_that_would_break_in_their_column_stand_below_the_row() -> None:
    word = "traversal_bytes(mss_B=" + 20 * "8"
    wide = Table("station", "how", rows=[("a" * 40, f"{word} {word} {word}")])
    assert wide.fitted(200) == ["station".ljust(40) + "  how", "a" * 40 + f"  {word} {word} {word}"]
    assert all(line.count(word) == line.count("traversal") for line in wide.fitted(80))
    assert sum(line.count(word) for line in wide.fitted(80)) == 3


def test_nothing_in_a_text_is_a_mark_or_obeyed() -> None:
    stream = io.StringIO()
    Out(stream).print(" a\\[t] [bold]", title="na\x1bme")
    assert stream.getvalue() == "na\\x1bme a\\[t] [bold]\n"


def test_a_terminal_gets_the_same_words() -> None:
    stream = Terminal()
    out = Out(stream)
    out.print(title="name")
    out.print(rows("title"))
    shown = stream.getvalue()
    for word in ("name", "title", "a.cpu[t]", "99.9%"):
        assert word in shown


def test_what_binds_and_what_is_full_has_colour_on_a_terminal_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("NO_COLOR", raising=False)
    used = Table("station", "used")
    for name, full in (("a", 24), ("b", 20), ("c", 2)):
        used.add_row(name, "█" * full + "·" * (24 - full))
    shown = Terminal()
    for item in ("bottleneck    a is full", "missed: at least 1 Gb/s", used):
        Out(shown).print(item)
    head, missed, _, *rows_ = shown.getvalue().splitlines()
    assert "\x1b[1;31mbottleneck" in head
    assert "\x1b[1;31mmissed:" in missed
    assert ["\x1b[31m" in rows_[0], "\x1b[33m" in rows_[1], "\x1b[32m" in rows_[2]] == [True] * 3
    monkeypatch.setenv("NO_COLOR", "1")
    for stream in (Terminal(), io.StringIO()):
        Out(stream).print("bottleneck    a is full")
        Out(stream).print(used)
        assert "\x1b[3" not in stream.getvalue()
        assert "[1;31m" not in stream.getvalue()
