"""The advice: one thing changed at a time, never below the answer that it improves on."""

from dataclasses import replace

import numpy as np
import pytest

from dtnsim.physics.tcp import advice
from dtnsim.physics.tcp.rate_over_time import answers
from dtnsim.physics.tcp.setting import Setting

BASE = Setting(1.25e9, 0.05, 1e-5, 9000.0, 62.5e6, 1, "cubic", float("inf"), 0.0)


def goodput(s):
    return float(answers([s])[0].goodput_Bps[0])


def test_the_allowed_loss_gives_the_target_back():
    for s in (BASE, replace(BASE, streams=4, rtt_s=0.02), replace(BASE, cc="reno")):
        target = goodput(s)
        got = advice.advise(s, 0.99 * target).allowed_loss
        assert goodput(replace(s, loss=got)) >= 0.99 * target * (1 - 1e-9)
        assert got >= s.loss / 1.2 or target > 0.97 * s.link_Bps


def test_ten_gigabit_over_100_ms_needs_next_to_no_loss():
    # RFC 9438: 2.9e-8 with 1500-byte packets and one CUBIC stream; from a cold start of two minutes it may be more
    s = replace(BASE, rtt_s=0.1, mtu_B=1500.0, buffer_B=1e9, duration_s=120.0)
    assert 1e-8 < advice.advise(s, 0.9 * s.link_Bps).allowed_loss < 4e-7
    assert advice.advise(replace(s, window_B=1e6), 0.9 * s.link_Bps).allowed_loss == 0.0


def test_the_table_and_the_changes_are_the_answer_with_one_thing_changed():
    s = replace(BASE, window_B=4e6, mtu_B=1500.0, streams=2)
    got, now = advice.advise(s, 0.9 * s.link_Bps), goodput(s)
    assert got.by_streams[2] == now
    assert got.by_mtu[1500.0] == now
    values = [value for _, value in got.changes]
    assert values == sorted(values, reverse=True)
    assert values
    assert all(value > now * 1.05 for value in values)
    assert advice.advise(replace(BASE, loss=0.0, rtt_s=0.01), 1e8).changes == ()


def test_a_window_beyond_pipe_and_buffer_overflows_and_the_advice_says_so():
    """10 Gb/s over 50 ms into 5 MB: windows of the pipe fill it, those of 1 GB overflow the buffer over and over."""
    s = replace(BASE, loss=0.0, mtu_B=1500.0, buffer_B=5e6, window_B=1e9, paced=True)
    smaller = {n: r for n, r in advice.advise(s, 1e9).changes if n.startswith("a window of no more")}
    assert list(smaller.values()) == [pytest.approx(goodput(replace(s, window_B=s.link_Bps * s.rtt_s)))]
    assert min(smaller.values()) > 1.05 * goodput(s)


def test_streams_stop_helping():
    got = advice.advise(replace(BASE, loss=1e-5), 1e9)
    assert 1 < got.useful_streams <= 64
    few = advice.advise(replace(BASE, loss=0.0, rtt_s=0.01), 1e9)
    assert few.useful_streams == 1


def test_fasterdata_s_buffer():
    # fasterdata.es.net: 2 x BDP where half of a buffer is window; 10 Gb/s at 50 ms is 62.5 MB, 125 MB less framing;
    # a sender's bytes are charged one for one, and 896 B for a packet of 7 x 8948 B; two thirds of them are in flight
    s = replace(BASE, loss=0.0)
    receiving, sending = advice.socket_buffers(s, "5.15")
    assert receiving == pytest.approx(125e6 * 8948 / 9000)
    assert sending == pytest.approx(1.5 * 62.5e6 * 8948 / 9000 * (1 + 896 / (7 * 8948)))
    assert advice.socket_buffers(replace(s, rtt_s=10.0), "5.15") == (2**31 - 1, 2**31 - 1)


def test_pacing_makes_bursts_small():
    s = replace(BASE, line_Bps=5e9)
    assert advice.tso_burst_B(s, goodput(s)) <= 65536 < advice.burst_B(s)


def test_loss_counts_packets_so_a_larger_mtu_carries_six_times_as_much():
    got = advice.advise(replace(BASE, cc="reno", loss=1e-3, duration_s=300.0), 1e9).by_mtu
    assert got[9000.0] / got[1500.0] == pytest.approx(8948 / 1448, rel=0.1)
    assert np.isfinite(list(got.values())).all()
