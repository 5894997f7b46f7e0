"""Runs of our own of Linux 6.18 over an emulated path, at points that no table of measured runs has.

16 s after 4 or 5, single flows; 36 s after 18, pairs; busy host, one run each. Three of the BBR runs on paths of
2 ms and the BBR pairs served to choose `BBR_ROOM` and `BBR_NOISE`; the others only judge.
"""

import numpy as np
import pytest

from dtnsim.physics.tcp.outcome import simulate
from dtnsim.physics.tcp.rounds import Cases
from tests.each import tables

pytestmark = pytest.mark.long

#: Mb/s, RTT [ms], buffer [B], loss, background, algorithm, goodput [Mb/s]
ALONE = tables("physics/tcp/tables")["own runs alone"]
#: Mb/s, RTT 1 and 2 [ms], buffer [B], algorithms, goodput of both [Mb/s]
PAIRS = tables("physics/tcp/tables")["own runs of pairs"]


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
