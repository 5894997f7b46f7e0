"""The library as records: every kind, every part, and JSON Schemas that what is shipped keeps."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import jsonschema
import pytest
import yaml

from dtnsim.components.base import find_kind, kinds
from dtnsim.description import catalogue
from dtnsim.ground import library
from dtnsim.ground.errors import SpecError
from dtnsim.ground.units import EXAMPLES

Validator = jsonschema.Draft202012Validator


def shipped(folder: str, name: str) -> Any:
    return yaml.safe_load((library.root("models") / folder / f"{name}.yaml").read_text())


@cache
def validator(what: str) -> Any:
    return Validator(catalogue.json_schema(what))


def findings(what: str, document: Any) -> list[str]:
    return [e.message for e in validator(what).iter_errors(document)]


# -- what there is ----------------------------------------------------------------------------------


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
    required = {r["parameter"] for r in rows if r["default"] is None}
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


# -- schemas ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["path", "host", *sorted(kinds())])
def test_schemas_are_schemas(what: str) -> None:
    schema = catalogue.json_schema(what)
    Validator.check_schema(schema)
    assert schema["$schema"].endswith("2020-12/schema")
    json.dumps(schema, allow_nan=False)


@pytest.mark.parametrize(("folder", "what"), [("paths", "path"), ("hosts", "host")])
def test_shipped_paths_and_hosts_keep_the_schema(folder: str, what: str) -> None:
    assert {n: found for n in library.names(folder) if (found := findings(what, shipped(folder, n)))} == {}


def test_shipped_parts_keep_the_schema_of_their_kind() -> None:
    found = {n: findings(n.partition("/")[0], shipped("parts", n)) for n in library.names("parts")}
    assert {n: f for n, f in found.items() if f} == {}


GOOD: dict[str, Any] = {
    "name": "t",
    "hosts": {"a": "venadi", "b": {"like": "venadi"}},
    "wan": {"rtt": "1 ms", "bandwidth": "1 Gb/s"},
    "transfer": {"from": "a:memory", "to": "b:memory", "tool": "iperf3"},
}


def test_short_forms_are_in_the_schema() -> None:
    host = {"cpu": "x", "memory": "y", "nic": "z"}
    assert findings("path", GOOD) == []
    assert findings("path", {**GOOD, "hosts": {"a": host}, "wan": [GOOD["wan"], "ucinet"]}) == []
    many = {k: v for k, v in GOOD.items() if k != "transfer"}
    assert findings("path", {**many, "transfers": {"x": GOOD["transfer"]}}) == []
    assert findings("path", {**many, "transfers": [GOOD["transfer"]]}) == []
    assert findings("ssd", {"kind": "ssd", "part": "intel-s4500"}) == []


@pytest.mark.parametrize(
    ("what", "document"),
    [
        ("path", {k: v for k, v in GOOD.items() if k != "hosts"}),
        ("path", {k: v for k, v in GOOD.items() if k != "transfer"}),
        ("path", {**GOOD, "transfers": [GOOD["transfer"]]}),
        ("path", {**GOOD, "transfre": 1}),
        ("path", {**GOOD, "transfer": {**GOOD["transfer"], "too": "b"}}),
        ("path", {**GOOD, "hosts": {"a": {"cpu": "x", "memory": "y", "nics": 3}}}),
        ("path", {**GOOD, "hosts": {"a": {"cpu": "x", "memory": "y", "nicks": {}}}}),
        ("path", {**GOOD, "file": "x"}),
        ("host", {"cpu": "x"}),
        ("ssd", {"kind": "ssd", "read": "1 GB/s"}),
        ("ssd", {"kind": "hdd", "read": "1 GB/s", "write": "1 GB/s"}),
        ("ssd", {"read": "1 GB/s", "write": "1 GB/s", "wirte": "1"}),
        ("ssd", {"read": {"value": "1 GB/s", "unit": "x"}, "write": "1 GB/s"}),
        ("raid", {"level": 7, "disks": 4, "of": "x"}),
    ],
)
def test_schemas_refuse_what_the_reader_refuses(what: str, document: Any) -> None:
    assert findings(what, document)


def test_units_are_in_the_schema() -> None:
    rate = catalogue.json_schema("hdd")["properties"]["rate"]
    assert rate["x-unit"] == "B/s"
    assert "10 Gb/s" in rate["anyOf"][0]["examples"]


def test_no_schema_of_what_is_not_there() -> None:
    with pytest.raises(SpecError, match="write path, host or one of"):
        catalogue.json_schema("paht")


@pytest.mark.parametrize("what", ["path", "host", "segment"])
def test_every_key_of_a_schema_is_described(what):
    schema = catalogue.json_schema(what)
    wanted = ("Host", "TransferSpec", "Volume")
    models = {name: part for name, part in schema.get("$defs", {}).items() if name in wanted}
    for name, part in {what: schema, **models}.items():
        bare = [k for k, v in part["properties"].items() if "description" not in v and "$ref" not in v]
        assert not set(bare) - {"kind", "part", "price", "nic", "transfer", "wan", "transfers", "source"}, name


def test_a_docstring_gives_the_words():
    words = catalogue.described(find_kind("segment"))
    assert words["rtt"] == "Round-trip time that it adds."
    assert words["buffer"].endswith("where not given.")
