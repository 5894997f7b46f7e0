"""A path in another state: only numbers may change, and they change by the same factor in every draw."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dtnsim.ground.errors import SpecError
from dtnsim.ground.records import Demand, Phase, Problem, Station, Transfer
from dtnsim.simulation.variants import as_drawn, check_same


def problem(capacity: object, demand: object = 1.0) -> Problem:
    station = Station("a", "h", "a", "t", capacity, "B")  # type: ignore[arg-type]  # float or array
    row = Phase("p", (Demand("a", demand, "x"),))  # type: ignore[arg-type]
    return Problem("t", (station,), (Transfer("t", (row,), 1, 1e9, 1),))


def test_the_same_stations_pass() -> None:
    check_same(problem(1.0), problem(2.0), (0,))


def test_another_station_or_another_job_is_refused() -> None:
    other = problem(1.0)
    other = replace(other, stations=(replace(other.stations[0], name="b"),))
    with pytest.raises(SpecError, match="what the path is made of"):
        check_same(problem(1.0), other, (0,))
    more = problem(1.0)
    more = replace(more, transfers=(replace(more.transfers[0], files=2),))
    with pytest.raises(SpecError, match="what is moved"):
        check_same(problem(1.0), more, (0,))


def test_a_draw_changes_by_the_factor_of_the_median() -> None:
    """Nominal 10 -> 5 halves a scenario that had drawn 12 to 6."""
    drawn = problem(np.array([8.0, 12.0]))
    assert as_drawn(problem(10.0), problem(5.0), drawn, 1).stations[0].capacity == 6.0


def test_what_was_nothing_takes_the_median() -> None:
    assert as_drawn(problem(0.0), problem(5.0), problem(np.array([0.0, 0.0])), 0).stations[0].capacity == 5.0


def test_what_does_not_change_stays_as_drawn() -> None:
    drawn = problem(np.array([8.0, 12.0]))
    assert as_drawn(problem(10.0), problem(10.0), drawn, 0).stations[0].capacity == 8.0
