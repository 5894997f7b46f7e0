"""Measured Linux TCP through path files: timed iperf3 in `predict` gives what `dtnsim tcp --table` gives."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dtnsim.cli import _tcp_table
from dtnsim.steady.prediction import predict
from tests.lab import journey, machine
from tests.strategies import load

PUBLIC = Path(__file__).parents[3] / "shared" / "tcp-truth" / "public.csv"

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not PUBLIC.exists(), reason="the measured runs are not beside this repository"),
]


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


def test_predict_and_tcp_give_one_answer_for_the_measured_runs():
    table = _tcp_table.read(str(PUBLIC))
    seen: dict[tuple[Any, ...], float] = {}
    for row, answer in zip(table.rows, _tcp_table.answer(table, seed=1), strict=True):
        plain = row["kind"] != "fct" and not row["flow2_cc"] and not row["loss_rev_prob"] and not row["bg_share"]
        key = (row["group"], row["rate_bps"], row["rtt_s"], row["buffer_bytes"], row["loss_prob"], row["cc"],
               row["streams"], row["burst_loss_prob"], row["wnd_limit_bytes"], row["duration_s"])  # fmt: skip
        if plain and row["wnd_method"] != "sockbuf" and key not in seen:
            got = predict(load(path_of(row)), samples=0).throughput_Bps.p50
            seen[key] = 8 * got / float(answer["predicted_goodput_bps"])
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


def test_predict_and_tcp_share_a_bottleneck_alike():
    """One model of flows that compete: two tests that begin one after the other, as the table's second flow does."""
    table = _tcp_table.read(str(PUBLIC))
    off, errors = [], {"ccmix": [], "rttfair": []}
    for row, answer in zip(table.rows, _tcp_table.answer(table, seed=1), strict=True):
        if not row["flow2_cc"]:
            continue
        got = [8 * t.throughput_Bps.p50 for t in predict(load(pair_of(row)), samples=0).transfers]
        names = "goodput_bps", "flow2_goodput_bps"
        off += [abs(a / float(answer[f"predicted_{n}"]) - 1) for a, n in zip(got, names, strict=True)]
        errors[row["group"]] += [abs(a / float(row[n]) - 1) for a, n in zip(got, names, strict=True)]
    assert len(off) == 22
    assert max(off) < 0.02
    assert np.median(errors["ccmix"]) <= 0.10
    assert np.median(errors["rttfair"]) <= 0.06
