"""What `measure` runs: the tests, what each of them costs, and how they run without harm.

Everything is written into one folder on the volume that is made for it and removed at the end. Each run leaves a raw
log; a run whose log is there is not repeated, so the same command goes on where it was stopped.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from dtnsim.ground.errors import InputError

Memory = Literal["used", "idle"]
#: folder on the volume
FOLDER: Final = ".dtnsim-measure"
#: program -> package that has it, where the two differ
PACKAGES: Final = {"ping": "iputils-ping (iputils)"}
MIB: Final = 2**20
GIB: Final = 2**30
#: requests in flight of the direct tests
DEPTHS: Final = (1, 4, 16)
#: part of the free space that tests may take, and most bytes of one file
SHARE: Final = 0.05
MOST_B: Final = 1024 * MIB
LEAST_B: Final = 64 * MIB
SMALL_FILES: Final = 1000
#: Linux mm/page_reporting.c hands free pages back every two seconds, some at a time
IDLE_S: Final = 12.0
#: a program that says nothing is stopped after its time and so long [s]
_PATIENCE_S: Final = 60.0
_BLOCK: Final = bytes(2**20)
#: sort of tests -> parts of the names of the numbers that it tells
_TOLD_BY: Final = {
    "fio": (".volumes.", ".stack.", ".memory", "system ", "fitted parameters"),
    "openssl": (".cpu", ".stack.", "fitted parameters"),
    "loopback": (".cpu", ".stack.", "fitted parameters"),
    "peer": (".nic", ".tcp.", "wan", "links.", ".loss", ".rtt", "medium", "buffers", "other traffic", ".background"),
}
SORTS: Final = tuple(_TOLD_BY)
_OPENSSL: Final = ("md5", "sha256", "aes-128-gcm", "chacha20-poly1305")


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A test.

    Attributes:
        name: Name of the job, and of its log.
        command: What to run in the folder; ``PORT`` stands for a free port.
        seconds: How long one run takes, about.
        writes_B: What one run writes.
        once: Whether runs do not differ enough to repeat it.
        after: What to remove when it has run: files of this beginning.
        memory: What free memory is like when it begins, once large files have left the page cache: used once more, or
            idle so long that a hypervisor has it back (free page reporting).
    """

    name: str
    command: tuple[str, ...]
    seconds: float
    writes_B: float = 0.0
    once: bool = False
    after: str = ""
    memory: Memory | None = None

    @property
    def program(self) -> str:
        """Program that it needs."""
        return self.command[0]

    @property
    def sort(self) -> str:
        """What it tells of (a key of `_TOLD_BY`)."""
        return self.name.partition("-")[0] if self.program != "fio" else "fio"


def told_by(names: Iterable[str], host: str) -> dict[str, list[str]]:
    """For each sort of tests the uncertain things of a path that it tells of (`dtnsim.steady.why_wide`).

    Args:
        names: Names of what the interval is wide for.
        host: The machine's name in that path.
    """
    found: dict[str, list[str]] = {sort: [] for sort in SORTS}
    for name in names:
        here = f"{host}." in name or f"{host}/" in name or name == f"fitted parameters of {host}"
        for sort, parts in _TOLD_BY.items():
            if (here or sort == "peer") and any(part in name for part in parts):
                found[sort].append(name)
    return found


