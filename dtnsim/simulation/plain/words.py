"""Why what has held a plain flow binds, in the words of the steady answer: made for those that are asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnsim.composition.compose import compose
from dtnsim.ground.quantity import Draw
from dtnsim.ground.records import SLOW_START, Problem
from dtnsim.simulation.plain.columns import TARGET
from dtnsim.steady.reasons import Cause, full, reason

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dtnsim.simulation.plain.columns import Columns

#: what connections that open up do
OPENS = "the connections open up: their windows grow from round trip to round trip"


class Words:
    """The words of plain flows: each station's are found once for all flows that cross it alike.

    Args:
        columns: The flows.
    """

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._known: dict[Any, tuple[Problem, str]] = {}
        self._number = {name: k for k, name in enumerate(columns.shared)}
        plain = columns.plain
        flows = np.bincount(plain.kind, minlength=len(plain.kinds))
        self._visitors = [0] * len(columns.shared)
        for row, count in zip(columns.rows, flows.tolist(), strict=True):
            for k in row:
                self._visitors[k] += count

    def of(self, f: int, stations: Iterable[str]) -> dict[str, str]:
        """Station, or what else has held a flow -> why that binds."""
        words: dict[str, str] = {}
        for name in stations:
            if name == SLOW_START:
                words[name] = OPENS
            elif name == "waiting":
                words[name] = reason(self._composed(f), 0, Cause(None, 0, direct=False))
            else:
                words[name] = self._full(f, name)
        return words

    def _full(self, f: int, name: str) -> str:
        """Why a station holds a flow: like a flow before it, but for the station's own figures."""
        columns = self._columns
        plain = columns.plain
        kind = plain.kinds[plain.kind[f]]
        k = self._number.get(name)
        if k is not None:
            part = next(p for p in kind.parts if name in plain.charged[p].shared)
            key: Any = k, part
            capacity, others = float(columns.capacity[k]), self._visitors[k] - 1
        else:
            place = int(columns.by[f])
            capacity, others = float(columns.own[f, place]), 0
            key = place, "" if place == columns.own.shape[1] + TARGET else int(plain.kind[f])
        if key not in self._known:
            self._known[key] = self._composed(f), name
        problem, first = self._known[key]
        station = next(s for s in problem.stations if s.name == first)
        demands = [d for phase in problem.transfers[0].phases for d in phase.demands if d.station == first]
        own = f"[{problem.transfers[0].name}]", f"[{plain.spec.transfers[f].name}]"
        return full(replace(station, name=name, capacity=capacity, label=station.label.replace(*own)), demands, others)

    def _composed(self, f: int) -> Problem:
        """A flow composed by itself, with words."""
        spec = self._columns.plain.spec
        alone = spec.model_copy(update={"transfers": [spec.transfers[f]]})
        alone.__dict__["graph"] = spec.graph  # what is wired to what is the same
        return compose(alone, Draw())
