"""The ladder of a transfer: what binds once everything before it is relieved. Worked out on first use.

A relieved station has no limit; all others stay as they are. A TCP connection depends on its path: if ports, segments,
windows or loss bind, they are changed in the description and the path is composed again, as ``--set`` would do. So a
wider WAN brings no more than its windows allow.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Final

import numpy as np

from dtnsim.composition import relief
from dtnsim.description.spec import PathSpec
from dtnsim.ground.errors import DtnsimError
from dtnsim.ground.lazy import Lazy
from dtnsim.ground.quantity import Draw
from dtnsim.ground.records import Problem, Rung, Station
from dtnsim.steady import solve, timed
from dtnsim.steady.matrices import Matrices
from dtnsim.steady.meetings import Meeting, part
from dtnsim.steady.reasons import Cause, cause_of, key_of, reason, remedy
from dtnsim.steady.relieved import WORTH, narrowest, path_key, rate_with, tried

RUNGS: Final = 7  #: rungs of the ladder
SHOWN: Final = 12  #: ladders of so many transfers are shown by themselves; of more, that of the first
#: what a place has when it holds nothing any more, by the kind of its station
_WIDE: Final = {"network": "bandwidth=1000 Tb/s", "nic": "rate=1000 Tb/s", "ib": "rate=1000 Tb/s"}
_FASTEST: Final = "clock=10 GHz"  #: the most that a clock may be said to be
#: kinds of boxes on a segment, which TCP sees as the narrowest place of a route
_BOXES: Final = ("firewall", "middlebox")
_DRIVES: Final = ("hdd", "ssd", "unknown", "measured")  #: what lies behind a cache
_SAME_RATE: Final = 1 + 1e-6  #: a rung that is no higher than this over the one below was none


class Ladder(Lazy[Rung]):
    """The rungs of one transfer, `RUNGS` at most, each a solution of the whole path.

    Args:
        problem: The path, its capacities as they are at the answer.
        here: The answer of those that its transfer meets.
        f: Number of the transfer among them.
        cause: What binds it.
        given: The path as it is described; None where nothing of it can be changed.
        told: ``problem`` with those changes alone that help.
    """

    def __init__(
        self, problem: Problem, here: Meeting, f: int, cause: Cause, path: PathSpec | None, helped: Problem
    ) -> None:
        super().__init__(self._climb)
        self._problem, self._m, self._f, self._cause = problem, here.m, f, cause
        self._given, self._told, self._members = path, helped, here.members
        self._rate = float(here.solution.rate[0, f])

    def freed(self) -> tuple[PathSpec, frozenset[str]] | None:
        """The path without what holds the transfer, as ``--set`` would have it, and stations that are to hold nobody.

        A connection gets what its remedy would set, or a wider bottleneck link; a faster clock speeds up all threads of
        its host; a change of a part relieves all stations that it would. Stations that no setting relieves (a port's
        allowance) lose their limit, and workers that bind no longer wait. None if nothing else of the path binds.
        """
        path, problem, k = self._given, self._problem, self._cause.station
        if path is None:
            return None
        gone = {f"{problem.transfers[self._f].name}.workers"}
        if k is not None:
            station = problem.stations[k]
            changed = self._changed(path, problem, self._m, station)
            if changed is not None and self._why(changed[1]) != reason(problem, self._f, self._cause):
                return changed[0], frozenset()
            text, key = remedy(problem, station), key_of(problem, station)
            threads = ".clock" in text
            cores = threads or station.kind == "cpu"
            gone = {s.name for s in problem.stations if cores and (s.kind, s.host) == ("core", station.host)}
            gone |= {s.name for s in problem.stations if key == key_of(problem, s) != "" and remedy(problem, s) == text}
            gone |= {station.name, *self._boxed(problem, self._m, station)}
            after = next((r.station for r in islice(self, 1, None) if r.station not in gone), "")
            if threads and any(s.name == after and s.kind in _DRIVES for s in problem.stations):
                with suppress(DtnsimError):  # who is faster than they are writes to memory, and does not wait for them
                    path = path.changed([f"{key_of(problem, station)}.{_FASTEST}"])
        return (path, frozenset(gone)) if self._why(relief.without(problem, gone)) else None

    def _why(self, whole: Problem) -> str:
        """Why the transfer is bound in another path, in a sentence; empty if nothing binds."""
        problem = part(whole, self._members)
        m = solve.matrices(problem)
        solution = solve.solve(m)
        if not np.isfinite(solution.rate[0, self._f]):
            return ""
        return reason(problem, self._f, cause_of(m, self._f, int(solution.binding[0, self._f])))

    def _climb(self) -> Iterator[Rung]:
        """Relieves the bottleneck and solves again, until nothing binds or there are enough rungs."""
        problem, m, f, cause, rate = self._problem, self._m, self._f, self._cause, self._rate
        path, relieved, named = self._given, list[str | None](), None
        for _ in range(RUNGS):
            station = None if cause.station is None else problem.stations[cause.station]
            name = station.name if station is not None else f"{problem.transfers[f].name}.workers"
            helped = self._with_changes(path, problem, station, rate, relieved)
            text = remedy(problem, helped)
            if station is not None and station.kind == "tcp" and not _settings(problem, station):
                place = narrowest(problem, m, f, station, _WIDE)
                text += f" ({remedy(problem, place)})" if place is not None else ""
            sets = () if helped is None else _settings(problem, helped)
            yield Rung(name, rate, reason(problem, f, cause, named), text, sets)
            named = cause.phase
            changed = None if path is None or station is None else self._changed(path, problem, m, station)
            solution = None
            if changed is not None:
                wider = self._without(changed[1], relieved)
                solution = solve.solve(wider)
                if float(solution.rate[0, f]) > rate * _SAME_RATE:
                    path, problem, m = changed[0], part(changed[1], self._members), wider
                else:  # something else holds that place as well: an allowance, a second port
                    solution = None
            if solution is None:
                gone = [None] if station is None else [station.name, *self._boxed(problem, m, station)]
                relieved += gone
                m = self._wide(problem, m, gone)
                solution = solve.solve(m)
            rate = max(float(solution.rate[0, f]), rate)  # the solver's last digits
            if not np.isfinite(rate):
                return
            cause = cause_of(replace(m, capacity=solution.capacity), f, int(solution.binding[0, f]))

    def _with_changes(
        self, path: PathSpec | None, problem: Problem, station: Station | None, rate: float, gone: list[str | None]
    ) -> Station | None:
        """A station with only those changes that help, no larger than the next rung needs."""
        if station is None or path is None or not station.changes:
            return station
        if problem is self._problem:
            return self._told.stations[problem.stations.index(station)]
        laid_out = partial(self._without, relieved=tuple(gone))
        return tried(problem, station, rate, partial(rate_with, path, f=self._f, arrays=laid_out))

    def _without(self, problem: Problem, relieved: Sequence[str | None]) -> Matrices:
        """A path as arrays without the limits of some stations (None: without this transfer's waits)."""
        return self._wide(problem, solve.matrices(part(problem, self._members)), relieved)

    def _boxed(self, problem: Problem, m: Matrices, station: Station) -> list[str]:
        """Engines of a middlebox that allow a connection no more than it has: the same limit at a second station."""
        box = narrowest(problem, m, self._f, station, _BOXES, times=WORTH) if station.kind == "tcp" else None
        return [] if box is None else [box.name]

    def _wide(self, problem: Problem, m: Matrices, relieved: Sequence[str | None]) -> Matrices:
        """Arrays without the limits of some stations."""
        number = {s.name: k for k, s in enumerate(problem.stations)}
        for name in relieved:
            if name is None or name in number:
                m = solve.relieved(m, station=None if name is None else number[name], transfer=self._f)
        return m

    def _changed(
        self, path: PathSpec, problem: Problem, m: Matrices, station: Station
    ) -> tuple[PathSpec, Problem] | None:
        """The path with the narrowest place of a connection out of the way, composed; None where that is no setting."""
        if station.kind not in ("tcp", *_WIDE) or len(path.transfers) > SHOWN:
            return None
        connection = station.kind == "tcp"
        overrides = _settings(problem, station) if connection else ()
        place = narrowest(problem, m, self._f, station, _WIDE) if connection else station
        if not overrides and place is not None and (key := key_of(problem, place)):
            overrides = (f"{key}.{_WIDE[place.kind]}",)
        if not overrides:
            return None
        try:
            wider = path.changed(overrides)
            return wider, timed.composer(wider, Draw()).problem()
        except DtnsimError:
            return None


def _settings(problem: Problem, station: Station) -> tuple[str, ...]:
    """What a connection's own remedy would set; empty where its narrowest place holds it."""
    return next((tuple(path_key(problem, o) for o in sets) for _, sets, _ in station.changes if sets), ())
