"""Base of what files describe, where in a file a key is, and pydantic's findings in words of the house."""

from __future__ import annotations

import difflib
import importlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping as MappingABC
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self, TypeVar, cast, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from dtnsim.ground import library, units, yamlio
from dtnsim.ground.errors import MISSING, SpecError
from dtnsim.ground.quantity import Quantity, Scalar, unit_of
from dtnsim.ground.yamlio import Mapping

if TYPE_CHECKING:
    from pydantic_core import CoreSchema, ErrorDetails

M = TypeVar("M", bound=BaseModel)

#: keys that every part has, and that say nothing of what it does: near to a wrong one by chance
_OF_ALL: Final = frozenset({"part", "source", "price", "facts"})
_NUMBER: Final = re.compile(rf"\s*{units.NUMBER}\s*")
_HOLE: Final = re.compile(r"\d_")
#: what pydantic calls a value that a function reads, and findings of a value where keys may stand instead
_INSTEAD: Final = re.compile(r"function-\w+\[.*\]")
_NO_KEYS: Final = frozenset({"model_type", "dict_type", "model_attributes_type"})


def _listed(raw: object) -> object:
    """One name is a list of one."""
    return [raw] if isinstance(raw, str) else raw


def empty() -> list[Any]:
    """No items: of `list` itself pydantic reads the signature as text, for which Python compiles its own tokens."""
    return []


#: names, of which one alone needs no brackets
Names = Annotated[list[str], BeforeValidator(_listed, json_schema_input_type=list[str] | str)]


def _with_its_class(schema: dict[str, Any], model: type[Model]) -> None:
    """A schema knows whose it is: a tool and a program share a name, but not their keys."""
    schema["x-class"] = model


class Model(BaseModel):
    """Base of everything a file can describe: unknown keys are errors, instances do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True, populate_by_name=True, allow_inf_nan=False,
                              json_schema_extra=_with_its_class)  # fmt: skip

    def model_copy(self, *, update: MappingABC[str, Any] | None = None, deep: bool = False) -> Self:
        """The same with some fields changed; what was worked out from the fields is worked out anew."""
        copied = super().model_copy(update=update, deep=deep)
        for name in set(copied.__dict__) - set(type(copied).model_fields):
            del copied.__dict__[name]
        return copied

    def states(self, name: str) -> bool:
        """Whether a file gives this quantity, which then is not the kind's default."""
        default, stated = type(self).model_fields[name].default, getattr(self, name)
        return (stated.value, stated.source) != (default.value, default.source)

    def of_two(self, one: str, other: str, *, second: bool) -> Quantity:
        """The quantity of one key or of another; where a file states the first alone, it holds for both.

        Args:
            one: The first key.
            other: The second.
            second: Whether the second's is asked for.
        """
        alone = getattr(self, other) is None or (self.states(one) and not self.states(other))
        quantity: Quantity = getattr(self, other if second and not alone else one)
        return quantity


@cache
def _table() -> dict[str, Any]:
    return dict(yamlio.plain(Path(__file__).with_name("instead.yaml")))


@cache
def tips(section: Literal["instead", "unknown"], model: type) -> dict[str, str]:
    """By key what to write instead, or where nobody knows it: what ``instead.yaml`` says of a class and its bases."""
    rows = (row for base in reversed(model.__mro__) for row in _table()[section].get(base.__name__, {}).items())
    return {key: text.replace("KEY", key) for keys, text in rows for key in keys.split()}


def documentation_only(default: Any) -> Any:
    """A key for the reader alone, which moves no answer; the schema says so."""
    return Field(default, json_schema_extra={"x-documentation-only": True})


def place(node: object, key: str | None = None) -> dict[str, Any]:
    """File and line of a scalar, of a mapping, or of one of its keys, for a `SpecError`."""
    if not isinstance(node, Mapping | Scalar):
        return {}
    file, line = (node.file, node.line) if isinstance(node, Scalar) else node.at(key or "")
    return {"file": file or None, "line": line or None}


