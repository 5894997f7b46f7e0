"""Which transfers run halfway through each transfer's time: its bottleneck is what binds then, beside those only.

Transfers with different starts or lengths seldom run all at once, so a link that all together would fill may never be
full.

Neglects: transfers that run beside it only in other parts of its time.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np

from dtnsim.composition import sharing
from dtnsim.ground.grouping import by_key
from dtnsim.ground.records import Problem
from dtnsim.physics._arrays import FloatArray as Array
from dtnsim.steady import epochs, ordering, solve
from dtnsim.steady.matrices import Matrices, matrices
from dtnsim.steady.reasons import Cause, cause_of
from dtnsim.steady.stages import select

_LOOKED_AT: Final = 100  #: transfers up to which each has its own halfway point; more share fewer points


@dataclass(frozen=True, slots=True, eq=False)
class Meeting:
    """Transfers that run together halfway through the time of some of them."""

    problem: Problem  #: The path with these transfers alone.
    m: Matrices  #: The same as arrays, with the capacities when nobody uses the stations.
    solution: solve.Solution  #: Their rates then.
    members: tuple[int, ...]  #: Their numbers among all transfers of the path.
    halfway: tuple[int, ...]  #: Those of them that are halfway then.

    def place(self, f: int) -> int:
        """Number of a transfer among the members."""
        return self.members.index(f)

    @property
    def used(self) -> Matrices:
        """The arrays with the capacities of the solution."""
        return replace(self.m, capacity=self.solution.capacity)

    def cause(self, f: int) -> Cause:
        """What holds a transfer then."""
        place = self.place(f)
        return cause_of(self.used, place, int(self.solution.binding[0, place]))


@dataclass(frozen=True, slots=True, eq=False)
class Meetings:
    """A path at its medians."""

    m: Matrices  #: All its transfers as arrays.
    solution: solve.Solution  #: While all of them run.
    own: Array  #: (F,) rate of each over its own time [B/s].
    each: tuple[Meeting, ...]  #: The meetings; every transfer is halfway in one of them.


@lru_cache(maxsize=1)
def meetings(problem: Problem) -> Meetings:
    """The meetings of a path's transfers at its medians."""
    m = matrices(problem)
    solution = solve.solve(m)
    rates = epochs.laid_out(problem, m, solution.rate)[0]
    groups = []
    for members, halfway in by_key((running, f) for f, running in enumerate(_under_way(problem, rates))).items():
        subset = part(problem, members)
        same = all(t is problem.transfers[f] for f, t in zip(members, subset.transfers, strict=True))
        arrays = m if subset is problem else select(m, np.array(members)) if same else matrices(subset)
        answer = solution if subset is problem else solve.solve(arrays)
        groups.append(Meeting(subset, arrays, answer, members, tuple(halfway)))
    return Meetings(m, solution, rates, tuple(groups))


def _under_way(problem: Problem, rates: Array) -> list[tuple[int, ...]]:
    """For each transfer, those that run (about) halfway through its time, itself included."""
    count = len(rates)
    lasts, ends = (measure(problem, rates[None, :])[0] for measure in (ordering.lasts, ordering.ends))
    if count == 1 or not np.isfinite(lasts).all():
        return [tuple(range(count))] * count
    begins, half = ends - lasts, ends - lasts / 2
    looks = min(max(_LOOKED_AT**2 // count, 1), count)
    which = np.argsort(half)[(2 * np.arange(looks) + 1) * count // (2 * looks)]
    times = half[which, None]
    runs = (begins <= times) & (times < ends)
    apart = np.abs(times - half)
    nearest = np.where(runs, apart, apart + apart.max()).argmin(axis=0)
    runs[nearest, np.arange(count)] = True  # who comes and goes between two of these times is taken to be there at one
    sets = [tuple(np.flatnonzero(row).tolist()) for row in runs]
    return [sets[n] for n in nearest.tolist()]


def part(problem: Problem, members: Sequence[int]) -> Problem:
    """A path with only some of its transfers, composed for the load that these put on shared volumes."""
    if len(members) == len(problem.transfers):
        return problem
    transfers, drives = [problem.transfers[f] for f in members], problem.drives
    if drives is not None and drives.scenarios == 1:
        streams = Counter[tuple[str, str]]()
        for f in members:
            for volume, count in drives.visits(f):
                streams[volume] += count
        transfers = [
            sharing.as_given(drives.beside_streams(f, streams), t) if drives.minds(f) else t
            for f, t in zip(members, transfers, strict=True)
        ]
    return replace(problem, transfers=tuple(transfers), drives=None)
