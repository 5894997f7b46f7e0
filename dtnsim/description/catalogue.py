"""The library as records: kinds with their parameters, parts with their numbers, JSON Schemas."""

from __future__ import annotations

from typing import Any

from dtnsim.components.base import Component, Model, find_kind, kinds
from dtnsim.ground import library
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Quantity

SCHEMA = "dtnsim.components/1"
#: where the documentation publishes the schemas of files
PUBLISHED = "https://dtnsim.github.io/dtnsim/schema"


def schema_id(what: str) -> str:
    """Where the schema of ``path``, ``host`` or a kind is published, and what it is known by."""
    return f"{PUBLISHED}/{what}.schema.json"


def overview() -> dict[str, Any]:
    """All kinds by family, with the parts that are shipped for each."""
    parts: dict[str, list[str]] = {}
    for name in library.names("parts"):
        parts.setdefault(name.partition("/")[0], []).append(name.partition("/")[2])
    found = []
    for kind in sorted(kinds()):
        component = find_kind(kind)
        summary = (component.__doc__ or "").strip().splitlines()[0]
        found.append({"kind": kind, "family": component.family, "summary": summary, "parts": parts.get(kind, [])})
    return {"schema": SCHEMA, "kinds": found}


def parameters(kind: str) -> list[dict[str, Any]]:
    """The parameters of a kind: name, unit, default with spread and source."""
    rows, words = [], described(find_kind(kind))
    for name, field in find_kind(kind).model_fields.items():
        if name in Component.model_fields:
            continue
        unit = next((m.dim for m in field.metadata if hasattr(m, "dim")), "")
        default = field.default
        known = isinstance(default, Quantity)
        rows.append(
            {
                "parameter": field.alias or name,
                "unit": unit,
                "default": None if field.is_required() else str(default),
                "spread": default.spread if known else None,
                "source": default.source if known else (field.description or words.get(field.alias or name, "")),
            }
        )
    return rows


def part(name: str) -> dict[str, Any]:
    """A part with every number, its spread and its source."""
    built = Component.build(name)
    rows = []
    for key in type(built).model_fields:
        value = getattr(built, key)
        if isinstance(value, Quantity):
            rows.append(
                {
                    "parameter": key,
                    "text": str(value),
                    "value": value.value,
                    "unit": value.dim,
                    "spread": value.spread,
                    "source": value.source,
                }
            )
        elif key not in Component.model_fields and value is not None:
            rows.append({"parameter": key, "text": str(value), "value": None, "unit": "", "spread": None, "source": ""})
    return {"schema": SCHEMA, "part": name, "kind": built.kind, "source": built.source, "parameters": rows}


def json_schema(what: str) -> dict[str, Any]:
    """JSON Schema of ``path``, ``host`` or a kind.

    Raises:
        SpecError: no such thing.
    """
    from dtnsim.description.host import Host
    from dtnsim.description.spec import PathSpec

    models: dict[str, type[Model]] = {"path": PathSpec, "host": Host}
    if what not in models and what not in kinds():
        raise SpecError("has no schema", value=what, remedy=f"write path, host or one of: {', '.join(sorted(kinds()))}")
    model = models.get(what) or find_kind(what)
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **model.model_json_schema(by_alias=True)}
    _describe(schema, model)
    if what == "path":
        _path_as_written(schema)
    elif what == "host":
        _host_as_written(schema)
    else:
        _part_as_written(schema, what)
    return schema


def _describe(schema: dict[str, Any], model: type[Model]) -> None:
    """Adds what the docstrings say of each key, so that editors show it."""
    models, todo = {model.__name__: model}, [Model]
    while todo:
        known = todo.pop().__subclasses__()
        todo += known
        models |= {m.__name__: m for m in known}
    for name, part in ((model.__name__, schema), *schema.get("$defs", {}).items()):
        for key, words in described(models.get(name, Model)).items():
            shown = part.get("properties", {}).get(key)
            if shown is not None:
                shown.setdefault("description", words)


def described(model: type[Model]) -> dict[str, str]:
    """Key -> what the ``Attributes`` of the docstring say of it."""
    _, found, text = (model.__doc__ or "").partition("Attributes:\n")
    words: dict[str, str] = {}
    for line in text.split("\n\n")[0].splitlines() if found else ():
        name, colon, rest = line.strip().partition(": ")
        if colon and name.isidentifier():
            field = model.model_fields.get(name)
            words[(field.alias if field is not None else None) or name] = rest
        elif words and line.strip():
            words[list(words)[-1]] += f" {line.strip()}"
    return words


def _part_as_written(schema: dict[str, Any], kind: str) -> None:
    """A part says its kind; one that names another part needs nothing else."""
    schema["properties"] = {"kind": {"const": kind}, **schema["properties"]}
    _required(schema, "part")


def _host_as_written(schema: dict[str, Any]) -> None:
    """A host may be ``like`` another, and ``nic`` is short for one of ``nics``."""
    schema["properties"]["nic"] = schema["properties"]["nics"]["additionalProperties"]
    _required(schema, "like")


def _required(schema: dict[str, Any], instead: str) -> None:
    """What is required is so only where ``instead`` does not name where it comes from."""
    required = schema.pop("required", None)
    if required:
        schema["anyOf"] = [{"required": required}, {"required": [instead]}]


def _path_as_written(schema: dict[str, Any]) -> None:
    """A path file may name hosts, have one ``wan`` or several, and one ``transfer`` or several."""
    properties = schema["properties"]
    for key in ("file", "host_files"):
        properties.pop(key)
    _host_as_written(schema["$defs"]["Host"])
    host, transfer = properties["hosts"]["additionalProperties"], properties["transfers"]["items"]
    properties["hosts"]["additionalProperties"] = {"anyOf": [{"type": "string"}, host]}
    segment = properties["wan"]["items"]
    properties["wan"] = {"anyOf": [segment, properties["wan"]]}
    properties["transfer"] = transfer
    properties["transfers"] = {"anyOf": [properties["transfers"], {"type": "object", "additionalProperties": transfer}]}
    schema["required"] = ["name", "hosts"]
    schema["anyOf"] = [{"required": [key]} for key in ("transfer", "transfers", "programs")]
    schema["not"] = {"required": ["transfer", "transfers"]}
