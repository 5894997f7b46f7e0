"""Measured Linux TCP: ``dtnsim tcp --table`` beside ../shared/tcp-truth/public.csv, and the same through path files."""

import math
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dtnsim.cli import _table, _tcp_table
from dtnsim.steady.prediction import predict
from tests.each import rows
from tests.lab import journey, machine
from tests.strategies import load

PUBLIC = Path(__file__).parents[3] / "shared" / "tcp-truth" / "public.csv"

POINT = rows("evidence/tables", "tcp_truth")["POINT"]

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not PUBLIC.exists(), reason="the measured runs are not beside this repository"),
]


@pytest.fixture(scope="module")
def answered():
    return list(_tcp_table.answer(_table.read(str(PUBLIC), _tcp_table.NEEDED, "")[1], str(PUBLIC), seed=1))


@pytest.fixture(scope="module")
def errors(answered):
    """(group, algorithm, absolute relative error) of each point, mean of its seeds."""
    points = defaultdict(list)
    for row in answered:
        points[tuple(row[k] for k in POINT)].append(row)
    made = []
    for key, runs in points.items():
        measured = np.mean([float(r["goodput_bps"]) for r in runs])
        predicted = np.mean([float(r["predicted_goodput_bps"]) for r in runs])
        made.append((key[0], runs[0]["cc"], abs(predicted / measured - 1)))
    return made


def test_median_and_tail(errors):
    values = np.array([e for _, _, e in errors])
    assert len(values) > 100
    assert np.median(values) <= 0.01
    assert np.percentile(values, 90) <= 0.10


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
    assert 0.75 <= np.mean(inside) <= 0.95


def test_completion_times(answered):
    done = [(float(r["completion_s"]), float(r["predicted_completion_s"])) for r in answered if r["completion_s"]]
    assert len(done) == 19
    assert np.median([abs(p / m - 1) for m, p in done]) < 0.04


def path_of(row: dict[str, str]) -> dict[str, Any]:
    """A row of the table as a path: hosts that never limit, a WAN with framing taken off, iperf3 for its time."""
    mtu = float(row["mtu_bytes"] or 1500)
    wan = {
        "bandwidth": f"{float(row['rate_bps']) * (mtu + 38) / mtu!r} b/s", "rtt": f"{float(row['rtt_s'])!r} s",
        "buffer": f"{float(row['buffer_bytes'])!r} B", "mtu": f"{mtu:g} B", "loss": row["loss_prob"] or "0",
    }  # fmt: skip
    if row["burst_loss_prob"]:
        wan["bursts"] = {"rate": row["burst_loss_prob"], "length": row["burst_len_pkts"]}
    window = float(row["wnd_limit_bytes"] or 256e6)
    tcp = dict.fromkeys(("rmem_max", "wmem_max"), f"{window!r} B")
    nic = {"kind": "nic", "rate": "1 Tb/s", "mtu": f"{mtu:g} B"}
    ends = [machine(tcp=tcp, nic=nic, stack={"kind": "stack", "kernel": "6.18"}) for _ in range(2)]
    tool = {"name": "iperf3", "C": row["cc"], "P": int(row["streams"] or 1), "t": f"{row['duration_s']} s",
            "O": f"{row['warmup_s'] or 0} s"}  # fmt: skip
    path = journey(*ends, wan=wan, tool=tool)
    path["transfer"].pop("dataset", None)
    return path


def test_predict_and_tcp_give_one_answer_for_the_measured_runs(answered):
    seen: dict[tuple[Any, ...], float] = {}
    for row in answered:
        plain = row["kind"] != "fct" and not row["flow2_cc"] and not row["loss_rev_prob"] and not row["bg_share"]
        key = (row["group"], row["rate_bps"], row["rtt_s"], row["buffer_bytes"], row["loss_prob"], row["cc"],
               row["streams"], row["burst_loss_prob"], row["wnd_limit_bytes"], row["duration_s"])  # fmt: skip
        if plain and row["wnd_method"] != "sockbuf" and key not in seen:
            got = predict(load(path_of(row)), samples=0).throughput_Bps.p50
            seen[key] = 8 * got / float(row["predicted_goodput_bps"])
    ratios = np.array(list(seen.values()))
    assert len(ratios) > 50
    off = np.abs(ratios - 1)
    assert np.median(off) < 0.005
    assert np.percentile(off, 95) < 0.02, sorted(
        ((round(v, 3), k) for k, v in seen.items()), key=lambda i: -abs(math.log(i[0]))
    )[:8]


def pair_of(row: dict[str, str]) -> dict[str, Any]:
    """Two timed flows on one bottleneck, each with its own round trip, half the shorter on the bottleneck."""
    mtu, window = float(row["mtu_bytes"] or 1500), float(row["wnd_limit_bytes"] or 256e6)
    trips = float(row["rtt_s"]), float(row["flow2_rtt_s"] or row["rtt_s"])
    shared = min(trips) / 2
    tcp = dict.fromkeys(("rmem_max", "wmem_max"), f"{window!r} B")
    nic = {"kind": "nic", "rate": "1 Tb/s", "mtu": f"{mtu:g} B"}

    def link(ends: list[str], rtt_s: float, **more: str) -> dict[str, Any]:
        return {"between": ends, "bandwidth": "1 Tb/s", "rtt": f"{rtt_s!r} s", "mtu": f"{mtu:g} B", **more}

    bottleneck = {
        "bandwidth": f"{float(row['rate_bps']) * (mtu + 38) / mtu!r} b/s",
        "buffer": f"{float(row['buffer_bytes'])!r} B", "loss": row["loss_prob"] or "0",
    }  # fmt: skip
    links = {"shared": link(["x", "y"], shared, **bottleneck)}
    transfers = []
    for ends, cc, trip in (("ab", row["cc"], trips[0]), ("cd", row["flow2_cc"], trips[1])):
        links |= {f"{ends[0]}x": link([ends[0], "x"], trip - shared), f"y{ends[1]}": link(["y", ends[1]], 0.0)}
        tool = {"name": "iperf3", "C": cc, "t": f"{row['duration_s']} s", "O": f"{row['warmup_s'] or 0} s"}
        transfers.append({"name": ends, "from": f"{ends[0]}:memory", "to": f"{ends[1]}:memory", "tool": tool})
    hosts = {end: machine(tcp=tcp, nic=nic, stack={"kind": "stack", "kernel": "6.18"}) for end in "abcd"}
    return {"name": "pair", "hosts": hosts, "links": links, "transfers": transfers}


def test_predict_and_tcp_share_a_bottleneck_alike(answered):
    """One model of flows that compete: two tests that begin one after the other, as the table's second flow does."""
    off, errors = [], {"ccmix": [], "rttfair": []}
    for row in answered:
        if not row["flow2_cc"]:
            continue
        got = [8 * t.throughput_Bps.p50 for t in predict(load(pair_of(row)), samples=0).transfers]
        names = "goodput_bps", "flow2_goodput_bps"
        off += [abs(a / float(row[f"predicted_{n}"]) - 1) for a, n in zip(got, names, strict=True)]
        errors[row["group"]] += [abs(a / float(row[n]) - 1) for a, n in zip(got, names, strict=True)]
    assert len(off) == 22
    assert max(off) < 0.02
    assert np.median(errors["ccmix"]) <= 0.10
    assert np.median(errors["rttfair"]) <= 0.06
