"""What every component is: validated parameters with units, known by its kind.

A new kind is one new file in this package (or in `dtnsim.tools`): a subclass of `Component` with ``kind``, and
``family`` if it has others. Nothing else is touched: the file's name is the kind, so specs find it, and
``dtnsim components`` and ``dtnsim schema`` list it. Kinds that share a file of their topic stand in
``TOGETHER`` of their package, so that none of them is imported to be known.
"""

import difflib
import importlib
import pkgutil
import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping as MappingABC
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Final, Literal, Self, cast, get_args, get_origin

from dtnsim.components.facts import BenchmarkLoad, Facts, Price
from dtnsim.components.model import (
    LazyModel,
    Model,
    Read,
    among_others,
    documentation_only,
    empty,
    place,
    spot_of,
    tips,
    validate,
)
from dtnsim.ground import library, units
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Scalar, unit_of
from dtnsim.ground.yamlio import Mapping, content

__all__ = [
    "BenchmarkLoad", "Component", "Facts", "LazyModel", "Model", "Pick", "Price", "among_others", "documentation_only",
    "empty", "example_of", "expand", "find_kind", "kinds", "kinds_of", "place", "remembering", "spot_of", "validate",
]  # fmt: skip

_MOST_KNOWN: Final = 4096  #: components of a host that are remembered at most
#: packages that are searched for kinds, and the modules in them that are none
PACKAGES = ("dtnsim.components", "dtnsim.tools")
SUPPORT = frozenset(
    (
        "access",
        "base",
        "buses",
        "device",
        "disk_filesystem",
        "facts",
        "filesystem",
        "linux_md",
        "machine",
        "model",
        "network_kinds",
        "parallel",
        "plan",
        "remote",
        "servers",
        "tuning",
        "wiring",
    )
)

#: drives of which people say no more than this -> part
DRIVES: Final = {"disk": "any-disk", "hdd": "any-disk", "ssd": "any-ssd", "nvme": "any-nvme"}
#: other names of kinds
ALSO: Final = {"luks": "dm-crypt", "md": "raid", "mdadm": "raid", "cifs": "smb", "samba": "smb"}
#: words of a part's name that a name may leave out (a rate), and those of a name that would be another part
_PLAIN: Final = re.compile(r"\d+(?:\.\d+)?(?:g|s|tb)")
_TELLS: Final = re.compile(r"^(?!(da|t|sr|lr)\d$).*\d")
#: what Linux says of a processor beside its model: 'Xeon(R) CPU E5-2670 0 @ 2.60GHz', 'EPYC 7742 64-Core Processor'
_BESIDE: Final = re.compile(r"(?: 0)?(?: @)? [\d.]+ ?[GM]Hz$|\b\d+-Core (?=Processor)")
#: of AMD's processors for one socket, which are those for two otherwise: 'EPYC 9354P'
_ONE_SOCKET: Final = re.compile(r"(?<=epyc[- ]\d{4})p\b", re.IGNORECASE)


class Component(Model):
    """A kind of component. Subclasses say ``kind`` (and ``family``, if it has others); fields are its parameters."""

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

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.family = cls.family or cls.kind

    @classmethod
    def build(cls, raw: object, *, key: str = "") -> Self:
        """Validates ``raw``: a mapping, a part name, or a component already built."""
        if isinstance(raw, cls):
            return raw
        mapping = expand(raw, key=key, family=cls.family)
        kind = mapping.pop("kind", None)
        target = find_kind(str(kind), near=mapping, family=cls.family) if kind is not None else cls
        if not target.kind and len(fits := _told_by_keys(mapping, cls.family)) == 1:
            target = fits[0]
        if not target.kind:
            raise SpecError("has no kind", **place(mapping), key=key or None, remedy=_kinds_remedy(cls.family))
        if not issubclass(target, cls) and target.family != cls.family:
            where = place(mapping, "part" if "part" in mapping else "kind")
            value, remedy = str(mapping.get("part") or kind), tips("instead", cls).get(target.family)
            remedy = remedy or _kinds_remedy(cls.family)
            raise SpecError(f"is a {target.family}", **where, key=key or None, value=value, remedy=remedy)
        return cast("Self", validate(target, _by_its_name(mapping, target), key=key))


def _told_by_keys(mapping: Mapping, family: str) -> list[type[Component]]:
    """Kinds of a family that have all keys given, two of them keys that such a kind always has."""
    return [
        target
        for target in map(find_kind, kinds_of(family))
        if set(mapping) <= {*target.model_fields, *target.other_names}
        and sum(target.model_fields[target.other_names.get(key, key)].is_required() for key in mapping) > 1
    ]


def _by_its_name(mapping: Mapping, target: type[Component]) -> Mapping:
    """Keys under other names get the one that the component has; where both are there, what ``--set`` wrote counts."""
    for other, name in target.other_names.items():
        if other in mapping:
            spot = mapping.at(other)
            value = mapping.pop(other)
            if name not in mapping or spot[0].startswith("--set"):
                mapping.put(name, value, *spot)
    return mapping


