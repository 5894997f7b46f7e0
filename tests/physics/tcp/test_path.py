"""The closed-form front: monotone in everything a planner can turn, and its limits."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dtnsim.physics.tcp import controls
from dtnsim.physics.tcp.outcome import simulate
from dtnsim.physics.tcp.path import LIMITS, path_goodput
from dtnsim.physics.tcp.rounds import Cases

CASE = {
    "rate_Bps": st.floats(1e5, 5e10),
    "rtt_s": st.floats(1e-4, 0.4),
    "loss": st.one_of(st.just(0.0), st.floats(-8, -1).map(lambda e: 10**e)),
    "buffer_B": st.floats(6e3, 1e10),
    "streams": st.integers(1, 64),
    "window_B": st.one_of(st.just(np.inf), st.floats(1e4, 1e10)),
    "background_share": st.floats(0, 0.95),
}
UP = ("rate_Bps", "window_B", "buffer_B", "streams")
DOWN = ("loss", "rtt_s", "background_share")


@pytest.mark.parametrize("cc", controls.names())
@given(case=st.fixed_dictionaries(CASE), factor=st.floats(1.0, 30.0))
def test_monotone(cc, case, factor):
    base, limit = path_goodput(cc=cc, **case)
    assert 0 <= base <= case["rate_Bps"] * (1 - case["background_share"]) * 1448 / 1500 * (1 + 1e-12)
    assert limit in LIMITS
    for key in UP:
        more = path_goodput(cc=cc, **(case | {key: case[key] * factor}))[0]
        assert more >= base * (1 - 1e-9), key
    for key in DOWN:
        top = {"loss": 1.0, "rtt_s": 10.0, "background_share": 0.99}[key]
        worse = path_goodput(cc=cc, **(case | {key: min(case[key] * factor, top)}))[0]
        assert worse <= base * (1 + 1e-9), key


def test_each_limit_by_name():
    wide = {"rate_Bps": 1.25e8, "rtt_s": 0.05, "buffer_B": 1.25e8}
    assert path_goodput(**wide)[1] == "link"
    assert path_goodput(**wide, window_B=65536)[1] == "window"
    assert path_goodput(**wide, window_B=65536)[0] == pytest.approx(65536 / 0.05, rel=1e-3)
    assert path_goodput(**wide, loss=1e-3)[1] == "loss"
    assert path_goodput(**(wide | {"buffer_B": 6e4}))[1] == "buffer"
    assert path_goodput(**wide)[0] == pytest.approx(1.25e8 * 1448 / 1500)


def test_scenarios_broadcast():
    got, limit = path_goodput(rate_Bps=1.25e8, rtt_s=[[0.01], [0.1]], loss=[0, 1e-5, 1e-3], cc="reno")
    assert got.shape == limit.shape == (2, 3)
    with pytest.raises(KeyError):
        path_goodput(rate_Bps=1.0, rtt_s=1.0, cc="none-such")


def test_esnet_s_streams_lie_between_the_sawtooth_and_the_link():
    # ESnet: 10 Gb/s, MTU 9000, memory to memory: 8.0 Gb/s with one stream, 8.8 with four (printed as 1.0 and
    # 1.1 GB/s: +-5 %); a switch's shallow buffer on a path of about 20 ms
    rates, _ = path_goodput(
        rate_Bps=1.25e9 * 9000 / 9038, rtt_s=0.02, mss_B=8948, mtu_B=9000, buffer_B=5e5, streams=[1, 4], cc="cubic"
    )
    assert rates * 8e-9 == pytest.approx([8.0, 8.8], rel=0.12)


def test_closed_forms_and_rounds_check_each_other():
    grid = np.meshgrid([1.25e7, 1.25e8], [0.01, 0.1], [0.0, 1e-5, 1e-3], ["reno", "cubic"], [1, 8], indexing="ij")
    rate, trip, loss, cc, n = (a.ravel() for a in grid)
    rate, trip, loss, n = rate.astype(float), trip.astype(float), loss.astype(float), n.astype(int)
    cases = Cases.of(rate_Bps=rate, rtt_s=trip, loss=loss, cc=cc, streams=n, warmup_s=60.0, duration_s=120.0)
    seen = simulate(cases, replicas=4).goodput_Bps
    closed, _ = path_goodput(rate_Bps=rate, rtt_s=trip, loss=loss, cc=cc, streams=n, buffer_B=rate * trip)
    ratio = closed / seen
    # periodic against random loss, fractional against whole segments: 10 % in the median, 35 % at the worst
    assert np.median(ratio) == pytest.approx(1.0, abs=0.1)
    assert ratio.min() > 0.65
    assert ratio.max() < 1.35
