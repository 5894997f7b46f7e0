"""RAID laws against md(4), counted I/Os and enumerated degraded reads."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.physics import raid

GROUP = st.tuples(st.integers(3, 24), st.integers(1, 3)).filter(lambda t: t[0] > t[1] + 1)


def test_capacity_of_every_level():
    # disks' worth of payload for 8 disks
    assert raid.data_disks(8) == 8
    assert raid.data_disks(8, copies=8) == 1
    assert raid.data_disks(8, copies=2) == 4
    assert raid.data_disks(8, raid.PARITY_DISKS["5"]) == 7
    assert raid.data_disks(8, raid.PARITY_DISKS["6"]) == 6
    assert raid.data_disks(8, raid.PARITY_DISKS["50"], groups=4) == 28
    assert raid.data_disks(8, raid.PARITY_DISKS["60"], groups=4) == 24


def test_gsfc_raid50_read():
    # NASA GSFC: 4 x RAID5 of 8 under md RAID0, 68.7 GB read in 25.88 s = 94.8 MB/s per data disk
    per_disk = 68719476736 / 25.8791 / raid.data_disks(8, 1, 4)
    assert per_disk == pytest.approx(94.8e6, rel=1e-3)
    sets = raid.stream_read_rate(per_disk, 8, 1)
    assert raid.striped_rate([sets] * 4) == pytest.approx(raid.stream_read_rate(per_disk, 8, 1, 4))


def test_slowest_member_holds_the_stripe():
    np.testing.assert_allclose(raid.striped_rate([[100.0, 100.0, 60.0], [50.0, 50.0, 50.0]]), [180.0, 150.0])


def test_mirror_reads():
    np.testing.assert_allclose(raid.mirror_read_rate(500e6, 2, [0, 1, 2, 9]), [5e8, 5e8, 1e9, 1e9])
    assert raid.mirror_read_rate(100e6, 2, 1, groups=4) == pytest.approx(400e6)  # RAID10 of 8
    assert raid.full_stripe_write_rate(100e6, 8, copies=2) == pytest.approx(400e6)


def test_small_write_costs_of_the_textbook():
    # Chen et al. 1994; Corbett et al., FAST 2004: four I/Os for RAID5, six for RAID6, two for mirrors
    assert raid.small_write_iops(80, 10, 1) == pytest.approx(10 * 80 / 4)
    assert raid.small_write_iops(80, 10, 2) == pytest.approx(10 * 80 / 6)
    assert raid.small_write_iops(80, 10, 0, copies=2) == pytest.approx(10 * 80 / 2)
    assert raid.small_write_iops(80, 10, 0) == pytest.approx(800)
    assert raid.small_write_iops(80, 3, 1) == pytest.approx(80)  # three disks: reconstruct costs 3, not 4


def test_small_write_ceiling_is_above_a_real_array():
    # Linux commit 584acdd: RAID6 of 10 x 7200 rpm, 4-KiB random writes, 141..165 KB/s with and without rmw
    assert raid.small_write_iops(80, 10, 2) > 165e3 / 4096


def _cheapest_by_enumeration(k, n, p):
    """Reads and writes of the two ways to update k chunks, counted disk by disk."""
    written = set(range(k)) | {f"parity{i}" for i in range(p)}
    rmw = len(written) + len(written)  # every old chunk and old parity is read first
    others = set(range(n - p)) - written
    return min(rmw, len(others) + len(written))


@pytest.mark.parametrize(("n", "p"), [(3, 1), (8, 1), (8, 2), (10, 2), (12, 3)])
def test_partial_stripes_against_counted_disks(n, p):
    for k in range(1, n - p + 1):
        assert raid.partial_stripe_ios(k, n, p) == _cheapest_by_enumeration(k, n, p)
        assert raid.partial_stripe_ios(k, n, p, resyncing=True) == n
    assert raid.partial_stripe_ios(3, 8, 0) == 3


def test_write_amplification_at_whole_chunks_is_the_count_of_ios():
    for n, p in [(8, 1), (10, 2)]:
        k = np.arange(1, n - p + 1)
        expected = raid.partial_stripe_ios(k, n, p) / k
        np.testing.assert_allclose(raid.write_amplification(k * 65536, 65536, n, p), expected)


def test_full_stripes_need_no_reads():
    stripe = raid.full_stripe_bytes(65536, 8, 1)
    assert stripe == 7 * 65536
    assert raid.write_amplification(5 * stripe, 65536, 8, 1) == pytest.approx(8 / 7)
    assert raid.partial_stripe_write_rate(stripe, 65536, 8, 1, 100e6) == pytest.approx(
        raid.full_stripe_write_rate(100e6, 8, 1)
    )
    assert raid.write_amplification(4096, 65536, 8, 1) == pytest.approx(4.0)
    assert raid.write_amplification(4096, 65536, 8, 0) == 1.0


@settings(max_examples=80)
@given(group=GROUP, size=st.floats(1.0, 1e8), chunk=st.sampled_from([4096.0, 65536.0, 524288.0]))
def test_write_amplification_bounds(group, size, chunk):
    n, p = group
    a = raid.write_amplification(size, chunk, n, p)
    assert n / (n - p) * (1 - 1e-9) <= a <= min(2 * (1 + p), n) * (1 + 1e-9)
    assert raid.write_amplification(size, chunk, n, p, resyncing=True) >= a * (1 - 1e-12)


def _degraded_by_enumeration(n, lost):
    """Load of the busiest survivor per request, RAID5, one request to every disk in turn."""
    load = np.zeros(n)
    for target in range(n):
        if target in lost:
            for other in set(range(n)) - set(lost):
                load[other] += 1
        else:
            load[target] += 1
    return load.max() / 1.0


@pytest.mark.parametrize("n", [3, 5, 8])
def test_degraded_reads_against_enumeration(n):
    for lost in itertools.combinations(range(n), 1):
        assert raid.degraded_read_share(n, 1, 1) == pytest.approx(1 / _degraded_by_enumeration(n, lost))


def test_degraded_limits():
    assert raid.degraded_read_share(8, 2, 0) == 1.0
    assert raid.degraded_read_share(8, 1, 1) == pytest.approx(0.5)  # Holland and Gibson 1992
    assert raid.degraded_read_share(8, 1, 2) == 0.0
    assert raid.random_read_iops(80, 8, 4) == 80 * 32


@settings(max_examples=60)
@given(group=GROUP)
def test_each_lost_disk_costs_more(group):
    n, p = group
    shares = raid.degraded_read_share(n, p, np.arange(p + 2))
    assert np.all(np.diff(shares) < 0)
    assert shares[0] == 1.0
    assert shares[-1] == 0.0


def test_rebuild_is_disk_bound_then_controller_bound():
    # md(4): the resync ceiling of 200 000 KiB/s per device
    ceiling = 200_000 * 1024
    assert raid.rebuild_time(6e12, 150e6, ceiling, 2.5e9, 8) == pytest.approx(6e12 / 150e6)
    assert raid.rebuild_time(6e12, 150e6, ceiling, 2.5e9, 50) == pytest.approx(6e12 / 50e6)
    assert raid.rebuild_time(1e12, 500e6, ceiling, 1e12, 8) == pytest.approx(1e12 / ceiling)


def test_md_stripe_cache():
    # md(4): memory = page size x devices x entries; 256 entries on ten disks are 10 MiB
    assert raid.stripe_cache_bytes(raid.MD_STRIPE_CACHE_ENTRIES, 10) == 10 * 2**20
    # 1 MiB per data disk in flight for 10 ms is 105 MB/s a disk
    rate = raid.stripe_cache_write_rate(256, 10, 2, 10e-3)
    assert rate == pytest.approx(8 * 2**20 / 10e-3)
