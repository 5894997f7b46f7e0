"""The library as records: kinds with their parameters, parts with their numbers."""

from __future__ import annotations

from typing import Any

from dtnsim.components.base import Component, Measured, find_kind, kinds
from dtnsim.description.words import words
from dtnsim.ground import library
from dtnsim.ground.quantity import Quantity

SCHEMA = "dtnsim.components/1"


def overview() -> dict[str, Any]:
    """All kinds by family, with the parts that are shipped for each."""
    parts: dict[str, list[str]] = {}
    for name in dict.fromkeys([*library.own_names("parts"), *library.names("parts")]):
        parts.setdefault(name.partition("/")[0], []).append(name.partition("/")[2])
    found = []
    for kind in sorted(kinds()):
        component = find_kind(kind)
        summary = (component.__doc__ or "").strip().splitlines()[0]
        found.append({"kind": kind, "family": component.family, "summary": summary, "parts": parts.get(kind, [])})
    return {"schema": SCHEMA, "kinds": found}


def parameters(kind: str) -> list[dict[str, Any]]:
    """The parameters of a kind: name, unit, default with spread and source."""
    rows, said = [], words(find_kind(kind))
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
                "source": default.source if known else (field.description or said.get(field.alias or name, "")),
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
    rows += _facts(built)
    return {"schema": SCHEMA, "part": name, "kind": built.kind, "source": built.source, "parameters": rows}


def _facts(built: Component) -> list[dict[str, Any]]:
    """What is printed of a part beside its parameters."""
    rows = []
    for key, value in built.facts or ():
        if isinstance(value, Measured):
            text = f"bs {value.bs}, iodepth {value.iodepth}, numjobs {value.numjobs}"
        elif value is None:
            continue
        else:
            text = str(value)
        number = value if isinstance(value, Quantity) else None
        rows.append(
            {
                "parameter": f"facts.{key}",
                "text": text,
                "value": number.value if number else None,
                "unit": number.dim if number else "",
                "spread": number.spread if number else None,
                "source": number.source if number else built.source,
            }
        )
    return rows
