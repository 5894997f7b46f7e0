"""Every formula that ``dtnsim explain`` prints gives the number beside it, over the shipped paths."""

from __future__ import annotations

import numpy as np
import pytest

import dtnsim
from dtnsim.ground import library
from tests.formulas import evaluate

#: formulas show seven digits, parameters as they were written
DIGITS = 1e-3


@pytest.mark.parametrize("name", library.names("paths"))
def test_formulas_give_their_numbers(name: str) -> None:
    problem = dtnsim.predict(name, samples=0).problem
    shown = [(s.name, s.formula, s.capacity) for s in problem.stations]
    phases = (p for t in problem.transfers for p in t.phases)
    shown += [(f"{d.station}: {d.what}", d.formula, d.per_byte) for p in phases for d in (*p.demands, *p.delays)]
    for what, formula, value in shown:
        number = float(np.ravel(value)[0])
        found = evaluate(formula)
        assert found == pytest.approx(number, rel=DIGITS, abs=1e-15), f"{what}: {formula}"
