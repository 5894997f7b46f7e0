"""What is tested is what answers: definitions of the lower rooms are reached from the commands.

A definition is reached where its name is used by another room, at the level of a module, or by a definition that is
reached.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import CodeType

import pytest

import dtnsim

ROOT = Path(dtnsim.__file__).parent


def names(node: ast.AST) -> set[str]:
    """Every name that a piece of code mentions."""
    found: set[str] = set()
    for n in ast.walk(node):
        match n:
            case ast.Name():
                found.add(n.id)
            case ast.Attribute():
                found.add(n.attr)
            case ast.ImportFrom():
                found.update(a.name for a in n.names)
    return found


@cache
def tree(path: Path) -> ast.Module:
    """A file, parsed."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def mentioned(path: Path) -> frozenset[str]:
    """Every name that the code of a file mentions: the compiler knows, in a tenth of the time that a walk takes."""

    def of(code: CodeType) -> Iterator[str]:
        yield from code.co_names
        yield from code.co_freevars
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                yield from of(constant)

    return frozenset(of(compile(path.read_text(encoding="utf-8"), str(path), "exec", dont_inherit=True)))


def definitions(room: str) -> dict[str, list[ast.AST]]:
    """Functions, classes and public methods of a room, by name."""
    found: dict[str, list[ast.AST]] = {}
    for path in (ROOT / room).rglob("*.py"):
        for node in tree(path).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found.setdefault(node.name, []).append(node)
            methods = node.body if isinstance(node, ast.ClassDef) else []
            for method in methods:
                if isinstance(method, ast.FunctionDef) and not method.name.startswith("_"):
                    found.setdefault(method.name, []).append(method)
    return found


def unreached(room: str) -> set[str]:
    """Definitions of a room that no other room leads to."""
    known = definitions(room)
    outside: set[str] = set()
    for path in ROOT.rglob("*.py"):
        if room not in path.relative_to(ROOT).parts:
            outside |= mentioned(path)
        else:
            rest = [n for n in tree(path).body if not isinstance(n, ast.FunctionDef | ast.ClassDef | ast.ImportFrom)]
            outside |= {name for node in rest for name in names(node)}
    live, fresh = set(), {n for n in known if n in outside}
    while fresh:
        live |= fresh
        used = {name for n in fresh for node in known[n] for name in _used(node)}
        fresh = {n for n in used if n in known} - live
    return set(known) - live


def _used(node: ast.AST) -> set[str]:
    """What a definition uses: of a class, all but the public methods, which are definitions of their own."""
    if not isinstance(node, ast.ClassDef):
        return names(node)
    own = [n for n in node.body if not (isinstance(n, ast.FunctionDef) and not n.name.startswith("_"))]
    return {name for part in (*own, *node.bases) for name in names(part)}


@pytest.mark.parametrize("room", ["physics", "ground", "engine", "description", "composition", "simulation", "report"])
def test_every_definition_of_a_room_is_reached(room: str) -> None:
    """Those of other rooms are found by their files, or by decorators."""
    assert not unreached(room)


def test_a_definition_that_nobody_uses_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "a.py").write_text("def used():\n    helper()\ndef helper(): ...\ndef dead():\n    dead()\n")
    (tmp_path / "b.py").write_text("from engine.a import used\nused()\n")
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    assert unreached("engine") == {"dead"}
