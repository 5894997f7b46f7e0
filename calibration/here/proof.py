"""The promise of `dtnsim measure`, put to the test: measure, predict what was not measured, run it.

    sudo python calibration/here/proof.py all --volume /data --set a     # measure, predict, run, table
    python calibration/here/proof.py table --set a

Everything is written below DIR/.dtnsim-proof and removed at the end; all traffic stays on 127.0.0.1 or in network
namespaces of its own. Predictions are on disk before the first transfer runs. What is not installed is named, and left
out.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dtnsim

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tools"))
import emulator  # noqa: E402 - beside this folder, no package

MB = 1_000_000
#: files of each set: (number, size of one); fresh sizes for each set
SETS: dict[str, dict[str, tuple[int, int]]] = {
    "tiny": {"big": (1, 20 * MB), "middle": (4, MB), "small": (20, 20_000), "far": (1, 4 * MB), "few": (5, 10_000)},
    "a": {
        "big": (1, 600 * MB), "middle": (40, 10 * MB), "small": (2000, 20_000), "far": (1, 20 * MB),
        "few": (40, 100_000),
    },
    "b": {
        "big": (1, 300 * MB), "middle": (80, 3 * MB), "small": (1000, 40_000), "far": (1, 30 * MB),
        "few": (60, 60_000),
    },
    "c": {
        "big": (1, 350 * MB), "middle": (50, 4 * MB), "small": (1500, 25_000), "far": (1, 24 * MB),
        "few": (45, 80_000),
    },
    "d": {
        "big": (1, 450 * MB), "middle": (60, 5 * MB), "small": (1200, 30_000), "far": (1, 26 * MB),
        "few": (50, 70_000),
    },
}  # fmt: skip
#: bytes written and deleted first, so that new files lie on blocks that were in use before
SEASON_B = int(os.environ.get("DTNSIM_SEASON_B", 12_000 * MB))
SSHD = """Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host
AuthorizedKeysFile {folder}/id.pub
PermitRootLogin yes
StrictModes no
UsePAM no
PidFile none
Subsystem sftp internal-sftp
"""
SSH = """Host *
 Port {port}
 IdentityFile {folder}/id
 IdentitiesOnly yes
 StrictHostKeyChecking no
 UserKnownHostsFile /dev/null
 LogLevel ERROR
 BatchMode yes
