"""Clouds against what AWS, Azure and public benchmarks print."""

import pytest
from hypothesis import given, settings, strategies as st

from dtnsim.physics import cloud, waiting

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


POSITIVE = st.floats(1e-3, 1e3)
MiB = 2.0**20


def test_one_thread_of_aws_cli():
    # github scylladb/scylladb, pull 22634: aws-cli with one thread and parts of 5 MiB, 34.9 MiB/s; AWS: first byte
    # after some 100 ms, 85 to 90 MB/s a request
    assert waiting.request_rate(5 * MiB, 0.1, 87e6) == pytest.approx(34.9 * MiB, rel=0.15)


def test_fifteen_connections_fill_ten_gigabit():
    # AWS, Performance design patterns: 15 concurrent requests for 10 Gb/s; large ranges forget the first byte
    assert 15 * waiting.request_rate(1e12, 0.1, 87e6) == pytest.approx(1.25e9, rel=0.1)


def test_prefixes():
    assert cloud.prefix_rate(5500, 2, 1e6) == pytest.approx(11e9)


@settings(max_examples=50)
@given(s=POSITIVE, t=POSITIVE, R=POSITIVE)
def test_larger_parts_are_never_slower(s, t, R):
    rate = waiting.request_rate(s, t, R)
    assert rate < R
    assert waiting.request_rate(2 * s, t, R) > rate > waiting.request_rate(s, 2 * t, R)
    assert cloud.prefix_rate(R, 2, s) == pytest.approx(2 * cloud.prefix_rate(R, 1, s))
