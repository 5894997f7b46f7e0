"""Host bus adapters: lanes, the chip's bytes, the chip's requests."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.components.base import Component
from dtnsim.components.hba import Hba
from tests.lab import KiB, MiB, Sheet, access, charged


def carried(use: dict[str, object] | None = None, **parameters: object) -> Sheet:
    card = Hba.build({"kind": "hba", **parameters})
    return charged(lambda row: card.carry(row, access(**(use or {})), "sas"))  # type: ignore[arg-type]  # by name


WIDE = [(4, "600 MB/s", 2.4e9), (8, "600 MB/s", 4.8e9), (16, "1200 MB/s", 19.2e9)]


@pytest.mark.parametrize(("lanes", "lane", "rate"), WIDE)
def test_lanes_add(lanes: int, lane: str, rate: float) -> None:
    """Oracle 6-Gb SAS HBA guide p. 70: a wide port of four lanes at 6 Gb/s carries 2400 MB/s."""
    assert carried(lanes=lanes, lane=lane).rate("sas.lanes") == pytest.approx(rate)


def test_large_requests_meet_the_engine_and_small_ones_the_request_rate() -> None:
    """R = min(R_core, s X): the knee at s = R / X = 2.5 GB/s / 350k = 7.1 KB."""
    chip = {"engine": "2.5 GB/s", "iops": "350k IOPS", "lanes": 16}
    small = carried({"random": True, "block_B": 4 * KiB}, **chip)
    large = carried({"random": True, "block_B": 64 * KiB}, **chip)
    assert small.bound == pytest.approx(350e3 * 4 * KiB)
    assert large.bound == pytest.approx(2.5e9)


def test_two_sas2008_chips_of_a_review() -> None:
    """ServeTheHome, LSI 9202-16: one SAS2008 does 350k requests a second and about 2.5 GB/s, two 726k and above 5."""
    card = Component.build("sas2008")
    assert isinstance(card, Hba)
    found = charged(lambda row: card.carry(row, access(random=True, block_B=512.0), "sas"))
    assert found.rate("sas.engine") / 512 == pytest.approx(726e3 / 2, rel=0.05)
    large = charged(lambda row: card.carry(row, access(random=True, block_B=MiB), "sas"))
    assert large.rate("sas.engine") == pytest.approx(2.5e9, rel=0.05)


def test_sequential_calls_are_merged_to_large_requests() -> None:
    """512-B calls of a sequential stream reach the card as requests of 128 KiB (block layer merging)."""
    found = carried({"block_B": 512.0}, request="128 KiB", iops="10k IOPS")
    assert found.rate("sas.engine") == pytest.approx(10e3 * 128 * KiB)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 64), st.floats(0.5, 64), st.booleans())
def test_more_of_anything_never_hurts(lanes: int, size: float, random: bool) -> None:
    use = {"random": random, "block_B": size * KiB}
    base = carried(use, lanes=lanes, engine="3 GB/s", iops="200k IOPS").bound
    for better in ({"engine": "6 GB/s"}, {"iops": "400k IOPS"}, {"lane": "2 GB/s"}):
        assert carried(use, **{"lanes": lanes, "engine": "3 GB/s", "iops": "200k IOPS", **better}).bound >= base


def test_parity_made_above_is_carried_too() -> None:
    card = Hba.build({"kind": "hba"})
    found = charged(lambda row: card.carry(row, access("write", block_B=MiB), "sas"), factor=8 / 7)
    assert found.demand("sas.lanes") == pytest.approx(8 / 7)
    assert found.demand("sas.engine") == pytest.approx(8 / 7)


@pytest.mark.parametrize(("buffered", "rate"), [(False, 4 * 600e6), (True, 4 * 1200e6)])
def test_a_jbod_hangs_on_its_uplink(buffered: bool, rate: float) -> None:
    """Four 12-Gb/s lanes to an expander with 6-Gb/s drives: half of them is used unless the expander buffers."""
    found = carried(lanes=8, uplink_lanes=4, buffered=buffered, engine="20 GB/s")
    assert found.rate("sas.uplink") == pytest.approx(rate)
    assert not carried(lanes=8).has("sas.uplink")
