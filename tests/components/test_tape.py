"""A tape library behind a staging disk."""

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import dtnsim
from dtnsim.ground.errors import SpecError
from dtnsim.report.holds import holds
from tests.each import cases, rows, tables
from tests.lab import Sheet, all_tried, journey, machine, moves, problem, rate, sheet, volume, waiting
from tests.strategies import load

DISK = {"kind": "ssd", "read": "5 GB/s", "write": "5 GB/s", "link": "90 GB/s", "interference": "0"}
LTO = rows("components/tables", "tape")["LTO"]
MOUNT, LOCATE = 2 * 15 + 16 + 62 + 56, 45.0
FILES = {"files": 2000, "each": "5 GB"}


def path(*, write: bool = False, disk: dict[str, Any] = DISK, data: Any = FILES, **given: Any) -> dict[str, Any]:
    host = machine(volumes={"/t": volume(disk, {**LTO, **given})})
    start, to = ("b:memory", "a:/t") if write else ("a:/t", "b:memory")
    return journey(host, start=start, to=to, tool={"name": "gridftp", "cc": 8, "p": 2}, dataset=data)


def charges(**how: Any) -> Sheet:
    return sheet(problem(path(**how)))


def test_a_recall_in_the_order_asked_for() -> None:
    """10 TB on one tape: each file 12.5 s of streaming and 45 s of locating, and one mount."""
    found = charges(tapes=1)
    assert 1 / found.rate("t.tape-drives") == pytest.approx(1 / 400e6 + LOCATE / 5e9 + MOUNT / 10e12)
    # two drives are no help for one tape, and help for two
    assert charges(tapes=1, drives=2).rate("t.tape-drives") == found.rate("t.tape-drives")
    assert charges(tapes=2, drives=2).rate("t.tape-drives") == pytest.approx(2 * found.rate("t.tape-drives"), rel=0.01)


@cases("given, locate", rows("components/tables", "what_a_file_takes_to_find"))
def test_what_a_file_takes_to_find(given: dict[str, Any], locate: float) -> None:
    found = charges(tapes=1, **given).rate("t.tape-drives")
    assert 1 / found == pytest.approx(1 / 400e6 + locate / 5e9 + MOUNT / 10e12)


@cases("given, what, expected", rows("components/tables", "what_a_library_charges"))
def test_what_a_library_charges(given: dict[str, Any], what: str, expected: float) -> None:
    assert charges(**given).figure(what) == pytest.approx(expected)


@pytest.mark.parametrize("key", ["staged", "share"])
def test_no_more_than_all_is_staged_or_shared(key: str) -> None:
    with pytest.raises(SpecError, match=key):
        charges(**{key: "1.5"})


def test_a_slow_staging_disk_makes_the_tape_stop_and_go() -> None:
    """A disk of 60 MB/s both ways feeds 30 MB/s: a drive with 32 MiB of memory waits out most of each stop."""
    slow = {**DISK, "read": "60 MB/s", "write": "60 MB/s"}
    small, large = (charges(write=True, disk=slow, buffer=b) for b in ("32 MiB", "1024 MB"))
    assert small.rate("t.ssds") == pytest.approx(30e6)
    assert small.rate("t.tape-drives") < 30e6 < large.rate("t.tape-drives")
    # at a speed between the drive's own it streams, and what holds is the disk
    enough = charges(write=True, disk={**DISK, "read": "500 MB/s", "write": "500 MB/s"}, buffer="32 MiB")
    assert 1 / enough.rate("t.tape-drives") == pytest.approx(1 / 400e6 + 5 / 32e9 + MOUNT / 10e12, rel=0.01)
    assert enough.rate("t.ssds") == pytest.approx(250e6)


@cases("disk, word, remedy", rows("components/tables", "what_holds_a_library_is_said_by_its_name"))
def test_what_holds_a_library_is_said_by_its_name(disk: str, word: str, remedy: str) -> None:
    given: dict[str, Any] = {"buffer": "32 MiB" if disk == "60 MB/s" else "1024 MB", "tapes": 1, "scattered": "0"}
    if disk == "robots":
        disk, given = "5 GB/s", {"tapes": 2000, "drives": 1000, "move": "100 s"}
    found = dtnsim.predict(load(path(disk={**DISK, "read": disk, "write": disk}, **given)), samples=16)
    (t,) = found.transfers
    assert holds(found, t.bottleneck) == word
    assert remedy in t.ladder[0].remedy


def test_a_file_that_nobody_asked_for_is_waited_for() -> None:
    """One reader, 45 s of locate and 12.5 s of streaming first, then the network: below the drive's own."""
    one = {"name": "gridftp", "cc": 1, "p": 4}
    asked, opened = (path(tapes=1, prestage=p) for p in (True, False))
    for made in (asked, opened):
        made["transfer"]["tool"] = one
    alone = 1 / (1 / 400e6 + LOCATE / 5e9 + MOUNT / 10e12)
    assert rate(opened) < alone * (1 + 1e-9)
    assert rate(asked) == pytest.approx(alone, rel=0.01)


def test_more_readers_than_drives_queue_for_them() -> None:
    """Eight files at once: on eight drives each waits for its own, on two they queue; nothing is counted twice."""
    alone = 1 / 400e6 + LOCATE / 5e9 + MOUNT * 8 / 10e12
    wide, narrow = (problem(path(tapes=8, drives=n, prestage=False)) for n in (8, 2))
    assert waiting(wide) >= alone
    assert not sheet(wide).has("t.tape-drives")
    assert waiting(narrow) < 0.01 * alone
    assert sheet(narrow).rate("t.tape-drives") == pytest.approx(2 / alone)


def test_a_second_reading_is_from_disk() -> None:
    made = path(tapes=1)
    for name, keys in (("globus", ("verify", True, False)), ("fts", ("checksum", "both", "none"))):
        both = []
        for value in keys[1:]:
            made["transfer"]["tool"] = {"name": name, keys[0]: value}
            both.append(sheet(problem(made)).demand("t.tape-drives"))
        assert both[0] == pytest.approx(both[1]), name


def test_it_needs_a_staging_disk() -> None:
    made = path()
    made["hosts"]["a"]["volumes"]["/t"]["array"] = None
    with pytest.raises(SpecError, match="staging disk"):
        problem(made)
    del made["hosts"]["a"]["volumes"]["/t"]["array"]  # not said is drawn
    assert "a.t.drives" in {s.name for s in problem(made).stations}


@settings(max_examples=10)
@given(st.integers(1, 30), st.integers(1, 60), st.floats(1e7, 1e11))
def test_more_drives_and_larger_files_never_hurt(drives: int, tapes: int, size: float) -> None:
    def here(drives: int, size: float) -> float:
        return charges(drives=drives, tapes=tapes, data={"files": 100, "each": f"{size:.0f} B"}).rate("t.tape-drives")

    assert here(drives + 1, size) >= here(drives, size) * (1 - 1e-9)
    assert here(drives, 2 * size) >= here(drives, size) * (1 - 1e-9)


#: key -> (another value, what else holds)
KEYS: dict[str, tuple[Any, dict[str, Any]]] = tables("components/keys")["tape"]["keys"]


@pytest.mark.parametrize("key", list(KEYS))
def test_a_key_moves_the_answer(key: str) -> None:
    value, around = KEYS[key]
    assert moves(path(**around), path(**{**around, key: value}))


def test_every_key_is_tried() -> None:
    all_tried("tape", KEYS, "keys", but={"sync_latency", "forgotten"})
