"""Boxes on segments: policers, firewalls, encryptors."""

from typing import Any

from hypothesis import given, settings, strategies as st

from dtnsim.components.base import Component
from dtnsim.components.middlebox import Firewall
from tests.each import cases, tables
from tests.lab import Sheet, expect, journey, problem, rate, sheet

#: IP bytes for a payload byte, MTU 9000 with time stamps
IP = 9000 / 8948


@settings(max_examples=10)
@given(st.integers(10, 5000), st.sampled_from(["police", "shape"]))
def test_no_transfer_beats_its_policer(mbps: int, action: str) -> None:
    policer = {"kind": "policer", "rate": f"{mbps} Mb/s", "action": action}
    wan = {"bandwidth": "10 Gb/s", "rtt": "10 ms", "policer": policer}
    path = journey(wan=wan, tool={"name": "iperf3", "C": "cubic"}, dataset={"files": 1, "size": "1000 PB"})
    assert rate(path) <= mbps * 1.25e5 / IP * (1 + 1e-9)


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
