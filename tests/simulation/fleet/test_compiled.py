"""One source, plain and `compiled`, gives the same bytes.

`layout`, `state`, `heaps`, `compiled_heaps`, `flow_lists`, `rate_updates`, `max_min` and
`traffic`.
"""

import heapq
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dtnsim.simulation.fleet import compiled
from tests.engine import workloads
from tests.engine.slow_fluid import Job, event_by_event
from tests.simulation.fleet.test_event_loop import scene
from tests.simulation.fleet.yard import course, ended

numba = pytest.mark.skipif(not compiled.compiles(), reason="numba is not installed: pip install 'dtn-pathsim[fast]'")


def anew(folder):
    """What another process says that needs the compiled loop: whether it was kept, and the CPU seconds that it took."""
    script = (
        "import time; from dtnsim.simulation.fleet import compiled; kept = compiled.worth(compiled.WORTH_READING); "
        "begun = time.process_time(); compiled.fast(); print(kept, time.process_time() - begun)"
    )
    env = {**os.environ, "NUMBA_CACHE_DIR": str(folder)}
    kept, seconds = subprocess.check_output([sys.executable, "-c", script], text=True, env=env).split()
    return kept == "True", float(seconds)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder where code is kept, for all tests here."""
    with pytest.MonkeyPatch.context() as patch:
        made = tmp_path_factory.mktemp("code")
        patch.setenv("NUMBA_CACHE_DIR", str(made))
        compiled.fast.cache_clear()
        yield made
    compiled.fast.cache_clear()


@given(st.integers(0, 10**6))
def test_flows_end_when_progressive_filling_from_event_to_event_says(seed):
    """Lanes, queues and the kernel beside a solver that shares no code with them."""
    rng = np.random.default_rng(seed)
    stations, n = int(rng.integers(2, 8)), 60
    capacity = rng.lognormal(0, 1, stations)
    rows = [
        {int(k): float(rng.choice([0.5, 1.0, 2.0])) for k in rng.choice(stations, rng.integers(1, stations), False)}
        for _ in range(6)
    ]
    ready = np.sort(rng.choice([0.0, 1.0, 5.0], n) + rng.choice([0.0, 1.0], n) * rng.exponential(5, n))
    size, lane, cap = rng.lognormal(0, 1, n), rng.integers(0, 6, n), rng.lognormal(-1, 1.5, n)
    made = course(capacity, ready, size, rows=rows, lane=lane, cap=cap, own=1e300)
    jobs = [Job(*one[:2], rows[one[2]], 1.0, one[3]) for one in zip(ready, size, lane, cap, strict=True)]
    assert ended(made) == pytest.approx(event_by_event(capacity, jobs), rel=1e-9)


def same(one, other):
    for name in ("begun", "ended", "status", "way", "resent", "tries"):
        assert np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True), name
    assert (one.now, one.events, one.held_seconds) == (other.now, other.events, other.held_seconds)
    assert [(a.tolist(), b.tolist()) for a, b in one.hours] == [(a.tolist(), b.tolist()) for a, b in other.hours]


@numba
@pytest.mark.long
@pytest.mark.usefixtures("folder")
@given(st.integers(0, 10**6))
def test_compiled_gives_the_same_bytes_through_queues_and_faults(seed):
    one, other = course(**scene(seed), fast=False), course(**scene(seed), fast=True)
    for made in (one, other):
        while not made.run(7):
            pass
    same(one, other)


@numba
@pytest.mark.long
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", ["w1", "w2"])
def test_compiled_gives_the_same_bytes_with_many_flows(name):
    starts, sizes, which, caps = (np.array(column) for column in getattr(workloads, name)(3000))
    order = np.argsort(starts, kind="stable")
    one, other = (
        course(
            workloads.capacities(), starts[order], sizes[order], rows=workloads.rows(), own=1e300, lane=which[order],
            cap=caps[order], fast=fast,
        )
        for fast in (False, True)
    )  # fmt: skip
    ended(one), ended(other)
    same(one, other)


@numba
@pytest.mark.long
@pytest.mark.usefixtures("folder")
def test_compiled_heaps_are_heaps():
    kernel, number = compiled.fast(), random.Random(1)
    h, mine = kernel.lists(2), []
    for _ in range(3000):
        if mine and number.random() < 0.4:
            assert kernel.pop(h, 1) == heapq.heappop(mine)
        else:
            e = (float(number.randrange(20)), number.randrange(5), number.randrange(5))
            kernel.push(h, 1, *e)
            heapq.heappush(mine, e)
        assert kernel.size(h, 1) == len(mine)
    kernel.give_back(h)


def test_compiling_has_to_pay(monkeypatch, tmp_path):
    read, compile_ = compiled.WORTH_READING, compiled.WORTH_COMPILING
    monkeypatch.setattr(compiled, "_folder", lambda: tmp_path)
    monkeypatch.setattr(compiled, "compiles", lambda: True)
    assert [compiled.worth(n) for n in (read - 1, read, compile_ - 1, compile_)] == [False, False, False, True]
    assert compiled.worth(compile_ // 10 + 1, 10)  # ten runs
    (tmp_path / "traffic.run-25.py311.1.nbc").write_bytes(b"code")
    assert [compiled.worth(*n) for n in ((read - 1,), (read,), (read // 8 + 1, 8))] == [False, True, True]
    monkeypatch.setattr(compiled, "compiles", lambda: False)
    assert not compiled.worth(10**7)


@numba
@pytest.mark.long
def test_the_loop_is_kept(tmp_path):
    """Two processes at once compile once; a third reads the code; one with other source compiles anew."""
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(anew, [tmp_path] * 2)
    assert min(first[1], second[1]) < 0.3 * max(first[1], second[1])
    kept, seconds = anew(tmp_path)
    assert kept
    assert seconds < 0.3 * max(first[1], second[1])


def test_code_that_cannot_be_read_or_kept_is_compiled_each_time():
    kept = Mock(**{f"{name}.side_effect": OSError for name in ("load_overload", "save_overload", "flush")})
    compiled._at_need(kept)
    assert (kept.load_overload(), kept.save_overload(), kept.flush.called) == (None, None, True)


def test_without_numba_nothing_is_compiled(monkeypatch):
    monkeypatch.setattr(compiled, "compiles", lambda: False)
    compiled.fast.cache_clear()
    try:
        assert compiled.fast() is None
        assert ended(course([1.0], [0.0], [2.0], fast=True)).tolist() == [2.0]
    finally:
        compiled.fast.cache_clear()