def spot_of(where: Any, steps: Iterable[str | int]) -> tuple[dict[str, Any], bool]:
    """File and line of what lies furthest along some steps, and whether all of them are there."""
    spot, complete = place(where), True
    for step in steps:
        keys = where if isinstance(where, Mapping) else range(len(where)) if isinstance(where, list) else ()
        if step in keys:
            spot, where = place(where, str(step)) or place(where[step]) or spot, where[step]
        else:
            complete = False
    return spot, complete


def validate(model: type[M], mapping: Mapping, *, key: str = "") -> M:
    """Validates a mapping; pydantic's findings become one `SpecError` that says where and what to write."""
    refused: list[SpecError] = []
    try:
        built = model.model_validate(mapping)
    except ValidationError as error:
        # what is worked out from a wrong key is no finding of its own
        raw = [e for e in error.errors(include_url=False) if e["type"] != "default_factory_not_called"]
        seen = {_keys(e) for e in raw if e["type"] not in _NO_KEYS}  # of a value or keys it is the value that was meant
        refused = [
            _spec_error(one, model, mapping, key)
            for one in raw
            if one["type"] not in _NO_KEYS or _keys(one) not in seen
        ]
    if refused:  # not where it was caught: an error of pydantic is seen by no collector, and would keep all that it met
        first, *rest = refused
        raise first.followed_by([*first.further, *(e for other in rest for e in other.findings)])
    for steps, text in _with_holes(mapping, built) if _may_have_holes(mapping) else ():
        name = ".".join([*([key] if key else []), *map(str, steps)])
        remedy = f"write {text.replace('_', '')}; _ stands between thousands only, as in 1_000"
        raise SpecError("is not a number", **spot_of(mapping, steps)[0], key=name, value=text, remedy=remedy)
    return built


def _keys(error: ErrorDetails) -> tuple[str | int, ...]:
    """Keys of a finding, without pydantic's names of what a value may be instead."""
    kinds = {model.__name__ for model in Model.__subclasses__()}
    return tuple(s for s in error["loc"] if isinstance(s, int) or not (s in kinds or _INSTEAD.fullmatch(s)))


def among_others(error: SpecError) -> Exception:
    """A finding as pydantic wants it from what reads a value, so that it keeps no other from being found."""
    from pydantic_core import PydanticCustomError

    return PydanticCustomError("component", "cannot be used", {"error": error})


def _may_have_holes(raw: Any) -> bool:
    """Whether a digit with _ behind it is written anywhere: in nearly all descriptions there is none."""
    if isinstance(raw, str):
        return "_" in raw and _HOLE.search(raw) is not None
    if isinstance(raw, dict):
        return any(map(_may_have_holes, raw)) or any(map(_may_have_holes, raw.values()))
    return isinstance(raw, list) and any(map(_may_have_holes, raw))


