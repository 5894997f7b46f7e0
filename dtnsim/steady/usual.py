"""The usual bottleneck of a transfer, in most of its draws, if that is another than at the medians.

Unstated loss is zero at the medians, for example, and yet binds a long path in most runs.
"""

import math
from collections import Counter
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from dtnsim.composition import tcp
from dtnsim.composition.compose import Composer
from dtnsim.ground.quantity import Draw, Quantity, Value
from dtnsim.ground.records import Bottleneck, Problem
from dtnsim.ground.uncertainty import Remedy
from dtnsim.physics._arrays import IntArray
from dtnsim.steady import ordering, solve
from dtnsim.steady.ceilings import idle_time
from dtnsim.steady.matrices import Matrices
from dtnsim.steady.meetings import meetings
from dtnsim.steady.reasons import bottleneck, cause_of, worker_times
from dtnsim.steady.relieved import path_key
from dtnsim.steady.scenarios import Scenarios

#: standard errors of a share by which most of the draws are more than half of them, whatever the seed
_ERRORS: Final = 2.0
Holder = tuple[int, str]  #: a station, or what workers wait for (-1), and which limit of a connection


class _OneScenario(Draw):
    """One scenario of some draws, given by its number."""

    def __init__(self, draw: Draw, row: int) -> None:
        super().__init__()
        self._draw, self._at = draw, row

    @property
    def nominal(self) -> Draw:
        """The draw itself: it has only this scenario."""
        return self

    def __call__(self, quantity: Quantity) -> Value:
        """Value of ``quantity`` in this scenario."""
        value = self._draw(quantity)
        return float(value) if np.ndim(value) == 0 else float(np.asarray(value)[self._at])


class Usual(NamedTuple):
    """What binds a transfer in most of its draws."""

    holder: Bottleneck  #: It, as it is in one of these draws, that in the middle of their rates.
    share: float  #: Part of all draws.
    ways: tuple[Remedy, ...]  #: Changes against it that can be tried; their ceilings are not known.


def usual(composer: Composer, nominal: Problem, drawn: Scenarios, f: int) -> Usual | None:
    """What binds transfer ``f`` in most of its draws; None if that is the bottleneck at the medians too."""
    if not isinstance(drawn.arrays, Matrices):
        return None
    middle = meetings(nominal)
    (median,) = _holders(nominal, replace(middle.m, capacity=middle.solution.capacity), middle.solution.binding, f)
    halfway = next(group for group in middle.each if f in group.halfway).cause(f).station
    if median[0] != (-1 if halfway is None else halfway):
        return None
    each = _holders(drawn.problem, drawn.matrices, drawn.solution.binding, f)
    commonest, count = Counter(each).most_common(1)[0]
    if commonest == median or count / len(each) < 0.5 + _ERRORS * math.sqrt(0.25 / len(each)):
        return None
    total = ordering.total_rate(drawn.problem, drawn.parameters)
    rows = np.array([n for n, holder in enumerate(each) if holder == commonest])
    row = int(rows[np.argmin(np.abs(np.log(total[rows] / np.median(total))))])
    one_draw = _OneScenario(drawn.draw, row)
    problem = composer.drawn(one_draw)
    one = solve.matrices(problem)
    cause = cause_of(one, f, int(solve.solve(one).binding[0, f]))
    binding = bottleneck(problem, f, cause)
    if cause.station != (commonest[0] if commonest[0] >= 0 else None):
        return None
    changes = problem.stations[cause.station].changes if cause.station is not None else ()
    ways = (Remedy(c.words, tuple(path_key(problem, o) for o in c.overrides), np.nan) for c in changes if c.overrides)
    return Usual(binding, count / len(each), tuple(ways))


def _holders(problem: Problem, m: Matrices, binding: IntArray, f: int) -> list[Holder]:
    """What binds a transfer in each scenario (as `dtnsim.steady.reasons.cause_of` of one)."""
    stations = np.array(binding[:, f])
    times = [(stations_of, t) for stations_of, t in worker_times(m, f) if len(stations_of)]
    waits = idle_time(m, f)
    count = max(len(stations), len(waits), *(len(t) for _, t in times)) if times else len(stations)
    if times:
        busy = np.stack([np.broadcast_to(t.max(axis=1), count) for _, t in times])
        slowest = np.stack([np.broadcast_to(s[t.argmax(axis=1)], count) for s, t in times])
        longest = np.take_along_axis(slowest, busy.argmax(axis=0)[None], axis=0)[0]
        stations = np.where(stations >= 0, stations, np.where(waits > busy.max(axis=0), -1, longest))
    limits = {
        k: np.broadcast_to(tcp.closed_form(problem.connections[s.name])[1], count)
        for k, s in enumerate(problem.stations)
        if s.name in problem.connections and (stations == k).any()
    }
    stations = np.broadcast_to(stations, count)
    return [(int(k), str(limits[k][n]) if k in limits else "") for n, k in enumerate(stations.tolist())]
