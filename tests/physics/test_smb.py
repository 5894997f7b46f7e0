"""SMB 3 against its specification's credits."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.physics import smb

MiB = 2.0**20
POSITIVE = st.floats(1e-3, 1e3)


def test_a_large_request_takes_sixty_four_credits():
    # Linux commit 4fe75c4e4bc2: "large i/o ... needs 64 credits minimum" for 4 MiB (MS-SMB2: one for each 64 KiB)
    assert smb.credits_rate(64, 4 * MiB, 1.0, 0.0) == pytest.approx(4 * MiB)
    assert smb.credits_rate(128, 4 * MiB, 1.0, 0.0, 2) == pytest.approx(16 * MiB)


def test_small_requests_waste_their_credit():
    assert smb.credits_rate(100, 4096, 1.0, 0.0) == pytest.approx(100 * 4096)
    assert smb.credits_rate(100, 65537, 1.0, 0.0) == pytest.approx(50 * 65537)


def test_read_ahead_of_the_linux_client():
    assert smb.read_ahead(4 * MiB) == 8 * MiB


@settings(max_examples=50)
@given(n=st.integers(1, 10**4), io=st.floats(1, 1e8), T=POSITIVE, t=POSITIVE)
def test_more_credits_are_never_slower(n, io, T, t):
    rate = smb.credits_rate(n, io, T, t)
    assert smb.credits_rate(n + 1, io, T, t) > rate
    assert smb.credits_rate(n, io, 2 * T, t) < rate
    assert rate <= n * smb.CREDIT_B / (T + t) * (1 + 1e-12)
    assert smb.read_ahead(io) > io
