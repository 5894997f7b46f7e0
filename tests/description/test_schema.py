"""JSON Schemas: what is shipped keeps them, what the reader refuses they refuse, every key has words and an example.

Of schema and schema_nodes.
"""

import copy
import json
import re
from functools import cache
from typing import Any

import jsonschema
import pytest
import yaml

from dtnsim.components.base import Model, find_kind, kinds
from dtnsim.description import listing, schema, schema_nodes, spec
from dtnsim.ground import library, yamlio
from dtnsim.ground.errors import InputError, SpecError
from tests.each import rows, tables

Validator = jsonschema.Draft202012Validator


def shipped(folder: str, name: str) -> Any:
    return yamlio.plain(library.root("models") / folder / f"{name}.yaml")


@cache
def validator(what: str) -> Any:
    return Validator(made_of(what))


@cache
def made_of(what: str) -> dict[str, Any]:
    return schema.json_schema(what)


def findings(what: str, document: Any) -> list[str]:
    return [e.message for e in validator(what).iter_errors(document)]


def test_schemas_are_schemas() -> None:
    """That of paths has most kinds among its definitions; the others are put beside them and checked with it."""
    whole = copy.deepcopy(made_of("path"))
    there = [d.get("properties") for d in whole["$defs"].values()]
    for what in ["host", "dataset", *sorted(kinds())]:
        made = made_of(what)
        assert made["$schema"].endswith("2020-12/schema"), what
        if made["properties"] not in there:
            whole["$defs"][f"other {what}"] = {key: made[key] for key in made if key not in ("$schema", "$id", "$defs")}
        for name, definition in made.get("$defs", {}).items():
            if definition != whole["$defs"].setdefault(name, definition):
                whole["$defs"][f"{name} of {what}"] = definition
    Validator.check_schema(whole)
    json.dumps(whole, allow_nan=False)


@pytest.mark.parametrize(
    ("folder", "what"), [("paths", "path"), ("starters", "path"), ("hosts", "host"), ("datasets", "dataset")]
)
def test_shipped_paths_and_hosts_keep_the_schema(folder: str, what: str) -> None:
    assert {n: found for n in library.names(folder) if (found := findings(what, shipped(folder, n)))} == {}


def test_shipped_parts_keep_the_schema_of_their_kind() -> None:
    found = {n: findings(n.partition("/")[0], shipped("parts", n)) for n in library.names("parts")}
    assert {n: f for n, f in found.items() if f} == {}


GOOD = rows("description/tables", "schema")["GOOD"]


def test_short_forms_are_in_the_schema() -> None:
    host = {"cpu": "intel-e5-2670", "memory": "./my-memory", "nic": "my-nic.yaml"}
    assert findings("path", GOOD) == []
    assert findings("path", {**GOOD, "hosts": {"a": host}, "wan": [GOOD["wan"], "ucinet"]}) == []
    many = {k: v for k, v in GOOD.items() if k != "transfer"}
    assert findings("path", {**many, "transfers": {"x": GOOD["transfer"]}}) == []
    assert findings("path", {**many, "transfers": [GOOD["transfer"]]}) == []
    assert findings("ssd", {"kind": "ssd", "part": "intel-s4500"}) == []


@pytest.mark.parametrize(("what", "document"), rows("description/refused", "documents"))
def test_schemas_refuse_what_the_reader_refuses(what: str, document: Any) -> None:
    assert findings(what, document)


def test_units_are_in_the_schema() -> None:
    made = schema.json_schema("hdd")
    rate = made["properties"]["rate"]
    assert rate["x-unit"] == "B/s"
    assert "10 Gb/s" in rate["examples"]
    assert rate["$ref"] == "#/$defs/unit.B-per-s"


def test_no_schema_of_what_is_not_there() -> None:
    with pytest.raises(SpecError, match="write path, host, dataset or one of"):
        schema.json_schema("paht")


def of(document: Any, **changes: Any) -> Any:
    """A good document with some keys changed."""
    made = copy.deepcopy(document)
    for steps, value in changes.items():
        where = made
        *way, last = steps.split("__")
        for step in way:
            where = where[step]
        where[last] = value
    return made


FULL: dict[str, Any] = yamlio.plain(library.find("starters", "nas-to-hpc"))

