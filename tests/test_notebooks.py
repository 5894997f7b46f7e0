"""Notebooks show what they stored, from top to bottom: the quick ones here, the others by .ci/check."""

import ast
import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest

import dtnsim
from tests.scripts import CI, script

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
#: those that take a second or less
QUICK = [p for p in NOTEBOOKS if p.stem[:2] in ("01", "03", "06")]


runner = script(CI / "notebooks.py")


def cells(path: Path) -> list[dict[str, Any]]:
    return [c for c in json.loads(path.read_text())["cells"] if c["cell_type"] == "code"]


def code(path: Path) -> list[str]:
    return ["".join(c["source"]) for c in cells(path)]


@pytest.mark.filterwarnings("ignore")  # of plotly and pandas
@pytest.mark.parametrize("path", QUICK, ids=lambda p: p.stem)
def test_notebook_runs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("pandas", "plotly"):
        pytest.importorskip(package, reason=f"notebooks need {package}")
    monkeypatch.chdir(FOLDER)
    names: dict[str, Any] = {}
    for cell in cells(path):
        made = runner.outputs("".join(cell["source"]), names, drawn=False)
        assert runner.texts(made) == runner.texts(cell["outputs"]), "run python .ci/notebooks.py"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebooks_use_what_is_public_and_show_what_they_made(path: Path) -> None:
    """Figures have a static picture beside plotly's own; nothing stored differs from run to run."""
    figures = 0
    for cell in cells(path):
        assert cell["execution_count"] is None
        last = ast.parse("".join(cell["source"])).body[-1]
        shows = isinstance(last, ast.For) or (isinstance(last, ast.Expr) and not isinstance(last.value, ast.Await))
        assert bool(cell["outputs"]) or not shows
        for data in (o["data"] for o in cell["outputs"] if "data" in o):
            figures += "application/vnd.plotly.v1+json" in data
            assert ("application/vnd.plotly.v1+json" in data) == ("image/svg+xml" in data)
    assert figures or path.stem.startswith("02")
    assert path.stat().st_size < 100_000
    assert "Traceback" not in path.read_text()
    for node in (n for source in code(path) for n in ast.walk(ast.parse(source))):
        assert not (isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dtnsim"))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "dtnsim":
            assert node.attr in dtnsim.__all__


def stored(number: str, begins: str) -> str:
    """The plain text that a cell of a notebook has stored."""
    path = next(p for p in NOTEBOOKS if p.stem.startswith(number))
    (cell,) = (c for c in cells(path) if "".join(c["source"]).startswith(begins))
    return "".join(text for o in cell["outputs"] for text in o.get("text") or o["data"]["text/plain"])


def test_one_stream_falls_with_distance_where_packets_are_lost() -> None:
    """What 04 says of its table: without loss distance costs little, with loss the rate falls with it."""
    rows = [[float(x) for x in line.split()] for line in stored("04", "import dtnsim").splitlines()[2:]]
    assert min(row[1] for row in rows) > 0.9 * max(row[1] for row in rows)
    assert rows[0][2] > 2 * rows[1][2] > 2 * rows[2][2]


def test_what_is_bought_gives_more() -> None:
    """What 05 says of its purchases: dearer sets, from what is free on, that meet the goal more often."""
    found = re.findall(r"^ *([\d,]+) USD .* in (\d+)% of runs", stored("05", "for stage"), re.MULTILINE)
    prices, sure = ([int(each[k].replace(",", "")) for each in found] for k in (0, 1))
    assert len(found) > 3
    assert prices == sorted(prices)
    assert all(b >= a - 5 for a, b in itertools.pairwise(sure))  # a set may be there for its rate, a little less sure
    assert sure[0] == 0
    assert sure[-1] >= 60


def test_there_are_seven() -> None:
    assert [p.stem[:2] for p in NOTEBOOKS] == [f"0{n}" for n in range(1, 8)]
