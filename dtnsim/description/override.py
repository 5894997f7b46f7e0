"""``--set key=value``: reaches any key of a path file, into the hosts and parts that it only names."""

import difflib
import json
import re
from collections.abc import Collection, Iterator, Mapping as MappingABC, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

from dtnsim.components.base import expand, find_kind
from dtnsim.description import spoken
from dtnsim.description.transfer import written_tool
from dtnsim.ground import yamlio
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Scalar
from dtnsim.ground.yamlio import Mapping

#: keys of a host that hold parts by name; each kind says which of its keys stay when another part takes its place
BY_NAME: Final = frozenset({"nics", "hbas", "slots", "devices"})

#: keys that hold a part even where what they hold does not say so
PARTS: Final = frozenset(
    "cpu memory stack of array filesystem board chassis expander wan firewall policer".split()  # noqa: SIM905 - shorter
)

#: keys whose parts are of a family of another name
_FAMILIES: Final = {"nics": "nic", "hbas": "hba", "array": "device", "of": "device"} | dict.fromkeys(
    ("wan", "links"), "segment"
)
#: families that have names in a line, and their key
_SPOKEN: Final = {"cpu": "cpu", "memory": "memory", "nic": "nic", "device": "array"}
_OF_NUMBERS: Final = ("value", "spread", "source")  #: keys of a number that is written with what is known of it

#: keys and values that are put over a path: a mapping, or ``key=value`` texts as for ``--set``
Overrides = Sequence[str] | MappingABC[str, object]


def family_at(above: str, key: str) -> str:
    """The family of what a key holds, below another."""
    return _FAMILIES.get(above, _FAMILIES.get(key, key))


def texts(overrides: Overrides) -> list[str]:
    """Overrides as ``key=value`` texts.

    Examples:
        >>> texts({"wan.rtt": "50 ms", "transfer.tool.verify": False, "transfer.tool.p": 4})
        ['wan.rtt=50 ms', 'transfer.tool.verify=false', 'transfer.tool.p=4']
    """
    if isinstance(overrides, MappingABC):
        texts = ((key, v if isinstance(v, str) else json.dumps(v, default=str)) for key, v in overrides.items())
        return [f"{key}={value}" for key, value in texts]  # JSON is YAML, and texts stay as they are
    return [overrides] if isinstance(overrides, str) else list(overrides)


@contextmanager
def given_with(option: str) -> Iterator[None]:
    """Errors of overrides name the option that gives them in the place of ``--set``."""
    try:
        yield
    except SpecError as error:
        named = {name: getattr(error, name) for name in ("file", "key", "remedy")}
        named = {name: text and re.sub(r"--set\b", option, text) for name, text in named.items()}
        raise SpecError(error.message, **named, line=error.line, value=error.value) from None


def override(raw: Mapping, text: str, notes: list[str] | None = None) -> list[str]:
    """Puts one ``key=value`` over the mapping of a path; returns the key in full, in steps."""
    key, equals, value = text.partition("=")
    steps = split_key(key)
    if not equals or not steps:
        remedy = "write --set key=value, e.g. --set wan.rtt=20ms"
        raise SpecError("is not an override", key="--set", value=text, remedy=remedy)
    if not value.strip():
        raise SpecError("is empty", file="--set " + key, remedy="give it a value, or leave the key out")
    parsed = yamlio.loads(f"v: {value}", "--set")["v"]
    if isinstance(parsed, Scalar):
        parsed = Scalar(str(parsed), "--set " + key, 0)
    return put(raw, steps, parsed, text, notes)


def overrides_apart(raw: Mapping, overrides: Sequence[str], names: Collection[str]) -> list[str]:
    """Overrides that write out hosts of some names that are ``like`` another of the file but none of these."""
    rewritten, raw = list[str](), raw.clone()
    for text in (t for t in overrides if len(steps := split_key(t.partition("=")[0])) == 2 and steps[0] == "hosts"):
        override(raw, text)
    written = raw.get("hosts")
    hosts = written if isinstance(written, Mapping) else Mapping()
    for name in names:
        host, chain = hosts.get(name), [name]
        while isinstance(host, Mapping) and host.get("like") in hosts and host["like"] not in (*names, *chain):
            chain.insert(0, str(host["like"]))
            base = hosts[chain[0]]
            base = base.clone() if isinstance(base, Mapping) else yamlio.mapping({"like": base}, raw.file, raw.line)
            for key in host.keys() - {"like"}:
                base.put(key, merge(base.get(key), host[key]), *host.at(key))
            host = base
        if host is not hosts.get(name):
            rewritten.append(f"hosts.{name}={json.dumps(host)}")
            for text in (t for other in chain for t in overrides if t.startswith(f"hosts.{other}.")):
                rewritten.append(f"hosts.{name}.{text.split('.', 2)[2]}")
    return rewritten


