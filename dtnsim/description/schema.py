"""JSON Schema of path files, host files and kinds, for editors: what dtnsim refuses, the editor underlines.

Made from the models: units become patterns, keys that hold components become one definition a family, which the
``kind`` of the component (or its ``name``, for tools) decides.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Final

from pydantic.fields import FieldInfo

from dtnsim.components.base import DRIVES, LazyModel, Model, find_kind, kinds, kinds_of
from dtnsim.description.schema_nodes import Node, annotations, as_yaml, sample, shown, summary, unit, words
from dtnsim.description.transfer import names
from dtnsim.ground import library
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Quantity

DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
PUBLISHED: Final = "https://dtnsim.github.io/dtnsim/schema"  #: where the documentation publishes the schemas of files
#: a file of one's own where the name of a shipped one would do
OWN_FILE: Final[Node] = {"type": "string", "pattern": r"(^\.{0,2}/|\.ya?ml$)"}


def schema_id(name: str) -> str:
    """Where the schema of ``path``, ``host`` or a kind is published, and what it is known by."""
    return f"{PUBLISHED}/{name}.schema.json"


def json_schema(name: str) -> Node:
    """JSON Schema of ``path``, ``host``, ``dataset`` or a kind; `SpecError` for anything else."""
    from dtnsim.description import dataset, host, spec

    files: dict[str, tuple[type[Model], Callable[[Node, _Builder], Node]]]
    files = {"path": (spec.PathSpec, _path), "host": (host.Host, _host), "dataset": (dataset.Description, _dataset)}
    builder = _Builder()
    if name in kinds():
        top = builder.kind_schema(name)
        builder.exemplify()
    elif name in files:
        model, written = files[name]
        top = builder.model(model)
        builder.exemplify()
        top = written(top, builder)
        builder.exemplify()
    else:
        remedy = f"write path, host, dataset or one of: {', '.join(sorted(kinds()))}"
        raise SpecError("has no schema", value=name, remedy=remedy)
    head = {"$schema": DRAFT, "$id": schema_id(name), "title": f"dtnsim {name}"}
    return {**head, **top, "$defs": dict(sorted(builder.defs.items()))}


@cache
def _raw(model: type[Model]) -> Node:
    """What pydantic says of a model; it is read, not changed."""
    return model.model_json_schema()


class _Builder:
    """Collects the definitions that a schema needs."""

    def __init__(self) -> None:
        self.defs: dict[str, Node] = {}
        self._others: list[tuple[dict[str, Node], str, str]] = []
        self._bare: list[tuple[str, Node, FieldInfo]] = []

    def exemplify(self) -> None:
        """Gives every property an example, once the definitions that it refers to are there."""
        for key, node, field in self._bare:
            is_quantity = isinstance(field.default, Quantity)  # the best example
            node["examples"] = [str(field.default) if is_quantity else sample(key, node, self.defs)]
        self._bare.clear()
        for properties, other, name in self._others:
            extra = {"description": f"Another name of {name}.", "deprecated": True}
            properties[other] = {**properties[name], **extra}
        self._others.clear()

    def define(self, name: str, make: Callable[[], Node]) -> Node:
        """A reference to a definition, made when it is first asked for (it may refer to itself)."""
        if name not in self.defs:
            self.defs[name] = {}
            self.defs[name] = make()
        return {"$ref": f"#/$defs/{name}"}

    def model(self, model: type[Model]) -> Node:
        """An object with the keys of a model, each with its words and an example."""
        raw = _raw(model)
        for name, part in raw.get("$defs", {}).items():
            self.define(name, partial(self._object, part))
        return self._object(raw)

    def _object(self, raw: Node) -> Node:
        if "anyOf" in raw:  # a text will do
            return {"anyOf": [self._object(way) if "properties" in way else way for way in raw["anyOf"]]}
        model = raw["x-class"]
        docs = words(model)
        fields = {str(a): (n, f) for n, f in model.model_fields.items() for a in names(n, f)}
        properties: dict[str, Node] = {}
        for key, shape in raw.get("properties", {}).items():
            name, field = fields[key]
            node = self.rewrite(shape)
            alias = (field.alias if isinstance(field.alias, str) else None) or name
            if alias in docs:
                node["description"] = docs[alias]
            self._bare.append((alias, node, field))
            properties |= dict.fromkeys(names(name, field), node)
        schema: Node = {"type": "object", "description": summary(model)}
        schema |= {"properties": properties, "additionalProperties": False}
        return schema | ({"required": raw["required"]} if raw.get("required") else {})

    def rewrite(self, node: Node) -> Node:
        """A node of pydantic's as people write it in YAML."""
        if "x-unit" in node:
            dim, plain = node["x-unit"], node.get("x-plain", False)
            name = f"unit.{dim.replace('/', '-per-')}{'.plain' if plain else ''}"
            return {**self.define(name, lambda: unit(dim, plain=plain)), "x-unit": dim, "examples": shown(dim)}
        if "x-model" in node:
            module, name = node["x-model"]
            return self.define(name, lambda: self.model(LazyModel(module, name).model)) | annotations(node)
        if "x-family" in node:
            return {**self.family(node["x-family"]), "x-family": node["x-family"], **annotations(node)}
        if "anyOf" in node:
            ways = [n for n in node["anyOf"] if n.get("type") != "null"]
            if len(ways) == 1:
                return self.rewrite({**ways[0], **annotations(node)})
            return {"anyOf": [self.rewrite(n) for n in ways], **annotations(node)}
        rewritten = {k: v for k, v in node.items() if k not in ("title", "default")}
        if isinstance(node.get("default"), str | int | float) and node["default"] != "":
            rewritten["default"] = node["default"]
        for key in ("items", "additionalProperties"):
            if isinstance(rewritten.get(key), dict):
                rewritten[key] = self.rewrite(rewritten[key])
        return as_yaml(rewritten)

    def kind(self, kind: str) -> Node:
        """The keys of one kind; what is required of them the place decides where it lies."""
        schema = self.model(find_kind(kind))
        kind_node: Node = {"const": kind, "description": "What it is.", "examples": [kind]}
        schema["properties"] = {"kind": kind_node, **schema["properties"]}
        synonyms = find_kind(kind).other_names
        self._others += [(schema["properties"], other, name) for other, name in synonyms.items()]
        if "required" in schema:
            schema["required"] = [key for key in schema["required"] if key not in synonyms.values()]
        if find_kind(kind).family != "tool":
            part = schema["properties"]["part"]
            del part["type"]
            part |= _parts((kind,))
        return {"$comment": f"kind {kind}", **schema}

    def kind_schema(self, kind: str) -> Node:
        """One kind with what it needs where it names no part."""
        schema = self.kind(kind)
        required = schema.pop("required", None)
        return {**schema, "anyOf": [{"required": required}, {"required": ["part"]}]} if required else schema

    def family(self, family: str) -> Node:
        """A component of a family: a part by its name, or an object whose ``kind`` decides its keys."""
        return self.define(f"family.{family}", lambda: self._tool() if family == "tool" else self._family(family))

    def _family(self, family: str) -> Node:
        members = kinds_of(family)
        schemas = {k: self.kind_schema(k) for k in members}
        needs = {k: {"anyOf": m.pop("anyOf")} if "anyOf" in m else {} for k, m in schemas.items()}
        each = {k: self.define(f"kind.{k}", lambda m=m: m) for k, m in schemas.items()}  # type: ignore[misc]
        open_ = list(each.values())
        as_mapping = {
            "type": "object",
            "properties": {"kind": {"enum": list(members)}, "part": _parts(members)},
            "discriminator": {"propertyName": "kind", "mapping": {k: r["$ref"] for k, r in each.items()}},
            "allOf": [
                *(_when("kind", k, {**ref, **needs[k]}) for k, ref in each.items()),
                # a part has its kind; what is like another host changes single keys
                {"if": {"not": {"required": ["kind"]}}, "then": open_[0] if len(open_) == 1 else {"anyOf": open_}},
            ],
        }
        # what people call it has a space, and the reader looks it up by its words
        ways = [_parts(members), {"type": "string", "pattern": "\\S \\S"}]
        short = {"filesystem": list(members), "device": list(DRIVES)}
        ways += [{"enum": short[family]}] if family in short else []
        named = {"anyOf": ways}
        if family != "device":
            return {"if": {"type": "string"}, "then": named, "else": as_mapping}
        unlike = {"type": "array", "items": {"type": "object", "required": ["drive", "n"]}, "minItems": 1}
        return {"if": {"type": ["string", "array"]}, "then": {"anyOf": [*ways, unlike]}, "else": as_mapping}

    def _tool(self) -> Node:
        from dtnsim.tools._command import programs

        tools = kinds_of("tool")
        each = {}
        for kind in tools:
            schema = self.kind(kind)
            schema.pop("required", None)
            schema["properties"]["name"] = {**schema["properties"]["kind"], "description": "The tool."}
            each[kind] = self.define(f"tool.{kind}", lambda made=schema: made)  # type: ignore[misc]
        line = rf"^\s*(\S*/)?({'|'.join(map(re.escape, sorted(programs())))})(\s|$)"
        as_mapping = {
            "type": "object",
            "properties": {"name": {"enum": list(tools)}, "kind": {"enum": list(tools)}},
            "anyOf": [{"required": ["name"]}, {"required": ["kind"]}],
            "discriminator": {"propertyName": "name", "mapping": {k: r["$ref"] for k, r in each.items()}},
            "allOf": [_when(key, k, ref) for k, ref in each.items() for key in ("name", "kind")],
        }
        typed = {"anyOf": [{"enum": list(tools)}, {"type": "string", "pattern": line}]}
        return {"if": {"type": "string"}, "then": typed, "else": as_mapping}


