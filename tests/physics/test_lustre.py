"""Lustre against its manual's figures."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dtnsim.physics import lustre, servers

POSITIVE = st.floats(1e-3, 1e3)
RPC = 2.0**22
MiB = 2.0**20


def test_stripes_used():
    np.testing.assert_array_equal(servers.file_stripes([0, 1, MiB, MiB + 1, 1e12], 4, MiB), [1, 1, 1, 2, 4])


def test_components_of_a_progressive_layout():
    # lfs setstripe -E 4M -c 1 -E 64M -c 4 -E -1 -c -1, the Lustre manual's example: 100 MiB are 4 + 60 + 36
    ends = [0.0, 4 * MiB, 64 * MiB, np.inf]
    parts = [lustre.component_bytes(100 * MiB, a, b) for a, b in pairwise(ends)]
    assert np.array(parts) / MiB == pytest.approx([4, 60, 36])
    assert lustre.component_bytes(MiB, 4 * MiB, np.inf) == 0.0


def test_rpcs_in_flight_over_distance():
    # defaults 8 x 4 MiB: 50 ms of WAN leave 0.67 GB/s to one OST; a LAN is above the manual's 4.5 GB/s of a client
    assert lustre.osc_rate(8, RPC, 50e-3) == pytest.approx(8 * RPC / 50e-3)
    assert lustre.osc_rate(8, RPC, 1.1e-3) > 4.5e9


def test_advised_dirty_memory_does_not_bind():
    # Lustre manual: max_dirty_mb of at least 4 x RPC size x RPCs in flight
    assert lustre.osc_rate(8, RPC, 5e-3, 4 * 8 * RPC) == lustre.osc_rate(8, RPC, 5e-3)
    assert lustre.osc_rate(8, RPC, 5e-3, RPC) == pytest.approx(RPC / 5e-3)


def test_readahead_in_whole_rpcs():
    assert lustre.readahead_rate(10 * MiB, RPC, 4e-3) == pytest.approx(2 * RPC / 4e-3)
    assert lustre.readahead_rate(1, RPC, 4e-3) == pytest.approx(RPC / 4e-3)
    # llite_internal.h: "40meg of readahead ... tied up in 512k requests serviced at 40ms each is about 1GB/s"
    assert lustre.readahead_rate(40 * MiB, 2.0**19, 40e-3) == pytest.approx(1.05e9, rel=1e-2)


def test_rails_help_as_far_as_there_are_sockets():
    np.testing.assert_array_equal(lustre.client_rate(4.5e9, [0, 1, 2, 4], 2), [4.5e9, 4.5e9, 9e9, 9e9])
    assert lustre.client_rate(4.5e9, 2, 1) == 4.5e9


@settings(max_examples=60)
@given(size=st.floats(0, 1e13), count=st.integers(1, 200), rpcs=POSITIVE, t=POSITIVE, rails=st.integers(1, 8))
def test_more_is_never_less(size, count, rpcs, t, rails):
    stripes = servers.file_stripes(size, count, MiB)
    assert 1 <= stripes <= count
    assert servers.file_stripes(2 * size, count + 1, MiB) >= stripes
    assert lustre.osc_rate(2 * rpcs, RPC, t) > lustre.osc_rate(rpcs, RPC, t) > lustre.osc_rate(rpcs, RPC, 2 * t)
    assert lustre.readahead_rate(2 * rpcs, 1.0, t) >= lustre.readahead_rate(rpcs, 1.0, t)
    assert lustre.client_rate(1.0, rails + 1, 2) >= lustre.client_rate(1.0, rails, 2)
    cut = size / 3
    parts = lustre.component_bytes(size, 0.0, cut) + lustre.component_bytes(size, cut, np.inf)
    assert parts == pytest.approx(size)
