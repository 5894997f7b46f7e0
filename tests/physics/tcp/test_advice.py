"""The advice: inverses give back what they invert, and changes are sorted by what they bring."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.physics.tcp import advice

BASE = advice.Setting(1.25e9, 0.05, 1e-5, 9000.0, 62.5e6, 1, "cubic", float("inf"), 0.0)


@given(loss=st.floats(-7, -3), rtt=st.floats(0.01, 0.3), n=st.sampled_from([1, 4, 16]))
@settings(max_examples=25, deadline=None)
def test_the_allowed_loss_gives_the_target_back(loss, rtt, n):
    s = replace(BASE, loss=10**loss, rtt_s=rtt, streams=n)
    got = advice.allowed_loss(s, s.goodput())
    assert replace(s, loss=got).goodput() >= s.goodput() * (1 - 1e-6)
    assert got >= s.loss * 0.99 or s.goodput() > 0.999 * replace(s, loss=0.0).goodput()


def test_ten_gigabit_over_100_ms_needs_next_to_no_loss():
    # RFC 9438: 2.9e-8 with 1500-byte packets and one CUBIC stream
    s = replace(BASE, rtt_s=0.1, mtu_B=1500.0, buffer_B=1e9)
    assert 0.5e-8 < advice.allowed_loss(s, 0.9 * s.link_Bps) < 4e-8
    assert advice.allowed_loss(replace(s, window_B=1e6), 0.9 * s.link_Bps) == 0.0


def test_streams_stop_helping():
    few, many = replace(BASE, loss=0.0), replace(BASE, loss=1e-5)
    assert advice.useful_streams(few) == 1
    n = advice.useful_streams(many)
    assert 1 < n <= 32
    assert replace(many, streams=64).goodput() < 1.06 * replace(many, streams=n).goodput()


def test_fasterdata_s_buffer():
    # fasterdata.es.net: 2 x BDP; 10 Gb/s at 50 ms is 62.5 MB, 125 MB of buffer less framing
    assert advice.socket_buffer(replace(BASE, loss=0.0)) == pytest.approx(125e6 * 8948 / 9000)


def test_changes_bring_what_they_say_best_first():
    got = advice.changes(replace(BASE, window_B=4e6, mtu_B=1500.0))
    values = [value for _, value in got]
    assert values == sorted(values, reverse=True)
    assert all(value > replace(BASE, window_B=4e6, mtu_B=1500.0).goodput() for value in values)
    assert advice.changes(replace(BASE, loss=0.0)) == []


def test_pacing_makes_bursts_small():
    assert advice.tso_burst_B(BASE) <= 65536 < advice.burst_B(BASE, 5e9)


def test_loss_counts_packets_so_a_larger_mtu_carries_six_times_as_much():
    got = advice.by_mtu(replace(BASE, cc="reno", loss=1e-4))
    assert got[9000.0] / got[1500.0] == pytest.approx(8948 / 1448, rel=1e-3)
