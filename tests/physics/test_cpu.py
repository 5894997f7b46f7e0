"""Cycles per byte against NASA's published CPU shares, LWN's packet budget and closed forms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.physics import cpu
from dtnsim.physics.core_rates import CORE_RATES

GBIT = 1e9 / 8
NEHALEM_HZ = 3.2e9  # NASA GSFC C-system, Core i7, 3.2 GHz


def test_receive_cycles_carry_over_to_another_run():
    """From the disk-to-null run alone (17.324 Gb/s, 49 % RX) the memory-to-memory share follows.

    Shares are printed in whole percent and were 53 and 59 % in the two runs; the prediction must lie
    between them, give or take the rounding.
    """
    c = cpu.cycles_from_share(0.49, NEHALEM_HZ, 17.3244416 * GBIT)
    assert c == pytest.approx(0.724, abs=0.001)
    share = cpu.core_utilization(19.8058537 * GBIT, c, NEHALEM_HZ)
    assert 0.525 < share < 0.595


def test_write_run_predicts_copy_run():
    """Zero-to-array (10.130 Gb/s at 99 %) predicts disk-to-disk, measured at 10.273-10.311 Gb/s.

    The share is rounded to a percent and one run varies by about one more: 2 %.
    """
    c = cpu.cycles_from_share(0.99, NEHALEM_HZ, 10.1297218 * GBIT)
    assert c == pytest.approx(2.50, abs=0.005)
    assert 0.99 * cpu.core_rate(NEHALEM_HZ, c) / GBIT == pytest.approx(10.29, rel=0.02)


def test_one_core_doing_two_things_is_not_the_minimum():
    # 1/(1/35.4 + 1/14.4) = 10.2 Gb/s; the minimum would say 14.4.
    c_receive = NEHALEM_HZ / (35.4 * GBIT)
    c_write = NEHALEM_HZ / (14.4 * GBIT)
    both = cpu.core_rate(NEHALEM_HZ, c_receive + c_write) / GBIT
    assert both == pytest.approx(10.2, abs=0.05)
    assert both == pytest.approx(10.27, rel=0.01)  # measured


def test_packet_budget_lwn_2015():
    assert cpu.packet_budget(10 * GBIT, 1538) == pytest.approx(1230e-9, rel=1e-3)
    # LWN prints 307 ns for 40 Gb/s.
    assert cpu.packet_budget(40 * GBIT, 1538) == pytest.approx(307e-9, rel=3e-3)


def test_composition_limits():
    assert cpu.cycles_per_byte(0.7) == 0.7
    assert cpu.cycles_per_byte(0.7, per_call=4000, call_B=1e12) == pytest.approx(0.7)
    assert cpu.cycles_per_byte(0.5, 2000, 1000, 3000, 1500) == pytest.approx(0.5 + 2 + 2)
    assert cpu.traversal_bytes(1448) == 1448  # no offload
    assert cpu.traversal_bytes(1448, 1e9) == 65536  # never beyond the kernel's limit
    assert cpu.traversal_bytes(1448, cpu.coalesced_bytes(1.25e9, 10e-6)) == pytest.approx(12500)


def test_cost_of_a_call_predicts_other_record_sizes():
    """iozone write on Venadi (8 GiB file, KiB/s): 4 and 64 KiB records fix the law, 8, 16, 128 KiB judge it.

    3 %: the cache behind the writes is not the same at every size.
    """
    clock = 3.6e9
    measured = {4: 850821, 8: 1438496, 16: 2180223, 64: 3722032, 128: 4268489}
    t4, t64 = (k * 1024 / (measured[k] * 1024) for k in (4, 64))
    per_byte_s = (t64 - t4) / (60 * 1024)
    per_call_s = t4 - 4096 * per_byte_s
    for size in (8, 16, 128):
        c = cpu.cycles_per_byte(per_byte_s * clock, per_call_s * clock, size * 1024)
        assert cpu.core_rate(clock, c) / 1024 == pytest.approx(measured[size], rel=0.03)


def test_sharing_a_core():
    assert cpu.shared_core_cycles(1.8, 0.7, 1.0) == pytest.approx(2.5)
    assert cpu.shared_core_cycles(1.8, 0.7, 0.0) == pytest.approx(1.8)
    assert cpu.shared_core_cycles(1.8, 0.7, 0.25, handoff=0.1) == pytest.approx(1.8 + 0.175 + 0.075)
    assert cpu.smt_capacity(3e9, 1) == 3e9
    assert 1.16 * 3e9 <= cpu.smt_capacity(3e9, 2) <= 1.28 * 3e9  # Marr et al. 2002
    assert cpu.smt_capacity(3e9, 8) == cpu.smt_capacity(3e9, 2)
    assert cpu.numa_cycles(1.0, 0.0) == 1
    assert cpu.numa_cycles(1.0, 1.0, 2.0) == 2


def test_queues():
    one = cpu.core_rate(3e9, 1.0)
    assert cpu.queue_rate(3e9, 1.0, 16, flows=1) == pytest.approx(one)  # one flow, one queue
    assert cpu.queue_rate(3e9, 1.0, 1, flows=50) == pytest.approx(one)
    assert cpu.queue_rate(3e9, 1.0, 8) == pytest.approx(8 * one)
    assert cpu.queue_rate(3e9, 1.0, 16, cores=4) == pytest.approx(4 * one)
    assert cpu.queue_rate(3e9, 1.0, 4, flows=4) == pytest.approx(2.734375 * one)  # 4(1-(3/4)^4)


def test_core_rates_are_complete_and_ordered():
    for name, rate in CORE_RATES.items():
        assert rate.rate_Bps > 0, name
        assert 0 < rate.spread < 1, name
        assert rate.source, name
    c = {name: rate.cycles_per_byte for name, rate in CORE_RATES.items()}
    assert c["xxh3"] < c["xxh64"] < c["sha1"] < c["md5"] < c["zlib6_compress"]
    assert c["aes128_ctr"] < c["aes128_gcm"] < c["openssh_aes_gcm"]
    assert c["fletcher4_ssse3"] < c["fletcher4_scalar"]


@settings(max_examples=60)
@given(
    clock=st.floats(1e9, 6e9),
    byte=st.floats(0.01, 20),
    call=st.floats(0, 1e5),
    size=st.floats(64, 1e8),
    packet=st.floats(0, 1e5),
    mss=st.floats(500, 65536),
)
def test_properties(clock, byte, call, size, packet, mss):
    def rate(s, aggregate):
        return cpu.core_rate(clock, cpu.cycles_per_byte(byte, call, s, packet, cpu.traversal_bytes(mss, aggregate)))

    assert 0 < rate(size, 0) <= rate(2 * size, 0) <= rate(2 * size, 65536) <= clock / byte * (1 + 1e-12)
    c = clock / rate(size, 0)
    u = cpu.core_utilization(rate(size, 0), c, clock)
    assert u == pytest.approx(1)
    assert cpu.cycles_from_share(u, clock, rate(size, 0)) == pytest.approx(c)


def test_arrays_broadcast():
    out = cpu.cycles_per_byte(np.ones((3, 1)), 100.0, np.array([100.0, 1000.0]))
    assert out.shape == (3, 2)
