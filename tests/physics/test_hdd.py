"""Hard disks against integrals, the published drives, and the array that was measured at NASA GSFC."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dtnsim.physics import hdd, hdd_streams

POSITIVE = st.floats(1e-3, 1e3)


def files(file_B, rate, visit_B, first_s, later_s=0.0, disks=1.0):
    return hdd_streams.visits_cost(file_B, rate, visit_B, first_s=first_s, later_s=later_s, disks=disks)


def test_zone_mean_rate_is_the_time_integral():
    start, end, rho = 0.2, 0.9, 0.45
    x = np.linspace(start, end, 200_001)
    seconds = np.trapezoid(1.0 / hdd.zone_rate(x, 120e6, rho), x)
    assert hdd.zone_mean_rate(120e6, rho, start, end) == pytest.approx((end - start) / seconds, rel=1e-9)


def test_broadcasts():
    assert hdd_streams.interleaved_rate([[1], [2]], [90e6, 100e6, 110e6], 1e6, 6e-3).shape == (2, 3)
    assert hdd.zone_rate(0.5, 1.0, 0.5).ndim == 0


EXOS = (0.3e-3, 8.5e-3, 120.0)  # track-to-track and average seek, 7200 rpm: a helium-filled nearline disk


def test_random_requests_of_a_7200_rpm_drive():
    t_pos = hdd.positioning_time(7.4e-3, 120.0)
    assert hdd.random_rate(1e12, 150e6, t_pos) == pytest.approx(150e6, rel=1e-4)
    # the folk figure for 7200-rpm drives is 75..100 IOPS at 4 KiB (ServeTheHome, Wikipedia "IOPS")
    assert 75 <= hdd.random_rate(4096, 150e6, t_pos) / 4096 <= 100


def test_mean_seek_is_the_datasheet_average():
    rng = np.random.default_rng(7)
    d = np.abs(rng.random(400_000) - rng.random(400_000))
    assert hdd.mean_distance(1.0) == pytest.approx(d.mean(), rel=3e-3)
    # HC310: 0.23 ms track to track, 7.4 ms average; 400 000 samples leave 0.1 %
    assert hdd.seek_time(d, 0.23e-3, 7.4e-3).mean() == pytest.approx(7.4e-3, rel=3e-3)


def test_a_queue_of_one_is_a_random_request_and_a_long_one_waits_for_a_track_change():
    assert hdd.sorted_positioning_time(1, *EXOS) == pytest.approx(8.5e-3 + 0.5 / 120, rel=1e-4)
    assert hdd.sorted_positioning_time(1, *EXOS) == pytest.approx(hdd.slowest_positioning_time(1, *EXOS))
    assert hdd.sorted_positioning_time(1e7, *EXOS) == pytest.approx(0.3e-3, rel=0.25)
    whole = EXOS[0] + (EXOS[1] - EXOS[0]) * 15 / 8 + 1 / 120
    assert hdd.slowest_positioning_time(1e7, *EXOS) == pytest.approx(whole, rel=0.02)


@pytest.mark.parametrize("queue", [1, 4, 16])
def test_the_first_of_a_queue_against_sampling(queue):
    rng = np.random.default_rng(11)
    head, places, angle = rng.random((40_000, 1)), rng.random((40_000, queue)), rng.random((40_000, queue))
    times = hdd.seek_time(np.abs(places - head), EXOS[0], EXOS[1]) + angle / EXOS[2]
    # requests seen from one head position are not quite independent of each other: 3 % at 16
    assert hdd.sorted_positioning_time(queue, *EXOS) == pytest.approx(times.min(axis=1).mean(), rel=0.05)
    assert hdd.slowest_positioning_time(queue, *EXOS) == pytest.approx(
        hdd.slowest_positioning_time(1, *EXOS) if queue == 1 else times.max(axis=1).mean(), rel=0.06
    )


def test_a_nearline_disk_at_queue_depth_16():
    """Seagate Exos X16 data sheet: 170 random 4-KiB reads a second at QD16; seeks as its class has them, 15 %."""
    assert 1 / (hdd.sorted_positioning_time(16, *EXOS) + 4096 / 250e6) == pytest.approx(170, rel=0.15)


def test_skylight_disks_clean_bands_behind_a_full_cache():
    """Aghayev and Desnoyers, FAST 2015: tens of GB of cache; random writes then fall to a few a second."""
    fresh = hdd_streams.shingled_write_time(20e9, 25e9, 150e6, 4096, 30e6)
    assert fresh == pytest.approx(20e9 / 150e6)
    after = hdd_streams.shingled_write_time(25e9 + 4096 * 1000, 25e9, 150e6, 4096, 30e6) - 25e9 / 150e6
    assert 1 <= 1000 / after <= 10  # a band of 30 MB read and written takes 0.4 s
    streaming = hdd_streams.shingled_write_time(1e15, 25e9, 150e6, 30e6, 30e6)
    assert 1e15 / streaming == pytest.approx(50e6, rel=1e-3)  # once to the cache, once read, once written


@given(POSITIVE, POSITIVE, POSITIVE, POSITIVE, st.floats(1.0, 100.0), st.integers(1, 20))
def test_a_larger_file_takes_longer_and_costs_less_a_byte(size, visit, first, part, more, disks):
    """Its first visit costs no less than a later one."""
    small, large = (files(s, 1.0, visit, first, first * min(part, 1.0), disks) for s in (size, size * more))
    assert large <= small * (1 + 1e-12)
    assert size * small <= size * more * large * (1 + 1e-12)


def test_a_filled_disk_writes_inside_and_reads_in_the_middle():
    """WD Red 3 TB, diskinfo (gist.github.com/paveq/3587970): 136.8 MB/s outside, 127.1 in the middle, 72.8 inside.

    The law of equal density lies 14 % below its middle zone: that disk keeps its outer rate for longer.
    """
    outside, middle, inside = 136.8, 127.1, 72.8
    full = [hdd.zone_rate(hdd.place_by_fill(1.0, writing), outside, inside / outside) for writing in (True, False)]
    assert full[0] == pytest.approx(inside)
    assert full[1] == pytest.approx(middle, rel=0.15)
    assert hdd.place_by_fill(0.0, [True, False]) == pytest.approx([0.0, 0.0])


def test_each_write_that_is_alone_costs_one_turn():
    # 8 KiB at 7200 rpm: 120 writes a second, less the time of their transfer
    cost = hdd.lost_turns_cost(8192, 100e6, 120.0)
    assert 100e6 / cost / 8192 == pytest.approx(1 / (1 / 120 + 8192 / 100e6))
    assert hdd.lost_turns_cost(8192, 100e6, 120.0, 2) == 1.0
    assert hdd.lost_turns_cost(1e15, 100e6, 120.0) == pytest.approx(1.0)


def test_a_server_s_disks_with_the_cache_switched_on():
    """Fujitsu, Performance Report PRIMERGY TX150 S6 (2008), p. 24: 64-KiB blocks, RAID 10 on an onboard controller
    without a cache: sequential writes are about 13 times as fast with the disks' caches; SATA disks of 2008 wrote 80
    to 110 MB/s at 7200 rpm, what the report used is not printed there: 11 to 15 times."""
    slow, fast = hdd.lost_turns_cost(65536, np.array([80e6, 110e6]), 120.0)
    assert slow < 13.0 < fast


def test_four_arrays_of_dell_s():
    """Dell EMC BeeGFS High Capacity Storage guide, p. 18: 16.54 GB/s written to four ME4084 with mirrored caches."""
    assert 4 * hdd.mirrored_write_rate(5.5e9, 4.1e9) == pytest.approx(16.54e9, rel=0.01)
