"""Ceph: what copies and coded shards cost, beside a published pair of reading and writing."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.physics import ceph


def test_three_copies_write_three_times():
    assert ceph.stored(3, 0, 0) == 3
    # ceph.com 2023, Reef RGW, 60 NVMe drives, three replicas, objects of 4 MB: GET 53, PUT 18.6 GB/s, a ratio of 2.85
    ratio = ceph.port_bytes(ceph.stored(3, 0, 0), 0, 0) / ceph.port_bytes(ceph.stored(3, 0, 0), 0, 1)
    assert ratio == pytest.approx(53 / 18.6, rel=0.1)


def test_coded_shards():
    # 8 + 3: 1.375 bytes stored; the byte comes in once and 10 of 11 shards go on to other nodes
    assert ceph.stored(3, 8, 3) == pytest.approx(1.375)
    assert ceph.port_bytes(1.375, 8, 0) == pytest.approx(1 + 10 / 8)
    assert ceph.port_bytes(1.375, 8, 1) == pytest.approx(1 + 7 / 8)
    assert ceph.port_bytes(ceph.stored(1, 0, 0), 0, 0) == 1  # one copy: in once


def test_read_ahead_of_the_kernel_client():
    # mount.ceph(8): rasize 8 MiB; over 8 ms 1 GiB/s
    assert ceph.readahead_rate(8 * 2**20, 8e-3) == pytest.approx(1.05e9, rel=1e-2)


@settings(max_examples=50)
@given(n=st.integers(1, 8), k=st.integers(1, 16), m=st.integers(0, 8), reading=st.sampled_from([0.0, 1.0]))
def test_more_safety_costs_more(n, k, m, reading):
    assert ceph.stored(n + 1, 0, 0) > ceph.stored(n, 0, 0)
    assert 1 <= ceph.stored(n, k, m) < ceph.stored(n, k, m + 1)
    assert ceph.port_bytes(ceph.stored(n, k, m), k, reading) >= 1 - 1e-12
