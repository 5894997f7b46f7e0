"""A tape library behind a staging disk."""

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import dtnsim
from dtnsim.report.holds import holds
from tests.each import cases, rows, tables
from tests.lab import Sheet, all_tried, journey, machine, moves, problem, sheet, volume
from tests.strategies import load

DISK = {"kind": "ssd", "read": "5 GB/s", "write": "5 GB/s", "link": "90 GB/s", "interference": "0"}
LTO = rows("components/tables", "tape")["LTO"]
MOUNT = 2 * 15 + 16 + 62 + 56
FILES = {"files": 2000, "each": "5 GB"}


def path(*, write: bool = False, disk: dict[str, Any] = DISK, data: Any = FILES, **given: Any) -> dict[str, Any]:
    host = machine(volumes={"/t": volume(disk, {**LTO, **given})})
    start, to = ("b:memory", "a:/t") if write else ("a:/t", "b:memory")
    return journey(host, start=start, to=to, tool={"name": "gridftp", "cc": 8, "p": 2}, dataset=data)


def charges(**how: Any) -> Sheet:
    return sheet(problem(path(**how)))


@cases("given, locate", rows("components/tables", "what_a_file_takes_to_find"))
def test_what_a_file_takes_to_find(given: dict[str, Any], locate: float) -> None:
    found = charges(tapes=1, **given).rate("t.tape-drives")
    assert 1 / found == pytest.approx(1 / 400e6 + locate / 5e9 + MOUNT / 10e12)


@cases("given, what, expected", rows("components/tables", "what_a_library_charges"))
def test_what_a_library_charges(given: dict[str, Any], what: str, expected: float) -> None:
    assert charges(**given).figure(what) == pytest.approx(expected)


@cases("disk, word, remedy", rows("components/tables", "what_holds_a_library_is_said_by_its_name"))
def test_what_holds_a_library_is_said_by_its_name(disk: str, word: str, remedy: str) -> None:
    given: dict[str, Any] = {"buffer": "32 MiB" if disk == "60 MB/s" else "1024 MB", "tapes": 1, "scattered": "0"}
    if disk == "robots":
        disk, given = "5 GB/s", {"tapes": 2000, "drives": 1000, "move": "100 s"}
    found = dtnsim.predict(load(path(disk={**DISK, "read": disk, "write": disk}, **given)), samples=16)
    (t,) = found.transfers
    assert holds(found, t.bottleneck) == word
    assert remedy in t.ladder[0].remedy


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
