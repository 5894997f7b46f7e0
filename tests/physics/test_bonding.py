"""Bonding: occupancy against enumeration and published values, the Linux hash against known vectors."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.physics import bonding

# k = 4: n -> (E[used], n / E[max]); balls into bins, to two decimals
TABLE = {1: (1, 1), 2: (1.75, 1.60), 4: (2.73, 1.88), 8: (3.60, 2.26), 16: (3.96, 2.61), 32: (4.00, 2.91)}


@pytest.mark.parametrize("n", TABLE)
def test_four_links(n):
    used, static = TABLE[n]
    assert bonding.expected_links(4, n) == pytest.approx(used, abs=0.006)
    assert n / bonding.expected_max_load(4, n) == pytest.approx(static, abs=0.006)


@pytest.mark.parametrize(("k", "n"), [(1, 3), (2, 5), (3, 4), (4, 5), (5, 3)])
def test_against_enumeration_of_all_placements(k, n):
    loads = [np.bincount(p, minlength=k) for p in itertools.product(range(k), repeat=n)]
    assert bonding.expected_max_load(k, n) == pytest.approx(np.mean([x.max() for x in loads]))
    assert bonding.expected_links(k, n) == pytest.approx(np.mean([(x > 0).sum() for x in loads]))


def test_rates():
    # Four 10 GbE links at 9.9 Gb/s, eight streams: 35.6 Gb/s shared out, one stream never above 9.9.
    assert bonding.dynamic_rate(9.9, 4, 8) == pytest.approx(35.6, abs=0.05)
    assert bonding.dynamic_rate(9.9, 4, 1) == pytest.approx(9.9)
    assert bonding.static_rate(9.9, 4, 1) == pytest.approx(9.9)


def address(text):
    a, b, c, d = map(int, text.split("."))
    return a << 24 | b << 16 | c << 8 | d


def test_hash_vector():
    """10.0.0.1:1234 -> 10.0.0.2:80 hashes to 0x29a9c0c2: worked out from the kernel's formula.

    Ports on the wire 04 d2 00 50 read little-endian 0x5000d204; addresses xor to 0x03000000;
    0x5300d204 ^ 0x5300 = 0x53008104; ^ 0x530081 = 0x53538185; >> 1 = 0x29a9c0c2.
    """
    h = bonding.layer34_hash(address("10.0.0.1"), address("10.0.0.2"), 1234, 80)
    assert h == 0x29A9C0C2
    assert bonding.layer34_hash(address("10.0.0.1"), address("10.0.0.2"), 1234, 80, 0) == 0x53538185
    assert bonding.layer34_links(3, address("10.0.0.1"), address("10.0.0.2"), 1234, 80) == 0x29A9C0C2 % 3


def test_even_ports_met_one_link_before_linux_4_15():
    """The kernel's reason for the change: connect() hands out even ports; iperf streams shared one slave."""
    ends = address("192.168.1.10"), address("192.168.1.20")
    ports = np.arange(40000, 40064, 2)
    old = bonding.layer34_links(2, *ends, ports, 5001, discard_lowest_bit=0)
    new = bonding.layer34_links(2, *ends, ports, 5001)
    assert len(set(old.tolist())) == 1
    assert len(set(new.tolist())) == 2


def test_consecutive_ports_spread_perfectly_over_a_power_of_two():
    ends = address("128.114.109.74"), address("128.55.80.38")
    links = bonding.layer34_links(4, *ends, np.arange(50000, 50008), 2811)
    assert np.bincount(links, minlength=4).tolist() == [2, 2, 2, 2]  # better than the 2.26/4 of chance


def test_random_ports_behave_like_chance():
    rng = np.random.default_rng(2)
    n, trials = 8, 20000
    ports = rng.integers(32768, 61000, (trials, n))
    links = bonding.layer34_links(4, address("10.1.2.3"), address("10.9.8.7"), ports, 2811)
    used = (links[..., None] == np.arange(4)).any(axis=1).sum(axis=1).mean()
    # 1 %: 20 000 draws; ports are drawn from a range that is no multiple of 2048
    assert used == pytest.approx(bonding.expected_links(4, n), rel=0.01)


octet = st.integers(0, 2**32 - 1)
port = st.integers(1, 65535)


@settings(max_examples=60)
@given(a=octet, b=octet, p=port, q=port, k=st.integers(1, 8))
def test_hash_properties(a, b, p, q, k):
    link = bonding.layer34_links(k, a, b, p, q)
    assert 0 <= link < k
    assert bonding.layer34_hash(b, a, p, q) == bonding.layer34_hash(a, b, p, q)  # XOR of addresses
    folded = 0  # the lowest byte before the shift is the XOR of all twelve bytes
    for value, size in ((a, 4), (b, 4), (p, 2), (q, 2)):
        for byte in value.to_bytes(size, "big"):
            folded ^= byte
    assert int(bonding.layer34_hash(a, b, p, q, 0)) & 0xFF == folded


@settings(max_examples=30)
@given(k=st.integers(1, 8), n=st.integers(1, 24))
def test_occupancy_properties(k, n):
    used, fullest = bonding.expected_links(k, n), bonding.expected_max_load(k, n)
    assert 1 - 1e-9 <= used <= min(k, n) + 1e-9
    assert max(n / k, 1) - 1e-9 <= fullest <= n + 1e-9
    assert bonding.expected_links(k, n + 1) >= used
    assert bonding.expected_max_load(k, n + 1) >= fullest
    assert bonding.static_rate(1.0, k, n) <= bonding.dynamic_rate(1.0, k, n) + 1e-9


def test_arrays_broadcast():
    assert bonding.expected_max_load(np.array([[2], [4]]), np.array([1, 2, 8])).shape == (2, 3)