def _parts(members: Sequence[str]) -> Node:
    """Names of shipped parts of some kinds, or a file of one's own."""
    listed = [n for n in library.names("parts") if n.partition("/")[0] in members]
    part_names = sorted({*listed, *(n.partition("/")[2] for n in listed)})
    return {"anyOf": [{"enum": part_names}, OWN_FILE]} if part_names else OWN_FILE


def _shipped(folder: str) -> Node:
    return {"anyOf": [{"enum": library.names(folder)}, OWN_FILE]}


def _when(key: str, value: str, then: Node) -> Node:
    return {"if": {"properties": {key: {"const": value}}, "required": [key]}, "then": then}


_KIND: Final = "What sort of machine it is, where no model is known; it has the TCP settings and drives of such."
_CIPHERED: Final = "What ciphers all that its drives hold; short for a device of that kind around the array."


def _host(top: Node, builder: _Builder) -> Node:
    """A host may be ``like`` another, and ``nic`` is short for one of ``nics``."""
    properties = top["properties"]
    nics = properties["nics"]
    short = "The only network card; short for one of 'nics'."
    only = list(nics["examples"][0].values())
    properties["nic"] = {**nics["additionalProperties"], "description": short, "examples": only}
    version = {"anyOf": [{"type": "string", "pattern": r"^\d+\.\d+(\.\d+)?$"}, {"type": "number"}]}
    words_of_kernel = "The kernel: its costs (a part or their mapping, as 'stack'), or the version of Linux."
    stack = {"anyOf": [builder.family("stack"), version], "description": words_of_kernel, "examples": ["linux-modern"]}
    properties["kernel"] = stack
    properties["kind"] = {"enum": sorted(library.spoken()["hosts"]), "description": _KIND, "examples": ["laptop"]}
    if "Volume" in builder.defs:  # what is like another host may change one key of a volume
        builder.defs["Volume"].pop("required", None)
        ciphered = {"enum": sorted(library.spoken()["encryption"]), "description": _CIPHERED, "examples": ["luks"]}
        builder.defs["Volume"]["properties"]["encryption"] = ciphered
    for key, dim in (("cpu", ""), ("memory", "B"), ("nic", "B/s")):  # of a card its rate alone, of memory its size
        alone = [builder.rewrite({"x-unit": dim})] if dim else []
        properties[key] = {"anyOf": [_UNKNOWN, properties[key], *alone], **annotations(properties[key])}
    volumes = properties["volumes"]
    volumes["additionalProperties"] = {"anyOf": [_UNKNOWN, volumes["additionalProperties"]]}
    top.pop("required", None)  # what is not stated is drawn
    return top


