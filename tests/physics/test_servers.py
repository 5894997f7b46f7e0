"""Servers of shared file systems against sampled placement, printed port limits and the seek model."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dtnsim.physics import hdd_streams, servers

POSITIVE = st.floats(1e-3, 1e3)


def test_occupied_against_sampling():
    rng = np.random.default_rng(11)
    files, targets = 30, 24
    seen = [len(set(rng.integers(targets, size=files))) for _ in range(4000)]
    assert servers.occupied(files, targets) == pytest.approx(np.mean(seen), rel=5e-3)
    assert servers.occupied(1, targets, 4) == pytest.approx(4.0)
    assert servers.occupied(5, targets, targets) == pytest.approx(targets)
    assert servers.occupied(1e6, targets) == pytest.approx(targets)


def test_many_writers_of_an_array_of_disks():
    # an array of 1 GB/s with 4 GiB of cache and 12 ms to move the heads: 16 streams lose 5 %, 1024 a fifth or more
    rates = [
        hdd_streams.interleaved_rate(n, 1e9, servers.run_length(2.0**32, n, 2.0**22), 12e-3)
        for n in (1, 16, 1024, 10**6)
    ]
    np.testing.assert_allclose(rates, [1e9, 0.957e9, 0.259e9, 0.259e9], rtol=2e-3)
    assert servers.run_length(2.0**32, 1024, 2.0**22) == 2.0**22  # never less than a request


@given(cache=POSITIVE, n=st.floats(1, 1e4), request=POSITIVE, m=st.integers(1, 500), f=st.integers(0, 100))
def test_more_streams_never_have_longer_turns_nor_fewer_targets(cache, n, request, m, f):
    assert servers.run_length(cache, 2 * n, request) <= servers.run_length(cache, n, request)
    assert servers.run_length(cache, n, request) >= request
    assert servers.occupied(f + 1, m) >= servers.occupied(f, m) * (1 - 1e-12)
    assert servers.occupied(f, m) <= m * (1 + 1e-12)
    assert servers.node_rate(2, cache, 1.0, request) >= servers.node_rate(1, cache, 1.0, request)


def test_files_in_turn_and_the_fullest_target():
    assert servers.in_turn(4, 8) == 4  # at random 3.3
    assert servers.in_turn(64, 24) == 24
    assert servers.until_the_last(64, 24, turn=1.0) == pytest.approx(64 / 3)  # 16 of 24 have three
    assert servers.until_the_last(10, 1) == servers.until_the_last(7, 5, each=5) / 5 == 1
    # two files on two targets: on one of them both in half of all cases
    assert servers.until_the_last(2, 2) == pytest.approx(2 / 1.5, rel=0.05)


@pytest.mark.parametrize(("files", "targets", "each"), [(32, 10, 1), (64, 24, 4), (8, 100, 4)])
def test_the_fullest_target_by_throwing(files, targets, each):
    rng = np.random.default_rng(1)
    chosen = rng.permuted(np.tile(np.arange(targets), (1000 * files, 1)), axis=1)[:, :each].reshape(1000, -1)
    most = np.mean([np.bincount(run).max() for run in chosen])
    assert servers.until_the_last(files, targets, each) == pytest.approx(files * each / most, rel=0.04)
    assert servers.until_the_last(files, targets, each) <= servers.occupied(files, targets, each)
