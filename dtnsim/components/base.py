"""What every component is: validated parameters with units, known by its kind, one kind a file.

A new kind is one new file in this package (or in `dtnsim.tools`): a subclass of `Component` with
``kind`` and ``family``. Nothing else is touched: the file's name is the kind, so specs find it, and
``dtnsim components`` and ``dtnsim schema`` list it.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from collections.abc import Mapping as MappingABC
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, TypeVar, cast, get_args

from pydantic import BaseModel, Field, ValidationError

from dtnsim.components.facts import Facts, Measured, Model, Price
from dtnsim.ground import library, units
from dtnsim.ground.errors import MISSING, SpecError
from dtnsim.ground.quantity import Unit
from dtnsim.ground.yamlio import Mapping

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic_core import CoreSchema, ErrorDetails

__all__ = [
    "Component",
    "Facts",
    "Measured",
    "Model",
    "Pick",
    "Price",
    "expand",
    "find_kind",
    "kinds",
    "place",
    "validate",
]

M = TypeVar("M", bound=BaseModel)

#: packages that are searched for kinds, and the modules in them that are none
PACKAGES = ("dtnsim.components", "dtnsim.tools")
SUPPORT = frozenset(
    {
        "base",
        "facts",
        "access",
        "buses",
        "cores",
        "device",
        "layer",
        "machine",
        "remote_block",
        "medium",
        "middlebox",
        "offload",
        "parallel",
        "filesystem",
        "servers",
        "plan",
        "_common",
        "remote",
        "tuning",
        "vm",
        "wiring",
    }
)


def documentation_only(default: Any) -> Any:
    """A key for the reader alone, which moves no answer; the schema says so."""
    return Field(default, json_schema_extra={"x-documentation-only": True})


class Component(Model):
    """A kind of component. Subclasses say ``kind`` and ``family`` and hold the parameters as fields."""

    kind: ClassVar[str] = ""
    family: ClassVar[str] = ""

    #: keys that say where it sits and how it is set up: they stay when another part takes its place
    placement_keys: ClassVar[tuple[str, ...]] = ()

    #: parameters that tables of its parts show; those that are required where none are named
    columns: ClassVar[tuple[str, ...]] = ()

    #: other names that keys have had, or have in another place -> the name here
    other_names: ClassVar[MappingABC[str, str]] = {}

    #: name of the part it was made from, where its numbers come from, what it costs, and what else is printed of it
    part: str | None = documentation_only(None)
    source: str = documentation_only("")
    price: Price | None = documentation_only(None)
    facts: Facts | None = documentation_only(None)

    @classmethod
    def build(cls, given: object, *, key: str = "") -> Self:
        """Validates ``given`` (a mapping, a part name, or a component already built).

        Raises:
            SpecError: with file, line, key, value and remedy.
        """
        if isinstance(given, cls):
            return given
        mapping = expand(given, key=key, family=cls.family)
        kind = mapping.pop("kind", None)
        target = find_kind(str(kind), near=mapping, family=cls.family) if kind is not None else cls
        if not target.kind:
            raise SpecError("has no kind", **place(mapping), key=key or None, remedy=_kinds_remedy(cls.family))
        if not issubclass(target, cls) and target.family != cls.family:
            raise SpecError(
                f"is a {target.family}",
                **place(mapping, "part" if "part" in mapping else "kind"),
                key=key or None,
                value=str(mapping.get("part") or kind),
                remedy=_kinds_remedy(cls.family),
            )
        return cast("Self", validate(target, _by_its_name(mapping, target), key=key))

    def states(self, name: str) -> bool:
        """Whether a file gives this quantity, which then is not the kind's default."""
        default, given = type(self).model_fields[name].default, getattr(self, name)
        return (given.value, given.source) != (default.value, default.source)


def _by_its_name(mapping: Mapping, target: type[Component]) -> Mapping:
    """Keys under other names get the one that the component has; where both are there, what ``--set`` wrote counts."""
    for other, name in target.other_names.items():
        if other in mapping:
            at = mapping.lines.get(other, (mapping.file, mapping.line))
            value = mapping.pop(other)
            if name not in mapping or at[0].startswith("--set"):
                mapping.put(name, value, *at)
    return mapping


def expand(given: object, *, key: str = "", family: str = "") -> Mapping:
    """A mapping with the part it names merged in: the part's keys first, the keys written here on top.

    Args:
        given: The mapping, or the name of a part.
        key: Where it was written, for messages.
        family: What is due there, for messages: the nearest part is one of this family.

    Raises:
        SpecError: no such part, or no mapping.
    """
    if isinstance(given, str):
        named = Mapping(getattr(given, "file", ""), getattr(given, "line", 0))
        named.put("part", given, named.file, named.line)
        given = named
    if not isinstance(given, dict):
        raise SpecError("needs a part name or a mapping of parameters", key=key or None, value=given)
    mapping = given.clone() if isinstance(given, Mapping) else Mapping()
    mapping.update({str(k): v for k, v in given.items()})
    if mapping.get("part") is None:
        return mapping
    file = place(mapping, "part").get("file")
    try:
        merged = library.read("parts", str(mapping["part"]), beside=Path(file).parent if file else None)
    except SpecError as error:
        if error.file:
            raise
        name = str(mapping["part"])
        if name in kinds() and find_kind(name).family == family == "filesystem":  # 'filesystem: xfs'
            mapping["kind"] = mapping.pop("part")
            return mapping
        remedy = _fitting(name, family) or error.remedy
        raise SpecError(error.message, **place(mapping, "part"), key=key or None, remedy=remedy) from None
    for name, value in mapping.items():
        merged.put(name, value, *mapping.lines.get(name, (mapping.file, mapping.line)))
    return merged


