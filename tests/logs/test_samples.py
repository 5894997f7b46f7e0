"""Samples and their true values, side by side in ``samples/TOOL.txt``: each is read, and by that tool's parser alone.

``=== what it is`` begins a sample (``␍`` is a carriage return, ``␃`` the end of a file without a newline; ``file NAME``
is that file of ``data``); behind ``---`` stands what is true, a line a figure, as a reader of the log would write it:

- ``quantity figure unit condition=value ...``: there are as many figures of a quantity as lines that name it;
- ``one quantity figure unit condition=value ... : condition=value ...``: there is one figure of the quantity with the
  conditions before the colon, and those behind it are true of it;
- ``no quantity condition=value ...``: there is none with these conditions; ``none``: no figure at all;
- ``times NUMBER quantity condition=value ...``: there are so many;
- ``note WORDS``: part of a note. Without such a line there is no note.

``line=2`` is where the figure stands. ``"1"`` is a text and 1 a number; None stands for a condition that is not there.
What stands before the first sample says where they are from.
"""

import shlex
from pathlib import Path
from typing import Any

import pytest

from dtnsim.logs import read_logs, read_text
from dtnsim.logs._catalogue import catalogue
from dtnsim.logs.measurement import Measurement

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
            raw = (text.replace("␍", "\r") + "\n").replace("␃\n", "")
            found.append(pytest.param(file.stem, raw, truth.splitlines(), id=f"{file.stem}: {head}"))
    return found


def _value(text: str) -> Any:
    """``16.11 GiB``, ``26/3 B/s``, ``16.11 GiB / 25.46 MiB``, a word, or a text in double quotes."""
    if text[:1] == text[-1:] == '"' and len(text) > 1:
        return text[1:-1]
    if " / " in text:
        part, whole = map(_value, text.split(" / "))
        return part / whole
    number, _, unit = text.partition(" ")
    above, _, below = number.partition("/")
    try:
        return float(above) / float(below or 1) * UNITS[unit or "1"]
    except (ValueError, KeyError):
        return {"True": True, "False": False, "None": None}.get(text, text)


def _same(found: Any, true: Any) -> bool:
    whole = isinstance(found, int) and isinstance(true, float) and true.is_integer()  # a line, a time: no digit is off
    if isinstance(true, float) and isinstance(found, int | float) and not isinstance(found, bool) and not whole:
        return found == pytest.approx(true)
    return bool(found == true)


def _is(record: Measurement, conditions: list[str]) -> bool:
    """Whether conditions, and what else a record says, are true of it."""
    known = {**record.conditions, **{key: getattr(record, key) for key in ("status", "printed", "version", "line")}}
    pairs = (condition.partition("=") for condition in conditions)
    return all(_same(known.get(key), _value(true)) for key, _, true in pairs)


def _check(quantity: str, true: list[list[str]], records: list[Measurement]) -> None:
    assert len(records) == len(true), records
    for record, (figure, unit, *conditions) in zip(records, true, strict=True):
        assert quantity == "failure" or _same(record.value, _value(f"{figure} {unit}")), record
        assert _is(record, conditions), (conditions, record)


@pytest.mark.parametrize(("tool", "text", "truth"), _samples())
def test_a_sample_says_what_is_true(tool, text, truth):
    found, unread = read_logs(DATA / text[5:].strip()) if text.startswith("file ") else read_text(text)
    assert found or {line.split()[0] for line in truth if line.strip()} <= {"none", "no", "note"}, unread
    unread = [note for note in unread if not note.why.startswith("nothing in it looks")]
    assert {record.tool for record in found} <= {tool}, "two parsers take it"
    lines = [shlex.split(line) for line in truth if line.strip()]
    assert lines
    plain: dict[str, list[list[str]]] = {}
    for word, *rest in lines:
        if word == "none":
            assert not found
        elif word == "note":
            assert any(" ".join(rest) in note.why for note in unread), unread
        elif word == "times":
            number, quantity, *given = rest
            assert sum(record.quantity == quantity and _is(record, given) for record in found) == int(number)
        elif word in ("one", "no"):
            quantity, *rest = rest
            given, true = (rest[2:], [rest[:2]]) if word == "one" else (rest, [])
            at = given.index(":") if ":" in given else len(given)
            hits = [record for record in found if record.quantity == quantity and _is(record, given[:at])]
            _check(quantity, [[*figure, *given[at + 1 :]] for figure in true], hits)
        else:
            plain.setdefault(word, []).append(rest)
    for quantity, true in plain.items():
        _check(quantity, true, [record for record in found if record.quantity == quantity])
    assert any(line[0] == "note" for line in lines) == bool(unread), unread


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
