"""Commands that are stopped at random moments (Ctrl-C, SIGKILL) and given again: what they leave, and what they end in.

What is stopped by Ctrl-C leaves with 130 (fleet with what it has) and no traceback; a file of answers is whole or not
there; the same command given again ends in the same bytes as one that was never stopped.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from counts import SkippedError

from dtnsim import cli

USUAL = {"stops": 40}
LOG = """$ dd if=/dev/zero of=/bigdata/dong/10GB bs=1M count=10240
10737418240 bytes (11 GB) copied, 2.21714 s, 4.8 GB/s
$ dd if=/dev/zero of=/home/dong/10GB bs=1M count=10240
10737418240 bytes (11 GB) copied, 3.46705 s, 3.1 GB/s
"""
FLEET = ("fleet", "examples/facility-year", "--set", "workload.span=8 h", "--replicas", "2", "--processes", "1")
COMMANDS = {
    "sweep": ("sweep", "venadi/iperf3", "--vary", "wan.rtt=1ms..200ms:lin12", "--samples", "32", "-o", "rows.csv"),
    "fleet": (*FLEET, "--checkpoint", "kept.jsonl", "--transfers", "all.csv"),
    "calibrate": ("calibrate", "dd.txt", "--host", "venadi", "--as", "/home/dong=/", "-o", "fitted.yaml"),
    "plan": ("plan", "examples/nas-24-disks-1-reader", "--target", "10Gb/s", "--samples", "32"),
    "report": ("report", "venadi/iperf3", "-o", "report.html", "--scenarios", "0", "--no-tools", "--samples", "32"),
}
#: files that gather rows or runs; any other is there whole, or not at all
GATHERS = ("rows.csv", "kept.jsonl", "all.csv", "stdout", "stderr", "dd.txt")


def _command(arguments: tuple[str, ...], folder: Path) -> int:
    """Exit code of a command in this process, which has its output in files from then on."""
    os.chdir(folder)
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), number)
    sys.stdout, sys.stderr = (os.fdopen(n, "w", encoding="utf-8") for n in (1, 2))
    sys.argv = ["dtnsim", *arguments]
    code = 0
    try:
        cli.main()
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 0
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def run(arguments: tuple[str, ...], folder: Path, signal_at: tuple[int, float] | None = None) -> tuple[int, float]:
    """Exit code (below 0: the signal that ended it) and seconds of a command in a child of this process."""
    start = time.monotonic()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)  # as in a terminal, also behind one
            code = _command(arguments, folder)
        except KeyboardInterrupt:  # before the command has begun, or after its end
            code = 130
        finally:  # whatever comes, the child ends here: it is not to tidy up what is its parent's
            os._exit(code)
    if signal_at is not None:
        time.sleep(signal_at[1])
        if os.waitpid(child, os.WNOHANG) != (0, 0):
            raise SkippedError(f"{arguments[0]} ended before it was stopped")
        os.kill(child, signal_at[0])
    status = os.waitpid(child, 0)[1]
    return os.waitstatus_to_exitcode(status), time.monotonic() - start


def _left(folder: Path) -> dict[str, bytes]:
    """What a command has written; how long it took is on standard error, and in no answer."""
    return {f.name: f.read_bytes() for f in folder.iterdir() if f.name not in ("stderr", "kept.jsonl")}


@cache
def whole(name: str) -> tuple[dict[str, bytes], float]:
    """What a command leaves that nobody stops, and its seconds, of a second run."""
    for _ in range(2):
        with TemporaryDirectory() as made:
            (Path(made) / "dd.txt").write_text(LOG)
            code, seconds = run(COMMANDS[name], Path(made))
            assert code == 0, (Path(made) / "stderr").read_text()
            left = _left(Path(made))
    return left, seconds


def stops(number: int) -> str | None:
    """One command, stopped at one moment."""
    r = random.Random(number)
    name, sign = r.choice(sorted(COMMANDS)), r.choice((signal.SIGINT, signal.SIGKILL))
    ended, seconds = whole(name)
    at = r.uniform(0.0, seconds)
    said = f"{name}, {sign.name} after {at:.2f} of {seconds:.2f} s"
    with TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "dd.txt").write_text(LOG)
        code, _ = run(COMMANDS[name], folder, (sign, at))
        words = (folder / "stderr").read_text() if (folder / "stderr").exists() else ""
        if "Traceback" in words or "internal error" in words or code not in (0, 130, -sign):
            return f"{said}: exit {code}: {words[-300:]}"
        for file, data in _left(folder).items():
            if file not in GATHERS and not file.startswith(".") and data != ended[file]:
                return f"{said}: {file} is not whole"
        if sign == signal.SIGINT and (parts := [f.name for f in folder.glob(".*.part")]):
            return f"{said}: leaves {parts}"
        code, _ = run(COMMANDS[name], folder)
        again = {f: data for f, data in _left(folder).items() if not f.startswith(".")}
        if code != 0 or again.keys() != ended.keys():
            return f"{said}, then exit {code}, {sorted(again)}: {(folder / 'stderr').read_text()[-300:]}"
        different = [f for f, data in again.items() if (f != "stdout" or name == "plan") and data != ended[f]]
        return f"{said}: other bytes in {different}" if different else None
