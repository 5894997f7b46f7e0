"""Laws that hold for every path, on randomly composed ones."""

import copy
import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from dtnsim.composition.compose import compose
from dtnsim.ground.quantity import Draw
from dtnsim.ground.term import without_words
from dtnsim.report.document import explanation_document, prediction_document
from dtnsim.steady import solve
from dtnsim.steady.prediction import predict
from tests.report.test_document import check, strict
from tests.strategies import load, paths

#: TCP's rounds draw losses: the same draws everywhere leave differences of chance of a per cent or two, and of three
#: where one segment in a hundred is lost within a tenth of a millisecond
CHANCE = 1.04

few = settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])
fewer = settings(few, max_examples=3)  # where an example is many predictions


def rate(path: dict[str, Any], *overrides: str) -> float:
    with without_words():
        return predict(load(path, *overrides), samples=0).throughput_Bps.p50


@settings(few, max_examples=8)
@given(paths(), st.integers(0, 2**31))
def test_what_every_answer_keeps(path: dict[str, Any], seed: int) -> None:
    """Shares, bounds, the ladder, its sentences, the sum of `explain`, the document; the same seed, the same bytes."""
    answer = predict(load(path), samples=16, seed=seed)
    assert all(u.utilization <= 1 + 1e-9 for u in answer.stations)
    # something holds every transfer back, and the fullest station says what
    assert answer.stations[0].utilization == pytest.approx(1.0, abs=1e-9)
    i = answer.throughput_Bps
    assert 0 < i.p10 <= i.p50 <= i.p90 < np.inf
    for use in answer.stations:
        if use.demand_per_byte > 0:
            assert answer.ceiling <= use.station.capacity / use.demand_per_byte * (1 + 1e-9)
    rungs = [r.throughput_Bps for r in answer.ladder]
    assert len(rungs) >= 5
    assert all(a <= b * (1 + 1e-9) for a, b in pairwise(rungs))
    assert all(r.reason and not re.search("nan|None", r.reason) for r in answer.ladder)
    assert answer.bottleneck.reason == answer.ladder[0].reason
    document = prediction_document(answer)
    check(strict(document))
    assert prediction_document(predict(load(path), samples=16, seed=seed)) == document
    assert least(explanation_document(answer)) == pytest.approx(answer.ceiling, rel=1e-9)


def least(explained: dict[str, Any]) -> float:
    """The rate at which the first station of the only transfer is full, of what `explain` shows."""
    capacity = {s["station"]: s["capacity"] for s in explained["stations"]}
    total: dict[str, float] = {}
    for phase in explained["transfers"][0]["phases"]:
        for d in phase["demands"]:
            total[d["station"]] = total.get(d["station"], 0.0) + d["per_byte"]
    return min(capacity[s] / d for s, d in total.items() if d > 0)


@few
@given(paths(), st.floats(1.01, 10.0), st.integers(0, 10**6))
def test_more_capacity_at_any_station_never_lowers_throughput(path: dict[str, Any], more: float, which: int) -> None:
    m = solve.matrices(compose(load(path), Draw()))
    before = solve.solve(m).rate[0, 0]
    k = which % m.capacity.shape[1]
    m.capacity[:, k] *= more
    assert solve.solve(m).rate[0, 0] >= before * (1 - 1e-12)


@fewer
@given(paths(), st.sampled_from(["wan.bandwidth", "hosts.alpha.nic.rate", "hosts.beta.nic.rate"]))
def test_more_bandwidth_never_lowers_throughput(path: dict[str, Any], key: str) -> None:
    answers = [predict(load(path, f"{key}={g} Gb/s"), samples=0) for g in (1, 25, 100, 400)]
    if any("bursts" in w for a in answers for w in a.warnings):
        return  # a faster port overfills a small buffer: it does lower the goodput, and the answer says so
    rates = [a.throughput_Bps.p50 for a in answers]
    assert all(a <= b * CHANCE for a, b in pairwise(rates))


@fewer
@given(paths(), st.sampled_from([("wan.rtt", ["0.1 ms", "10 ms", "300 ms"]),
                                 ("wan.loss", ["0", "1e-5", "0.02"]),
                                 ("wan.background.share", ["0", "50 %", "90 %"])]))  # fmt: skip
def test_more_delay_loss_or_background_never_helps(path: dict[str, Any], ladder: tuple[str, list[str]]) -> None:
    key, values = ladder
    rates = [rate(path, f"{key}={v}") for v in values]
    assert all(a * CHANCE >= b for a, b in pairwise(rates))


def _spelled(value: Any) -> Any:
    other = {" Gb/s": "Gbps", " GHz": "GHz", " MB/s": "MB/s", " ms": "ms", " KiB": "KiB"}
    if isinstance(value, dict):
        return {k: _spelled(v) for k, v in reversed(value.items())}
    if isinstance(value, list):
        return [_spelled(v) for v in value]
    if isinstance(value, str):
        for long, short in other.items():
            if value.endswith(long) and value != long:
                return value.removesuffix(long) + short
    return value


@few
@given(paths())
def test_spelling_of_units_and_order_of_keys_do_not_matter(path: dict[str, Any]) -> None:
    a, b = predict(load(path), samples=32), predict(load(_spelled(path)), samples=32)
    assert a.throughput_Bps == b.throughput_Bps


@few
@given(paths())
def test_names_of_components_do_not_matter(path: dict[str, Any]) -> None:
    renamed = copy.deepcopy(path)
    renamed["hosts"] = {"x" + name: host for name, host in renamed["hosts"].items()}
    for host in renamed["hosts"].values():
        host["slots"] = {"first": host["slots"]["a"], "second": host["slots"]["b"]}
        host["hbas"] = {"card": {**host["hbas"]["h"], "slot": "first"}}
        host["nics"] = {"port": {**host["nics"]["eth"], "slot": "second"}}
        host["volumes"] = {"/other": {**host["volumes"]["/data"], "via": ["card"]}}
    for end in ("from", "to"):
        renamed["transfer"][end] = "x" + renamed["transfer"][end].replace("/data", "/other")
    # draws go by the names of what is drawn; the median scenario does not
    assert rate(renamed) == rate(path)


@few
@given(paths())
def test_a_path_cut_into_two_equal_segments_predicts_the_same(path: dict[str, Any]) -> None:
    whole = rate(path, "wan.loss=0", "wan.background.share=0")
    half = {**path["wan"], "rtt": f"{float(path['wan']['rtt'].split()[0]) / 2} ms", "loss": "0"}
    half["background"] = {"share": "0"}
    assert rate({**path, "wan": [half, half]}) == pytest.approx(whole, rel=1e-9)
