"""``dtnsim schema``."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import jsonschema
import pytest
import yaml

from dtnsim.description import schema
from dtnsim.ground import library
from tests.cli.conftest import Run

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
