"""Arrays as people say them in a line: number and level are read, and said; nothing with a number is one drive."""

from __future__ import annotations

from typing import Any

import pytest

from dtnsim.description.spoken_arrays import told
from tests.description.test_spoken import _array, path


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("12-disk RAID6", ("RAID6", "12", "disk")),
        ("RAID 5 of 4 drives", ("RAID 5", "4", "unknown")),
        ("24 disks of 2 TB SAS", (None, "24", "disks 2 TB SAS")),
        ("860 EVO SSD", None),
        ("PCIe 3.0 x4 NVMe", None),
        ("SAS 10k 300 GB", None),
        ("10 TB drives", None),
        ("1 disk", None),
        ("SSD RAID", None),
    ],
)
def test_what_a_line_tells(line: str, said: tuple[str | None, str | None, str] | None) -> None:
    assert told(line) == said


@pytest.mark.parametrize(
    ("words", "plain"),
    [
        ("16 SATA disks", {"kind": "raid", "level": 0, "disks": 16, "of": "any-disk"}),
        ("RAID6 of 12 4TB disks", {"kind": "raid", "level": 6, "disks": 12, "of": "any-disk"}),
        ("md RAID 6, 12 disks", {"kind": "raid", "level": 6, "disks": 12, "of": "any-disk"}),
        ("RAID 0 of 8 SSD", {"kind": "raid", "level": 0, "disks": 8, "of": "any-ssd"}),
        ("2 x 4 TB RAID 1", {"kind": "raid", "level": 1, "disks": 2, "of": "any-disk"}),
        ("RAID 6 (8+2) SATA", {"kind": "raid", "level": 6, "disks": 10, "of": "any-disk"}),
        ("raidz2 of 11 x 4TB", {"kind": "raidz", "level": 2, "disks": 11, "of": "any-disk"}),
        ("two SSDs in RAID 0", {"kind": "raid", "level": 0, "disks": 2, "of": "any-ssd"}),
        ("24 x 10k SAS in RAID 10", {"kind": "raid", "level": 10, "disks": 24, "of": "any-disk"}),
        ("4 disks", {"kind": "raid", "level": 0, "disks": 4, "of": "any-disk"}),
    ],
)
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
