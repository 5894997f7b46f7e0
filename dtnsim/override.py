"""``--set key=value``: reaches any key of a path file, into the hosts and parts that it only names."""

from __future__ import annotations

from typing import Any

from dtnsim import yamlio
from dtnsim.components.base import expand
from dtnsim.errors import SpecError
from dtnsim.quantity import Scalar
from dtnsim.yamlio import Mapping


def override(raw: Mapping, text: str) -> None:
    """Puts one ``key=value`` over the mapping of a path.

    Raises:
        SpecError: not of that form, or a key that leads nowhere.
    """
    key, equals, value = text.partition("=")
    steps = split_key(key)
    if not equals or not steps:
        raise SpecError("is not an override", value=text, remedy="write --set key=value, e.g. --set wan.rtt=20ms")
    parsed = yamlio.loads(f"v: {value}", "--set")["v"] if value.strip() else None
    if isinstance(parsed, Scalar):
        parsed = Scalar(str(parsed), "--set " + key, 0)
    put(raw, steps, parsed, text)


def put(raw: Mapping, steps: list[str], value: Any, text: str) -> None:
    """Sets the key that ``steps`` lead to; parts and hosts named on the way are written out first."""
    where: Any = raw
    steps, parent = _long_form(where, steps), ""
    while len(steps) > 1:
        parent, where = steps[0], _child(where, steps[0], text)
        steps = _long_form(where, steps[1:])
    last = steps[0]
    if isinstance(where, list):
        where[_index(where, last, text)] = value
        return
    if parent == "tool" and last in ("name", "kind"):
        where.clear()  # another tool: the options of the old one are not its own
    old = where.get(last)
    if (
        isinstance(old, Mapping)
        and isinstance(value, str)
        and ("part" in old or last in ("cpu", "memory", "stack", "of"))
    ):
        # a part name replaces the part and keeps what was said about its place (slot, bonding ...)
        old = old.clone()
        old.put("part", value, "--set", 0)
        value = old
    where.put(last, value, "--set", 0)


def _child(where: Any, step: str, text: str) -> Any:
    if isinstance(where, list):
        number = _index(where, step, text)
        if isinstance(where[number], str):  # a segment that is named only
            where[number] = expand(where[number])
        return where[number]
    child = where.get(step)
    if isinstance(child, str) and step == "dataset":
        raise SpecError(
            f"the data set is {str(child)!r}, not written out here",
            key="--set",
            value=text,
            remedy="replace it whole: --set 'transfer.dataset={files: 100, size: 1 GB}'",
        )
    if isinstance(child, str):
        child = expand(child) if step not in ("wan", "tool") else child
        if step == "tool":
            named = Mapping()
            named.put("name", child, "--set", 0)
            child = named
    elif isinstance(child, Mapping):
        child = child.clone()
    elif isinstance(child, list):
        child = list(child)
    elif child is None:
        child = Mapping()
    else:
        raise SpecError(
            f"has no key {step!r}", key="--set", value=text, remedy="see 'dtnsim explain PATH' for the keys"
        )
    where.put(step, child, *where.lines.get(step, ("--set", 0)))
    return child


def _long_form(where: Any, steps: list[str]) -> list[str]:
    """Spells a short key out: ``nic`` is the first of ``nics``; mounts may drop their slash."""
    first, rest = steps[0], steps[1:]
    if not isinstance(where, Mapping) or first in where:
        return steps
    if first == "nic" and isinstance(where.get("nics"), Mapping) and where["nics"]:
        return ["nics", next(iter(where["nics"])), *rest]
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
