"""Runs of real tools in a table: each row a path of two hosts and one segment, predicted like any other path.

The columns are those of the runs that were measured over the emulator: tool_key (or tool), version, direction, options,
env, transport, rate_bps, rtt_s, buffer_bytes, loss, mtu, cc, tcp_rmem_max, tcp_wmem_max, dataset, files, total_bytes,
mean_file_bytes.
"""

import math
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Final

import numpy as np

from dtnsim.components.base import find_kind
from dtnsim.description.dataset import Dataset
from dtnsim.description.file_sizes import log_normal
from dtnsim.description.spec import PathSpec, resolve
from dtnsim.ground import yamlio
from dtnsim.ground.errors import DtnsimError, SpecError
from dtnsim.ground.units import number_in
from dtnsim.physics._arrays import LEVELS
from dtnsim.physics.tcp import linux
from dtnsim.tools._command import parse, programs
from dtnsim.tools.plan import Job

#: tool_key -> (program, options that the transport implies): every tool with a command line, by its kind, and further
KEYS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    **{manner.kind: (program, {}) for program, manner in reversed(programs().items())},
    "rsync": ("rsync", {"e": "ssh"}),
    "rsyncd": ("rsync", {"e": "none"}),
    "rclone-sftp": ("rclone", {"backend": "sftp"}),
    "rclone-http": ("rclone", {"backend": "http", "tls": False}),
    "rclone-webdav": ("rclone", {"backend": "webdav", "tls": False}),
    "lftp-sftp": ("lftp", {"protocol": "sftp"}),
    "lftp-http": ("lftp", {"protocol": "http"}),
    "lftp-ftp": ("lftp", {"protocol": "ftp"}),
    "guc": ("globus-url-copy", {"third_party": False}),
    "guc3": ("globus-url-copy", {"third_party": True}),
}
TURN_S: Final = 2e-4  #: one bare TCP handshake, kernel and emulator for each message that waits [s]
#: share of a receive buffer that is window since Linux 6.6 at MTU 1500, of packets copied into one buffer
WINDOW_SHARE: Final = 0.625
#: sizes of the data sets of the runs that are not all equal: 300 files, log-normal of 300 kB with sigma 1.2
_SIGMA: Final = 1.2
#: what single runs differ by from what is predicted, besides the spreads of parameters: of any run, of one with several
#: streams (which truly differ from run to run) and of the start and end of processes [s]. Their size, and nothing
#: else, was set on the public runs
SCATTER: Final = 0.03
SCATTER_STREAMS: Final = 0.08
SCATTER_S: Final = 0.06
#: a message wakes program and emulator on its way, at both ends: where others use the cores too, a wake-up waits
#: until a slice is over (Linux 6.6 and later, kernel/sched/fair.c: 0.7 ms x (1 + log2 of two cores)) [s]
WAKE_UPS: Final = 4
SLICE_S: Final = 1.4e-3
#: how much of the time others have the core: from none to half of it (assumed; a shared machine); its 90 % quantile
BUSY: Final = 0.45
#: the upper end of an interval of a normal distribution [standard deviations]
_END: Final = NormalDist().inv_cdf(LEVELS[2])
#: the most that a program's socket buffer is worth in these runs: net.core.rmem_max of 212992 B, of which 0.75 instead
#: of `WINDOW_SHARE` are window where the program sets it (measured: nuttcp -w256k, 318 kB in flight of 426 kB)
SOCKBUF_B: Final = 212992 * 0.75 / WINDOW_SHARE
_TEXT: Final = 1 / 0.41  #: bytes that gzip leaves of the text of data set T


@dataclass(frozen=True, slots=True)
class Run:
    """A row: its path, as plain data, and what makes rows alike."""

    path: Mapping[str, Any]
    data: Dataset
    alike: str
    left_out: tuple[str, ...] = ()