def _of_family(family: str) -> list[str]:
    return [k for k in kinds() if find_kind(k).family == family]


def _fitting(name: str, family: str) -> str | None:
    """What of a family is meant by a name that is no part: a kind of that name, or its nearest parts and kinds."""
    if not family:
        return None
    if name in (own := _of_family(family)):
        return f"write {{kind: {name}}}"
    parts = {n.rpartition("/")[2]: "" for n in library.names("parts") if n.partition("/")[0] in own}
    near = difflib.get_close_matches(name, {**parts, **dict.fromkeys(own)}, n=3, cutoff=0.5)
    if near:
        return "nearest: " + ", ".join(n if n in parts else f"{{kind: {n}}}" for n in near)
    shown = [*list(parts)[:6], *(["..."] if len(parts) > 6 else [])] or [f"{{kind: {k}}}" for k in own]
    unknown = next((f"; where nobody knows: {tip}" for k in own if (tip := find_kind(k).where_unknown.get(""))), "")
    return f"{family.upper() if family in ('cpu', 'nic', 'hba') else family}: {', '.join(shown)}{unknown}"


def place(mapping: object, key: str | None = None) -> dict[str, Any]:
    """File and line of a mapping, or of one of its keys, for a `SpecError`."""
    if not isinstance(mapping, Mapping):
        return {}
    file, line = mapping.lines.get(key or "", (mapping.file, mapping.line))
    return {"file": file or None, "line": line or None}


def validate(model: type[M], given: Mapping, *, key: str = "") -> M:
    """Validates a mapping; pydantic's findings become one `SpecError` that says where and what to write."""
    try:
        return model.model_validate(given)
    except ValidationError as error:
        first, *others = (_spec_error(one, model, given, key) for one in error.errors(include_url=False))
        raise first.followed_by([*first.further, *(e for other in others for e in other.findings)]) from None


#: pydantic's finding -> (what is wrong, what to write instead)
_PLAINLY: Final = {
    "dict_type": ("needs keys with values", "write it like {{name: {{key: value}}}}"),
    "model_type": ("needs keys with values", "write it like {{key: value}}"),
    "list_type": ("needs a list", "write it like [a, b]"),
    "string_type": ("needs one word or text", "write it without brackets, like 'key: value'"),
    "int_parsing": ("needs a whole number", "write it like 4"),
    "int_type": ("needs a whole number", "write it like 4"),
    "int_from_float": ("needs a whole number", "write it like 4"),
    "float_parsing": ("needs a number", "write it like 0.5"),
    "float_type": ("needs a number", "write it like 0.5"),
    "bool_parsing": ("needs true or false", "write it like true"),
    "bool_type": ("needs true or false", "write it like true"),
    "greater_than_equal": ("must not be below {ge}", "write {ge} or more"),
    "less_than_equal": ("must not be above {le}", "write {le} or less"),
    "greater_than": ("must be above {gt}", "write more than {gt}"),
    "less_than": ("must be below {lt}", "write less than {lt}"),
    "literal_error": ("is not one of the words known here", "write one of {expected}"),
    "too_short": ("needs at least {min_length} of them", "write more"),
}


def _spec_error(first: ErrorDetails, model: type[BaseModel], given: Mapping, key: str) -> SpecError:
    """One of pydantic's findings; those of a component within it have their places already."""
    where: Any = given
    spot = place(given)
    for step in first["loc"]:
        if isinstance(where, Mapping) and isinstance(step, str) and step in where:
            spot = place(where, str(step))
            where = where[step]
        elif isinstance(where, list) and isinstance(step, int) and step < len(where):
            where = where[step]
            spot = place(where) or spot
    name = ".".join([*([key] if key else []), *(str(s) for s in first["loc"])])
    inner = first.get("ctx", {}).get("error")
    if isinstance(inner, SpecError):
        for finding in inner.findings:
            if not (finding.key or "").startswith("hosts."):  # those have their whole key
                finding.key = ".".join(k for k in (name, finding.key) if k)
        return inner
    message, remedy = first["msg"].removeprefix("Value error, "), None
    if first["type"] == "extra_forbidden":
        known = [f.alias or n for n, f in _model_at(model, first["loc"][:-1]).model_fields.items()]
        near = difflib.get_close_matches(str(first["loc"][-1]), known, n=1)
        message = "is not a key here"
        remedy = f"did you mean {near[0]!r}?" if near else "known keys: " + ", ".join(known)
    elif first["type"] == "missing":
        message, remedy = MISSING, _to_write(_model_at(model, first["loc"][:-1]), str(first["loc"][-1]))
    elif first.get("input", where) is None:
        message, remedy = "is empty", "give it a value, or leave the key out"
    elif first["type"] in _PLAINLY:
        message, remedy = _PLAINLY[first["type"]]
        message, remedy = (text.format(**first.get("ctx", {})) for text in (message, remedy))
    value = first.get("input")
    shown = value if isinstance(value, str | int | float) and first["type"] != "missing" else None
    return SpecError(message, **spot, key=name or None, value=str(shown) if shown is not None else None, remedy=remedy)


