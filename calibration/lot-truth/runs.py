"""Measures the points of lot.py: python calibration/lot-truth/runs.py WORK EMULATOR TOOLRUN, as root.

EMULATOR and TOOLRUN are the folders of the emulator of ../tcp-truth (wanrun.py, fct.py, built) and of the runner of
../tools-truth (toolrun.py), whose servers are used. Rows go to runs.csv; what is there already is not run again.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Final

from lot import HERE, TEST_S, points

WORK, EMULATOR, TOOLRUN = (Path(a) for a in sys.argv[1:4])
os.environ |= {"WANEMU": str(EMULATOR), "TSHM": str(WORK / "shm"), "KEYS": str(WORK / "keys")}
sys.path += [str(TOOLRUN), str(EMULATOR)]
import toolrun  # noqa: E402
import wanrun  # noqa: E402

RUNS: Final = 3
TRIES: Final = 4  #: of a run; the last stays, whatever its clock says
CAP_MBPS: Final = 300.0  #: of bulk tests beside each other; short transfers run alone
COLUMNS: Final = (
    "point", "run", "thrown_away", "figure", "seed", "handshake_s", "retransmits", "queue_drops", "random_drops",
    "packets", "late_mean_s", "late_p999_s", "late_max_s", "tun_drops", "cpu_busy", "error",
)  # fmt: skip
MEMORY: Final = {True: (64 << 20, 64 << 20), False: (6291456, 4194304)}


def context(p: dict[str, Any], seed: int, tag: str) -> Any:
    """Two fresh namespaces with the path between them; nothing of earlier connections is known in them."""
    asked = {"ds": p["id"], "dir": p["direction"], "rate": p["rate_Mbps"] * 1e6, "rtt": p["rtt_ms"] / 1e3}
    asked |= {"buf": p["buffer_B"], "loss": p["loss"], "mtu": 1500, "seed": seed, "cc": p["cc"], "mem": "default"}
    c = toolrun.Ctx(tag, asked)
    receiving, sending = MEMORY[p["tool"] == "iperf3"]
    for space in (c.a, c.b):
        memory = (f"net.ipv4.tcp_rmem=4096 131072 {receiving}", f"net.ipv4.tcp_wmem=4096 16384 {sending}")
        wanrun.sh("ip", "netns", "exec", space, "sysctl", "-q", "-w", *memory)
    return c


def bulk(c: Any, p: dict[str, Any]) -> dict[str, Any]:
    """What iperf3's client says that was received."""
    ask = {"warmup_s": 0, "duration_s": TEST_S}
    said, _ = wanrun.finish(*wanrun.iperf_pair(c.path, 5201, ask, p["cc"], streams=p["streams"]), TEST_S + 50)
    end = said["end"]
    figure = f"{end['sum_received']['bits_per_second'] / 1e6:.6g} Mb/s"
    return {"figure": figure, "retransmits": end["sum_sent"]["retransmits"]}


def plain(c: Any, p: dict[str, Any]) -> dict[str, Any]:
    """From the end of the handshake to the last byte."""
    done = wanrun.fct(c.path, {"size_bytes": p["size_B"], "cc": p["cc"]})
    took = done["completion_s"] - done["handshake_s"]
    return {"figure": f"{took:.6g} s", "handshake_s": done["handshake_s"], "retransmits": done["retransmits"]}


def command(c: Any, p: dict[str, Any]) -> str:
    """The one file by the tool, as a user writes it."""
    put, near, far = p["direction"] == "put", f"{c.src}/f", toolrun.HOST
    if p["tool"] in ("curl", "wget"):
        toolrun.nginx(c)
        return f"{p['tool']} {'-s -o' if p['tool'] == 'curl' else '-q -O'} {c.dst}/f http://{far}/{p['id']}/f"
    if p["tool"] == "rsyncd":
        toolrun.rsyncd(c)
        return f"rsync -a {near} rsync://{far}/dst/" if put else f"rsync -a rsync://{far}/src/{p['id']}/f {c.dst}/"
    config = toolrun.sshd(c)
    if p["tool"] == "sftp":
        (batch := Path(c.tmp) / "batch").write_text(f"{'put' if put else 'get'} {near} {c.dst}/f\n")
        return f"sftp -F {config} -q -b {batch} {far}"
    tool = f"scp -F {config} -q" if p["tool"] == "scp" else f"rsync -a -e 'ssh -F {config}'"
    return f"{tool} {near} {far}:{c.dst}/" if put else f"{tool} {far}:{near} {c.dst}/"


