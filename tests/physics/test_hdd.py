"""Hard disks against integrals, the published drives, and the array that was measured at NASA GSFC."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.physics import hdd

POSITIVE = st.floats(1e-3, 1e3)


def test_zone_rate_limits():
    assert hdd.zone_rate(0.0, 126e6, 0.5) == pytest.approx(126e6)
    assert hdd.zone_rate(1.0, 126e6, 0.5) == pytest.approx(63e6)  # inner radius half, so half the rate
    np.testing.assert_allclose(hdd.zone_rate(np.linspace(0, 1, 5), 100.0, 1.0), 100.0)


def test_zone_mean_rate_is_the_time_integral():
    start, end, rho = 0.2, 0.9, 0.45
    x = np.linspace(start, end, 200_001)
    seconds = np.trapezoid(1.0 / hdd.zone_rate(x, 120e6, rho), x)
    assert hdd.zone_mean_rate(120e6, rho, start, end) == pytest.approx((end - start) / seconds, rel=1e-9)


def test_platter_rate_against_reported_generations():
    # community.wd.com thread 13478: 106 MB/s at 333 GB and 126..138 MB/s at 500 GB per platter, 7200 rpm
    assert 126e6 <= hdd.platter_rate(106e6, 333e9, 500e9) <= 138e6


def test_rotation_of_a_7200_rpm_drive():
    # WD Ultrastar DC HC310 specification, p. 23: 8.33 ms, latency 4.16 ms (printed cut, not rounded)
    assert hdd.rotation_time(7200 / 60) == pytest.approx(8.33e-3, rel=1e-3)
    assert hdd.positioning_time(0.0, 7200 / 60) == pytest.approx(4.16e-3, rel=2e-3)


def test_mean_seek_is_the_datasheet_average():
    rng = np.random.default_rng(7)
    d = np.abs(rng.random(400_000) - rng.random(400_000))
    assert d.mean() == pytest.approx(hdd.MEAN_SEEK_DISTANCE, rel=3e-3)
    # HC310: 0.23 ms track to track, 7.4 ms average; 400 000 samples leave 0.1 %
    assert hdd.seek_time(d, 0.23e-3, 7.4e-3).mean() == pytest.approx(7.4e-3, rel=3e-3)


@pytest.mark.parametrize(
    ("a", "b", "knee", "c", "e"),
    [(3.24e-3, 0.400e-3, 383, 8.00e-3, 0.008e-3), (3.45e-3, 0.597e-3, 616, 10.8e-3, 0.012e-3)],
    ids=["HP 97560", "HP C2200A"],
)
def test_published_seek_curves_meet_at_their_knee(a, b, knee, c, e):
    # Ruemmler and Wilkes 1994 fitted the two branches apart; they meet within 1 %
    at, beyond = hdd.seek_time_knee(np.array([knee, knee + 1e-9]), a, b, c, e, knee)
    assert at == pytest.approx(beyond, rel=0.01)
    assert hdd.seek_time_knee(0, a, b, c, e, knee) == 0.0


def test_elevator_distance_against_sampling():
    rng = np.random.default_rng(3)
    for q in (1, 4, 16):
        gaps = np.diff(np.sort(rng.random((20_000, q + 1)), axis=1), axis=1)
        assert hdd.elevator_seek_distance(q) == pytest.approx(gaps.mean(), rel=0.02)  # 20 000 sweeps: 1 %


def test_random_rate_limits_and_iops_of_a_7200_rpm_drive():
    t_pos = hdd.positioning_time(7.4e-3, 120.0)
    assert hdd.random_rate(1e12, 150e6, t_pos) == pytest.approx(150e6, rel=1e-4)
    # the folk figure for 7200-rpm drives is 75..100 IOPS at 4 KiB (ServeTheHome, Wikipedia "IOPS")
    assert 75 <= hdd.random_iops(4096, 150e6, t_pos) <= 100


def test_one_stream_pays_no_switch_and_large_visits_pay_none():
    assert hdd.interleaved_rate(1, 90e6, 1e5, 6e-3) == pytest.approx(90e6)
    assert hdd.interleaved_rate(8, 90e6, 1e15, 6e-3) == pytest.approx(90e6)
    assert hdd.interleaved_rate(0, 90e6, 1e5, 6e-3) == pytest.approx(90e6)


def test_half_rate_visit():
    # 90 MB/s x 6 ms = 0.54 MB halves the rate
    assert hdd.interleaved_rate(2, 90e6, 0.54e6, 6e-3) == pytest.approx(45e6)
    assert hdd.visit_for_efficiency(0.5, 90e6, 6e-3) == pytest.approx(0.54e6)


@pytest.mark.parametrize(("switch_ms", "visit_MB"), [(6.2, 1.30), (4.6, 0.97), (12.4, 2.6)])
def test_visit_that_explains_two_files_on_one_array(switch_ms, visit_MB):
    # NASA GSFC: two 64-GB files 14.27 Gb/s (1.783 GB/s) where one dd writes 68.7 GB in 26.87 s over
    # 28 data disks. The visits are a hand calculation from these figures, to three digits.
    alone = 68719476736 / 26.8676 / 28
    eta = 14267.6685e6 / 8 / (68719476736 / 26.8676)
    B = hdd.visit_for_efficiency(eta, alone, switch_ms * 1e-3)
    assert visit_MB * 1e6 == pytest.approx(B, rel=0.02)
    assert 28 * hdd.interleaved_rate(2, alone, B, switch_ms * 1e-3) == pytest.approx(14267.6685e6 / 8)


def test_media_rate_of_the_gsfc_disks():
    # 32 x WD5001AALS as 4 x RAID5 of 8: dd read 94.8 MB/s and write 91.3 MB/s per data disk against a
    # 250-GB-platter sister of a 333-GB, 106-MB/s drive; the zone and platter guess is good to 5 %
    predicted = hdd.platter_rate(106e6, 333e9, 250e9)
    for seconds in (25.8791, 26.8676):
        assert predicted == pytest.approx(68719476736 / seconds / 28, rel=0.05)


def test_visit_bytes_of_an_array():
    assert hdd.visit_bytes(28 * 2**20, 28) == 2**20


def test_unlike_streams_share_by_their_visits():
    rates = hdd.interleaved_rates([1e6, 3e6, 0.0], 100e6, 5e-3)
    cycle = 4e6 / 100e6 + 2 * 5e-3
    np.testing.assert_allclose(rates, [1e6 / cycle, 3e6 / cycle, 0.0])
    assert hdd.interleaved_rates([0.0, 2e6], 100e6, 5e-3)[1] == pytest.approx(100e6)  # alone again
    np.testing.assert_array_equal(hdd.interleaved_rates([0.0, 0.0], 100e6, 5e-3), 0.0)


@settings(max_examples=60)
@given(n=st.integers(1, 50), rate=POSITIVE, visit=POSITIVE, switch=POSITIVE, more=st.floats(1.0, 100.0))
def test_interleaving_is_monotone(n, rate, visit, switch, more):
    r = hdd.interleaved_rate(n, rate, visit, switch)
    assert 0 < r <= rate * (1 + 1e-12)
    assert hdd.interleaved_rate(n + 1, rate, visit, switch) <= r * (1 + 1e-12)
    assert hdd.interleaved_rate(n, rate, visit * more, switch) >= r * (1 - 1e-12)
    assert hdd.interleaved_rate(n, rate, visit, switch * more) <= r * (1 + 1e-12)


@settings(max_examples=60)
@given(visits=st.lists(st.floats(1.0, 1e6), min_size=2, max_size=6), rate=POSITIVE, switch=POSITIVE)
def test_equal_visits_reduce_to_the_aggregate_law(visits, rate, switch):
    same = np.full(len(visits), visits[0])
    total = hdd.interleaved_rates(same, rate, switch).sum()
    assert total == pytest.approx(hdd.interleaved_rate(len(visits), rate, visits[0], switch))
    assert hdd.interleaved_rates(visits, rate, switch).sum() <= rate * (1 + 1e-9)


def test_broadcasts():
    assert hdd.interleaved_rate([[1], [2]], [90e6, 100e6, 110e6], 1e6, 6e-3).shape == (2, 3)
    assert hdd.zone_rate(0.5, 1.0).ndim == 0


def test_many_small_files_cost_a_positioning_each():
    # 10 ms to each file of 1 MB at 100 MB/s: as long as the transfer itself
    assert hdd.files_cost(1e6, 100e6, 0.010) == pytest.approx(2.0)
    assert hdd.files_cost(1e12, 100e6, 0.010) == pytest.approx(1.0, abs=1e-5)
    # striped over four disks, each of them has to position
    assert hdd.files_cost(1e6, 100e6, 0.010, 4) == pytest.approx(5.0)