def plan(
    size_B: int, time_s: float, peer: str | None = None, sorts: Collection[str] = SORTS
) -> tuple[list[Benchmark], int]:
    """(the tests in the order in which they run, how often): as often as the time allows, up to three times.

    Args:
        size_B: Size of a large file.
        time_s: Time for all of them.
        peer: Another host on which ``iperf3 -s`` runs.
        sorts: Sorts of tests that are worth it.
    """
    tests = [t for t in (*_files(size_B), *_requests(), *_small(), *_network(peer)) if t.sort in sorts]
    once = sum(t.seconds for t in tests if t.once)
    each = sum(t.seconds for t in tests if not t.once)
    return tests, max(1, min(3, int((time_s - once) // max(each, 1e-9))))


def _fio(
    name: str,
    seconds: float,
    *options: str,
    writes: float = 0.0,
    once: bool = False,
    after: str = "",
    memory: Memory | None = None,
) -> Benchmark:
    given = [f"--name={name}", "--directory=.", *options, "--randrepeat=0", "--output-format=json"]
    pause = {"idle": IDLE_S, "used": 1.0, None: 0.0}[memory]
    return Benchmark(name, ("fio", *given), seconds + pause, writes, once, after, memory)


def _files(size: int) -> Iterator[Benchmark]:
    """Large files through the page cache: made, made and flushed, written over, read cold and warm."""
    whole, large = f"--size={size}", "--bs=1M"
    new, there = ("--ioengine=psync", "--fallocate=none", large, whole), ("--ioengine=psync", large, whole)
    slow = size / 300e6 + 1
    yield _fio("idle", slow, "--rw=write", *new, writes=size, after="idle", memory="idle")
    yield _fio("fill", slow, "--rw=write", *new, writes=size, after="fill", memory="used")
    yield _fio("first", slow, "--rw=write", *new, "--end_fsync=1", "--filename=large.RUN", writes=size, memory="used")
    yield _fio("again", slow, "--rw=write", *there, "--end_fsync=1", "--filename=large.RUN", writes=size)
    yield _fio("cold", slow, "--rw=read", *there, "--invalidate=1", "--filename=large.RUN")
    yield _fio("warm", 1, "--rw=read", *there, "--invalidate=0", "--filename=large.RUN")
    yield _fio(
        "calls", 2, "--rw=read", "--ioengine=psync", "--bs=4k", f"--size={size // 2}", "--invalidate=0",
        "--filename=large.RUN",
    )  # fmt: skip
    four = (f"--size={size // 4}", f"--offset_increment={size // 4}", "--numjobs=4", "--group_reporting")
    yield _fio("several", slow, "--rw=read", "--ioengine=psync", large, *four, "--invalidate=1", "--filename=large.RUN")


def _requests() -> Iterator[Benchmark]:
    """Direct requests by how many are in flight, a flush of every write, and a long write that empties a bucket."""
    direct = ("--direct=1", "--ioengine=libaio", "--filename=large.RUN", "--runtime=1")
    for depth in DEPTHS:
        for rw, size in (("read", "1M"), ("write", "1M"), ("randread", "4k"), ("randwrite", "4k")):
            most = {"write": 2 * GIB, "randwrite": GIB // 4}.get(rw, 32 * GIB)
            options = (f"--rw={rw}", f"--bs={size}", f"--iodepth={depth}", f"--io_size={most}", *direct)
            yield _fio(f"{rw}-{depth}", 1.6, *options, writes=most if "write" in rw else 0)
    sync = ("--rw=write", "--bs=4k", "--size=64M", "--ioengine=psync", "--fallocate=none", "--fdatasync=1")
    yield _fio("sync", 1.6, *sync, "--runtime=1", writes=64 * MIB, after="sync")
    log = ("--write_bw_log=burst", "--log_avg_msec=250", "--per_job_logs=0", f"--io_size={16 * GIB}")
    long = ("--rw=write", "--bs=1M", "--iodepth=16", *direct[:-1], "--runtime=8", *log)
    yield _fio("burst", 9, *long, writes=16 * GIB, once=True)


def _small() -> Iterator[Benchmark]:
    """Small files made, and read while memory has them."""
    files = ("--bs=16k", "--filesize=16k", f"--nrfiles={SMALL_FILES}", "--openfiles=1", "--ioengine=psync",
             "--file_service_type=sequential", "--filename_format=small.$filenum")  # fmt: skip
    made = ("--rw=write", "--create_on_open=1", "--fallocate=none")
    yield _fio("make", 1.5, *made, *files, writes=SMALL_FILES * 16384.0, memory="used")
    yield _fio("take", 1, "--rw=read", "--invalidate=0", *files, after="small")


def _network(peer: str | None) -> Iterator[Benchmark]:
    """Ciphers and sums of one core, the kernel's network stack over loopback, and the way to a peer."""
    for name in _OPENSSL:
        speed = ("openssl", "speed", "-seconds", "1", "-bytes", "16384", "-evp", name)
        yield Benchmark(f"openssl-{name}", speed, 1.2, once=True)
    for streams in (1, 4):
        loop = ("iperf3", "-c", "127.0.0.1", "-p", "PORT", "-J", "-t", "2", "-P", str(streams))
        yield Benchmark(f"loopback-{streams}", loop, 2.5, once=streams > 1)
    if peer is not None:
        yield Benchmark("peer-ping", ("ping", "-c", "20", "-i", "0.2", peer), 4.5, once=True)
        for name, more in (("peer-to", ()), ("peer-from", ("-R",))):
            yield Benchmark(name, ("iperf3", "-c", peer, "-J", "-t", "5", "-P", "4", *more), 5.5)


def size_of(volume: Path) -> int:
    """Size of a large file on a volume [B].

    Raises:
        InputError: no folder that can be written to, or too little room.
    """
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
    """A folder of its own on the volume, which is gone afterwards, whatever happens.

    Raises:
        InputError: something of that name is there that is not ours.
    """
    folder, mark = volume / FOLDER, volume / FOLDER / "written-by-dtnsim-measure"
    if folder.is_symlink() or (folder.exists() and not mark.exists()):
        raise InputError(
            f"--volume: {folder} is there and was not made by dtnsim measure; move it, or name a subfolder"
        )
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    mark.touch()
    before = signal.signal(signal.SIGTERM, _stop)
    try:
        yield folder
    finally:
        signal.signal(signal.SIGTERM, before)
        shutil.rmtree(folder, ignore_errors=True)


def _stop(*_signal: object) -> None:
    raise KeyboardInterrupt


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
    total, done = sum(t.seconds * (1 if t.once else times) for t in tests), 0.0
    for turn in range(times):
        mine = [t for t in tests if not (turn and t.once)]
        open_ones = [t for t in mine if not _log(t, turn, logs).exists()]
        if any("large.RUN" in word for t in open_ones for word in " ".join(t.command).split("=")):
            open_ones = [t for t in mine if t in open_ones or t.name == "first"]  # the file that they use
        for test in mine:
            tell(done / max(total, 1.0), f"{test.name}, run {turn + 1} of {1 if test.once else times}")
            done += test.seconds
            if test in open_ones:
                if test.memory is not None:
                    _prepare(folder, test.memory)
                failed += _one(test, turn, folder, _log(test, turn, logs))
            for file in folder.glob(f"{test.after}*") if test.after else ():
                file.unlink()
        for file in folder.glob(f"large.{turn - 1}"):  # the newest stays, so that the next one lies elsewhere
            file.unlink()
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


def _one(test: Benchmark, turn: int, folder: Path, log: Path) -> list[str]:
    """One run: its log is there once it is whole."""
    port = _free_port()
    words = [w.replace("RUN", str(turn)).replace("PORT", port) for w in test.command]
    server = _server(port) if "127.0.0.1" in words else None
    try:
        done = subprocess.run(  # noqa: S603 - a list of words, no shell
            words, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            timeout=test.seconds * 10 + _PATIENCE_S, check=False, env={**os.environ, "LC_ALL": "C"},
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return [f"{test.name}: {error}"]
    finally:
        if server is not None:
            with server:  # which closes its output, and waits for its end
                server.terminate()
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip() or "no word").splitlines()[-1]
        return [f"{test.name}: {said[:200]}"]
    for extra in folder.glob(f"{test.name}_bw*.log"):
        extra.replace(log.with_name("burst-rates.csv"))
    head = f"$ {' '.join(words)}\n" if test.program != "fio" else ""  # fio's log is JSON from its first byte
    log.with_suffix(".part").write_text(head + done.stdout, encoding="utf-8")
    log.with_suffix(".part").replace(log)
    return []


def _free_port() -> str:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return str(taken.getsockname()[1])


def _server(port: str) -> subprocess.Popen[bytes]:
    """An iperf3 server on loopback, once it listens."""
    made = subprocess.Popen(  # noqa: S603 - a list of words, no shell
        ["iperf3", "-s", "-1", "--forceflush", "-B", "127.0.0.1", "-p", port],  # noqa: S607 - the one that there is
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    if made.stdout is not None:
        made.stdout.readline()
        made.stdout.readline()
    return made
