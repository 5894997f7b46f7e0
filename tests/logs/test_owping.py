"""owping.

Summaries printed in a laboratory's notes (2019, clocks apart), the tests of a C# wrapper (2021; its least delay was
negative) and the guide of an implementation in Rust (2026; its second direction is altered to lose and to be unsync).
"""

from __future__ import annotations

import pytest

LAB = """\
--- owping statistics from [hu-lab-01]:8848 to [nu-lab-01.fungible.local]:8920 ---
SID:\t0a012818e00ef46a68dfd8e9e4886fc9
first:\t2019-02-13T11:54:19.541
last:\t2019-02-13T11:54:20.178
10 sent, 0 lost (0.000%), 0 duplicates
one-way delay min/median/max = 12.8/12.9/12.8 ms, (err=9.01 ms)
one-way jitter = 0 ms (P95-P50)
TTL not reported
no reordering
"""
APART = LAB.replace("12.8/12.9/12.8", "-12.5/-12.5/-12.4")
SHARP = """\
        --- owping statistics from [IPA-linux-0077.ipa.svc.local]:9637 to [10.3.2.216]:9585 ---
        SID:    0a0302d8e44e5e2a5b368d965b5f70ab
        100 sent, 0 lost (0.000%), 0 duplicates
        one-way delay min/median/max = 0.0491/0.2/0.351 ms, (err=0.389 ms)
        one-way jitter = 0.1 ms (P95-P50)
        hops = 0 (consistently)
        no reordering
"""
RUST = """\
--- owping statistics from [127.0.0.1]:9279 to [127.0.0.1]:41586 ---
SID:\t7f000001ee71c954b994d23033bb8567
100 sent, 0 lost (0.000%), 0 duplicates
one-way delay min/median/max = 0.00602/0.0246/0.0713 ms, (err=0.00201 ms)
one-way jitter = 0.0311 ms (P95-P50)
Percentiles:
\t99.0: 0.0654 ms
hops = 0 (consistently)
no reordering


--- owping statistics from [127.0.0.1]:47448 to [127.0.0.1]:8963 ---
100 sent, 3 lost (3.000%), 0 duplicates
one-way delay min/median/max = 0.00465/0.0242/0.138 ms, (unsync)
"""


@pytest.mark.parametrize(
    ("text", "median", "error", "jitter"),
    [(LAB, 12.9e-3, 9.01e-3, 0.0), (SHARP, 0.2e-3, 0.389e-3, 0.1e-3), (RUST, 0.0246e-3, 0.00201e-3, 0.0311e-3)],
)
def test_delay_error_and_jitter(log, text, median, error, jitter):
    found = log(text)
    delay = found.all("latency", statistic="p50")[0]
    assert delay.value == pytest.approx(median)
    assert delay.conditions["clock_error_s"] == pytest.approx(error)
    assert found.all("jitter")[0].value == pytest.approx(jitter)
    assert delay.conditions["of"] == "one_way_delay"


def test_two_directions(log):
    found = log(RUST)
    assert [r.value for r in found.all("loss")] == [0, 0.03]
    second = found.all("latency", statistic="max")[1]
    assert second.value == pytest.approx(0.138e-3)
    assert "clock_error_s" not in second.conditions
    assert not found.all("hops")
    assert log(LAB).one("loss").conditions["source"] == "hu-lab-01"
    assert log(SHARP.replace("hops = 0", "hops = 6")).value("hops") == 6


def test_clocks_that_are_apart(log):
    """The other direction of the laboratory's run: -12.5 ms beside 12.9 ms."""
    found = log(APART)
    assert not found.all("latency")
    assert "negative delay" in found.unread[0].why
