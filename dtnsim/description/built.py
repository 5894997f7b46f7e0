"""Hosts of one path that were built before: a path that is changed in one place builds no other host again."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Final

from dtnsim.description.host import build_host
from dtnsim.ground.quantity import Scalar
from dtnsim.ground.yamlio import Mapping

if TYPE_CHECKING:
    from dtnsim.description.host import Host

#: hosts that are kept at most: a search for what to buy tries thousands
_KEPT: Final = 64


class Built:
    """Hosts by what their mappings say, and where they say it."""

    def __init__(self) -> None:
        self._hosts: dict[Hashable, Host] = {}

    def host(self, name: str, raw: Any) -> Host:
        """The host of a mapping (see `build_host`).

        Raises:
            SpecError: it cannot be used.
        """
        key = (name, _key(raw))
        made = self._hosts.pop(key, None) or build_host(name, raw)
        self._hosts[key] = made
        if len(self._hosts) > _KEPT:
            del self._hosts[next(iter(self._hosts))]
        return made

    def __reduce__(self) -> tuple[type[Built], tuple[()]]:
        """In another process nothing has been built."""
        return Built, ()


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
