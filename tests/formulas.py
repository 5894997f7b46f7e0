"""Evaluates the formulas that ``dtnsim explain`` prints, as a reader with a pocket calculator would.

``16 drives x 200 MB/s`` is a product; a number with a unit becomes SI, a counted noun only its number; ``min``,
``max`` and the laws of `dtnsim.physics` are called by their names.
"""

import importlib
import math
import re
from typing import Any

import numpy as np

from dtnsim.ground.records import Problem
from dtnsim.ground.units import UNITS

_NUMBER = re.compile(
    r"""(?P<text>'[^']*'|"[^"]*")
      | (?P<times>(?<=\ )x(?=\ ))
      | (?P<name>[A-Za-z_][\w.]*)(?=\s*[=(])
      | (?P<number>(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
        (?:\ ?(?P<unit>%|/s|(?!x\b)[A-Za-zµμ$][\w/]*(?:\ (?!x\b)[A-Za-z][\w/]*)*))?
      | (?P<word>unlimited|True|False|None)
    """,
    re.VERBOSE,
)


class _Laws(dict[str, Any]):
    def __missing__(self, name: str) -> Any:
        if name in ("min", "max"):
            return {"min": min, "max": max}[name]
        if name == "unlimited":
            return math.inf
        return _Room(name)


class _Room:
    """A module of `dtnsim.physics`, by attribute access."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        try:
            module = importlib.import_module(f"dtnsim.physics.{self._name}")
        except ModuleNotFoundError as error:
            raise NameError(f"no law {self._name}.{name}") from error
        found = getattr(module, name, None)
        return _Room(f"{self._name}.{name}") if found is None or not callable(found) else found


def evaluate(formula: str) -> float:
    """The number that a formula gives."""

    def written(match: re.Match[str]) -> str:
        if match["times"]:
            return "*"
        if match["number"] is None:
            return match[0]
        unit = (match["unit"] or "").replace(" ", "")
        return f"({float(match['number'].replace('_', ''))!r} * {UNITS[unit][1] if unit in UNITS else 1.0!r})"

    return float(eval(_NUMBER.sub(written, formula), {"__builtins__": {}}, _Laws()))


def wrong(problem: Problem, capacity: float = 1e-5, cost: float = 1e-4) -> list[str]:
    """Formulas that do not give the number beside them within so much: of capacities, and of demands and delays."""
    shown = [(s.name, s.formula, s.capacity, capacity) for s in problem.stations]
    phases = (p for t in problem.transfers for p in t.phases)
    costs = (d for p in phases for d in (*p.demands, *p.delays))
    shown += [(f"{d.station}: {d.what}", d.formula, d.per_byte, cost) for d in costs]
    numbers = ((what, formula, float(np.ravel(value)[0]), rel) for what, formula, value, rel in shown)
    return [
        f"{what}: {formula} is not {number}"
        for what, formula, number, rel in numbers
        if not math.isclose(evaluate(formula), number, rel_tol=rel, abs_tol=1e-15)
    ]
