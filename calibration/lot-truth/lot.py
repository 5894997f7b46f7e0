"""Points drawn by lot: python calibration/lot-truth/lot.py writes cases.yaml of them and of what runs.csv has.

A point that has no run yet is withheld: its path can be predicted, and nothing is compared.
"""

from __future__ import annotations

import csv
import json
import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).parent
SEED: Final = 20261130
LOSS_POINTS, START_POINTS, MORE_POINTS = 45, 40, 30
CONTROLS: Final = ("reno", "cubic", "bbr")  #: those of the kernel
BY_LOSS: Final = CONTROLS[:2]  #: those that answer a loss
#: plain TCP has two tickets
TOOLS: Final = ("tcp", "tcp", "scp", "sftp", "rsync", "rsyncd", "curl", "wget")
PACKET_B, FRAME_B = 1500, 38
LEAST_PACKETS: Final = 4  #: a buffer never holds less
BACK_B: Final = 64_000  #: what the emulator's buffer of the way back holds at least
TEST_S: Final = 30
#: ping over the emulator, less the delay that is set (verify.py, 2 to 200 ms: 0.09 to 0.13 ms)
HOST_MS: Final = 0.1


def between(lot: random.Random, low: float, high: float, digits: int = 3) -> float:
    """A number whose logarithm is uniform, with as many digits as a user writes."""
    return float(f"{math.exp(lot.uniform(math.log(low), math.log(high))):.{digits}g}")


def points() -> list[dict[str, Any]]:
    """The design: bulk tests with loss, then short transfers without."""
    lot = random.Random(SEED)  # noqa: S311 - a lot, no secret
    drawn: list[dict[str, Any]] = []
    for number in range(LOSS_POINTS):
        p: dict[str, Any] = {"id": f"loss-{number + 1:02d}", "tool": "iperf3", "direction": "put"}
        p |= {"rate_Mbps": between(lot, 10, 200), "rtt_ms": between(lot, 2, 200), "loss": between(lot, 1e-5, 2e-2, 2)}
        p |= {"cc": lot.choice(CONTROLS), "buffer_bdp": between(lot, 0.25, 4), "streams": lot.randint(1, 8)}
        drawn.append({**p, "size_B": 0})
    for number in range(START_POINTS):
        tool = lot.choice(TOOLS)
        p = {"id": f"{tool}-{number + 1:02d}", "tool": tool}
        p |= {"size_B": int(between(lot, 1e4, 2e7))}
        p |= {"rate_Mbps": between(lot, 10, 200), "rtt_ms": between(lot, 20, 300)}
        p |= {"cc": lot.choice(CONTROLS), "buffer_bdp": between(lot, 0.25, 4), "streams": 1, "loss": 0.0}
        got = lot.choice(("put", "get"))
        drawn.append({**p, "direction": {"tcp": "put", "curl": "get", "wget": "get"}.get(tool, got)})
    dressed(drawn, lot)
    return drawn + more()


def more() -> list[dict[str, Any]]:
    """Bulk tests of fewer streams that answer every loss, over wider paths: links hold most of the others."""
    lot, drawn = random.Random(SEED + 1), []  # noqa: S311 - a lot, no secret
    for number in range(MORE_POINTS):
        p = {"id": f"more-{number + 1:02d}", "tool": "iperf3", "direction": "put", "size_B": 0}
        p |= {"rate_Mbps": between(lot, 50, 200), "rtt_ms": between(lot, 10, 200), "loss": between(lot, 1e-4, 2e-2, 2)}
        p |= {"cc": lot.choice(BY_LOSS), "buffer_bdp": between(lot, 0.25, 4), "streams": lot.randint(1, 2)}
        drawn.append(p)
    dressed(drawn, lot)
    return drawn


def dressed(drawn: list[dict[str, Any]], lot: random.Random) -> None:
    """Gives points a buffer in bytes, and seeds for three runs and for each three that are done again."""
    for p in drawn:
        pipe_B = p["rate_Mbps"] * p["rtt_ms"] * 125
        least = BACK_B if p["direction"] == "get" else LEAST_PACKETS * PACKET_B
        p["buffer_B"] = int(max(p["buffer_bdp"] * pipe_B, least))
        p["seeds"] = [lot.randrange(1 << 31) for _ in range(12)]


def settings(p: dict[str, Any]) -> dict[str, str]:
    """What a point sets in its path."""
    sets = {
        "wan.bandwidth": f"{p['rate_Mbps'] * (PACKET_B + FRAME_B) / PACKET_B:.6g} Mb/s",
        "wan.rtt.value": f"{p['rtt_ms'] + HOST_MS:.6g} ms",
        "wan.buffer.value": f"{p['buffer_B']} B",
        "hosts.a.tcp.cc": p["cc"],
        "hosts.b.tcp.cc": p["cc"],
    }
    if p["tool"] == "iperf3":
        return sets | {"wan.loss.value": f"{p['loss']:g}", "transfer.tool.P": str(p["streams"])}
    sets["transfer.dataset.size"] = f"{p['size_B']} B"
    if p["direction"] == "get":
        sets |= {"transfer.from": "b", "transfer.to": "a"}
    if p["tool"] in ("scp", "sftp"):
        sets["transfer.tool.client"] = "source" if p["direction"] == "put" else "destination"
    return sets


def case(p: dict[str, Any], runs: Sequence[tuple[int, str]], first: str) -> str:
    """One entry of the cases file; its runs as (line of runs.csv, figure)."""
    bulk = p["tool"] == "iperf3"
    moved = f"{p['streams']} streams, loss {p['loss']:g}" if bulk else f"{p['direction']} of {p['size_B']} B"
    what = f"{p['tool']}, {p['cc']}, {p['rate_Mbps']:g} Mb/s, {p['rtt_ms']:g} ms, {moved}"
    lines = [f"  - id: {p['id']}", f"    path: paths/{p['tool']}.yaml"]
    lines.append(f"    set: {{{', '.join(f'{k}: {v}' for k, v in settings(p).items())}}}")
    if not bulk:
        lines.append("    quantity: duration")
    if runs:
        lines += [f"    measured: {runs[0][1]}", f"    runs: [{', '.join(figure for _, figure in runs)}]"]
        lines.append(f"    log: runs.csv:{runs[0][0]}")
    else:
        lines.append("    withheld: true")
    if first:
        lines.append(f"    first_predicted: {first}")
    return "\n".join([*lines, "    role: blind", f"    tool: {p['tool']}", f'    what: "{what}"']) + "\n"


def main() -> None:
    """Writes cases.yaml."""
    runs: dict[str, list[tuple[int, str]]] = {}
    if (table := HERE / "runs.csv").exists():
        with table.open(newline="") as file:
            for line, row in enumerate(csv.DictReader(file), 2):
                if not row["thrown_away"]:
                    runs.setdefault(row["point"], []).append((line, row["figure"]))
    known = HERE / "first.json"  # what was predicted before the first run
    first = json.loads(known.read_text()) if known.exists() else {}
    head = (
        "schema: dtnsim.cases/1\nsite: lot-truth\nteaches: false\n"
        'source: "Linux 6.18 over a user-space WAN emulator, at points drawn by lot; measured for this project"\n'
        "# Made by lot.py from its lot and runs.csv; NOTES.md says how it was measured. All judge.\ncases:\n\n"
    )
    cases = "".join(case(p, runs.get(p["id"], ()), first.get(p["id"], "")) for p in points())
    (HERE / "cases.yaml").write_text(head + cases)


if __name__ == "__main__":
    main()
