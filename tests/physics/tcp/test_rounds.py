"""The round model against closed forms; its lanes and draws (_lanes, _chance)."""

import functools
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dtnsim.physics.tcp import _chance, _events, _lanes, droptail, rounds
from dtnsim.physics.tcp.controls.cubic import cubic
from dtnsim.physics.tcp.response import aimd_window
from dtnsim.physics.tcp.rounds import Cases


def goodput(cases, replicas=48, seed=1, steps=1500, times=()):
    count = len(cases.rtt_s)
    wanted = np.tile(np.array(times, float), (count, 1))
    ((_, s),) = rounds.run_windows(cases, np.full(count, replicas), np.full(count, steps), seed, wanted)
    return s


def test_random_loss_gives_the_response_functions():
    # a link far above the rate, 200 s. Mathis' 1.22 is for periodic loss, random gaps give 1.31 (Ott, Kemperman,
    # Mathis 1996): at most 7 % above; whole segments, recoveries and delayed ACKs take up to 14 %
    for loss, trip in ((1e-3, 0.05), (1e-4, 0.02)):
        c = Cases.of(rate_Bps=1.25e9, rtt_s=trip, loss=loss, cc="reno", warmup_s=100 * trip + 20, duration_s=200)
        got = goodput(c).goodput_Bps.mean()
        assert 0.86 < got / (1448 / trip * aimd_window(loss)) < 1.08
    # CUBIC, long path: RFC 9438's mean window is for a periodic loss; random gaps lift it as they lift Reno's,
    # more so since CUBIC grows with the cube of a gap, and fast convergence takes some of it back
    c = Cases.of(rate_Bps=1.25e9, rtt_s=0.1, loss=1e-4, cc="cubic", warmup_s=60, duration_s=200)
    assert 0.85 < goodput(c).goodput_Bps.mean() / cubic(1e-4, 0.1, 1448) < 1.25


def test_a_window_limits_exactly():
    c = Cases.of(rate_Bps=1.25e9, rtt_s=0.1, window_B=2**20, warmup_s=5, duration_s=20)
    assert goodput(c, 2).goodput_Bps.mean() == pytest.approx(2**20 / 0.1, rel=0.01)


def test_no_more_than_the_receiver_takes_comes_as_a_burst():
    """A congestion window of twice what the receiver takes, as slow start leaves it: 10 segments are lost, not 14."""
    one = np.ones((1, 1))
    p = SimpleNamespace(cap=10 * one, T=0.1 * one, C=100 * one, B=0 * one, excess=one, paced=one < 0)
    v = SimpleNamespace(whole=np.array([10.0]), flight=10 * one, rate=100 * one)
    for again, clear, want in ((0, np.inf, (10.0, 0.1)), (0, 4, (4.0, 0.1)), (10, np.inf, (0.0, 0.0))):
        assert _events._stopped(p, v, np.array([0]), *map(np.array, ([14.0], [0.0], [again], [clear]))) == want


def test_the_sawtooth_fills_what_its_closed_form_says():
    rate, trip = 1.25e7, 0.03
    for bdp in (0.3, 0.5, 1.0):
        c = Cases.of(rate_Bps=rate, rtt_s=trip, cc="reno", buffer_B=bdp * rate * trip, warmup_s=20, duration_s=100)
        want = rate * 1448 / 1500 * droptail.sawtooth_utilisation(bdp, 0.5)
        # the flat round of each recovery comes on top
        assert goodput(c, 4).goodput_Bps.mean() == pytest.approx(want, rel=0.03)


@pytest.mark.parametrize(("size", "segments"), [(1e5, 70), (1e6, 691)])
def test_a_short_transfer_is_its_rounds(size, segments):
    trip = 0.1
    c = Cases.of(rate_Bps=1.25e8, rtt_s=trip, size_B=size, cc="reno", paced=False)
    count, window, left = 0, 10, segments
    while left > window:
        left, window, count = left - window, 2 * window, count + 1
    # handshake, whole rounds, half a round trip to the receiver, and the last segments at line rate
    want = trip * (1 + count + 0.5) + left * 1500 / 1.25e8
    assert goodput(c, 2).completion_s.mean() == pytest.approx(want, rel=0.01)


def test_a_hundred_gigabytes_take_few_steps():
    c = Cases.of(rate_Bps=1.25e9, rtt_s=0.05, size_B=1e11, mtu_B=9000)
    s = goodput(c, 2)
    assert s.steps[0] < 400
    assert s.completion_s.mean() == pytest.approx(1e11 / (1.25e9 * 8948 / 9000), rel=0.02)


def test_a_lane_that_is_carried_forward_goes_on_as_it_was():
    c = Cases.of(rate_Bps=1.25e7, rtt_s=0.01, loss=1e-3, cc="reno", warmup_s=5, duration_s=60)
    short, long = goodput(c, 32, steps=600), goodput(c, 32, steps=6000)
    assert short.steps[0] < long.steps[0]
    assert short.goodput_Bps.mean() == pytest.approx(long.goodput_Bps.mean(), rel=0.04)
    assert short.goodput_Bps.std() < 2 * long.goodput_Bps.std() + 1e4


