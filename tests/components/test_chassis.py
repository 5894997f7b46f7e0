"""PCIe slots: generations, lanes, directions, cards that use less than the slot has."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from dtnsim.components.chassis import Slot
from dtnsim.ground.errors import SpecError
from tests.each import cases, tables
from tests.lab import Sheet, charged, expect


def slot(**parameters: object) -> Slot:
    return Slot.build({"kind": "slot", **parameters})


def carried(made: Slot, *, to_host: bool, card_lanes: int = 32, card_generation: int = 6) -> Sheet:
    return charged(
        lambda row: made.carry(row, "pcie", to_host=to_host, card_lanes=card_lanes, card_generation=card_generation)
    )


@cases("parameters, figures", tables("components/hosts")["slots"])
def test_what_a_slot_carries(parameters: dict[str, Any], figures: dict[str, Any]) -> None:
    made = slot(**{key: value for key, value in parameters.items() if key != "to_host"})
    found = carried(made, to_host=parameters["to_host"])
    expect(lambda what: found.bound if what == "bound" else found.figure(what), figures)


def test_both_directions_run_at_the_same_time() -> None:
    """Full duplex: receiving while sending costs little more than the requests."""
    made = slot(generation=3, lanes=8)

    def both(row: object) -> None:
        for to_host in (True, False):
            made.carry(row, "pcie", to_host=to_host, card_lanes=8, card_generation=3)  # type: ignore[arg-type]

    alone = carried(made, to_host=True, card_lanes=8, card_generation=3).bound
    assert charged(both).bound == pytest.approx(alone / (1 + (24 / 512) / (280 / 256)), rel=1e-12)


CARDS = [((8, 3), 3, 8), ((4, 3), 3, 4), ((8, 2), 2, 8), ((16, 4), 3, 8)]


@pytest.mark.parametrize(("card", "generation", "lanes"), CARDS)
def test_link_and_card_settle_on_what_both_have(card: tuple[int, int], generation: int, lanes: int) -> None:
    """Trained width and generation are the lesser of both (PCIe Base Specification 5.0, 4.2.4)."""
    found = carried(slot(generation=3, lanes=8), to_host=True, card_lanes=card[0], card_generation=card[1])
    assert found.bound == pytest.approx(carried(slot(generation=generation, lanes=lanes), to_host=True).bound)


def test_connector_and_wires_are_two_things() -> None:
    """A x16 connector wired x8 takes a x16 card, and gives it eight lanes."""
    wide = slot(generation=3, lanes=8, connector=16)
    assert wide.accepts(16)
    assert not slot(generation=3, lanes=8).accepts(16)
    assert carried(wide, to_host=True, card_lanes=16).bound == carried(slot(generation=3, lanes=8), to_host=True).bound


@given(st.integers(1, 5), st.sampled_from([1, 2, 4, 8, 16]), st.sampled_from([128, 256, 512]), st.booleans())
def test_headers_never_come_for_free(generation: int, lanes: int, mps: int, to_host: bool) -> None:
    signalled = {1: 2.5e9 * 0.8, 2: 5e9 * 0.8, 3: 8e9 * 128 / 130, 4: 16e9 * 128 / 130, 5: 32e9 * 128 / 130}
    raw = signalled[generation] / 8 * lanes
    rate = carried(slot(generation=generation, lanes=lanes, mps=f"{mps} B"), to_host=to_host).bound
    assert 0.5 * raw < rate < raw * mps / (mps + 20)


def test_a_split_slot_has_its_links_side_by_side() -> None:
    one = carried(slot(generation=4, lanes=4), to_host=True).bound
    assert carried(slot(generation=4, lanes=16, bifurcation=4), to_host=True).bound == pytest.approx(4 * one)
    with pytest.raises(SpecError, match="4 lanes cannot be split into 6 links"):
        slot(generation=4, lanes=4, bifurcation=6)
    # a card in it has one of the links
    assert carried(slot(generation=4, lanes=16, bifurcation=4), to_host=True, card_lanes=16).bound == pytest.approx(one)
