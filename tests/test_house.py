"""The house keeps its rules: layers, types, style, size of files, public names, nothing private in it."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import networkx as nx
import pytest

import dtnsim
from tests import house
from tests.house import CODE, ROOT


def test_imports_go_one_way() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()", "--no-cache"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_files_can_be_read_in_one_sitting() -> None:
    lines = {p: len(p.read_text().splitlines()) for p in CODE}
    long = [f"{p.relative_to(ROOT)} has {n} lines" for p, n in lines.items() if n > 400]
    assert not long, f"{', '.join(long)}; 400 are allowed: move a topic into a file of its own (CONTRIBUTING.md, Rooms)"
    assert 120 <= sorted(lines.values())[len(lines) // 2] <= 200  # a file is a topic, neither a function nor a room


def test_functions_are_short() -> None:
    """Past 50 lines of code (docstring apart) a function is two."""
    long = [f"{p.relative_to(ROOT)}:{name}" for p in CODE for name, n in house.read(p).functions.items() if n > 50]
    assert not long, f"{', '.join(long)}: over 50 lines; make two functions of it"


def test_the_public_surface_is_small_and_real() -> None:
    assert len(dtnsim.__all__) <= 20
    for name in dtnsim.__all__:
        assert getattr(dtnsim, name) is not None
    with pytest.raises(AttributeError, match="nothing"):
        _ = dtnsim.nothing


def test_importing_stays_light() -> None:
    heavy = ["scipy", "plotly", "simpy", "lmfit", "numba", "pandas", "jc"]
    code = (
        "import sys, dtnsim.__main__; assert not {'numpy', 'typing', 'pathlib'} & {*sys.modules}; "
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
    """A test file of the same name, or one that names it (small modules share a file), or rows of what tools make."""
    files = list((ROOT / "tests").rglob("*.py"))
    names = {p.stem.removeprefix("test_") for p in files}
    texts = [p.read_text() for p in files if p != Path(__file__)]
    texts += [p.read_text().replace("-", "_") for p in (ROOT / "tests" / "tools").glob("*.yaml")]
    words = {word for text in texts for word in re.findall(r"\w+", text)}
    missing = []
    for path in CODE:
        stem = path.stem
        if stem.startswith("_") or stem in names or "cli" in path.parts or "logs" in path.parts:
            continue  # commands and parsers are reached through their registries: tests/cli, tests/logs
        if stem not in words:
            missing.append(path.relative_to(ROOT / "dtnsim"))
    paths = ", ".join(f"dtnsim/{path}" for path in missing)
    assert not missing, f"no test of its topic names {paths} (of a tool rows of tests/tools/plans.yaml do)"


#: modules that need each other: a validation has its trust, which sums up its judgements; a step's view goes to its
#: events; and, in one room, files of transfers, caches and fleets in time
CIRCLES = {
    frozenset({"dtnsim.evidence.trust", "dtnsim.evidence.validate"}),
    frozenset({"dtnsim.physics.tcp._events", "dtnsim.physics.tcp._step"}),
}
CIRCULAR = "dtnsim.simulation."


def test_no_two_modules_need_each_other() -> None:
    """Neither at runtime nor for their types: what both need stands in one of them, or below both."""
    modules = {house.module_of(path): path for path in CODE}
    edges = [(name, other) for name, path in modules.items() for other in house.read(path).imports - {name}]
    circles = [c for c in nx.strongly_connected_components(nx.DiGraph(edges)) if len(c) > 1]
    assert not [sorted(c) for c in circles if c not in CIRCLES and not any(m.startswith(CIRCULAR) for m in c)]


def test_the_picture_of_the_house_is_that_of_its_imports() -> None:
    """Numbers may be a quarter off, or three, before it is drawn again."""
    today = {(room, column): number for room, column, number in house.numbers(house.picture())}
    drawn = {(room, column): number for room, column, number in house.numbers(house.drawn())}
    assert set(today) == set(drawn), "stale: run 'python -m tests.house'"
    off = [pair for pair in today if abs(today[pair] - drawn[pair]) > max(3, 0.25 * drawn[pair])]
    assert not off, "stale: run 'python -m tests.house'"


#: trees in which a stem is a topic: its law, its component, its tool, its parser, its command, what plan does about it
TOPICS = ("physics", "components", "tools", "logs", "cli", "planning/actions", "report")


def test_a_stem_outside_the_trees_of_topics_is_one_module() -> None:
    seen: dict[str, list[str]] = {}
    for path in CODE:
        folder = path.parent.relative_to(ROOT / "dtnsim").as_posix()
        if not path.stem.startswith("__") and not any(f"{folder}/".startswith(f"{topic}/") for topic in TOPICS):
            seen.setdefault(path.stem, []).append(folder)
    assert {stem: folders for stem, folders in seen.items() if len(folders) > 1} == {}


#: names that say nothing to who knows the field; a heap is a heap, and the TCP calculator's setting is one
NOT_THE_FIELDS = """past beyond ways leg likewise later otherwise shown visible parent collector drawn scene moves luck
world portions one plant damage kept saved course together reduce sides books chains changes turns crowd medium unstated
bill frame choose words"""


def test_modules_have_names_of_the_field() -> None:
    assert not {path.stem for path in CODE} & set(NOT_THE_FIELDS.split())


def test_variables_say_what_they_are() -> None:
    """What became of a thing (it was found, given, made) is no name of it."""
    nothing = re.compile(r"(?<![\w.`])(?:found|given|known|made|said)(?: = |, \w+ = | in \w+[.(:])")
    scripts = [*ROOT.glob(".ci/*.py"), *ROOT.glob("docs/*.py")]
    assert [(path.name, m[0]) for path in CODE + scripts for m in nothing.finditer(path.read_text())] == []


def test_a_room_says_where_to_begin() -> None:
    """In its docstring, which names modules of the house and nothing that is gone."""
    for room in house.rooms():
        file = ROOT / "dtnsim" / room / "__init__.py"
        said = ast.get_docstring(ast.parse(file.read_text())) or ""
        assert "Begin with " in said, f"{file}: a room says where to begin"
        for name in re.findall(r"(?<!`)`([\w.]+)`(?!`)", said):
            path = name.removeprefix("dtnsim.").replace(".", "/")
            here = [place / f"{path}{end}" for place in (file.parent, ROOT / "dtnsim") for end in ("", ".py")]
            assert any(p.exists() for p in here), f"{file}: {name} is gone"


def test_functions_of_three_parameters_say_what_they_are() -> None:
    assert house.without_args() == {}


def test_no_kind_is_asked_with_what_none_uses() -> None:
    assert house.unused() == set()


def test_the_map_leads_to_files_that_are_there() -> None:
    """Of "Where would I change ...?" and of the walk: every file and folder, and every function of the walk."""
    text = house.MAP.read_text()
    begin = text.index("## Where would I change")
    part = text[begin : text.index("\n## ", text.index("## A number on its way"))]
    named = re.findall(r"`((?:dtnsim|tests|models|calibration|docs|\.ci)/[\w./<>*-]+)`", part)
    assert len(named) > 20
    assert [name for name in named if "<" not in name and not list(ROOT.glob(name.rstrip("/")))] == []
    for file, function in re.findall(r"`(dtnsim/[\w/]+\.py)`[^`\n]*?: `([\w.]+)`", part):
        code = (ROOT / file).read_text()
        assert all(re.search(rf"^\s*(def|class) {name}\b", code, re.MULTILINE) for name in function.split(".")), (
            function
        )
