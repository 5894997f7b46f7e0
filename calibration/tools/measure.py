"""Measures transfer tools on this machine over an emulated round trip and holds them against what dtnsim predicts.

    sudo python calibration/tools/measure.py curl scp sftp rsync tar-ssh --rtt 5ms --rtt 50ms --files 50 --size 10kB

One line a tool and round trip: measured (median of the repeats), predicted with its 80 % interval, and whether it is
inside. ``-o runs.csv`` writes rows with the columns that ``dtnsim tools --table`` reads, for ``.ci/tool_folds.py`` and for
tables of your own. Tools that are not installed are named and left out.
"""

from __future__ import annotations

import argparse
import csv
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import emulator

from dtnsim.evidence import tool_runs
from dtnsim.ground import units

#: a web server that keeps connections open, as nginx does
_WEB = """
import http.server, os, sys
os.chdir(sys.argv[1])
class H(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    def log_message(self, *a): pass
http.server.ThreadingHTTPServer((sys.argv[2], 80), H).serve_forever()
"""
_SSHD = """Port 22
ListenAddress {far}
HostKey {folder}/host
AuthorizedKeysFile {folder}/id.pub
PermitRootLogin yes
StrictModes no
UsePAM no
PidFile none
MaxStartups 300
Subsystem sftp internal-sftp
"""
_SSH = """Host *
 User root
 IdentityFile {folder}/id
 IdentitiesOnly yes
 StrictHostKeyChecking no
 UserKnownHostsFile /dev/null
 LogLevel ERROR
 BatchMode yes
"""
#: what a tool needs at either end
NEEDS = {
    "curl": ("curl",),
    "scp": ("scp", "sshd"),
    "sftp": ("sftp", "sshd"),
    "rsync": ("rsync", "ssh", "sshd"),
    "tar-ssh": ("tar", "ssh", "sshd"),
}


