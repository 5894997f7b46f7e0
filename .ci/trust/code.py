"""Single-point mutants of the code, each against the tests of its room; what they do not find is printed and kept.

A comparison turned, a number moved, an operator, a boolean, a condition or a `return` taken away, in a copy of the
checkout. Tests that name the module come first, then all of the room. They get five minutes of CPU, however busy the
machine is: what takes longer than that is found as well.
"""

from __future__ import annotations

import ast
import random
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from counts import SkippedError

ROOT = Path(__file__).parents[2]
ROOMS = ("composition", "description", "discovery", "engine", "evidence", "ground", "logs", "physics", "planning",
         "report", "simulation", "steady", "tools", "components")  # fmt: skip
USUAL = {"code": 30}
FOLDER = TemporaryDirectory()
_TURNED = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
           ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is}  # fmt: skip
_OTHER = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.And: ast.Or, ast.Or: ast.And}


def _changes(tree: ast.AST) -> Iterator[tuple[int, int, int, int, str]]:
    """(first line, column, last line, column, text to put there) of every change that a file allows."""
    for node in ast.walk(tree):
        made: ast.AST | None = None
        if isinstance(node, ast.Compare) and type(node.ops[0]) in _TURNED:
            made = ast.Compare(node.left, [_TURNED[type(node.ops[0])](), *node.ops[1:]], node.comparators)
        elif isinstance(node, ast.BinOp) and type(node.op) in _OTHER:
            made = ast.BinOp(node.left, _OTHER[type(node.op)](), node.right)
        elif isinstance(node, ast.BoolOp):
            made = ast.BoolOp(_OTHER[type(node.op)](), node.values)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            made = node.operand
        elif isinstance(node, ast.IfExp):
            made = ast.IfExp(node.test, node.orelse, node.body)
        elif isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Constant):
            made = ast.Return(ast.Constant(None))
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            made = ast.Constant(not node.value)
        elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            made = ast.Constant(node.value + 1)
        if made is not None and node.lineno == node.end_lineno:  # type: ignore[attr-defined]
            yield node.lineno, node.col_offset, node.end_lineno, node.end_col_offset, ast.unparse(made)  # type: ignore[attr-defined]


@cache
def _copy() -> Path:
    """A checkout of its own."""
    place = Path(FOLDER.name) / "dtnsim"
    keep = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache")
    shutil.copytree(ROOT, place, ignore=keep)
    return place


def _tests(where: Path) -> Iterator[list[Path]]:
    """Files of tests that name a module, the one that does so most in its lines first, then the others of its room."""
    room = where.relative_to(ROOT / "dtnsim").parts[0]
    folders = [_copy() / "tests" / room, *([_copy() / "tests" / "cli"] if room == "report" else [])]
    named = re.compile(rf"\b{where.stem}\b")
    names = {f: len(named.findall(t := f.read_text())) / len(t) for d in folders for f in sorted(d.rglob("test_*.py"))}
    every = sorted(names, key=lambda f: (f.stem != f"test_{where.stem}", -names[f]))
    yield from filter(None, ([f for f in every if names[f]], [f for f in every if not names[f]]))


def _failed(tests: list[Path], but: Iterable[str] = ()) -> str | None:
    """The first test that fails or has not ended within five minutes of CPU; None where all pass."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-qx", "-p", "no:cacheprovider", *map("--deselect={}".format, but), *tests],
        cwd=_copy(), env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(_copy())}, stdout=subprocess.PIPE, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (300, 300)),
    )  # fmt: skip
    named = re.search(r"^FAILED (.+?)(?: - .*)?$", done.stdout.decode(errors="replace"), re.MULTILINE)
    return None if done.returncode in (0, 5) else named[1] if named else "no end of the tests"


def code(number: int) -> str | None:
    """One mutant: None where a test fails."""
    drawn = random.Random(f"code {number}")
    files = [f for room in ROOMS for f in sorted((ROOT / "dtnsim" / room).rglob("*.py"))]
    where = drawn.choice(files)
    text = where.read_text()
    changes = sorted(_changes(ast.parse(text)))
    if not changes:
        raise SkippedError(f"{where.relative_to(ROOT)} has nothing to change")
    line, first, _, last, put = drawn.choice(changes)
    lines = text.splitlines(keepends=True)
    before = lines[line - 1].encode()
    lines[line - 1] = (
        (before[:first] + f"({put})".encode() + before[last:]).decode()
        if not put.startswith("return")
        else (before[:first] + put.encode() + before[last:]).decode()
    )
    place = _copy() / where.relative_to(ROOT)
    place.write_text("".join(lines))
    said = f"{where.relative_to(ROOT)}:{line}: {before.decode()[first:last]!r} became {put!r}"
    print(said, flush=True)
    fails_anyway: set[str] = set()
    try:
        for tests in _tests(where):
            while found := _failed(tests, fails_anyway):
                place.write_text(text)
                if "::" not in found or _failed([_copy() / found]) is None:
                    print(found, flush=True)
                    return None
                fails_anyway.add(found)  # without the mutant, too: it has found nothing
                place.write_text("".join(lines))
    finally:
        place.write_text(text)
    return said
