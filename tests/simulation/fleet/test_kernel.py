"""`kernel`: one source, plain and compiled, gives the same bytes; and the shares are those of `dtnsim.engine`.

`layout`, `state`, `heaps`, `memory`, `chains`, `sides`, `changes`, `shares`, `books`, `traffic`, `entry` and
`compiled`.
"""

from __future__ import annotations

import heapq
import math
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.engine.fluid import Fluid
from dtnsim.simulation.fleet.kernel import compiled

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "engine")]

import workloads  # noqa: E402
from test_course import scene  # noqa: E402
from yard import course, ended  # noqa: E402

numba = pytest.mark.skipif(not compiled.compiles(), reason="numba is not installed: pip install 'dtn-pathsim[fast]'")


def anew():
    """What a new process says that needs the compiled loop."""
    script = (
        "import sys; from dtnsim.simulation.fleet.kernel import compiled; compiled.fast(); "
        "assert not any(m == 'numba' for m in sys.modules), 'read numba'"
    )
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False).stderr


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A folder where code is kept, for all tests here; what the process said that compiled it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NUMBA_CACHE_DIR", str(tmp_path_factory.mktemp("code")))
        compiled.fast.cache_clear(), compiled._made.cache_clear()
        yield anew()
    compiled.fast.cache_clear(), compiled._made.cache_clear()


def by_engine(capacity, rows, ready, size, lane, cap):
    """When flows end on the engine that `dtnsim simulate` runs on."""
    fluid = Fluid(list(capacity))
    made = [fluid.row(row) for row in rows]
    end, i, now = np.full(len(ready), np.nan), 0, 0.0
    while np.isnan(end).any():
        now = min(fluid.next_time(), ready[i] if i < len(ready) else np.inf)
        for flow in fluid.finished(now):
            end[flow.label] = now
        while i < len(ready) and ready[i] <= now:
            flow = fluid.flow(made[lane[i]], float(size[i]), 1.0, float(cap[i]))
            flow.label = i
            fluid.start(flow, now)
            i += 1
        fluid.settle(now)
    return end


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_shares_are_those_of_the_engine(seed):
    """Two implementations of max-min fairness end every flow at the same time."""
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
    assert ended(made) == pytest.approx(by_engine(capacity, rows, ready, size, lane, cap), rel=1e-9)


def same(one, other):
    for name in ("begun", "ended", "status", "way", "resent", "tries"):
        assert np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True), name
    assert (one.now, one.events, one.held) == (other.now, other.events, other.held)
    assert [(a.tolist(), b.tolist()) for a, b in one.hours] == [(a.tolist(), b.tolist()) for a, b in other.hours]


@numba
@pytest.mark.long
@pytest.mark.usefixtures("kept")
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_compiled_gives_the_same_bytes_through_queues_and_faults(seed):
    one, other = course(**scene(seed), fast=False), course(**scene(seed), fast=True)
    for made in (one, other):
        while not made.run(7):
            pass
    same(one, other)


@numba
@pytest.mark.long
@pytest.mark.usefixtures("kept")
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
@pytest.mark.usefixtures("kept")
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
    kernel.give_back(h, kernel.turns())


def test_compiling_has_to_pay(monkeypatch, tmp_path):
    monkeypatch.setattr(compiled, "_folder", lambda: tmp_path)
    monkeypatch.setattr(compiled, "compiles", lambda: True)
    assert [compiled.worth(n) for n in (9_999, 10_000, 199_999, 200_000)] == [False, False, False, True]
    assert [compiled.worth(n, 10) for n in (9_999, 10_000, 20_000)] == [False, False, True]  # ten runs
    monkeypatch.setattr(compiled.native, "there", lambda folder: folder == tmp_path)
    assert [compiled.worth(n) for n in (9_999, 10_000)] == [False, True]
    monkeypatch.setattr(compiled, "compiles", lambda: False)
    assert not compiled.worth(10**6)


def test_machine_code_that_is_kept_is_called_without_numba(tmp_path):
    """And what is damaged, or of another processor, is as if it were not there."""
    native = compiled.native
    pytest.importorskip("llvmlite")
    assert native.loaded(tmp_path, 2) is None
    assert not native.there(tmp_path)
    code = """define i32 @add(ptr %to, ptr %wrong, i64 %a, i64 %b) {
        %sum = add i64 %a, %b
        store i64 %sum, ptr %to
        %odd = icmp slt i64 %sum, 0
        %status = zext i1 %odd to i32
        ret i32 %status }"""
    native.keep(tmp_path, "add", native.object_of(code))
    add = native.loaded(tmp_path, 2)
    assert native.there(tmp_path)
    assert add(2, 40) == 42
    with pytest.raises(RuntimeError, match="rest"):
        add(2, -40)
    file = native.file_in(tmp_path)
    file.write_bytes(file.read_bytes()[:-1])
    assert native.loaded(tmp_path, 2) is None


@numba
@pytest.mark.long
def test_code_that_needs_more_than_memory_is_called_by_numba(tmp_path):
    made = compiled.native.compiled(lambda a, b: int(math.gamma(a)) + b, 2, tmp_path)
    assert made(5, 8) == 32
    assert not compiled.native.there(tmp_path)
    made = compiled.native.compiled(lambda a, b: a + b, 2, tmp_path)
    assert made(2, 40) == compiled.native.loaded(tmp_path, 2)(2, 40) == 42


@numba
@pytest.mark.long
def test_the_loop_is_kept(kept):
    """One process compiles, another finds the code and does not read numba."""
    assert "read numba" in kept
    assert anew() == ""


def test_without_numba_nothing_is_compiled(monkeypatch):
    monkeypatch.setattr(compiled, "compiles", lambda: False)
    compiled.fast.cache_clear()
    try:
        assert compiled.fast() is None
        assert ended(course([1.0], [0.0], [2.0], fast=True)).tolist() == [2.0]
    finally:
        compiled.fast.cache_clear()
