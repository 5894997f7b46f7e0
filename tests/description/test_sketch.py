"""A path file from a line of text: what is understood, what is guessed and says so, what is not."""

from pathlib import Path

import pytest

import dtnsim
from dtnsim.description.sketch import Sketch
from dtnsim.ground.errors import SpecError
from tests.each import tables

#: a text, and lines that the file has
TEXTS: tuple[tuple[str, tuple[str, ...]], ...] = tables("description/tables")["sketches"]


@pytest.mark.parametrize(("text", "lines"), TEXTS)
def test_what_a_line_says_is_in_the_file_and_the_file_is_answered(
    text: str, lines: tuple[str, ...], tmp_path: Path
) -> None:
    made = Sketch(text)
    written = made.written()
    assert [line for line in lines if line not in written] == []
    assert made.unread == []
    file = tmp_path / "path.yaml"
    file.write_text(written)
    answer = dtnsim.predict(file, samples=60).throughput_Bps
    assert 0 < answer.p10 < answer.p90


@pytest.mark.parametrize("left", ["frobnicator", "cp"])
def test_what_is_not_understood_or_copies_within_a_host_is_said_and_left_out(left: str, tmp_path: Path) -> None:
    made = Sketch(f"R740 with {left} -> nas, 3 ms")
    assert made.unread == [left]
    assert f"# not understood, and not in the file: {left}" in made.written()
    (tmp_path / "path.yaml").write_text(made.written())
    assert dtnsim.predict(tmp_path / "path.yaml", samples=0).ceiling > 0


@pytest.mark.parametrize("text", ["", "R740, 25 ms", "a ->", "a -> b -> c"])
def test_two_ends_are_needed(text: str) -> None:
    with pytest.raises(SpecError, match=r"needs two ends.*R740"):
        Sketch(text)
