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
        found = library.read("workloads", name, beside=beside)
    except SpecError as error:
        if error.file:
            raise
        key = None if file == "--workload" else "workload"
        raise SpecError(error.message, file=file, line=line or None, key=key, remedy=error.remedy) from None
    inner = found.get("workload")  # as in a path file, or by itself
    return raw.but("workload", inner if isinstance(inner, Mapping) else found, (file, line))


def with_workload(raw: Mapping) -> None:
    """Validates the workload of a path, and puts its templates among the transfers.

    Raises:
        SpecError: With file, line, key, value and remedy.
    """
    given = raw.get("workload")
    if given is None:
        return
    if not isinstance(given, Mapping):
        raise SpecError("needs a workload", **place(raw, "workload"), key="workload", remedy="write its classes")
    for key in ("transfer", "transfers", "programs"):
        if key in raw:
            remedy = "write them as classes of the workload, with 'start'"
            raise SpecError("stands beside a workload", **place(raw, key), key=key, remedy=remedy)
    from dtnsim.description.workload import Workload

    workload = validate(Workload, given, key="workload")
    raw.put("workload", workload, *raw.lines["workload"])
    classes = given["classes"]
    made: list[Any] = []
    for name in workload.classes:
        at = classes.lines.get(name, (given.file, given.line))
        template = _template(name, workload, list(raw["hosts"]), classes[name], at)
        if made:
            template.put("after", [made[-1]["name"]], *at)
        made.append(template)
    raw.put("transfers", made, *raw.lines["workload"])


def _template(name: str, workload: Workload, hosts: list[str], given: Mapping, at: tuple[str, int]) -> Mapping:
    """A transfer of a class, between the first of its ends."""
    kind, template = workload.classes[name], Mapping(*at)

    def put(key: str, value: object, of: str = "") -> None:
        template.put(key, value, *given.lines.get(of or key, at))

    put("name", Scalar(name, *at))
    begin, end = ({**place(given, key), "key": f"workload.classes.{name}.{key}"} for key in ("from", "to"))
    first = members(kind.begin[0], workload, hosts, begin)[0]
    others = [other for text in kind.to for other in members(text, workload, hosts, end)]
    apart = [end for end in others if end.partition(":")[0] != first.partition(":")[0]]
    put("from", Scalar(first, *at))
    put("to", Scalar((apart or others)[0], *at))
    put("tool", given.get("tool"))
    if kind.via:
        put("via", kind.via)
    size = kind.typical_B
    put("dataset", mapping({"files": kind.files_of(size), "size": Scalar(f"{size!r} B", *at)}, *at), "size")
    return template


def members(end: str, workload: Workload, hosts: list[str], where: dict[str, Any]) -> list[str]:
    """The hosts, each with the path, that an end of a class, ``endpoint:/path``, stands for.

    Raises:
        SpecError: There is none.
    """
    name, colon, path = end.partition(":")
    name = name.strip()
    patterns = workload.endpoints[name].hosts if name in workload.endpoints else [name]
    found = [h for p in patterns for h in hosts if fnmatchcase(h, p)]
    if not found:
        if name in workload.endpoints:
            remedy = f"its hosts ({', '.join(patterns)}) are none of {', '.join(hosts[:12])}"
            raise SpecError("is an endpoint without hosts", **where, value=name, remedy=remedy)
        known = ", ".join([*workload.endpoints, *hosts][:12])
        raise SpecError("is neither an endpoint nor a host", **where, value=name, remedy=f"write one of {known}")
    return [f"{h}{colon}{path}" for h in dict.fromkeys(found)]
