"""Adapters: framing, ports and what a bond spreads over them."""

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from dtnsim.ground.errors import SpecError
from tests.each import cases, rows, tables
from tests.lab import Sheet, expect, journey, machine, problem, rate, sheet, volume


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


def test_an_unbonded_card_sends_from_one_port() -> None:
    assert not sent(card(ports=4)).has("nic.port1.tx")
    assert sent(card(ports=4)).rate("nic.port0.tx") == sent(card()).rate("nic.port0.tx")


@cases("given, figures", tables("components/hosts")["cards"])
def test_what_a_bond_spreads(given: dict[str, Any], figures: dict[str, Any]) -> None:
    found = sent(card(**given["nic"]), given["streams"])
    expect(lambda what: getattr(found, what), figures)


def test_a_transfer_bound_to_a_port_has_that_port() -> None:
    found = sent(card(ports=2, bonding="hash"), 8, ports={"a": 1})
    assert found.has("nic.port1.tx")
    assert not found.has("nic.bond.tx")
    with pytest.raises(SpecError, match=r"not a port.*0 to 1"):
        sent(card(ports=2), ports={"a": 2})


def test_two_transfers_on_two_ports_do_not_meet() -> None:
    def pair(second: int) -> float:
        transfers = [
            {"name": n, "from": "a:memory", "to": "b:memory", "tool": "iperf3", "ports": {"a": p}}
            for n, p in (("x", 0), ("y", second))
        ]
        return rate(journey(machine(nic=card(ports=2)), transfers=transfers))

    assert pair(1) == pytest.approx(2 * pair(0), rel=1e-9)


def test_sending_and_receiving_have_a_wire_each() -> None:
    """Full duplex: transfers in opposite directions leave each other alone."""
    nic = card()
    transfers = [
        {"name": "there", "from": "a:memory", "to": "b:memory", "tool": "iperf3"},
        {"name": "back", "from": "b:memory", "to": "a:memory", "tool": "iperf3"},
    ]
    both = rate(journey(machine(nic=nic), machine(nic=nic), transfers=transfers))
    assert both == pytest.approx(2 * rate(journey(machine(nic=nic), machine(nic=nic))), rel=1e-9)


@settings(max_examples=15)
@given(st.integers(1, 8), st.integers(1, 40), st.sampled_from(["none", "hash", "application"]))
def test_a_bond_never_beats_its_ports_nor_loses_to_one(ports: int, streams: int, bonding: str) -> None:
    one, bond = sent(card()).bound, sent(card(ports=ports, bonding=bonding), streams).bound
    assert one * (1 - 1e-9) <= bond <= ports * one * (1 + 1e-9)


def test_an_infiniband_card_reaches_the_storage_network() -> None:
    """A GPFS mount behind a QDR card: 32 Gb/s of data, packets of 4096 B with 26 B around them."""
    host = machine(nics={"eth": card(rate="1 Tb/s"), "ib": card(rate="32 Gb/s", protocol="infiniband")},
                   volumes={"/g": volume(filesystem={"kind": "gpfs", "nsds": 1000}, via=["ib"])})  # fmt: skip
    del host["nic"]
    found = sheet(problem(journey(host, start="a:/g", tool="gridftp")))
    assert found.rate("a.ib.port0.rx") == pytest.approx(4e9 * 4096 / 4122)


def test_a_card_that_is_not_there() -> None:
    with pytest.raises(SpecError, match="NICs: nic"):
        sent(card(), nics={"a": "eth9"})


def test_a_card_that_says_no_link_has_one_for_its_ports() -> None:
    """100 Gb/s in an x16 slot of generation 4: the wire holds it, not the x8 of generation 3 of smaller cards."""

    def hosts(slot: dict[str, int]) -> dict[str, Any]:
        made = machine(slots={"s": slot}, nics={"e": {"rate": "100 Gb/s", "mtu": "9000 B", "slot": "s"}})
        return {key: value for key, value in made.items() if key != "nic"}

    wide, narrow = hosts({"generation": 4, "lanes": 16}), hosts({"generation": 3, "lanes": 8})  # which takes it as well
    assert rate(journey(wide, wide)) == pytest.approx(100e9 / 8 * 8948 / 9038)
    assert rate(journey(narrow, narrow)) < 0.6 * rate(journey(wide, wide))
