"""When promises break as demand grows: the first deadline that is missed, and completion that takes twice as long.

A week without failures is run with the demand of later years, until it misses a deadline of a class, or until the p95
of its completion is twice that of the first week. So a date is that of the broken promise, whatever the utilisation is.

Neglects: failures and maintenance (a deadline that a broken node misses is counted in the run itself), seasons, traces.
"""

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from dtnsim.description import calendar
from dtnsim.description.workload import YEAR_S, Workload
from dtnsim.ground.quantity import Quantity
from dtnsim.simulation.fleet import answers, arrivals
from dtnsim.simulation.fleet.answers import HORIZON, Promise
from dtnsim.simulation.fleet.build import Fleet

_STEP: Final = 0.25  #: how finely a date is told [years]
_WEEKS: Final = 8  #: weeks that are run for one run's dates, about
_LOOK: Final = 1_000_000  #: events between two looks
_FIRST: Final = (0.0, 1.0, 3.0, 6.0, HORIZON)  #: years that are tried first


@dataclass(frozen=True, slots=True)
class _Week:
    missed: int
    deadlines: int  # that fall into it
    done: int
    p95_s: float
    held: str


class StoppedError(Exception):
    """Somebody wants it to end."""


def growing(workload: Workload) -> list[str]:
    """The classes that grow, of which promises are asked."""
    kinds = workload.classes.items()
    return [name for name, kind in kinds if kind.trace is None and arrivals.growth_of(kind, workload) > 0]


def promises(
    fleet: Fleet, seed: int, scenario: int, stop: Callable[[float], bool] = lambda _: False
) -> tuple[Promise, ...]:
    """The promises of the classes that grow; ``stop`` is asked, with the years gone by, before each week is run."""
    weeks: dict[float, dict[str, _Week]] = {}

    def week(years: float) -> dict[str, _Week]:
        if years not in weeks:
            if stop(years):
                raise StoppedError
            weeks[years] = _week(fleet, years, seed, scenario)
        return weeks[years]

    promised = []
    for name in growing(fleet.workload):
        base = week(0.0)[name]
        if not base.done:  # none of it in a week, or in what is simulated of it
            continue
        missed = _first(lambda y, n=name: week(y)[n].missed > 0) if base.deadlines else None  # type: ignore[misc]
        doubled = _first(lambda y, n=name, b=base: week(y)[n].p95_s > 2 * b.p95_s)  # type: ignore[misc]
        breaks = min((y for y in (missed, doubled) if y is not None and math.isfinite(y)), default=None)
        promised.append(Promise(name, missed, doubled, week(breaks)[name].held if breaks is not None else ""))
    return tuple(promised)


def _first(broken: Callable[[float], bool]) -> float:
    """The first time at which something is broken, from the start on; infinite beyond the horizon [years]."""
    low = 0.0
    for high in _FIRST:
        if broken(high):
            break
        low = high
    else:
        return math.inf
    while high - low > _STEP:
        middle = (low + high) / 2
        low, high = (low, middle) if broken(middle) else (middle, high)
    return high


def _week(fleet: Fleet, years: float, seed: int, scenario: int) -> dict[str, _Week]:
    """The classes in a week of a later year."""
    span = min(fleet.workload.span.value, calendar.WEEK_S)
    update = {"span": Quantity(span, "s"), "ahead": Quantity(years * YEAR_S, "s"), "failures": [], "maintenance": []}
    later = copy.copy(fleet)
    later.workload, later.runs = fleet.workload.model_copy(update=update), fleet.runs * _WEEKS
    built = later.ready(seed, scenario)
    while not built.course.run(_LOOK):
        pass
    groups, _ = answers.groups(built, later.workload)
    causes = answers.holders(built, later.workload)
    course = built.course
    falling = np.bincount(course.kinds[course.work.due < course.now], minlength=len(groups))
    return {
        g.name: _Week(
            g.missed, int(falling[n]), g.done, g.completion_s[1] if g.done else math.inf, next(iter(causes[g.name]), "")
        )
        for n, g in enumerate(groups[:-1])
    }
