"""What a simulation hands out: stretches of time joined without loss, spreads over the runs that finished."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtnsim.simulation import simulate
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
