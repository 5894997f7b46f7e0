"""Settings of transfer tools: more or fewer files and streams at once, several runs, and another tool."""

from __future__ import annotations

from collections.abc import Iterator

from dtnsim.description.spec import PathSpec
from dtnsim.planning import tool_choice
from dtnsim.planning.actions import Scope, free
from dtnsim.planning.option import Setting
from dtnsim.steady import relieved


@free("tuning")
def counts(scope: Scope) -> Iterator[Setting]:
    """More or fewer files, streams and runs at once; of Globus what an endpoint tells the service."""
    for number, (said, keys) in _alike(scope.given).items():
        for one in relieved.counts(scope.given, number, keys):
            yield Setting(f"{said}: {one.what}", one.overrides, (one.line,))


@free("tools", anew=True)
def another(scope: Scope) -> Iterator[Setting]:
    """The quickest other tools, if any, that the ends have what they need for."""
    yield from _quickest(scope.given, ready=True)


@free("tools", anew=True)
def archive(scope: Scope) -> Iterator[Setting]:
    """Many small files as one archive, that ends where they lie have room for."""
    for found in tool_choice.as_archive(scope.given) if len(scope.given.transfers) == 1 else ():
        what = f"{scope.given.transfers[0].name}: archive first"
        yield Setting(what, found.overrides, (f"{found.line}   # needs {found.needs}",))


@free("far", anew=True)
def another_there(scope: Scope) -> Iterator[Setting]:
    """... also of those that need a service at the far side."""
    yield from _quickest(scope.given, ready=False)


def _quickest(given: PathSpec, *, ready: bool) -> Iterator[Setting]:
    for found in tool_choice.quick(given, ready=ready) if tool_choice.alone(given) else ():
        needs = f"   # needs {found.needs}" if found.needs else ""
        yield Setting(f"{given.transfers[0].name}: another tool", found.overrides, (found.line + needs,))


def _alike(given: PathSpec) -> dict[int, tuple[str, list[str]]]:
    """Number of the first of each group of transfers with the same tool: (what they are called, their keys)."""
    groups: list[list[int]] = []
    for number, transfer in enumerate(given.transfers):
        same = next((g for g in groups if given.transfers[g[0]].tool == transfer.tool), None)
        if same is None:
            groups.append([number])
        else:
            same.append(number)
    found = {}
    for numbers in groups:
        keys = list(dict.fromkeys(map(given.transfer_key, numbers)))
        name = given.transfers[numbers[0]].name
        found[numbers[0]] = name if len(keys) == 1 else f"{name} and {len(keys) - 1} like it", keys
    return found
