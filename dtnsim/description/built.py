"""Hosts of one path that were built before: a path that is changed in one place builds no other host again."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, Any, Final, TypeVar

from dtnsim.components.base import place
from dtnsim.description import boards
from dtnsim.description.host import build_host
from dtnsim.description.override import split_key
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Scalar
from dtnsim.ground.yamlio import Mapping

if TYPE_CHECKING:
    from dtnsim.description.host import Host

T = TypeVar("T")

#: hosts that are kept at most: a search for what to buy tries thousands
_KEPT: Final = 64


class Built:
    """Hosts by what their mappings say, and where they say it."""

    def __init__(self) -> None:
        self._hosts: dict[Hashable, Host] = {}
        self._keyed: dict[Hashable, tuple[Host, Host]] = {}

    def host(self, name: str, raw: Any) -> Host:
        """The host of a mapping (see `build_host`).

        Raises:
            SpecError: it cannot be used.
        """
        return _kept(self._hosts, (name, _key(raw)), lambda: build_host(name, raw))

    def keyed(self, host: Host, make: Callable[..., Host], *given: Hashable) -> Host:
        """What ``make`` gives of a host and of what else is given: the same host again for the same."""
        # together with the host it was made of: its id is no other's then
        return _kept(self._keyed, (id(host), *given), lambda: (host, make(host, *given)))[1]

    def hosts(self, given: Mapping) -> tuple[dict[str, Host], list[SpecError]]:
        """The hosts of a path, and what is wrong with those that cannot be built."""
        hosts: dict[str, Host] = {}
        wrong: list[SpecError] = []
        for name, raw in given.items():
            try:
                hosts[name] = self.host(name, raw)
            except SpecError as error:
                wrong += error.findings
                continue
            try:
                hosts[name].check_wiring()
                boards.check(hosts[name])
            except SpecError as error:
                wrong.append(_located(error, name, raw))
        return hosts, wrong

    def __reduce__(self) -> tuple[type[Built], tuple[()]]:
        """In another process nothing has been built."""
        return Built, ()


def _kept(known: dict[Hashable, T], key: Hashable, make: Callable[[], T]) -> T:
    """What is known by a key, or made now; of very many those that were asked for last stay."""
    made = known.pop(key) if key in known else make()
    known[key] = made
    if len(known) > _KEPT:
        del known[next(iter(known))]
    return made


def spot_of(where: Any, steps: Iterable[str | int]) -> tuple[dict[str, Any], bool]:
    """File and line of what lies furthest along some steps, and whether it is their end."""
    spot = place(where)
    for step in steps:
        keys = where if isinstance(where, Mapping) else range(len(where)) if isinstance(where, list) else ()
        if step not in keys:
            return spot, False
        spot, where = place(where, str(step)) or place(where[step]) or spot, where[step]
    return spot, True


def _located(error: SpecError, host: str, given: object) -> SpecError:
    """An error in a host's wiring, with the file and the line of what it is about."""
    spot, _ = spot_of(given, split_key((error.key or "").removeprefix(f"{host}.")))
    return SpecError(error.message, **spot, key=f"hosts.{error.key}", value=error.value, remedy=error.remedy)


def _key(value: Any) -> Hashable:
    """What was read, and from where: equal for what builds equal hosts."""
    if isinstance(value, dict):
        where = (value.file, value.line, tuple(value.lines.items())) if isinstance(value, Mapping) else ()
        return where, tuple((key, _key(item)) for key, item in value.items())
    if isinstance(value, list):
        return tuple(map(_key, value))
    if isinstance(value, Scalar):
        return str(value), value.file, value.line, value.source
    return type(value), repr(value)
