"""Loss as people have it: bursts cost one cut each, places in series add up, retransmits are segments sent again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtnsim.physics.tcp import loss, outcome
from dtnsim.physics.tcp.rounds import Cases


def test_one_packet_bursts_are_random_loss():
    assert loss.events(1e-4, 1.0) == 1e-4
    assert loss.together([1e-4], [1.0]) == (pytest.approx(1e-4), pytest.approx(1.0))


def test_a_gilbert_channel_of_the_measured_runs():
    # tcp-truth's emulator: mean loss 1e-2 in bursts of 5 is an event every 500 packets
    assert loss.events(1e-2, 5.0) == pytest.approx(1 / 500)


def test_iperf3_s_retransmits():
    # 100 GB in segments of 1448 B: 69 million; 1200 of them again
    assert loss.of_retransmits(1200, 100e9) == pytest.approx(1.74e-5, rel=0.01)
    assert loss.of_retransmits(0, 1e9) == 0
    assert loss.of_retransmits(1e12, 1e3) == 0.5


def test_bursts_cost_less_than_as_much_random_loss():
    got = outcome.simulate(
        Cases.of(rate_Bps=1.25e9, rtt_s=0.02, loss=1e-3, burst=[1.0, 3.0, 10.0], warmup_s=20.0, duration_s=100.0)
    ).goodput_Bps
    assert got[0] < got[1] < got[2]
    assert got[2] / got[0] == pytest.approx(10**0.5, rel=0.25)  # Reno-friendly: 1/sqrt of the events


@given(st.lists(st.tuples(st.floats(0, 0.5), st.floats(1, 100)), max_size=5))
def test_places_in_series_lose_more_than_each_and_less_than_their_sum(places):
    mean, burst = loss.together([p for p, _ in places], [b for _, b in places])
    assert max((p for p, _ in places), default=0.0) <= mean + 1e-12
    assert mean <= sum(p for p, _ in places) + 1e-12
    assert burst >= 1
