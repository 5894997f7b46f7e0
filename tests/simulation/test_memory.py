"""Writers that share a host's limits on dirty bytes: every alarm changes something or time moves."""

from __future__ import annotations

import math
from typing import Any
from unittest.mock import patch

import pytest
import simpy
from hypothesis import given, strategies as st

from dtnsim.engine.engine import Engine
from dtnsim.ground.pages import Cache
from dtnsim.ground.records import Demand, Phase, Problem, Station, Transfer
from dtnsim.simulation import transfer_processes
from dtnsim.simulation.cache import PageCache, State
from dtnsim.simulation.jobs import Job, make_job
from dtnsim.simulation.memory import Memory
from dtnsim.simulation.store import COUPLED, Alarm

#: (rate of its way in, rate of its disk, start [s], sizes of its files)
Writer = tuple[float, float, float, list[float]]


class Host:
    """Writers with ways in and disks of their own, one wire that all cross, and one memory."""

    def __init__(self, size: float, writers: list[Writer], wire: float = math.inf, hold: float = 0.0) -> None:
        self.env = simpy.Environment()
        self.memory = Memory(size)
        capacity = [wire, *(rate for way, disk, *_ in writers for rate in (way, disk))]
        stations = tuple(Station(f"s{n}", "h", "", "", c, "B") for n, c in enumerate(capacity))
        self.engine = Engine(self.env, capacity)
        self.jobs: list[Job] = []
        for n, (_, _, start, sizes) in enumerate(writers):
            demands = (
                Demand("s0", 1.0, ""),
                Demand(f"s{2 * n + 1}", 1.0, ""),
                Demand(f"s{2 * n + 2}", 1.0, "", below_cache=True),
            )
            phase, payload = Phase("write", demands, ()), sum(sizes)
            cache = Cache("h", size, hold, math.inf)
            transfer = Transfer(
                f"t{n}", (phase,), 1, payload, len(sizes), sizes_B=tuple(sizes), counts=(1,) * len(sizes),
                cache=cache, buffered=phase, flushed=True, start_s=start,
            )  # fmt: skip
            job = make_job(Problem("p", stations, (transfer,)), transfer, capacity, self.engine.row, 0)
            job.steps = iter([(s, 1) for s in sizes])
            job.cache = PageCache(
                self.engine, job.legs[0], self.memory, payload, write_back=(min(hold, size), math.inf)
            )
            self.jobs.append(job)
        self.done = [self.env.process(transfer_processes.run_job(self.engine, job)) for job in self.jobs]
        self.highest, self.idle, self.steps = 0.0, 0, 0

    def run(self) -> Host:
        end = self.env.all_of(self.done)
        while not end.processed:
            time = self.env.peek()
            if time > self.env.now:
                for job in self.jobs:
                    assert job.cache is not None
                    job.cache.book(self.env.now)
                    self.idle = max(self.idle, job.cache._alarm.idle)
                assert self.memory._alarm is not None
                self.idle = max(self.idle, self.memory._alarm.idle)
                self.highest = max(self.highest, math.fsum(j.cache.level for j in self.jobs if j.cache))
            self.env.step()
            self.steps += 1
            assert self.steps < 20_000, f"time does not move on at {self.env.now!r}"
        return self


def test_a_store_that_is_being_emptied_does_not_wait_for_a_full_memory() -> None:
    """Two fill at a net 30 B/s. The third gains 23 to 6 s, loses 12 to 13 s and 2 from then on: 1000 after 15.9 s.

    That instant is nothing that the third would have to wait for, and the two others have to know that it now comes
    earlier, though no station of theirs has changed.
    """
    writers: list[Writer] = [(50.0, 20.0, 0.0, [3000.0]), (50.0, 20.0, 0.0, [3000.0]), (80.0, 57.0, 0.0, [2000.0])]
    host = Host(1000.0, writers)
    for time, rate in ((6.0, 45.0), (13.0, 55.0)):
        event = host.env.timeout(time, rate)
        event.callbacks.append(lambda e: host.engine.set_capacity(5, e.value))
    host.run()
    assert host.steps < 500
    assert host.highest == pytest.approx(1000.0)
    assert [job.cache.drained for job in host.jobs if job.cache] == pytest.approx([3000.0, 3000.0, 2000.0])


def test_the_limit_holds_for_the_sum_and_the_second_writer_finds_it_used() -> None:
    """One fills 900 of 1000 at a net 100 B/s; the other, at a net 100 from 9 s on, has 100 between them."""
    host = Host(1000.0, [(200.0, 100.0, 0.0, [1e5]), (200.0, 100.0, 9.0, [2000.0])])
    host.env.run(until=9.49)
    first, second = (job.cache for job in host.jobs)
    assert first is not None
    assert second is not None
    assert (first.state, second.state) == (State.FREE, State.FREE)
    host.env.run(until=9.51)
    assert State.FULL in (first.state, second.state)
    first.book(9.51)
    assert first.level == pytest.approx(950.0, rel=2e-3)


def writers_of(files: int, most: int) -> st.SearchStrategy[list[Writer]]:
    """From two writers on, up to so many files each: rates of filling and emptying, when they begin, sizes."""
    return st.lists(
        st.tuples(
            st.integers(1, 40).map(lambda n: 10.0 * n + n / 7),
            st.integers(1, 40).map(lambda n: 9.0 * n + n / 3),
            st.integers(0, 30).map(lambda n: n / 3),
            st.lists(st.integers(1, 5000).map(float), min_size=1, max_size=files),
        ),
        min_size=2,
        max_size=most,
    )


