"""What `measure` runs: the tests, what each of them costs, and how they run without harm.

Everything is written into one folder on the volume that is made for it and removed at the end. Each run leaves a raw
log; a run whose log is there is not repeated, so the same command goes on where it was stopped.
"""

import os
import re
import select
import shutil
import socket
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from dtnsim.discovery.finding_out import SORTS, table
from dtnsim.discovery.outputs import ask, begun, removed
from dtnsim.ground import output
from dtnsim.ground.errors import InputError, LogError
from dtnsim.logs import read_text
from dtnsim.logs.measurement import Measurement

Memory = Literal["used", "idle"]
FOLDER: Final = ".dtnsim-measure"  #: folder on the volume
#: program -> package that has it, where the two differ
PACKAGES: Final = {"ping": "iputils-ping (iputils)"}
MIB: Final = 2**20
DEPTHS: Final = (1, 4, 16)  #: requests in flight of the direct tests
#: part of the free space that tests may take, and most bytes of one file
SHARE: Final = 0.05
MOST_B: Final = 1024 * MIB
LEAST_B: Final = 64 * MIB
IDLE_S: Final = 12.0  #: Linux mm/page_reporting.c hands free pages back every two seconds, some at a time
#: a program that says nothing is stopped after its time and so long [s]
_PATIENCE_S: Final = 60.0
_LISTENS_S: Final = 5.0  #: longest that a server may take until it listens [s]
_BLOCK: Final = bytes(2**20)
_HOST: Final = re.compile(r"[A-Za-z0-9:][A-Za-z0-9._:%-]*")


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A test."""

    name: str  #: Name of the job, and of its log.
    command: tuple[str, ...]  #: What to run in the folder; ``PORT`` stands for a free port.
    seconds: float  #: How long one run takes, about.
    writes_B: float = 0.0  #: What one run writes.
    once: bool = False  #: Whether runs do not differ enough to repeat it.
    after: str = ""  #: What to remove when it has run: files of this beginning.
    #: What free memory is like when it begins, once large files have left the page cache: used once more, or idle so
    #: long that a hypervisor has it back (free page reporting).
    memory: Memory | None = None

    @property
    def program(self) -> str:
        """Program that it needs."""
        return self.command[0]

    def runs(self, times: int) -> int:
        """How often it runs in so many rounds."""
        return 1 if self.once else times

    @property
    def sort(self) -> str:
        """What it tells of (one of `SORTS`)."""
        return self.name.partition("-")[0] if self.program != "fio" else "fio"


def plan(
    size_B: int, time_s: float, peer: str | None = None, sorts: Collection[str] = SORTS
) -> tuple[list[Benchmark], int]:
    """(the tests in the order in which they run, how often): as often as the time allows, up to three times.

    Args:
        size_B: Size of a large file.
        time_s: Time for all of them.
        peer: Name or address of another host.
        sorts: Sorts of tests that are worth it.
    """
    if peer is not None and not _HOST.fullmatch(peer):
        raise InputError(f"--peer: {peer!r} is no host's name or address; write it like --peer dtn2.example.org")
    tests = [t for t in _benchmarks(size_B, peer) if t.sort in sorts]
    once = sum(t.seconds for t in tests if t.once)
    each = sum(t.seconds for t in tests if not t.once)
    return tests, max(1, min(3, int((time_s - once) // max(each, 1e-9))))


def _benchmarks(size_B: int, peer: str | None) -> Iterator[Benchmark]:
    """The tests of benchmarks.yaml, with what they are run with written out."""
    for name, row in table()["files"].items():
        yield _benchmark(name, row, size_B)
    for depth in DEPTHS:
        for name, row in table()["depths"].items():
            yield _benchmark(f"{name}-{depth}", row, size_B, DEPTH=str(depth))
    for name, row in table()["others"].items():
        yield _benchmark(name, row, size_B)
    for name, row in table()["peer"].items() if peer is not None else ():
        yield _benchmark(f"{name}-{peer}", row, size_B, PEER=str(peer).lower())


def _benchmark(name: str, row: dict[str, Any], size_B: int, **words: str) -> Benchmark:
    words = {"SIZE": str(size_B), "HALF": str(size_B // 2), "QUARTER": str(size_B // 4), **words}
    fio = f"fio --name={name} --directory=. {row.get('fio')} --randrepeat=0 --output-format=json"
    line = row.get("run", fio)
    for word, text in words.items():
        line = line.replace(word, text)
    seconds = size_B / 300e6 + 1 if row["seconds"] == "slow" else row["seconds"]
    memory: Memory | None = row.get("memory")
    pause = {"idle": IDLE_S, "used": 1.0, None: 0.0}[memory]
    stated = row.get("writes", 0.0)
    writes = float(words.get(str(stated), stated))
    return Benchmark(
        name, tuple(line.split()), seconds + pause, writes, row.get("once", False), row.get("after", ""), memory
    )


def size_of(volume: Path) -> int:
    """Size of a large file on a volume [B]; `InputError` where it cannot be written there, or with too little room."""
    if not volume.is_dir():
        raise InputError(f"--volume: {volume} is no folder; name a mounted volume, never a device: --volume /data")
    if not os.access(volume, os.W_OK):
        raise InputError(f"--volume: {volume} cannot be written to; name a folder of yours on that volume")
    free = shutil.disk_usage(volume).free
    size = int(min(free * SHARE / 5, MOST_B)) // (4 * MIB) * 4 * MIB
    if size < LEAST_B:
        need = LEAST_B * 5 / SHARE / 1e9
        raise InputError(f"--volume: {volume} has {free / 1e9:.1f} GB free; tests need {need:.1f} GB to be no burden")
    return size


def missing(tests: Sequence[Benchmark]) -> dict[str, str]:
    """Programs that are not here, and the packages that have them."""
    programs = dict.fromkeys(t.program for t in tests)
    return {p: PACKAGES.get(p, p) for p in programs if shutil.which(p) is None}


@contextmanager
def workplace(volume: Path) -> Iterator[Path]:
    """A folder of its own on the volume, which is gone afterwards, whatever happens; refused where one is there."""
    folder, mark = volume / FOLDER, volume / FOLDER / "written-by-dtnsim-measure"
    if folder.is_symlink() or (folder.exists() and not mark.exists()):
        raise InputError(
            f"--volume: {folder} is there and was not made by dtnsim measure; move it, or name a subfolder"
        )
    with _lock(volume, "--volume"):
        shutil.rmtree(folder, ignore_errors=True)
        with removed(folder):
            mark.touch()
            yield folder


@contextmanager
def log_folder(folder: Path, label: str) -> Iterator[Path]:
    """The folder of the raw logs, with a note (``label``) of machine and volume; refused where others fill it."""
    note = folder / "measured"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        was = note.read_text(encoding="utf-8") if note.exists() else label
    except OSError as error:
        raise InputError(f"--logs: {folder} takes no logs: {error.strerror}; name another folder") from None
    if was != label:
        raise InputError(f"--logs: {folder} has logs of {was}; write --logs DIR, or another -o, for those of {label}")
    with _lock(folder, "--logs"):
        output.write(note, label, "--logs")
        yield folder.resolve()


@contextmanager
def _lock(folder: Path, option: str) -> Iterator[None]:
    """No other run is at a folder meanwhile, where its file system has locks."""
    from fcntl import LOCK_EX, LOCK_NB, flock

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            flock(descriptor, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            raise InputError(f"{option}: another dtnsim measure is at {folder}; wait for its end") from None
        except OSError:  # NFS wants a file for its locks
            pass
        yield
    finally:
        os.close(descriptor)


def run(
    tests: Sequence[Benchmark], times: int, folder: Path, logs: Path, tell: Callable[[float, str], object]
) -> list[str]:
    """Runs the tests, round after round so that each meets several moments; returns what did not work, and why.

    Args:
        tests: Those whose programs are here.
        times: Rounds.
        folder: Where they write.
        logs: Folder that takes the raw logs: ``NAME.RUN.log``.
        tell: Takes how far it is, and what runs now.
    """
    failed: list[str] = []
    total, done = sum(t.seconds * t.runs(times) for t in tests), 0.0
    for turn in range(times):
        mine = [t for t in tests if not (turn and t.once)]
        open_ones = [t for t in mine if not _log(t, turn, logs).exists()]
        if any("large.RUN" in word for t in open_ones for word in " ".join(t.command).split("=")):
            open_ones = [t for t in mine if t in open_ones or t.name == "first"]  # the file that they use
        for test in mine:
            tell(done / max(total, 1.0), f"{test.name}, run {turn + 1} of {test.runs(times)}")
            done += test.seconds
            if test in open_ones:
                failed += _run_once(test, turn, folder, _log(test, turn, logs))
            for file in folder.glob(f"{test.after}*") if test.after else ():
                file.unlink(missing_ok=True)
        # the newest stays, so that the next one lies elsewhere
        (folder / f"large.{turn - 1}").unlink(missing_ok=True)
    return failed


def _prepare(folder: Path, memory: Memory) -> None:
    """Large files leave the page cache; then free memory is used once more, or left alone."""
    size = 0
    for file in folder.glob("large.*"):
        size = file.stat().st_size
        with file.open("rb") as opened:
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    if memory == "idle":
        time.sleep(IDLE_S)
        return
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as out:
        for _ in range(max(size, LEAST_B) // MIB):
            out.write(_BLOCK)
    ballast.unlink()  # what was never flushed is never written


def _log(test: Benchmark, turn: int, logs: Path) -> Path:
    return logs / f"{test.name}.{turn}.log"


def _run_once(test: Benchmark, turn: int, folder: Path, log: Path) -> list[str]:
    """One run: its log is there once it is whole, and has a figure; `InputError` where it cannot be written."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = str(taken.getsockname()[1])
    words = [w.replace("RUN", str(turn)).replace("PORT", port) for w in test.command]
    try:
        if test.memory is not None:
            _prepare(folder, test.memory)
        with _server(port) if "127.0.0.1" in words else nullcontext():
            done = ask(words, test.seconds * 10 + _PATIENCE_S, folder)
    except OSError as error:
        if not folder.is_dir():
            raise InputError(f"--volume: {folder} has vanished; runs until then are kept in {log.parent}") from None
        return [f"{test.name}: {error}"]
    if done.returncode:
        message = (done.stderr.strip() or done.stdout.strip() or "no word").splitlines()[-1]
        return [f"{test.name}: {message[:200]}"]
    text = f"$ {' '.join(words)}\n" * (test.program != "fio") + done.stdout  # fio's log is JSON from its first byte
    with suppress(LogError):  # nothing, or no text
        if gave_figure(read_text(text)[0]):
            for extra in folder.glob(f"{test.name}_bw*.log"):
                output.write(log.with_name("burst-rates.csv"), extra.read_text(errors="replace"), "--logs")
            output.write(log, text, "--logs")
            return []
    return [f"{test.name}: {test.program} printed no figure"]


def gave_figure(run: Sequence[Measurement]) -> bool:
    """Whether a log has what its test is for: a rate, or a round-trip time."""
    return any(m.quantity in ("throughput", "rtt") and m.status == "complete" and m.value > 0 for m in run)


@contextmanager
def _server(port: str) -> Iterator[None]:
    """An iperf3 server on loopback, once it listens."""
    with begun(["iperf3", "-s", "-1", "--forceflush", "-B", "127.0.0.1", "-p", port]) as server:
        stdout = server.stdout.fileno() if server.stdout is not None else 0
        text = b" "
        while text and b"listening" not in text and select.select([stdout], [], [], _LISTENS_S)[0]:
            text = os.read(stdout, 4096)
        yield
