"""Finite buffers against exact chains, a published formula, a simulation, and NASA's two writers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.physics import buffers, memory

GBIT = 1e9 / 8


def settle(stages, queues, slots):
    """Moves parts on until nothing can move. A stage is "idle", "busy" or "done" (holds a finished part)."""
    last = len(stages) - 1
    moved = True
    while moved:
        moved = False
        for i in range(last, -1, -1):
            if stages[i] == "done":
                if i == last:
                    stages[i] = "idle"
                elif stages[i + 1] == "idle" and queues[i] == 0:
                    stages[i], stages[i + 1] = "idle", "busy"
                elif queues[i] < slots[i]:
                    stages[i], queues[i] = "idle", queues[i] + 1
                moved |= stages[i] == "idle"
            if stages[i] == "idle" and (i == 0 or queues[i - 1] > 0):
                stages[i], moved = "busy", True
                if i > 0:
                    queues[i - 1] -= 1
    return tuple(stages), tuple(queues)


def exact_exponential_line(rates, slots):
    """Throughput of a line with exponential service, blocking after service, from its Markov chain."""
    n = len(rates)
    start = settle(["idle"] * n, [0] * (n - 1), slots)
    index, todo, moves = {start: 0}, [start], []
    while todo:
        state = todo.pop()
        for i, mu in enumerate(rates):
            if state[0][i] == "busy":
                stages = list(state[0])
                stages[i] = "done"
                after = settle(stages, list(state[1]), slots)
                if after not in index:
                    index[after] = len(index)
                    todo.append(after)
                moves.append((index[state], index[after], mu, i == n - 1))
    q, out = np.zeros((len(index), len(index))), np.zeros(len(index))
    for here, there, mu, leaves in moves:
        q[here, there] += mu
        q[here, here] -= mu
        out[here] += mu * leaves
    a = np.vstack([q.T, np.ones(len(index))])
    pi = np.linalg.lstsq(a, np.append(np.zeros(len(index)), 1), rcond=None)[0]
    return float(pi @ out)


def simulate(rates, slots, scv, n=20000, seed=7):
    """Departure times by the max-plus recursion with gamma services (blocking after service)."""
    rng = np.random.default_rng(seed)
    service = [rng.gamma(1 / scv, scv / mu, n).tolist() for mu in rates]
    done = [[0.0] * n for _ in rates]
    last = len(rates) - 1
    for j in range(n):
        t = 0.0
        for i, own in enumerate(done):
            t = max(t, own[j - 1] if j else 0.0) + service[i][j]
            room = j - slots - 1
            if i < last and room >= 0:
                t = max(t, done[i + 1][room])
            own[j] = t
    return n / done[-1][-1]


def blumenfeld(stages, slots, cv):
    """Blumenfeld, Int. J. Production Research 28(6), 1990: equal stations, unit mean."""
    return 1 / (1 + 1.67 * (stages - 1) * cv / (1 + stages + 0.31 * cv + 1.67 * stages * slots / (2 * cv)))


@pytest.mark.parametrize(("slots", "efficiency"), [(0, 2 / 3), (1, 0.75), (2, 0.80), (8, 10 / 11), (32, 34 / 35)])
def test_equal_exponential_stages(slots, efficiency):
    assert buffers.two_stage_rate(1, 1, slots) == pytest.approx(efficiency)


@pytest.mark.parametrize(("a", "b"), [(1, 1), (1, 1.3), (2, 1), (1, 5)])
@pytest.mark.parametrize("slots", [0, 3])
def test_two_exponential_stages_are_exact(a, b, slots):
    assert buffers.two_stage_rate(a, b, slots) == pytest.approx(exact_exponential_line([a, b], [slots]), rel=1e-9)


def test_hillier_boling_three_and_four_stages():
    """Exact 0.5641 and 0.5148 without buffers (Hillier and Boling, Operations Research 15, 1967)."""
    assert exact_exponential_line([1, 1, 1], [0, 0]) == pytest.approx(0.5641, abs=5e-5)
    assert exact_exponential_line([1] * 4, [0] * 3) == pytest.approx(0.5148, abs=5e-5)
    assert buffers.line_rate([1, 1, 1], 0) == pytest.approx(0.5641, rel=0.015)
    assert buffers.line_rate(np.ones(4), 0) == pytest.approx(0.5148, rel=0.025)


@pytest.mark.parametrize("rates", [(1, 1, 1), (1, 1.05, 1.2), (1.5, 1, 1.1)])
@pytest.mark.parametrize("slots", [1, 4])
def test_three_unequal_stages(rates, slots):
    # 2 %: the aggregation treats the two sides of a stage as independent
    exact = exact_exponential_line(rates, [slots, slots])
    assert buffers.line_rate(rates, slots) == pytest.approx(exact, rel=0.02)


@pytest.mark.parametrize("stages", [2, 3, 5])
@pytest.mark.parametrize("slots", [0, 2, 8])
@pytest.mark.parametrize("cv", [0.3, 0.6, 1.0])
def test_against_blumenfelds_formula(stages, slots, cv):
    # Two approximations, each a few percent off the truth at most: 6 %.
    assert buffers.line_rate(np.ones(stages), slots, cv**2) == pytest.approx(blumenfeld(stages, slots, cv), rel=0.06)


@pytest.mark.parametrize(
    ("rates", "slots", "scv"),
    [
        ((1, 1), 0, 0.25),
        ((1, 1.1), 4, 0.5),
        ((1, 1), 16, 2.0),
        ((1, 1.02, 1.05), 8, 0.25),
        ((1.3, 1, 1.1), 2, 0.5),
    ],
)
def test_against_simulation(rates, slots, scv):
    # 2.5 %: 20 000 services leave 1 % of noise, the formula itself 1.5 % in these cases
    assert buffers.line_rate(rates, slots, scv) == pytest.approx(simulate(rates, slots, scv), rel=0.025)


def test_no_buffer_is_the_mean_of_the_maximum():
    """Without a buffer X = 1/E[max(S1, S2)]: Erlang-2 1.375, uniform on (0, 2) 4/3 (closed forms)."""
    assert buffers.two_stage_rate(1, 1, 0, 0.5, 0.5) == pytest.approx(1 / 1.375, rel=0.02)
    assert buffers.two_stage_rate(1, 1, 0, 1 / 3, 1 / 3) == pytest.approx(0.75, rel=0.04)


def test_brownian_limit():
    # mu (1 - c^2 / B) for a long buffer; next order 2 c / B: 1 %
    loss = 1 - buffers.two_stage_rate(1, 1, 1000, 0.5, 1.5)
    assert loss == pytest.approx(1 / 1000, rel=0.01)


def test_nasa_two_writers_lie_in_the_interval_of_the_priors():
    """Two writer streams, each array, port and core of one stream; measured 17.82 Gb/s in all, min 19.7.

    Rates are the component runs, cycles rise by the memory law, slots (4-64) and squared coefficients of
    variation (0.25-1) are assumed. Those ranges were written down with 17.82 known: this checks that the
    law is consistent with the run, it is no blind prediction. The interval must hold the measurement and
    be narrower than half the value, and the plain minimum must lie above its bulk.
    """
    rng = np.random.default_rng(3)
    n = 4000
    bus = memory.sustained_bandwidth(memory.peak_bandwidth(3, 1066.67e6), 0.76)

    def load(gbps):
        return gbps * GBIT * 5 / bus

    alone = 0.99 * 3.2e9 / (10.29 * GBIT)
    factor = memory.interference(load(19.0), rng.uniform(0.15, 0.35, n), load(10.29))
    core = 3.2e9 / (alone * factor) / GBIT
    port = np.full(n, 10 * 8948 / 9038)
    read, write = np.full(n, 21.24 / 2), np.full(n, 20.46 / 2)  # dd: 68.72 GB in 25.88 s and 26.87 s
    rates = np.stack([read, port, core, write], axis=-1)
    slots = np.exp(rng.uniform(np.log(4), np.log(64), (n, 1)))
    total = 2 * buffers.line_rate(rates, slots, rng.uniform(0.25, 1, (n, 1)))
    p5, p95, least = np.percentile(total, 5), np.percentile(total, 95), 2 * rates.min(axis=-1)
    assert p5 < 17.8249 < p95
    assert p95 - p5 < 17.8249 / 2
    assert np.median(total) < 0.97 * np.median(least)


def test_slots_and_limits():
    assert buffers.buffer_slots(4e6, 1e6) == 4
    assert buffers.aggregate_scv(1.0, 4) == 0.25
    assert buffers.two_stage_rate(1, 1, 0, 0, 0) == pytest.approx(1, abs=1e-5)  # constant service
    assert buffers.two_stage_rate(1, 1e9, 0) == pytest.approx(1)
    assert buffers.line_rate([1.5, 3.0, 2.0], 0, 0) == pytest.approx(1.5)  # constant service
    assert buffers.line_rate(5.0, 3) == 5
    assert buffers.line_rate([np.inf, 2.0, np.inf], 4) == pytest.approx(2)  # endlessly fast stages
    assert buffers.two_stage_rate(np.inf, 2.0, 0) == pytest.approx(2)
    assert buffers.line_rate([5.0], 3) == 5
    assert buffers.line_rate(np.ones(4), 1e9) == pytest.approx(1)
    assert buffers.line_rate(np.ones((7, 3)), np.full((7, 2), 4.0), 0.5).shape == (7,)
    assert buffers.line_efficiency([2.0, 2.0], 8) == pytest.approx(10 / 11)


rates = st.floats(0.1, 10)


@settings(max_examples=60)
@given(a=rates, b=rates, c=rates, slots=st.floats(0, 200), scv=st.floats(0, 2))
def test_properties(a, b, c, slots, scv):
    x = buffers.line_rate([a, b, c], slots, scv)
    assert 0 < x <= min(a, b, c) * (1 + 1e-9)
    assert buffers.line_rate([a, b, c], slots + 1, scv) >= x * (1 - 1e-6)
    assert buffers.line_rate([a, b, c], slots, scv + 0.1) <= x * (1 + 1e-6)
    assert buffers.line_rate([1.1 * a, b, c], slots, scv) >= x * (1 - 1e-6)
    # a line backwards has the same throughput
    assert buffers.line_rate([c, b, a], slots, scv) == pytest.approx(x, rel=1e-4)
    assert buffers.two_stage_rate(a, b, slots, scv, scv) >= x * (1 - 1e-6)