def put(raw: Mapping, steps: list[str], value: Any, text: str, notes: list[str] | None = None) -> list[str]:
    """Sets the key that ``steps`` lead to, which it returns in full; short forms on the way are written out first."""
    if len(steps) > yamlio.MAX_DEPTH:
        raise SpecError(f"has {len(steps)} steps; a key has at most {yamlio.MAX_DEPTH}", key="--set", value=text)
    where: Any = raw
    steps = _long_form(where, steps)
    passed: list[str] = []
    notes = [] if notes is None else notes
    while len(steps) > 1:
        where = _child(where, passed, steps, text, notes)
        passed.append(steps[0])
        steps = _long_form(where, steps[1:])
    last, parent = steps[0], passed[-1] if passed else ""
    if isinstance(where, list):
        where[_index(where, last, text)] = value
        return [*passed, last]
    if parent == "tool" and last in ("name", "kind"):
        where.clear()  # another tool: the options of the old one are not its own
    old = where.get(last)
    if isinstance(value, str) and isinstance(old, Mapping):
        family = "nics" if last == "nic" else parent
        if "part" in old or "kind" in old or family in BY_NAME or last in PARTS:
            value = _in_place_of(old, value, family_at(parent, last))
    where.put(last, value, f"--set {text.partition('=')[0].strip()}", 0)
    return [*passed, last]


def _in_place_of(old: Mapping, part: str, family: str) -> Mapping | str:
    """A part in the place of another of its family, of which only the placement keys stay."""
    kind: object = None
    for spec in (part, old):  # of names in a line the old one's kind tells the keys, and where it has none the family
        with suppress(SpecError):
            kind = kind or expand(spec, family=family).get("kind")
    keys: list[str] = []
    with suppress(SpecError):
        keys = [key for key in find_kind(str(kind or family)).placement_keys if key in old]
    if not keys:
        return part
    new = Mapping()
    new.put("part", part, getattr(part, "file", "--set"), 0)
    for key in keys:
        new.put(key, old[key], *old.lines.get(key, ("--set", 0)))
    return new


def _child(where: Any, passed: list[str], steps: list[str], text: str, notes: list[str]) -> Any:
    step = steps[0]
    if isinstance(where, list):
        number = _index(where, step, text)
        item = where[number]
        # a segment may be named only; what a file holds is left as it is
        where[number] = expand(item) if isinstance(item, str) else item.clone() if isinstance(item, Mapping) else item
        return where[number]
    child = where.get(step)
    kind = {"hosts": "host", "volumes": "volume"}.get(passed[-1] if passed else "")
    if child is None and kind and step not in where and (where and len(steps) > (1 if kind == "host" else 2)):
        full_key = ".".join([*passed, step])
        names, near = ", ".join(where), difflib.get_close_matches(step, where, 1)
        did = f"did you mean {near[0]}? " if near else ""
        remedy = f"{did}{kind}s: {names}; another is written whole: --set '{full_key}={{...}}'"
        raise SpecError(f"there is no {kind} {step!r}", key="--set", value=text, remedy=remedy)
    if isinstance(child, str) and step == "dataset":
        remedy = "replace it whole: --set 'transfer.dataset={files: 100, size: 1 GB}'"
        raise SpecError(f"the data set is {str(child)!r}, not written out here", key="--set", value=text, remedy=remedy)
    if isinstance(child, str):
        child = _written_out(child, [*passed, step], steps[1], text, notes)
    elif isinstance(child, Mapping):
        child = child.clone()
    elif isinstance(child, list):
        child = list(child)
    elif child is None:
        child = Mapping("--set " + text.partition("=")[0], 0)
    else:
        remedy = "see 'dtnsim explain PATH' for the keys"
        raise SpecError(f"has no key {step!r}", key="--set", value=text, remedy=remedy)
    where.put(step, child, *where.lines.get(step, ("--set", 0)))
    return child


