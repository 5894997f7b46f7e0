"""How the compiled functions are entered: arrays whose owner is Python, so that no reference is counted in the loop."""

# ruff: noqa: D103 - plain functions on numbers; see `layout`
from __future__ import annotations

from typing import Any

import numba  # loaded only where it is installed and used

from dtnsim.simulation.fleet.kernel.layout import FLOATS, INTEGERS
from dtnsim.simulation.fleet.kernel.memory import carray, floats_at, integers_at, types
from dtnsim.simulation.fleet.kernel.traffic import run

typed: Any = numba.typed
TURN = types.Tuple((types.float64, types.float64, types.float64, types.int64, types.int64))


def enter_run(numbers: tuple[int, ...], turns: Any, most: int) -> int:
    f = carray(floats_at(numbers[0]), (numbers[1],))
    q = carray(integers_at(numbers[2]), (numbers[1],))
    h = carray(integers_at(numbers[3]), (numbers[4],))
    t = carray(floats_at(numbers[5]), (FLOATS, numbers[6]))
    u = carray(integers_at(numbers[7]), (INTEGERS, numbers[6]))
    return run(f, q, h, turns, t, u, most)


def turns() -> Any:
    return typed.List.empty_list(TURN)