@dataclass
class Bench:
    """A folder with files to move, a path, and servers at its far end."""

    wan: emulator.Wan
    files: int
    size_B: int
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="dtnsim-lab")))

    def __post_init__(self) -> None:
        """Makes the files."""
        (self.folder / "src").mkdir()
        for number in range(self.files):
            (self.folder / "src" / f"f{number:05d}.bin").write_bytes(os.urandom(self.size_B))

    def close(self) -> None:
        """Removes the files."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def web(self) -> None:
        """Starts a web server."""
        self.wan.popen(self.wan.far, [sys.executable, "-c", _WEB, str(self.folder / "src"), emulator.FAR])
        self._listens(80)

    def sshd(self) -> None:
        """Starts an sshd with keys of its own."""
        for name in ("id", "host"):
            key = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.folder / name)]
            subprocess.run(key, check=True, capture_output=True)
        for name, text in (("sshd_config", _SSHD), ("ssh_config", _SSH)):
            (self.folder / name).write_text(text.format(folder=self.folder, far=emulator.FAR))
        Path("/run/sshd").mkdir(exist_ok=True)
        server = shutil.which("sshd") or "/usr/sbin/sshd"
        self.wan.popen(self.wan.far, [server, "-D", "-f", str(self.folder / "sshd_config")])
        self._listens(22)

    def _listens(self, port: int) -> None:
        wanted = f":{port:04X}"
        for _ in range(200):
            table = subprocess.run(
                ["ip", "netns", "exec", self.wan.far, "cat", "/proc/net/tcp"],
                capture_output=True,
                text=True,
                check=False,
            )
            if any(f"{wanted} " in line and " 0A " in line for line in table.stdout.splitlines()):
                return
            time.sleep(0.02)
        raise RuntimeError(f"no server at port {port}")

    def target(self) -> Path:
        """An empty folder."""
        made = Path(tempfile.mkdtemp(dir=self.folder))
        (made / "src").mkdir()
        return made

    def command(self, tool: str) -> list[str]:
        """What is typed for a tool."""
        source, target, config = self.folder / "src", self.target(), str(self.folder / "ssh_config")
        if tool == "curl":
            names = [n for i in range(self.files) for n in ("-o", f"{target}/f{i:05d}", self._url(i))]
            return ["curl", "-s", "-f", *names]
        if tool == "scp":
            return ["scp", "-F", config, "-q", "-r", str(source), f"{emulator.FAR}:{target}/"]
        if tool == "sftp":
            batch = self.folder / "batch"
            batch.write_text(f"put -r {source} {target}/\n")
            return ["sftp", "-F", config, "-q", "-b", str(batch), emulator.FAR]
        if tool == "rsync":
            return ["rsync", "-a", "-e", f"ssh -F {config}", str(source), f"{emulator.FAR}:{target}/"]
        line = f"tar -C {self.folder} -cf - src | ssh -F {config} {emulator.FAR} 'tar -C {target} -xf -'"
        return ["sh", "-c", line]

    @staticmethod
    def _url(number: int) -> str:
        return f"http://{emulator.FAR}/f{number:05d}.bin"


def available(tool: str) -> bool:
    """Whether a tool and its server are installed."""
    return all(shutil.which(name) or Path(f"/usr/sbin/{name}").exists() for name in NEEDS[tool])


def version(tool: str) -> str:
    """What the tool's version says, where plans differ by it."""
    if tool == "curl":
        return ""
    command = ["rsync", "--version"] if tool == "rsync" else ["ssh", "-V"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    return (ran.stdout or ran.stderr).splitlines()[0].partition(",")[0]


def row(tool: str, bench: Bench, rate_bps: float, rtt_s: float) -> dict[str, str]:
    """A run as `dtnsim tools --table` reads it."""
    return {
        "tool_key": tool,
        "version": version(tool),
        "direction": "get" if tool == "curl" else "put",
        "options": "",
        "rate_bps": f"{rate_bps:.0f}",
        "rtt_s": f"{rtt_s:g}",
        "buffer_bytes": f"{bench.wan.buffer_B:.0f}",
        "dataset": "files" if bench.files > 1 else "file",
        "files": str(bench.files),
        "total_bytes": str(bench.files * bench.size_B),
    }


def measure(
    tools: list[str], rtts_s: list[float], *, files: int, size_B: int, rate_bps: float = 100e6, repeats: int = 1
) -> list[dict[str, str]]:
    """Rows with what was measured, one a run."""
    rows = []
    for rtt in rtts_s:
        with emulator.Wan(rate_bps, rtt, max(rate_bps / 8 * 0.1, 30_000)) as wan:
            bench = Bench(wan, files, size_B)
            try:
                servers: dict[str, Callable[[], None]] = {"curl": bench.web}
                for server in dict.fromkeys(servers.get(tool, bench.sshd) for tool in tools):
                    server()
                for tool in tools:
                    for _ in range(repeats):
                        seconds = wan.timed(bench.command(tool))
                        rows.append({**row(tool, bench, rate_bps, rtt), "wall_s": f"{seconds:.4f}"})
            finally:
                bench.close()
    return rows


def main() -> int:
    """Measures, predicts, prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tools", nargs="*", default=list(NEEDS), metavar="TOOL", help=", ".join(NEEDS))
    parser.add_argument("--rtt", action="append", help="round-trip time; repeat it for several")
    parser.add_argument("--rate", default="100 Mb/s")
    parser.add_argument("--files", type=int, default=50)
    parser.add_argument("--size", default="10 kB", help="size of each file")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("-o", "--out", metavar="FILE", help="CSV of the runs")
    given = parser.parse_args()
    reason = emulator.why_not()
    missing = [tool for tool in given.tools if tool not in NEEDS or not available(tool)]
    tools = [tool for tool in given.tools if tool not in missing]
    if reason or not tools:
        print(f"no measurement: {reason or 'none of the tools is installed'}", file=sys.stderr)
        return 2
    if missing:
        print(f"left out, not installed or not known here: {', '.join(missing)}", file=sys.stderr)
    size, rate = units.parse(given.size, "B"), 8 * units.parse(given.rate, "B/s")
    rtts = [units.parse(text, "s") for text in given.rtt or ["5 ms", "50 ms"]]
    rows = measure(tools, rtts, files=given.files, size_B=int(size), rate_bps=rate, repeats=given.repeats)
    if given.out:
        with Path(given.out).open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    print(f"{'tool':8} {'rtt':>8} {'measured':>9} {'predicted':>9}   80 % interval")
    for tool in tools:
        for rtt in rtts:
            same = [r for r in rows if r["tool_key"] == tool and float(r["rtt_s"]) == rtt]
            wall = statistics.median(float(r["wall_s"]) for r in same)
            told = tool_runs.answer(tool_runs.run_of(same[0]), 128)
            inside = "inside" if told.p10_s <= wall <= told.p90_s else "outside"
            span = f"{told.p10_s:.3f} to {told.p90_s:.3f} s, {inside}"
            print(f"{tool:8} {1e3 * rtt:5.4g} ms {wall:7.3f} s {told.p50_s:7.3f} s   {span}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
