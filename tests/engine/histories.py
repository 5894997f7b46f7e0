"""Random histories of the engine, and what must hold after each step of them."""

from __future__ import annotations

import math
import random

import pytest
from driver import taken
from slow_fluid import exact_filling, progressive_filling

from dtnsim.engine.fluid import Fluid


def answer(fluid, solver=progressive_filling):
    flows = list(fluid.live.values())
    rates = solver(
        fluid.stations, [dict(f.row.demands) for f in flows], [f.weight for f in flows], [f.cap for f in flows]
    )
    return {f.number: r for f, r in zip(flows, rates, strict=True)}


def holds(fluid, rates, tolerance):
    return all(abs(fluid.rate(f) - rates[f.number]) <= tolerance * rates[f.number] for f in fluid.live.values())


def assert_fair(fluid, tolerance=1e-9):
    """The engine's rates are the oracle's; where sums in doubles differ, rational numbers decide."""
    if not holds(fluid, answer(fluid), tolerance):
        rates = answer(fluid, exact_filling)
        assert holds(fluid, rates, tolerance), [(fluid.rate(f), float(rates[f.number])) for f in fluid.live.values()]


def assert_books_balance(fluid):
    """What the engine keeps by adding and subtracting is what adding up afresh gives."""
    for node, capacity in enumerate(fluid.capacity):
        if math.isfinite(capacity):
            spare = pytest.approx(fluid.spare[node], abs=1e-9 * capacity + 1e-300)
            assert capacity - fluid.used(node) == spare
        load = {}
        for row in fluid.held[node]:
            assert row.node == node
            for other, demand in row.pairs:
                load[other] = load.get(other, 0.0) + demand * math.fsum(f.weight for f in row.free.values())
        assert fluid.load[node] == pytest.approx(load, rel=1e-9)
        assert fluid.count[node] == sum(len(r.free) for r in fluid.held[node])
    for station, capacity in enumerate(fluid.stations):
        assert taken(fluid, station) <= capacity * (1 + 1e-9)


def history(seed, orders, steps=30):
    """A random history; ``orders``: powers of ten that weights, demands and capacities spread over, up and down."""
    rng = random.Random(seed)
    stations = rng.randint(1, 6)

    def spread(usual):
        return 10 ** rng.uniform(-orders, orders) if orders else rng.choice(usual)

    def capacity():
        plain = 10 ** rng.uniform(-1 - orders, 1 + orders)
        return rng.choice([0.0, plain, plain, math.inf]) if orders else plain

    fluid = Fluid([10 ** rng.uniform(-1, 1) for _ in range(stations)])
    now = 0.0
    for _ in range(steps):
        now += rng.random()
        what = rng.random()
        if what < 0.6 or not fluid.live:
            row = {k: spread([1, 1, 2, 0.5]) for k in range(stations) if rng.random() < 0.5} or {0: 1}
            cap = 10 ** rng.uniform(-1.5, 1) if rng.random() < 0.6 else math.inf
            fluid.start(fluid.flow(fluid.row(row), math.inf, spread([1, 1, 2, 0.3]), cap), now)
        elif what < 0.9:
            fluid.withdraw(rng.choice(list(fluid.live.values())), now)
        else:
            fluid.set_capacity(rng.randrange(stations), capacity())
        if rng.random() < 0.8:
            fluid.settle(now)
            yield fluid
