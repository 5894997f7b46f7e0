"""What may be changed: each kind of change is one file here, and says what it needs, alters and costs, in which words.

A kind is a function. `free` marks one that yields settings, which cost nothing that is known; `bought` one that puts
options into the shop. Both name the word of ``--allow`` that it belongs to. Files are found by being here.
"""

import importlib
import pkgutil
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from dtnsim.components.wiring import Volume
from dtnsim.description.host import Host
from dtnsim.description.hosts import written_once
from dtnsim.description.spec import PathSpec
from dtnsim.ground.errors import DtnsimError
from dtnsim.planning.option import Refused, Setting


@dataclass(frozen=True, slots=True)
class Scope:
    """Where settings are looked for."""

    given: PathSpec  #: The path.
    hosts: Sequence[str]  #: Hosts that may change.
    target_Bps: float = 0.0  #: Rate to reach [B/s].

    def changeable_hosts(self) -> list[tuple[str, Host]]:
        """Hosts that may change, by name; of several that are written once the first, with which the others change."""
        return [(name, self.given.hosts[name]) for name in written(self.given, self.hosts)]

    def volumes(self) -> Iterator[tuple[str, str, str, Volume]]:
        """(name of the host, mount point, key, volume) of those hosts."""
        for name, host in self.changeable_hosts():
            for mount, volume in host.volumes.items():
                yield name, mount, f"hosts.{name}.volumes.{mount}", volume


def written(path: PathSpec, hosts: Sequence[str]) -> list[str]:
    """Hosts that the file writes: one of several alike (``count``) is changed with the first of them."""
    firsts = {n: written_once(n, h.count if (h := path.hosts[n]).count > 1 else None, path.hosts) for n in hosts}
    return [n for n, first in firsts.items() if first == n or first not in hosts]


def changed_hosts(before: PathSpec, after: PathSpec) -> list[str]:
    """Hosts that a change of a path changes: those that it names, and those that are like them."""
    return [name for name, host in before.hosts.items() if after.hosts.get(name, host) != host]


def in_the_file(written: PathSpec, apart: Sequence[str], overrides: Sequence[str]) -> tuple[str, ...]:
    """What makes a path of the one ``written``, of which ``apart`` writes out hosts that would follow others."""
    needed: list[str] = []
    for name in dict.fromkeys(o.split(".")[1].partition("=")[0] for o in apart):
        prefixes = (f"hosts.{name}=", f"hosts.{name}.")
        if any(o.startswith(prefixes[0]) for o in overrides):
            continue
        others = [o for o in overrides if o.startswith("hosts.") and not o.startswith(prefixes)]
        try:
            follows = name in changed_hosts(written, written.changed(others))
        except DtnsimError:  # the other one lacks a volume then, and so does this
            follows = True
        needed += [o for o in apart if follows and o.startswith(prefixes)]
    return (*needed, *overrides)


Free = Callable[[Scope], Iterable[Setting | Refused]]  #: what could be set, and what cannot
Bought = Callable[[Any], None]  #: what can be bought for the host that a `fitting.Shop` is at

#: words of --allow: settings of your hosts and tools, other tools, parts and whole machines of yours, how data lie on
#: their drives, the network between, and what you ask the far side for
ALLOWED: Final = ("tuning", "tools", "parts", "layout", "hosts", "network", "far")
USUAL: Final = ("tuning", "tools", "parts")  #: what may be changed where nobody says

_FREE: Final[list[tuple[str, bool, Free]]] = []
_BOUGHT: Final[list[tuple[str, Bought]]] = []


def free(allow: str, *, anew: bool = False) -> Callable[[Free], Free]:
    """Marks a kind that costs nothing that is known; ``anew``: all the others are tuned again with it."""

    def marked(find: Free) -> Free:
        _FREE.append((allow, anew, find))
        return find

    return marked


def bought(allow: str) -> Callable[[Bought], Bought]:
    """Marks a kind that has a price."""

    def marked(find: Bought) -> Bought:
        _BOUGHT.append((allow, find))
        return find

    return marked


@cache
def _load() -> None:
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    _FREE.sort(key=lambda known: known[2].__module__)  # whoever was imported first
    _BOUGHT.sort(key=lambda known: known[1].__module__)


def settings(
    path: PathSpec, hosts: Sequence[str], target_Bps: float, allow: Collection[str], *, anew: bool = False
) -> list[Setting]:
    """What could be set of the kinds that are allowed; ``anew``: of those alone with which others are tuned again."""
    return [s for s in _settings(Scope(path, hosts, target_Bps), allow, anew=anew) if isinstance(s, Setting)]


def refused(path: PathSpec, hosts: Sequence[str], target_Bps: float, allow: Collection[str]) -> tuple[Refused, ...]:
    """What of those kinds cannot be set, and why: layouts alone lack room."""
    layouts = _settings(Scope(path, hosts, target_Bps), {"layout"} & set(allow), anew=False)
    return tuple(r for r in layouts if isinstance(r, Refused))


def _settings(scope: Scope, allow: Collection[str], *, anew: bool) -> Iterator[Setting | Refused]:
    _load()
    for kind, again, find in _FREE:
        if kind in allow and again is anew:
            yield from find(scope)


def fill(shop: Any, allow: Collection[str]) -> None:
    """Puts everything into the shop that can be bought for the host that it is at."""
    _load()
    for kind, find in _BOUGHT:
        if kind in allow:
            find(shop)
