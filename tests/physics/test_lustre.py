"""Lustre against its manual's figures."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dtnsim.physics import lustre, servers

POSITIVE = st.floats(1e-3, 1e3)
RPC = 2.0**22
MiB = 2.0**20


def test_a_lan_is_above_the_manual_s_rate_of_a_client():
    assert lustre.osc_rate(8, RPC, 1.1e-3) > 4.5e9


def test_components_of_a_progressive_layout():
    # lfs setstripe -E 4M -c 1 -E 64M -c 4 -E -1 -c -1, the Lustre manual's example: 100 MiB are 4 + 60 + 36
    ends = [0.0, 4 * MiB, 64 * MiB, np.inf]
    parts = [lustre.component_bytes(100 * MiB, a, b) for a, b in pairwise(ends)]
    assert np.array(parts) / MiB == pytest.approx([4, 60, 36])
    assert lustre.component_bytes(MiB, 4 * MiB, np.inf) == 0.0


@given(size=st.floats(0, 1e13), count=st.integers(1, 200), rpcs=POSITIVE, t=POSITIVE, rails=st.integers(1, 8))
def test_more_is_never_less(size, count, rpcs, t, rails):
    stripes = servers.file_stripes(size, count, MiB)
    assert 1 <= stripes <= count
    assert servers.file_stripes(2 * size, count + 1, MiB) >= stripes
    assert lustre.osc_rate(2 * rpcs, RPC, t) > lustre.osc_rate(rpcs, RPC, t) > lustre.osc_rate(rpcs, RPC, 2 * t)
    assert lustre.read_ahead_rate(2 * rpcs, 1.0, t) >= lustre.read_ahead_rate(rpcs, 1.0, t)
    assert lustre.client_rate(1.0, rails + 1, 2) >= lustre.client_rate(1.0, rails, 2)
    cut = size / 3
    parts = lustre.component_bytes(size, 0.0, cut) + lustre.component_bytes(size, cut, np.inf)
    assert parts == pytest.approx(size)
