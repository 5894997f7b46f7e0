"""What a machine does to a command: killed workers, full disks, no HOME, closed streams, foreign locales, -O, -W error.

The slow ones (cold caches of numba in parallel, folders that nobody may write, small file systems, children of killed
sweeps, more locales) are run by ``python .ci/trust faults``.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from dtnsim.cli import _memory
from dtnsim.ground import pool
from dtnsim.ground.errors import DtnsimError, InputError
from dtnsim.planning.rowfile import RowFile

pytestmark = pytest.mark.long

PATH = "venadi/gridftp-gpfs"


def command(
    *arguments: str, python: tuple[str, ...] = (), environment: Mapping[str, str | None] | None = None, **more: object
) -> subprocess.CompletedProcess[str]:
    """The command as a process; variables that are None are not set."""
    variables = {k: v for k, v in {**os.environ, **(environment or {})}.items() if v is not None}
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        [sys.executable, *python, "-m", "dtnsim", *arguments],
        env=variables, capture_output=True, text=True, encoding="utf-8", errors="replace", timeout=100, check=False,
        **more,
    )  # fmt: skip


WARNINGS_ARE_ERRORS = ("-W", "error", "-W", "ignore::DeprecationWarning")


def test_asserts_and_warnings_change_nothing() -> None:
    """With -O no assert runs; with -W error each warning would end it. Others deprecate, and are not ours to judge."""
    arguments = ("simulate", PATH, "--json")
    plain = command(*arguments)
    found = command(*arguments, python=("-OO", *WARNINGS_ARE_ERRORS))
    for each in (plain, found):  # a slow machine is told what takes so long
        said = [line for line in each.stderr.splitlines() if not line.startswith("dtnsim: simulating")]
        assert (each.returncode, said) == (0, [])
    assert json.loads(found.stdout) == json.loads(plain.stdout)


@pytest.mark.parametrize("locale", ["C", "tr_TR.UTF-8"])
def test_locales_change_no_number_and_end_nothing(locale: str) -> None:
    away = {"LC_ALL": locale, "LANG": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": None}
    found = command("predict", PATH, environment=away)
    assert (found.returncode, found.stderr) == (0, "")
    assert "at 11.8 Gb/s." in found.stdout


def test_neither_home_nor_a_place_for_files_is_needed(tmp_path: Path) -> None:
    none = {"HOME": None, "XDG_CACHE_HOME": "/nowhere", "TMPDIR": "/nowhere", "PATH": "/nowhere", "PYTHONPATH": _path()}
    found = command("predict", PATH, environment=none, cwd=tmp_path)
    assert (found.returncode, found.stderr) == (0, "")
    assert list(tmp_path.iterdir()) == []


def _path() -> str:
    return os.pathsep.join(p for p in sys.path if p)


@pytest.mark.parametrize("closed", [(1,), (0, 1, 2)])
def test_closed_streams(closed: tuple[int, ...], tmp_path: Path) -> None:
    """What the caller has closed is not written to, above all not into a file that got its number."""
    written = tmp_path / "trace.csv"
    program = (
        "import os, sys\n"
        f"for n in {closed}: os.close(n)\n"
        f"os.execv(sys.executable, [sys.executable, '-m', 'dtnsim', 'simulate', {PATH!r}, '--trace', {str(written)!r}])"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100, check=False)
    assert found.returncode == 0
    assert written.read_text().startswith("start_s,end_s")
    assert all(line[0].isdigit() for line in written.read_text().splitlines()[1:])
    assert "Traceback" not in found.stderr


def test_a_killed_child_process_is_a_sentence() -> None:
    child = pool._Child(b"", 6, None)
    child._process.kill()
    child._process.wait()
    child.ask(7, None)  # into a pipe that nobody reads: not the end of the command
    with pytest.raises(DtnsimError, match="a child process was ended from outside"):
        child.result()
    child.end()


def test_a_full_disk_under_a_sweep_names_the_file_and_keeps_what_is_whole(tmp_path: Path) -> None:
    program = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "from dtnsim.planning.rowfile import RowFile\n"
        "file = RowFile('rows.csv', ['wan.rtt'], 'x')\n"
        "while True: file.append([('1 ms', 1e9, 2.0, 'here', 'wire', None, 1e9, 1e9, 1e9, 'x')])\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env={**os.environ, "PYTHONPATH": _path()},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert "InputError: --out: rows.csv: cannot be written: File too large; earlier rows are saved" in found.stderr
    kept = RowFile(tmp_path / "rows.csv", ["wan.rtt"], "x").done
    assert kept == {("1 ms",): ("1 ms", 1e9, 2.0, "here", "wire", "", 1e9, 1e9, 1e9, "x")}


# -- memory ------------------------------------------------------------------------------------------------------
def test_a_command_ends_where_memory_is_capped(tmp_path: Path) -> None:
    transfers = ", ".join(
        f"{{name: t{n}, from: 'b:/project', to: 'a:/bigdata', tool: gridftp, dataset: {{files: 1, each: 1 GB}}}}"
        for n in range(8)
    )
    file = tmp_path / "many.yaml"
    file.write_text(
        "name: x\nhosts: {a: venadi, b: nersc-dtn}\nwan: {rtt: 20 ms, bandwidth: 40 Gb/s}\n"
        f"transfers: [{transfers}]\n"
    )
    found = command("predict", str(file), "--samples", "100000", environment={"DTNSIM_MEMORY": "200 MB"})
    assert (found.returncode, found.stdout) == (1, "")
    assert found.stderr == "dtnsim: not enough memory for this input; DTNSIM_MEMORY=8GB allows more, say\n"


@pytest.mark.parametrize(
    ("said", "says"), [("5x", "is not a unit"), ("1 kB", "out of range"), ("many", "DTNSIM_MEMORY")]
)
def test_a_cap_that_is_no_size_is_refused(said: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DTNSIM_MEMORY", said)
    with pytest.raises(InputError, match=says):
        _memory.cap()


def test_the_usual_cap_is_a_share_of_the_container(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(_memory, "_CONTAINERS", (limit,))
    machine = _memory._usual()
    limit.write_text("max\n")
    assert _memory._usual() == machine
    limit.write_text("1000000000\n")
    assert _memory._usual() == 800_000_000
