"""An encrypting gateway: what it adds to packets, and flows that stay in tunnels."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lab import Sheet, answer, journey, problem, sheet

GATE = {"kind": "encryptor", "total": "10 Gb/s", "overhead": "62 B"}


def passed(streams: int = 1, **more: Any) -> Sheet:
    wan = {"bandwidth": "100 Gb/s", "rtt": "1 ms", "boxes": {"vpn": {**GATE, **more}}}
    return sheet(problem(journey(wan=wan, tool={"name": "iperf3", "P": streams})))


def test_packets_grow_on_the_way_through() -> None:
    """RFC 4303: ESP in tunnel mode adds some 60 B to each packet: 9038 + 62 B for 8948 B of payload."""
    assert passed().rate("network.wan.vpn") == pytest.approx(1.25e9 * 8948 / 9100)
    assert passed(overhead="0 B").rate("network.wan.vpn") == pytest.approx(1.25e9 * 8948 / 9038)


@pytest.mark.parametrize(("streams", "tunnels", "used"), [(1, 4, 1.0), (4, 4, 2.734375), (100, 1, 1.0)])
def test_a_flow_stays_in_one_tunnel(streams: int, tunnels: int, used: float) -> None:
    found = passed(streams, tunnel="1 Gb/s", tunnels=tunnels)
    assert found.capacity("network.wan.vpn.tunnels") == pytest.approx(used * 0.125e9)


def test_tcp_knows_the_gateway() -> None:
    wan = {"bandwidth": "100 Gb/s", "rtt": "20 ms", "boxes": {"vpn": {**GATE, "tunnel": "1 Gb/s"}}}
    found = answer(journey(wan=wan, dataset={"files": 1, "size": "1 PB"}))
    assert found.throughput_Bps.p50 < 0.125e9
    assert "vpn" in found.bottleneck.station or "vpn" in found.bottleneck.reason
