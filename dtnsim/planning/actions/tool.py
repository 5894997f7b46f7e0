"""Settings of transfer tools: more or fewer files and streams at once, several runs, and another tool."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dtnsim.description.spec import PathSpec
from dtnsim.description.transfer import at_once, split_end, typed
from dtnsim.planning import tool_choice
from dtnsim.planning.actions import Scope, free
from dtnsim.planning.option import Setting

_MULTIPLES: Final = (2, 4, 8)
#: more than this no tool takes kindly
_MOST_AT_ONCE: Final = 64
#: files at once, and streams of each, that an endpoint of Globus may be given in the place of what the service chooses
_GLOBUS: Final = ((4, 4), (8, 4), (16, 4))


@free("tuning")
def options(scope: Scope) -> Iterator[Setting]:
    """More or fewer files and streams at once."""
    alike = _alike(scope.given)
    for number, name, now in at_once(scope.given.transfers):
        if number not in alike:
            continue
        transfer, (said, keys) = scope.given.transfers[number], alike[number]
        fewer = {1, now // 2} if now > 1 else set()
        for value in sorted({*fewer, *(now * times for times in _MULTIPLES if now * times <= _MOST_AT_ONCE)}):
            line = typed(transfer.tool, name, value)
            option = line.removesuffix(str(value)).split()[-1]
            what = f"{said}: {option.removeprefix('default.s3.').rstrip(':')}"
            yield Setting(what, tuple(f"{key}.tool.{name}={value}" for key in keys), (line,))


@free("tuning")
def service(scope: Scope) -> Iterator[Setting]:
    """What an endpoint of Globus tells the service, which chooses the rest."""
    for number, (said, keys) in _alike(scope.given).items():
        if scope.given.transfers[number].tool.kind != "globus":
            continue
        for files, streams in _GLOBUS:
            sets = {"concurrency": files, "max_concurrency": files, "parallelism": streams, "max_parallelism": streams}
            line = (
                f"globus-connect-server endpoint update --network-use custom --preferred-concurrency {files} "
                f"--max-concurrency {files} --preferred-parallelism {streams} --max-parallelism {streams}   # both ends"
            )
            overrides = tuple(f"{key}.tool.{name}={value}" for key in keys for name, value in sets.items())
            yield Setting(f"{said}: network use of the endpoints", overrides, (line,))


@free("tuning")
def runs(scope: Scope) -> Iterator[Setting]:
    """Several runs at once, each with its share of the files, of tools that have no option for several files."""
    several = {number for number, t in enumerate(scope.given.transfers) if t.tool.files_option}
    parts: dict[str, list[int]] = {}
    for number in range(len(scope.given.transfers)):
        parts.setdefault(scope.given.transfer_key(number), []).append(number)
    for key, numbers in parts.items():
        transfer = scope.given.transfers[numbers[0]]
        files = sum(d.files for n in numbers if (d := scope.given.transfers[n].dataset) is not None)
        # what a mount moves goes over its own connections, however many read and write it
        mounted = split_end(transfer.source_end)[0] == split_end(transfer.to)[0]
        if (
            mounted
            or several & set(numbers)
            or transfer.timing() is not None
            or scope.given.workload is not None
            or scope.given.programs
        ):
            continue
        for count in (2, 4):
            if len(numbers) == 1 and count <= files:
                yield Setting(
                    f"{transfer.name}: runs at once",
                    (f"{key}.runs={count}",),
                    (f"# start {transfer.tool.kind} {count} times, each with its share of the files",),
                )


@free("tools", anew=True)
def another(scope: Scope) -> Iterator[Setting]:
    """The quickest other tool, if any, that the ends have what it needs for."""
    yield from _quickest(scope.given, ready=True)


@free("tools", anew=True)
def archive(scope: Scope) -> Iterator[Setting]:
    """Many small files as one archive, that ends where they lie have room for."""
    for found in tool_choice.as_archive(scope.given, ready=True) if len(scope.given.transfers) == 1 else ():
        what = f"{scope.given.transfers[0].name}: archive first"
        yield Setting(what, found.overrides, (f"{found.line}   # needs {found.needs}",))


@free("far", anew=True)
def another_there(scope: Scope) -> Iterator[Setting]:
    """... also of those that need a service at the far side."""
    yield from _quickest(scope.given, ready=False)


def _quickest(given: PathSpec, *, ready: bool) -> Iterator[Setting]:
    found = tool_choice.quickest(given, ready=ready) if len(given.transfers) == 1 else None
    if found is not None:
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
