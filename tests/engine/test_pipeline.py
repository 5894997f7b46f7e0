"""Buffers between stages: closed forms of filling and draining, and an independent integration of dQ/dt."""

import math
import random

import pytest
import simpy
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.engine.engine import Engine
from dtnsim.engine.pipeline import Buffer, Pipeline, Stage
from dtnsim.ground.errors import InputError, ModelError


def two_stages(rate_in, rate_out, size, buffer, **more):
    env = simpy.Environment()
    engine = Engine(env, [rate_in, rate_out])
    return env, engine, Pipeline(engine, size, [Stage({0: 1.0}), Stage({1: 1.0})], [Buffer(buffer, **more)])


def test_dd_without_sync_then_fdatasync():
    """dd writes into the page cache at memory speed until the dirty limit, then at disk speed; fdatasync waits for
    the disk. Times in closed form: the limit is reached at L / (in - out), the disk is never idle."""
    env, _, job = two_stages(1.25e9, 2e8, 100e9, 40e9)
    env.run(job.stages_done[0])
    full = 40e9 / (1.25e9 - 2e8)
    assert job.moves[0] == (0.0, 0, 0.0)
    assert job.moves[1] == (pytest.approx(full, rel=1e-12), 0, pytest.approx(40e9, rel=1e-12))
    assert env.now == pytest.approx(full + (100e9 - 1.25e9 * full) / 2e8, rel=1e-12)
    env.run(job.done)
    assert env.now == pytest.approx(100e9 / 2e8, rel=1e-12)


def test_what_fits_into_the_cache_is_taken_at_full_speed():
    env, _, job = two_stages(1e9, 1e8, 10e9, 40e9)
    env.run(job.stages_done[0])
    assert env.now == 10.0
    assert job.level(0) == pytest.approx(9e9)
    env.run(job.done)
    assert env.now == pytest.approx(100.0, rel=1e-12)


def test_uci_reads_ahead_until_memory_is_full():
    """UCI's two columns: the disk reads 200 MB/s while the network sends 76 MB/s, until RAM is full; then both 76."""
    env, engine, job = two_stages(200e6, 76e6, 60e9, 31e9)
    full = 31e9 / (200e6 - 76e6)  # 250 s
    env.run(until=full - 1)
    assert (job.rate(0), job.rate(1)) == (200e6, 76e6)
    env.run(until=full + 1)
    assert job.rate(0) == job.rate(1) == 76e6
    assert job.level(0) == pytest.approx(31e9, rel=1e-12)
    assert engine.utilization(0) == pytest.approx(0.38)


def test_an_empty_buffer_holds_the_reader_to_what_comes_in():
    env, engine, job = two_stages(2e8, 1e9, 1e10, 1e9)
    assert job.rate(1) == 2e8
    assert engine.utilization(1) == pytest.approx(0.2)
    env.run(job.done)
    assert env.now == 50.0


def test_background_limit_and_delay_start_the_flush():
    """Writeback starts at the background level, or after some time, or when the writer has finished."""
    for more, start in (({"start_level": 2e9}, 2.0), ({"start_level": 8e9, "start_delay": 5.0}, 5.0)):
        env, engine, job = two_stages(1e9, 5e8, 10e9, 9e9, **more)
        env.run(until=start * 0.99)
        assert engine.utilization(1) == 0.0
        env.run(until=start * 1.01)
        assert engine.utilization(1) == 1.0
        env.run(job.done)
        assert env.now == pytest.approx(start + 20.0, rel=1e-12)
    env, _, job = two_stages(1e9, 5e8, 3e9, 9e9, start_level=8e9)
    env.run(job.done)
    assert env.now == pytest.approx(3.0 + 6.0, rel=1e-12)


def test_both_halves_on_one_station_are_charged_twice():
    """Memory crossed by the writer and by the flusher: with an empty buffer both move at half its rate."""
    env = simpy.Environment()
    engine = Engine(env, [10.0])
    job = Pipeline(engine, 100.0, [Stage({0: 1.0}), Stage({0: 1.0})], [Buffer(30.0)])
    env.run(job.done)
    assert env.now == pytest.approx(20.0, rel=1e-12)