def _with_holes(raw: Any, built: Any) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Numbers written like 1_0, which pydantic takes for 10 and people do not, each with the steps to it."""
    inner: Iterable[tuple[str | int, Any, Any]] = ()
    if isinstance(raw, str):
        if "_" in raw and isinstance(built, int | float) and not _NUMBER.fullmatch(raw):
            yield (), str(raw)
    elif isinstance(raw, list) and isinstance(built, list | tuple):
        inner = zip(range(len(raw)), raw, built, strict=False)
    elif isinstance(raw, dict) and isinstance(built, dict):
        for key, other in zip(raw, built, strict=False):
            inner = (*inner, (key, key, other), (key, raw[key], built[other]))
    elif isinstance(raw, dict) and isinstance(built, BaseModel):
        names = {f.alias: n for n, f in type(built).model_fields.items() if f.alias}
        inner = ((str(k), item, getattr(built, names.get(str(k), str(k)), None)) for k, item in raw.items())
    for step, item, other in inner:
        yield from (((step, *steps), text) for steps, text in _with_holes(item, other))


def _spec_error(first: ErrorDetails, model: type[BaseModel], raw: Mapping, key: str) -> SpecError:
    """One of pydantic's findings; those of a component within it have their places already."""
    spot, _ = spot_of(raw, first["loc"])
    name = ".".join([*([key] if key else []), *map(str, _keys(first))])
    inner = first.get("ctx", {}).get("error")
    if isinstance(inner, SpecError):
        for finding in inner.findings:
            if not (finding.key or "").startswith("hosts."):  # those have their whole key
                finding.key = ".".join(k for k in (name, finding.key) if k)
        return inner
    message, remedy = first["msg"].removeprefix("Value error, "), None
    if first["type"] == "extra_forbidden":
        owner, wrong = _model_at(model, first["loc"][:-1]), str(first["loc"][-1])
        keys = [f.alias or n for n, f in owner.model_fields.items() if not f.exclude]
        near = [k for k in keys if k.lower() == wrong.lower()] or [
            k for k in difflib.get_close_matches(wrong, keys, n=2, cutoff=0.6)
            if k not in _OF_ALL or difflib.get_close_matches(wrong, [k], cutoff=0.8)]  # fmt: skip
        message = "is not known here" if wrong == "kind" else "is not a key here"
        remedy = f"did you mean {near[0]!r}?" if near else "known keys: " + ", ".join(keys)
        remedy = tips("instead", owner).get(wrong.lower(), remedy)
    elif first["type"] == "missing":
        message, remedy = MISSING, _to_write(_model_at(model, first["loc"][:-1]), str(first["loc"][-1]))
    elif first.get("input") is None:
        message, remedy = "is empty", "give it a value, or leave the key out"
    elif (plainly := _table()["findings"].get(first["type"])) is not None:
        message, remedy = (text.format(**first.get("ctx", {})) for text in plainly)
    value = first.get("input")
    shown = value if isinstance(value, str | int | float) and first["type"] != "missing" else None
    return SpecError(message, **spot, key=name or None, value=str(shown) if shown is not None else None, remedy=remedy)


def _to_write(model: type[BaseModel], name: str) -> str:
    """An example of what is missing, and what to write where nobody knows."""
    field = next((f for n, f in model.model_fields.items() if name in (n, f.alias)), None)
    unit = unit_of(field) if field is not None else None
    example = f"write it like {units.EXAMPLES[unit.dim]}" if unit is not None else "write it"
    advice = tips("unknown", model)
    return library.if_unknown(example, advice.get(name) or advice.get("any"))


def _model_at(model: type[BaseModel], steps: Iterable[int | str]) -> type[BaseModel]:
    """The model that the keys of a place are those of: ``vm`` of a host has its own."""
    for step in steps:
        field = next((f for n, f in model.model_fields.items() if step in (n, f.alias)), None)
        model = next(_models(field.annotation), model) if field is not None else model
    return model


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models that an annotation names, however deep: of ``list[Group] | None`` the groups'."""
    if isinstance(annotation, LazyModel):
        yield annotation.model
    elif isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in (*getattr(annotation, "__metadata__", ()), *get_args(annotation)):
        yield from _models(inner)


class Read:
    """Annotation of a field that a function reads, and what its JSON Schema is."""

    def __init__(self, read: Callable[[Any], Any], schema: Callable[[], dict[str, Any]]) -> None:
        self._function, self._schema = read, schema

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(self._function)

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        """JSON Schema: a part name or parameters, a name, or what `dtnsim.description.schema` makes of it."""
        return self._schema()


class LazyModel(Read):
    """Annotation in the place of a model that few files need: its module is loaded when one has the key."""

    def __init__(self, module: str, name: str) -> None:
        super().__init__(self._read, lambda: {"x-model": (module, name)})
        self._module, self._name = module, name

    @property
    def model(self) -> type[Model]:
        """The model."""
        return cast("type[Model]", getattr(importlib.import_module(self._module), self._name))

    def _read(self, raw: Any) -> BaseModel:
        return self.model.model_validate(raw)