#: the classes of mistakes that people make
MISTAKES: dict[str, dict[str, Any]] = tables("description/tables")["mistakes"]


@pytest.mark.parametrize("mistake", sorted(MISTAKES))
def test_editors_underline_what_the_reader_refuses(mistake: str) -> None:
    """Each class of mistakes is refused by the schema, and by the reader."""
    wrong = of(FULL, **MISTAKES[mistake])
    assert findings("path", FULL) == []
    assert findings("path", wrong)
    with pytest.raises(InputError):
        spec.resolve(yamlio.loads(yaml.safe_dump(wrong), "wrong.yaml"))


@pytest.mark.parametrize("changes", [row[0] for row in rows("description/spoken", "accepted by schema and reader")])
def test_what_people_may_write_is_accepted(changes: dict[str, Any]) -> None:
    assert findings("path", of(FULL, **changes)) == []


def nodes(made: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Every property of a schema, by definition and key."""
    parts = {"": made, **made["$defs"]}
    return {f"{name}.{key}": node for name, part in parts.items() for key, node in part.get("properties", {}).items()}


def test_every_property_has_words_and_an_example() -> None:
    """Also options of tools."""
    families = re.compile(r"^(family|unit)\.")
    found = {n: node for n, node in nodes(made_of("path")).items() if not families.match(n)}
    assert len(found) > 900
    unsaid = [n for n, node in found.items() if not node.get("description")]
    assert not unsaid, (
        f"say what they mean, under Attributes of the class or in dtnsim/description/words.yaml: {unsaid}"
    )
    bare = [n for n, node in found.items() if not node.get("examples")]
    assert not bare, f"no example in the schema (dtnsim/description/schema_nodes.py makes them): {bare}"


@pytest.mark.parametrize("what", ["path", "host", "dataset", "segment"])
def test_examples_are_what_they_are_examples_of(what: str) -> None:
    made = made_of(what)
    wrong = []
    for name, node in nodes(made).items():
        whole = {"$schema": made["$schema"], **node, "$defs": made["$defs"]}
        wrong += [(name, e) for e in node.get("examples", ()) if not Validator(whole).is_valid(e)]
    assert wrong == []


def test_a_schema_has_an_id_definitions_and_discriminators() -> None:
    made = made_of("path")
    assert made["$id"] == schema.schema_id("path")
    device = made["$defs"]["family.device"]["else"]["discriminator"]
    assert device["propertyName"] == "kind"
    assert set(device["mapping"]) == {k for k in kinds() if find_kind(k).family == "device"}
    assert made["$defs"]["family.tool"]["else"]["discriminator"]["propertyName"] == "name"


def test_shipped_files_name_their_schema() -> None:
    for folder, what in (("paths", "path"), ("starters", "path"), ("hosts", "host"), ("datasets", "dataset")):
        for name in library.names(folder):
            first = library.find(folder, name).read_text().splitlines()[0]
            assert first == f"# yaml-language-server: $schema={schema.schema_id(what)}", name


def test_words_are_of_keys_that_exist() -> None:
    """What words.yaml says of a class is of a key of it, or of a class made from it."""
    for kind in kinds():
        find_kind(kind)
    every: dict[str, set[str]] = {}
    todo: list[type[Model]] = [Model]
    while todo:
        model = todo.pop()
        todo += model.__subclasses__()
        for base in model.__mro__:
            every.setdefault(base.__name__, set()).update(getattr(model, "model_fields", ()))
    for name, said in schema_nodes._written().items():
        if name not in ("examples", "listed"):  # which are of keys of any class, and of a path file
            assert set(said) <= every[name], name


@pytest.mark.parametrize("key", [key for key in schema_nodes.listed() if ".dataset." not in key])
def test_what_is_listed_of_a_key_can_be_written(key: str, tmp_path) -> None:
    (tmp_path / "path.yaml").write_text(listing.starter("nas-to-hpc"))
    name = key.replace("NAME", "nas").replace("MOUNT", "/data")
    assert spec.load(tmp_path / "path.yaml", [f"{name}={schema_nodes.listed()[key]}"]).hosts


def test_a_docstring_gives_the_words() -> None:
    said = schema_nodes.words(find_kind("segment"))
    assert said["medium"].startswith("What kind of network it is, which")
    assert said["buffer"].endswith("where not given.")