def test_other_transfers_share_with_a_coupled_pair():
    """Full buffer: the pair is one flow over both stations; a stranger on the first takes what the pair leaves."""
    env = simpy.Environment()
    engine = Engine(env, [10.0, 2.0])
    job = Pipeline(engine, 100.0, [Stage({0: 1.0}), Stage({1: 1.0})], [Buffer(8.0)])
    env.run(until=1.5)
    assert job.level(0) == pytest.approx(8.0)
    stranger = engine.transfer({0: 1.0}, 1e9)
    assert (engine.rate(stranger), job.rate(0)) == pytest.approx((8.0, 2.0))


def test_a_buffer_that_was_full_drains_when_the_reader_gets_faster():
    env, engine, job = two_stages(10.0, 5.0, 200.0, 20.0)
    env.run(until=10.0)  # full since 4
    assert job.level(0) == 20.0
    engine.set_capacity(1, 15.0)
    env.run(until=12.0)
    assert job.level(0) == pytest.approx(10.0)
    env.run(until=15.0)  # empty since 14: the reader is held to 10
    assert job.level(0) == 0.0
    assert job.rate(1) == 10.0
    env.run(job.done)
    # read: 5 * 10 by t = 10, 15 * 4 by 14, then 90 at 10
    assert env.now == pytest.approx(23.0, rel=1e-12)
    assert [buffer_moves[:2] for buffer_moves in job.moves] == [(0.0, 0), (4.0, 0), (10.0, 0), (14.0, 0)]


def test_five_stages_run_at_the_slowest_whatever_the_buffers():
    env = simpy.Environment()
    engine = Engine(env, [3.0, 1.25, 1.0, 1.25, 2.0])
    stages = [Stage({k: 1.0}) for k in range(5)]
    job = Pipeline(engine, 100.0, stages, [Buffer(b) for b in (4.0, 0.0, 1e-3, 2.0)])
    env.run(job.done)
    assert env.now == pytest.approx(100.0, rel=1e-12)


def test_one_stage_is_a_transfer_and_no_bytes_are_no_work():
    env = simpy.Environment()
    engine = Engine(env, [4.0])
    env.run(Pipeline(engine, 8.0, [Stage({0: 1.0}, cap=1.0)], []).done)
    assert env.now == 8.0
    env.run(Pipeline(engine, 0.0, [Stage({0: 1.0})], []).done)
    assert env.now == 8.0


def integrate(rates_in, rates_out, size, buffer):
    """Times at which writer and reader finish, from dQ/dt alone: rates are steps ``(from, rate)``; each on its own."""
    times = sorted({t for t, _ in rates_in} | {t for t, _ in rates_out})

    def at(steps, t):
        return [r for s, r in steps if s <= t][-1]

    now, written, read, wrote = 0.0, 0.0, 0.0, None
    while True:
        give, take = at(rates_in, now + 1e-12), at(rates_out, now + 1e-12)
        level = written - read
        into = 0.0 if wrote is not None else give
        out = take
        if level <= 1e-9 and out > into:
            out = into
        if level >= buffer - 1e-9 and into > out:
            into = out
        waits = [t - now for t in times if t > now + 1e-12][:1]
        if into > 0:
            waits.append((size - written) / into)
        if out > 0:
            waits.append((size - read) / out)
        if into - out > 1e-12:
            waits.append((buffer - level) / (into - out))
        if out - into > 1e-12:
            waits.append(level / (out - into))
        step = min(w for w in waits if w > 1e-12)
        now, written, read = now + step, written + into * step, read + out * step
        if wrote is None and written >= size - 1e-9:
            wrote = now
        if read >= size - 1e-9:
            return wrote, now


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9))
def test_stepwise_rates_against_an_integration_by_hand(seed):
    rng = random.Random(seed)
    steps = [[(0.0, rng.uniform(1, 10))] for _ in range(2)]
    for _ in range(rng.randint(0, 6)):
        steps[rng.randrange(2)].append((rng.uniform(0.5, 30), rng.choice([0.0, rng.uniform(1, 10)])))
    for each in steps:
        each.sort()
        each.append((31.0, 5.0))
    size, buffer = rng.uniform(20, 200), rng.uniform(1, 60)
    wrote, read = integrate(steps[0], steps[1], size, buffer)
    env, engine, job = two_stages(steps[0][0][1], steps[1][0][1], size, buffer)

    def change():
        for when, station, rate in sorted((t, k, r) for k, each in enumerate(steps) for t, r in each[1:]):
            yield env.timeout(when - env.now)
            engine.set_capacity(station, rate)

    env.process(change())
    assert_conserved_at_every_event(engine, job)
    env.run(job.stages_done[0])
    assert env.now == pytest.approx(wrote, rel=1e-9)
    env.run(job.done)
    assert env.now == pytest.approx(read, rel=1e-9)


