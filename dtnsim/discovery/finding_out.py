"""How an uncertain number is found out: benchmarks.yaml, the table of tests and commands, asked by its name."""

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from dtnsim.description.host import Host
from dtnsim.ground import yamlio
from dtnsim.ground.grouping import by_key

SORTS: Final = ("fio", "openssl", "loopback", "peer")  #: sorts of tests of `measure`


@cache
def table() -> dict[str, Any]:
    """benchmarks.yaml."""
    return dict(yamlio.plain(Path(__file__).with_name("benchmarks.yaml")))


def _row(name: str) -> list[str]:
    """How to find a number out, and the sorts of tests that tell it."""
    return next(row for part, row in table()["numbers"].items() if part in name)


def how(name: str, system: str = "linux") -> str:
    """How to find a number out, by its key, on a host with a system: linux, windows, macos or freebsd."""
    words = _row(name)[0]
    for word, substitute in table()["systems"].get(system, {}).items():
        words = words.replace(word, substitute)
    return words


def how_on(name: str, hosts: Mapping[str, Host]) -> str:
    """How to find a number out, by its key, on the hosts, by name, that it is of, each as its system has it."""
    words = by_key((how(name, host.system), host.name) for host in hosts.values())
    several = (f"{advice} (on {' and '.join(names)})" for advice, names in words.items())
    return "; ".join(several) if len(words) > 1 else next(iter(words), how(name))


def told_by(names: Iterable[str], host: str) -> dict[str, list[str]]:
    """For each sort of tests on a host the ``names`` of what makes a path uncertain that it tells of (`why_wide`)."""
    names_by_sort: dict[str, list[str]] = {sort: [] for sort in SORTS}
    for name in names:
        on_host = f"{host}." in name or f"{host}/" in name or name == f"fitted parameters of {host}"
        for sort in _row(name)[1:]:
            if on_host or sort == "peer":
                names_by_sort[sort].append(name)
    return names_by_sort
