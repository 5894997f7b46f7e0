"""Steps in time of use, rates and bottlenecks."""

import pytest
import simpy

from dtnsim.engine.engine import Engine
from dtnsim.engine.trace import Steps, Trace
from dtnsim.ground.errors import InputError


@pytest.fixture
def env():
    return simpy.Environment()


def test_trace_tells_use_rates_and_bottlenecks(env):
    engine = Engine(env, [10.0, 4.0])
    trace = Trace(engine)
    engine.transfer({0: 1.0, 1: 1.0}, 8.0, label="a")

    def later():
        yield env.timeout(1.0)
        engine.transfer({0: 1.0}, 30.0, label="b")
        engine.transfer({0: 1.0}, 6.0, label="b", cap=1.0)

    env.process(later())
    env.run()
    trace.close()
    # a: 4 until t = 2; b: 5 and 1 from 1 to 2, then 9 and 1: its first ends at 2 + 25/9, its second at 7
    assert trace.rate["a"].times == [0.0, 2.0]
    assert trace.rate["a"].values == [4.0, 0.0]
    assert trace.rate["b"].values == pytest.approx([6.0, 10.0, 1.0, 0.0])
    assert trace.rate["b"].times == pytest.approx([1.0, 2.0, 2 + 25 / 9, 7.0])
    assert trace.count["b"].values == [2, 1, 0]
    assert trace.holder["a"] == [(0.0, 1), (2.0, -1)]
    assert trace.holder["b"] == [(1.0, 0), (pytest.approx(2 + 25 / 9), None), (7.0, -1)]
    assert trace.utilization[1].at(1.5) == 1.0
    total = sum(trace.rate[x].mean(0.0, 7.0) * 7.0 for x in "ab")
    assert total == pytest.approx(44.0, rel=1e-12)  # all bytes
    assert trace.utilization[0].mean(0.0, 7.0) * 70 == pytest.approx(44.0, rel=1e-12)


def test_steps():
    steps = Steps()
    for now, value in ((1.0, 5.0), (2.0, 5.0), (3.0, 1.0), (3.0, 2.0)):
        steps.add(now, value)
    assert steps.times == [1.0, 3.0]
    assert steps.values == [5.0, 2.0]
    assert steps.at(0.5) == 0.0
    assert steps.mean(0.0, 5.0) == pytest.approx((10 + 4) / 5)
    with pytest.raises(InputError, match="the end must be after the start"):
        steps.mean(2.0, 2.0)


def test_only_the_stations_that_were_asked_for(env):
    engine = Engine(env, [1.0, 1.0])
    trace = Trace(engine, [1])
    env.run(engine.transfer({0: 1.0, 1: 0.5}, 1.0))
    assert list(trace.utilization) == [1]
    assert trace.utilization[1].at(0.5) == 0.5
