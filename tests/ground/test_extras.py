"""Packages that are not always there: of extras, and networkx as far as it is needed."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from dtnsim.ground import errors
from dtnsim.ground.errors import InputError

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]


def test_what_is_installed_comes_as_it_is() -> None:
    assert errors.need("json", "a test") is json


@pytest.mark.parametrize("package", sorted(errors.EXTRAS))
def test_what_is_absent_names_its_extra(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError) as caught:
        errors.need(package, "--out: X", instead="write a .csv")
    line = f"--out: X needs {package}: pip install 'dtn-pathsim[{errors.EXTRAS[package]}]', or write a .csv"
    assert str(caught.value) == line


@pytest.mark.parametrize("package", sorted(errors.EXTRAS))
def test_each_extra_installs_what_it_is_named_for(package: str) -> None:
    def closure(extra: str) -> list[str]:
        listed = PROJECT["optional-dependencies"][extra]
        inner = [e for w in listed if w.startswith("dtn-pathsim[") for e in w[12:-1].split(",")]
        return [*listed, *(w for e in inner for w in closure(e))]

    own = closure(errors.EXTRAS[package])
    assert any(package in wanted for wanted in own)
    assert not any(wanted.startswith(package) for wanted in PROJECT["dependencies"])
    assert any(package in wanted for wanted in closure("all"))


WHOLE = (
    "import sys\nfrom dtnsim.ground import graphs\ngraphs.prepare()\nimport networkx as nx\n"
    "few = sum(m.startswith('networkx') for m in sys.modules)\n"
    "made = nx.Graph()\nmade.add_edges_from([(1, 2), (2, 3)])\nassert nx.shortest_path(made, 1, 3) == [1, 2, 3]\n"
    "assert few == sum(m.startswith('networkx') for m in sys.modules) < 60, few\n"
    "assert nx.__version__[0] in '3456'\nfrom networkx import *\nassert minimum_cut is nx.minimum_cut\n"
    "import networkx.algorithms.community\nassert round(sum(nx.pagerank(made).values()), 6) == 1\n"
    "assert nx.Graph is type(made) and nx.algorithms.shortest_paths.weighted.dijkstra_path is nx.dijkstra_path\n"
)


def test_what_was_left_out_is_there_when_it_is_asked_for() -> None:
    names = "import networkx as nx\nprint(*sorted(n for n in dir(nx) if not n.startswith('_')))"
    as_ever, later = (
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
        for code in (names, WHOLE + names)
    )
    assert as_ever == later
