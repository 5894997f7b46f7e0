"""Clouds against what AWS, Azure and public benchmarks print."""

import pytest
from hypothesis import given, strategies as st

from dtnsim.physics import cloud, waiting

MiB, TiB = 2.0**20, 2.0**40
RATE = st.floats(1e5, 1e10)


@pytest.mark.parametrize(("size", "hours"), [(1, 1.17), (2, 1.17), (3, 1.75), (5, 2.91), (16, 9.32)])
def test_a_full_scan_of_st1_lasts_what_aws_prints(size, hours):
    """Table of scan times: 250 MiB/s a TiB, at most 500, a bucket of the volume's size, 40 MiB/s a TiB come back."""
    burst, base = min(250 * size, 500) * MiB, min(40 * size, 500) * MiB
    assert size * TiB / cloud.mean_rate(size * TiB, burst, base, size * TiB) / 3600 == pytest.approx(hours, abs=0.006)


@given(size=st.floats(1e3, 1e14), burst=RATE, base=RATE, saved=st.floats(0, 1e13))
def test_credits_help_and_never_beyond_the_burst(size, burst, base, saved):
    rate = cloud.mean_rate(size, burst, base, saved)
    assert min(burst, base) * (1 - 1e-9) <= rate <= burst * (1 + 1e-9)
    assert cloud.mean_rate(size, burst, base, 2 * saved + 1) >= rate * (1 - 1e-9)
    assert cloud.mean_rate(2 * size, burst, base, saved) <= rate * (1 + 1e-9)


POSITIVE = st.floats(1e-3, 1e3)
MiB = 2.0**20


@given(s=POSITIVE, t=POSITIVE, R=POSITIVE)
def test_larger_parts_are_never_slower(s, t, R):
    rate = waiting.request_rate(s, t, R)
    assert rate < R
    assert waiting.request_rate(2 * s, t, R) > rate > waiting.request_rate(s, 2 * t, R)
    assert cloud.prefix_rate(R, 2, s) == pytest.approx(2 * cloud.prefix_rate(R, 1, s))
