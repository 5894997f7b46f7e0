"""The library as records: every kind, every part, with every number."""

from __future__ import annotations

import json

import pytest

from dtnsim.components.base import find_kind, kinds
from dtnsim.description import catalogue
from dtnsim.ground import library
from dtnsim.ground.errors import SpecError
from dtnsim.ground.units import EXAMPLES


def test_every_kind_is_listed_with_its_parts() -> None:
    listed = catalogue.overview()["kinds"]
    assert [k["kind"] for k in listed] == sorted(kinds())
    assert all(k["summary"] and k["family"] for k in listed)
    parts = {f"{k['kind']}/{p}" for k in listed for p in k["parts"]}
    assert parts == set(library.names("parts"))


@pytest.mark.parametrize("kind", sorted(kinds()))
def test_parameters_say_unit_default_spread_and_source(kind: str) -> None:
    rows = catalogue.parameters(kind)
    fields = find_kind(kind).model_fields
    assert len({r["parameter"] for r in rows}) == len(rows)
    for row in rows:
        assert row["unit"] == "" or row["unit"] in EXAMPLES
        if row["spread"] is not None:
            assert row["source"], row
    required = {r["parameter"] for r in rows if not r["optional"]}
    assert required == {f.alias or n for n, f in fields.items() if f.is_required()}


def test_parameters_of_a_disk() -> None:
    rows = {r["parameter"]: r for r in catalogue.parameters("hdd")}
    assert rows["rate"]["unit"] == "B/s"
    assert rows["rate"]["default"] is None
    assert rows["seek"]["default"] == "7.4 ms"
    assert "HC310" in rows["seek"]["source"]


def test_a_part_shows_its_numbers_and_the_defaults_it_leaves_alone() -> None:
    document = catalogue.part("samsung-970-evo")
    rows = {r["parameter"]: r for r in document["parameters"]}
    assert document["kind"] == "ssd"
    assert rows["burst"]["value"] == 22e9
    assert rows["burst"]["spread"] == 0.2
    assert "techpowerup" in rows["read"]["source"]
    json.dumps(document, allow_nan=False)


def test_a_part_that_is_not_there() -> None:
    with pytest.raises(SpecError, match="no part"):
        catalogue.part("no-such-part")
