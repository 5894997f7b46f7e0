"""The course of a transfer: doubling, windows, losses, a step function that adds up, and one answer with the rounds."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dtnsim.physics.tcp import outcome
from dtnsim.physics.tcp.rate_over_time import Course, courses, joined
from dtnsim.physics.tcp.rounds import Cases
from dtnsim.physics.tcp.setting import Setting
from tests.each import rows

WIDE = rows("physics/tcp/rate_over_time", "given")["WIDE"]
LINK = 1.25e9 * 8948 / 9000
PLAIN = {"loss": 0.0, "mtu_B": 1500.0, "streams": 1, "cc": "cubic", "window_B": np.inf}


def course(**given: object) -> Course:
    """The course of a transfer whose buffer is one bandwidth-delay product, unless it is given."""
    whole = PLAIN | given
    whole.setdefault("buffer_B", whole["rate_Bps"] * whole["rtt_s"])
    return courses([Setting(**whole)])[0]


def test_slow_start_doubles_each_round_trip():
    o = course(**WIDE)
    assert o.times_s[:3] == pytest.approx([0, 0.075, 0.125])
    assert np.diff(o.times_s[1:]) == pytest.approx(0.05)
    assert o.rates_Bps[0] == 0  # handshake, and half a round trip to the receiver
    assert o.rates_Bps[1] * 0.05 == pytest.approx(10 * 8948, rel=0.05)  # RFC 6928; rounds last a little longer than T
    assert o.rates_Bps[2:] / o.rates_Bps[1:-1] == pytest.approx(2.0, rel=0.03)
    assert o.steady_Bps == pytest.approx(LINK, rel=0.005)


def test_what_the_steady_rate_becomes_is_not_felt_in_slow_start():
    """A loss drawn 3 times as seldom made the first rounds of a short test faster, its p90 higher than without loss."""
    o = course(**WIDE)
    some = o.rates_Bps[1:6].sum() * 0.05
    assert o.delivered_B(0.25, factor=[0.5, 1.0, 3.0], early=1.0) == pytest.approx(some)
    later = np.diff(o.delivered_B([60.0, 61.0], factor=3.0, early=1.0))
    assert later == pytest.approx(3 * o.steady_Bps)


def deficit_B(o):
    """What the opening delivers less than the steady rate would."""
    return (np.diff(o.times_s) * (o.steady_Bps - o.rates_Bps)).sum()


def test_it_costs_what_the_closed_form_says():
    # the doubling up to the link: log2(W / IW) round trips in which (W - IW) / ln 2 bytes go out (RFC 5681, RFC 6928)
    o = course(**WIDE)
    window, first = LINK * 0.05, 10 * 8948
    lost = 0.05 * np.log2(window / first) - (window - first) / np.log(2) / LINK
    assert deficit_B(o) / LINK == pytest.approx(1.5 * 0.05 + lost, abs=0.05)
    assert o.delivered_B(100.0) == pytest.approx(LINK * (100 - lost), rel=1e-3)
    assert o.delivered_B(0.0) == 0


def test_slow_start_loses_nearly_all_of_its_time_before_half_of_the_link_and_less_where_less_of_it_is_wanted():
    """Each halving of what the rest of the way allows takes a doubling, and its round trip, off (RFC 5681)."""
    o = course(**WIDE)
    window, first = LINK * 0.05, 10 * 8948
    lost = 0.05 * np.log2(window / first) - (window - first) / np.log(2) / LINK
    assert o.opens_s() == pytest.approx(lost, abs=0.05)
    assert o.opens_s() - o.opens_s(most_Bps=LINK / 16) == pytest.approx(4 * 0.05, rel=0.05)
    assert o.opens_s(stretch=2.0) == pytest.approx(2 * o.opens_s())


def test_a_window_that_overshoots_and_grows_back_has_opened_before():
    o = course(**WIDE, buffer_B=LINK * 0.05 / 50, cc="reno", paced=True)
    lost = (np.diff(o.times_s[1:]) * (1 - o.rates_Bps[1:] / o.steady_Bps)).clip(0).sum()
    assert 0 < o.opens_s() < 0.2 * lost


def test_a_window_shortens_the_ramp_and_bounds_the_rate():
    o = course(**WIDE, window_B=2**20)
    assert o.limit == "window"
    assert o.steady_Bps == pytest.approx(2**20 / 0.05, rel=0.01)
    assert o.rates_Bps.max() <= 2**20 / 0.05 * 1.01
    assert o.times_s[-1] < course(**WIDE).times_s[-1]


def test_random_loss_lets_slow_start_overshoot_the_steady_rate():
    o = course(**WIDE, loss=1e-4)
    assert o.rates_Bps.max() > 3 * o.steady_Bps
    assert deficit_B(o) < 0
    assert o.spread(10.0) > o.spread(1e4)


def test_bbr_reaches_the_link_and_stays():
    o = course(**WIDE, cc="bbr")
    assert o.times_s[-2] < 2.0  # open; the last edge is before its first pause
    assert o.rates_Bps[-1] > o.steady_Bps == pytest.approx(LINK, rel=0.04)  # but for a pause every ten seconds


@pytest.mark.parametrize(("size_B", "measured_s", "resent", "own"), rows("physics/tcp/rate_over_time", "ends"))
def test_the_last_byte_waits_for_what_was_lost_before_it(size_B, measured_s, resent, own):
    o = course(**own)
    took = o.time_of(np.array([size_B]), trains=1.0 if own["cc"] == "bbr" else np.inf)
    assert (took + o.repair_s(took))[0] + own["rtt_s"] / 2 == pytest.approx(measured_s, rel=0.12)
    assert (o.repair_s(took)[0] > 0) == resent
    assert course(**WIDE | {"cc": "htcp", "streams": 16}, loss=1e-5, buffer_B=LINK).behind_s.max() < 0.6  # s of queue


def test_unknown_algorithms_are_refused_and_answers_remembered():
    with pytest.raises(KeyError):
        course(**WIDE, cc="none-such")
    assert course(**WIDE) is course(**WIDE)


@given(
    rate=st.floats(6, 10.6), trip=st.floats(-3.5, -0.5), loss=st.sampled_from([0.0, 1e-6, 1e-3]),
    most=st.floats(0.01, 2.0), stretch=st.floats(0.5, 2.0), size=st.floats(4, 13),
)  # fmt: skip
@settings(max_examples=10)
def test_time_and_bytes_are_inverse(rate, trip, loss, most, stretch, size):
    o = course(rate_Bps=10**rate, rtt_s=10**trip, loss=loss)
    assert (np.diff(o.times_s) > 0).all()
    assert (o.rates_Bps >= 0).all()
    limits = {"most_Bps": most * 10**rate, "factor": 0.9, "stretch": stretch}
    time = o.time_of(10**size, **limits)
    assert o.delivered_B(time, **limits) == pytest.approx(10**size, rel=1e-6)
    assert o.time_of(2 * 10**size, **limits) >= time
    assert time >= 10**size / (most * 10**rate) * (1 - 1e-9)


@pytest.mark.parametrize(
    "case", rows("physics/tcp/rate_over_time", "the_course_and_the_measured_window_are_one_answer")
)
def test_the_course_and_the_measured_window_are_one_answer(case):
    o = course(**case)
    got = outcome.simulate(Cases.of(**case, duration_s=[30.0, 300.0])).goodput_Bps
    for seconds, rate in zip((30.0, 300.0), got, strict=True):
        assert o.delivered_B(seconds - 1.5 * case["rtt_s"]) / seconds == pytest.approx(rate, rel=0.02)
    size = 2.5e9
    took = outcome.simulate(Cases.of(**case, size_B=size)).completion_s[0]
    assert o.time_of(size) + 1.5 * case["rtt_s"] == pytest.approx(took, rel=0.05, abs=3 * case["rtt_s"])


@pytest.mark.parametrize("cc", ["cubic", "bbr"])
def test_courses_of_many_are_each_as_alone(cc, monkeypatch):
    monkeypatch.setattr("dtnsim.physics.tcp.rate_over_time.KEPT", 0)  # each is worked out anew
    rtt, rate = np.array([0.002, 0.05, 0.05, 0.051, 0.3]), np.array([1.25e9, 1.25e8, 1.25e9, 1.25e9, 6e7])
    window_B = np.array([1e6, np.inf, 2e6, np.inf, np.inf])
    rows = zip(rate.tolist(), rtt.tolist(), window_B.tolist(), strict=True)
    many = joined(courses([Setting(r, t, 0.0, 9000.0, 2e6, 1, cc, w) for r, t, w in rows]))
    sizes = np.array([1e4, 1e7, 5e9])
    took, packed = (many.time_of(sizes[:, None], most_Bps=np.full(5, 9e7), trains=n) for n in (0, np.inf))
    came = many.delivered_B(np.array([[0.01], [7.0]]))
    for n in range(5):
        one = course(rate_Bps=rate[n], rtt_s=rtt[n], buffer_B=2e6, mtu_B=9000.0, window_B=window_B[n], cc=cc)
        assert (many.steady_Bps[n], many.limit[n]) == (one.steady_Bps, one.limit)
        assert took[:, n] == pytest.approx(one.time_of(sizes, most_Bps=9e7), rel=1e-12)
        assert packed[:, n] == pytest.approx(one.time_of(sizes, most_Bps=9e7, trains=np.inf), rel=1e-12)
        assert came[:, n] == pytest.approx(one.delivered_B([0.01, 7.0]), rel=1e-12)
    assert many.take(slice(1, 3)).steady_Bps.tolist() == many.steady_Bps[1:3].tolist()
