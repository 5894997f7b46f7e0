"""Notes on what was read from names, said once: of like hosts in one line, and of several drives."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_OF_HOST: Final = re.compile(r"hosts\.([^.:]+)([.:].*)", re.DOTALL)
#: drives that were taken from their names
_DRIVES: Final = re.compile(
    r"(hosts\.\S+ ?): ('.*?') is not in the library: taken from its name: part (\S+)(.*)", re.DOTALL
)


def folded(notes: Iterable[str]) -> tuple[str, ...]:
    """The notes, each once: the same of several hosts names the first, and drives told by their names are one line."""
    hosts: dict[str, list[str]] = {}
    for note in dict.fromkeys(notes):
        found = _OF_HOST.fullmatch(note)
        hosts.setdefault(found[2] if found is not None else note, []).append(found[1] if found is not None else "")
    said: list[str] = []
    named: list[tuple[str, str]] = []
    for rest, own in hosts.items():
        first = f"hosts.{own[0]}{rest}" if own[0] else rest
        alike = f"{', '.join(own[1:3])}{f' and {len(own) - 3} others' if len(own) > 3 else ''} alike"
        said.append(first if len(own) == 1 else f"{first} ({alike})")
        if drive := _DRIVES.fullmatch(said[-1]):
            named.append((said[-1], f"{drive[1]} {drive[2]} as {drive[3]}{drive[4]}"))
    if len(named) < 2:
        return tuple(said)
    gone = dict(named)
    line = f"drives that are not in the library are taken from their names: {'; '.join(gone.values())}"
    place = said.index(named[0][0])
    return (*said[:place], line, *(note for note in said[place:] if note not in gone))
