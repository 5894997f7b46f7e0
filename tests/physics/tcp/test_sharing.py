"""Shares at a common queue."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtnsim.physics.tcp import sharing


def test_equal_round_trips_share_by_streams():
    assert sharing.rtt_shares([0.05, 0.05, 0.05], weights=[1, 1, 2]) == pytest.approx([0.25, 0.25, 0.5])


def test_reno_shares_by_the_inverse_round_trip():
    assert sharing.rtt_shares([0.01, 0.1])[0] == pytest.approx(10 / 11)


def test_bbr_against_loss_based_flows_follows_ware_et_al():
    # IMC 2019, figure 5 and equation 5: about half of a deep buffer whatever the number of loss-based flows;
    # all of the link at one BDP and below
    assert sharing.bbr_share(16, 1e6) == pytest.approx(0.5 + 1 / 32, abs=1e-3)
    assert sharing.bbr_share(1.0, 1e4) == 1.0
    assert sharing.bbr_share(4, 1000, 1) == pytest.approx(0.5 + 0.125 + 0.001)


@given(rtts=st.lists(st.floats(1e-3, 0.4), min_size=1, max_size=8), a=st.floats(-1, 2))
def test_shares_sum_to_one(rtts, a):
    shares = sharing.rtt_shares(rtts, a)
    assert shares.sum() == pytest.approx(1)
    order = np.argsort(rtts)
    if a > 0:
        assert (np.diff(shares[order]) <= 1e-12).all()


@given(b=st.floats(0.1, 50), more=st.floats(1, 10))
def test_a_deeper_buffer_never_helps_bbr(b, more):
    assert sharing.bbr_share(b * more, 1e4) <= sharing.bbr_share(b, 1e4) + 1e-12
