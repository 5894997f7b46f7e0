"""Response functions: RFC 9438's tables, an independent sawtooth, thresholds, and that loss never helps."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dtnsim.physics.tcp import response
from dtnsim.physics.tcp.controls import bbr, htcp, illinois, scalable, westwood
from dtnsim.physics.tcp.controls.cubic import cubic as cubic_rate
from dtnsim.physics.tcp.controls.reno import reno as reno_rate
from dtnsim.physics.tcp.response import aimd_window
from tests.each import cases

#: RFC 9438 tables 1 and 2: mean windows by loss at round trips of 0.1 s and 0.01 s
RFC_9438 = [
    (0.1, 1e-2, 12, 12), (0.1, 1e-3, 38, 38), (0.1, 1e-4, 120, 187), (0.1, 1e-5, 379, 1054), (0.1, 1e-6, 1200, 5926),
    (0.1, 1e-7, 3795, 33325), (0.01, 1e-4, 120, 120), (0.01, 1e-6, 1200, 1200), (0.01, 1e-7, 3795, 5926),
]  # fmt: skip


def mathis(loss, rtt, mss):
    """M / T sqrt(3 / (2 p)): Mathis, Semke, Mahdavi and Ott, CCR 27(3), 1997."""
    return mss / rtt * aimd_window(loss)


VALUES = {
    "Westwood keeps 0.95": (westwood.westwood, (1e-4, 0.1, 1.0), mathis(1e-4, 0.1, 1.0) * (19.5 / 1.5) ** 0.5),
    # the tables print Reno's sqrt(1.5/p) = 1.2247/sqrt(p) rounded to 1.2
    **{f"RFC 9438, tables 1 and 2, {rtt} s and {loss:g}, {name}": (law, (loss, rtt, 1.0), window / rtt, 0.03)
       for rtt, loss, *windows in RFC_9438
       for name, law, window in zip(("Reno", "CUBIC"), (mathis, cubic_rate), windows, strict=True)},
    "2.0e-10 with Reno": (mathis, (2.0e-10, 0.1, 1500), 1e10 / 8, 0.05),
    # CUBIC had 3.27 Mb/s there, BBR 9.15 Gb/s
    "E. Dumazet's lossy path on bbr-dev, 100 ms and 1 %, by Mathis et al. 1997: 1.42 Mb/s":
        (mathis, (0.01, 0.1, 1448), 1.42e6 / 8, 0.005 / 1.42),
}  # fmt: skip


@cases("row", VALUES)
def test_values(row):
    law, given, value, *rel = row
    assert law(*given) == pytest.approx(value, *rel)


def test_illinois_of_few_segments_is_reno():
    assert illinois.illinois(0.3, 0.1, 1.0) == mathis(0.3, 0.1, 1.0) or illinois.illinois(0.3, 0.1, 1.0) * 0.1 >= 15


def sawtooth(loss, rtt, grow, beta):
    """Mean window of an independent round-by-round sawtooth that loses every 1/p-th segment."""
    window, since, age, area, rounds = 100.0, 0.0, 0.0, 0.0, 0
    for i in range(400_000):
        since += window
        if i > 50_000:
            area, rounds = area + window, rounds + 1
        if since >= 1 / loss:
            since, window, age = 0.0, window * beta, 0.0
        else:
            window += grow(age, rtt)
            age += rtt
        if rounds > 200_000:
            break
    return area / rounds


@pytest.mark.parametrize(("loss", "rtt"), [(1e-3, 0.1), (1e-4, 0.05), (1e-5, 0.1)])
def test_htcp_against_a_sawtooth_run_round_by_round(loss, rtt):
    def grow(age, rtt):
        past = max(age - 1, 0)
        return 2 * (1 - 0.8) * (1 if age <= 1 else max((1 + 10 * past + past**2 / 4) * min(max(rtt / 0.1, 0.1), 2), 1))

    # the closed form lets the growth scale start anew at one second, the sawtooth in whole rounds: 6 %
    assert htcp.htcp(loss, rtt, 1.0) * rtt == pytest.approx(sawtooth(loss, rtt, grow, 0.8), rel=0.06)


def test_reno_against_the_same_sawtooth():
    assert mathis(1e-4, 0.1, 1.0) * 0.1 == pytest.approx(sawtooth(1e-4, 0.1, lambda *_: 1.0, 0.5), rel=0.01)


def test_no_loss_is_no_limit_and_certain_loss_is_no_goodput():
    for law in (reno_rate, cubic_rate, htcp.htcp, scalable.scalable, westwood.westwood, illinois.illinois):
        assert np.isinf(law(0.0, 0.1, 1448))
    assert bbr.bbr1(1.0, 0.1, 1448, 1e8) == 0
    assert bbr.bbr3(1.0, 0.1, 1448, 1e8) < 1e5


def test_timeouts_take_what_pftk_says_where_no_window_shows_a_lost_retransmission():
    """PFTK 1998, eq. 32 without delayed acknowledgments; a loss ends in a time-out with p, not min(1, 3 sqrt(3p/8))."""
    p, rtt = np.array([0.3, 0.4, 0.45]), 0.05
    got = response.with_timeouts(reno_rate(p, rtt, 1448), p, rtt, 1448)
    pftk = 1448 / (rtt * np.sqrt(2 * p / 3) + (rtt + 0.2) * p * p * (1 + 32 * p**2))
    assert (got > pftk).all()  # its (1 + 32 p^2) bounds (1 + p + 2 p^2 + ... + 32 p^6) / (1 - p)
    row = sum(np.minimum(2.0**n, 480) * p**n for n in range(15))
    assert got == pytest.approx(1448 / (rtt * np.sqrt(2 * p / 3) + (rtt + 0.2) * p * p * row), rel=0.15)
    few = np.logspace(-7, -3, 9)
    assert response.with_timeouts(reno_rate(few, rtt, 1448), few, rtt, 1448) == pytest.approx(
        mathis(few, rtt, 1448), rel=1e-4
    )


@given(window=st.floats(1, 60), p=st.floats(1e-4, 0.5))
def test_unnoticed_is_a_sum_of_binomials_between_which_it_is_continuous(window, p):
    whole = int(window)
    exact = sum(math.comb(whole - 1, n) * (1 - p) ** n * p ** (whole - 1 - n) for n in range(min(whole, 4)))
    assert response.unnoticed(p, whole) == pytest.approx(exact, rel=1e-9, abs=1e-12)
    assert response.unnoticed(p, whole + 1) <= response.unnoticed(p, window) <= response.unnoticed(p, whole) + 1e-12
    assert response.unnoticed(p, window) <= response.unnoticed(min(p * 1.1, 1), window) + 1e-12


@given(luck=st.floats(1e-9, 1), p=st.floats(1e-3, 0.5), window=st.integers(1, 12))
def test_rows_of_time_outs_have_their_chances(luck, p, window):
    count, chance = float(response.consecutive_timeouts(luck, p, window)), float(response.timeout_chance(p, window))
    assert (count == 0) == (luck >= chance)
    if 0 < count < 15:
        assert chance * p**count * (1 - 1e-9) <= luck <= chance * p ** (count - 1) * (1 + 1e-9)
    assert response.consecutive_timeouts(luck, min(p * 1.2, 0.6), window) >= count


@given(p=st.floats(-9, -1), rtt=st.floats(1e-3, 0.4), mss=st.floats(500, 9000), more=st.floats(1, 50))
def test_more_loss_or_a_longer_path_never_helps(p, rtt, mss, more):
    loss = 10**p
    for law in (reno_rate, cubic_rate, htcp.htcp, scalable.scalable, westwood.westwood, illinois.illinois):
        base = law(loss, rtt, mss)
        assert law(min(loss * more, 1), rtt, mss) <= base * (1 + 1e-9)
        assert law(loss, rtt * more, mss) <= base * (1 + 1e-9)
        assert law(loss, rtt, mss * 2) == pytest.approx(2 * base)
        at = response.with_timeouts(base, loss, rtt, mss)
        assert response.with_timeouts(law(min(loss * more, 1), rtt, mss), min(loss * more, 1), rtt, mss) <= at
        near = loss * (1 + 1e-6)
        assert response.with_timeouts(law(near, rtt, mss), near, rtt, mss) == pytest.approx(float(at), rel=2e-5)
