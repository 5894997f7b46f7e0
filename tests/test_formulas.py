"""Every formula that ``dtnsim explain`` prints gives the number beside it, over the shipped paths."""

from __future__ import annotations

import pytest

import dtnsim
from dtnsim.ground import library
from tests.formulas import wrong

#: formulas show seven digits, parameters as they were written
DIGITS = 1e-3


@pytest.mark.parametrize("name", library.names("paths"))
def test_formulas_give_their_numbers(name: str) -> None:
    assert wrong(dtnsim.predict(name, samples=0).problem, DIGITS, DIGITS) == []
