"""What is worked out, and how often, while transfers are laid out in time."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dtnsim.ground.quantity import Value
from dtnsim.ground.records import Demand, Phase, Problem, Slowdown, Station
from dtnsim.steady import epochs, shares, solve
from dtnsim.steady.ceilings import Workers
from tests.steady.test_epochs import LINK, transfer


def _drives(capacity: Value, stall: float) -> Problem:
    """Sixty transfers, begun one after the other, that share the link they cross and the memory of one host."""
    memory = Station("memory", "h", "memory", "memory", 1e4, "B")
    cores = [Station(f"cores{n}", "h", "cpu", "cpu", 90.0 + n, "cycles", private=True) for n in range(60)]
    made = []
    for n in range(60):
        visits = (Demand("link", 1.0, "x"), Demand("memory", 2.0, "x"), Demand(f"cores{n}", 1.0, "x"))
        made.append(replace(transfer(f"t{n}", 100.0 + 37 * n % 190, start=n / 2), phases=(Phase("p", visits),)))
    slow = (Slowdown("memory", tuple(c.name for c in cores), stall, 0.44),) if stall else ()
    return Problem("p", (replace(LINK, capacity=capacity), memory, *cores), tuple(made), slowdowns=slow)


def _counted(monkeypatch: pytest.MonkeyPatch, whose: Any, name: str) -> list[int]:
    """Gets an entry whenever a function is called."""
    calls = list[int]()
    whole = getattr(whose, name)

    def called(*given: Any, **named: Any) -> Any:
        calls.append(1)
        return whole(*given, **named)

    monkeypatch.setattr(whose, name, called)
    return calls


@pytest.mark.parametrize("stall", [0.0, 0.25])
def test_who_shares_nothing_that_fills_is_as_fast_as_alone(monkeypatch: pytest.MonkeyPatch, stall: float) -> None:
    """A link that nobody fills and a memory that slows nobody: no station is filled."""
    filled = _counted(monkeypatch, shares, "_Filling")
    found = epochs.rates(_drives(1e6, stall))
    np.testing.assert_allclose(found, [np.arange(90.0, 150.0)], rtol=1e-12)
    assert not filled


def test_a_link_that_fills_and_a_memory_that_slows_are_felt(monkeypatch: pytest.MonkeyPatch) -> None:
    filled = _counted(monkeypatch, shares, "_Filling")
    full = epochs.rates(_drives(250.0, 0.25))
    assert filled
    assert full.min() < 85.0
    problem = _drives(1e6, 0.25)
    busy = replace(
        problem, stations=tuple(replace(s, capacity=400.0) if s.name == "memory" else s for s in problem.stations)
    )
    assert epochs.rates(busy).min() < 90.0


@pytest.mark.parametrize(("count", "epochs_most", "built_most"), [(24, 24, 12), (600, 90, 32)])
def test_rounds_grow_with_the_logarithm_of_many(
    monkeypatch: pytest.MonkeyPatch, count: int, epochs_most: int, built_most: int
) -> None:
    """Every end of few is an epoch; of many a twelfth end together, and arrays are made anew for a fifth less."""
    problem = Problem("p", (LINK,), tuple(transfer(f"t{n}", 100.0 + n) for n in range(count)))
    asked, built = _counted(monkeypatch, solve.Rates, "while_active"), _counted(monkeypatch, solve, "_Prepared")
    epochs.rates(problem)
    assert len(asked) <= epochs_most + 1  # and once for all together
    assert 2 < len(built) <= built_most


def test_scenarios_that_are_behind_go_on_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those ahead wait meanwhile, and get the rates that they get where all go on together."""
    problem = _drives(350.0 * np.exp(np.random.default_rng(1).normal(0.0, 0.3, 16)), 0.25)
    found = []
    for wide in (2, 1000):
        monkeypatch.setattr(epochs, "_WIDE", wide)
        found.append(epochs.rates(replace(problem, transfers=problem.transfers[:20])))
    np.testing.assert_allclose(*found, rtol=1e-8)


def test_what_workers_allow_is_asked_again_only_where_memory_slows_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two that wait now and then share a link: their weights take rounds, their ceilings stay."""
    asked = _counted(monkeypatch, Workers, "ceilings")
    wait = (Demand("w", 0.004, "wait"),)
    made = [
        replace(transfer(f"t{n}", 100.0), phases=(Phase("p", (Demand("link", 1.0 + n, "x"),), wait),)) for n in (0, 1)
    ]
    problem = Problem("p", (LINK, Station("memory", "h", "memory", "memory", 300.0, "B")), tuple(made))
    m = solve.matrices(problem)
    solve.solve(m)
    assert len(asked) == 1
    busy = [
        replace(t, phases=tuple(replace(p, demands=(*p.demands, Demand("memory", 2.0, "x"))) for p in t.phases))
        for t in made
    ]
    m = solve.matrices(replace(problem, transfers=tuple(busy), slowdowns=(Slowdown("memory", ("link",), 0.25, 0.1),)))
    asked.clear()
    solve.solve(m)
    assert len(asked) > 2


def test_weights_of_workers_that_are_elsewhere_go_by_their_secants(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two that wait, one more than the other, settle in less than half the rounds that step by step they need."""
    waits = [(Demand("w", seconds, "wait", each="file"),) for seconds in (0.0004, 0.004)]
    made = [
        replace(transfer(f"t{n}", 100.0), phases=(Phase("p", (Demand("link", 1.0, "x"),), waits[n]),)) for n in (0, 1)
    ]
    problem = Problem("p", (LINK,), tuple(made))
    asked = _counted(monkeypatch, shares.Shares, "filled")
    found, rounds = solve.solve(solve.matrices(problem)).rate, len(asked)
    asked.clear()
    monkeypatch.setattr(solve, "_FURTHEST", 1.0)
    monkeypatch.setattr(solve, "_WEIGHED", 100)
    monkeypatch.setattr(solve, "_ELSEWHERE", 1e-12)
    whole = solve.solve(solve.matrices(problem)).rate
    assert rounds <= 7
    assert len(asked) > 2 * rounds
    np.testing.assert_allclose(found, whole, rtol=1e-5)
    assert found[0, 0] > found[0, 1]
