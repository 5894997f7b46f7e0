"""The house keeps its rules: layers, types, style, size of files, public names, nothing private in it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import networkx as nx
import pytest

import dtnsim

ROOT = Path(__file__).parents[1]
CODE = sorted((ROOT / "dtnsim").rglob("*.py"))


def test_imports_go_one_way() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()", "--no-cache"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_files_can_be_read_in_one_sitting() -> None:
    lines = {p: len(p.read_text().splitlines()) for p in CODE}
    assert not {str(p): n for p, n in lines.items() if n > 400}
    assert 120 <= sorted(lines.values())[len(lines) // 2] <= 200  # a file is a topic, neither a function nor a room


def test_functions_are_short() -> None:
    """Past 50 lines of code (docstring apart) a function is two."""
    long = []
    for path in CODE:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                if body and body[-1].end_lineno - body[0].lineno + 1 > 50:  # type: ignore[operator]
                    long.append(f"{path.relative_to(ROOT)}:{node.lineno} {node.name}")
    assert not long


def test_the_public_surface_is_small_and_real() -> None:
    assert len(dtnsim.__all__) <= 20
    for name in dtnsim.__all__:
        assert getattr(dtnsim, name) is not None
    with pytest.raises(AttributeError, match="nothing"):
        _ = dtnsim.nothing


def test_importing_stays_light() -> None:
    heavy = ["scipy", "plotly", "simpy", "lmfit", "numba", "pandas", "jc"]
    code = (
        "import sys, dtnsim; assert 'numpy' not in sys.modules; "
        "dtnsim.predict('venadi/gridftp-gpfs'); "
        f"print([m for m in {heavy} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_nothing_of_a_workplace_is_in_the_project() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    tracked = listed.stdout.split("\n")
    machine = re.compile(r"/(work|tmp|root|home/runner)/[a-z]+/|https?://([a-z]+\.)*(pypi|pythonhosted|npmjs|debian)\.")
    bad = []
    for name in filter(None, tracked):
        path = ROOT / name
        if path.suffix in {".py", ".md", ".toml", ".yaml", ".cff"} and path != Path(__file__) and "logs" not in name:
            bad += [f"{name}: {m[0]}" for m in machine.finditer(path.read_text(errors="replace"))]
    assert not bad


def test_every_module_is_named_by_a_test() -> None:
    """A test file of the same name, or one that names the module (groups of small modules share a file)."""
    files = list((ROOT / "tests").rglob("*.py"))
    names = {p.stem.removeprefix("test_") for p in files}
    text = "\n".join(p.read_text() for p in files if p != Path(__file__))
    missing = []
    for path in CODE:
        stem = path.stem
        if stem.startswith("_") or stem in names or "cli" in path.parts or "logs" in path.parts:
            continue  # commands and parsers are reached through their registries: tests/cli, tests/logs
        if not re.search(rf"\b{stem}\b", text):
            missing.append(str(path.relative_to(ROOT)))
    assert not missing


#: modules that need each other: a validation has its trust, which sums up its judgements; a step's view goes to its
#: events; and, in one room, files of transfers, caches and fleets in time
CIRCLES = {
    frozenset({"dtnsim.evidence.trust", "dtnsim.evidence.validate"}),
    frozenset({"dtnsim.physics.tcp._events", "dtnsim.physics.tcp._step"}),
}
CIRCULAR = "dtnsim.simulation."


def _imports(path: Path, modules: set[str]) -> set[str]:
    """Modules of the house that a file imports when it is read, or for its types."""
    found, ahead = set(), list(ast.parse(path.read_text()).body)
    while ahead:
        node = ahead.pop()
        if isinstance(node, ast.If | ast.Try):
            ahead += [*node.body, *node.orelse]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found |= {name if name in modules else node.module for name in names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found & modules


def test_no_two_modules_need_each_other() -> None:
    """Neither at runtime nor for their types: what both need stands in one of them, or below both."""
    modules = {".".join(p.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): p for p in CODE}
    edges = [(name, other) for name, path in modules.items() for other in _imports(path, set(modules)) - {name}]
    circles = [c for c in nx.strongly_connected_components(nx.DiGraph(edges)) if len(c) > 1]
    assert not [sorted(c) for c in circles if c not in CIRCLES and not any(m.startswith(CIRCULAR) for m in c)]
