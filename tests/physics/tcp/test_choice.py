"""Where closed forms are not valid: bursts against small buffers, windows of few segments."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.physics.tcp import path, response
from dtnsim.physics.tcp.choice import bursts_fit, loss_scale

PATH = {"rate_Bps": 1.25e7, "rtt_s": 0.01, "mss_B": 1448.0, "mtu_B": 1500.0, "streams": 1, "cc": "cubic"}


@pytest.mark.parametrize(
    ("more", "fit"),
    [
        ({"buffer_B": 12500.0}, False),  # measured: 58 of 100 Mb/s
        ({"buffer_B": 60000.0}, True),
        ({"buffer_B": np.inf}, True),
        ({"buffer_B": 12500.0, "line_Bps": 1.25e7}, True),  # a port no faster than the bottleneck queues nothing there
        ({"buffer_B": 12500.0, "streams": 16}, True),  # two segments each
        ({"buffer_B": 12500.0, "cc": "bbr"}, True),
    ],
)
def test_bursts_of_a_millisecond(more, fit):
    # 100 Mb/s: 1.2 x 8333 / 1024 = 9.6 segments a burst, and 1.5 more
    assert bursts_fit(1.2e7, **(PATH | more)) is fit
    assert bursts_fit(0.0, **(PATH | more))


def test_cubic_at_one_per_cent_is_what_was_measured():
    # Linux 6.18, CUBIC: 0.85 of Mathis' formula at 1 % (median of 18 runs over 7 paths), the closed form has 1.0
    for rtt in (0.01, 0.06, 0.1):
        found = loss_scale(loss=0.01, rtt_s=rtt)
        assert found is not None
        ratio = found.factor * float(response.cubic(0.01, rtt, 1448)) / float(response.mathis(0.01, rtt, 1448))
        assert ratio == pytest.approx(0.85, abs=0.07)
        assert 0.05 < found.spread < 0.3


def test_only_windows_of_few_segments_need_it():
    assert loss_scale(loss=1e-3, rtt_s=0.05) is None
    assert loss_scale(loss=0.0, rtt_s=0.05) is None
    assert loss_scale(loss=1.0, rtt_s=0.05) is None
    for cc in ("reno", "htcp", "bbr"):
        assert loss_scale(loss=0.02, rtt_s=0.05, cc=cc) is None
    assert loss_scale(loss=0.02, rtt_s=0.05) is loss_scale(loss=0.0201, rtt_s=0.0501)  # remembered


@given(loss=st.floats(-2.2, -1.0), rtt=st.floats(-3.3, -0.5), more=st.floats(0.15, 1.0))
@settings(max_examples=6, deadline=None)
def test_more_loss_never_helps(loss, rtt, more):
    rates = []
    for p in (loss, min(loss + more, -1.0)):
        found = loss_scale(loss=10**p, rtt_s=10**rtt)
        scale = 1.0 if found is None else found.factor
        assert 0.2 < scale <= 1.0
        rates.append(float(path.path_goodput(rate_Bps=1e12, rtt_s=10**rtt, loss=10**p, loss_scale=scale)[0]))
    assert rates[1] <= rates[0] * 1.001
