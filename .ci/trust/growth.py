"""Time and memory of one command as a path grows: transfers, file classes, hosts, segments, drives."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import counts
import yaml

ROOT = Path(__file__).parents[2]
#: what grows -> how many of it
SIZES = {
    "transfers": (10, 100, 1000),
    "transfers, simulate": (10, 100, 1000),
    "file classes": (10, 100, 1000),
    "hosts": (5, 50, 500),
    "segments": (4, 16, 64),
    "drives of a volume": (10, 100),
}
CASES = [(what, n) for what, sizes in SIZES.items() for n in sizes]
USUAL = {"growth": len(CASES)}
#: most CPU seconds and megabytes that any of them may take
CPU_S, MEMORY_MB = 120, 2000


def _path(what: str, n: int) -> dict[str, Any]:
    drive = {"kind": "hdd", "rate": "200 MB/s"}
    array = {"kind": "raid", "level": 6, "disks": n if what.startswith("drives") else 8, "of": drive}
    host = {
        "cpu": {"cores": 16, "clock": "3 GHz"},
        "memory": {"channels": 8, "rate": "3200 MT/s", "size": "128 GiB"},
        "nics": {"lan": {"rate": "100 Gb/s", "mtu": "9000 B"}},
        "volumes": {"/d": {"filesystem": "xfs", "array": array}},
    }
    pairs = n // 2 if what == "hosts" else 1
    hosts = {f"{side}{k}": host for k in range(max(pairs, 1)) for side in "ab"}
    count = n if what.startswith("transfers") else max(pairs, 1)
    data: dict[str, Any] = {"files": 10, "each": "1 GB"}
    if what == "file classes":
        data = {"files": [{"count": 1 + k % 7, "size": f"{1000 * (k + 1)} B"} for k in range(n)]}
    moved = [
        {"name": f"t{k}", "from": f"a{k % pairs}:/d", "to": f"b{k % pairs}:/d", "tool": "gridftp", "dataset": data}
        for k in range(count)
    ]
    segments = n if what == "segments" else 1
    wan = [{"bandwidth": "100 Gb/s", "rtt": "1 ms"} for _ in range(segments)]
    return {"name": what, "hosts": hosts, "wan": wan, "transfers": moved}


def growth(number: int) -> str | None:
    """One size of one thing; its row goes into the table."""
    what, n = CASES[number % len(CASES)]
    with TemporaryDirectory() as folder:
        file = Path(folder) / "path.yaml"
        file.write_text(yaml.safe_dump(_path(what, n), sort_keys=False))
        name = "simulate" if what.endswith("simulate") else "predict"
        child = subprocess.Popen(
            [sys.executable, "-m", "dtnsim", name, str(file)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        assert child.stderr is not None
        said = child.stderr.read().decode()
        _, status, used = os.wait4(child.pid, 0)
        code = os.waitstatus_to_exitcode(status)
        child.returncode = code
    cpu, memory = used.ru_utime + used.ru_stime, used.ru_maxrss / 1000
    known = counts.read()
    rows = {(row[0], row[1]): row for row in known.get("growth", {}).get("rows", [])}
    rows[what, n] = [what, n, round(cpu, 1), round(memory), code]
    known.setdefault("growth", {"tried": 0, "found": 0, "wrong": {}, "next": 0})["rows"] = list(rows.values())
    counts.FILE.write_text(json.dumps(known, indent=1) + "\n")
    print(f"{what} {n}: {cpu:.1f} s, {memory:.0f} MB, exit {code}", flush=True)
    if code != 0 or cpu > CPU_S or memory > MEMORY_MB:
        return f"{n} {what}: {cpu:.0f} s, {memory:.0f} MB, exit {code}: {said[-300:]}"
    return None
