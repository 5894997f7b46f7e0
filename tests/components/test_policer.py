"""Policers: a token bucket counts IP bytes; what is above its rate is dropped, or queued by a shaper."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.components.base import Component
from dtnsim.components.policer import Policer
from tests.lab import journey, problem, rate, sheet

#: IP bytes for a payload byte, MTU 9000 with time stamps
IP = 9000 / 8948


def through(
    policer: dict[str, Any], *, bandwidth: str = "10 Gb/s", cc: str = "cubic", rtt: str = "10 ms"
) -> dict[str, Any]:
    segment = {"bandwidth": bandwidth, "rtt": rtt, "policer": {"kind": "policer", **policer}}
    return journey(wan=segment, tool={"name": "iperf3", "C": cc}, dataset={"files": 1, "size": "1000 PB"})


def test_the_bucket_lets_its_rate_pass() -> None:
    found = sheet(problem(through({"rate": "1 Gb/s"})))
    assert found.rate("wan.policer") == pytest.approx(1.25e8 / IP, rel=1e-9)


def test_a_shaper_costs_nothing_but_the_rate() -> None:
    """It queues instead of dropping: no loss for the window to halve at."""
    shaped = rate(through({"rate": "1 Gb/s", "action": "shape"}))
    policed = rate(through({"rate": "1 Gb/s", "action": "police", "burst": "20 kB"}))
    assert shaped == pytest.approx(1.25e8 / IP, rel=0.02)
    assert policed < shaped


def test_a_deep_bucket_hides_the_drops() -> None:
    """Flach et al., SIGCOMM 2016: loss-based TCP falls short of the policed rate, the more the shallower the bucket."""
    rates = [rate(through({"rate": "1 Gb/s", "burst": b})) for b in ("20 kB", "200 kB", "2 MB", "20 MB")]
    assert rates == sorted(rates)
    assert rates[0] < rates[-1]


def test_bbr_does_not_halve_at_drops() -> None:
    shallow = {"rate": "1 Gb/s", "burst": "20 kB"}
    assert rate(through(shallow, cc="bbr")) > rate(through(shallow, cc="reno"))


@settings(max_examples=10, deadline=None)
@given(st.integers(10, 5000), st.sampled_from(["police", "shape"]))
def test_no_transfer_beats_its_policer(mbps: int, action: str) -> None:
    assert rate(through({"rate": f"{mbps} Mb/s", "action": action})) <= mbps * 1.25e5 / IP * (1 + 1e-9)


def test_the_shipped_policer() -> None:
    made = Component.build("policer/cloud-10g")
    assert isinstance(made, Policer)
    assert made.rate.value == pytest.approx(1.25e9)
