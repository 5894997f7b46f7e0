"""A few hundred mutants of all logs (50,000 by ``python tests/logs/fuzz.py 50000``)."""

import pytest

from tests.logs import fuzz


@pytest.mark.parametrize("first", range(0, 600, 100))
def test_mutants_are_read_or_refused(first):
    wrong = {seed: problem for seed in range(first, first + 100) if (problem := fuzz.check(fuzz.mutant(seed)))}
    assert not wrong


def test_the_check_finds_what_is_wrong(monkeypatch):
    monkeypatch.setattr(fuzz, "read_text", lambda raw: 1 // 0)
    assert "ZeroDivisionError" in fuzz.check(b"x")
