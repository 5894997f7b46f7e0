"""What `--json` prints keeps the JSON Schemas that `dtnsim schema` publishes."""

import json
from functools import cache
from typing import Any

import jsonschema
import pytest
import yaml

from dtnsim.description import schema
from dtnsim.ground import library
from dtnsim.report import schemas as documents
from tests.conftest import Run
from tests.each import rows

Validator = jsonschema.Draft202012Validator
PATH = "venadi/gridftp-gpfs"

COMMANDS = rows("cli/tables", "documents")["COMMANDS"]


@pytest.mark.parametrize("name", documents.names())
def test_schemas_are_schemas_with_words_for_every_key(name: str) -> None:
    made = documents.json_schema(name)
    Validator.check_schema(made)
    todo = [made]
    while todo:
        node = todo.pop()
        for key, value in node.get("properties", {}).items():
            assert value["description"], key
            todo.append(value)
        todo += [n for n in (node.get("items"), node.get("additionalProperties")) if isinstance(n, dict)]


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_documents_keep_their_schema(name: str, run: Run) -> None:
    """That of a fleet, which takes longer, is held to it in test_fleet.py."""
    keeps(name, json.loads(run(*COMMANDS[name], "--json").out))


def keeps(name: str, document: dict[str, Any]) -> None:
    made = documents.json_schema(name)
    assert document["schema"] == made["properties"]["schema"]["const"]
    errors = [e.message for e in Validator(made if name == "components" else closed(made)).iter_errors(document)]
    assert errors == [], "a key that the schema does not describe goes into documents.yaml"


def closed(node: Any) -> Any:
    """A schema that allows no keys but those that it describes."""
    alone = {"additionalProperties": False} if isinstance(node, dict) and "properties" in node else {}
    return alone | {k: closed(v) for k, v in node.items()} if isinstance(node, dict) else node


def test_a_document_that_breaks_its_schema_is_found(run: Run) -> None:
    document: dict[str, Any] = json.loads(run("predict", PATH, "--samples", "0", "--json").out)
    made = Validator(documents.json_schema("prediction"))
    assert made.is_valid(document)
    assert not made.is_valid({**document, "throughput_Bps": "fast"})
    assert not made.is_valid({k: v for k, v in document.items() if k != "bottleneck"})


def test_the_command_publishes_them(run: Run) -> None:
    for name in ("prediction", "tcp"):
        assert json.loads(run("schema", name).out) == documents.json_schema(name)


made = cache(schema.json_schema)


def printed(run: Run, *what: str) -> Any:
    code, out, err = run("schema", *what)
    assert (code, err) == (0, "")
    return json.loads(out)


@pytest.mark.parametrize("what", [(), ("host",), ("ssd",), ("gridftp",), ("segment",), ("path", "--json")])
def test_it_prints_a_json_schema(run: Run, what: tuple[str, ...]) -> None:
    """That of paths without a word; `tests/description/test_schema.py` says that all are schemas."""
    assert printed(run, *what) == made(what[0] if what else "path")


def test_an_editor_finds_what_is_wrong(run: Run) -> None:
    """The shipped path is valid; with a key mistyped it is not."""
    file = library.find("paths", "venadi/gridftp-gpfs")
    good = yaml.safe_load(file.read_text())
    validator = jsonschema.Draft202012Validator(printed(run))
    assert validator.is_valid(good)
    assert not validator.is_valid({**good, "transfer": {**good["transfer"], "form": "x"}})
