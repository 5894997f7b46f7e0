"""Burst credits and counted requests against what AWS prints."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.physics import cloud

MiB, TiB = 2.0**20, 2.0**40
RATE = st.floats(1e5, 1e10)


@pytest.mark.parametrize(("size", "hours"), [(1, 1.17), (2, 1.17), (3, 1.75), (5, 2.91), (16, 9.32)])
def test_a_full_scan_of_st1_lasts_what_aws_prints(size, hours):
    """Table of scan times: 250 MiB/s a TiB, at most 500, a bucket of the volume's size, 40 MiB/s a TiB come back."""
    burst, base = min(250 * size, 500) * MiB, min(40 * size, 500) * MiB
    assert size * TiB / cloud.mean_rate(size * TiB, burst, base, size * TiB) / 3600 == pytest.approx(hours, abs=0.006)


def test_without_credits_the_baseline_holds():
    assert cloud.mean_rate(1e12, 250e6, 40e6, 0.0) == pytest.approx(40e6)
    assert cloud.mean_rate(1e6, 250e6, 40e6, 1e12) == pytest.approx(250e6)
    # a bucket of 210 MB lasts a second at 250 MB/s: 250 MB, then 400 MB in ten
    assert cloud.mean_rate(650e6, 250e6, 40e6, 210e6) == pytest.approx(650e6 / 11)


def test_requests_are_counted_by_the_quarter_mebibyte():
    # AWS, I/O characteristics: 1,024 KiB count as four of 256 KiB
    assert cloud.counted_requests([4096, 262144, 262145, 2**20], 262144).tolist() == [1, 1, 2, 4]


@settings(max_examples=60)
@given(size=st.floats(1e3, 1e14), burst=RATE, base=RATE, saved=st.floats(0, 1e13))
def test_credits_help_and_never_beyond_the_burst(size, burst, base, saved):
    rate = cloud.mean_rate(size, burst, base, saved)
    assert min(burst, base) * (1 - 1e-9) <= rate <= burst * (1 + 1e-9)
    assert cloud.mean_rate(size, burst, base, 2 * saved + 1) >= rate * (1 - 1e-9)
    assert cloud.mean_rate(2 * size, burst, base, saved) <= rate * (1 + 1e-9)
