"""What the round model must show: profiles, orders, monotone answers, published runs, one seed one answer."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dtnsim.physics.tcp import coefficients, outcome
from dtnsim.physics.tcp.outcome import simulate
from dtnsim.physics.tcp.rounds import Cases
from tests.each import tables

G10 = 1.25e9


def mean(seed=1, replicas=24, **values):
    return simulate(Cases.of(**values), seed=seed, replicas=replicas).goodput_Bps


def test_throughput_over_the_round_trip_is_concave_then_convex():
    # Rao et al. 2016 (profiles at 0.4 to 366 ms): near the link at first, then like 1/T
    trips = np.array([0.4, 11.8, 22.6, 45.6, 91.6, 183, 366]) * 1e-3
    got = mean(rate_Bps=G10, rtt_s=trips, loss=2e-7, mtu_B=9000, paced=True, window_B=1e9, duration_s=100.0)
    assert (np.diff(got) < 0.03 * G10).all()
    assert got[0] > 0.9 * G10 * 8948 / 9000
    slope = np.diff(got) / np.diff(trips)
    assert slope[0] > slope.min() < slope[-1]
    assert slope[-1] > 0.6 * slope.min()


def test_cubic_beats_reno_on_long_paths_and_equals_it_on_short_ones():
    long = {"rate_Bps": G10, "rtt_s": 0.1, "loss": 1e-5, "warmup_s": 30.0, "duration_s": 100.0}
    short = {"rate_Bps": 1.25e8, "rtt_s": 0.01, "loss": 1e-3, "warmup_s": 10.0, "duration_s": 60.0}
    assert mean(cc="cubic", **long) > 1.3 * mean(cc="reno", **long)
    assert mean(cc="cubic", **short) == pytest.approx(mean(cc="reno", **short), rel=0.2)
    assert mean(cc="htcp", **long) > 1.3 * mean(cc="reno", **long)


def test_bbr_holds_at_one_per_cent_and_falls_past_its_threshold():
    got = mean(cc="bbr", rate_Bps=1.25e8, rtt_s=0.05, loss=[0, 0.01, 0.1, 0.3], warmup_s=10.0)
    assert got[1] > 0.97 * 0.99 * got[0]
    assert got[2] > 0.8 * got[0]
    assert got[3] < 0.2 * got[0]


def test_streams_recover_what_one_loses():
    got = mean(rate_Bps=2.5e7, rtt_s=0.06, loss=1e-4, cc="reno", streams=[1, 4, 16], warmup_s=10.0, duration_s=60.0)
    assert got[1] == pytest.approx(4 * got[0], rel=0.15)
    assert got[2] > 0.9 * 2.5e7 * 1448 / 1500


def test_more_loss_a_longer_path_and_a_smaller_buffer_never_help():
    # means of random runs: a fall of a factor must show, ties may differ by their noise
    losses = mean(
        rate_Bps=1.25e8, rtt_s=0.04, loss=[1e-5, 1e-4, 1e-3, 1e-2], cc="cubic", duration_s=60.0, warmup_s=10.0
    )
    trips = mean(rate_Bps=1.25e8, rtt_s=[0.01, 0.03, 0.1, 0.3], loss=1e-4, cc="reno", duration_s=60.0, warmup_s=10.0)
    buffers = mean(rate_Bps=1.25e7, rtt_s=0.03, buffer_B=np.array([0.1, 0.3, 1, 3]) * 375e3, cc="reno", warmup_s=20.0)
    for series in (losses, trips):
        assert (np.diff(series) < 0).all()
    assert (np.diff(buffers) > -0.01 * 1.25e7).all()


@given(
    rate=st.floats(6.5, 8.5), trip=st.floats(-2.3, -0.8), loss=st.sampled_from([0.0, 1e-4, 1e-3]),
    buffer=st.floats(0.3, 1.0), cc=st.sampled_from(["reno", "cubic"]),
)  # fmt: skip
@settings(max_examples=4)
def test_monotone_in_loss_round_trip_and_buffer(rate, trip, loss, buffer, cc):
    # each of them four times worse, in steady state; sixteen random runs have a mean good to 3 to 5 per cent
    rate, trip = 10**rate, 10**trip
    room = buffer * rate * trip
    base, lossy, far, shallow = mean(
        replicas=16, rate_Bps=rate, rtt_s=np.array([1, 1, 4, 1]) * trip, cc=cc, duration_s=200 * trip + 10,
        loss=np.array([1, 4, 1, 1]) * loss + np.array([0, 1e-4, 0, 0]), buffer_B=np.array([1, 1, 1, 0.25]) * room,
        warmup_s=200 * trip + 10,
    )  # fmt: skip
    assert lossy <= 1.2 * base
    assert far <= 1.2 * base
    assert shallow <= 1.2 * base
    assert base <= rate * 1448 / 1500 * 1.001


def test_venadi_second_by_second():
    # Venadi to NERSC, iperf3, 40 GbE, MTU 9000, tracepath 3.122 ms, 14.7 MiB in flight: seconds 2 to 10 at
    # 37.8 to 38.1 Gb/s (the first, 32.7, has the receive autotuning of a 2017 kernel, which is not modelled)
    c = Cases.of(
        rate_Bps=5e9 * 9000 / 9038, rtt_s=3.122e-3, mtu_B=9000, window_B=14.7 * 2**20, buffer_B=64e6, warmup_s=10.0,
        duration_s=1.0,
    )  # fmt: skip
    o = simulate(c, times_s=np.arange(11.0))
    seconds = np.diff(o.delivered_B[0]) * 8e-9
    measured = np.array([37.831, 37.943, 38.122, 37.802, 37.823, 37.867, 37.778, 37.800, 37.843])
    assert seconds[1:] == pytest.approx(measured, rel=0.02)
    assert 32.7 < seconds[0] < seconds[1]


def test_esnet_s_streams():
    # 8.0 and 8.8 Gb/s of 9.9 with one and four streams, each printed to +-5 %; a shallow buffer; with fq, as ESnet asks
    path = {"rate_Bps": G10 * 9000 / 9038, "rtt_s": 0.02, "mtu_B": 9000, "buffer_B": 4e5}
    got = mean(**path, streams=[1, 4], paced=True, duration_s=60.0)
    assert got * 8e-9 == pytest.approx([8.0, 8.8], rel=0.15)
    assert got[1] > got[0]


def test_intervals_hold_their_mean_and_widen_with_chance():
    o = simulate(Cases.of(rate_Bps=1.25e7, rtt_s=0.05, loss=[0, 1e-4], warmup_s=5.0))
    assert (o.goodput_p10_Bps <= o.goodput_p50_Bps).all()
    assert (o.goodput_p50_Bps <= o.goodput_p90_Bps).all()
    width = (o.goodput_p90_Bps - o.goodput_p10_Bps) / o.goodput_Bps
    assert width[0] < 4 * coefficients.SPREAD_LINK.value < width[1]


def test_one_seed_one_answer_and_equal_cases_equal_answers():
    c = Cases.of(rate_Bps=1.25e7, rtt_s=[0.03, 0.03, 0.06], loss=1e-4, duration_s=10.0)
    a, b = simulate(c, seed=5), simulate(c, seed=5)
    assert (a.goodput_Bps == b.goodput_Bps).all()
    assert a.goodput_Bps[0] == a.goodput_Bps[1] != a.goodput_Bps[2]
    assert simulate(c, seed=6).goodput_Bps[0] != a.goodput_Bps[0]


def test_limits_are_named():
    o = simulate(Cases.of(
        rate_Bps=1.25e8, rtt_s=[*[0.05] * 6, 1e-3], window_B=[np.inf, 1e5, *[np.inf] * 3, 5e3, 5e3],
        loss=[0, 0, 1e-3, *[0] * 4], size_B=[*[np.inf] * 3, 1e6, *[np.inf] * 3],
        buffer_B=[*[6e6] * 4, 1e5, 6e6, 6e6], cc="reno", warmup_s=5.0,
    ))  # fmt: skip
    assert o.limit.tolist() == ["link", "window", "loss", "start", "buffer", "window", "window"]
    # stopped by the clock while it opens; bursts of 44 segments against a buffer of 4; one loss in hours
    o = simulate(Cases.of(
        rate_Bps=1.25e9, rtt_s=[0.2, 1e-4, 0.05, 0.05], buffer_B=[2.5e8, 6e3, 6.25e7, 1e6],
        duration_s=[3.0, 30.0, 30.0, 300.0], loss=[0.0, 0.0, 0.0, 1e-9],
    ))  # fmt: skip
    assert o.limit.tolist() == ["start", "buffer", "link", "buffer"]
    two = simulate(Cases.of(rate_Bps=5e6, rtt_s=0.03, cc="reno", cc2="cubic", duration_s=5.0), replicas=1)
    assert two.limit[0] == "sharing"
    assert two.goodput_Bps[0] + two.second_Bps[0] <= 5e6


def test_unknown_algorithms_are_refused():
    with pytest.raises(KeyError):
        simulate(Cases.of(rate_Bps=1e6, rtt_s=0.1, cc="none-such"))
    with pytest.raises(KeyError):
        simulate(Cases.of(rate_Bps=1e6, rtt_s=0.1, cc="bbr3", cc2="none-such"))
    assert set(outcome.LIMITS) >= {"link", "sharing"}


@pytest.mark.parametrize(("streams", "buffer"), [(1, 62.5e6), (8, 1e5)])
def test_bytes_and_seconds_tell_the_same_of_a_long_transfer(streams: int, buffer: float) -> None:
    """A terabyte, and as long as it takes: the same rate, and no more segments again than seconds lose."""
    common = {"rate_Bps": 1.25e9, "rtt_s": 0.03, "buffer_B": buffer, "mtu_B": 9000.0, "streams": streams}
    sized = simulate(Cases.of(**common, size_B=1e12))
    timed = simulate(Cases.of(**common, duration_s=float(sized.completion_s[0])))
    assert sized.goodput_Bps[0] == pytest.approx(timed.goodput_Bps[0], rel=0.05)
    assert sized.retransmits[0] < 3 * timed.retransmits[0] + 100
    assert sized.completion_p10_s[0] == pytest.approx(1e12 / sized.goodput_p90_Bps[0], rel=0.02)
    assert sized.completion_p90_s[0] == pytest.approx(1e12 / sized.goodput_p10_Bps[0], rel=0.02)


#: RTT [ms], loss, algorithm, goodput [Mb/s] of Linux 6.18 over an emulated gigabit: means of three runs of 20 to 40 s
LOSSY = tables("physics/tcp/tables")["own runs of high loss"]


def test_high_losses_cost_time_outs():
    """Its mechanisms entered while these points were measured and seen; none of its numbers was fitted."""
    trip, loss, cc, seen = (np.array(column) for column in zip(*LOSSY, strict=True))
    buffer = np.maximum(1.25e8 * trip / 1e3, 64e3)
    o = simulate(Cases.of(rate_Bps=1.25e8, rtt_s=trip / 1e3, buffer_B=buffer, loss=loss, cc=cc, duration_s=40.0))
    factor = o.goodput_Bps * 8e-6 / seen
    assert np.median(np.abs(factor - 1)) < 0.15
    assert 0.6 < factor.min() < factor.max() < 1.5
    for path in (1, 10, 50):
        assert (np.diff(o.goodput_Bps[(trip == path) & (cc == "cubic")]) < 0).all()


def test_transfers_from_a_cold_start_take_what_linux_takes():
    """A window that is full stops in recovery and comes as a burst, a sender's full buffer goes in trains.

    Without the one CUBIC and Reno were 21 to 46 % too fast, without the other Linux' defaults 20 to 23 %.
    """
    table = tables("physics/tcp/tables")["own runs from the start"]
    rate, trip, buffer, rmem, wmem, cc, size, seen = (np.array(column) for column in zip(*table, strict=True))
    o = simulate(
        Cases.of(
            rate_Bps=rate / 8e-6, rtt_s=trip / 1e3, buffer_B=buffer, cc=cc, size_B=size * 1e6,
            window_B=np.minimum(0.625 * rmem, 0.986 * wmem), send_B=0.986 * wmem,
        ),
        replicas=8,
    )  # fmt: skip
    off = np.log((o.completion_s - trip / 1e3) / seen)
    assert np.median(np.abs(off)) < 0.02
    assert np.abs(np.median(off)) < 0.01
    assert (np.abs(off) < 0.07).mean() > 0.85
