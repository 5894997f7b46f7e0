"""Writes the cases of calibration/tcp-truth and calibration/tools-truth from their tables: python .ci/truth_cases.py.

One case a point of the grid: its middle run is the figure (of two middle ones the earlier), as the tables' authors ask,
since a first run finds cold caches; all its runs tell how far runs lie apart. Left out is what a path cannot describe
(two flows, bursts of loss, loss of acknowledgements) and tools without a model.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

from dtnsim.evidence.tool_runs import SOCKBUF_B, data_of, tool_of

ROOT = Path(__file__).parents[1] / "calibration"
INPUTS = (
    "group",
    "rate_bps",
    "rtt_s",
    "buffer_bytes",
    "loss_prob",
    "bg_share",
    "bg_kind",
    "mtu_bytes",
    "streams",
    "cc",
    "wnd_limit_bytes",
    "wnd_method",
    "size_bytes",
)
GROUPS = ("loss", "clean", "buffer", "streams", "mtu9000", "window", "highrate", "repeat", "background", "fct")
#: Ethernet's part of a frame on the wire; the emulator counts IP packets
FRAME_B = 38
TOOLS = {
    "scp": "scp",
    "sftp": "sftp",
    "rsync": "rsync",
    "rsyncd": "rsync",
    "guc": "gridftp",
    "xrdcp": "xrdcp",
    "nuttcp": "nuttcp",
}
SETS = {
    "A": (1, "64 MB"),
    "A20": (1, "20 MB"),
    "B30": (30, "30 MB"),
    "B100": (100, "100 MB"),
    "C50": (50, "500 kB"),
    "C200": (200, "2 MB"),
    "C1000": (1000, "10 MB"),
    "E400": (400, "2 MB"),
    "E100": (100, "500 kB"),
}


def points(name: str, keys: tuple[str, ...]) -> dict[tuple[str, ...], list[dict[str, str]]]:
    """Rows of a table by the inputs that they share, with the line that each stands on."""
    groups: dict[tuple[str, ...], list[dict[str, str]]] = {}
    with (ROOT / name / "public.csv").open(newline="") as file:
        for line, row in enumerate(csv.DictReader(file), 2):
            groups.setdefault(tuple(row[k] for k in keys), []).append({**row, "line": str(line)})
    return groups


def middle_run(values: list[float]) -> int:
    """Number of the run whose value is the middle one; of two middle ones the earlier."""
    order, n = sorted(range(len(values)), key=values.__getitem__), len(values)
    return min(order[(n - 1) // 2], order[n // 2])


def case(
    identity: str,
    path: str,
    sets: dict[str, str],
    figures: list[str],
    tool: str,
    what: str,
    lines: list[str],
    quantity: str = "throughput",
) -> str:
    """One entry of a cases file; ``figures`` of its runs and the ``lines`` that they stand on."""
    middle = middle_run([float(figure.split()[0]) for figure in figures])
    runs = f"    runs: [{', '.join(figures)}]\n" if len(figures) > 1 else ""
    kind = "" if quantity == "throughput" else f"    quantity: {quantity}\n"
    return (
        f"  - id: {identity}\n    path: paths/{path}.yaml\n"
        f"    set: {{{', '.join(f'{k}: {v}' for k, v in sets.items())}}}\n"
        f"{kind}    measured: {figures[middle]}\n{runs}    log: public.csv:{lines[middle]}\n"
        f"    role: blind\n    tool: {tool}\n"
        f'    what: "{what}"\n'
    )


def line_rate(rate_bps: str, mtu: float) -> str:
    """Rate on the wire of a path that is stated in IP packets."""
    return f"{float(rate_bps) * (mtu + FRAME_B) / mtu / 1e6:.6g} Mb/s"


def tcp() -> list[str]:
    """Cases of real TCP over the emulator."""
    cases = []
    for rows in points("tcp-truth", INPUTS).values():
        r = rows[0]
        if r["group"] not in GROUPS or r["flow2_cc"]:
            continue
        mtu = float(r["mtu_bytes"])
        sets = {
            "wan.bandwidth": line_rate(r["rate_bps"], mtu),
            "wan.rtt.value": f"{float(r['rtt_s']) * 1e3:g} ms",
            "wan.buffer.value": f"{r['buffer_bytes']} B",
            "hosts.a.tcp.cc": r["cc"],
        }
        if float(r["loss_prob"] or 0):
            sets["wan.loss.value"] = r["loss_prob"]
        if float(r["bg_share"] or 0):
            sets["wan.background.share.value"] = r["bg_share"]
        if mtu != 1500:
            sets |= {"hosts.a.nic.mtu": f"{mtu:g} B", "hosts.b.nic.mtu": f"{mtu:g} B"}
        if r["wnd_method"] == "sockbuf":
            sets["transfer.tool.w"] = f"{r['wnd_limit_bytes']} B"
        elif r["wnd_method"] == "sysctl":
            sets |= {
                "hosts.b.tcp.rmem_max": f"{r['wnd_limit_bytes']} B",
                "hosts.a.tcp.wmem_max": f"{r['wnd_limit_bytes']} B",
            }
        words = (
            f"{r['cc']}, {float(r['rate_bps']) / 1e6:g} Mb/s, {float(r['rtt_s']) * 1e3:g} ms, {r['streams']} streams"
        )
        if r["group"] == "fct":
            sets["transfer.dataset.size"] = f"{r['size_bytes']} B"
            # fct.py connects by itself and has no control connection: what is left is the data, as in iperf3 -n
            figures = [f"{float(x['completion_s']) - float(x['handshake_s']):.9g} s" for x in rows]
            words += ", after the handshake"
            cases.append(
                case(r["run_id"], "completion", sets, figures, "fct.py", words, [x["line"] for x in rows], "duration")
            )
        else:
            sets["transfer.tool.P"] = r["streams"]
            figures = [f"{float(x['goodput_bps']) / 1e6:.6g} Mb/s" for x in rows]
            cases.append(case(r["run_id"], "bulk", sets, figures, "iperf3", words, [x["line"] for x in rows]))
    return cases


def options(row: dict[str, str]) -> dict[str, str] | None:
    """Options under the names of the model's tool; None where it has no such option."""
    text, settings = f" {row['options']} {row['env']}", {}
    for pattern, key in (
        (r" -p (\d+)", "p"),
        (r" -cc (\d+)", "cc"),
        (r" --parallel (\d+)", "parallel"),
        (r" -R (\d+)", "R"),
        (r" -B (\d+)", "B"),
        (r" -S (\d+)", "S"),
        (r" -w(\d+)k", "w"),
        (r" XRD_CPCHUNKSIZE=(\d+)", "chunk_size"),
        (r" XRD_CPPARALLELCHUNKS=(\d+)", "parallel_chunks"),
    ):
        match = re.search(pattern, text)
        if match:
            settings[key] = {"B": f"{match[1]} B", "chunk_size": f"{match[1]} B", "w": "212992 B"}.get(key, match[1])
            text = text.replace(match[0], "")
    for flag, key in ((" -pp", "pp"), (" -fast", "fast"), (" -O", "O")):
        if flag in text:
            settings[key], text = "true", text.replace(flag, "")
    if " -c aes128-gcm@openssh.com" in text:
        settings["cipher"], text = "aes-gcm", text.replace(" -c aes128-gcm@openssh.com", "")
    return settings if not text.strip() else None