"""
#: the emulated path: rate [bit/s] and the round trips [s]
WAN_BPS, RTTS = 200e6, (0.005, 0.02)


@dataclass
class Transfer:
    """A transfer.

    Attributes:
        name: What the table calls it.
        command: What is typed in a shell; ``{src}`` and ``{dst}`` are the source and an empty folder.
        data: Which files.
        tool: As a path file has it.
        cold: Whether the source is dropped from memory first.
        start, to: Ends on this host where it is local: ``VOL`` or a device.
        way: ``local``, ``loopback``, or the round trip of an emulated path [s].
        needs: Programs.
    """

    name: str
    command: str
    data: str
    tool: dict[str, Any]
    cold: bool = False
    start: str = "VOL"
    to: str = "VOL"
    way: str | float = "local"
    needs: tuple[str, ...] = field(default=())


def local(number: Mapping[str, tuple[int, int]]) -> Iterator[Transfer]:
    """Transfers within the volume."""
    mib = number["big"][0] * number["big"][1] // 2**20
    for name, more, tool in (
        ("dd write", "", {"conv": ""}),
        ("dd write, fdatasync", "conv=fdatasync", {"conv": "fdatasync"}),
        ("dd write, direct 4 MiB", "oflag=direct", {"oflag": "direct"}),
    ):
        block = 4 if "direct" in more else 1
        line = f"dd if=/dev/zero of={{dst}}/x bs={block}M count={mib // block} {more}"
        yield Transfer(name, line, "big", {"name": "dd", "bs": f"{block} MiB", **tool}, start="/dev/zero")
    yield Transfer(
        "dd write, dsync 256 KiB",
        f"dd if=/dev/zero of={{dst}}/x bs=256k count={number['far'][1] // 2**18} oflag=dsync", "far",
        {"name": "dd", "bs": "256 KiB", "oflag": "dsync"}, start="/dev/zero",
    )  # fmt: skip
    for cold, word in ((True, "cold"), (False, "warm")):
        yield Transfer(
            f"dd read, {word}", "dd if={src}/f0 of=/dev/null bs=1M", "big", {"name": "dd", "bs": "1 MiB"}, cold,
            to="/dev/null",
        )  # fmt: skip
    yield Transfer(
        "dd read, direct 512 KiB", "dd if={src}/f0 of=/dev/null bs=512k iflag=direct", "big",
        {"name": "dd", "bs": "512 KiB", "iflag": "direct"}, cold=True, to="/dev/null",
    )  # fmt: skip
    for data in ("big", "middle", "small"):
        for cold, word in ((True, "cold"), (False, "warm")):
            yield Transfer(
                f"cp -r, {data}, {word}",
                "cp -r {src} {dst}/",
                data,
                {"name": "cp", "r": True},
                cold,
            )
            yield Transfer(
                f"rsync -a, {data}, {word}", "rsync -a {src} {dst}/", data, {"name": "rsync", "version": "3.2.7"}, cold,
                needs=("rsync",),
            )  # fmt: skip
        yield Transfer(
            f"rclone copy, {data}, warm", "rclone --config /dev/null copy {src} {dst}", data,
            {"name": "rclone", "backend": "local"}, needs=("rclone",),
        )  # fmt: skip
    yield Transfer("cp and sync, big, warm", "cp -r {src} {dst}/ && sync", "big", {"name": "cp", "sync": True})
    for data in ("middle", "small"):
        yield Transfer(
            f"tar -c, {data}, cold", "tar -cf {dst}/x.tar {src} 2>/dev/null", data,
            {"name": "tar", "mode": "c"}, cold=True,
        )  # fmt: skip
        yield Transfer(f"tar -x, {data}, warm", "tar -xf {src}.tar -C {dst}", data, {"name": "tar", "mode": "x"})


def remote(way: str | float, datas: tuple[str, ...]) -> Iterator[Transfer]:
    """Transfers between two ends of this machine."""
    far = "{far}"
    ssh = ("ssh", "sshd")
    version = _ssh_version()
    where = "loopback" if way == "loopback" else f"{1e3 * float(way):g} ms"
    for data in datas:
        yield Transfer(f"scp -r, {data}, {where}", f"scp -F {{conf}} -q -r {{src}} {far}:{{dst}}/", data,
                       {"name": "scp", "version": version}, way=way, needs=("scp", *ssh))  # fmt: skip
        yield Transfer(f"rsync over ssh, {data}, {where}",
                       f"rsync -a -e 'ssh -F {{conf}}' {{src}} {far}:{{dst}}/", data,
                       {"name": "rsync", "version": "3.2.7", "ssh": {"version": version}}, way=way,
                       needs=("rsync", *ssh))  # fmt: skip
        yield Transfer(f"tar to ssh, {data}, {where}",
                       f"tar -cf - {{src}} 2>/dev/null | ssh -F {{conf}} {far} 'tar -xf - -C {{dst}}'", data,
                       {"name": "tar-ssh", "version": version}, way=way, needs=("tar", *ssh))  # fmt: skip
        if way == "loopback":
            yield Transfer(f"sftp put, {data}, {where}",
                           f"echo 'put -r {{src}} {{dst}}/' | sftp -F {{conf}} -q -b - {far}", data,
                           {"name": "sftp", "version": version}, way=way, needs=("sftp", *ssh))  # fmt: skip
            yield Transfer(f"tar to nc, {data}, {where}",
                           "nc -l 127.0.0.1 {nc} | tar -xf - -C {dst} & sleep 0.2; "
                           "tar -cf - {src} 2>/dev/null | nc -N 127.0.0.1 {nc}; wait", data,
                           {"name": "tar-nc"}, way=way, needs=("tar", "nc"))  # fmt: skip


def transfers(which: str) -> list[Transfer]:
    """All transfers of a set whose programs are here; others are named."""
    every = [*local(SETS[which]), *remote("loopback", ("big", "middle", "small"))]
    reason = emulator.why_not()
    if reason:
        print(f"left out, emulated round trips: {reason}", file=sys.stderr)
    else:
        every += [t for rtt in RTTS for t in remote(rtt, ("far", "few"))]
    missing = {n for t in every for n in t.needs if not (shutil.which(n) or Path(f"/usr/sbin/{n}").exists())}
    if missing:
        print(f"left out, not installed: {', '.join(sorted(missing))}", file=sys.stderr)
    return [t for t in every if not missing & set(t.needs)]


def _ssh_version() -> str:
    said = (
        subprocess.run(["ssh", "-V"], capture_output=True, text=True, check=False).stderr if shutil.which("ssh") else ""
    )
    return said.partition("_")[2].partition(" ")[0].partition(",")[0] or "9.2"


# -- predicting ---------------------------------------------------------------------------------


def path_of(t: Transfer, which: str, host: Path, mount: str) -> str:
    """The path file of a transfer, as JSON (which is YAML)."""
    files, size = SETS[which][t.data]
    # blocks and memory were in use before: `make` and `timed` see to it
    known = {"volumes": {mount: {"array": {"fresh": "0"}}}, "stack": {"unbacked": "0"}}
    data = {"files": files, "size": f"{files * size} B"}
    cached = {} if t.cold or t.start.startswith("/") else {"cached": True}
    if t.way == "local":
        ends = [f"here:{mount if e == 'VOL' else e}" for e in (t.start, t.to)]
        hosts: dict[str, Any] = {"here": {"like": str(host), **known}}
        wan = {}
    else:
        # both ends are this machine: half of its cores each, and a card that is none
        cores = max(1, (os.cpu_count() or 2) // 2)
        card = {
            "nics": {"lo": {"kind": "nic", "rate": "1 Tb/s", "mtu": "65535 B" if t.way == "loopback" else "1500 B"}}
        }
        hosts = {name: {"like": str(host), "cpu": {"cores": cores}, **card, **known} for name in ("near", "far")}
        ends = [f"{name}:{mount}" for name in hosts]
        near = t.way == "loopback"
        wan = {"wan": {
            "rtt": "0.05 ms" if near else f"{t.way} s", "bandwidth": "1 Tb/s" if near else f"{WAN_BPS / 1e6:g} Mb/s",
            "loss": "0", "background": {"share": "0 %"}, "buffer": f"{buffer_B(0.02 if near else float(t.way)):.0f} B",
        }}  # fmt: skip
    transfer = {
        "from": ends[0],
        "to": ends[1],
        "tool": {k: v for k, v in t.tool.items() if v != ""},
        "dataset": data,
        **cached,
    }
    return json.dumps({"name": t.name, "hosts": hosts, **wan, "transfer": transfer}, indent=1)


def buffer_B(rtt_s: float) -> float:
    """Queue of the emulated path: a bandwidth-delay product, 100 kB at least."""
    return max(WAN_BPS / 8 * rtt_s, 100_000)


def predict(which: str, host: Path, mount: str, out: Path) -> None:
    """Writes what every transfer is predicted to take."""
    found = {}
    place = out.parent / "path.tmp.yaml"
    for t in transfers(which):
        place.write_text(path_of(t, which, host.resolve(), mount))
        answer = dtnsim.predict(place)
        span = answer.duration_s
        found[t.name] = {
            "p10_s": span.p10,
            "p50_s": span.p50,
            "p90_s": span.p90,
            "bottleneck": answer.bottleneck.reason,
        }
    place.unlink()
    out.write_text(json.dumps(found, indent=1) + "\n")


# -- running ------------------------------------------------------------------------------------


def make(folder: Path, which: str) -> None:
    """The files of a set, of bytes that do not compress, and the archives that tar unpacks."""
    season = folder / "season"
    block = os.urandom(4 * MB)
    with season.open("wb") as file:
        for _ in range(SEASON_B // len(block)):
            file.write(block)
        os.fsync(file.fileno())
    season.unlink()
    for name, (files, size) in SETS[which].items():
        (folder / name).mkdir()
        for number in range(files):
            with (folder / name / f"f{number}").open("wb") as file:
                left = size
                while left > 0:
                    left -= file.write(block[: min(left, len(block))])
    for t in transfers(which):
        if t.cold:
            shutil.copytree(folder / t.data, folder / source_of(t))
    for name in ("middle", "small"):
        subprocess.run(["tar", "-cf", folder / f"{name}.tar", "-C", folder, name], check=True)
    os.sync()


def source_of(t: Transfer) -> str:
    """Folder that a transfer reads: one of its own where it is to be cold."""
    return f"{t.data}.{t.name.replace(' ', '-').replace('/', '-')}" if t.cold else t.data


def settle(folder: Path, every: list[Transfer]) -> None:
    """Before a round: no targets; what is to be cold is not in memory, and the rest is."""
    shutil.rmtree(folder / "targets", ignore_errors=True)
    (folder / "targets").mkdir()
    os.sync()
    for t in every:
        for file in (folder / source_of(t)).iterdir() if t.start == "VOL" else ():
            with file.open("rb") as opened:
                if t.cold:
                    os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                else:
                    while opened.read(8 * MB):
                        pass
    for file in folder.glob("*.tar"):
        file.read_bytes()


def free_port() -> int:
    """A port that nobody has on loopback."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@contextmanager
