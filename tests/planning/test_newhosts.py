"""Whole machines in the place of yours: `actions.machine`."""

from __future__ import annotations

from pathlib import Path

import pytest

import dtnsim

SHOP = """
date: 2026-05-01
items:
  example-campus-25g: {price: 5000 EUR, watts: 400 W}
  example-dtn-400g: {price: 30000 EUR, watts: 900 W}
"""


@pytest.fixture
def shop(tmp_path: Path) -> str:
    """Two machines."""
    file = tmp_path / "shop.yaml"
    file.write_text(SHOP)
    return str(file)


def test_a_machine_takes_the_place_of_another_with_the_data_on_its_volume(shop: str) -> None:
    made = dtnsim.plan("examples/dtn-100g-to-buy", target="80Gb/s", mine=["ours"], allow=["hosts"], catalog=shop,
                       confidence=0.5, samples=32)  # fmt: skip
    assert made.chosen is not None
    assert made.chosen.name == "example-dtn-400g in its place, the data on its /buffer"
    assert made.chosen.price.amount == 30000
    assert "transfer.to=ours:/buffer" in made.chosen.overrides
    same = dtnsim.predict("examples/dtn-100g-to-buy", overrides=made.chosen.overrides, samples=32)
    assert same.throughput_Bps == made.chosen.prediction.throughput_Bps
    for bound in ({"budget": "20kEUR"}, {"max_watts": 500.0}):
        less = dtnsim.plan("examples/dtn-100g-to-buy", target="80Gb/s", mine=["ours"], allow=["hosts"], catalog=shop,
                           confidence=0.5, samples=32, **bound)  # fmt: skip
        assert less.chosen is None
        assert not any("400g" in s.name for s in less.purchases)


def test_a_host_that_mounts_from_elsewhere_keeps_its_place(shop: str) -> None:
    made = dtnsim.plan(
        "venadi/gridftp-gpfs", target="20Gb/s", mine=["nersc"], allow=["hosts"], catalog=shop, samples=16
    )
    assert any("nersc: mounts /project from elsewhere" in s for s in made.sentences)
    assert len(made.purchases) == 1


@pytest.mark.long
def test_a_second_machine_like_yours_shares_the_work(tmp_path: Path) -> None:
    shop = tmp_path / "shop.yaml"
    shop.write_text("items: {example-dtn-starter: {price: 5000 EUR, date: 2026-05-01}}\n")
    made = dtnsim.plan("examples/dtn-100g-to-buy", target="40Gb/s", mine=["ours"], allow=["hosts"], catalog=str(shop),
                       confidence=0.5, samples=32)  # fmt: skip
    assert made.chosen is not None
    assert made.chosen.price.amount == 5000
    assert "hosts.ours-2={like: ours}" in made.chosen.overrides
    assert made.chosen.rate == pytest.approx(2 * made.now.rate, rel=0.01)
