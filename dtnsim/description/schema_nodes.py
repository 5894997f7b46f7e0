"""The pieces of JSON Schemas: what a key means, units as patterns, types as YAML delivers them, examples.

What a key means is said by its field, by the docstring of its class, or in ``words.yaml``.
"""

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from dtnsim.components.base import Model, find_kind, kinds_of
from dtnsim.ground import library, units, yamlio

Node = dict[str, Any]


def annotations(node: Node) -> Node:
    """What a node says of itself, whatever its shape."""
    return {k: v for k, v in node.items() if k in ("description", "examples", "x-documentation-only")}


def as_yaml(node: Node) -> Node:
    """Types as a YAML reader delivers them: versions and counts may be numbers or texts, ``off`` may be false."""
    kind = node.get("type")
    if "enum" in node:
        extra: list[Any] = [v for text, v in (("on", True), ("off", False)) if text in node["enum"]]
        numbers = [str(v) for v in node["enum"] if isinstance(v, int)]
        node = {k: v for k, v in node.items() if k != "type"}
        texts = [v for v in node["enum"] if isinstance(v, str) and re.fullmatch(r"\d+(\.\d+)?", v)]
        return {**node, "enum": [*node["enum"], *extra, *numbers, *(f"raid{n}" for n in numbers), *map(float, texts)]}
    if kind == "string" and "pattern" not in node:
        node = {**node, "type": ["string", "number", "boolean"]}
    elif kind == "number":
        node = _or_as_text(node, units.NUMBER)
    elif kind == "integer":
        node = _or_as_text(node, rf"({units.NUMBER}|[0-9]{{1,3}}(,[0-9]{{3}})+)")
    return node


def _or_as_text(node: Node, pattern: str) -> Node:
    """A number within its limits, or as a text of a pattern."""
    limits = {k: v for k, v in node.items() if k.endswith("imum")}
    rest = {k: v for k, v in node.items() if k not in limits and k != "type"}
    return {**rest, "anyOf": [{"type": node["type"], **limits}, {"type": "string", "pattern": f"^{pattern}$"}]}


def shown(dim: str) -> list[Any]:
    """Examples of a unit."""
    return re.split(r" or |, ", units.EXAMPLES[dim])


def unit(dim: str, *, plain: bool = False) -> Node:
    """A number with its unit, or such a number written out with spread and source."""
    unit_names = sorted(u for u, (d, _) in units.UNITS.items() if d == dim and u)
    if dim == "B":
        unit_names = [u for u in unit_names if not u.endswith(("b", "bit", "bits"))]
    elif dim == "B/s":
        unit_names += units.BIT_RATES
    listed = "|".join(_spaced(u) for u in unit_names)
    pattern = rf"^\s*({units.NUMBER}\s*({listed}){'?' if dim == '1' or plain else ''}|0+(\.0*)?)\s*$"
    text: Node = {"type": "string", "pattern": pattern}
    number: Node = {"type": "number"} if dim == "1" or plain else {"const": 0}
    value = {"anyOf": [text, number], "examples": shown(dim), "description": "The number with its unit."}
    spread = {"type": ["number", "string"], "description": "Relative standard deviation.", "examples": ["10 %"]}
    source = {"type": "string", "description": "Where the number comes from.", "examples": ["datasheet, p. 3"]}
    keys = {"value": value, "spread": spread, "source": source}
    as_mapping = {"type": "object", "properties": keys, "required": ["value"], "additionalProperties": False}
    return {"anyOf": [text, number, as_mapping], "examples": shown(dim)}


def _spaced(text: str) -> str:
    """A unit as a pattern: blanks may lie behind the prefix and around the stroke (11M ops/s)."""
    prefix, rest = re.fullmatch(r"([kKMGTP]i?(?=[A-Za-z/]))?(.*)", text).groups()  # type: ignore[union-attr]
    behind = rf"{prefix}\s*" if prefix else ""
    return behind + re.escape(rest).replace("/", r"\s*/\s*")


def sample(key: str, node: Node, defs: dict[str, Node]) -> Any:
    """A value that the key of a node may have, which may refer to definitions."""
    if "x-family" in node:
        return _member(node["x-family"])
    if "x-unit" in node:
        return shown(node["x-unit"])[0]
    for keyword in ("default", "const"):
        if keyword in node:
            return node[keyword]
    if "examples" in node:
        return node["examples"][0]
    if "$ref" in node:
        return sample(key, defs[node["$ref"].rpartition("/")[2]], defs)
    if "enum" in node:
        return node["enum"][0]
    if "prefixItems" in node:
        return [sample(key, item, defs) for item in node["prefixItems"]]
    if "items" in node:
        return [sample(key, node["items"], defs)] * max(1, node.get("minItems", 1))
    if "properties" in node:
        wanted = node.get("required") or list(node["properties"])[:1]
        return {k: sample(k, node["properties"][k], defs) for k in wanted}
    if isinstance(node.get("additionalProperties"), dict):
        return {"name": sample(key, node["additionalProperties"], defs)}
    return sample(key, node["anyOf"][0], defs) if "anyOf" in node else _simple(key, node)


def _simple(key: str, node: Node) -> Any:
    least = {"boolean": True, "integer": max(4, node.get("minimum", 4)), "number": node.get("minimum", 0.5)}
    return least.get(str(node.get("type")), _written()["examples"].get(key, key))


def _member(family: str) -> Any:
    members = kinds_of(family)
    parts = [n.partition("/")[2] for n in library.names("parts") if n.partition("/")[0] in members]
    if family == "tool":
        return {"name": "gridftp", "p": 8}
    if parts:
        return parts[0]
    needs = {n: f.metadata[0].dim for n, f in find_kind(members[0]).model_fields.items() if f.is_required()}
    return {"kind": members[0], **{n: shown(dim)[0] for n, dim in needs.items()}}


def listed() -> dict[str, str]:
    """Key of a path file -> an example of it."""
    return _written()["listed"]


@lru_cache(maxsize=1)
def _written() -> dict[str, dict[str, str]]:
    return dict(yamlio.plain(Path(__file__).with_name("words.yaml")))


def described(model: type[Model]) -> dict[str, str]:
    """Key -> what the ``Attributes`` of the docstring say of it."""
    _, heading, text = (model.__doc__ or "").partition("Attributes:\n")
    words: dict[str, str] = {}
    for line in text.split("\n\n")[0].splitlines() if heading else ():
        names, colon, rest = line.strip().partition(": ")
        keys = [n.strip() for n in names.split(",")]
        if colon and all(k.isidentifier() for k in keys):
            for name in keys:
                field = model.model_fields.get(name)
                words[(field.alias if field is not None else None) or name] = rest
        elif words and line.strip():
            words[list(words)[-1]] += f" {line.strip()}"
    return words


@lru_cache(maxsize=256)
def words(model: type[Model]) -> dict[str, str]:
    """Key as files write it -> what it means, for every key that has words."""
    meanings: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if isinstance(base, type) and issubclass(base, Model):
            meanings |= _written().get(base.__name__, {}) | described(base)
    texts = {}
    for name, field in model.model_fields.items():
        text = field.description or meanings.get(field.alias or name) or meanings.get(name)
        if text:
            texts[field.alias or name] = text[0].upper() + text[1:]
    return texts


def summary(model: type) -> str:
    """First sentence of a class, without what editors would show as it is."""
    text = (model.__doc__ or "").partition("\n\n")[0]
    return " ".join(text.split()).replace("``", "")
