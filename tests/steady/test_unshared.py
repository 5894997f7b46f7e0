"""Who shares nothing that fills runs as if alone, and is not solved for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dtnsim.ground.records import Demand, Phase, Problem, Slowdown, Station
from dtnsim.steady import epochs, solve
from dtnsim.steady.ceilings import Workers
from dtnsim.steady.unshared import Unshared, slowed
from tests.steady.test_epochs import LINK, transfer


def _drives(capacity: float, stall: float) -> Problem:
    """Sixty transfers, begun one after the other, that share the link they cross and the memory of one host."""
    memory = Station("memory", "h", "memory", "memory", 1e4, "B")
    cores = [Station(f"cores{n}", "h", "cpu", "cpu", 90.0 + n, "cycles", private=True) for n in range(60)]
    made = []
    for n in range(60):
        visits = (Demand("link", 1.0, "x"), Demand("memory", 2.0, "x"), Demand(f"cores{n}", 1.0, "x"))
        made.append(replace(transfer(f"t{n}", 100.0 + 37 * n % 190, start=n / 2), phases=(Phase("p", visits),)))
    slow = (Slowdown("memory", tuple(c.name for c in cores), stall, 0.44),) if stall else ()
    return Problem("p", (replace(LINK, capacity=capacity), memory, *cores), tuple(made), slowdowns=slow)


@pytest.mark.parametrize("stall", [0.0, 0.25])
def test_who_shares_nothing_that_fills_is_never_solved_for(monkeypatch: pytest.MonkeyPatch, stall: float) -> None:
    """A link that nobody fills and a memory that slows nobody: each runs as it does alone, and nothing is solved."""
    solved = list[int]()
    whole = epochs.filled
    monkeypatch.setattr(epochs, "filled", lambda *given: (solved.append(1), whole(*given))[1])
    found = epochs.rates(_drives(1e6, stall))
    np.testing.assert_allclose(found, [np.arange(90.0, 150.0)], rtol=1e-12)
    assert not solved


def test_who_shares_what_fills_or_what_slows_is_solved_for(monkeypatch: pytest.MonkeyPatch) -> None:
    solved = list[int]()
    whole = epochs.filled
    monkeypatch.setattr(epochs, "filled", lambda *given: (solved.append(1), whole(*given))[1])
    full = epochs.rates(_drives(250.0, 0.25))
    assert solved
    assert full.min() < 85.0
    solved.clear()
    problem = _drives(1e6, 0.25)
    busy = replace(
        problem, stations=tuple(replace(s, capacity=400.0) if s.name == "memory" else s for s in problem.stations)
    )
    slow = epochs.rates(busy)
    assert solved
    assert slow.min() < 90.0


def test_all_by_themselves_are_as_fast_as_each_solved_alone() -> None:
    problem = _drives(250.0, 0.25)
    m = solve.matrices(problem)
    alone = [solve.solve(solve.matrices(replace(problem, transfers=(t,)))).rate[0, 0] for t in problem.transfers]
    np.testing.assert_allclose(Unshared(m).rate[:, 0], alone, rtol=1e-12)
    assert (slowed(m, Unshared(m).rate.T) > 1).all()  # all sixty together load their memory


def test_what_workers_allow_is_asked_again_only_where_memory_slows_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two that wait now and then share a link: their weights take rounds, their ceilings stay."""
    asked = list[int]()
    whole = Workers.ceilings
    monkeypatch.setattr(Workers, "ceilings", lambda *given: (asked.append(1), whole(*given))[1])
    wait = (Demand("w", 0.004, "wait"),)
    made = [
        replace(transfer(f"t{n}", 100.0), phases=(Phase("p", (Demand("link", 1.0 + n, "x"),), wait),)) for n in (0, 1)
    ]
    problem = Problem("p", (LINK, Station("memory", "h", "memory", "memory", 300.0, "B")), tuple(made))
    m = solve.matrices(problem)
    solve.filled(m, Workers(m), np.ones((1, 2), dtype=bool))
    assert len(asked) == 1
    busy = [
        replace(t, phases=tuple(replace(p, demands=(*p.demands, Demand("memory", 2.0, "x"))) for p in t.phases))
        for t in made
    ]
    m = solve.matrices(replace(problem, transfers=tuple(busy), slowdowns=(Slowdown("memory", ("link",), 0.25, 0.1),)))
    asked.clear()
    solve.filled(m, Workers(m), np.ones((1, 2), dtype=bool))
    assert len(asked) > 2
