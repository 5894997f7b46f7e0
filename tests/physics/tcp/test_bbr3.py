"""BBR v2 and v3 beside others, against what the draft fixes and papers found."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.physics.tcp import _bbr3, competition, controls, linux
from dtnsim.physics.tcp._bbr3 import Bbr3
from dtnsim.physics.tcp._flow import PROBE_BW

RATE, RTT = 4000.0, 0.04


def part(cc: str, other: str, bdp: float, loss: float = 0.0) -> float:
    """Part of the link that a flow has beside another, after ten seconds."""
    groups = [competition.Group(cc, RTT, 1e9, 1), competition.Group(other, RTT, 1e9, 1, 0.45)]
    run = competition.race(groups, competition.Link(RATE, bdp * RATE * RTT, loss), warmup_s=10, duration_s=30, most=4)
    return float(np.median(run.rate[:, 0]) / RATE)


@pytest.mark.parametrize("cc", ["bbr2", "bbr3"])
def test_beside_cubic_it_is_fairer_than_the_first_at_small_buffers_and_loses_at_large_ones(cc: str) -> None:
    """Kfoury et al. 2020 and Cho and Cho 2024: better coexistence than v1's, unfair over large tail-drop buffers."""
    small = part(cc, "cubic", 0.5)
    assert 0.5 < small < part("bbr", "cubic", 0.5) - 0.1
    assert part(cc, "cubic", 16.0) < 0.35


def test_alone_it_fills_a_link_that_loses_less_than_its_threshold() -> None:
    """draft-ietf-ccwg-bbr: 2 % of a flight; Reno has a tenth there."""
    assert part("bbr3", "reno", 1.0, loss=0.005) > 0.8


def test_a_probe_that_loses_too_much_bounds_what_is_in_flight() -> None:
    f = Bbr3(controls.find("bbr3"), 0.1, 0.0, 10, 1e9)
    f.mode, f.phase, f.full, f.probes = PROBE_BW, _bbr3.UP, True, True
    f.bandwidth, f.least, f.cwnd = 1000.0, 0.1, 150.0
    f.in_flight, f.lost_trip = 130.0, 130.0 * linux.BBR3_LOSS_THRESHOLD * 1.5
    _bbr3.upper_bound(f, 10.0, 1.0, 0.5)
    assert f.upper == 130.0
    assert f.phase == _bbr3.DOWN
    assert linux.BBR3_PROBE_S <= f.wait <= linux.BBR3_PROBE_S + 1


@settings(max_examples=20, deadline=None)
@given(
    st.sampled_from(["bbr2", "bbr3"]), st.lists(st.tuples(st.floats(0, 40), st.booleans()), min_size=20, max_size=60)
)
def test_its_window_stays_within_its_bounds(cc: str, slices: list[tuple[float, bool]]) -> None:
    f = Bbr3(controls.find(cc), 0.1, 0.0, 10, 1e9)
    for n, (acked, lost) in enumerate(slices):
        f.acked += acked
        f.losses = f.lost_trip = 3.0 * lost
        f.new_round, f.trip = n % 4 == 0, 0.1
        f.got = f.in_flight = f.flight = 4 * acked
        _bbr3.bbr3_flow(f, acked, acked / 0.025, 0.025 * (n + 1), 0.5)
        assert f.cwnd >= linux.BBR_MIN_WINDOW
        if acked > 1e-9:
            assert f.cwnd <= max(f.low, linux.BBR_MIN_WINDOW)
        assert f.pace > 0