def _dataset(top: Node, _builder: _Builder) -> Node:
    """In a data-set file ``files`` may list the groups."""
    properties = top["properties"]
    count = properties["files"]
    listed = {"type": "array", "items": {"$ref": "#/$defs/Group"}, "minItems": 1}
    count["anyOf"] = [*count["anyOf"], listed]
    return top


def _named_by_its_tool(transfer: Node) -> Node:
    """A transfer whose tool may stand in the place of 'tool', and name the ends itself."""
    for kind in (k for k in kinds_of("tool") if getattr(find_kind(k), "writes_option", "")):  # names its files itself
        extra = {"description": f"The tool {kind}, in the place of 'tool'.", "examples": [{}]}
        transfer["properties"][kind] = {"$ref": f"#/$defs/tool.{kind}", **extra}
    keys = [key for key in transfer["properties"] if key in kinds_of("tool")]
    no_end = {"not": {"anyOf": [{"required": ["from"]}, {"required": ["to"]}]}}
    by_its_tool = [{"required": [key], **no_end} for key in ["tool", *keys]]
    transfer["anyOf"] = [{"required": transfer.pop("required")}, *by_its_tool]
    return transfer


def _path(top: Node, builder: _Builder) -> Node:
    """A path file may name hosts, have one ``wan`` or several, and one ``transfer`` or several."""
    from dtnsim.description import dataset, spec

    fields = spec.PathSpec.model_fields
    top["properties"] = properties = {k: v for k, v in top["properties"].items() if not fields[k].exclude}
    builder.defs["Host"] = _host(builder.defs["Host"], builder)
    known_host = {"if": {"type": "string"}, "then": _shipped("hosts"), "else": {"$ref": "#/$defs/Host"}}
    hosts = {"type": "object", "additionalProperties": {"anyOf": [_UNKNOWN, known_host]}, "minProperties": 1}
    properties["hosts"] = {**annotations(properties["hosts"]), **hosts}
    segment = builder.family("segment")
    many = {"type": "array", "items": segment}
    properties["wan"] = {"if": {"type": "array"}, "then": many, "else": segment, **annotations(properties["wan"])}
    one = {"$ref": "#/$defs/TransferSpec"}
    properties["transfer"] = {**one, "description": "The transfer, where there is one.", "examples": [_TRANSFER]}
    by_name = {"type": "object", "additionalProperties": one, "minProperties": 1}
    listed = {"type": "array", "items": one, "minItems": 1}
    both = {"if": {"type": "array"}, "then": listed, "else": by_name}
    properties["transfers"] = {**annotations(properties["transfers"]), **both, "examples": [{"first": _TRANSFER}]}
    properties["hosts"]["examples"] = [{"nas": "example-nas", "centre": "nersc-dtn"}]
    properties["wan"]["examples"] = [{"rtt": "40 ms", "bandwidth": "10 Gb/s"}]
    sets = builder.define("Dataset", lambda: _dataset(builder.model(dataset.Description), builder))
    transfer = _named_by_its_tool(builder.defs["TransferSpec"])
    data = transfer["properties"]["dataset"]
    data |= {"if": {"type": "string"}, "then": _shipped("datasets"), "else": sets, "examples": [_TRANSFER["dataset"]]}
    top["required"] = ["hosts"]
    workload = builder.defs["Workload"]
    properties["workload"] = {
        "if": {"type": "string"},
        "then": _shipped("workloads"),
        "else": {"$ref": "#/$defs/Workload"},
        **annotations(properties["workload"]),
        "examples": [{"classes": workload["properties"]["classes"]["examples"][0]}],
    }
    top["anyOf"] = [{"required": [key]} for key in ("transfer", "transfers", "programs", "workload")]
    top["not"] = {"required": ["transfer", "transfers"]}
    return top


#: what nobody has described is drawn
_UNKNOWN: Final[Node] = {"enum": ["unknown", None]}
_TRANSFER: Final[Node] = {
    "from": "nas:/data",
    "to": "centre:/project",
    "tool": {"name": "globus", "verify": True},
    "dataset": {"files": 2000, "size": "6 TB"},
}
