"""networkx as far as it is needed, and whole for whoever asks for more."""

from __future__ import annotations

import subprocess
import sys

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
