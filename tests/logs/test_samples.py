"""Samples and their true values, side by side in ``samples/TOOL.txt``: each is read, and by that tool's parser alone.

``=== what it is`` begins a sample (``␍`` is a carriage return); behind ``---`` stands what is true, a line a figure:
``quantity figure unit condition=value ...``, as a reader of the log would write it down. There are as many figures of a
quantity as lines that name it. ``note WORDS`` is part of a note; ``none`` says that there is no figure. What stands
before the first sample says where they are from.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from dtnsim.logs import read_logs, read_text
from dtnsim.logs._catalogue import catalogue

DATA = Path(__file__).parent / "data"
_BYTES = {"B": 1.0} | {
    prefix + "B": factor
    for n, letters in enumerate("KMGT", 1)
    for prefix, factor in ((letters.lower() if n == 1 else letters, 1e3**n), (letters + "i", 1024.0**n))
}
UNITS = {
    **_BYTES, **{f"{unit}/s": factor for unit, factor in _BYTES.items()}, "Gb/s": 1e9 / 8, "Mb/s": 1e6 / 8,
    "s": 1.0, "ms": 1e-3, "us": 1e-6, "min": 60.0, "1": 1.0, "1/s": 1.0, "%": 0.01,
}  # fmt: skip


def _samples() -> list[Any]:
    found = []
    for file in sorted((Path(__file__).parent / "samples").glob("*.txt")):
        for part in file.read_text(encoding="utf-8").split("\n=== ")[1:]:
            head, _, rest = part.partition("\n")
            text, _, truth = rest.partition("\n---\n")
            raw = text.replace("␍", "\r") + "\n"
            found.append(pytest.param(file.stem, raw, truth.splitlines(), id=f"{file.stem}: {head}"))
    return found


def _value(text: str) -> Any:
    """``16.11 GiB``, ``26/3 B/s``, ``16.11 GiB / 25.46 MiB`` or a word."""
    if " / " in text:
        part, whole = map(_value, text.split(" / "))
        return part / whole
    number, _, unit = text.partition(" ")
    above, _, below = number.partition("/")
    try:
        return float(above) / float(below or 1) * UNITS[unit or "1"]
    except (ValueError, KeyError):
        return {"True": True, "None": None}.get(text, text)


def _same(found: Any, true: Any) -> bool:
    if isinstance(true, float) and isinstance(found, int | float):
        return found == pytest.approx(true)
    return bool(found == true)


@pytest.mark.parametrize(("tool", "text", "truth"), _samples())
def test_a_sample_says_what_is_true(tool, text, truth):
    found, unread = read_text(text)
    unread = [note for note in unread if not note.why.startswith("nothing in it looks")]
    assert {record.tool for record in found} <= {tool}, "two parsers take it"
    lines = [shlex.split(line) for line in truth if line.strip()]
    assert lines
    if ["none"] in lines:
        assert not found
    notes = [line[1:] for line in lines if line[0] == "note"]
    assert all(any(" ".join(words) in note.why for note in unread) for words in notes)
    assert bool(notes) == bool(unread), unread
    figures = [line for line in lines if line[0] not in ("note", "none")]
    for quantity in {line[0] for line in figures}:
        records = [record for record in found if record.quantity == quantity]
        expected = [line for line in figures if line[0] == quantity]
        assert len(records) == len(expected), records
        for record, (_, figure, unit, *conditions) in zip(records, expected, strict=True):
            assert quantity == "failure" or _same(record.value, _value(f"{figure} {unit}")), record
            known = {**record.conditions, "status": record.status, "printed": record.printed}
            for key, _, true in (condition.partition("=") for condition in conditions):
                assert _same(known.get(key), _value(true)), (key, record)


def test_every_file_is_of_a_tool():
    named = {sample.values[0] for sample in _samples()}
    assert named <= set(catalogue().evidence)
    assert len(_samples()) > 20


#: what captures hold beside the output of their folder's tool
ALSO = {"bonding/venadi.txt": {"ifconfig"}, "rsync/uci.txt": {"time"}}


@pytest.mark.parametrize("file", sorted(DATA.glob("*/*")), ids=lambda file: f"{file.parent.name}/{file.name}")
def test_a_recorded_run_is_of_its_tool_alone(file):
    tools = {record.tool for record in read_logs(file)[0]} - ALSO.get(f"{file.parent.name}/{file.name}", set())
    assert tools <= {file.parent.name, file.parent.name + "++"}, "two parsers take it"
