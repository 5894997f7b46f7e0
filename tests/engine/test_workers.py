"""Workers that draw jobs from an iterator."""

import pytest
import simpy

from dtnsim.engine.engine import Engine
from dtnsim.engine.workers import worker_pool
from dtnsim.ground.errors import InputError


def test_sizes_are_drawn_one_at_a_time():
    drawn = []

    def sizes():
        for n in range(100):
            drawn.append(n)
            yield 1.0

    env = simpy.Environment()
    engine = Engine(env, [1.0])
    done = []

    def copy(size):
        yield engine.transfer({0: 1.0}, size)

    env.run(until=env.any_of([worker_pool(env, sizes(), 3, copy, done.append), env.timeout(10.0)]))
    assert len(drawn) <= len(done) + 3


def test_jobs_start_in_order_as_workers_become_free():
    env, started = simpy.Environment(), []

    def work(job):
        started.append((env.now, job))
        yield env.timeout(job)

    env.run(worker_pool(env, [3.0, 1.0, 1.0, 2.0], 2, work))
    assert started == [(0.0, 3.0), (0.0, 1.0), (1.0, 1.0), (2.0, 2.0)]
    assert env.now == 4.0


def test_no_jobs_are_done_at_once():
    env = simpy.Environment()
    env.run(worker_pool(env, [], 2, lambda job: iter(())))
    assert env.now == 0.0


def test_no_worker_is_refused():
    with pytest.raises(InputError, match="workers is 0"):
        worker_pool(simpy.Environment(), [1], 0, iter)