def whole(c: Any, p: dict[str, Any]) -> dict[str, Any]:
    """From the start of the command to its exit; what arrived is what was sent."""
    typed, before = command(c, p), c.snmp(c.a)[0] + c.snmp(c.b)[0]
    time.sleep(0.2)
    began = time.monotonic()
    argv, quiet = c.inns(c.a, ["sh", "-c", f"exec {typed}"]), subprocess.DEVNULL
    subprocess.run(argv, stdin=quiet, capture_output=True, env=c.env(), timeout=170, check=True)  # noqa: S603
    took = time.monotonic() - began
    if (Path(c.dst) / "f").read_bytes() != (Path(c.src) / "f").read_bytes():
        raise RuntimeError("other bytes than were sent")
    return {"figure": f"{took:.6g} s", "retransmits": c.snmp(c.a)[0] + c.snmp(c.b)[0] - before}


def late(p: dict[str, Any], row: dict[str, Any]) -> bool:
    """The rule by which a run is done again: the emulator's own clock, stated before the first run.

    A short transfer: a packet left more than 2 ms and a twentieth of the round trip late. A test of 30 s: the mean
    packet left more than 0.1 ms and a hundredth of the round trip late, or one in 1,000 more than 10 ms. Both: a packet
    was lost before the emulator, or the tool failed.
    """
    if row["error"] or row["tun_drops"]:
        return True
    if p["tool"] == "iperf3":
        return bool(row["late_mean_s"] > 1e-4 + p["rtt_ms"] / 1e5 or row["late_p999_s"] > 10e-3)
    return bool(row["late_max_s"] > 2e-3 + p["rtt_ms"] / 20e3)


def run(p: dict[str, Any], number: int, attempt: int, tag: str) -> dict[str, Any]:
    """One run."""
    seed, busy = p["seeds"][(number - 1) * TRIES + attempt], wanrun.cpu()
    row: dict[str, Any] = {"point": p["id"], "run": number, "seed": seed, "error": ""}
    source = WORK / "shm" / "src" / p["id"] / "f"
    if p["size_B"] and not source.exists():
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_bytes(os.urandom(p["size_B"]))
    c = context(p, seed, tag)
    try:
        row |= {"iperf3": bulk, "tcp": plain}.get(p["tool"], whole)(c, p)
    except Exception as error:  # noqa: BLE001 - whatever failed, the run is done again
        row["error"] = f"{type(error).__name__}: {error}"[:200]
    both = c.close()
    after = wanrun.cpu()
    row["cpu_busy"] = round(1 - (after[1] - busy[1]) / max(1, after[0] - busy[0]), 2)
    row |= {f"late_{k}_s": max(both[d][f"late_{k}_s"] for d in ("ab", "ba")) for k in ("mean", "p999", "max")}
    row |= {k: sum(both[d][k] for d in ("ab", "ba")) for k in ("queue_drops", "random_drops")}
    row |= {"packets": sum(both[d]["rx_pkts"] for d in ("ab", "ba")), "tun_drops": both["tun_drops"]}
    return row


def main() -> None:
    """Short transfers one after the other, then bulk tests beside each other."""
    shutil.copy(HERE / "lot.py", WORK)  # what was run
    (WORK / "shm" / "src").mkdir(parents=True, exist_ok=True)
    table = HERE / "runs.csv"
    done = set()
    if table.exists():
        with table.open(newline="") as file:
            done = {(row["point"], int(row["run"])) for row in csv.DictReader(file) if not row["thrown_away"]}
    with table.open("a", newline="") as file:
        rows = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if not file.tell():
            rows.writeheader()
        free, used = threading.Condition(), [0.0]

        def measured(p: dict[str, Any], number: int, tag: str) -> None:
            for attempt in range(TRIES):
                row = run(p, number, attempt, tag)
                again = late(p, row) and attempt + 1 < TRIES
                printed = {k: f"{v:.4g}" if isinstance(v, float) else v for k, v in row.items()}
                with free:
                    rows.writerow(printed | {"thrown_away": "late" if again else ""})
                    file.flush()
                    print(json.dumps(row), flush=True)  # noqa: T201
                if not again:
                    return

        def work(tag: str, waiting: list[tuple[dict[str, Any], int]]) -> None:
            while True:
                with free:
                    p, number = None, 0
                    while waiting and p is None:
                        room = CAP_MBPS - used[0] if used[0] else float("inf")
                        fits = (k for k, (q, _) in enumerate(waiting) if q["rate_Mbps"] <= room)
                        if (k := next(fits, None)) is not None:
                            p, number = waiting.pop(k)
                            used[0] += p["rate_Mbps"]
                        else:
                            free.wait(1)
                    if p is None:
                        return
                measured(p, number, tag)
                with free:
                    used[0] -= p["rate_Mbps"]
                    free.notify_all()

        todo = [(p, n) for n in range(1, RUNS + 1) for p in points() if (p["id"], n) not in done]
        for is_bulk, workers in ((False, 1), (True, 3)):
            waiting = [(p, n) for p, n in todo if (p["tool"] == "iperf3") == is_bulk]
            threads = [threading.Thread(target=work, args=(f"lt{k}", waiting)) for k in range(workers)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()


if __name__ == "__main__":
    main()
