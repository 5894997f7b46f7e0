"""Clouds against what AWS, Azure and public benchmarks print."""

import pytest

from dtnsim.physics import cloud

MiB, TiB = 2.0**20, 2.0**40


@pytest.mark.parametrize(("size", "hours"), [(1, 1.17), (2, 1.17), (3, 1.75), (5, 2.91), (16, 9.32)])
def test_a_full_scan_of_st1_lasts_what_aws_prints(size, hours):
    """Table of scan times: 250 MiB/s a TiB, at most 500, a bucket of the volume's size, 40 MiB/s a TiB come back."""
    burst, base = min(250 * size, 500) * MiB, min(40 * size, 500) * MiB
    assert size * TiB / cloud.mean_rate(size * TiB, burst, base, size * TiB) / 3600 == pytest.approx(hours, abs=0.006)


MiB = 2.0**20
