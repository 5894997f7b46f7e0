"""Bursts of segmentation offload against small buffers."""

import numpy as np
import pytest

from dtnsim.physics.tcp.choice import bursts_fit

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