def sshd(folder: Path, address: str, wan: emulator.Wan | None) -> Iterator[Path]:
    """An sshd of its own; gives the client's configuration."""
    port = free_port()
    place = folder / f"ssh-{address}"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    for name in ("id", "host"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", place / name], check=True)
    for name, text in (("sshd_config", SSHD), ("ssh_config", SSH)):
        (place / name).write_text(text.format(folder=place, port=port).replace("127.0.0.1", address))
    Path("/run/sshd").mkdir(exist_ok=True)
    server = [shutil.which("sshd") or "/usr/sbin/sshd", "-D", "-f", str(place / "sshd_config")]
    made = wan.popen(wan.far, server) if wan else subprocess.Popen(server, stdin=subprocess.DEVNULL)
    try:
        time.sleep(0.5)
        yield place / "ssh_config"
    finally:
        made.terminate()
        made.wait(10)


def use_memory(folder: Path, size_B: int) -> None:
    """Has free memory used once, so that a hypervisor has found it (what was never flushed is never written)."""
    ballast, block = folder / "ballast", bytes(MB)
    with ballast.open("wb", buffering=0) as file:
        for _ in range(size_B // MB):
            file.write(block)
    ballast.unlink()


def timed(t: Transfer, size_B: int, folder: Path, conf: Path | None, far: str, wan: emulator.Wan | None) -> float:
    """Seconds of one run.

    Raises:
        RuntimeError: the command failed.
    """
    target = folder / "targets" / str(len(list((folder / "targets").iterdir())))
    target.mkdir()
    os.sync()
    source = folder / (source_of(t) if ".tar" not in t.command else t.data)
    words = {"src": source, "dst": target, "conf": conf, "far": far, "nc": free_port()}
    line = t.command
    for key, value in words.items():
        line = line.replace("{" + key + "}", str(value))
    use_memory(folder, 2 * size_B + 50 * MB)
    if wan is not None:
        return wan.timed(["sh", "-c", line])
    begun = time.perf_counter()
    done = subprocess.run(
        ["sh", "-c", line], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120, check=False
    )
    took = time.perf_counter() - begun
    if done.returncode:
        raise RuntimeError(f"{t.name}: {done.stderr.strip()[-300:]}")
    return took - (0.2 if "sleep 0.2" in line else 0.0)


def run(which: str, folder: Path, out: Path, repeats: int, part: str) -> None:
    """Runs every transfer, round after round; each run is a row that is written at once."""
    every = [t for t in transfers(which) if part == "all" or (part == "emulated") == isinstance(t.way, float)]
    near = [t for t in every if not isinstance(t.way, float)]
    with out.open("a", newline="") as file, ExitStack() as stack:
        rows = csv.writer(file)
        conf = stack.enter_context(sshd(folder, "127.0.0.1", None)) if near and shutil.which("ssh") else None
        for turn in range(repeats if near else 0):
            settle(folder, near)
            for t in near:
                seconds = timed(t, math.prod(SETS[which][t.data]), folder, conf, "127.0.0.1", None)
                rows.writerow([t.name, turn, f"{seconds:.4f}"])
                file.flush()
    for rtt in RTTS:
        mine = [t for t in every if t.way == rtt]
        if not mine:
            continue
        with out.open("a", newline="") as file, emulator.Wan(WAN_BPS, rtt, buffer_B(rtt)) as wan:
            with sshd(folder, emulator.FAR, wan) as conf:
                for turn in range(repeats):
                    settle(folder, mine)
                    for t in mine:
                        csv.writer(file).writerow(
                            [
                                t.name,
                                turn,
                                f"{timed(t, math.prod(SETS[which][t.data]), folder, conf, emulator.FAR, wan):.4f}",
                            ]
                        )


# -- judging ------------------------------------------------------------------------------------


def judged(predicted: Path, measured: Path) -> Iterator[tuple[str, list[float], dict[str, float]]]:
    """Name, measured times [s] and prediction of each transfer that ran."""
    told = json.loads(predicted.read_text())
    runs: dict[str, list[float]] = {}
    with measured.open(newline="") as file:
        for name, _, seconds in csv.reader(file):
            runs.setdefault(name, []).append(float(seconds))
    for name, times in runs.items():
        yield name, times, told[name]


def table(predicted: Path, measured: Path) -> str:
    """Measured beside predicted, and how good that is, as Markdown."""
    lines = ["| transfer | measured: median (runs) | predicted (8 in 10) | error | inside |", "|---|---|---|---|---|"]
    errors, held, each = [], [], []
    for name, times, p in judged(predicted, measured):
        median = statistics.median(times)
        errors.append(p["p50_s"] / median - 1)
        held.append(p["p10_s"] <= median <= p["p90_s"])
        each += [p["p10_s"] <= s <= p["p90_s"] for s in times]
        lines.append(
            f"| {name} | {median:.3g} s ({min(times):.3g} to {max(times):.3g}, {len(times)}) | {p['p50_s']:.3g} s "
            f"({p['p10_s']:.3g} to {p['p90_s']:.3g}) | {100 * errors[-1]:+.0f} % | {'yes' if held[-1] else 'no'} |"
        )
    middle = statistics.median(map(abs, errors))
    lines.append("")
    lines.append(
        f"{len(errors)} transfers: median error {100 * middle:.0f} %, mean of the logarithm "
        f"{100 * statistics.fmean(math.log1p(e) for e in errors):+.0f} %; 80 % intervals hold "
        f"{100 * statistics.fmean(held):.0f} % of the medians and {100 * statistics.fmean(each):.0f} % of "
        f"{len(each)} runs."
    )
    return "\n".join(lines) + "\n"


def families(predicted: Path, measured: Path) -> str:
    """The table by what a transfer has to do, as Markdown."""
    found: dict[str, list[tuple[float, bool]]] = {}
    for name, times, p in judged(predicted, measured):
        ends = {
            "loopback": "two programs over loopback",
            "ms": "over emulated round trips",
            "cold": "reading the drive",
        }
        kind = next((words for end, words in ends.items() if name.endswith(end)), "in memory, or to the drive")
        median = statistics.median(times)
        for row in (kind, "**all**"):
            found.setdefault(row, []).append((abs(p["p50_s"] / median - 1), p["p10_s"] <= median <= p["p90_s"]))
    lines = ["| transfers | number | median error | in the 80 % interval |", "|---|---:|---:|---:|"]
    for kind in sorted(found, key=lambda kind: kind.startswith("**")):
        errors, held = zip(*found[kind], strict=True)
        lines.append(
            f"| {kind} | {len(errors)} | {100 * statistics.median(errors):.0f} % | {100 * statistics.fmean(held):.0f} % |"
        )
    return "\n".join(lines) + "\n"


def main() -> int:
    """Measures, predicts, runs, prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("steps", nargs="+", choices=["make", "measure", "predict", "run", "table", "clean", "all"])
    parser.add_argument("--volume", default=".", help="a folder of yours")
    parser.add_argument("--set", dest="which", choices=sorted(SETS), default="a")
    parser.add_argument("--out", default=str(HERE), help="where results go")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--time", default="5m")
    parser.add_argument(
        "--part", choices=["all", "near", "emulated"], default="all", help="which of the transfers to run"
    )
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what was started ends too
    steps = ["make", "measure", "predict", "run", "table", "clean"] if "all" in given.steps else given.steps
    place, out = Path(given.volume).resolve(), Path(given.out)
    folder, host = place / ".dtnsim-proof", out / "here.yaml"
    mount = str(next(p for p in (place, *place.parents) if os.path.ismount(p)))
    predicted, measured = out / f"predicted-{given.which}.json", out / f"measured-{given.which}.csv"
    for step in steps:
        if step in ("make", "clean"):
            shutil.rmtree(folder, ignore_errors=True)
        if step == "make":
            folder.mkdir()
            make(folder, given.which)
        elif step == "measure":
            command = ["measure", "-o", str(host), "--volume", str(place), "--time", given.time, "--yes"]
            subprocess.run([sys.executable, "-m", "dtnsim", *command], check=True)
        elif step == "predict":
            predict(given.which, host, mount, predicted)
        elif step == "run":
            run(given.which, folder, measured, given.repeats, given.part)
        elif step == "table":
            made = table(predicted, measured)
            print(made)
            notes, mark = HERE / "NOTES.md", f"<!-- set {given.which} -->\n"
            before, found, after = (
                notes.read_text().partition(mark) if out == HERE and notes.is_file() else ("", "", "")
            )
            if found:
                notes.write_text(f"{before}{mark}{made}{after[after.index('<!-- end -->') :]}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
