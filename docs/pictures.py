"""Pictures of the documentation, computed by the code that answers: laws of the physics, answers of shipped paths.

A page shows one by its name: ``![What it shows](disk.svg)`` in ``physics/``, ``![...](venadi--gridftp-gpfs.svg)`` in the
gallery. They are drawn when the site is built; nothing of them is kept.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

import matplotlib as mpl
import numpy as np
from cycler import cycler

mpl.use("svg")
#: one grey that is read on light and on dark pages
_INK: Final = "#808890"
mpl.rcParams.update(
    {
        "font.family": "DejaVu Sans", "font.size": 10, "svg.fonttype": "path", "svg.hashsalt": "dtnsim",
        "text.color": _INK, "axes.labelcolor": _INK, "axes.edgecolor": _INK, "xtick.color": _INK, "ytick.color": _INK,
        "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False, "legend.labelcolor": _INK,
        "axes.prop_cycle": cycler(color=["#3b7dd8", "#d9822b", "#2f9e6e", "#b0539b", "#c0483f", "#7a7a28"]),
    }
)  # fmt: skip


def physics(name: str) -> str:
    """The picture of a page of the physics, as SVG."""
    return _drawn(_TOPICS[name])


def topics() -> list[str]:
    """Names of the pictures of the physics."""
    return list(_TOPICS)


def answer(path: str) -> tuple[str, str, str]:
    """A shipped path's answer: the picture as SVG, the verdict, and what holds it."""
    from dtnsim.ground.uncertainty import often
    from dtnsim.report.decision import decide
    from dtnsim.report.holds import called
    from dtnsim.steady.prediction import predict

    prediction = predict(path)
    slowest = max(prediction.transfers, key=lambda t: t.duration_s.p50)

    def draw(ax: Any) -> None:
        rungs = [r for r in slowest.ladder if r.throughput_Bps < 20 * slowest.ceiling][:5]
        scale, unit = (8e-9, "Gb/s") if slowest.ceiling > 1.25e8 else (8e-6, "Mb/s")
        band, which = slowest.throughput_Bps, f" of {slowest.name}" if len(prediction.transfers) > 1 else ""
        ax.axvspan(band.p10 * scale, band.p90 * scale, alpha=0.18, label=often("runs"))
        ax.axvline(band.p50 * scale, label="median")
        names = [
            f"{textwrap.fill(called(prediction, r.station, r.reason), 30)}\n{r.station.partition('[')[0]}"
            for r in rungs
        ]
        ax.barh(range(len(rungs)), [r.throughput_Bps * scale for r in rungs], color="#9aa7b5", height=0.55)
        ax.set_yticks(range(len(rungs)), names, fontsize=8)
        ax.set(ylim=(max(len(rungs), 3) - 0.5, -0.5), xlim=(0, None))
        ax.set_xlabel(f"{unit}{which}: what binds, and what binds then")
        ax.figure.legend(loc="outside upper right", ncols=2)

    decision = decide(prediction)
    return _drawn(draw), decision.verdict, decision.held


def _drawn(draw: Callable[[Any], None]) -> str:
    from matplotlib.figure import Figure

    # so wide that letters can be read on a telephone too
    figure = Figure(figsize=(5.6, 3.2), layout="constrained")
    ax = figure.subplots()
    draw(ax)
    for axis in (ax.xaxis, ax.yaxis):
        if axis.get_scale() == "log" and axis.get_view_interval()[0] > 1e-5:
            axis.set_major_formatter(lambda value, _: f"{value:g}")
    out = io.StringIO()
    figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    return out.getvalue()


# -- physics: what each page asks, answered by its own laws ------------------------------------------


def _disk(ax: Any) -> None:
    from dtnsim.physics.hdd_streams import interleaved_rate

    streams = np.arange(1, 33)
    for visit in (0.25, 1, 4, 16):
        rate = interleaved_rate(streams, 200e6, visit * 1e6, 0.008)
        ax.plot(streams, rate / 1e6, label=f"{visit:g} MB a visit")
    ax.set(xlabel="sequential streams on one disk (200 MB/s, 8 ms to switch)", ylabel="MB/s together", ylim=0)
    ax.figure.legend(loc="outside upper center", ncols=4, fontsize=8)


def _flash(ax: Any) -> None:
    from dtnsim.physics.ssd import fifo_write_amplification

    spare = np.linspace(0.03, 0.6, 60)
    ax.plot(100 * spare, fifo_write_amplification(spare))
    ax.set(xlabel="spare flash [% of what the user sees]", ylabel="flash bytes written per byte", ylim=0)