def expand(raw: object, *, key: str = "", family: str = "") -> Mapping:
    """A mapping with the part it names merged in, below the keys written here; `SpecError` where there is none."""
    if isinstance(raw, str):
        named = Mapping(getattr(raw, "file", ""), getattr(raw, "line", 0))
        named.put("part", raw, named.file, named.line)
        raw = named
    if not isinstance(raw, dict):
        raise SpecError("needs a part name or a mapping of parameters", key=key or None, value=raw)
    mapping = raw.clone() if isinstance(raw, Mapping) else Mapping()
    mapping.update({str(k): v for k, v in raw.items()})
    if mapping.get("part") is None:
        return mapping
    file, name = place(mapping, "part").get("file"), str(mapping["part"])
    a_kind = family == "filesystem" and name.lower() in kinds() and not library.has("parts", name)
    if a_kind and find_kind(name.lower()).family == family:  # 'filesystem: XFS', whatever xfs.yaml lies beside the path
        mapping["kind"] = mapping.pop("part").lower()
        return mapping
    try:
        merged = library.read("parts", name, beside=Path(file).parent if file else None)
    except SpecError as error:
        if error.file:
            raise
        other = family == "filesystem" and library.instead(name, family)  # mountpoint-s3 is no aws-s3
        parts = [DRIVES[name]] if family == "device" and name in DRIVES else [] if other else _parts_meant(name, family)
        if len(parts) != 1:
            remedy = f"write one of {', '.join(parts)}" if parts else _fitting(name, family) or error.remedy
            raise SpecError(error.message, **place(mapping, "part"), key=key or None, remedy=remedy) from None
        mapping.put("part", parts[0], *mapping.at("part"))
        merged = library.read("parts", parts[0])
    for name, value in mapping.items():
        merged.put(name, value, *mapping.at(name))
    if len(mapping) > 1 and mapping.file:  # what is wrong with the whole is wrong here, not in the part
        merged.file, merged.line = mapping.file, mapping.line
    return merged


def _parts_meant(name: str, family: str) -> list[str]:
    """Parts of a family that a name as people say it may mean: all but their rate is in it, and no other number is."""
    if family == "device" and (drive := library.numbered(name)):
        return [drive]
    name, members, scores = _ONE_SOCKET.sub("", name), kinds_of(family) if family else [], {}
    wanted = library.words(name)
    telling = library.words(_BESIDE.sub(" ", name)) if family == "cpu" else wanted
    for each in library.names("parts"):
        kind, _, short = each.rpartition("/")
        if kind not in members:
            continue
        words = library.words(_ONE_SOCKET.sub("", short))
        model = frozenset(word for word in words if not _PLAIN.fullmatch(word))
        other = any(_TELLS.search(word) for word in telling - words)
        if model and ((model <= wanted and not other) or (wanted and wanted <= words)):
            scores[short] = len(words & wanted)
    best = [short for short, shared in scores.items() if shared == max(scores.values())]
    return [short for short in best if library.words(_ONE_SOCKET.sub("", short)) == wanted] or best


def kinds_of(family: str) -> list[str]:
    """The kinds of a family, in order."""
    return [k for k in kinds() if find_kind(k).family == family]


def _fitting(name: str, family: str) -> str | None:
    """What of a family is meant by a name that is no part: a kind of that name, or its nearest parts and kinds."""
    if not family:
        return None
    if name in (members := kinds_of(family)):
        return f"write {example_of(name) or '{kind: ' + name + '}'}"
    unknown = next((tip for k in members if (tip := tips("unknown", find_kind(k)).get("any"))), None)
    if (advice := library.instead(name, family)) is not None:
        return library.if_unknown(advice, unknown)
    parts = {n.rpartition("/")[2]: "" for n in library.names("parts") if n.partition("/")[0] in members}
    # a file system that sounds like another is another
    cutoff = 0.7 if family == "filesystem" else 0.5
    near = difflib.get_close_matches(name.lower(), {**parts, **dict.fromkeys(members)}, n=3, cutoff=cutoff)
    if near:
        advice = library.did_you_mean(n if n in parts else example_of(n) or n for n in near)
        return library.if_unknown(advice, unknown)
    shown = [*list(parts)[:6], *(["..."] if len(parts) > 6 else [])]
    if not shown:
        advice = "write " + " or ".join(example for k in members if (example := example_of(k)))
        return library.if_unknown(advice, unknown)
    advice = f"{family.upper() if family in ('cpu', 'nic', 'hba') else family}: {', '.join(shown)}"
    return library.if_unknown(advice, unknown)


