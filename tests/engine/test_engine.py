"""The engine as a SimPy resource: events, changes on the way, watching."""

import math
import random

import pytest
import simpy

from dtnsim.engine.engine import Engine
from dtnsim.ground.errors import InputError
from tests.engine.driver import taken


@pytest.fixture
def env():
    return simpy.Environment()


def ends(env, *transfers):
    """Times at which transfers end, by running to the last."""
    times = {}
    for number, transfer in enumerate(transfers):
        transfer.callbacks.append(lambda _e, n=number: times.__setitem__(n, env.now))
    env.run()
    return [times.get(n, math.nan) for n in range(len(transfers))]


def test_two_transfers_share_and_the_second_rises_when_the_first_ends(env):
    engine = Engine(env, [10.0])
    assert ends(env, engine.transfer({0: 1.0}, 20.0), engine.transfer({0: 1.0}, 60.0)) == [4.0, 8.0]


def test_a_transfer_is_an_event_whose_value_is_the_time_it_took(env):
    engine = Engine(env, [10.0])

    def work():
        yield env.timeout(5.0)
        first = engine.transfer({0: 2.0}, 20.0, label="copy")
        assert first.flow.label == "copy"
        took = yield first
        assert took == 4.0
        return env.now

    process = env.process(work())
    assert env.run(process) == 9.0


def test_weights_caps_and_demands(env):
    engine = Engine(env, [12.0, 100.0])
    slow = engine.transfer({0: 1.0, 1: 1.0}, 1e9, cap=1.0)
    one = engine.transfer({0: 1.0}, 1e9)
    four = engine.transfer({0: 2.0}, 1e9, weight=4.0)
    # 12 = 1 + x + 2 * 4 x
    assert [engine.rate(t) for t in (slow, one, four)] == pytest.approx([1.0, 11 / 9, 44 / 9], rel=1e-15)
    assert engine.bottleneck(slow) is None
    assert engine.bottleneck(one) == engine.bottleneck(four) == 0
    assert taken(engine.fluid, 0) == pytest.approx(12.0)
    assert taken(engine.fluid, 1) == pytest.approx(0.01 * engine.fluid.stations[1])


def test_rates_are_right_at_once_even_before_the_end_of_an_instant(env):
    engine = Engine(env, [10.0])
    first = engine.transfer({0: 1.0}, 100.0)
    assert engine.rate(first) == 10.0
    engine.transfer({0: 1.0}, 100.0)
    assert engine.rate(first) == 5.0


def test_cancel_gives_back_what_is_left_and_the_event_does_not_happen(env):
    engine = Engine(env, [10.0])
    gone, stays = engine.transfer({0: 1.0}, 100.0), engine.transfer({0: 1.0}, 100.0)

    def stop():
        yield env.timeout(4.0)
        assert engine.cancel(gone) == 80.0
        assert engine.cancel(gone) == 0.0
        assert engine.rate(gone) == 0.0
        assert engine.bottleneck(gone) is None

    env.process(stop())
    assert ends(env, stays) == [12.0]
    assert not gone.triggered


def test_change_of_cap_on_the_way(env):
    """A TCP ramp as its caller would do it: the cap doubles each second until the station binds."""
    engine = Engine(env, [8.0])
    ramp, other = engine.transfer({0: 1.0}, 100.0, cap=1.0), engine.transfer({0: 1.0}, 1e9)

    def grow():
        for cap in (2.0, 4.0, 8.0):
            yield env.timeout(1.0)
            engine.change(ramp, cap=cap)
        yield env.timeout(1.0)
        assert engine.left(ramp) == pytest.approx(100 - 1 - 2 - 4 - 4)
        engine.change(ramp, cap=2.5)
        assert engine.rate(ramp) == 2.5
        assert engine.rate(other) == 5.5
        engine.change(ramp, cap=0.0)
        assert engine.rate(ramp) == 0
        engine.change(ramp, cap=math.inf)

    env.process(grow())
    env.run(ramp)
    assert env.now == pytest.approx(4 + 89 / 4)
    engine.change(ramp, cap=1.0)  # nothing: it has ended
    assert [f.owner for f in engine.fluid.live.values()] == [other]


def test_change_of_the_way_itself(env):
    """40 B over a station that gives 10, then the rest over one that gives 2; the other has 10 again."""
    engine = Engine(env, [10.0, 2.0])
    moved, other = engine.transfer({0: 1.0}, 100.0, weight=9.0), engine.transfer({0: 1.0}, 64.0)

    def reroute():
        yield env.timeout(40 / 9)
        engine.change(moved, row={1: 1.0})
        assert engine.left(moved) == pytest.approx(60)
        assert engine.rate(moved) == 2.0
        assert engine.rate(other) == 10.0

    env.process(reroute())
    assert ends(env, moved, other) == pytest.approx([40 / 9 + 30, 40 / 9 + (64 - 40 / 9) / 10])


def test_capacity_changes_at_events_to_zero_and_back(env):
    engine = Engine(env, [10.0])
    transfer = engine.transfer({0: 1.0}, 100.0)

    def outage():
        yield env.timeout(3.0)
        engine.set_capacity(0, 0.0)
        assert engine.rate(transfer) == 0.0
        assert engine.rate(transfer) == 0
        yield env.timeout(100.0)
        engine.set_capacity(0, 35.0)
        assert engine.fluid.stations[0] == 35.0

    env.process(outage())
    assert ends(env, transfer) == [105.0]


