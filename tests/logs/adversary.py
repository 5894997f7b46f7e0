"""Strings made from a regular expression that make a backtracking matcher work hard.

For every repetition of a pattern: what must come before it, then its own characters a hundred thousand times, then a
mismatch. Patterns are found in every module of `dtnsim.logs`, with the methods the source calls on them.

``python tests/logs/adversary.py [MODULE ...]`` tries every string on every pattern (three minutes), or on those of some
modules (``dd``). The suite tries a few on each.
"""

import ast
import importlib
import pkgutil
import re
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from re import (
    _constants as sre,  # type: ignore[attr-defined]
    _parser,  # type: ignore[attr-defined]
)
from typing import Any, NamedTuple

import dtnsim.logs
from dtnsim.logs._declared import beginnings, compiled
from dtnsim.logs.base import LineParser

LENGTH = 100_000
LIMIT_S = 0.1
_PROBES = "1a .,-:;=/()[]%_A0x+|\"'<>\t&#*{}~@k"
_REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT)


class Used(NamedTuple):
    """A compiled pattern and how the source applies it."""

    name: str
    pattern: re.Pattern[Any]
    methods: tuple[str, ...]


def patterns() -> list[Used]:
    """Every compiled pattern of every module of the parsers, the catalogue's index among them."""
    from dtnsim.logs._catalogue import catalogue

    found: dict[int, Used] = {}
    for info in pkgutil.iter_modules(dtnsim.logs.__path__):
        module = importlib.import_module(f"dtnsim.logs.{info.name}")
        for name, value in vars(module).items():
            for pattern in _compiled(value):
                known = _methods().get((info.name, name), ("search",))
                found.setdefault(id(pattern), Used(f"{info.name}.{name}", pattern, known))
    index = catalogue()
    for parser in index.lines:
        for at, kind in enumerate(getattr(parser, "kinds", ())):
            name = f"{parser.__module__.rpartition('.')[2]}.{parser.__name__} {at}"
            found.setdefault(id(kind.pattern), Used(name, kind.pattern, (kind.find.__name__,)))
            for part in map(compiled, beginnings(kind.pattern.pattern) if kind.result else ()):
                found.setdefault(id(part), Used(f"{name} {part.pattern[-20:]}", part, ("search",)))
    for number, pattern in index._shapes:
        found.setdefault(id(pattern), Used(f"shape.{index.lines[number].tool}", pattern, ("search",)))
    return list(found.values())


def _compiled(value: object) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, type) and issubclass(value, LineParser):
        yield from _compiled([vars(value).get(name) for name in ("line", "failures")])
        yield from map(compiled, beginnings(value.line.pattern) if "line" in vars(value) else ())
    elif isinstance(value, dict):
        for item in value.values():
            yield from _compiled(item)
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _compiled(item)


