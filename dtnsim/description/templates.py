"""The transfers that stand for the classes of a workload: one of each, in the middle of its sizes, each by itself.

They are what `predict` answers for a path with a workload, and what a fleet's service demands are composed from.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dtnsim.components.base import place, validate
from dtnsim.ground import library
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Scalar
from dtnsim.ground.yamlio import Mapping, mapping

if TYPE_CHECKING:
    from dtnsim.description.workload import Workload


def named_workload(raw: Mapping, beside: Path | None) -> Mapping:
    """The mapping of a path with a workload that it only names read from its file."""
    name = raw.get("workload")
    if not isinstance(name, str):
        return raw
    file, line = raw.at("workload")
    try:
        workload = library.read("workloads", name, beside=beside)
    except SpecError as error:
        if error.file:
            raise
        key = None if file == "--workload" else "workload"
        raise SpecError(error.message, file=file, line=line or None, key=key, remedy=error.remedy) from None
    inner = workload.get("workload")  # as in a path file, or by itself
    return raw.but("workload", inner if isinstance(inner, Mapping) else workload, (file, line))


def with_workload(raw: Mapping) -> None:
    """Validates the workload of a path, and puts its templates among the transfers."""
    spec = raw.get("workload")
    if spec is None:
        return
    if not isinstance(spec, Mapping):
        raise SpecError("needs a workload", **place(raw, "workload"), key="workload", remedy="write its classes")
    for key in ("transfer", "transfers", "programs"):
        if key in raw:
            remedy = "write them as classes of the workload, with 'start'"
            raise SpecError("stands beside a workload", **place(raw, key), key=key, remedy=remedy)
    from dtnsim.description.workload import Workload

    workload = validate(Workload, spec, key="workload")
    raw.put("workload", workload, *raw.lines["workload"])
    classes = spec["classes"]
    templates: list[Any] = []
    for name in workload.classes:
        location = classes.lines.get(name, (spec.file, spec.line))
        template = _template(name, workload, list(raw["hosts"]), classes[name], location)
        if templates:
            template.put("after", [templates[-1]["name"]], *location)
        templates.append(template)
    raw.put("transfers", templates, *raw.lines["workload"])


def _template(name: str, workload: Workload, hosts: list[str], spec: Mapping, location: tuple[str, int]) -> Mapping:
    """A transfer of a class, between the first of its ends."""
    kind, template = workload.classes[name], Mapping(*location)

    def put(key: str, value: object, source_key: str = "") -> None:
        template.put(key, value, *spec.lines.get(source_key or key, location))

    put("name", Scalar(name, *location))
    begin, end = ({**place(spec, key), "key": f"workload.classes.{name}.{key}"} for key in ("from", "to"))
    first = members(kind.begin[0], workload, hosts, begin)[0]
    destinations = [other for text in kind.to for other in members(text, workload, hosts, end)]
    apart = [end for end in destinations if end.partition(":")[0] != first.partition(":")[0]]
    put("from", Scalar(first, *location))
    put("to", Scalar((apart or destinations)[0], *location))
    put("tool", spec.get("tool"))
    if kind.via:
        put("via", kind.via)
    size = kind.typical_B
    put("dataset", mapping({"files": kind.files_of(size), "size": Scalar(f"{size!r} B", *location)}, *location), "size")
    return template


def members(end: str, workload: Workload, hosts: list[str], where: dict[str, Any]) -> list[str]:
    """The hosts, each with the path, that an end of a class, ``endpoint:/path``, stands for."""
    name, colon, path = end.partition(":")
    name = name.strip()
    patterns = workload.endpoints[name].hosts if name in workload.endpoints else [name]
    matched = [h for p in patterns for h in hosts if fnmatchcase(h, p)]
    if not matched:
        if name in workload.endpoints:
            remedy = f"its hosts ({', '.join(patterns)}) are none of {', '.join(hosts[:12])}"
            raise SpecError("is an endpoint without hosts", **where, value=name, remedy=remedy)
        names = ", ".join([*workload.endpoints, *hosts][:12])
        raise SpecError("is neither an endpoint nor a host", **where, value=name, remedy=f"write one of {names}")
    return [f"{h}{colon}{path}" for h in dict.fromkeys(matched)]