def assert_conserved_at_every_event(engine, job):
    """Bytes in = bytes out + buffered, nothing below zero or above the size, and rates that fit the levels."""

    def look(_now, _engine):
        moved = [job.moved(s) for s in range(len(job.stages))]
        assert all(-1e-9 <= m <= job.size * (1 + 1e-12) for m in moved)
        for at, buffer in enumerate(job.buffers):
            level = moved[at] - moved[at + 1]
            assert -1e-9 * job.size <= level <= buffer.size + 1e-9 * job.size
            assert job.level(at) == pytest.approx(level, rel=1e-9, abs=1e-9 * job.size)

    engine.observe(look)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**9))
def test_long_pipelines_among_others_lose_no_byte_and_come_to_an_end(seed):
    rng = random.Random(seed)
    env = simpy.Environment()
    stations = rng.randint(2, 5)
    engine = Engine(env, [rng.uniform(1, 10) for _ in range(stations)])
    jobs = []
    for _ in range(rng.randint(1, 3)):
        n = rng.randint(2, 4)
        stages = [
            Stage(
                {k: rng.choice([0.5, 1.0]) for k in rng.sample(range(stations), rng.randint(1, 2))},
                weight=rng.choice([1.0, 2.0]),
                cap=rng.choice([math.inf, rng.uniform(0.5, 5)]),
            )
            for _ in range(n)
        ]
        sizes = [rng.choice([0.0, rng.uniform(1, 40)]) for _ in range(n - 1)]
        buffers = [Buffer(s, rng.choice([0.0, s / 2])) for s in sizes]
        jobs.append(Pipeline(engine, rng.uniform(10, 100), stages, buffers))
        assert_conserved_at_every_event(engine, jobs[-1])

    def disturb():
        for _ in range(10):
            yield env.timeout(rng.uniform(0, 10))
            station = rng.randrange(stations)
            if rng.random() < 0.5:
                engine.transfer({station: 1.0}, rng.uniform(1, 50))
            else:
                engine.set_capacity(station, rng.uniform(0.5, 10))

    env.process(disturb())
    env.run()
    assert all(event.triggered for job in jobs for event in job.stages_done)
    assert all(job.moved(s) == job.size for job in jobs for s in range(len(job.stages)))


@pytest.mark.parametrize(
    ("size", "stages", "buffers", "message"),
    [
        (1.0, [], [], "0 stages of a pipeline"),
        (1.0, [Stage({0: 1.0})] * 2, [], "2 stages of a pipeline with 0 buffers"),
        (-1.0, [Stage({0: 1.0})], [], "bytes of a pipeline are -1.0"),
        (math.inf, [Stage({0: 1.0})], [], "bytes of a pipeline are inf"),
        (1.0, [Stage({9: 1.0})], [], "there are stations 0 to 0"),
        (1.0, [Stage({0: 1.0}, weight=-1.0)], [], "weight of a flow is -1.0"),
        (1.0, [Stage({0: 1.0})] * 2, [Buffer(-1.0)], "give a size >= 0"),
        (1.0, [Stage({0: 1.0})] * 2, [Buffer(1.0, 2.0)], "a start level within it"),
    ],
)
def test_bad_arguments(size, stages, buffers, message):
    engine = Engine(simpy.Environment(), [1.0])
    with pytest.raises(InputError, match=message):
        Pipeline(engine, size, stages, buffers)


def test_a_stage_that_nothing_limits_is_refused():
    engine = Engine(simpy.Environment(), [math.inf])
    with pytest.raises(ModelError, match="nothing limits the rate of stage 0"):
        Pipeline(engine, 1.0, [Stage({0: 1.0})], [])