def _written_out(name: str, passed: list[str], then: str, text: str, notes: list[str]) -> Mapping:
    """The mapping that a short form means: a tool's or a part's name, drives in a line, a volume, a number.

    ``passed`` is its key, step by step, ``then`` the key of that mapping that is to be set.
    """
    step, location = passed[-1], (getattr(name, "file", "--set"), getattr(name, "line", 0))
    above = passed[-2] if len(passed) > 1 else ""
    if above == "volumes":
        return spoken.named_volume(name, location)
    if above == "hosts" and len(passed) == 2:  # a host of the path, which is like a shipped one
        return yamlio.mapping({} if name == "unknown" else {"like": name}, *location)
    family = family_at(above, step)
    parsed: object = name
    if step == "tool":
        parsed = written_tool(name)
    elif family == "segment":
        from dtnsim.description import spoken_paths  # which asks for what networks are called

        parsed = spoken_paths.segment_from_word(name) or name
    elif family in _SPOKEN:
        unknown = name == "unknown" and family != "device"
        parsed = Mapping(*location) if unknown else spoken.part(_SPOKEN[family], name, ".".join(passed), notes)
    if isinstance(parsed, Mapping):
        return parsed
    with suppress(SpecError):
        return expand(parsed, family=family)
    if family == "filesystem" and spoken.is_filesystem(name):
        return yamlio.mapping({"kind": name.lower()}, *location)
    if then in _OF_NUMBERS or step == "background":
        return yamlio.mapping({"share" if step == "background" else "value": name}, *location)
    remedy = f"write --set ...{step}=VALUE"
    raise SpecError(f"{step!r} is {str(name)!r} and has no keys", key="--set", value=text, remedy=remedy)


def _long_form(where: Any, steps: list[str]) -> list[str]:
    """Spells a short key out: ``nic`` is the first of ``nics``; mounts may drop their slash."""
    first, rest = steps[0], steps[1:]
    if first == "wan" and rest and isinstance(where, Mapping):  # one segment, with its number or without
        wan = where.get("wan")
        alone = wan[0] if isinstance(wan, list) and len(wan) == 1 else None
        if rest[0] == "0" and isinstance(wan, Mapping):
            return ["wan", *rest[1:]]
        if isinstance(alone, Mapping) and rest[0] not in ("0", alone.get("name"), alone.get("part")):
            return ["wan", "0", *rest]
    if not isinstance(where, Mapping) or first in where:
        return steps
    if first == "nic" and isinstance(where.get("nics"), Mapping) and where["nics"]:
        return ["nics", next(iter(where["nics"])), *rest]
    if first == "nics" and "nic" in where:  # a host that is written with one
        location = where.lines.get("nic", ("", 0))
        where.put("nics", yamlio.mapping({"nic": where.pop("nic")}, *location), *location)
        return steps
    if first == "transfers" and rest[:1] == ["0"] and "transfer" in where:
        return ["transfer", *rest[1:]]
    if first == "transfer" and isinstance(where.get("transfers"), Mapping | list) and where["transfers"]:
        items = where["transfers"]
        return ["transfers", next(iter(items)) if isinstance(items, Mapping) else "0", *rest]
    return [f"/{first}", *rest] if f"/{first}" in where else steps


def _index(items: list[Any], step: str, text: str) -> int:
    if step.isdigit() and int(step) < len(items):
        return int(step)
    for number, item in enumerate(items):
        names = (item.get("name"), item.get("part")) if isinstance(item, Mapping) else (item,)
        if step in names:
            return number
    raise SpecError(f"has no item {step!r}", key="--set", value=text, remedy=f"write 0 to {len(items) - 1}")


def split_key(key: str) -> list[str]:
    """The steps of a dotted key."""
    return [step for step in key.strip().split(".") if step]


def merge(old: object, top: object) -> object:
    """What is written on top of what was there; of a part that is only named, some parameters change."""
    if not isinstance(top, Mapping) or not isinstance(old, Mapping | str):
        return top
    if isinstance(old, str):
        if "part" in top or "kind" in top:
            return top
        old = yamlio.mapping({"part": old}, top.file, top.line)
    merged = old.clone()
    for key, value in top.items():
        merged.put(key, merge(merged.get(key), value), *top.at(key))
    return merged
