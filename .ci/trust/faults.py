"""Faults that take long to make, or need rights; those of files and disks are in `hostile`.

What this machine cannot make (a small file system needs root) is skipped, and said to be.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import hostile
from counts import SkippedError

PATH = "venadi/gridftp-gpfs"
DTNSIM = (sys.executable, "-m", "dtnsim")
PYTHONPATH = os.pathsep.join(p for p in sys.path if p)


def run(*arguments: str, before: tuple[str, ...] = (), **environment: str) -> subprocess.CompletedProcess[str]:
    """A command as a process."""
    return subprocess.run(
        [*before, *DTNSIM, *arguments], env={**os.environ, "PYTHONPATH": PYTHONPATH, **environment},
        capture_output=True, text=True, errors="replace", timeout=300, check=False,
    )  # fmt: skip


def good(found: subprocess.CompletedProcess[str]) -> None:
    """Fails unless a command has answered without a word beside it."""
    assert (found.returncode, found.stderr) == (0, ""), (found.returncode, found.stderr[:500])


def cold_caches_in_parallel(folder: Path) -> None:
    """Two processes compile into one empty cache at once, and say the same; an unwritable cache does, too."""
    program = (
        "from dtnsim.simulation.fleet import compiled; compiled.WORTH_READING = compiled.WORTH_COMPILING = 1\n"
        "import sys; sys.argv = ['dtnsim', *sys.argv[1:]]; from dtnsim.cli import main; main()"
    )
    arguments = ("fleet", "examples/facility-year", "--set", "workload.span=6 h", "--replicas", "1", "--json")

    def answered(cache: str) -> str:
        found = subprocess.run(
            [sys.executable, "-c", program, *arguments],
            env={**os.environ, "PYTHONPATH": PYTHONPATH, "NUMBA_CACHE_DIR": cache},
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
        assert found.returncode == 0, found.stderr
        return found.stdout

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(answered, [str(folder / "cache")] * 2))
    assert len({*found, answered("/proc/nowhere")}) == 1
    assert any((folder / "cache").rglob("*.nbi")), "nothing was compiled"


def read_only_folder(folder: Path) -> None:
    """A folder without leave to write: refused before the work, by name; the answer itself needs no folder."""
    before = _without_rights()
    closed = folder / "closed"
    closed.mkdir(mode=0o555)
    start = time.monotonic()
    for arguments, option in (
        (("simulate", PATH, "--trace", str(closed / "t.csv")), "--trace"),
        (("sweep", PATH, "--vary", "wan.rtt=1ms..9ms:lin1000", "-o", str(closed / "r.csv")), "--out"),
        (("validate", "--html", str(closed / "v.html")), "--html"),
        (("calibrate", "calibration/venadi", "--host", "venadi", "-o", str(closed / "f.yaml")), "--output"),
    ):
        found = run(*arguments, before=before)
        assert found.returncode == 2, found
        assert f"{option}: {closed}" in found.stderr, found.stderr
    assert time.monotonic() - start < 30, "it has worked first"
    assert list(closed.iterdir()) == []
    good(run("predict", PATH, before=(*before, "env", "-C", str(closed))))


def _without_rights() -> tuple[str, ...]:
    if os.geteuid() != 0:
        return ()
    if shutil.which("setpriv") is None:
        raise SkippedError("root may write everywhere, and there is no setpriv")
    return ("setpriv", "--bounding-set", "-dac_override,-dac_read_search", "--inh-caps", "-all")


def full_disk(folder: Path) -> None:
    """A file system of 64 KiB: the file is named, what was there stays, no half file is left."""
    small = folder / "small"
    small.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(small)], capture_output=True, check=False
    )
    if made.returncode:
        raise SkippedError("needs the right to mount a file system")
    try:
        kept = small / "kept.csv"
        kept.write_text("old")
        (small / "filling").write_bytes(b"x" * 56_000)
        for arguments, option in (
            (("simulate", "esnet/lbl-anl", "--trace", str(kept)), "--trace"),
            (("sweep", PATH, "--vary", "wan.rtt=1ms..9ms:lin2000", "-o", str(small / "rows.csv")), "--out"),
        ):
            found = run(*arguments)
            assert found.returncode == 2, found
            assert f"{option}: {small}" in found.stderr, found.stderr
            assert "No space left on device" in found.stderr, found.stderr
            assert "Traceback" not in found.stderr
        assert kept.read_text() == "old"
        assert {p.name for p in small.iterdir()} <= {"kept.csv", "filling", "rows.csv"}
    finally:
        subprocess.run(["umount", str(small)], check=False)


#: commands that are at work in several processes for longer than a test of them takes
IN_SEVERAL_PROCESSES = (
    ("sweep", "esnet/lbl-anl", "--vary", "transfer.tool.p=" + ",".join(map(str, range(1, 64))),
     "--vary", "wan.rtt=1ms..90ms:log40", "--processes", "2"),
    ("simulate", "esnet/lbl-anl", "--set", "transfer.dataset={files: 20000, each: 10 MB}", "--replicas", "500"),
)  # fmt: skip


def children_of_killed_parents(_: Path) -> None:
    """No child of a sweep or of replicas is there two seconds after its parent was killed."""
    for arguments in IN_SEVERAL_PROCESSES:
        parent = subprocess.Popen(
            [*DTNSIM, *arguments], env={**os.environ, "PYTHONPATH": PYTHONPATH},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        children: set[int] = set()
        end = time.monotonic() + 60
        while time.monotonic() < end and len(children) < 2 and parent.poll() is None:
            children = _children(parent.pid)
            time.sleep(0.1)
        assert children, f"{arguments[0]} has begun no children"
        time.sleep(3)
        children |= _children(parent.pid)
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        time.sleep(2)
        left = [c for c in children if _lives(c)]
        assert not left, f"{len(left)} of {len(children)} children of {arguments[0]} live on"


def _children(parent: int) -> set[int]:
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and _field(int(entry.name), 1) == str(parent):
            found.add(int(entry.name))
    return found


def _field(process: int, number: int) -> str:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[number]
    except (OSError, IndexError):
        return ""


def _lives(process: int) -> bool:
    return _field(process, 0) not in ("", "Z", "X")


def killed_worker(_: Path) -> None:
    """A child that the system ends is a sentence and exit code 1, of sweeps as of replicas."""
    for arguments in IN_SEVERAL_PROCESSES:
        parent = subprocess.Popen(
            [*DTNSIM, *arguments], env={**os.environ, "PYTHONPATH": PYTHONPATH},
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        workers: list[int] = []
        end = time.monotonic() + 60
        while time.monotonic() < end and not workers and parent.poll() is None:
            workers = [c for c in _children(parent.pid) if "resource_tracker" not in _words(c)]
            time.sleep(0.1)
        time.sleep(2)
        os.kill(workers[0], signal.SIGKILL)
        said = parent.communicate(timeout=120)[1].strip().splitlines()
        assert parent.returncode == 1, (parent.returncode, said[-1:])
        assert said, "nothing said"
        assert "ended" in said[-1], said[-1]


def _words(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_text()
    except OSError:
        return "resource_tracker"


def locales(_: Path) -> None:
    """Streams of any encoding, known to this machine or not; numbers keep their point."""
    usual = re.search(r"at [\d.]+ Gb/s", run("predict", PATH).stdout)
    assert usual is not None
    for locale in ("POSIX", "de_DE.ISO-8859-1", "ja_JP.EUC-JP", "zh_CN.GB18030", "xx_XX"):
        found = run("predict", PATH, LC_ALL=locale, PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
        good(found)
        assert usual[0] in found.stdout, locale
    for encoding in ("ascii", "latin-1", "cp1252", "utf-16", "shift_jis"):
        good(run("predict", PATH, PYTHONIOENCODING=encoding))


FAULTS: tuple[Callable[[Path], None], ...] = (
    cold_caches_in_parallel,
    read_only_folder,
    full_disk,
    children_of_killed_parents,
    killed_worker,
    locales,
    *hostile.FAULTS,
)
USUAL = {"faults": len(FAULTS)}


def faults(number: int) -> str | None:
    """Makes one fault."""
    fault = FAULTS[number % len(FAULTS)]
    with tempfile.TemporaryDirectory() as folder:
        try:
            fault(Path(folder))
        except PermissionError as error:
            raise SkippedError(f"{fault.__name__}: {error}") from error
        except (AssertionError, subprocess.TimeoutExpired) as error:
            return f"{fault.__name__}: {error}"
    return None
