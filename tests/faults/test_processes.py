"""The command as a process: pipes, full disks, readers that leave, parents that are killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dtnsim.ground import library, output, yamlio
from dtnsim.ground.errors import InputError, SpecError

pytestmark = pytest.mark.long

DTNSIM = [sys.executable, "-m", "dtnsim"]
SHIPPED = library.root("models") / "paths" / "venadi" / "gridftp-gpfs.yaml"


def shell(text: str, **more: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["bash", "-c", text], capture_output=True, text=True, timeout=60, check=False, **more)  # type: ignore[call-overload, no-any-return]


def test_a_path_may_come_through_a_pipe(tmp_path: Path) -> None:
    command = f"{sys.executable} -m dtnsim predict"
    for text in (f"{command} - < {SHIPPED}", f"cat {SHIPPED} | {command} -", f"cat {SHIPPED} | {command} /dev/stdin",
                 f"mkfifo {tmp_path}/p; cat {SHIPPED} > {tmp_path}/p & {command} {tmp_path}/p"):  # fmt: skip
        found = shell(text)
        assert found.returncode == 0, (text, found.stderr)
        assert found.stdout.startswith("NERSC"), text


def test_a_silent_pipe_is_not_waited_for_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "p.yaml")
    monkeypatch.setattr(yamlio, "PATIENCE_MS", 50)
    with pytest.raises(SpecError, match="nobody wrote to"):
        yamlio.load(library.find("paths", str(tmp_path / "p.yaml")))


def test_an_endless_device_is_refused() -> None:
    with pytest.raises(SpecError, match="is longer than"):
        yamlio.load(Path("/dev/zero"))


def test_a_reader_that_leaves_is_no_error() -> None:
    found = shell(f"set -o pipefail; {sys.executable} -m dtnsim explain venadi/gridftp-gpfs | head -1")
    assert (found.returncode, found.stderr) == (0, "")
    process = subprocess.Popen(
        [*DTNSIM, "explain", "venadi/gridftp-gpfs"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.close()
    assert process.wait(60) == 0
    assert process.stderr.read() == b""
    process.stderr.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_under_standard_output_is_one_line() -> None:
    found = shell(f"{sys.executable} -m dtnsim predict venadi/gridftp-gpfs --json > /dev/full")
    assert found.returncode == 1
    assert found.stderr == "dtnsim: output: No space left on device\n"


def test_a_full_disk_names_the_file_and_leaves_nothing(tmp_path: Path) -> None:
    old = tmp_path / "run.csv"
    old.write_text("old")
    found = shell(f"ulimit -f 1; {sys.executable} -m dtnsim simulate venadi/gridftp-gpfs --trace {old} > /dev/null")
    assert found.returncode == 2
    assert f"--trace: {old}: cannot be written: File too large" in found.stderr
    assert old.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["run.csv"]


def test_what_is_written_is_whole_and_keeps_its_mode(tmp_path: Path) -> None:
    file, link = tmp_path / "x", tmp_path / "link"
    file.write_text("old")
    file.chmod(0o640)
    link.symlink_to(file)
    output.write(link, "new")
    assert (file.read_text(), link.is_symlink(), file.stat().st_mode & 0o777) == ("new", True, 0o640)
    with pytest.raises(InputError, match=r"-o: .*nowhere.*cannot be written"):
        output.write(tmp_path / "nowhere" / "x", "new", "-o")
    with pytest.raises(ZeroDivisionError), output.in_one_piece(file):
        raise ZeroDivisionError
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link", "x"]
    output.write("/dev/null", "goes")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_ends_it_leaves_nothing_unfinished(number: int, tmp_path: Path) -> None:
    program = f"import os\nfrom dtnsim.ground.output import *\nwith in_one_piece('x'): os.kill(os.getpid(), {number})"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=False)
    assert (done.returncode, list(tmp_path.iterdir())) == (-number, [])


@pytest.mark.parametrize("name", ["x.txt", "x", "x.parquet"])
def test_a_trace_that_cannot_be_written_is_refused_before_the_work(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match="--trace"):
        output.check_table(tmp_path / name, "--trace")


_PARENT = """
import sys, time
from dtnsim.ground import pool
pool._START = "import sys, time; from dtnsim.ground.pool import end_with; end_with(int(sys.argv[1])); " \\
    "print('up', flush=True); time.sleep(60)"
child = pool._Child(b"", 0, None)
child.output.readline()
print(child._process.pid, flush=True)
time.sleep(60)
"""


def test_a_child_in_the_middle_of_its_work_does_not_outlive_its_parent() -> None:
    parent = subprocess.Popen([sys.executable, "-c", _PARENT], stdout=subprocess.PIPE)
    child = int(parent.stdout.readline())
    parent.send_signal(signal.SIGKILL)
    parent.wait(10)
    parent.stdout.close()
    end = time.monotonic() + 5  # a second where the machine is not busy
    while time.monotonic() < end and _lives(child):
        time.sleep(0.05)
    assert not _lives(child)


def _lives(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def test_a_sweep_that_is_stopped_says_what_it_kept_and_goes_on(tmp_path: Path) -> None:
    out = tmp_path / "rows.csv"
    command = [*DTNSIM, "sweep", "venadi/iperf3", "--vary", "wan.rtt=1ms..200ms:60", "-o", str(out)]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and (not out.exists() or out.read_text().count("\n") < 5):
        time.sleep(0.02)
    started.send_signal(signal.SIGINT)
    said = started.communicate(timeout=30)[1]
    kept = out.read_text().count("\n") - 1
    assert started.returncode == 130
    assert f"dtnsim: stopped; {kept} rows are in {out}" in said
    assert 4 <= kept < 60
    again = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert f"{kept} of them from an earlier run" in again.stdout
    rows = out.read_text().splitlines()[1:]
    assert len(rows) == len({row.partition(",")[0] for row in rows}) == 60
