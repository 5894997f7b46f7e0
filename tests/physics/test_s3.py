"""S3 against what AWS and a public benchmark print."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.physics import s3

POSITIVE = st.floats(1e-3, 1e3)
MiB = 2.0**20


def test_one_thread_of_aws_cli():
    # github scylladb/scylladb, pull 22634: aws-cli with one thread and parts of 5 MiB, 34.9 MiB/s; AWS: first byte
    # after some 100 ms, 85 to 90 MB/s a request
    assert s3.connection_rate(5 * MiB, 0.1, 87e6) == pytest.approx(34.9 * MiB, rel=0.15)


def test_fifteen_connections_fill_ten_gigabit():
    # AWS, Performance design patterns: 15 concurrent requests for 10 Gb/s; large ranges forget the first byte
    assert 15 * s3.connection_rate(1e12, 0.1, 87e6) == pytest.approx(1.25e9, rel=0.1)


def test_prefixes():
    assert s3.prefix_rate(5500, 2, 1e6) == pytest.approx(11e9)


@settings(max_examples=50)
@given(s=POSITIVE, t=POSITIVE, R=POSITIVE)
def test_larger_parts_are_never_slower(s, t, R):
    rate = s3.connection_rate(s, t, R)
    assert rate < R
    assert s3.connection_rate(2 * s, t, R) > rate > s3.connection_rate(s, 2 * t, R)
    assert s3.prefix_rate(R, 2, s) == pytest.approx(2 * s3.prefix_rate(R, 1, s))
