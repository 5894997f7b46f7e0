"""Adapters: framing, ports and what a bond spreads over them."""

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from tests.each import cases, rows, tables
from tests.lab import Sheet, expect, journey, machine, problem, sheet


def card(**more: object) -> dict[str, Any]:
    return {"kind": "nic", "rate": "10 Gb/s", "mtu": "9000 B", **more}


def sent(nic: dict[str, Any], streams: int = 1, **transfer: object) -> Sheet:
    path = journey(machine(nic=nic), tool={"name": "iperf3", "P": streams})
    path["transfer"] |= transfer
    return sheet(problem(path))


@pytest.mark.parametrize(("nic", "share"), rows("components/tables", "framing_leaves_its_share_of_the_wire"))
def test_framing_leaves_its_share_of_the_wire(nic: dict[str, Any], share: float) -> None:
    """Payload MTU - 40 - 12 for MTU + 38 bytes of wire time (IEEE 802.3, RFC 7323), printed to four digits."""
    assert sent(card(**nic)).rate("nic.port0.tx") == pytest.approx(1.25e9 * share, rel=6e-5)


@cases("given, figures", tables("components/hosts")["cards"])
def test_what_a_bond_spreads(given: dict[str, Any], figures: dict[str, Any]) -> None:
    found = sent(card(**given["nic"]), given["streams"])
    expect(lambda what: getattr(found, what), figures)


@settings(max_examples=15)
@given(st.integers(1, 8), st.integers(1, 40), st.sampled_from(["none", "hash", "application"]))
def test_a_bond_never_beats_its_ports_nor_loses_to_one(ports: int, streams: int, bonding: str) -> None:
    one, bond = sent(card()).bound, sent(card(ports=ports, bonding=bonding), streams).bound
    assert one * (1 - 1e-9) <= bond <= ports * one * (1 + 1e-9)
