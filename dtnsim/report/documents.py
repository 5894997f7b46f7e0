"""JSON Schemas of the documents that ``--json`` prints."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from dtnsim.description.schema import DRAFT, schema_id


@lru_cache(maxsize=1)
def _all() -> dict[str, dict[str, Any]]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    text = Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
    return dict(yaml.load(text, Loader=loader))  # noqa: S506 - a safe loader


def names() -> list[str]:
    """Names of the documents: ``prediction`` for ``dtnsim.prediction/1``."""
    return sorted(_all())


def json_schema(name: str) -> dict[str, Any]:
    """JSON Schema of a document.

    Args:
        name: One of `names`.
    """
    head = {"$schema": DRAFT, "$id": schema_id(f"output/{name}"), "title": f"dtnsim {name}"}
    return {**head, "description": "What --json prints; SI units in the names of keys.", **_all()[name]}