def example_of(kind: str) -> str | None:
    """A component of a kind with what it cannot be without, as a file may have it; None where that is not numbers."""
    words = [f"kind: {kind}"]
    for name, field in find_kind(kind).model_fields.items():
        if not field.is_required():
            continue
        value: str | None = None
        if (unit := unit_of(field)) is not None:
            such = re.split(", | or ", units.EXAMPLES[unit.dim])
            value = next((text for text in such if unit.low <= units.parse(text, unit.dim) <= unit.high), None)
        elif field.annotation is int:
            value = str(min(12, *(most for m in field.metadata if (most := getattr(m, "le", None)) is not None), 12))
        elif get_origin(field.annotation) is Literal:
            value = str(get_args(field.annotation)[0])
        elif name == "of":
            value = DRIVES["disk"]
        if value is None:
            return None
        words.append(f"{name}: {value}")
    return f"{{{', '.join(words)}}}"


@lru_cache(maxsize=1)
def kinds() -> dict[str, str]:
    """All kinds and the modules they live in, without importing any of them."""
    modules: dict[str, str] = {}
    for package in PACKAGES:
        room = importlib.import_module(package)
        together = getattr(room, "TOGETHER", {})
        for module in pkgutil.iter_modules(room.__path__):
            if module.name not in SUPPORT and not module.name.startswith("_"):
                names = together.get(module.name, module.name).replace("_", "-").split()
                modules |= dict.fromkeys(names, f"{package}.{module.name}")
    return dict(sorted(modules.items()))


def find_kind(kind: str, *, near: object = None, family: str = "") -> type[Component]:
    """The class of a kind; only its own module is imported; `SpecError` where there is none."""
    modules, written = kinds(), kind
    kind = next((k for k in (ALSO.get(kind, kind), kind.replace(" ", "-"), kind.lower()) if k in modules), kind)
    if kind not in modules:
        names = kinds_of(family) or list(modules)
        names += ["smb", "nfs"] if family == "tool" else []  # which mount a share
        close = difflib.get_close_matches(kind, names, n=3) or (names if family and len(names) < 15 else [])
        listed = "'dtnsim list tools' lists the tools" if family == "tool" else f"write one of {', '.join(names)}"
        remedy = library.did_you_mean(close) if close else listed
        remedy = library.instead(kind, family) or _as_part(kind, near, family) or remedy
        wrong = f"{str(written)!r} has no model" if family == "tool" else "is not a kind of component"
        raise SpecError(wrong, **place(near, "kind"), value=written, remedy=remedy)
    return _class_of(kind, modules[kind])


def _as_part(name: str, near: object, family: str) -> str | None:
    """A part whose name stands where a kind is due, as it is written with the keys beside it."""
    kind = next((k for k in kinds() if library.has("parts", f"{k}/{name.lower()}")), None)
    if kind is None or (family and find_kind(kind).family != family):
        return None
    beside = [f"{key}: {value}" for key, value in near.items() if key != "kind"] if isinstance(near, Mapping) else []
    return f"that is a part: write {{{', '.join([f'part: {name.lower()}', *beside])}}}"


@lru_cache(maxsize=1024)
def _class_of(kind: str, module: str) -> type[Component]:
    for item in vars(importlib.import_module(module)).values():
        if isinstance(item, type) and issubclass(item, Component) and item.kind == kind:
            return item
    raise SpecError(f"module {module} defines no component of kind {kind!r}")


def _kinds_remedy(family: str) -> str:
    fitting = kinds_of(family)
    return f"write 'kind: ...' with one of {', '.join(fitting)}, or 'part: ...'" if fitting else "write 'part: ...'"


#: components of the host that is being built, as they were built before; how often each is asked for this time
_REMEMBERED: Final[ContextVar[tuple[dict[Hashable, Component] | None, Counter[Hashable]]]] = ContextVar(
    "remembered", default=(None, Counter())
)


@contextmanager
def remembering(cache: dict[Hashable, Component]) -> Iterator[None]:
    """Components that are the same as ones built before, for the same host, are those; others are added."""
    if len(cache) > _MOST_KNOWN:
        cache.clear()
    before = _REMEMBERED.set((cache, Counter()))
    try:
        yield
    finally:
        _REMEMBERED.reset(before)


class Pick(Read):
    """Annotation of a field that holds a component: ``drive: Annotated[Drive, Pick(Drive)]``."""

    def __init__(self, base: type[Component]) -> None:
        named = {"anyOf": [{"type": "string"}, {"type": "object"}], "x-family": base.family}
        super().__init__(self._read, lambda: named)
        self.base = base

    def _read(self, raw: object) -> Component:
        """The component; what is wrong with it does not keep other findings from being found."""
        cache, counts = _REMEMBERED.get()
        key: Hashable = None
        if cache is not None and isinstance(raw, Mapping | Scalar):
            identity = self.base, content(raw)
            counts[identity] += 1  # what is written twice is two components
            key = identity, counts[identity]
            if key in cache:
                return cache[key]
        try:
            component = self.base.build(raw)
        except SpecError as error:
            raise among_others(error) from None
        if cache is not None and key is not None:
            cache[key] = component
        return component
