"""The ramp of a connection: doubling, its closed-form cost, windows, losses, and a step function that adds up."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.physics.tcp import ramp
from dtnsim.physics.tcp.opening import opening

WIDE = {"rate_Bps": 1.25e9, "rtt_s": 0.05, "mtu_B": 9000.0}
LINK = 1.25e9 * 8948 / 9000


def test_slow_start_doubles_each_round_trip():
    o = opening(**WIDE)
    assert o.times_s[:3] == pytest.approx([0, 0.075, 0.125])
    assert np.diff(o.times_s[1:]) == pytest.approx(0.05)
    assert o.rates_Bps[0] == 0  # handshake, and half a round trip to the receiver
    assert o.rates_Bps[1] * 0.05 == pytest.approx(10 * 8948, rel=0.05)  # RFC 6928; rounds last a little longer than T
    assert o.rates_Bps[2:] / o.rates_Bps[1:-1] == pytest.approx(2.0, rel=0.03)
    assert o.steady_Bps == pytest.approx(LINK, rel=0.005)


def test_it_costs_what_the_closed_form_says():
    # handshake, half a round trip, and the doubling up to the link; rounds against a continuous doubling: one round
    o = opening(**WIDE)
    want = 1.5 * 0.05 + float(ramp.slow_start_deficit(LINK, 0.05, 8948)) / LINK
    assert o.delay_s == pytest.approx(want, abs=0.05)
    assert o.delivered_B(100.0) == pytest.approx(LINK * (100 - o.delay_s), rel=1e-3)
    assert o.delivered_B(0.0) == 0


def test_a_window_shortens_the_ramp_and_bounds_the_rate():
    o = opening(**WIDE, window_B=2**20)
    assert o.steady_Bps == pytest.approx(2**20 / 0.05, rel=0.01)
    assert o.rates_Bps.max() <= 2**20 / 0.05 * 1.01
    assert o.times_s[-1] < opening(**WIDE).times_s[-1]


def test_random_loss_lets_slow_start_overshoot_the_steady_rate():
    o = opening(**WIDE, loss=1e-4)
    assert o.rates_Bps.max() > 3 * o.steady_Bps
    assert o.deficit_B < 0


def test_bbr_reaches_the_link_and_stays():
    o = opening(**WIDE, cc="bbr")
    assert o.times_s[-1] < 2.0
    assert o.steady_Bps == pytest.approx(LINK, rel=0.04)  # but for a pause every ten seconds


def test_unknown_algorithms_are_refused_and_answers_remembered():
    with pytest.raises(KeyError):
        opening(**WIDE, cc="vegas")
    assert opening(**WIDE) is opening(**WIDE)


@given(
    rate=st.floats(6, 10.6), trip=st.floats(-3.5, -0.5), loss=st.sampled_from([0.0, 1e-6, 1e-3]),
    cc=st.sampled_from(["reno", "cubic", "htcp", "bbr", "bbr3"]), streams=st.sampled_from([1, 4]),
    buffer=st.sampled_from([0.05, 1.0, np.inf]),
)  # fmt: skip
@settings(max_examples=25, deadline=None)
def test_never_above_the_link_and_always_ahead(rate, trip, loss, cc, streams, buffer):
    rate, trip = 10**rate, 10**trip
    o = opening(rate_Bps=rate, rtt_s=trip, loss=loss, cc=cc, streams=streams, buffer_B=max(buffer * rate * trip, 6e3))
    assert np.isfinite(o.rates_Bps).all()
    assert (np.diff(o.times_s) > 0).all()
    assert len(o.rates_Bps) == len(o.times_s) - 1
    assert 0 < o.steady_Bps <= rate * 1448 / 1500 * 1.001
    assert (o.rates_Bps >= 0).all()
    assert (o.rates_Bps <= rate * 1448 / 1500 * 1.01).all()
