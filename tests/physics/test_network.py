"""Wide-area path, firewalls and policers against closed forms, published figures and step-by-step runs."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dtnsim.physics import network

GBIT = 1e9 / 8


def test_no_loss_is_no_negative_zero():
    assert str(float(network.path_loss([0.0, 0.0]))) == "0.0"  # some laws divide by it


def test_the_daily_wave():
    hours = np.arange(0, 24, 1 / 60)
    share = network.diurnal_share(0.2, 0.5, hours, 15)
    assert share.mean() == pytest.approx(0.2)
    assert (share.max(), share.min()) == (pytest.approx(0.3), pytest.approx(0.1))
    assert hours[np.argmax(share)] == 15
    assert network.diurnal_share(1.0, 0.5, 15, 15) == network.MOST_TAKEN
    # the variance of the wave over the day is what an unknown hour adds to the spread
    assert network.anytime_spread(0.0, 0.5) == pytest.approx(share.std() / 0.2)
    assert network.anytime_spread(0.3, 0.0) == pytest.approx(0.3)


def test_burst_against_a_small_buffer():
    """A 1-MB burst at 10 Gb/s into 1 Gb/s, packet by packet: 900 kB lose nothing, 2 % less loses."""
    need = float(network.needed_buffer(1e6, 10 * GBIT, GBIT))
    assert need == pytest.approx(0.9e6)

    def lost(room):
        filled = gone = 0.0
        packet, gap = 1000.0, 1000.0 / (10 * GBIT)
        for _ in range(1000):
            filled = max(0.0, filled - gap * GBIT)
            gone, filled = (gone + packet, filled) if filled + packet > room else (gone, filled + packet)
        return gone

    assert lost(need + 1000) == 0 < lost(0.98 * need)
    assert network.burst_fit(10 * GBIT, GBIT, need) == pytest.approx(1e6)
    assert network.burst_fit(1e8, 1e8, 1.0) == np.inf  # a device as fast as the line takes any burst
    assert network.needed_buffer(1e6, GBIT, 10 * GBIT) == 0


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
    bucket = share * (rate * rtt * (1 - kept) / (1 + kept)) ** 2 / (2 * mss)  # 1: just enough for the whole rate
    expected = simulate_policed(rate, float(bucket), rtt, mss, 1.0, kept)
    # 2 %: whole rounds against a continuous ramp of some hundred rounds
    assert network.policed_tcp_rate(rate, bucket, rtt, mss, kept=kept) == pytest.approx(expected, rel=0.02)


share = st.floats(0, 1)
rate = st.floats(1e3, 1e11)


@given(r=rate, b=st.floats(0, 1e9), t=st.floats(1e-4, 1), kept=st.floats(0.3, 0.9))
def test_policer_properties(r, b, t, kept):
    x = network.policed_tcp_rate(r, b, t, kept=kept)
    assert (1 + kept) / 2 * r * (1 - 1e-12) <= x <= r * (1 + 1e-12)
    assert network.policed_tcp_rate(r, b + 1e6, t, kept=kept) >= x


@given(v=st.floats(1, 1e9), line=rate, drain=rate, b=st.floats(0, 1e9), k=st.floats(1, 64))
def test_burst_properties(v, line, drain, b, k):
    need = network.needed_buffer(v, line, drain)
    assert 0 <= need <= v
    assert network.burst_fit(line, drain, need) >= v * (1 - 1e-9) or need == 0
    room = network.room_behind_trains(b, v, line, drain, k)
    assert 0 <= room <= b * k
    assert network.room_behind_trains(b, v, line, 2 * drain, k) >= room


@given(e=rate, n=st.integers(1, 100), t=rate, u=share, a=share, h=st.floats(0, 24))
def test_shares_and_engines(e, n, t, u, a, h):
    passed = network.firewall_rate(e, n, t)
    assert min(e, t) * (1 - 1e-9) <= passed <= t * (1 + 1e-9)
    assert network.firewall_rate(e, n + 1, t) >= passed * (1 - 1e-9)
    taken = network.diurnal_share(u, a, h, 15)
    assert 0 <= taken <= network.MOST_TAKEN
    assert network.left_by_others(t, taken) > 0


@given(p=st.lists(share, min_size=1, max_size=5), q=share)
def test_loss_properties(p, q):
    total = network.path_loss(p)
    assert max(p) - 1e-12 <= total <= min(1, sum(p)) + 1e-12
    assert network.path_loss([*p, q]) >= total - 1e-12