def key_of(row: Mapping[str, str]) -> str:
    """The entry of `KEYS` that a tool's name and its transport mean."""
    tool, transport = (row.get("tool") or "").strip(), (row.get("transport") or "").lower()
    if tool == "globus-url-copy":
        return "guc3" if "third" in transport else "guc"
    if tool == "rsync":
        return "rsyncd" if "daemon" in transport else "rsync"
    if tool == "tar":
        return "tar-ssh" if "ssh" in transport else "tar-nc"
    if tool in ("rclone", "lftp"):
        kinds = ("webdav", "http", "ftp") if "ssh" not in transport else ()
        return f"{tool}-{next((k for k in kinds if k in transport), 'sftp')}"
    return tool


def tool_of(row: Mapping[str, str], unknown: list[str] | None = None) -> dict[str, Any]:
    """The tool of a row with its options, as a path file has them."""
    key = (row.get("tool_key") or "").strip() or key_of(row)
    if key not in KEYS:
        raise SpecError("is not a tool that is known here", key="tool_key", value=key, remedy=", ".join(sorted(KEYS)))
    program, more = KEYS[key]
    text = (row.get("options") or "").strip()
    options: dict[str, Any] = {"each": True} if text.startswith("(one") else {}
    tool = parse(f"{program} {text if not options else ''}", unknown)
    for name, value in re.findall(r"XRD_([A-Z]+)=(\S+)", row.get("env") or ""):
        tool[f"XRD_{name}"] = f"{value} B" if name == "CPCHUNKSIZE" else value
    tool.update(more, **options)
    put = (row.get("direction") or "put").strip() == "put"
    if "client" in find_kind(tool["name"]).model_fields:  # its plan depends on the end at which it is typed
        tool["client"] = "source" if put else "destination"
    version = re.search(r"\d+(\.\d+)+(p\d+)?", row.get("version") or "")
    if tool["name"] in ("scp", "sftp", "rsync") and version:
        tool["version"] = version[0]
    if tool["name"] == "rsync":
        tool["ssh"] = {"version": "9.2"}
    if tool["name"] == "tar-ssh":
        tool["version"] = "9.2"
    if row.get("dataset", "").strip() == "T" and (tool.get("C") or tool.get("compress") or tool.get("z")):
        tool["ratio"] = f"{_TEXT:.4g}"
    if tool["name"] == "rsync" and (row.get("rerun_nothing_changed") or "0").strip() not in ("", "0"):
        tool["changed"] = "0"
    return tool


def data_of(row: Mapping[str, str]) -> Dataset:
    """The files of a row, from their number, bytes and the name of the data set."""
    files, total = number_in(row, "files", 0, 1e9), number_in(row, "total_bytes", 0, 1e18)
    name = (row.get("dataset") or "").strip()
    if files != (many := int(files)):
        raise SpecError("is not a whole number", key="files", value=row["files"], remedy="write it like 50")
    if 0 < total < files:
        raise SpecError(f"leaves less than 1 B for each of {many} files", key="total_bytes", value=row["total_bytes"])
    if files == 0 or total == 0:
        return Dataset(name or "empty", np.array([0.0]), np.array([0]), 1)
    named = (row.get("tool_key") or row.get("tool") or "").strip() in ("scp", "sftp")  # with -r: the folder is copied
    folders = {"E400": 20, "E100": 5}.get(name, 1 if files > 1 or named else 0)
    if name.startswith("D"):
        sizes, counts = log_normal(many, total / files * math.exp(-(_SIGMA**2) / 2), _SIGMA)
        return Dataset(name, sizes * (total / float(sizes @ counts)), counts, folders)
    return Dataset(name or "files", np.array([total / files]), np.array([many]), folders)