@cache
def _methods() -> dict[tuple[str, str], tuple[str, ...]]:
    """(module, name of a pattern) -> how that module applies it; a pattern that is only passed on is searched."""
    calls: dict[tuple[str, str], set[str]] = {}
    for info in pkgutil.iter_modules(dtnsim.logs.__path__):
        for node in ast.walk(_tree(info.name)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and hasattr(re.Pattern, node.attr):
                method = node.attr if node.attr in ("match", "fullmatch") else "search"
                calls.setdefault((info.name, node.value.id), set()).add(method)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "located":
                first = node.args[0]
                if isinstance(first, ast.Name):
                    calls.setdefault((info.name, first.id), set()).add("match")
    return {name: tuple(sorted(methods)) for name, methods in calls.items()}


def _tree(module: str) -> ast.Module:
    return ast.parse(Path(importlib.import_module(f"dtnsim.logs.{module}").__file__ or "").read_text())


def literals() -> list[Used]:
    """Patterns that are given as text to a function of `re`."""
    found = []
    for info in pkgutil.iter_modules(dtnsim.logs.__path__):
        for node in ast.walk(_tree(info.name)):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
                continue
            first, owner = node.args[0], node.func.value
            if isinstance(owner, ast.Name) and owner.id == "re" and isinstance(first, ast.Constant):
                method = node.func.attr if node.func.attr in ("match", "fullmatch") else "search"
                if node.func.attr != "compile":
                    found.append(Used(f"{info.name}:{node.lineno}", re.compile(first.value), (method,)))
    return found


def slowest(used: Used, length: int, most: int | None = None) -> tuple[float, str]:
    """(CPU time [s], string) of the attack that takes longest; a time above the limit is taken twice, the less counts.

    Args:
        used: Pattern and methods.
        length: Characters of an attack.
        most: So many attacks, spread over all there are; None for all.
    """
    worst = 0.0, ""
    # what takes the square of the length is slow with a tenth of it, and hardly ends with all
    every = [attack for part in (length // 10, length) for attack in _spread(list(attacks(used.pattern, part)), most)]
    for attack in every:
        for method in used.methods:
            taken = _time(getattr(used.pattern, method), attack)
            if taken > LIMIT_S:
                taken = min(taken, _time(getattr(used.pattern, method), attack))
            if taken > worst[0]:
                worst = taken, f"{method} {attack[:60]!r}"
        if worst[0] > LIMIT_S:
            break
    return worst


def _spread(every: list[Any], most: int | None) -> list[Any]:
    return every[:: 1 if most is None else max(1, len(every) // most)]


def _time(function: Callable[[Any], object], text: Any) -> float:
    start = time.process_time()
    function(text)
    return time.process_time() - start


def attacks(pattern: re.Pattern[Any], length: int = LENGTH) -> Iterator[Any]:
    """Strings of ``length`` characters and a mismatch."""
    raw = pattern.pattern
    text = raw if isinstance(raw, str) else raw.decode("latin-1")
    tree = _parser.parse(text, pattern.flags & ~re.UNICODE)
    seen: set[str] = set()
    for before, units in [*_repeats(tree, ""), ("", _some(tree))]:
        for unit in units:
            if not unit or len(seen) > 400:
                continue
            for end in ("\x01", "!\x01", unit[:-1] + "\x01"):
                attack = before + unit * (length // len(unit)) + end
                key = f"{before}|{unit}|{end}"
                if key not in seen:
                    seen.add(key)
                    yield attack if isinstance(raw, str) else attack.encode("latin-1", "replace")


def _repeats(tree: Any, before: str) -> Iterator[tuple[str, list[str]]]:
    """(what comes before it, its units) of every repetition."""
    for op, value in tree:
        if op in _REPEATS:
            low, high, body = value
            if high > 30:
                yield before, _some(body)
                blank = [unit + " " for unit in _some(body)[:4] if not unit.endswith(" ")]
                yield before, blank
            yield from _repeats(body, before)
            before += (_some(body)[:1] or [""])[0] * max(low, 0)
        elif op is sre.SUBPATTERN:
            yield from _repeats(value[3], before)
            before += (_some(value[3])[:1] or [""])[0]
        elif op is sre.ATOMIC_GROUP:
            yield from _repeats(value, before)
            before += (_some(value)[:1] or [""])[0]
        elif op is sre.BRANCH:
            for branch in value[1]:
                yield from _repeats(branch, before)
            before += (_some(value[1][0])[:1] or [""])[0]
        elif op in (sre.ASSERT, sre.ASSERT_NOT):
            yield from _repeats(value[1], before)
        else:
            before += (_some([(op, value)])[:1] or [""])[0]


def _some(tree: Any) -> list[str]:
    """A few strings that a piece of a pattern matches."""
    found = [""]
    for op, value in tree:
        if op is sre.LITERAL:
            choices = [chr(value)]
        elif op is sre.ANY:
            choices = ["1", "a", " ", ":", ".", ",", "-"]
        elif op is sre.NOT_LITERAL:
            choices = [c for c in _PROBES if ord(c) != value][:9]
        elif op is sre.IN:
            choices = [c for c in _PROBES if _in(value, c)][:9] or [chr(0xA0)]
        elif op in _REPEATS:
            low, _, body = value
            choices = [piece * max(low, 1) for piece in _some(body)[:9]] or [""]
        elif op is sre.SUBPATTERN:
            choices = _some(value[3])
        elif op is sre.ATOMIC_GROUP:
            choices = _some(value)
        elif op is sre.BRANCH:
            choices = [piece for branch in value[1] for piece in _some(branch)[:2]]
        else:
            choices = [""]
        choices = choices[:9] or [""]
        if len(choices) == 1:
            found = [piece + choices[0] for piece in found]
        elif len(found) == 1:
            found = [found[0] + choice for choice in choices]
        else:
            found = [piece + choices[at % len(choices)] for at, piece in enumerate(found)]
    return found


def _in(items: Any, character: str) -> bool:
    inside = False
    negate = False
    code = ord(character)
    for op, value in items:
        if op is sre.NEGATE:
            negate = True
        elif op is sre.LITERAL:
            inside |= code == value
        elif op is sre.RANGE:
            inside |= value[0] <= code <= value[1]
        elif op is sre.CATEGORY:
            inside |= _category(value, character)
    return inside != negate


def _category(category: Any, character: str) -> bool:
    name = str(category)
    found = (
        character.isdigit()
        if "DIGIT" in name
        else character.isspace()
        if "SPACE" in name
        else character.isalnum() or character == "_"
    )
    return found != ("NOT" in name)


def main() -> None:
    """Tries everything and prints the patterns that are too slow."""
    modules = sys.argv[1:]
    every = [used for used in patterns() + literals() if not modules or {*modules} & {*re.split(r"[.: ]", used.name)}]
    slow = 0
    for used in every:
        taken, attack = slowest(used, LENGTH)
        if taken > LIMIT_S:
            slow += 1
            sys.stdout.write(f"{used.name}: {taken:.2f} s for {attack}\n")
    sys.stdout.write(f"{len(every)} patterns, {slow} slower than {LIMIT_S} s for {LENGTH} characters\n")


if __name__ == "__main__":
    main()
