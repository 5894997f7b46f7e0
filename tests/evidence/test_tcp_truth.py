"""Accuracy on measured Linux TCP: ../shared/tcp-truth/public.csv through ``dtnsim tcp --table``."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from dtnsim.cli import _tcp_table

PUBLIC = Path(__file__).parents[3] / "shared" / "tcp-truth" / "public.csv"
#: what makes a parameter point: all but the seed
POINT = (
    "group", "rate_bps", "rtt_s", "buffer_bdp", "loss_prob", "burst_loss_prob", "burst_len_pkts", "loss_rev_prob",
    "bg_share", "bg_kind", "mtu_bytes", "streams", "cc", "wnd_limit_bytes", "wnd_method", "size_bytes", "flow2_cc",
    "flow2_rtt_s",
)  # fmt: skip

pytestmark = pytest.mark.skipif(not PUBLIC.exists(), reason="the measured runs are not beside this repository")


@pytest.fixture(scope="module")
def answered():
    table = _tcp_table.read(str(PUBLIC))
    return _tcp_table.answer(table, seed=1)


@pytest.fixture(scope="module")
def errors(answered):
    """(group, algorithm, absolute relative error) of each point, mean of its seeds."""
    points = defaultdict(list)
    for row in answered:
        points[tuple(row[k] for k in POINT)].append(row)
    made = []
    for key, rows in points.items():
        measured = np.mean([float(r["goodput_bps"]) for r in rows])
        predicted = np.mean([float(r["predicted_goodput_bps"]) for r in rows])
        made.append((key[0], rows[0]["cc"], abs(predicted / measured - 1)))
    return made


def test_median_and_tail(errors):
    values = np.array([e for _, _, e in errors])
    assert len(values) > 100
    assert np.median(values) <= 0.04
    assert np.percentile(values, 90) <= 0.20


@pytest.mark.parametrize("column", [0, 1])
def test_no_group_and_no_algorithm_is_off(errors, column):
    found = defaultdict(list)
    for error in errors:
        found[error[column]].append(error[2])
    medians = {name: float(np.median(v)) for name, v in found.items()}
    assert len(medians) == (14, 3)[column]
    assert not {name: m for name, m in medians.items() if m > 0.10}


def test_intervals_hold_single_runs(answered):
    inside = [
        float(r["predicted_p10_bps"]) <= float(r["goodput_bps"]) <= float(r["predicted_p90_bps"]) for r in answered
    ]
    assert 0.70 <= np.mean(inside) <= 0.95


def test_completion_times_and_second_flows(answered):
    done = [(float(r["completion_s"]), float(r["predicted_completion_s"])) for r in answered if r["completion_s"]]
    assert len(done) == 19
    assert np.median([abs(p / m - 1) for m, p in done]) < 0.04
    second = [
        (float(r["flow2_goodput_bps"]), float(r["predicted_flow2_goodput_bps"])) for r in answered if r["flow2_cc"]
    ]
    assert len(second) == 11
    assert np.median([abs(p / m - 1) for m, p in second]) < 0.10
