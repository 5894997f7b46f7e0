"""Loss as people have it, and many lossy streams: n give n times one until the link fills."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dtnsim.physics.tcp import loss, outcome
from dtnsim.physics.tcp.rounds import Cases


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


LINK = 12.5e9 * 8948 / 9000


@pytest.mark.parametrize("cc", ["cubic", *(pytest.param(cc, marks=pytest.mark.long) for cc in ("reno", "htcp"))])
def test_streams_add_until_the_link_fills(cc):
    counts = np.array([1, 2, 3, 5, 16, 64, 256])
    losses, trips = [1e-5, 1e-5, 1e-4, 1e-3, 1e-2], [0.001, 0.05, 0.2, 0.05, 0.01]
    loss, rtt = (np.repeat(given, len(counts)) for given in (losses, trips))
    all_counts = np.tile(counts, len(losses))
    table = outcome.simulate(
        Cases.of(
            rate_Bps=12.5e9, rtt_s=rtt, mtu_B=9000.0, loss=loss, cc=cc, streams=all_counts, warmup_s=600.0,
            duration_s=300.0,
        )
    ).goodput_Bps  # fmt: skip
    for got in table.reshape(len(losses), len(counts)):
        free = counts * got[0] < 0.7 * LINK
        assert free.sum() >= 2
        assert got[free] == pytest.approx(counts[free] * got[0], rel=0.1)
    assert (table <= LINK).all()


@pytest.mark.long
def test_sixty_four_streams_from_a_cold_start():
    # 100 Gb/s, 50 ms, 1e-3: once 25 Gb/s, since the runs ended inside the overshoot of slow start
    one, many = outcome.simulate(
        Cases.of(rate_Bps=12.5e9, rtt_s=0.05, mtu_B=9000.0, loss=1e-3, streams=[1, 64], duration_s=300.0)
    ).goodput_Bps
    assert many == pytest.approx(64 * one, rel=0.1)


def test_a_row_alone_is_the_row_in_any_table():
    table = Cases.of(
        rate_Bps=[1.25e9, 1.25e7, 1.25e8, 1.25e8, 1.25e7, 1.25e9], rtt_s=[0.05, 0.01, 0.03, 0.1, 0.06, 0.02],
        loss=[1e-5, 1e-3, 0.0, 1e-4, 0.0, 1e-4], streams=[8, 1, 4, 2, 1, 64],
        cc=["cubic", "reno", "cubic", "htcp", "bbr", "westwood"], size_B=[np.inf, 1e8, np.inf, np.inf, 1e9, np.inf],
    )  # fmt: skip
    whole = outcome.simulate(table)
    for i in range(len(table.rtt_s)):
        alone = outcome.simulate(table.take(np.array([i])))
        for field in dataclasses.fields(alone):
            mine, theirs = getattr(alone, field.name)[0], getattr(whole, field.name)[i]
            if field.name != "limit":
                assert mine == pytest.approx(theirs, rel=1e-12, nan_ok=True), (i, field.name)


def test_a_pair_alone_is_the_pair_in_a_table():
    pairs = Cases.of(rate_Bps=6.25e6, rtt_s=[0.03, 0.06], cc=["cubic", "reno"], cc2="bbr", warmup_s=2.0, duration_s=4.0)
    whole = outcome.simulate(pairs)
    alone = outcome.simulate(pairs.take(np.array([1])))
    assert alone.goodput_Bps[0] == whole.goodput_Bps[1]
    assert alone.second_Bps[0] == whole.second_Bps[1]
