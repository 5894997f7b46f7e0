"""Lustre against its manual's figures, sampled placement, and mdtest as printed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.physics import lustre, metadata

POSITIVE = st.floats(1e-3, 1e3)


def test_stripes_used():
    np.testing.assert_array_equal(lustre.file_stripes([0, 1, 2**20, 2**20 + 1, 1e12], 4), [1, 1, 1, 2, 4])


def test_rpcs_in_flight_over_distance():
    # defaults 8 x 4 MiB: 50 ms of WAN leave 0.67 GB/s to one OST, a LAN does not bind
    assert lustre.osc_rate(8, lustre.RPC_B, 50e-3, 0.0) == pytest.approx(8 * 2**22 / 50e-3)
    assert lustre.osc_rate(8, lustre.RPC_B, 0.1e-3, 1e-3) > lustre.CLIENT_RATE_FDR


def test_advised_dirty_memory_does_not_bind():
    # Lustre manual: max_dirty_mb of at least 4 x RPC size x RPCs in flight
    advised = 4 * 8 * lustre.RPC_B
    assert lustre.osc_rate(8, lustre.RPC_B, 1e-3, 4e-3, advised) == lustre.osc_rate(8, lustre.RPC_B, 1e-3, 4e-3)
    assert lustre.osc_rate(8, lustre.RPC_B, 1e-3, 4e-3, lustre.RPC_B) == pytest.approx(lustre.RPC_B / 5e-3)


def test_stream_takes_its_least_limit():
    one = {"osc": 6e9, "servers": 10e9, "network_rate": 7e9}
    assert lustre.stream_rate(1, targets=lustre.target_rate(1, 0.5e9), **one) == pytest.approx(0.5e9)
    assert lustre.stream_rate(8, targets=lustre.target_rate(8, 0.5e9), **one) == pytest.approx(4e9)
    # FDR: 54.5 Gb/s of data on the wire; 90 % of it is above the manual's 4.5 GB/s of one client
    fdr = lustre.stream_rate(64, 6e9, lustre.target_rate(64, 0.5e9), lustre.server_rate(64, 8), 54.5e9 / 8)
    assert fdr == pytest.approx(0.9 * 54.5e9 / 8)
    assert fdr > lustre.CLIENT_RATE_FDR
    assert lustre.stream_rate(64, 6e9, 1e11, 1e11, 1e11, 1.5e9) == 1.5e9


def test_shared_targets():
    np.testing.assert_allclose(lustre.target_rate(2, 1e9, [0, 1, 3]), [2e9, 1e9, 0.5e9])
    assert lustre.server_rate(1, 8) == lustre.OSS_RATE
    assert lustre.server_rate(16, 8, 10e9, 1.0) == pytest.approx(8 * 5e9)


@settings(max_examples=60)
@given(stripes=st.integers(1, 200), osc=POSITIVE, ost=POSITIVE, net=POSITIVE, others=st.floats(0, 50))
def test_stream_is_monotone(stripes, osc, ost, net, others):
    def rate(s, o):
        return lustre.stream_rate(s, osc, lustre.target_rate(s, ost, o), lustre.server_rate(s, 8, 1e3), net)

    assert rate(stripes + 1, others) >= rate(stripes, others)
    assert rate(stripes, others + 1) <= rate(stripes, others)
    assert rate(stripes, others) <= 0.9 * net * (1 + 1e-12)


def test_occupied_targets_against_sampling():
    rng = np.random.default_rng(11)
    files, targets = 30, 24
    seen = [len(set(rng.integers(targets, size=files))) for _ in range(4000)]
    assert lustre.occupied_targets(files, targets) == pytest.approx(np.mean(seen), rel=5e-3)
    assert lustre.occupied_targets(1, targets) == pytest.approx(1.0)
    assert lustre.occupied_targets(1, targets, 4) == pytest.approx(4.0)
    assert lustre.occupied_targets(5, targets, targets) == pytest.approx(targets)
    assert lustre.occupied_targets(1e6, targets) == pytest.approx(targets)


def test_readahead_in_whole_rpcs():
    assert lustre.readahead_rate(10 * 2**20, 4 * 2**20, 1e-3, 3e-3) == pytest.approx(2 * 2**22 / 4e-3)
    assert lustre.readahead_rate(1, 4 * 2**20, 1e-3, 3e-3) == pytest.approx(2**22 / 4e-3)


@pytest.mark.parametrize(("create", "remove", "stat"), [(1100, 1900, 2000), (504, 1800, 2000)])
def test_one_thread_of_printed_mdtest(create, remove, stat):
    # Dell HPC Lustre storage papers (Omni-Path, Lustre 2.7; Enterprise Edition 2.5), one thread; the
    # constants are priors with a spread of a factor 2
    step = 1 / stat
    for k, printed in ((lustre.K_CREATE, create), (lustre.K_REMOVE, remove), (lustre.K_STAT, stat)):
        predicted = metadata.operation_rate(1, k, 0.0, step)
        assert printed / 2 <= predicted <= printed * 2


def test_modifying_rpcs_bound_one_client():
    # 7 modifying requests in flight, 0.5 ms each: 7000 creates/s by latency, 1000/s by the manual
    fast = metadata.operation_rate(64, lustre.K_CREATE, 0.0, 0.5e-3, lustre.MDC_MODIFYING_RPCS)
    assert fast == pytest.approx(7000)
    assert fast > lustre.CLIENT_METADATA_RATE
