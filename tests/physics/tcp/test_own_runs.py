"""Runs of our own of Linux 6.18 over an emulated path, at points that no table of measured runs has.

16 s after 4 or 5, single flows; 36 s after 18, pairs; busy host, one run each. Three of the BBR runs on paths of
2 ms and the BBR pairs served to choose `BBR_ROOM` and `BBR_NOISE`; the others only judge.
"""

import numpy as np
import pytest

from dtnsim.physics.tcp.outcome import simulate
from dtnsim.physics.tcp.rounds import Cases

pytestmark = pytest.mark.long

#: Mb/s, RTT [ms], buffer [B], loss, background, algorithm, goodput [Mb/s]
ALONE = [
    (15, 3, 6000, 0, 0, "reno", 12.87),
    (40, 12, 6000, 0, 0, "cubic", 24.03),
    (30, 3, 11250, 0, 0, "cubic", 28),
    (15, 3, 6000, 0, 0, "cubic", 14.16),
    (15, 3, 6000, 0, 0, "bbr", 14.36),
    (70, 25, 218750, 0, 0.6, "bbr", 26.94),
    (150, 12, 33750, 0, 0, "reno", 99.23),
    (40, 2.2, 11000, 0, 0, "bbr", 30.55),
    (40, 2.2, 11000, 0.01, 0, "bbr", 29.9),
    (80, 2.2, 22000, 0, 0, "bbr", 76.09),
    (15, 3, 6000, 0.01, 0, "bbr", 14.28),
    (25, 1.8, 6000, 0, 0, "bbr", 13.47),
    (15, 12, 22500, 0, 0, "bbr", 14.33),
    (25, 1.8, 6000, 0, 0, "reno", 20.14),
    (25, 1.8, 6000, 0, 0, "cubic", 21.37),
    (40, 2.2, 11000, 0, 0, "reno", 35.09),
    (80, 2.2, 22000, 0, 0, "cubic", 73.24),
    (150, 2.2, 41250, 0, 0, "bbr", 141.73),
    (150, 2.2, 41250, 0, 0, "reno", 120.66),
]
#: Mb/s, RTT 1 and 2 [ms], buffer [B], algorithms, goodput of both [Mb/s]
PAIRS = [
    (80, 15, 90, 525000, "bbr", "bbr", 11.53, 63.83),
    (80, 15, 90, 525000, "reno", "reno", 56.97, 18.65),
    (80, 50, 50, 150000, "reno", "bbr", 3.97, 72.7),
    (80, 15, 90, 525000, "cubic", "cubic", 48.22, 29.66),
    (80, 50, 50, 1e06, "cubic", "bbr", 39.9, 36.98),
    (40, 40, 150, 237500, "bbr", "bbr", 19.4, 18.16),
    (80, 50, 50, 500000, "reno", "cubic", 34.62, 43.05),
    (40, 40, 150, 237500, "cubic", "cubic", 30.2, 8.48),
    (40, 12, 45, 285000, "reno", "reno", 26.63, 12.2),
    (80, 50, 50, 250000, "bbr", "bbr", 39.42, 35.74),
    (40, 12, 45, 28499, "cubic", "cubic", 31.26, 6.74),
    (40, 40, 150, 237500, "cubic", "cubic", 27.95, 10.97),
    (80, 15, 90, 525000, "bbr", "bbr", 11.05, 63.99),
    (60, 20, 70, 168750, "reno", "reno", 46.71, 11.04),
    (60, 20, 70, 168750, "cubic", "cubic", 37.35, 20.64),
    (60, 20, 70, 168750, "bbr", "bbr", 29.65, 27.4),
    (80, 50, 50, 150000, "reno", "bbr", 3.99, 71.18),
    (60, 50, 120, 956249, "cubic", "cubic", 41.41, 16.95),
    (60, 50, 120, 956249, "reno", "reno", 26.8, 31.22),
    (60, 50, 120, 956249, "bbr", "bbr", 7.14, 48.88),
    (60, 40, 40, 300000, "cubic", "bbr", 5.6, 51.02),
    (60, 40, 40, 300000, "cubic", "reno", 32.51, 25.76),
]


def test_flows_alone():
    rate, trip, buffer, loss, background, cc, seen = zip(*ALONE, strict=True)
    o = simulate(
        Cases.of(
            rate_Bps=np.array(rate) / 8e-6, rtt_s=np.array(trip) / 1e3, buffer_B=buffer, loss=loss, cc=cc,
            background=background, warmup_s=5.0, duration_s=16.0,
        ),
        replicas=8,
    )  # fmt: skip
    errors = np.abs(o.goodput_Bps * 8e-6 / np.array(seen) - 1)
    assert np.median(errors) < 0.03
    assert errors.max() < 0.20


@pytest.fixture(scope="module")
def pairs():
    rate, first, second, buffer, cc, cc2, seen, _ = zip(*PAIRS, strict=True)
    o = simulate(
        Cases.of(
            rate_Bps=np.array(rate) / 8e-6, rtt_s=np.array(first) / 1e3, rtt2_s=np.array(second) / 1e3, buffer_B=buffer,
            cc=cc, cc2=cc2, warmup_s=18.0, duration_s=36.0,
        ),
        replicas=8,
    )  # fmt: skip
    return o, np.abs(o.goodput_Bps * 8e-6 / np.array(seen) - 1)


def test_pairs(pairs):
    o, errors = pairs
    assert np.median(errors) < 0.15
    both = (o.goodput_Bps + o.second_Bps) * 8e-6
    assert both == pytest.approx([p[6] + p[7] for p in PAIRS], rel=0.06)


def test_pairs_of_windows_only_judge(pairs):
    windows = [i for i, p in enumerate(PAIRS) if "bbr" not in p[4:6]]
    assert len(windows) > 8
    assert np.median(pairs[1][windows]) < 0.12