def _raid(ax: Any) -> None:
    from dtnsim.physics.raid import write_amplification

    size = np.logspace(12, 23, 200, base=2)
    for parity, name in ((1, "RAID 5"), (2, "RAID 6")):
        ax.semilogx(
            size / 1024, write_amplification(size, 65536, 10, parity), label=f"{name}, ten disks, 64 KiB chunks"
        )
    ax.set(xlabel="size of an aligned write [KiB]", ylabel="bytes moved per byte written", ylim=0)
    ax.legend()


def _zfs(ax: Any) -> None:
    from dtnsim.physics.raidz import allocation

    block = 2.0 ** np.arange(12, 21)
    for disks, parity in ((6, 2), (11, 3), (8, 1)):
        ax.semilogx(block / 1024, allocation(block, disks, parity), marker="o", label=f"raidz{parity} of {disks}")
    ax.set(xlabel="record [KiB], sectors of 4 KiB", ylabel="bytes of disk per stored byte", ylim=0)
    ax.legend()


def _cache(ax: Any) -> None:
    from dtnsim.physics.cache import resident_share

    size = np.linspace(1, 200, 400)
    for memory in (16, 64, 128):
        ax.plot(size, 100 * resident_share(size * 1e9, memory * 1e9), label=f"{memory} GB of page cache")
    ax.set(xlabel="file that is read twice in turn [GB]", ylabel="% found in memory the second time", ylim=0)
    ax.figure.legend(loc="outside upper center", ncols=3, fontsize=8)


def _bus(ax: Any) -> None:
    from dtnsim.physics.pcie import write_rate

    lanes = np.array([1, 2, 4, 8, 16])
    for generation in (3, 4, 5):
        ax.plot(lanes, write_rate(generation, lanes, 256.0) * 8e-9, marker="o", label=f"PCIe {generation}")
    ax.set(xlabel="lanes", ylabel="Gb/s of payload into memory", ylim=0, xticks=lanes)
    ax.legend()


def _cpu(ax: Any) -> None:
    from dtnsim.physics.cpu import cycles_per_byte, traversal_bytes

    mss = np.linspace(500, 8948, 200)
    for aggregate, name in ((0.0, "no segmentation offload"), (49152.0, "GSO and GRO: 48 KiB a pass")):
        cost = cycles_per_byte(0.38, per_packet=3000, traversal_B=traversal_bytes(mss, aggregate))
        ax.plot(mss, 8e-9 * 3e9 / cost, label=name)
    ax.set(xlabel="segment [B]", ylabel="Gb/s that one 3 GHz core receives", ylim=0)
    ax.legend()


def _nic(ax: Any) -> None:
    from dtnsim.physics.bonding import occupied, static_rate

    streams = np.arange(1, 33)
    ax.plot(streams, occupied(streams, 4) * 10, label="4 x 10 Gb/s: streams that share out their work")
    ax.plot(streams, np.asarray(static_rate(1.25e9, 4, streams)) * 8e-9, label="equal parts for each stream")
    ax.set(xlabel="streams, hashed onto the links of a bond", ylabel="Gb/s in the mean", ylim=0)
    ax.legend()


def _streams(asked: list[tuple[str, str, str]], duration: str) -> Any:
    """What one stream over 10 Gb/s gets of each (round trip, loss, congestion control) [Gb/s]; all run together."""
    from dtnsim.physics.tcp.rate_over_time import answers
    from dtnsim.physics.tcp.window import MOST_WINDOW_B
    from dtnsim.steady.tcp_calculator import setting

    one = partial(setting, "10 Gb/s", streams=1, buffer=None, mtu=1500, background=0.0, size=None, ethernet=True)
    streams = [
        replace(one(rtt, cc=cc, duration=duration), loss=float(loss), window_B=MOST_WINDOW_B) for rtt, loss, cc in asked
    ]
    return answers(streams)[0].goodput_p50_Bps * 8e-9


def _tcp(ax: Any) -> None:
    rtt, losses = np.array([1, 2, 5, 10, 20, 50, 100, 200]), ("1e-6", "1e-5", "1e-4")
    rates = _streams([(f"{t} ms", loss, "cubic") for loss in losses for t in rtt], "2 min")
    for loss, of_loss in zip(losses, np.split(rates, len(losses)), strict=True):
        ax.loglog(rtt, of_loss, marker="o", label=f"one stream of CUBIC, loss {loss}")
    ax.set(xlabel="round trip [ms]", ylabel="Gb/s over a link of 10 Gb/s", xticks=rtt, xticklabels=rtt)
    ax.legend()


def _controls(ax: Any) -> None:
    from dtnsim.physics.tcp import controls

    loss, names = np.logspace(-7, -3, 9), ("reno", *controls.offered())
    rates = _streams([("50 ms", f"{p:.3g}", cc) for cc in names for p in loss], "30 s")
    for cc, of_control in zip(names, np.split(rates, len(names)), strict=True):
        ax.semilogx(loss, of_control, marker="o", label=cc)
    ax.set(xlabel="loss", ylabel="Gb/s of one stream, 50 ms", ylim=0)
    ax.legend()


