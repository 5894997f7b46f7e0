"""Paths of measured cases, each file parsed once, and what a model says of their figures.

The same stations and demands that `predict` solves, for many scenarios.
"""

import re
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from dtnsim.description import spec
from dtnsim.description.hosts import Built
from dtnsim.description.spec import PathSpec
from dtnsim.evidence.cases import Case
from dtnsim.ground.errors import SpecError
from dtnsim.ground.records import Problem
from dtnsim.logs.measurement import Measurement
from dtnsim.physics._arrays import FloatArray as Array
from dtnsim.steady import solve
from dtnsim.steady.scenarios import Scenarios
from dtnsim.steady.solve import Matrices, Solution


@dataclass(frozen=True, slots=True)
class Figure:
    """A case with its path, loaded; of a log also when it was measured."""

    case: Case
    spec: PathSpec
    when: datetime | None = None


def case_of(m: Measurement, site: str, **fields: Any) -> Case:
    """A figure of a log as a case: where it is written and what was run; ``fields`` says the rest of a `Case`."""
    file = Path(m.file or "log")
    from_log = {"id": f"{file.name}:{m.line}", "tool": m.tool, "log": (file, m.line or 0), "what": m.printed}
    return Case(**{"path": Path(f"{m.tool} on {site}"), "measured": m.value, **from_log, **fields, "site": site})


@dataclass(frozen=True, slots=True)
class Solved:
    """A composed path and its rates in S scenarios."""

    problem: Problem
    matrices: Matrices
    solution: Solution


def solved(problem: Problem) -> Solved:
    """Solves a problem."""
    m = solve.matrices(problem)
    return Solved(problem, m, solve.solve(m))


def with_rates(drawn: Scenarios, rates: Array) -> Solved:
    """Scenarios of a path with other rates, as `values` reads them."""
    return Solved(drawn.problem, drawn.matrices, replace(drawn.solution, rate=rates))


def transfer_index(case: Case, problem: Problem) -> int | None:
    """Index of the transfer that a case means; None for all together."""
    if case.transfer is None:
        return None
    names = [t.name for t in problem.transfers]
    if case.transfer not in names:
        key, remedy = f"cases.{case.id}.transfer", f"transfers: {', '.join(names)}"
        raise SpecError("the path has no such transfer", key=key, value=case.transfer, remedy=remedy)
    return names.index(case.transfer)


def values(case: Case, answer: Solved) -> Array:
    """The figure of a case in every scenario, (S,) [SI unit of its quantity]."""
    which = transfer_index(case, answer.problem)
    rates = answer.solution.rate
    if case.quantity == "cpu_share":
        return _share(case, answer)
    if case.quantity == "duration":
        payload = np.array([t.payload_B for t in answer.problem.transfers])
        seconds = payload / np.maximum(rates, 1e-300)
        return np.asarray(seconds.max(axis=1) if which is None else seconds[:, which])
    rate = rates.sum(axis=1) if which is None else rates[:, which]
    if case.quantity == "iops":
        return np.asarray(rate / (case.block_B or 1.0))
    if case.quantity == "throughput_sd":
        return np.full(1, float(np.std(rate)))
    return np.asarray(rate)


def _share(case: Case, answer: Solved) -> Array:
    """Utilisation of the busiest station that the case's pattern finds."""
    pattern = re.compile(case.pattern or "")
    stations = [k for k, s in enumerate(answer.problem.stations) if pattern.search(s.name)]
    if not stations:
        cores = sorted(s.name for s in answer.problem.stations if s.kind in ("core", "cpu"))
        key, remedy = f"cases.{case.id}.quantity", f"cores: {', '.join(cores)}"
        raise SpecError("finds no station of the path", key=key, value=case.pattern, remedy=remedy)
    m = answer.matrices
    load = m.loads(answer.solution.rate)[:, stations]
    return np.asarray((load / answer.solution.capacity[:, stations]).max(axis=1))


class Paths:
    """Loads the paths of cases."""

    def __init__(self, calibration: str | None = None) -> None:
        self._calibration = calibration
        self._files: dict[Path, PathSpec] = {}
        self._built = Built()
        self._changed: dict[tuple[Path, tuple[str, ...]], PathSpec] = {}

    def __call__(self, case: Case) -> PathSpec:
        """The path of a case, with its overrides."""
        key = (case.path, case.overrides)
        if key not in self._changed:
            if case.path not in self._files:
                self._files[case.path] = spec.load(case.path, (), self._calibration, built=self._built)
            base = self._files[case.path]
            self._changed[key] = base.changed(case.overrides) if case.overrides else base
        return self._changed[key]
