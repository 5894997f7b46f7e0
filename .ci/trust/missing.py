"""Every shipped path and starter without one of its keys, one key after the other: `tests/fuzz/test_missing.py`."""

from __future__ import annotations

from tests.fuzz import test_missing

CASES = test_missing.cases()
USUAL = {"missing": len(CASES)}


def missing(number: int) -> str | None:
    """An answer of predict and simulate, or one line that says what to write."""
    file, way = CASES[number % len(CASES)]
    return test_missing.wrong(file, way, in_time=True)
