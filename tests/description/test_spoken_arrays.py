"""Arrays as people say them in a line: number and level are read, and said; nothing with a number is one drive."""

from __future__ import annotations

from typing import Any

import pytest

from dtnsim.description.spoken_arrays import told
from tests.description.test_spoken import _array, path
from tests.each import rows


@pytest.mark.parametrize(("line", "said"), rows("description/spoken", "arrays in a line"))
def test_what_a_line_tells(line: str, said: list[str | None] | None) -> None:
    found = told(line)
    assert (None if found is None else list(found)) == said


@pytest.mark.parametrize(("words", "plain"), rows("description/spoken", "arrays of a volume"))
def test_arrays_in_a_line(words: str, plain: dict[str, Any]) -> None:
    """How many drives were read is said; none is one drive alone."""
    made = path({"volumes": {"/data": {"array": words}}})
    found, meant = made.hosts["a"].volumes["/data"].array, _array({"array": plain})
    assert (found.kind, found.level, found.disks, found.of.part) == (
        meant.kind,
        meant.level,
        meant.disks,
        meant.of.part,
    )
    assert any(
        f"{words!r} is taken as " in n and f" {plain['disks']!s} drives" in n.replace("8+2", "10") for n in made.notes
    )


def test_a_raid_of_which_the_number_is_not_said_is_no_single_drive() -> None:
    """Its number is drawn, and said to be; where the level is not said either, it is a RAID of such drives."""
    for words, part in (("RAID 6 SATA", "disk-raid"), ("SSD RAID", "ssd-raid"), ("RAID 5", "unknown")):
        made = path({"volumes": {"/data": {"array": words}}})
        assert made.hosts["a"].volumes["/data"].array.part == part
        assert any("/data.array" in note for note in made.notes)