def flag(value: object) -> str:
    """A value as a cases file has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def tools() -> list[str]:
    """Cases of real tools over the emulator."""
    cases = []
    for (point,), rows in points("tools-truth", ("point",)).items():
        r = rows[0]
        keys = options(r)
        if r["tool_key"] not in TOOLS or r["dataset"] not in SETS or keys is None or r["rerun_nothing_changed"] == "1":
            continue
        files, size = SETS[r["dataset"]]
        put = r["direction"] == "put"
        sets = {
            "transfer.from": "a" if put else "b",
            "transfer.to": "b" if put else "a",
            "wan.bandwidth": line_rate(r["rate_bps"], float(r["mtu"])),
            "wan.rtt.value": f"{float(r['rtt_s']) * 1e3:g} ms",
            "wan.buffer.value": f"{r['buffer_bytes']} B",
            "hosts.a.tcp.cc": r["cc"],
            "hosts.b.tcp.cc": r["cc"],
            "transfer.dataset.files": str(files),
            "transfer.dataset.size": size,
        }
        if float(r["loss"] or 0):
            sets["wan.loss.value"] = r["loss"]
        for key in ("rmem_max", "wmem_max"):
            sets |= {f"hosts.{h}.tcp.{key}": f"{r['tcp_' + key]} B" for h in "ab"}
        # at which end the command runs: as for the README's table of runs
        told = {k: v for k, v in tool_of(r).items() if k not in ("name", "ssh", "version")}
        sets |= {f"transfer.tool.{k}": flag(v) for k, v in told.items()}
        if told.keys() & {"w", "tcp_bs"}:
            sets |= {f"hosts.{h}.tcp.core_rmem_max": f"{SOCKBUF_B:.0f} B" for h in "ab"}
        folders = data_of(r).directories
        if folders:
            sets["transfer.dataset.directories"] = str(folders)
        words = (
            f"{r['tool_key']} {r['options']}".strip()
            + f", {r['dataset']}, {r['direction']}, {float(r['rtt_s']) * 1e3:g} ms"
        )
        figures = [f"{x['wall_s']} s" for x in rows]
        cases.append(
            case(
                f"{r['tool_key']}-{point}",
                TOOLS[r["tool_key"]],
                sets,
                figures,
                r["tool_key"],
                words,
                [x["line"] for x in rows],
                "duration",
            )
        )
    return cases


def write(site: str, source: str, cases: list[str]) -> None:
    """The cases file of a site."""
    head = (
        f'schema: dtnsim.cases/1\nsite: {site}\nsource: "{source}"\n'
        "# Made by .ci/truth_cases.py from public.csv; NOTES.md says how it was measured. All judge.\ncases:\n\n"
    )
    (ROOT / site / "cases.yaml").write_text(head + "".join(cases))


if __name__ == "__main__":
    write("tcp-truth", "Linux 6.18 TCP over a user-space WAN emulator, measured for this project", tcp())
    write("tools-truth", "real tools over a user-space WAN emulator, measured for this project", tools())
