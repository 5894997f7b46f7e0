"""JSON Schemas of the documents that ``--json`` prints, from the lines of ``documents.yaml``."""

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from dtnsim.ground import yamlio

#: endings of keys that are units
_UNITS: Final = {"Bps": "B/s", "bps": "b/s", "s": "s", "B": "B", "bytes": "B"}
_HOLDS: Final = {"[]": ("array", "items"), "{}": ("object", "additionalProperties")}

Schema = dict[str, Any]


def names() -> list[str]:
    """Names of the documents: ``prediction`` for ``dtnsim.prediction/1``."""
    return sorted(_lines()["documents"])


def json_schema(name: str) -> Schema:
    """JSON Schema of a document, of one of `names`."""
    from dtnsim.description.schema import DRAFT, schema_id

    head = {"$schema": DRAFT, "$id": schema_id(f"output/{name}"), "title": f"dtnsim {name}"}
    return {**head, "description": "What --json prints; SI units in the names of keys.", **_document(name)}


@lru_cache(maxsize=1)
def _lines() -> Mapping[str, Mapping[str, Any]]:
    return dict(yamlio.plain(Path(__file__).with_name("documents.yaml")))


def _document(name: str) -> Schema:
    schema = _object(_lines()["documents"][name])
    version = {"description": _lines()["words"]["schema"], "const": f"dtnsim.{name}/1"}
    required, properties = ["schema", *schema.get("required", ())], {"schema": version, **schema["properties"]}
    return {"type": "object", "required": required, "properties": properties}


def _object(keys: Mapping[str, Any]) -> Schema:
    required = [key.rstrip("!") for key in keys if key.endswith("!")]
    properties = {key.rstrip("!"): _property(key.rstrip("!"), line) for key, line in keys.items()}
    return {"type": "object", **({"required": required} if required else {}), "properties": properties}


def _property(key: str, line: str | Mapping[str, Any]) -> Schema:
    """The schema of a key: a line, or the keys of an object with a line behind ``is``."""
    keys = dict(line) if isinstance(line, Mapping) else {}
    kind, _, words = (keys.pop("is", "object") if keys else str(line)).partition(" ")
    return {"description": words or _lines()["words"].get(key) or _words(key), **_typed(kind, keys)}


def _typed(kind: str, keys: Mapping[str, Any]) -> Schema:
    """The schema of a type, what holds others from the outside to the inside."""
    holds = re.match(r"(.*?)(\[\]|\{\})(\??)$", kind)
    if holds is not None:
        outer, inner = _HOLDS[holds[2]]
        return {"type": _or_null(outer, holds[3]), inner: _typed(holds[1], keys)}
    base, null = kind.rstrip("?"), "?" * kind.endswith("?")
    if base in _lines()["records"] or keys:
        schema = _object({**_lines()["records"].get(base, {}), **keys})
    elif base in _lines()["documents"]:
        schema = _document(base)
    else:
        return {"type": _or_null(*base.split("|"), null)}
    return {**schema, "type": _or_null("object", null)}


def _or_null(*types: str) -> str | list[str]:
    """One type, or several; a last one of ``?`` is null."""
    kinds = ["null" if kind == "?" else kind for kind in types if kind]
    return kinds[0] if len(kinds) == 1 else kinds


def _words(key: str) -> str:
    """What a key says of itself: ``Rate [B/s]`` of ``rate_Bps``."""
    name, _, unit = key.rpartition("_")
    measured = name and unit in _UNITS
    words = (name if measured else key).replace("_", " ")
    return words[0].upper() + words[1:] + (f" [{_UNITS[unit]}]." if measured else ".")
