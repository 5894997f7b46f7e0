"""What a prediction needs: nothing of the extras, nothing that only POSIX has; and the same digits without them."""

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import dtnsim
from dtnsim.ground.errors import EXTRAS

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[1]

#: takes away what only POSIX has, and all packages of extras
BARE = f"""
import os, select, signal, sys
for module in ("fcntl", "grp", "pwd", "resource", "termios", "tty", "pty", *{sorted(EXTRAS)}):
    sys.modules[module] = None
for where, names in (
    (os, ("O_NONBLOCK", "fork", "getuid", "geteuid", "getpgid", "killpg", "mkfifo", "sched_getaffinity", "setsid",
          "sysconf", "nice", "getloadavg", "statvfs", "WIFEXITED")),
    (select, ("poll", "epoll")),
    (signal, ("SIGPIPE", "SIGHUP", "SIGALRM", "SIGKILL", "alarm", "pthread_sigmask")),
):
    for name in names:
        if hasattr(where, name):
            delattr(where, name)
"""


def printed(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_predict_and_tcp_go_without_posix_and_without_extras() -> None:
    """The command line as it begins elsewhere: the same answer, to the last digit."""
    run = "import sys; sys.argv = ['dtnsim', *{!r}]\nfrom dtnsim.cli import main\nmain()"
    for arguments in (
        ["predict", "venadi/gridftp-gpfs", "--json", "--samples", "16"],
        ["tcp", "--rate", "10Gb/s", "--rtt", "50ms", "--json"],
    ):
        plain = run.format(arguments)
        assert printed(BARE + plain) == printed(plain)


def test_nothing_mandatory_is_unused_and_nothing_used_is_missing() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {"pyyaml": "yaml"}
    core = {w.split(">")[0].split("[")[0] for w in project["dependencies"]}
    imported = set()
    for file in (ROOT / "dtnsim").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                imported |= {a.name.partition(".")[0] for a in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported.add(node.module.partition(".")[0])
    assert {names.get(c, c) for c in core} <= imported
    others = imported - set(sys.stdlib_module_names) - {"dtnsim", "pydantic_core"}
    assert others <= {names.get(c, c) for c in core} | set(EXTRAS)


def test_the_version_is_said_once() -> None:
    assert dtnsim.__version__ in (ROOT / "CHANGELOG.md").read_text()


def test_the_conda_recipe_needs_what_the_wheel_needs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    recipe = yaml.safe_load((ROOT / "packaging/conda/recipe.yaml").read_text())
    run = {wanted.replace(" ", "") for wanted in recipe["requirements"]["run"]}
    assert run == {*project["dependencies"], f"python{project['requires-python']}"}
    assert recipe["context"]["version"] == dtnsim.__version__
