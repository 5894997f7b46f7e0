"""Firewalls: one flow has one engine, and some take window scaling away."""

from __future__ import annotations

from typing import Any

import pytest

from dtnsim.components.base import Component
from dtnsim.components.firewall import Firewall
from tests.lab import answer, journey, problem, rate, sheet

#: frames of MTU 9000 with time stamps: wire bytes for a payload byte
FRAME = 9038 / 8948


def through(wall: dict[str, Any], streams: int = 1, rtt: str = "10 ms") -> dict[str, Any]:
    segment = {
        "bandwidth": "10 Gb/s",
        "rtt": rtt,
        "firewall": {"kind": "firewall", "buffer": "1 GB", **wall},
    }
    data = {"files": 1, "size": "1000 PB"}
    return journey(wan=segment, tool={"name": "iperf3", "P": streams}, dataset=data)


def test_one_flow_has_one_engine_and_several_have_several_up_to_the_total() -> None:
    """ESnet fasterdata, Firewall Performance Issues: many slow engines in parallel."""
    wall = {"engine": "1 Gb/s", "total": "4 Gb/s"}
    alone, many = (sheet(problem(through(wall, n))) for n in (1, 64))
    assert alone.rate("wan.firewall-engine") == pytest.approx(1.25e8 / FRAME, rel=1e-9)
    assert many.rate("wan.firewall") == pytest.approx(5e8 / FRAME, rel=1e-9)
    assert alone.rate("wan.firewall-engine") < many.rate("wan.firewall-engine") <= 5e8 / FRAME * (1 + 1e-9)


def test_a_stripped_window_leaves_64_kib_a_round_trip() -> None:
    """es.net case study, Penn State and VTTI: about 50 Mb/s over 10 ms; 65 535 B / 10 ms = 52.4 Mb/s at most."""

    def stripped(streams: int = 1, rtt: str = "10 ms") -> dict[str, Any]:
        path = through({"engine": "10 Gb/s", "strips_window_scaling": True}, streams, rtt)
        return {**path, "wan": {**path["wan"], "mtu": "1500 B"}}

    found = answer(stripped())
    assert 0.9 * 65535 / 10e-3 <= found.throughput_Bps.p50 <= 65535 / 10e-3  # whole segments of 1448 B
    assert found.throughput_Bps.p50 * 8e-6 == pytest.approx(50, rel=0.06)
    assert "window-limited" in found.bottleneck.reason
    # twice the delay, half the rate; twice the streams, twice the rate
    slow, two = rate(stripped(1, "20 ms")), rate(stripped(2))
    assert slow == pytest.approx(found.throughput_Bps.p50 / 2, rel=0.01)  # segments take their time on the wire, too
    assert two == pytest.approx(found.throughput_Bps.p50 * 2, rel=0.01)


def test_a_firewall_never_helps() -> None:
    free = rate(journey(wan={"bandwidth": "10 Gb/s", "rtt": "10 ms"}, dataset={"files": 1, "size": "1000 PB"}))
    assert rate(through({"engine": "100 Gb/s"})) <= free * (1 + 1e-12)


def test_shipped_firewalls_are_firewalls() -> None:
    for name in ("campus-stateful-1g", "campus-stateful-10g", "strips-window-scaling"):
        wall = Component.build(f"firewall/{name}")
        assert isinstance(wall, Firewall)
        assert wall.total is None or wall.total.value >= wall.engine.value