def test_streams_past_the_simulated_ones_are_lumped():
    one = Cases.of(rate_Bps=1.25e8, rtt_s=0.05, loss=1e-4, streams=16, duration_s=30, warmup_s=10)
    two = Cases.of(rate_Bps=1.25e8, rtt_s=0.05, loss=1e-4, streams=32, duration_s=30, warmup_s=10)
    a, b = goodput(one, 8).goodput_Bps.mean(), goodput(two, 8).goodput_Bps.mean()
    assert a < b <= 1.25e8 * 1448 / 1500


def test_counters_at_times_asked_for():
    c = Cases.of(rate_Bps=1.25e8, rtt_s=0.05, warmup_s=10, duration_s=1)
    s = goodput(c, 2, 1, 1000, np.arange(11.0))
    d = np.diff(s.delivered_B[0])
    assert (d > 0).all()
    assert d[5:] == pytest.approx(1.25e8 * 1448 / 1500, rel=0.02)
    assert d[0] < 0.9 * d[-1]
    with pytest.raises(ValueError, match="times_s"):
        goodput(c, 1, 1, 10, [20.0])


def test_a_lane_is_the_same_in_any_company():
    """Algorithms, numbers of flows, runs and steps differ: all of them go in one array, each as if it were alone."""
    c = Cases.of(
        rate_Bps=1.25e8, rtt_s=0.02, cc=["cubic", "reno", "htcp", "westwood", "illinois", "scalable", "cubic"],
        streams=[1, 4, 2, 3, 1, 1, 64], loss=[1e-4, 1e-3, 0.0, 1e-4, 1e-4, 1e-5, 0.0], warmup_s=2.0, duration_s=8.0,
        size_B=[3e9, np.inf, np.inf, 1e8, np.inf, np.inf, np.inf],
    )  # fmt: skip
    runs, steps, times = np.array([16, 16, 8, 16, 8, 16, 8]), np.array([800, 60, 300, 800, 300, 800, 300]), [0.5, 1.0]
    found = {}
    for rows, s in rounds.run_windows(c, runs, steps, 3, np.tile(times, (7, 1))):
        found |= {int(row): (s.goodput_Bps[n], s.retransmits[n], s.delivered_B[n]) for n, row in enumerate(rows)}
    for n in range(7):
        alone = goodput(c.take(np.array([n])), int(runs[n]), 3, int(steps[n]), times)
        for one, many in zip((alone.goodput_Bps, alone.retransmits, alone.delivered_B), found[n], strict=True):
            assert many == pytest.approx(one[0], rel=1e-12, abs=0)


def test_a_lane_in_which_nothing_happens_any_more_is_not_stepped_on():
    """Held by its window, without loss: all later marks follow from its rate; steps do not grow with them."""
    c = Cases.of(rate_Bps=1.25e9, rtt_s=0.05, window_B=1e7, warmup_s=1e4, duration_s=1e4)
    few, many = (goodput(c, 2, times=np.linspace(5.0, 9e3, n)) for n in (2, 400))
    assert many.steps[0] <= few.steps[0] + 8
    assert np.diff(many.delivered_B[0]) == pytest.approx(few.goodput_Bps.mean() * (9e3 - 5.0) / 399, rel=1e-9)


@pytest.mark.parametrize("flows", [1, 2, 3, 4])
@pytest.mark.parametrize("lanes", [1, 63, 64, 1000])
def test_a_lane_has_the_same_sums_in_any_company(lanes: int, flows: int) -> None:
    values = np.random.default_rng(flows).lognormal(0.0, 9.0, (flows, lanes))
    assert np.array_equal(_lanes.total(values), [functools.reduce(float.__add__, lane) for lane in values.T.tolist()])
    assert np.array_equal(_lanes.least(values), values.min(axis=0))
    alone = np.concatenate([_lanes.total(lane[:, None]) for lane in values.T])
    assert np.array_equal(_lanes.total(values), alone)  # bit for bit


def test_they_are_uniform_and_do_not_depend_on_their_company():
    many = _chance.uniform(1, _chance.LOSS, np.arange(20000))
    assert 0 <= many.min() < many.max() < 1
    assert many.mean() == pytest.approx(0.5, abs=0.01)
    assert np.histogram(many, 10)[0] == pytest.approx(2000, rel=0.08)
    assert abs(np.corrcoef(many[:-1], many[1:])[0, 1]) < 0.03
    assert _chance.uniform(1, _chance.LOSS, 777)[0] == many[777]
    assert _chance.uniform(2, _chance.LOSS, 777)[0] != many[777]


@given(st.integers(0, 1000), st.integers(0, 3), st.sampled_from([4, 8, 16]))
def test_replicas_take_one_part_each(number, flow, replicas):
    u = _chance.spread(1, _chance.LOSS, number, flow, np.arange(replicas), replicas)
    assert sorted(np.floor(u * replicas).astype(int)) == list(range(replicas))


def test_other_counts_of_replicas_are_independent():
    u = _chance.spread(1, _chance.LOSS, 5, 0, np.arange(3), 3)
    assert len(set(u)) == 3