def test_things_at_one_instant_are_settled_once(env):
    engine = Engine(env, [10.0, 10.0])
    seen = []
    engine.watch([0, 1], lambda: seen.append(env.now))

    def start(station):
        yield env.timeout(1.0)
        yield engine.transfer({station: 1.0}, 10.0)

    for station in (0, 1, 0, 1):
        env.process(start(station))
    env.run()
    assert seen == [1.0, 3.0]


def test_fifty_thousand_transfers_of_no_bytes_at_one_instant(env):
    engine = Engine(env, [1.0])
    done = env.all_of([engine.transfer({0: 1.0}, 0.0) for _ in range(50_000)])
    env.run(done)
    assert env.now == 0.0


def test_no_limit_at_all_ends_at_once(env):
    engine = Engine(env, [math.inf, 5.0])
    assert ends(env, engine.transfer({0: 3.0}, 1e15), engine.transfer({}, 1.0)) == [0.0, 0.0]
    waiting = engine.transfer({0: 1.0, 1: 1.0}, 1e15)
    env.run(until=2.0)
    engine.set_capacity(1, math.inf)
    assert ends(env, waiting) == [2.0]


def test_lasting_load_holds_its_share_until_it_is_cancelled(env):
    engine = Engine(env, [10.0])
    background = engine.transfer({0: 1.0}, math.inf, cap=4.0)
    transfer = engine.transfer({0: 1.0}, 60.0)

    def stop():
        yield env.timeout(5.0)
        assert engine.cancel(background) == math.inf

    env.process(stop())
    assert ends(env, transfer) == [8.0]


def test_sizes_and_times_far_apart(env):
    engine = Engine(env, [1e9])

    def late():
        yield env.timeout(1e6)
        start = env.now
        yield engine.transfer({0: 1.0}, 1e-12)
        assert env.now == start
        took = yield engine.transfer({0: 1.0}, 1e15, cap=1e8)
        assert took == pytest.approx(1e7, rel=1e-12)

    env.process(late())
    env.run()


def test_same_seed_same_bytes():
    def one():
        rng = random.Random(7)
        env = simpy.Environment()
        engine = Engine(env, [10.0, 7.0, 5.0])
        ends = []

        def user(name):
            for _ in range(20):
                yield env.timeout(rng.expovariate(1.0))
                row = dict.fromkeys(rng.sample(range(3), 2), 1.0)
                took = yield engine.transfer(row, rng.expovariate(0.2), weight=rng.choice([1.0, 2.0]), label=name)
                ends.append((name, env.now, took))

        for name in "abcd":
            env.process(user(name))
        env.run()
        return repr(ends)

    assert one() == one()


def test_bad_arguments(env):
    with pytest.raises(InputError, match=r"needs a simpy\.Environment \(got str\)"):
        Engine("now", [1.0])
    engine = Engine(env, [1.0])
    with pytest.raises(InputError, match="there are stations 0 to 0"):
        engine.transfer({1: 1.0}, 1.0)
    with pytest.raises(InputError, match="there are stations 0 to 0"):
        engine.set_capacity(1, 1.0)
    transfer = engine.transfer({0: 1.0}, 1.0)
    with pytest.raises(InputError, match=r"cap of a flow is -1.0"):
        engine.change(transfer, cap=-1.0)
    assert engine.rate(transfer) == 1.0  # a refused change changes nothing


def test_hundreds_of_watchers_that_call_each_other_are_all_called(env):
    """Each looks at once what its change has made of the next station: no deeper than Python goes."""
    count = 600
    engine = Engine(env, [10.0] * count)
    moving = [engine.transfer({k: 1.0}, 1e3) for k in range(count)]
    seen = []

    def watcher(station):
        def look():
            if station not in seen:
                seen.append(station)
                if station + 1 < count:
                    engine.set_capacity(station + 1, 5.0)
                    engine.rate(moving[station + 1])  # settles the shares within this call

        return look

    def start():
        yield env.timeout(1.0)
        for station in range(count):
            engine.watch([station], watcher(station))
        engine.set_capacity(0, 5.0)

    env.process(start())
    env.run(until=2.0)
    assert sorted(seen) == list(range(count))


def test_who_asks_only_what_holds_back_is_not_called_for_rates(env):
    """A link of 10 and a disk of 4: others take 4 of the link at 1 s, and the disk still binds; 8 at 2 s, not so."""
    engine = Engine(env, [10.0, 4.0])
    seen, sides = [], []
    transfer = engine.transfer({0: 1.0, 1: 1.0}, 1e3)
    transfer.moved = lambda: sides.append(env.now)
    engine.watch([0, 1], lambda: seen.append(env.now), rates=False)

    def others():
        for time in (1.0, 2.0):
            yield env.timeout(1.0)
            engine.transfer({0: 1.0}, 1e3, cap=4.0)
            assert engine.rate(transfer) == (4.0 if time < 2 else 10.0 / 3)
        assert engine.bottleneck(transfer) == 0
        yield env.timeout(1.0)
        engine.set_capacity(1, 3.0)
        assert engine.bottleneck(transfer) == 1

    env.process(others())
    env.run(until=4.0)
    assert seen[-1] == 3.0
    assert 1.0 not in sides
    assert sides[-2:] == [2.0, 3.0]
