"""RDMA against its specification, textbooks and what adapters print."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dtnsim.physics import rdma


@pytest.mark.parametrize(("a", "loss"), [(1, 1e-3), (10, 1e-3), (100, 1e-2)])
def test_go_back_n_is_that_of_the_textbook(a, loss):
    """Stallings, Data and Computer Communications, 7A: (1 - P) / (1 + 2 a P) with a window of 2 a + 1."""
    assert rdma.go_back_n(loss, 2 * a + 1) == pytest.approx((1 - loss) / (1 + 2 * a * loss))


def test_without_loss_or_delay_nothing_is_lost():
    assert rdma.go_back_n(0.0, 1e6) == 1.0
    assert np.isinf(rdma.credit_rate(256 * 1024, 0.0))
    # 100 km of fibre, 1 ms: a quarter of a mebibyte a round trip, 2.1 Gb/s: why such links need extenders
    assert rdma.credit_rate(256 * 1024, 1e-3) * 8 == pytest.approx(2.1e9, rel=0.01)


@pytest.mark.parametrize("loss", [0.0, 1e-6, 1e-3, 0.1])
def test_a_connection_alone_goes_back_as_far_as_it_has_asked(loss):
    """r (1 - p) / (1 - p + w p), w = r T / s and at least 1; for endless requests s (1 - p) / (p T)."""
    packet, rtt = 4096.0, 1e-3
    asked = np.array([1e4, 1e6, 1e9, 1e12])
    whole = asked * rdma.go_back_n(loss, asked * rtt / packet)
    assert rdma.connection_rate(asked, loss, packet, rtt) == pytest.approx(whole)
    endless = np.inf if loss == 0 else packet * (1 - loss) / (loss * rtt)
    assert rdma.connection_rate(np.inf, loss, packet, rtt) == pytest.approx(endless)


@given(p=st.floats(0, 0.5), w=st.floats(0.1, 1e6))
def test_more_loss_or_flight_is_never_faster(p, w):
    share = rdma.go_back_n(p, w)
    assert 0 < share <= 1 - p + 1e-12
    assert rdma.go_back_n(p, 2 * w) <= share * (1 + 1e-12)
    assert rdma.go_back_n(min(1.5 * p, 1.0), w) <= share * (1 + 1e-12)
    assert rdma.roce_wire_bytes(w) - w == pytest.approx(82.0, rel=1e-6)
    assert rdma.credit_rate(w, 1e-3) <= rdma.credit_rate(2 * w, 1e-3)
