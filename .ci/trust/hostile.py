"""What others leave on a disk: bombs, foreign and cut checkpoints, a hostile folder; disks that are full or closed.

Commands run in children that have all modules already (`stops`); each function fails by `AssertionError`.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import resource
import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import stops

PATH = "venadi/iperf3"
FLEET = (*stops.FLEET, "--json")
SWEEP = ("sweep", PATH, "--vary", "wan.rtt=1ms..200ms:lin8", "--samples", "16")
#: every option that writes a file, with the command
WRITERS: dict[str, tuple[str, ...]] = {
    "--trace": ("simulate", PATH, "--trace", "@/t.csv"),
    "--out (sweep)": (*SWEEP, "-o", "@/rows.csv"),
    "--out (parquet)": (*SWEEP, "-o", "@/rows.parquet"),
    "--checkpoint": (*FLEET, "--checkpoint", "@/kept.jsonl"),
    "--transfers": (*FLEET, "--transfers", "@/all.csv"),
    "--hours": (*FLEET, "--hours", "@/hours.csv"),
    "--output": ("calibrate", "dd.txt", "--host", "venadi", "--as", "/home/dong=/", "-o", "@/fitted.yaml"),
    "--history": ("calibrate", "--watch", "logs", "--history", "@/seen.jsonl"),
    "--out (report)": ("report", PATH, "-o", "@/r.html", "--scenarios", "0", "--no-tools", "--samples", "16"),
    "--out (tools)": ("tools", "--table", "runs.csv", "-o", "@/predicted.csv"),
    "--out (discover)": ("discover", "-o", "@/here.yaml"),
    "init": ("init", "@/begin.yaml"),
    "--html": ("validate", "cases.yaml", "--samples", "16", "--html", "@/v.html"),
}
RUNS = "tool_key,rate_bps,rtt_s,files,total_bytes\nscp,1e8,0.02,1,64000000\n"
CASES = (
    "schema: dtnsim.cases/1\nsite: mine\nsource: x\n"
    "cases: [{id: a, path: venadi/iperf3, measured: 9 Gb/s, role: blind, tool: iperf3}]\n"
)


def command(arguments: tuple[str, ...], folder: Path) -> tuple[int, str]:
    """Exit code and standard error of a command in a folder that has what the writers read."""
    (folder / "logs").mkdir(exist_ok=True)
    for name, text in (("dd.txt", stops.LOG), ("logs/dd.txt", stops.LOG), ("runs.csv", RUNS), ("cases.yaml", CASES)):
        (folder / name).write_text(text)
    code, _ = stops.run(arguments, folder)
    return code, (folder / "stderr").read_text(errors="replace")


def refused(found: tuple[int, str], *words: str) -> None:
    """Fails unless a command has left with 2 and one line that has all words."""
    lines = [line for line in found[1].splitlines() if " so far" not in line and "% " not in line]
    assert found[0] == 2, found
    assert len(lines) == 1, found
    assert all(word in lines[0] for word in words), found


@contextmanager
def small(folder: Path, options: str) -> Iterator[Path]:
    """A file system of its own."""
    place = folder / "small"
    place.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(place)], capture_output=True, check=False)
    if made.returncode:
        raise PermissionError("needs the right to mount a file system")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=False)


def _each_writer(folder: Path, place: Path, said: str) -> None:
    for option, arguments in WRITERS.items():
        found = command(tuple(a.replace("@", str(place)) for a in arguments), folder)
        try:
            refused(found, str(place), said)
        except AssertionError as error:
            raise AssertionError(f"{option}: {error}") from None
        left = [f.name for f in place.iterdir() if f.name != "filling" and (f.suffix in (".part", ".html", ".yaml"))]
        assert not left, f"{option} leaves {left}"
        for file in place.iterdir():
            if file.name != "filling":
                file.unlink()


def full_at_each_write(folder: Path) -> None:
    """64 KiB, all of them taken: every option that writes names its file, and leaves nothing that looks whole."""
    with small(folder, "size=64k") as place:
        out = os.open(place / "filling", os.O_WRONLY | os.O_CREAT)
        with suppress(OSError):
            while os.write(out, b"x" * 4096):
                pass
        os.close(out)
        _each_writer(folder, place, "No space left on device")


def read_only_at_each_write(folder: Path) -> None:
    """A file system that is mounted for reading."""
    with small(folder, "size=64k,ro") as place:
        _each_writer(folder, place, "cannot be written")


def two_processes_on_one_folder(folder: Path) -> None:
    """Two sweeps into one file, two fleets into one checkpoint, two reports: no row twice, no file in halves."""
    for name in ("sweep", "fleet", "report"):
        whole, _ = stops.whole(name)
        (folder / "dd.txt").write_text(stops.LOG)
        other = os.fork()
        if other == 0:
            code, _ = stops.run(stops.COMMANDS[name], folder)
            os._exit(code)
        code, _ = stops.run(stops.COMMANDS[name], folder)
        codes = {code, os.waitstatus_to_exitcode(os.waitpid(other, 0)[1])}
        assert codes <= {0, 2}, (name, codes, (folder / "stderr").read_text())
        if name == "report":
            assert (folder / "report.html").read_bytes() == whole["report.html"], "two reports make another one"
        code, _ = stops.run(stops.COMMANDS[name], folder)
        assert code == 0, (name, code, (folder / "stderr").read_text())
        if name == "sweep":
            lines = (folder / "rows.csv").read_text().splitlines()
            assert len({line.partition(",")[0] for line in lines}) == 13, lines
        if name == "fleet":
            assert (folder / "all.csv").read_bytes() == whole["all.csv"]


def cut_and_foreign_checkpoints(folder: Path) -> None:
    """Rows of a sweep and runs of a fleet, cut at every eighth of their length, and those of something else."""
    for name, kept in (("sweep", "rows.csv"), ("fleet", "kept.jsonl")):
        whole, _ = stops.whole(name)
        (folder / "dd.txt").write_text(stops.LOG)
        assert stops.run(stops.COMMANDS[name], folder)[0] == 0
        data = (folder / kept).read_bytes()
        for eighth in range(8):
            (folder / kept).write_bytes(data[: len(data) * eighth // 8])
            code, _ = stops.run(stops.COMMANDS[name], folder)
            assert code in (0, 2), (name, eighth, code)
            said = (folder / "stderr").read_text()
            if code == 2:
                assert kept in said, said
                (folder / kept).unlink()
                assert stops.run(stops.COMMANDS[name], folder)[0] == 0
            answer = "rows.csv" if name == "sweep" else "all.csv"
            assert (folder / answer).read_bytes() == whole[answer], f"{name} cut at {eighth}/8 ends otherwise"
        for foreign in (
            b"a,b,c\n1,2,3\n",
            b"\x00\xff" * 4000,
            b'{"schema": "x"}\n',
            b"[" * 100_000,
            b"PK\x03\x04" * 99,
        ):
            (folder / kept).write_bytes(foreign)
            refused(command(stops.COMMANDS[name], folder), kept)
            assert (folder / kept).read_bytes() == foreign, f"{kept} of somebody else was changed"


def bombs(folder: Path) -> None:
    """Gigabytes in kilobytes, as logs, tables and paths: 1 GB of memory and 20 s of CPU are enough to say no."""
    zeros, lines = b"\0" * (1 << 20), (b"x" * 1023 + b"\n") * 1024
    for name, opened in (("a.gz", gzip.open), ("a.bz2", bz2.open), ("a.xz", lzma.open)):
        for kind, block in (("zeros", zeros), ("lines", lines)):
            with opened(folder / f"{kind}-{name}", "wb") as out:
                for _ in range(300):
                    out.write(block)
    with tarfile.open(folder / "many.tar", "w") as out:
        for number in range(5000):
            out.addfile(tarfile.TarInfo(f"{'d/' * 20}{number}"), io.BytesIO())
        link = tarfile.TarInfo("etc")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        out.addfile(link)
    with zipfile.ZipFile(folder / "a.zip", "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("a", zeros * 100)
    inner = gzip.compress(gzip.compress(zeros * 100))
    (folder / "nested.gz").write_bytes(inner)
    for file in sorted(f.name for f in folder.iterdir() if f.suffix in (".gz", ".bz2", ".xz", ".tar", ".zip")):
        for arguments in (("logs", file), ("predict", file), ("tools", "--table", file)):
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            code, said = command(arguments, folder)
            used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
            assert code in (0, 1, 2), (file, arguments, code, said[-300:])
            assert "Traceback" not in said, (file, said[-300:])
            assert "internal error" not in said, (file, said[-300:])
            assert used < 20, f"{used:.0f} s of CPU for {arguments}"
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert most < 1_000_000, f"{most / 1000:.0f} MB"


def a_hostile_folder_for_discover(folder: Path) -> None:
    """Links out, pipes, devices, huge and binary files, names that are commands, in the place of collected outputs."""
    place = folder / "outputs"
    for how in range(8):
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        for name in ("lscpu", "lsblk", "ip-link", "meminfo", "df", "mdstat", "sysctl", "hostname", "$(touch x)", "-rf"):
            file = place / name
            if how == 0:
                file.symlink_to("/etc/passwd")
            elif how == 1:
                os.mkfifo(file)
            elif how == 2:
                file.symlink_to("/dev/zero")
            elif how == 3:
                file.write_bytes(os.urandom(10_000))
            elif how == 4:
                file.mkdir()
            elif how == 5:
                file.write_bytes(b"CPU(s): " + b"9" * 100_000 + b"\n" + b"{[" * 100_000)
            elif how == 6:
                file.write_text("hostname: ../../x\n\x1b[31m$(touch x)`touch x`: !!python/object\nCPU(s): -1\n")
            else:
                file.symlink_to(name)
        code, said = command(("discover", "--from", "outputs", "-o", "made.yaml"), folder)
        assert code in (0, 2), (how, code, said[-300:])
        assert "Traceback" not in said, (how, said[-300:])
        made = folder / "made.yaml"
        text = made.read_text() if made.exists() else ""
        assert "root:" not in text + said, f"{how}: shows another file"
        assert not (folder / "x").exists(), f"{how}: ran what a file says"
        assert "\x1b" not in text, f"{how}: a raw control character"
        made.unlink(missing_ok=True)


FAULTS: tuple[Callable[[Path], None], ...] = (
    full_at_each_write,
    read_only_at_each_write,
    two_processes_on_one_folder,
    cut_and_foreign_checkpoints,
    bombs,
    a_hostile_folder_for_discover,
)
