"""What a command loads and works out: start-up grows back where nobody counts."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import dtnsim.cli
from dtnsim.composition.compose import Composer
from dtnsim.physics.tcp import _run, rate_over_time
from tests.conftest import Run
from tests.each import cases, rows

PATH = "venadi/gridftp-gpfs"
HERE = Path(__file__).parents[2]
#: runs a command, then writes what it has loaded
LOADED = (
    "import json, sys\nbefore = set(sys.modules)\nfrom dtnsim.cli import main\n"
    "try:\n    main()\nexcept SystemExit:\n    print(json.dumps(sorted(set(sys.modules) - before)), file=sys.stderr)\n"
)
#: what reads a path and answers it
ANSWERS = frozenset({"networkx", "numpy", "pydantic", "yaml"})
#: what looking for plugins loads, numpy's quantiles, pages, and what a list of files is read with
UNASKED = frozenset({"email", "zipfile", "importlib.metadata", "numpy.ma", "html", "dtnsim.description.file_list"})
READS = ANSWERS - {"networkx"}
CALCULATES = READS - {"yaml"}
ASKED = CALCULATES - {"numpy"}
ROOMS = frozenset(
    {"cli", "components", "composition", "description", "discovery", "ground", "physics", "report", "steady", "tools"}
)


class May(NamedTuple):
    """What a command may load.

    Attributes:
        libraries: Packages of others, beside typer and what those here load themselves.
        rooms: Rooms of dtnsim.
        modules: How many modules of dtnsim at most: those of today and a twentieth.
        networkx: How many of networkx at most: those of a graph and its ways, or all.
    """

    libraries: frozenset[str]
    rooms: frozenset[str]
    modules: int
    networkx: int = 30


COMMANDS = {
    ("--help",): May(frozenset(), frozenset({"cli", "ground"}), 5),
    ("--version",): May(frozenset(), frozenset({"cli", "ground"}), 7),
    ("predict", PATH): May(ANSWERS, ROOMS, 193),
    ("explain", PATH): May(ANSWERS, ROOMS, 196, networkx=45),
    ("simulate", PATH): May(ANSWERS | {"simpy"}, ROOMS | {"simulation", "engine"}, 234),
    ("compare", PATH, PATH): May(ANSWERS, ROOMS | {"planning"}, 195),
    ("tcp", "--rate", "10Gb/s", "--rtt", "50ms"): May(CALCULATES, ROOMS & {"cli", "ground", "physics", "steady"}, 49),
    ("list",): May(READS, ROOMS - {"composition", "steady"}, 161, networkx=0),
    ("components",): May(READS, ROOMS - {"composition", "steady"}, 143, networkx=0),
    ("show", "venadi"): May(READS, ROOMS - {"composition", "steady"}, 102, networkx=0),
    ("schema", "part"): May(READS, ROOMS, 161, networkx=0),
    ("logs", "calibration/venadi/logs"): May(ASKED, frozenset({"cli", "ground", "logs", "report"}), 54, networkx=0),
    ("init", "-"): May(READS, ROOMS - {"composition", "report", "steady"}, 91, networkx=0),
    ("man",): May(CALCULATES, frozenset({"cli", "ground", "logs", "physics"}), 97),
}
#: those that work longer are asked what they are
COMMANDS |= {
    (name, "--help"): May(frozenset({"pydantic"}), frozenset({"cli", "ground"}), 10)
    for name in dtnsim.cli.COMMANDS
    if name not in {arguments[0] for arguments in COMMANDS}
}
#: libraries of which a command loads one or none, and which no command above needs unless it says so
LIBRARIES = frozenset(
    {"dask", "distributed", "llvmlite", "networkx", "numba", "numpy", "pandas", "plotly", "pyarrow", "pydantic", "rich",
     "scipy", "simpy", "yaml"}
)  # fmt: skip
#: parts of a file that this path does not have, and what only streams that differ and options ask for
UNUSED = frozenset(f"dtnsim.description.{name}" for name in ("events", "programs", "workload", "outages", "calendar"))
UNUSED |= {"dtnsim.physics.tcp.competition", "dtnsim.physics.tcp.shared", "dtnsim.steady.goals"}


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_a_command_loads_what_it_needs(arguments: tuple[str, ...]) -> None:
    may = COMMANDS[arguments]
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *arguments], capture_output=True, text=True, check=True, cwd=HERE
    )
    loaded = set(json.loads(done.stderr.splitlines()[-1])) - {"pydantic.plugin._loader"}  # ours, which finds none
    assert {name.partition(".")[0] for name in loaded} & LIBRARIES <= may.libraries
    assert not UNASKED.intersection(loaded) or arguments[0] not in {"predict", "explain", "tcp"}
    own = [name for name in loaded if name.startswith("dtnsim.")]
    assert {name.split(".")[1] for name in own} <= may.rooms
    assert arguments[-1] != PATH or not UNUSED.intersection(own)
    commands = set(dtnsim.cli.COMMANDS).intersection(n.split(".")[2] for n in own if n.startswith("dtnsim.cli."))
    assert commands <= set(arguments) or arguments == ("man",)  # which is about all of them
    assert len(own) <= may.modules, len(own)
    assert sum(name.startswith("networkx.") for name in loaded) <= may.networkx


def test_every_command_has_its_file_and_its_summary() -> None:
    files = {file.stem for file in Path(dtnsim.cli.__file__).parent.glob("[!_]*.py")} - {"options"}
    assert set(dtnsim.cli.COMMANDS) == files


@cases("arguments, compositions, courses", rows("cli/tables", "printing_works_out_no_more_than_this"))
def test_printing_works_out_no_more_than_this(
    run: Run, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], compositions: int, courses: int
) -> None:
    counted: Counter[str] = Counter()

    def counting(owner: Any, name: str) -> None:
        whole = getattr(owner, name)

        def one(*given: Any, **options: Any) -> Any:
            counted[name] += 1
            return whole(*given, **options)

        monkeypatch.setattr(owner, name, one)

    counting(Composer, "problem")
    counting(rate_over_time, "answers")
    rate_over_time._kept.clear()
    assert run(*arguments).code == 0
    assert counted["problem"] <= compositions, counted
    assert counted["answers"] <= courses, counted


def test_the_calculator_steps_all_that_it_says_together(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer, what it settles at and the advice in one run of all lanes; losses between two of them in another."""
    lanes = list[int]()

    def one(fixed: Any, dice: Any, noted: Any) -> None:
        lanes.append(len(fixed.C))
        whole(fixed, dice, noted)

    whole = _run.run
    monkeypatch.setattr(_run, "run", one)
    assert run("tcp", "--rate", "10Gb/s", "--rtt", "50ms", "--loss", "1e-5").code == 0
    assert len(lanes) <= 2, lanes
    assert sum(lanes) <= 420, lanes
