"""Options of tools that are a number of streams, files or processes at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from dtnsim.description.spec import PathSpec

#: those that are files
FILES_AT_ONCE: Final = frozenset({"cc", "transfers", "parallel", "numjobs", "max_concurrent_requests", "numworkers"})
_AT_ONCE: Final = FILES_AT_ONCE | {"p", "N", "s", "P", "streams"}


def at_once(given: PathSpec) -> list[tuple[int, str, int]]:
    """(number of the transfer, option, its value) of the tools' options that are a number of things at once."""
    found = []
    for number, transfer in enumerate(given.transfers):
        for name in type(transfer.tool).model_fields:
            now = getattr(transfer.tool, name)
            if name in _AT_ONCE and isinstance(now, int) and not isinstance(now, bool):
                found.append((number, name, now))
    return found
