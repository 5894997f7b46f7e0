"""Wide-area path, firewalls and policers against closed forms, published figures and step-by-step runs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.physics import network, policer

GBIT = 1e9 / 8
DAY = 86400.0


def test_segments_in_series():
    assert network.path_rtt([0.001, 0.002, 0.0001]) == pytest.approx(0.0031)
    assert network.path_bandwidth([40.0, 10.0, 100.0]) == 10
    assert network.path_loss([0.1, 0.2]) == pytest.approx(0.28)
    assert network.path_loss([1e-12, 2e-12]) == pytest.approx(3e-12, rel=1e-6)
    assert network.path_loss([1.0, 0.5]) == 1
    assert network.path_loss([0.0, 0.0]) == 0
    # Light needs 4.9 us per km of fibre: 100 km there and back about 1 ms.
    assert network.fibre_rtt(100e3) == pytest.approx(0.98e-3, rel=0.01)


def test_background():
    assert network.available_bandwidth(10.0, 3.0) == 7
    assert network.available_bandwidth(10.0, 30.0) == 0
    # Inelastic traffic leaves C - B; elastic traffic shares by flows, or leaves what it did not want.
    assert network.share_with_background(10.0, 8.0) == pytest.approx(2)
    assert network.share_with_background(10.0, 8.0, 1.0, 1, 1) == pytest.approx(5)
    assert network.share_with_background(10.0, 8.0, 1.0, 3, 1) == pytest.approx(7.5)
    assert network.share_with_background(10.0, 1.0, 1.0, 1, 1) == pytest.approx(9)
    assert network.share_with_background(10.0, 0.0, 0.5) == 10


def test_diurnal():
    t = np.arange(0, 7 * DAY, 60.0)
    load = network.diurnal_load(t, 2.0, 0.5, weekend=0.4)
    week, weekend = load[t < 5 * DAY], load[t >= 5 * DAY]
    assert week.mean() == pytest.approx(2.0)
    assert weekend.mean() == pytest.approx(0.8)
    assert week.max() == pytest.approx(3.0)
    assert t[np.argmax(load)] == 15 * 3600
    assert week.min() == pytest.approx(1.0)


def test_lognormal_factor_has_its_moments():
    # Gauss-Hermite quadrature of the standard normal: exact for these smooth integrands
    x, w = np.polynomial.hermite_e.hermegauss(80)
    w = w / w.sum()
    for cv in (0.1, 0.39, 1.0):
        g = network.lognormal_factor(x, cv)
        assert (w * g).sum() == pytest.approx(1)
        assert np.sqrt((w * g**2).sum() - 1) == pytest.approx(cv, rel=1e-6)


def test_ar1_correlation():
    z = np.random.default_rng(4).standard_normal((400, 400))
    y = network.ar1(z, 60.0, 300.0)
    assert y.std() == pytest.approx(1, rel=0.02)
    for lag in (1, 5):
        measured = np.mean(y[:, lag:] * y[:, :-lag])
        assert measured == pytest.approx(np.exp(-lag * 60 / 300), abs=0.02)


def test_spread_of_the_uci_runs():
    # UCINet 78 +- 4.7 MB/s in 41 runs, LightPath 101 +- 1.4 in 48 (standard errors).
    assert network.sd_from_sem(4.7, 41) / 78 == pytest.approx(0.39, abs=0.005)
    assert network.sd_from_sem(1.4, 48) / 101 == pytest.approx(0.10, abs=0.005)


def test_hurst():
    # Willinger et al.: alpha 1.2 for Ethernet sources gives H = 0.9; light tails none
    assert network.hurst(1.2) == pytest.approx(0.9)
    assert network.hurst(2.0) == 0.5
    assert network.hurst(5.0) == 0.5


def test_firewall():
    assert network.firewall_rate(1.0, 12, 1) == pytest.approx(1)
    assert network.firewall_rate(1.0, 4, 4) == pytest.approx(2.734375)
    assert network.firewall_rate(1.0, 1, 100) == pytest.approx(1)


def test_burst_against_a_small_buffer():
    """A 1-MB burst at 10 Gb/s into 1 Gb/s with 100 kB, packet by packet."""
    buffer = lost = 0.0
    packet, gap = 1000.0, 1000.0 / (10 * GBIT)
    for _ in range(1000):
        buffer = max(0.0, buffer - gap * GBIT)
        if buffer + packet > 100e3:
            lost += packet
        else:
            buffer += packet
    assert network.burst_loss(1e6, 10 * GBIT, GBIT, 100e3) == pytest.approx(lost / 1e6, abs=0.003)
    need = network.needed_buffer(1e6, 10 * GBIT, GBIT)
    assert need == pytest.approx(0.9e6)
    assert network.burst_loss(1e6, 10 * GBIT, GBIT, need) == 0
    assert network.burst_loss(1e6, GBIT, 10 * GBIT, 0) == 0  # a faster device loses nothing


def test_stripped_window_scaling():
    # ESnet case study: about 50 Mb/s over 10 ms; 64 KiB / 10 ms is 52.4.
    assert network.unscaled_window_rate(0.010) * 8 / 1e6 == pytest.approx(52.4, abs=0.05)


def simulate_policed(rate, bucket, rtt, mss, increase, kept, rounds=40000):
    """Window by window through a token bucket: independent of the closed form."""
    tokens, window, sent = bucket, rate * rtt / mss, 0.0
    for _ in range(rounds):
        tokens = min(bucket + rate * rtt, tokens + rate * rtt)  # what a round may spend
        use = window * mss
        sent += min(use, tokens)
        if use > tokens:
            window *= kept
        else:
            window += increase
        tokens = min(bucket, max(0.0, tokens - use))
    return sent / (rounds * rtt)


@pytest.mark.parametrize("kept", [0.5, 0.7])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0, 3.0])
def test_policed_tcp(share, kept):
    rate, rtt, mss = 12.5e6, 0.05, 1448.0
    bucket = share * policer.bucket_for_full_rate(rate, rtt, mss, kept=kept)
    expected = simulate_policed(rate, float(bucket), rtt, mss, 1.0, kept)
    # 2 %: whole rounds against a continuous ramp of some hundred rounds
    assert policer.policed_tcp_rate(rate, bucket, rtt, mss, kept=kept) == pytest.approx(expected, rel=0.02)


def test_policer_and_shaper():
    v = policer.token_bucket_bytes(np.array([0.0, 0.5, 1.0, 100.0]), 1.0, 2.0, 4.0)
    np.testing.assert_allclose(v, [0, 2, 3, 102])
    assert policer.token_bucket_bytes(0.0, 1.0, 2.0) == 0
    assert policer.policer_drop_share(2.0, 1.0) == 0.5
    assert policer.policer_drop_share(0.5, 1.0) == 0
    assert policer.shaper_delay(1e6, 1e7) == 0.1
    assert policer.shaped_rate(5.0, 3.0) == 3
    # Without a bucket three quarters (Reno) or 85 % (linear CUBIC) of the rate.
    assert policer.policed_tcp_rate(8.0, 0, 1) == 6
    assert policer.policed_tcp_rate(1.0, 0, 1, kept=0.7) == pytest.approx(0.85)


share = st.floats(0, 1)
rate = st.floats(1e3, 1e11)


@settings(max_examples=60)
@given(p=st.lists(share, min_size=1, max_size=5), q=share)
def test_loss_properties(p, q):
    total = network.path_loss(p)
    assert max(p) - 1e-12 <= total <= min(1, sum(p)) + 1e-12
    assert network.path_loss([*p, q]) >= total - 1e-12


@settings(max_examples=60)
@given(c=rate, b=rate, e=share, n=st.floats(0.1, 50), m=st.floats(0.1, 50))
def test_background_properties(c, b, e, n, m):
    x = network.share_with_background(c, b, e, n, m)
    assert 0 <= x <= c
    assert network.share_with_background(c, b, e, 2 * n, m) >= x
    assert network.share_with_background(c, b, min(1, e + 0.1), n, m) >= x
    assert network.share_with_background(c, 1.1 * b, e, n, m) <= x


@settings(max_examples=60)
@given(r=rate, b=st.floats(0, 1e9), t=st.floats(1e-4, 1), kept=st.floats(0.3, 0.9))
def test_policer_properties(r, b, t, kept):
    x = policer.policed_tcp_rate(r, b, t, kept=kept)
    assert (1 + kept) / 2 * r * (1 - 1e-12) <= x <= r * (1 + 1e-12)
    assert policer.policed_tcp_rate(r, b + 1e6, t, kept=kept) >= x
    assert policer.policed_tcp_rate(r, policer.bucket_for_full_rate(r, t, kept=kept), t, kept=kept) == (
        pytest.approx(r)
    )


@settings(max_examples=60)
@given(v=st.floats(1, 1e9), line=rate, drain=rate, b=st.floats(0, 1e9))
def test_burst_properties(v, line, drain, b):
    lost = network.burst_loss(v, line, drain, b)
    assert 0 <= lost <= 1
    assert network.burst_loss(v, line, drain, 2 * b + 1) <= lost
    assert network.burst_loss(v, line, 2 * drain, b) <= lost


def test_a_burst_that_just_fits_loses_nothing() -> None:
    fit = network.burst_fit(3.125e9, 0.25e9, 131072.0)
    assert network.burst_loss(fit, 3.125e9, 0.25e9, 131072.0) == pytest.approx(0.0, abs=1e-12)
    assert network.burst_loss(fit * 1.01, 3.125e9, 0.25e9, 131072.0) > 0
    assert network.burst_fit(1e8, 1e8, 1.0) == np.inf  # a device as fast as the line takes any burst


def test_bursts_limit_a_stream_only_where_they_do_not_fit() -> None:
    # 64 KiB a round trip of 10 ms, halved at each loss: three quarters of 52 Mb/s
    assert network.burst_limited_rate(1e6, 65536.0, 0.01, 0.5) * 8 == pytest.approx(0.75 * 52.4e6, rel=1e-3)
    assert network.burst_limited_rate(65536.0, 65536.0, 0.01) == np.inf
    assert network.burst_limited_rate(65536.0, np.inf, 0.01) == np.inf
