"""No parser raises, guesses or invents, whatever happens to a log on its way here.

Every fixture of the project is cut at any byte, doubled, shuffled by lines, given decimal commas, bytes
of noise, carriage returns, a pdsh prefix or quote marks.
"""

import math
import random
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from dtnsim.ground.errors import LogError
from dtnsim.logs import read_text
from dtnsim.logs.measurement import Measurement
from tests.each import of_each

DATA = Path(__file__).parent / "data"
FILES = sorted(str(path.relative_to(DATA)) for path in DATA.rglob("*") if path.is_file())
LARGEST = 24_000  # bytes of a fixture that are mutated: the rest is more of the same

Key = tuple[str, str, float, str]


@cache
def _raw(name: str) -> bytes:
    return (DATA / name).read_bytes()


@cache
def _whole(name: str) -> frozenset[Key]:
    return frozenset(_key(record) for record in _read(_raw(name)))


def _key(record: Measurement) -> Key:
    return record.tool, record.quantity, record.value, record.unit


def _read(raw: bytes) -> list[Measurement]:
    """Reads; a file that is refused (empty, binary) has no records."""
    try:
        found, notes = read_text(raw)
    except LogError:
        return []
    assert all(note.line >= 0 and note.why for note in notes)
    for record in found:
        if record.status == "failed":
            assert math.isnan(record.value)
            continue
        assert math.isfinite(record.value)
        assert record.value >= 0
        assert record.unit != "B/s" or record.value < 1e14
        assert record.tool
        assert record.quantity
        assert record.line is not None
        assert record.line >= 1
        assert None not in record.conditions.values()
    return found


def _known(record: Measurement, whole: frozenset[Key] | set[Key]) -> bool:
    """Whether the whole log gives this value, too.

    bonnie++ prints a run twice, in its table and with more digits as CSV: half a unit of the table's last digit.
    """
    key = _key(record)
    if key in whole or record.tool != "bonnie++":
        return key in whole
    return any(other[:2] == key[:2] and math.isclose(other[2], key[2], rel_tol=0.05) for other in whole)


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(share=st.floats(0, 1))
def test_truncation_never_invents_a_value(name: str, share: float) -> None:
    raw = _raw(name)
    cut = raw[: int(share * len(raw))]
    strange = [record for record in _read(cut) if record.status == "complete" and not _known(record, _whole(name))]
    assert not strange, (
        cut[-120:],
        [(r.quantity, r.value, r.printed, r.line, dict(r.conditions)) for r in strange[:5]],
    )


@of_each(FILES)
def test_truncation_at_every_byte_of_the_last_lines(name: str) -> None:
    raw = _raw(name)[-6000:]
    start = raw.find(b"\n") + 1
    head, tail = raw[:start], raw[start:]
    whole = {_key(record) for record in _read(raw)} | _whole(name)
    step = max(1, min(len(tail), 400) // 20)
    for length in range(0, min(len(tail), 400), step):
        for record in _read(head + tail[:length]):
            assert record.status != "complete" or _known(record, whole), (tail[:length][-100:], record)


@of_each(FILES)
def test_a_doubled_log_gives_nothing_new(name: str) -> None:
    raw = _raw(name)[:LARGEST]
    joined = raw if raw.endswith(b"\n") else raw + b"\n"
    once = {_key(r) for r in _read(joined)} | _whole(name)
    twice = [r for r in _read(joined + joined) if r.status == "complete"]
    assert {_key(r) for r in twice if r.quantity != "count"} <= once


MUTATIONS = ("shuffle", "comma", "noise", "cr", "pdsh", "quote", "drop", "latin", "ansi", "join")


def _mutate(raw: bytes, how: str, seed: int) -> bytes:
    rng = random.Random(seed)
    lines = raw.split(b"\n")
    if how == "shuffle":
        rng.shuffle(lines)
    elif how == "drop":
        lines = [line for line in lines if rng.random() > 0.2]
    elif how == "join":
        return b" ".join(lines[: rng.randint(1, 40)]) + b"\n" + b"\n".join(lines[40:])
    prefix = {"pdsh": b"dtn01: ", "quote": b"> "}.get(how, b"")
    lines = [prefix + line for line in lines]
    joined = (b"\r" if how == "cr" else b"\n").join(lines)
    if how == "comma":
        import re

        joined = re.sub(rb"(?<=\d)\.(?=\d)", b",", joined)
    elif how == "ansi":
        joined = joined.replace(b" ", b" \x1b[1;32m", 50).replace(b"\n", b"\x1b[0m\n")
    elif how == "latin":
        joined = joined.replace(b"e", b"\xe9", 3)
    elif how == "noise":
        data = bytearray(joined)
        for _ in range(max(1, len(data) // 200)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        joined = bytes(data)
    return joined


@pytest.mark.parametrize("how", MUTATIONS)
@settings(max_examples=15)
@given(name=st.sampled_from(FILES), seed=st.integers(0, 2**32))
def test_nothing_raises_or_gives_nonsense(how: str, name: str, seed: int) -> None:
    _read(_mutate(_raw(name)[:LARGEST], how, seed))


@pytest.mark.parametrize("how", ["pdsh", "quote", "ansi"])
@pytest.mark.parametrize(
    "name", ["dd/gnu_91.txt", "iozone/venadi.txt", "fio/multi.txt", "bonnie/quiet_200a_csv2txt.txt", "time/forms.txt"]
)
def test_decoration_changes_no_value(name: str, how: str) -> None:
    plain = [_key(r)[1:3] for r in _read(_raw(name)) if r.status != "failed"]
    decorated = [_key(r)[1:3] for r in _read(_mutate(_raw(name), how, 1)) if r.status != "failed"]
    assert decorated == plain


@settings(max_examples=30)
@given(text=st.text(max_size=400))
def test_any_text(text: str) -> None:
    _read(text.encode("utf-8", "surrogatepass"))


@settings(max_examples=30)
@given(raw=st.binary(max_size=600))
def test_any_bytes(raw: bytes) -> None:
    _read(raw)


@settings(max_examples=20)
@given(first=st.sampled_from(FILES), second=st.sampled_from(FILES), seed=st.integers(0, 2**32))
def test_two_logs_interleaved(first: str, second: str, seed: int) -> None:
    rng = random.Random(seed)
    one, two = _raw(first)[:8000].split(b"\n"), _raw(second)[:8000].split(b"\n")
    mixed = []
    while one or two:
        mixed.append((one if one and (not two or rng.random() < 0.5) else two).pop(0))
    _read(b"\n".join(mixed))
