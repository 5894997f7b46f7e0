"""Boxes on segments: policers, firewalls, encryptors."""

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from dtnsim.components.base import Component
from dtnsim.components.middlebox import Firewall
from tests.each import cases, tables
from tests.lab import Sheet, answer, expect, journey, problem, rate, sheet

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


def test_a_deep_bucket_hides_the_drops() -> None:
    """Flach et al., SIGCOMM 2016: loss-based TCP falls short of the policed rate, the more the shallower the bucket."""
    rates = [rate(through({"rate": "1 Gb/s", "burst": b})) for b in ("20 kB", "200 kB", "2 MB", "20 MB")]
    assert rates == sorted(rates)
    assert rates[0] < rates[-1]


@settings(max_examples=10)
@given(st.integers(10, 5000), st.sampled_from(["police", "shape"]))
def test_no_transfer_beats_its_policer(mbps: int, action: str) -> None:
    assert rate(through({"rate": f"{mbps} Mb/s", "action": action})) <= mbps * 1.25e5 / IP * (1 + 1e-9)


def through_of_firewall(wall: dict[str, Any], streams: int = 1, rtt: str = "10 ms") -> dict[str, Any]:
    segment = {"bandwidth": "10 Gb/s", "rtt": rtt, "firewall": {"kind": "firewall", "buffer": "1 GB", **wall}}
    data = {"files": 1, "size": "1000 PB"}
    return journey(wan=segment, tool={"name": "iperf3", "P": streams}, dataset=data)


def test_a_stripped_window_leaves_64_kib_a_round_trip() -> None:
    """es.net case study, Penn State and VTTI: about 50 Mb/s over 10 ms; 65 535 B / 10 ms = 52.4 Mb/s at most."""

    def stripped(streams: int = 1, rtt: str = "10 ms") -> dict[str, Any]:
        path = through_of_firewall({"engine": "10 Gb/s", "strips_window_scaling": True}, streams, rtt)
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
    assert rate(through_of_firewall({"engine": "100 Gb/s"})) <= free * (1 + 1e-12)


def test_shipped_firewalls_are_firewalls() -> None:
    for name in ("campus-stateful-1g", "campus-stateful-10g", "strips-window-scaling"):
        wall = Component.build(f"firewall/{name}")
        assert isinstance(wall, Firewall)
        assert wall.total is None or wall.total.value >= wall.engine.value


GATE = {"kind": "encryptor", "total": "10 Gb/s", "overhead": "62 B"}


def passed(streams: int = 1, **more: Any) -> Sheet:
    wan = {"bandwidth": "100 Gb/s", "rtt": "1 ms", "boxes": {"vpn": {**GATE, **more}}}
    return sheet(problem(journey(wan=wan, tool={"name": "iperf3", "P": streams})))


@cases("streams, gateway, figures", tables("components/tables")["what_a_gateway_charges"])
def test_what_a_gateway_charges(streams: int, gateway: dict[str, Any], figures: dict[str, Any]) -> None:
    expect(passed(streams, **gateway).figure, figures)


def test_tcp_knows_the_gateway() -> None:
    wan = {"bandwidth": "100 Gb/s", "rtt": "20 ms", "boxes": {"vpn": {**GATE, "tunnel": "1 Gb/s"}}}
    found = answer(journey(wan=wan, dataset={"files": 1, "size": "1 PB"}))
    assert found.throughput_Bps.p50 < 0.125e9
    assert "vpn" in found.bottleneck.station or "vpn" in found.bottleneck.reason
