"""Networks: delays and routes, frames on the wire, bonds, RDMA."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dtnsim.physics import bonding, network, nic, rdma

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


@given(v=st.floats(1, 1e9), line=rate, drain=rate)
def test_a_burst_fits_the_buffer_that_it_needs(v, line, drain):
    need = network.needed_buffer(v, line, drain)
    assert network.burst_fit(line, drain, need) >= v * (1 - 1e-9) or need == 0


@given(p=st.lists(share, min_size=1, max_size=5), q=share)
def test_loss_properties(p, q):
    total = network.path_loss(p)
    assert max(p) - 1e-12 <= total <= min(1, sum(p)) + 1e-12
    assert network.path_loss([*p, q]) >= total - 1e-12


# -- Framing against the standards' figures and measured line-rate runs ----------------------------
def test_nasa_two_ten_gigabit_ports():
    """Two 10 GbE ports carried 19805.9 and 19808.7 Mb/s; MTU 9000 with timestamps. 0.05 %: line clock."""
    predicted = 2 * 10e3 * nic.framing_efficiency(9000)
    assert predicted == pytest.approx(19805.8537, rel=5e-4)
    assert predicted == pytest.approx(19808.7300, rel=5e-4)
    # The other usual framings are excluded by the same figures.
    assert abs(2 * 10e3 * nic.framing_efficiency(9000, 0) / 19806 - 1) > 1e-3


# -- Bonding: occupancy against enumeration and published values, the Linux hash against known vectors ---
# k = 4: n -> (E[used], n / E[max]); balls into bins, to two decimals
TABLE = {1: (1, 1), 2: (1.75, 1.60), 4: (2.73, 1.88), 8: (3.60, 2.26), 16: (3.96, 2.61), 32: (4.00, 2.91)}


@pytest.mark.parametrize("n", TABLE)
def test_four_links(n):
    used, static = TABLE[n]
    assert bonding.occupied(n, 4) == pytest.approx(used, abs=0.006)
    assert n / bonding.expected_max_load(4, n) == pytest.approx(static, abs=0.006)


@pytest.mark.parametrize(("k", "n"), [(1, 3), (2, 5), (3, 4), (4, 5), (5, 3)])
def test_against_enumeration_of_all_placements(k, n):
    loads = [np.bincount(p, minlength=k) for p in itertools.product(range(k), repeat=n)]
    assert bonding.expected_max_load(k, n) == pytest.approx(np.mean([x.max() for x in loads]))
    assert bonding.occupied(n, k) == pytest.approx(np.mean([(x > 0).sum() for x in loads]))


def test_arrays_broadcast():
    assert bonding.expected_max_load([[2], [4]], [1, 2, 8]).shape == (2, 3)


def test_thousands_of_streams_are_counted_too() -> None:
    """Gumbel's approximation for many streams on few links; and what two links hold, in closed form."""
    n = 1600
    mean = float(bonding.expected_max_load(4, n))
    # the largest of four normal numbers is 1.0294 standard deviations above the mean (Tippett 1925)
    assert mean == pytest.approx(n / 4 + 1.0294 * math.sqrt(n / 4), rel=2e-3)
    two = n / 2 + n / 2 * math.exp(math.lgamma(n + 1) - 2 * math.lgamma(n / 2 + 1) - n * math.log(2))
    assert float(bonding.expected_max_load(2, n)) == pytest.approx(two, rel=1e-9)


# -- RDMA against its specification, textbooks and what adapters print -----------------------------
def test_without_loss_or_delay_nothing_is_lost():
    assert rdma.go_back_n(0.0, 1e6) == 1.0
    assert np.isinf(rdma.credit_rate(256 * 1024, 0.0))
    # 100 km of fibre, 1 ms: a quarter of a mebibyte a round trip, 2.1 Gb/s: why such links need extenders
    assert rdma.credit_rate(256 * 1024, 1e-3) * 8 == pytest.approx(2.1e9, rel=0.01)


@pytest.mark.parametrize("loss", [0.0, 1e-6, 1e-3, 0.1])
def test_a_connection_alone_goes_back_as_far_as_it_has_asked(loss):
    """r (1 - p) / (1 - p + w p), w = r T / s and at least 1; for endless requests s (1 - p) / (p T)."""
    packet, rtt = 4096.0, 1e-3
    asked = np.array([1e4, 1e6, 1e9, 1e12])
    whole = asked * rdma.go_back_n(loss, asked * rtt / packet)
    assert rdma.connection_rate(asked, loss, packet, rtt) == pytest.approx(whole)
    endless = np.inf if loss == 0 else packet * (1 - loss) / (loss * rtt)
    assert rdma.connection_rate(np.inf, loss, packet, rtt) == pytest.approx(endless)