@given(
    writers=writers_of(4, 6),
    size=st.sampled_from([0.0, 1.0, 300.0, 2000.0, 1e5]),
    wire=st.sampled_from([50.0, 333.3, 1e4]),
    hold=st.sampled_from([0.0, 0.5, 1.0]),
)
def test_every_alarm_changes_something_or_time_moves_on(
    writers: list[Writer], size: float, wire: float, hold: float
) -> None:
    host = Host(size, writers, wire, hold * size).run()
    payload = sum(sum(sizes) for *_, sizes in writers)
    assert host.highest <= size + 1e-6 * payload
    assert math.fsum(j.cache.drained for j in host.jobs if j.cache) == pytest.approx(payload)
    assert host.idle <= 3  # rings with nothing to do


@given(writers=writers_of(3, 5), changes=st.lists(st.tuples(st.integers(0, 4), st.floats(0.3, 3.0)), max_size=6))
def test_alarms_that_allow_for_other_rates_lose_no_instant(
    writers: list[Writer], changes: list[tuple[int, float]]
) -> None:
    """Each transfer ends when it does where every change of a rate sets every alarm anew."""
    ends = []
    for band in (1.0, 1.05, 1.5):
        host = Host(700.0, writers, 400.0, 350.0)
        for n, (which, factor) in enumerate(changes):
            station = 2 * (which % len(writers)) + 1
            event = host.env.timeout(1.7 * n + 1.0, (station, factor * host.engine.fluid.stations[station]))
            event.callbacks.append(lambda e, host=host: host.engine.set_capacity(*e.value))
        with patch("dtnsim.simulation.memory._BAND", band):
            ends.append([job.finished for job in host.run().jobs])
    assert ends[1] == pytest.approx(ends[0], rel=1e-6)
    assert ends[2] == pytest.approx(ends[0], rel=1e-6)


def test_an_alarm_that_finds_nothing_to_do_comes_back_ever_later() -> None:
    env, rings = simpy.Environment(1000.0), 0

    def ring() -> bool:
        nonlocal rings
        rings += 1
        alarm.set(0.0)
        return False

    alarm = Alarm(env, ring)
    alarm.set(0.0)
    env.run(until=1000.01)
    assert 20 < rings < 100


@given(writers=writers_of(3, 5), asked=st.lists(st.floats(0.0, 100.0), min_size=1, max_size=8))
def test_what_others_hold_is_their_sum_whoever_asks(writers: list[Writer], asked: list[float]) -> None:
    """And a run does not depend on who was asked before."""
    host, unasked = (Host(700.0, writers, 400.0, 350.0) for _ in range(2))

    def ask(_event: Any) -> None:
        caches = [job.cache for job in host.jobs if job.cache is not None]
        beside = [host.memory.others_hold(cache) for cache in caches]
        assert [host.memory.others_hold(cache) for cache in caches] == beside
        levels = []
        for cache in caches:  # as they were last booked, and what has moved since
            moved = sum(m.left - host.engine.fluid.left(m.flow.flow, host.env.now) for m in cache._fills)
            out = cache.outflow
            gone = cache._out_left - host.engine.fluid.left(out.flow, host.env.now) if out is not None else 0.0
            levels.append(cache.filled - cache.drained + (0.0 if cache.state in COUPLED else moved - gone))
        whole = math.fsum(levels)
        assert beside == pytest.approx([max(whole - level, 0.0) for level in levels], abs=1e-6)

    for time in asked:
        host.env.timeout(time).callbacks.append(ask)
    assert [job.finished for job in host.run().jobs] == pytest.approx(
        [job.finished for job in unasked.run().jobs], rel=1e-12
    )


def test_numbers_that_the_engine_puts_down_afresh_change_nothing() -> None:
    writers: list[Writer] = [(90.0 + 10 * n, 20.0 + n, float(n), [900.0, 500.0]) for n in range(5)]
    ends = []
    for times in ((), (0.5, 3.0, 3.0, 11.0, 27.5, 60.0)):
        host = Host(700.0, writers, 400.0, 350.0)

        def afresh(_event: Any, host: Host = host) -> None:
            host.engine.fluid._put_down(host.env.now)
            host.engine._soon()  # as where a row that is new splits a node

        for time in times:
            host.env.timeout(time).callbacks.append(afresh)
        ends.append([job.finished for job in host.run().jobs])
        assert host.engine.fluid.epoch >= len(times)
    assert ends[1] == pytest.approx(ends[0], rel=1e-9)


@pytest.mark.parametrize("band", [1.0, 1.05])
def test_many_writers_look_no_oftener_each_than_few(band: float) -> None:
    """Where every change of a share were every writer's business, eight times as many would look 64 times as often."""
    looks = []
    for count in (8, 64):
        writers: list[Writer] = [(1e4, 15.0, 0.37 * n, [100.0 + n % 5] * 5) for n in range(count)]
        host = Host(40.0 * count, writers, wire=20.0 * count, hold=10.0 * count)
        with (
            patch("dtnsim.simulation.memory._BAND", band),
            patch.object(PageCache, "look_now", autospec=True, side_effect=PageCache.look_now) as looked,
        ):
            host.run()
        looks.append(looked.call_count / count)
    assert (looks[1] < 2 * looks[0]) == (band > 1), looks
