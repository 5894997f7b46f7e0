"""Random histories of the engine, and what must hold after each step of them."""

import math
import random

import pytest

from dtnsim.engine import layout as at
from dtnsim.engine.fluid import Fluid
from tests.engine.driver import taken
from tests.engine.slow_fluid import exact_filling, progressive_filling


def started(capacities, *rows, sizes=None):
    """The engine with a flow for each row since time 0, lasting ones where nothing else is said, and the flows."""
    fluid = Fluid(capacities)
    flows = [fluid.flow(fluid.row(row), size) for row, size in zip(rows, sizes or [math.inf] * len(rows), strict=True)]
    for flow in flows:
        assert fluid.start(flow, 0.0)
    fluid.settle(0.0)
    return fluid, flows


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


def nodes_of(fluid, flow):
    """Node -> what a byte of a flow costs there."""
    row, f, q = flow.row.at, fluid.f, fluid.q
    pairs = q[row + at.PAIRS]
    return {q[p]: f[p] for p in range(pairs, pairs + q[row + at.N_PAIRS])}


def assert_books_balance(fluid):
    """What the engine keeps by adding and subtracting is what adding up afresh gives."""
    f, q, flows = fluid.f, fluid.q, list(fluid.live.values())
    crosses = {flow: nodes_of(fluid, flow) for flow in flows}
    for node in fluid.network.members:
        capacity = f[node + at.CAPACITY]
        used = math.fsum(fluid.rate(flow) * crosses[flow].get(node, 0.0) for flow in flows)
        if math.isfinite(capacity):
            assert capacity - used == pytest.approx(f[node + at.SPARE], abs=1e-9 * capacity + 1e-300)
        load, held = {}, [flow for flow in flows if fluid.side(flow) == node]
        for flow in held:
            for other, demand in crosses[flow].items():
                load.setdefault(other, []).append(demand * flow.weight)
        slots = q[q[node + at.LOADS] : q[node + at.LOADS] + q[node + at.N_LOADS]]
        kept = {q[s + at.OTHER]: f[s] for s in slots}
        assert kept == pytest.approx({other: math.fsum(parts) for other, parts in load.items()}, rel=1e-9)
        assert q[node + at.COUNT] == len(held)
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