def _to_write(model: type[BaseModel], name: str) -> str:
    """An example of what is missing, and what to write where nobody knows."""
    field = next((f for n, f in model.model_fields.items() if name in (n, f.alias)), None)
    unit = next((m for m in (field.metadata if field is not None else ()) if isinstance(m, Unit)), None)
    example = f"write it like {units.EXAMPLES[unit.dim]}" if unit is not None else "write it"
    words = model.where_unknown if issubclass(model, Model) else {}
    unknown = words.get(name) or words.get("")
    return f"{example}; where nobody knows: {unknown}" if unknown else example


def _model_at(model: type[BaseModel], steps: Iterable[int | str]) -> type[BaseModel]:
    """The model that the keys of a place are those of: ``vm`` of a host has its own."""
    for step in steps:
        field = next((f for n, f in model.model_fields.items() if step in (n, f.alias)), None)
        model = next(_models(field.annotation), model) if field is not None else model
    return model


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models that an annotation names, however deep: of ``list[Group] | None`` the groups'."""
    if isinstance(annotation, Apart):
        yield annotation.model
    elif isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in (*getattr(annotation, "__metadata__", ()), *get_args(annotation)):
        yield from _models(inner)


@lru_cache(maxsize=1)
def kinds() -> dict[str, str]:
    """All kinds and the modules they live in, without importing any of them."""
    found = {}
    for package in PACKAGES:
        for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
            if module.name not in SUPPORT and not module.name.startswith("_"):
                found[module.name.replace("_", "-")] = f"{package}.{module.name}"
    return found


def find_kind(kind: str, *, near: object = None, family: str = "") -> type[Component]:
    """The class of a kind; only its own module is imported.

    Args:
        kind: The kind.
        near: The mapping that names it, for messages.
        family: What is due there, for messages: the nearest kind is one of this family.

    Raises:
        SpecError: no such kind.
    """
    modules = kinds()
    if kind not in modules:
        own = _of_family(family) or list(modules)
        close = difflib.get_close_matches(kind, own, n=3) or (own if family and len(own) < 15 else [])
        remedy = f"nearest: {', '.join(close)}" if close else "see 'dtnsim components'"
        raise SpecError("is not a kind of component", **place(near, "kind"), value=kind, remedy=remedy)
    return _class_of(kind, modules[kind])


@lru_cache(maxsize=1024)
def _class_of(kind: str, module: str) -> type[Component]:
    for item in vars(importlib.import_module(module)).values():
        if isinstance(item, type) and issubclass(item, Component) and item.kind == kind:
            return item
    raise SpecError(f"module {module} defines no component of kind {kind!r}")


def _kinds_remedy(family: str) -> str:
    fitting = _of_family(family)
    return f"write 'kind: ...' with one of {', '.join(fitting)}, or 'part: ...'" if fitting else "write 'part: ...'"


class Apart:
    """Annotation in the place of a model that few files need: its module is loaded when one has the key.

    Args:
        module: The module.
        name: Name of the model in it.
    """

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name

    @property
    def model(self) -> type[Model]:
        """The model."""
        return cast("type[Model]", getattr(importlib.import_module(self._module), self._name))

    def _read(self, given: Any) -> BaseModel:
        return self.model.model_validate(given)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Validation: the model's, errors with their places in it."""
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(self._read)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """JSON Schema: what `dtnsim.description.schema` makes of the model."""
        return {"x-model": (self._module, self._name)}


class Pick:
    """Annotation of a field that holds a component: ``drive: Annotated[Drive, Pick(Drive)]``."""

    def __init__(self, base: type[Component]) -> None:
        self.base = base

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Validation: `Component.build`."""
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(self._read)

    def _read(self, given: object) -> Component:
        """The component; what is wrong with it does not keep other findings from being found."""
        from pydantic_core import PydanticCustomError

        try:
            return self.base.build(given)
        except SpecError as error:
            raise PydanticCustomError("component", "cannot be used", {"error": error}) from None

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """JSON Schema: a part name or parameters."""
        return {"anyOf": [{"type": "string"}, {"type": "object"}], "x-family": self.base.family}
