"""Settings of transfer tools: more or fewer files and streams at once, several runs, and another tool."""

from collections.abc import Iterator

from dtnsim.planning import tool_choice
from dtnsim.planning.actions import Scope, free
from dtnsim.planning.option import Setting
from dtnsim.steady import relieved


@free("tuning")
def counts(scope: Scope) -> Iterator[Setting]:
    """More or fewer files, streams and runs at once; of Globus what an endpoint tells the service."""
    path, tools = scope.given, [t.tool for t in scope.given.transfers]
    for first in (n for n, tool in enumerate(tools) if tool not in tools[:n]):
        alike = (n for n, tool in enumerate(tools) if tool == tools[first])
        keys, name = list(dict.fromkeys(map(path.transfer_key, alike))), path.transfers[first].name
        label = name if len(keys) == 1 else f"{name} and {len(keys) - 1} like it"
        for one in relieved.counts(path, first, keys):
            yield Setting(f"{label}: {one.what}", one.overrides, (one.line,))


@free("tools", anew=True)
def another(scope: Scope) -> Iterator[Setting]:
    """The quickest other tools, if any, that the ends have what they need for."""
    yield from tool_choice.quick(scope.given, ready=True) if tool_choice.is_only_transfer(scope.given) else ()


@free("tools", anew=True)
def archive(scope: Scope) -> Iterator[Setting]:
    """Many small files as one archive, that ends where they lie have room for."""
    yield from tool_choice.as_archive(scope.given) if len(scope.given.transfers) == 1 else ()


@free("far", anew=True)
def another_there(scope: Scope) -> Iterator[Setting]:
    """... also of those that need a service at the far side."""
    yield from tool_choice.quick(scope.given, ready=False) if tool_choice.is_only_transfer(scope.given) else ()
