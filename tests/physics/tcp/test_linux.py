"""Laws of the Linux sender: bursts, buffer shares, thresholds; every coefficient says where it is from."""

import math

import pytest

from dtnsim.physics.tcp import coefficients as c, linux


def test_the_list_is_whole_and_honest():
    assert len(c.ALL) >= 15
    for k in c.ALL.values():
        assert k.unit
        assert len(k.reason) > 20
        assert k.value > 0
        assert 0 <= k.fitted_rows <= 167  # public.csv has 167 rows
    # the laws themselves hang on few rows: no constant a row
    laws = [k for name, k in c.ALL.items() if not name.startswith("spread_")]  # those widen intervals only
    assert sum(k.fitted_rows for k in laws) < 60


def test_constants_of_the_kernel() -> None:
    """net/ipv4/tcp_bbr.c: bbr_full_bw_thresh 5/4 three times, bbr_high_gain 2 / ln 2, gains 5/4 and 3/4 in a cycle."""
    assert (linux.BBR_FULL_GROWTH, linux.BBR_FULL_ROUNDS) == (5 / 4, 3)
    assert pytest.approx(2 / math.log(2), rel=1e-3) == linux.BBR_HIGH_GAIN
    assert linux.BBR_CYCLE[:2] == (5 / 4, 3 / 4)
