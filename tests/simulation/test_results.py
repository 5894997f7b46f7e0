"""What a simulation hands out: stretches of time joined without loss, spreads over the runs that finished."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtnsim.simulation import simulate
from dtnsim.simulation.durations import Durations, quantiles
from dtnsim.simulation.results import Held, joined
from tests.simulation.slow import SLOW, make


def stretches(lengths: list[float], names: str) -> tuple[Held, ...]:
    edges = [0.0]
    for length in lengths:
        edges.append(edges[-1] + length)
    return tuple(Held(a, b, name) for (a, b), name in zip(pairwise(edges), names, strict=True))


def test_short_stretches_become_one_of_what_held_longest() -> None:
    held = stretches([5.0, 0.1, 0.3, 0.1, 5.0], "abcba")
    result = joined(held, 0.4)
    assert [h.station for h in result] == ["a", "c", "a"]
    assert [h.start_s for h in result] == pytest.approx([0.0, 5.0, 5.5], abs=0.11)


def test_a_short_rest_belongs_to_the_stretch_before() -> None:
    assert joined(stretches([5.0, 0.1], "ab"), 1.0) == (Held(0.0, 5.1, "a"),)
    assert joined(stretches([0.1, 0.2], "ab"), 1.0) == (Held(0.0, 0.1 + 0.2, "b"),)
    assert joined((), 1.0) == ()


@given(st.lists(st.tuples(st.floats(1e-3, 10), st.sampled_from("abc")), min_size=1, max_size=40), st.floats(0, 20))
def test_joined_stretches_cover_the_same_time(told: list[tuple[float, str]], width: float) -> None:
    held = stretches([t for t, _ in told], "".join(n for _, n in told))
    result = joined(held, width)
    assert (result[0].start_s, result[-1].end_s) == (held[0].start_s, held[-1].end_s)
    assert all(a.end_s == b.start_s and a.station != b.station for a, b in pairwise(result))
    lasts = [h.end_s - h.start_s for h in result]
    assert all(max(pair) >= width * (1 - 1e-9) for pair in pairwise(lasts))  # never two short ones side by side


def test_spread_is_of_the_runs_that_finished() -> None:
    whole = simulate(make(SLOW), replicas=5, processes=1)
    rates, durations = whole.spread(0)
    assert len(rates) == len(durations) == 5
    assert [r * d for r, d in zip(rates, durations, strict=True)] == pytest.approx([100e9] * 5)
    cut = simulate(make(SLOW), replicas=5, processes=1, until=sorted(durations)[2] * (1 + 1e-9))
    assert not cut.complete
    assert not cut.interrupted
    assert len(cut.spread(0)[0]) == 3
    assert replace(whole, wanted=6).interrupted


def test_of_a_transfer_that_has_not_begun_nothing_is_told() -> None:
    late = simulate(make(SLOW, transfer__start="100 s"), until=50.0).runs[0].transfers[0]
    assert math.isnan(late.started_s)
    assert math.isnan(late.throughput_Bps)
    assert late.file_quantiles((0.5,)) == []
    assert (late.payload_B, late.files, late.held) == (0.0, 0, ())


def test_few_are_kept_as_they_come() -> None:
    kept = Durations()
    for seconds, files in ((3.0, 1), (1.0, 5), (2.0, 1)):
        kept.add(seconds, files)
    found, counts = kept.arrays()
    assert found.tolist() == [3.0, 1.0, 2.0]
    assert counts.tolist() == [1, 5, 1]


@given(st.lists(st.tuples(st.floats(0, 1e6), st.integers(1, 100)), min_size=1, max_size=60), st.integers(1, 16))
def test_less_room_keeps_the_sum_and_the_number(entries: list[tuple[float, int]], room: int) -> None:
    kept = Durations()
    for seconds, files in entries:
        kept.add(seconds, files)
    found, counts = kept.arrays(room)
    assert len(found) <= room
    assert counts.sum() == sum(n for _, n in entries)
    # sums of at most 60 doubles up to 1e8 each
    assert found @ counts == pytest.approx(sum(s * n for s, n in entries), rel=1e-9, abs=1e-9)


def test_quantiles_weigh_by_files() -> None:
    """One file of 1 s and nine of 2 s: a tenth of the files takes no more than 1 s."""
    assert quantiles([1.0, 2.0], [1, 9], [0.1, 0.11, 0.5, 1.0]).tolist() == [1.0, 2.0, 2.0, 2.0]


@given(st.lists(st.floats(0, 1e3), min_size=1, max_size=50), st.floats(0.01, 1.0))
def test_quantiles_are_those_of_numpy(values: list[float], share: float) -> None:
    found = float(quantiles(values, np.ones(len(values)), [share])[0])
    at_most = sum(v <= found for v in values)
    assert at_most >= share * len(values) - 1e-6
