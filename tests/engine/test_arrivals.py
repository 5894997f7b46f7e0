"""Transfers in time: finish times against a slow event-by-event oracle, SimGrid, and conservation of bytes."""

import csv
import math
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dtnsim.ground.errors import InputError, ModelError
from tests.each import cases, rows, tables
from tests.engine import workloads
from tests.engine.driver import run_arrivals
from tests.engine.slow_fluid import Job, event_by_event

SIMGRID = Path(__file__).parent / "data" / "simgrid_332_1000.csv"


def scene(seed):
    """A random set of jobs on stations whose capacities change, to zero and back."""
    rng = random.Random(seed)
    stations = rng.randint(1, 5)
    capacity = [rng.uniform(1, 10) for _ in range(stations)]
    jobs = []
    for _ in range(rng.randint(1, 25)):
        row = {k: rng.choice([0.5, 1.0, 1.0, 2.0]) for k in range(stations) if rng.random() < 0.5} or {0: 1.0}
        start = rng.choice([rng.uniform(0, 20), float(rng.randint(0, 3))])
        size = rng.choice([0.0, 1e-12, rng.uniform(0.1, 30), rng.uniform(0.1, 30)])
        cap = rng.uniform(0.1, 5) if rng.random() < 0.5 else math.inf
        jobs.append(Job(start, size, row, rng.choice([1.0, 1.0, 3.0]), cap))
    changes = []
    for _ in range(rng.randint(0, 4)):
        station, when = rng.randrange(stations), rng.uniform(0, 20)
        changes += [(when, station, rng.choice([0.0, rng.uniform(0.5, 10)])), (when + 5, station, capacity[station])]
    return capacity, jobs, changes


def run(capacity, jobs, changes=(), **more):
    return run_arrivals(
        capacity,
        [j.start for j in jobs],
        [j.size for j in jobs],
        [j.row for j in jobs],
        weights=[j.weight for j in jobs],
        caps=[j.cap for j in jobs],
        changes=changes,
        **more,
    )


@given(st.integers(0, 10**9))
def test_finish_times_are_those_of_the_slow_oracle(seed):
    capacity, jobs, changes = scene(seed)
    expected = event_by_event(capacity, jobs, changes)
    found = run(capacity, jobs, changes)
    assert found.finish == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(st.integers(0, 10**9))
def test_no_byte_is_lost_at_any_event(seed):
    """At every event: what has flowed (rates times time) and what is left are what was started."""
    capacity, jobs, changes = scene(seed)
    flowed: dict[int, float] = {}
    last = [0.0, {}]

    def observe(now, fluid):
        for number, rate in last[1].items():
            flowed[number] = flowed.get(number, 0.0) + rate * (now - last[0])
        last[0] = now
        last[1] = {f.label: fluid.rate(f) for f in fluid.live.values()}
        for flow in fluid.live.values():
            gone = flowed.get(flow.label, 0.0)
            assert gone + fluid.left(flow, now) == pytest.approx(flow.size, rel=1e-9, abs=1e-12)

    result = run(capacity, jobs, changes, observe=observe)
    for number, job in enumerate(jobs):
        assert flowed.get(number, 0.0) == pytest.approx(job.size, rel=1e-9, abs=1e-9)
    assert not result.left


@pytest.mark.parametrize("load", ["w1", "w2"])
def test_finish_times_of_1000_flows_are_simgrids(load):
    with SIMGRID.open() as lines:
        expected = [float(r[load]) for r in csv.DictReader(line for line in lines if line[0] != "#")]
    starts, sizes, which, caps = getattr(workloads, load)(1000)
    found = run_arrivals(workloads.capacities(), starts, sizes, workloads.rows(), which, caps=caps)
    assert np.max(np.abs(found.finish / expected - 1)) < 1e-6


def test_same_input_gives_the_same_bytes():
    starts, sizes, which, caps = workloads.w2(500)
    runs = [run_arrivals(workloads.capacities(), starts, sizes, workloads.rows(), which, caps=caps) for _ in range(2)]
    assert runs[0].finish.tobytes() == runs[1].finish.tobytes()
    assert runs[0].mean == runs[1].mean


def test_many_transfers_of_no_bytes_end_when_they_start():
    n = 200_000
    starts = np.repeat([1.0, 2.0], n // 2)
    found = run_arrivals([0.0], starts, np.zeros(n), [{0: 1.0}], np.zeros(n, int))
    assert np.array_equal(found.finish, starts)


@cases("capacities, starts, sizes, demands, more, finish, rel", tables("engine/tables")["ends"])
def test_when_transfers_end(capacities, starts, sizes, demands, more, finish, rel):
    found = run_arrivals(capacities, starts, sizes, demands, **more)
    assert found.finish == pytest.approx(finish, rel=rel, abs=0)


def test_a_small_file_late_in_a_long_run_keeps_its_digits():
    """The virtual clock of a busy station has gone far by then; it must not swallow a small file."""
    found = run_arrivals([1e9], [0.0, 9e6], [2e16, 1e3], [{0: 1.0}] * 2)
    assert found.finish[1] - 9e6 == pytest.approx(2e-6, abs=4e-9)  # the clock of the run has 2e-9 there
    left = []

    def observe(now, fluid):
        left.append([fluid.left(flow, now) for flow in fluid.live.values()])

    run_arrivals([1e9], [0.0, 9e6], [2e16, 1e3], [{0: 1.0}] * 2, observe=observe)
    assert left[1] == pytest.approx([1.1e16, 1e3], rel=1e-12)


def test_transfers_that_can_never_end_are_told_of():
    with pytest.raises(ModelError, match=r"1 transfers can never end after 2.0 s: stations \[0\] have no capacity"):
        run_arrivals([10.0], [0.0], [100.0], [{0: 1.0}], changes=[(2.0, 0, 0.0)])
    stopped = run_arrivals([10.0], [0.0], [100.0], [{0: 1.0}], changes=[(2.0, 0, 0.0)], until=50.0)
    assert math.isnan(stopped.finish[0])
    assert stopped.left == {0: pytest.approx(80.0)}


def test_until_stops_in_the_middle():
    found = run_arrivals([10.0], [0.0, 0.0], [20.0, 100.0], [{0: 1.0}] * 2, until=6.0)
    assert found.finish[0] == 4.0
    assert found.left == {1: pytest.approx(60.0)}
    assert found.mean == pytest.approx((2 * 4 + 2) / 6)


@cases("arguments, message", rows("engine/tables", "bad_arguments"))
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        run_arrivals(*arguments)


def test_nothing_to_do_is_done():
    found = run_arrivals([1.0], [], [], [])
    assert len(found.finish) == 0
    assert found.mean == 0.0
