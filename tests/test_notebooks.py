"""Notebooks run from top to bottom: the quick ones here, in this process; the others in kernels, by .ci/check."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

import dtnsim

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
#: those that take a second or less
QUICK = [p for p in NOTEBOOKS if p.stem[:2] in ("01", "03", "06")]


def code(path: Path) -> list[str]:
    cells = json.loads(path.read_text())["cells"]
    return ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]


def run(source: str, names: dict[str, Any]) -> object:
    """Runs a cell as a notebook does; what its last expression is, it shows."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last is not None else None


@pytest.mark.filterwarnings("ignore")  # of plotly and pandas
@pytest.mark.parametrize("path", QUICK, ids=lambda p: p.stem)
def test_notebook_runs(path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for package in ("pandas", "plotly"):
        pytest.importorskip(package, reason=f"notebooks need {package}")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for cell in code(path):
        shown = run(cell, names)
        if hasattr(shown, "_repr_html_"):
            assert shown._repr_html_()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebooks_use_what_is_public_and_store_nothing(path: Path) -> None:
    for cell in json.loads(path.read_text())["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
    for node in (n for source in code(path) for n in ast.walk(ast.parse(source))):
        assert not (isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dtnsim"))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "dtnsim":
            assert node.attr in dtnsim.__all__


def test_there_are_seven() -> None:
    assert [p.stem[:2] for p in NOTEBOOKS] == [f"0{n}" for n in range(1, 8)]