def _nfs(ax: Any) -> None:
    from dtnsim.physics.nfs import data_rate

    rtt = np.linspace(0.1, 20, 200)
    for slots in (1, 16, 128):
        ax.semilogy(
            rtt, 8e-9 * data_rate(slots, 1 << 20, rtt * 1e-3, 0.3e-3), label=f"requests of 1 MiB in flight: {slots}"
        )
    ax.set(xlabel="round trip to the server [ms]", ylabel="Gb/s that requests allow")
    ax.legend()


def _parallel(ax: Any) -> None:
    from dtnsim.physics.bonding import occupied

    files = np.arange(1, 65)
    for stripes in (1, 4, 16):
        ax.plot(files, occupied(files, 64, stripes), label=f"stripe count {stripes}")
    ax.set(xlabel="files, placed at random on 64 targets", ylabel="targets that have work", ylim=0)
    ax.legend()


def _objects(ax: Any) -> None:
    from dtnsim.physics.waiting import request_rate

    part = np.logspace(4, 9, 100)
    for latency in (20, 60, 150):
        ax.semilogx(
            part / 1e6, 8e-6 * request_rate(part, latency * 1e-3, 12.5e6), label=f"{latency} ms to the first byte"
        )
    ax.set(xlabel="size of an object or part [MB]", ylabel="Mb/s of one connection", ylim=0)
    ax.legend()


def _tape(ax: Any) -> None:
    from dtnsim.physics.tape import drive_seconds

    run = np.logspace(8, 12, 80)
    for locate in (5, 50):
        rate = 1 / drive_seconds(400e6, run, locate, 12e12, 60)
        ax.semilogx(run / 1e9, rate / 1e6, label=f"{locate} s to the next file")
    ax.set(xlabel="bytes that lie together [GB]", ylabel="MB/s of one LTO-9 drive", ylim=0)
    ax.legend()


def _waiting(ax: Any) -> None:
    from dtnsim.physics.waiting import cycle_time

    workers = np.arange(1, 41)
    for away in (1, 4, 16):
        ax.plot(
            workers, [1 / cycle_time(float(n), away * 1e-3, 1e-3) for n in workers], label=f"{away} ms away each time"
        )
    ax.set(xlabel="workers, a station that takes 1 ms", ylabel="units of work a second", ylim=0)
    ax.legend()


def _tools(ax: Any) -> None:
    import dtnsim

    size = np.logspace(4, 10, 13)
    path = ["hosts.office=example-dtn-100g", "wan.bandwidth=10 Gb/s"]
    for tool, name in (
        ("scp", "scp"),
        ("rsync", "rsync"),
        ("gridftp", "GridFTP"),
        ("{name: gridftp, pp: true}", "GridFTP -pp"),
    ):
        rates = []
        for each in size:
            over = [f"transfer.dataset={{files: 1000, each: {each:.0f} B}}", f"transfer.tool={tool}"]
            answer = dtnsim.predict("examples/small-files-40ms", overrides=[*path, *over], samples=0)
            rates.append(answer.ceiling * 8e-9)
        ax.loglog(size / 1e6, rates, marker="o", label=name)
    ax.set(xlabel="size of each of 1,000 files [MB]", ylabel="Gb/s")
    ax.legend()


def _errors(ax: Any) -> None:
    from dtnsim.steady.discrepancy import load

    laws = {
        k.partition("/")[2]: law for k, law in load().laws.items() if k.startswith("production/") and k.count("/") == 1
    }
    for row, law in enumerate(laws.values()):
        low, middle, high = 100 * (np.exp(law.ppf(np.array([0.1, 0.5, 0.9]))) - 1)
        ax.barh(row, high - low, left=low, height=0.55, alpha=0.35, color="#3b7dd8")
        ax.plot([middle], [row], "|", markersize=14, color="#3b7dd8")
    ax.axvline(0, linewidth=0.8, color=_INK)
    ax.set_yticks(range(len(laws)), list(laws))
    ax.invert_yaxis()
    ax.set(xlabel="measured beside predicted [%]: 8 of 10, and the middle", xlim=(-80, 120))


_TOPICS: Final[dict[str, Callable[[Any], None]]] = {
    "disk": _disk, "flash": _flash, "raid": _raid, "zfs": _zfs, "cache": _cache, "bus": _bus, "cpu": _cpu, "nic": _nic,
    "tcp": _tcp, "controls": _controls, "nfs": _nfs, "parallel": _parallel, "objects": _objects, "tape": _tape,
    "waiting": _waiting, "tools": _tools, "errors": _errors,
}  # fmt: skip