def run_of(row: Mapping[str, str]) -> Run:
    """The path of a row; options that are not known are left out of it, and named."""
    left_out: list[str] = []
    rate, mtu = number_in(row, "rate_bps", 1e3, 1e13), number_in(row, "mtu", 576.0, 65535.0, 1500.0)
    wire = rate * (mtu + 38) / mtu  # the rate counts IP packets; a segment's bandwidth what is on the wire
    receiving, sending = map(float, linux.DEFAULT_B)
    tcp = {
        "cc": (row.get("cc") or "cubic").strip(),
        "rmem_max": f"{number_in(row, 'tcp_rmem_max', 4096.0, 1e13, receiving):.0f} B",
        "wmem_max": f"{number_in(row, 'tcp_wmem_max', 4096.0, 1e13, sending):.0f} B",
        "core_rmem_max": f"{SOCKBUF_B:.0f} B",
        "receive_share": {"value": str(WINDOW_SHARE), "source": "Linux 6.6 and later, see dtnsim.physics.tcp.linux"},
    }
    host = {
        "cpu": {"kind": "cpu", "cores": 1, "clock": "2.8 GHz"},
        "memory": {"kind": "memory", "channels": 4, "rate": "3200 MT/s", "size": "16 GiB"},
        "nic": {"kind": "nic", "rate": "100 Gb/s", "mtu": f"{mtu:.0f} B", "offload": False},
        "tcp": tcp,
    }
    wan = {
        "rtt": f"{number_in(row, 'rtt_s', 0.0, 10.0) + TURN_S:.6g} s",
        "bandwidth": f"{wire:.9g} b/s",
        "loss": f"{number_in(row, 'loss', 0.0, 0.5, 0.0):g}",
        "buffer": f"{number_in(row, 'buffer_bytes', 1500.0, 1e13, rate / 80):.0f} B",
        "background": {"share": "0"},  # the rate of a row is the transfer's own
    }
    path = {
        "name": "run",
        "hosts": {"a": host, "b": host},
        "wan": wan,
        "transfer": {"from": "a:memory", "to": "b:memory", "tool": tool_of(row, left_out)},
    }
    data = data_of(row)
    return Run(path, data, repr((path, data.name, data.files, data.payload_B)), tuple(left_out))


def spec_of(run: Run) -> PathSpec:
    """The path of a run as `predict` takes it."""
    spec = resolve(yamlio.mapping(dict(run.path), "", 0))
    transfer = spec.transfers[0].model_copy(update={"dataset": run.data})
    return spec.model_copy(update={"transfers": [transfer]})


@dataclass(frozen=True, slots=True)
class Answer:
    """What is predicted for a run: seconds from start to exit, and what holds it."""

    p50_s: float
    p10_s: float
    p90_s: float
    held_by: str


def ahead(runs: Iterable[Run]) -> None:
    """Runs the TCP of many runs at once: `answer` then finds it known."""
    from dtnsim.composition.compose import run_together

    paths: list[PathSpec] = []
    for run in {run.alike: run for run in runs}.values():
        with suppress(DtnsimError):  # whoever asks for its answer hears of it
            paths.append(spec_of(run))
    run_together(paths)


def answer(run: Run, samples: int, seed: int = 1) -> Answer:
    """Predicts a run like any other path."""
    from dtnsim.steady.prediction import predict
    from dtnsim.steady.scenarios import composed_and_drawn, interval

    spec = spec_of(run)
    nominal = predict(spec, samples=0)
    transfer, streams = nominal.transfers[0], max((c.streams for c in nominal.problem.connections.values()), default=1)
    if not samples:
        least = transfer.duration_s.p50
        return Answer(least, least, least, transfer.bottleneck.reason)
    rates = interval(composed_and_drawn(spec, samples, seed, mean=False)[1].parameters[:, 0])
    quick, middle, slow = (transfer.payload_B / rate for rate in (rates.p90, rates.p50, rates.p10))
    scatters = (SCATTER, SCATTER_STREAMS if streams > 1 else 0.0, SCATTER_S / middle)
    low, high = (math.log(time / middle) for time in (quick, slow))
    late = math.log1p(turns(spec) * WAKE_UPS * SLICE_S * BUSY / middle)
    scatter = _END * math.hypot(*scatters)
    fast, slow = (middle * math.exp(off) for off in (-math.hypot(low, scatter), math.hypot(high, scatter, late)))
    return Answer(middle, fast, slow, transfer.bottleneck.reason)


def turns(spec: PathSpec) -> float:
    """Messages that a run waits for, one after the other."""
    transfer = spec.transfers[0]
    data = transfer.dataset
    assert data is not None
    files, size = max(data.files, 1), data.payload_B
    job = Job(transfer.name, files, size, size, data.directories, 1.0, "memory", "memory", 1)
    plan = transfer.tool.plan(job)
    each = sum(step.files.round_trips / step.files.ahead for step in plan.steps)
    return float(plan.opening.round_trips + each * math.ceil(files / plan.workers))
