"""Cycles per byte against NASA's published CPU shares, LWN's packet budget and closed forms."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dtnsim.physics import cpu
from dtnsim.physics.core_rates import CORE_RATES


def test_datagrams_of_a_program_in_freebsd():
    """Rizzo, netmap, USENIX ATC 2012, figure 5: 1.05 million datagrams of 64 B a second at 2.93 GHz.

    900 cycles of call and 2,500 of packet (`components.stack`) give 0.86 million: 20 %, two operating systems.
    """
    c = cpu.cycles_per_byte(0.4, 900, 64, 65536, 2500, 64)
    assert 2.93e9 / c / 64 == pytest.approx(1.05e6, rel=0.2)


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
        assert clock / c / 1024 == pytest.approx(measured[size], rel=0.03)


@given(st.lists(st.integers(0, 63), min_size=1, max_size=16), st.integers(1, 4), st.integers(1, 8), st.booleans())
def test_shares_of_all_sockets_make_one(cores, sockets, each, alternate):
    cores = [c % (sockets * each) for c in cores]
    near = sum(1 - cpu.remote_share(cores, s, sockets, each, alternate=alternate) for s in range(sockets))
    assert near == pytest.approx(1.0)


@pytest.mark.parametrize(("cores", "threads", "measured"), [(26, 51, 1861028), (72, 72, 3629098)])
def test_shards_of_a_cache_have_pools_of_their_own(cores, threads, measured):
    """Leitao, workqueue: add WQ_AFFN_CACHE_SHARD (2026): items a second of a Xeon 8321HC and of Grace; one pool of the
    whole cache does 591,001 and 708,168. A pool that fewer processors fill does no more than one that all fill."""
    whole = {51: 591001, 72: 708168}[threads]
    assert cpu.worker_pools((6, 6), 1, cores) == 1
    shards = cpu.worker_pools((7, 1), 1, cores)
    assert 0.4 < measured / (shards * whole) < 1.0


def test_pools_of_workers():
    """A NUMA node before Linux 6.6, a last-level cache from then on, eight cores of one from 7.1 on."""
    rome = {"sockets": 2, "cores_per_socket": 64, "cache_groups": 16}
    assert [cpu.worker_pools(v, **rome) for v in ((5, 15), (6, 5, 9), (6, 6), (7, 0), (7, 1))] == [2, 2, 32, 32, 32]
    assert [cpu.worker_pools(v, 2, 36) for v in ((4, 4), (6, 8), (7, 1))] == [2, 2, 10]  # 36 cores are five shards


def test_core_rates_are_complete_and_ordered():
    for name, rate in CORE_RATES.items():
        assert rate.rate_Bps > 0, name
        assert 0 < rate.spread < 1, name
        assert rate.source, name
    c = {name: rate.cycles_per_byte for name, rate in CORE_RATES.items()}
    assert c["xxh3"] < c["xxh64"] < c["sha1"] < c["md5"] < c["zlib6_compress"]
    assert c["aes128_ctr"] < c["aes128_gcm"] < c["aes256_gcm"] < 1.4 * c["aes128_gcm"] < c["openssh_aes_gcm"]
    assert c["fletcher4_ssse3"] < c["fletcher4_scalar"]


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
        passed = cpu.traversal_bytes(mss, aggregate)
        return clock / cpu.cycles_per_byte(byte, call, s, np.inf, packet, passed)

    assert 0 < rate(size, 0) <= rate(2 * size, 0) <= rate(2 * size, 65536) <= clock / byte * (1 + 1e-12)


def test_arrays_broadcast():
    out = cpu.cycles_per_byte(np.ones((3, 1)), 100.0, np.array([100.0, 1000.0]))
    assert out.shape == (3, 2)


@pytest.mark.parametrize(
    ("release", "blocks", "small", "large"),
    [((3, 10), 1, 1, 1), ((4, 15), 1, 0.61, 0.61), ((5, 4), 2, 1, 1), ((5, 12), 1, 1, 1), ((6, 10), 1, 1.46, 1.25)],
)
def test_aes_of_a_kernel(release: tuple[int, ...], blocks: int, small: float, large: float) -> None:
    """Biggers 2024: 4.2 GB/s of xts-aes-aesni and 9.6 to 10.9 with VAES on Zen 4, in messages of 4096 B."""
    assert cpu.xts_speedup(release, blocks, [512, 4096]) == pytest.approx([small, large], rel=0.01)
    assert 9588 / 4247 < cpu.xts_speedup((6, 10), 2, 4096) < 10868 / 4247
