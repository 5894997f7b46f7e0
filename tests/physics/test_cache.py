"""The page cache against the kernel's own comment, an integrated fluid, and dd and iozone as measured."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.physics import cache

POSITIVE = st.floats(1e-3, 1e3)
KiB = 1024.0

# venadi, ZFS, `iozone -a -s 8g`: record [KiB] -> write, read [KiB/s]
IOZONE_WRITE = {4: 850821, 8: 1438496, 16: 2180223, 64: 3722032, 128: 4268489, 1024: 6648581}
IOZONE_READ = {4: 2400110, 8: 4057049, 16: 5677680, 64: 9056105}


def test_thresholds_of_a_default_kernel():
    # 10 % and 20 % of dirtyable memory; free run to the middle (mm/page-writeback.c)
    background, limit = cache.dirty_limits(100e9)
    assert (background, limit) == (10e9, 20e9)
    assert cache.free_run_ceiling(background, limit) == 15e9
    assert cache.dirty_limits(100e9, 0.3, 0.2)[0] == pytest.approx(10e9)
    assert cache.below_limit(5e9, 5e9) == pytest.approx(2.5e9)


def test_the_five_properties_the_kernel_states():
    # mm/page-writeback.c: f(freerun) = 2, f(setpoint) = 1, f(limit) = 0, falling, flattest at setpoint
    bg, limit = 10.0, 20.0
    freerun, setpoint = 15.0, 17.5
    f = cache.throttled_write_rate([freerun + 1e-9, setpoint, limit], bg, limit, 1e9, 1.0)
    np.testing.assert_allclose(f, [2.0, 1.0, 0.0], atol=1e-6)
    curve = cache.throttled_write_rate(np.linspace(15.001, 20.0, 200), bg, limit, 1e9, 1.0)
    steps = np.diff(curve)
    assert np.all(steps <= 0)
    assert abs(steps[99]) < abs(steps[0]) / 100
    assert cache.throttled_write_rate(3.0, bg, limit, 7.0, 1.0) == 7.0  # free run
    assert cache.throttled_write_rate(99.0, bg, limit, 7.0, 1.0) == 0.0


def _integrated(volume, bg, limit, mem, disk, dt=1e-3):
    """Writer and write-back as a fluid, step by step."""
    written = dirty = t = 0.0
    while written < volume:
        step = float(cache.throttled_write_rate(dirty, bg, limit, mem, disk)) * dt
        drained = disk * dt if dirty > bg else 0.0
        written, dirty, t = written + step, max(dirty + step - drained, 0.0), t + dt
    return t


@pytest.mark.parametrize("volume", [8.0, 30.0, 60.0])
def test_buffered_time_against_an_integrated_writer(volume):
    bg, limit, mem, disk = 10.0, 20.0, 4.0, 1.5
    free = cache.free_run_bytes(bg, limit, mem, disk)
    assert free == pytest.approx(10 + 5 * 4 / 2.5)
    t = cache.buffered_write_time(volume, free, mem, disk)
    # the throttle lets dirty memory climb from the ceiling (15) to its setpoint (17.5): up to 2.5 / disk
    assert t - 2.5 / disk - 0.1 <= _integrated(volume, bg, limit, mem, disk) <= t + 0.1


def test_no_sync_dd_is_pure_memory():
    # venadi, RAID1 of two SATA SSDs, 10 GiB without sync in 3.467 s on 128 GB: below any threshold
    assert cache.buffered_write_time(10 * 2**30, 15e9, 3.1e9, 115.6e6) == pytest.approx(3.46705, rel=2e-3)


@settings(max_examples=60)
@given(v=POSITIVE, free=POSITIVE, mem=POSITIVE, disk=POSITIVE)
def test_buffered_time_bounds(v, free, mem, disk):
    t = cache.buffered_write_time(v, free, mem, disk)
    assert v / mem * (1 - 1e-12) <= t <= max(v / mem, v / disk) * (1 + 1e-9)
    assert cache.buffered_write_time(2 * v, free, mem, disk) >= t
    assert cache.buffered_write_time(v, 2 * free, mem, disk) <= t * (1 + 1e-12)


@settings(max_examples=60)
@given(v=POSITIVE, mem=POSITIVE, disk=POSITIVE, lead=POSITIVE)
def test_fdatasync_lies_between_overlap_and_series(v, mem, disk, lead):
    t = cache.fdatasync_write_time(v, mem, disk, 0.0, lead)
    assert max(v / mem, v / disk) * (1 - 1e-12) <= t <= (v / mem + v / disk) * (1 + 1e-12)
    assert cache.fdatasync_write_time(v, mem, disk) == pytest.approx(max(v / mem, v / disk))
    assert cache.fdatasync_write_time(v, mem, disk, 2.0, v) == pytest.approx(v / mem + v / disk + 2.0)


def test_free_run_is_finite_when_the_disk_keeps_up():
    assert np.isfinite(cache.free_run_bytes(1.0, 2.0, 1.0, 5.0))
    assert cache.buffered_write_time(7.0, cache.free_run_bytes(1.0, 2.0, 1.0, 5.0), 1.0, 5.0) == 7.0


def test_one_sync_of_a_measured_mirror_costs_milliseconds():
    # venadi RAID1: 115.6 MB/s with fdatasync, 69.3 MB/s with dsync at 1 MiB. One flush of a consumer
    # SSD pair with its bitmap is a few ms; nothing else was measured there.
    bandwidth, synced = 10737418240 / 92.9101, 10737418240 / 154.844
    t_sync, rate = cache.two_point_law(2**20, synced, 1e15, bandwidth)
    assert 2e-3 < t_sync < 10e-3
    assert cache.dsync_rate(2**20, rate, t_sync) == pytest.approx(synced)
    assert cache.dsync_rate(1e15, rate, t_sync) == pytest.approx(bandwidth, rel=1e-6)


def test_produce_and_flush_in_series():
    # 1/R = 1/R_mem + 1/R_flush for large synchronous blocks
    assert cache.dsync_rate(2**40, 1.7e9, 1e-3, 1.7e9) == pytest.approx(0.85e9, rel=1e-5)
    # openzfs issue 3077: 1.7 GB/s of raw O_SYNC 16-MiB writes became 0.83 GB/s through ZFS: as if
    # the producing copy ran at the flush's rate
    assert cache.dsync_rate(16 * 2**20, 1.7e9, 0.0, 1.7e9) == pytest.approx(0.83e9, rel=0.03)


def test_iozone_write_sweep():
    # two points (4 and 64 KiB) predict 8, 16 and 128 KiB; at the 1-MiB recordsize whole records skip
    # the partial-record path, so the law must fall short there
    a, rate = cache.two_point_law(4 * KiB, IOZONE_WRITE[4] * KiB, 64 * KiB, IOZONE_WRITE[64] * KiB)
    assert a == pytest.approx(3.87e-6, rel=5e-3)
    assert rate == pytest.approx(4.92e9, rel=5e-3)
    for record in (8, 16, 128):
        predicted = cache.record_rate(record * KiB, rate, a)
        assert predicted == pytest.approx(IOZONE_WRITE[record] * KiB, rel=0.025)
    whole_record = cache.record_rate(1024 * KiB, rate, a) / (IOZONE_WRITE[1024] * KiB)
    assert whole_record == pytest.approx(0.71, abs=0.01)


def test_iozone_read_sweep():
    a, rate = cache.two_point_law(4 * KiB, IOZONE_READ[4] * KiB, 64 * KiB, IOZONE_READ[64] * KiB)
    assert cache.record_rate(16 * KiB, rate, a) == pytest.approx(IOZONE_READ[16] * KiB, rel=0.03)
    assert cache.record_rate(8 * KiB, rate, a) == pytest.approx(IOZONE_READ[8] * KiB, rel=0.03)


@settings(max_examples=60)
@given(s=POSITIVE, k=st.floats(1.01, 100), R=POSITIVE, a=POSITIVE)
def test_two_points_recover_the_record_law(s, k, R, a):
    found = cache.two_point_law(s, cache.record_rate(s, R, a), s * k, cache.record_rate(s * k, R, a))
    assert found[0] == pytest.approx(a, rel=1e-3, abs=1e-9)
    assert cache.record_rate(s * k, R, a) >= cache.record_rate(s, R, a)
    assert cache.record_rate(s, R, a) <= R * (1 + 1e-12)
    assert cache.record_rate(s, R, 0.0) == pytest.approx(R)


def test_knee_where_records_outgrow_the_cache():
    # the read of venadi falls from 9.55 GB/s at 2 MiB to 6.97 at 16 MiB on a 15-MiB last-level cache
    share = cache.cache_hit_share(np.array([2.0, 4.0, 16.0]) * 2**20, 15 * 2**20)
    np.testing.assert_allclose(share, [1.0, 1.0, 15 / 32])
    rate = cache.copy_rate(share, 9.55, 5.6)
    assert rate[0] == pytest.approx(9.55)
    assert 5.6 < rate[2] < rate[1]
    assert cache.copy_rate(0.0, 9.55, 5.6) == pytest.approx(5.6)


def test_knee_against_a_random_replacement_cache():
    # lines of a buffer reused after a sweep of twice its size through a random-replacement cache
    rng = np.random.default_rng(5)
    lines, capacity = 400, 300
    held = np.full(capacity, -1)
    hits = 0
    for turn in range(12):
        for line in range(2 * lines):  # source, then destination
            tag = line if line < lines else 1_000_000 * (turn + 1) + line
            if tag in held:
                hits += line < lines and turn >= 2
                continue
            held[rng.integers(capacity)] = tag
    seen = hits / (10 * lines)
    # what the docstring says of random replacement: h = exp(-(k - h) s / C), and the share as the bound
    h = 0.1
    for _ in range(50):
        h = np.exp(-(2 - h) * lines / capacity)
    assert seen == pytest.approx(h, abs=0.02)  # 4000 lines: standard error 0.004, start-up 0.01
    assert seen <= cache.cache_hit_share(lines, capacity) == pytest.approx(0.375)


def test_first_write_pays_for_its_pages():
    # venadi at 64 KiB: write 3.72 against rewrite 5.91 million KiB/s
    extra = 1 / (3722032 * KiB) - 1 / (5910142 * KiB)
    a = 1e-6
    rate = 1 / (1 / (5910142 * KiB) - a / (64 * KiB))
    t_page = extra * 4096
    assert cache.first_write_rate(64 * KiB, rate, a, 4096, t_page) == pytest.approx(3722032 * KiB)
    assert cache.first_write_rate(64 * KiB, rate, a, 4096, 0.0) == pytest.approx(5910142 * KiB)


def test_readahead():
    # 128 KiB of Linux default over a 10-ms disk is 13 MB/s, whatever the array can do
    assert cache.readahead_rate(2e9, cache.LINUX_READAHEAD_B, 10e-3) == pytest.approx(13.1e6, rel=1e-3)
    assert cache.readahead_rate(2e9, 2**30, 10e-3) == 2e9


def test_resident_share():
    np.testing.assert_allclose(cache.resident_share([0.5, 1.0, 2.0], 1.0), [1.0, 1.0, 0.0])
    assert cache.resident_share(2.0, 1.0, 1.0) == pytest.approx(0.5)


def test_programs_take_memory_from_the_cache() -> None:
    assert cache.dirtyable_bytes(100e9, 40e9) == pytest.approx(60e9)
    assert cache.dirtyable_bytes(100e9, 200e9) > 0


@given(st.lists(st.floats(1.0, 1e12), min_size=1, max_size=8), st.floats(1.0, 1e12))
def test_water_fills_up_to_one_level(sizes: list[float], room: float) -> None:
    """Nobody holds more than it writes; together no more than the room; who is cut short holds as much as anybody."""
    held = cache.water_filled(sizes, room)
    assert np.all(held <= np.array(sizes) * (1 + 1e-12))
    assert held.sum() <= max(room, 0.0) * (1 + 1e-9) or held.sum() == pytest.approx(sum(sizes))
    short = held < np.array(sizes) * (1 - 1e-9)
    if short.any():
        assert held.sum() == pytest.approx(room)
        assert held[short].max() == pytest.approx(held.max())


def test_a_disk_as_fast_as_the_writer_is_never_a_limit() -> None:
    assert cache.filled_bytes(1e9, 2e9, 1e9, 1e9) > 1e15
    assert cache.filled_bytes(1e9, 2e9, 1e9, 0.0) == pytest.approx(2e9)
    assert cache.filled_bytes(1e9, 2e9, 1e9, 0.5e9) == pytest.approx(3e9)
