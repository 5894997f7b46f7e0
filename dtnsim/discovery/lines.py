"""Lines of a host file under way: each with where it is from, or what is still to be found out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_PLAIN: Final = re.compile(r"[A-Za-z0-9_./%-][A-Za-z0-9_./% -]*")
#: words that YAML takes for something else
_OTHER: Final = frozenset({"on", "off", "yes", "no", "true", "false", "null", "~", "y", "n"})


@dataclass(frozen=True, slots=True)
class Said:
    """A value.

    Attributes:
        value: Text of the value, or a number.
        source: Where it is from; printed behind it.
        todo: What to find out, where it is a guess.
    """

    value: str | int
    source: str
    todo: str = ""


Tree = dict[str, "Said | Tree"]


def text(tree: Tree, indent: int = 0) -> str:
    """The tree as YAML, a comment behind every line."""
    return "".join(f"{line}\n" for line in _lines(tree, indent))


def _lines(tree: Tree, indent: int) -> Iterator[str]:
    for key, item in tree.items():
        start = f"{'  ' * indent}{quoted(key)}:"
        if isinstance(item, Said):
            note = f"TODO: {item.todo} ({item.source})" if item.todo else item.source
            value = str(item.value) if isinstance(item.value, int) else quoted(item.value)
            yield f"{start} {value}" + (f"  # {_one_line(note)}" if note else "")
        elif item:
            yield start
            yield from _lines(item, indent + 1)


def _one_line(note: str) -> str:
    return "".join(c if c.isprintable() else " " for c in note)


def quoted(value: str) -> str:
    """A scalar that YAML reads as this text."""
    if value[:1] + value[-1:] in ("{}", "[]"):
        return value  # a mapping or list that this package wrote
    plain = _PLAIN.fullmatch(value) and value.lower() not in _OTHER and not value.endswith(" ")
    return value if plain and not value.startswith(("-", "%")) else json.dumps(value)


def todos(tree: Tree) -> int:
    """How many values are guesses."""
    return sum(bool(i.todo) if isinstance(i, Said) else todos(i) for i in tree.values())
