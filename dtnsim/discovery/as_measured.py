"""A host as it was measured: what the logs of `measuring` say, in the place of what was found or assumed.

Every test is one sort of access, so each figure gives one number: no drive's shape is fitted. Costs of the kernel are
in cycles of a clock that is taken as exact, and that MD5 tells; what this processor does with a cycle (``per_cycle``)
comes from ciphers and a sum whose costs are published.
"""

import math
import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from dtnsim.components.cores import Cpu
from dtnsim.components.stack import Stack
from dtnsim.discovery.discover import Found
from dtnsim.discovery.measuring import DEPTHS, MIB, gave_figure
from dtnsim.discovery.outputs import Stated, Tree, below, quoted
from dtnsim.ground import yamlio
from dtnsim.ground.errors import InputError
from dtnsim.ground.grouping import by_key
from dtnsim.logs import read_logs
from dtnsim.physics.core_rates import CORE_RATES

#: 90th percentile of Student's t with n - 1 degrees of freedom over the normal one's (of other
#: `LEVELS` another column of a table of t): spreads of n runs
_T: Final = {2: 2.40, 3: 1.47, 4: 1.28, 5: 1.20}
#: spread of a figure of one run alone (assumed: between runs on shared machines), and the least that is believed
_ALONE: Final = 0.2
_LEAST: Final = 0.03
_ALIKE: Final = 1.4  #: rates of new and of known blocks, or of idle and of used memory, that differ by less are one
#: a bucket has run out where the rate falls below this part of what it was
_FALLS: Final = 0.7
_SMALL_B: Final = 16384.0
#: OpenSSL's name -> operation whose published cost is known
_KNOWN: Final = {"sha256": "sha256_ni", "aes-128-gcm": "aes128_gcm", "chacha20-poly1305": "chacha20_poly1305"}
#: key of `components.measured.Depth` -> test, its depth left out
_REQUESTS: Final = {"read": "read", "write": "write", "reads": "randread", "writes": "randwrite"}
_CLOCK: Final = re.compile(r"([\d.]+) GHz")


@dataclass(frozen=True, slots=True)
class Figure:
    """A number from several runs."""

    value: float  #: Its median [SI].
    spread: float  #: Relative standard deviation of what another run may give [1].
    source: str  #: Logs that it is from.

    def as_stated(self, unit: str) -> Stated:
        """As a host file has it."""
        value = f"{{value: {self.value:.6g} {unit}, spread: {100 * self.spread:.3g} %}}"
        return Stated(value.replace(" 1,", ","), self.source)


def figure(values: Sequence[float], source: str, more: float = 0.0) -> Figure:
    """Median and spread of runs; `InputError` where none gave more than nothing.

    Args:
        values: What each run gave [SI].
        source: Logs that they are from.
        more: Relative spread beside that of the runs [1].
    """
    runs = sorted(v for v in values if v > 0 and math.isfinite(v))
    if not runs:
        raise InputError(f"measure: {source}: no run gave a figure; remove its logs and measure again")
    count = len(runs)
    logs = [math.log(v) for v in runs]
    apart = statistics.stdev(logs) * _T.get(count, 1.15) * math.sqrt(1 + 1 / count) if count > 1 else _ALONE
    return Figure(statistics.median(runs), math.hypot(max(apart, _LEAST), more), f"{source}, {count} runs")


class Logs:
    """The raw logs of one machine, by the name of the test, in the folder that `measuring.run` has filled."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs = by_key(
            (f.name.rsplit(".", 2)[0], run) for f in sorted(folder.glob("*.log")) if gave_figure(run := read_logs(f)[0])
        )
        if not self.runs:
            raise InputError(f"measure: {folder} holds no logs with figures: what was left out says why")

    def figures(self, name: str, quantity: str = "throughput", **where: object) -> list[float]:
        """The figure of every run of a test."""
        values = []
        for run in self.runs.get(name, ()):
            mine = [
                m.value
                for m in run
                if m.quantity == quantity
                and m.status == "complete"
                and not m.conditions.get("interval")
                and all(m.conditions.get(k) == v for k, v in where.items())
            ]
            values += mine[:1]
        return values

    def times(self, name: str) -> list[float]:
        """Seconds of one request in every run."""
        return [1.0 / v for v in self.figures(name, "iops")]

    def flushed(self, name: str) -> list[float]:
        """Rate of write-back in every run of a write with a flush at its end: all but the time of its calls [B/s]."""
        rates = []
        for run in self.runs.get(name, ()):
            throughput = next((m for m in run if m.quantity == "throughput"), None)
            calls = (m for m in run if m.conditions.get("of") == "clat" and m.conditions["statistic"] == "mean")
            call = next(calls, None)
            if throughput is None or call is None:
                continue
            size, block = (float(throughput.conditions.get(k) or 0) for k in ("bytes", "block_B"))
            seconds = size / throughput.value - call.value * size / block
            rates.append(size / max(seconds, 1e-3))
        return rates

    def has(self, *names: str) -> bool:
        """Whether every one of these tests has run."""
        return all(n in self.runs for n in names)


def host(discovered: Found, logs: Logs, mount: str) -> Found:
    """The host with what was measured in the place of what was found."""
    volume = volume_of(discovered, mount)
    tree = dict(discovered.tree)
    clock = _clock(tree, logs)
    work = _per_cycle(logs, clock)
    processor = dict(below(tree, "cpu"))
    exactly = f"{{value: {clock / 1e9:.6g} GHz, spread: 0 %}}"
    processor["clock"] = Stated(exactly, "unit of the costs that were measured")
    if work is not None:
        processor["per_cycle"] = work.as_stated("1")
    per_s = clock * (work.value if work is not None else 1.0)
    tree["cpu"] = processor
    tree["stack"] = _stack(tree["stack"], logs, per_s)
    if logs.has("cold", "again", "fill"):
        tree["volumes"] = {**below(tree, "volumes"), mount: _volume(volume, logs)}
    return replace(discovered, tree=tree, where=f"{discovered.where}, measured by dtnsim measure ({logs.folder.name})")


def volume_of(discovered: Found, mount: str) -> Tree:
    """A volume of a host that was found; `InputError` where `discover` leaves its kind to a person."""
    volumes = below(discovered.tree, "volumes")
    if volume := below(volumes, mount):
        return volume
    names = ", ".join(volumes) or "none"
    raise InputError(f"--volume: {mount} is of a kind that discover leaves to you; it describes {names}")


def _clock(tree: Tree, logs: Logs) -> float:
    """Clock that costs are counted in [Hz]: by MD5, as many cycles on any core, or what was found, or the part's."""
    if sums := logs.figures("openssl-md5"):
        return CORE_RATES["md5_openssl"].cycles_per_byte * statistics.median(sums)
    clock, part = (below(tree, "cpu").get(key) for key in ("clock", "part"))
    if isinstance(clock, Stated) and (number := _CLOCK.search(str(clock.value))) is not None:
        return float(number[1]) * 1e9
    return Cpu.build(str(part.value)).clock.value if isinstance(part, Stated) else 2.5e9


def _per_cycle(logs: Logs, clock: float) -> Figure | None:
    """Work of a cycle over that of the machines on which costs of tools were published: median of the operations."""
    rates = {op: logs.figures(f"openssl-{name}") for name, op in _KNOWN.items()}
    ratios = [CORE_RATES[op].cycles_per_byte / (clock / statistics.median(runs)) for op, runs in rates.items() if runs]
    if not ratios:
        return None
    apart = statistics.pstdev(map(math.log, ratios))
    names = ", ".join(name for name, op in _KNOWN.items() if rates[op])
    return Figure(statistics.median(ratios), max(0.1, apart / math.sqrt(len(ratios))), f"openssl speed: {names}")


def _stack(spec: Stated | Tree, logs: Logs, per_s: float) -> Tree:
    """Costs of the kernel's calls, copies and network [cycles], of ``per_s`` cycles a second."""
    tree: Tree = {"part": spec} if isinstance(spec, Stated) else dict(spec)
    part = tree.get("part")
    usual = Stack.build(str(part.value)) if isinstance(part, Stated) else Stack()
    if logs.has("warm", "calls", "fill"):
        large, small = (per_s / statistics.median(logs.figures(name)) for name in ("warm", "calls"))
        call = max((small - large) / (1 / 4096 - 1 / MIB), 0.0)
        cycles = f"{{value: {call:.6g} cycles, spread: 20 %}}"
        tree["file_call"] = Stated(cycles, "calls less warm: blocks of 4 KiB and 1 MiB")
        for key, name in (("file_read_byte", "warm"), ("file_write_byte", "fill")):
            costs = [max(per_s / rate - call / MIB, 0.05) for rate in logs.figures(name)]
            tree[key] = figure(costs, name).as_stated("cycles/B")
        if logs.has("cold"):
            busy = zip(*(logs.figures("cold", "cpu_share", state=s) for s in ("user", "system")), strict=True)
            costs = [per_s * (u + v) / r - call / MIB for (u, v), r in zip(busy, logs.figures("cold"), strict=True)]
            tree["file_miss_byte"] = figure(costs, "cold, its processor time").as_stated("cycles/B")
        tree |= _unbacked(logs, per_s)
        tree["memory_stall"] = Stated("{value: 0, spread: 0 %}", "what memory's load costs is in what was measured")
    if logs.has("loopback-1"):
        rates = logs.figures("loopback-1", role="receiver")
        packet = usual.aggregate.value
        for key, where, cost in (("send", "local", usual.send_packet), ("receive", "remote", usual.receive_packet)):
            shares = logs.figures("loopback-1", "cpu_share", where=where)
            fixed = cost.value / packet + usual.socket_call.value / usual.socket_block.value
            costs = [max(per_s * s / r - fixed, 0.02) for s, r in zip(shares, rates, strict=False)]
            if costs:
                per_byte = figure(costs, f"loopback-1, processor of {where} iperf3", 0.1)
                tree[f"{key}_byte"] = per_byte.as_stated("cycles/B")
    return tree


def _unbacked(logs: Logs, per_s: float) -> Tree:
    """What new pages cost besides where memory was idle; nothing where that makes no difference."""
    if not logs.has("idle"):
        return {}
    used, idle = statistics.median(logs.figures("fill")), statistics.median(logs.figures("idle"))
    if used / idle < _ALIKE:
        return {}
    more = [max(per_s / rate - per_s / used, 0.05) for rate in logs.figures("idle")]
    return {"unbacked_byte": figure(more, "idle less fill").as_stated("cycles/B")}


def _volume(spec: Tree, logs: Logs) -> Tree:
    """A volume as measured: file system's own times, and the device below."""
    write, first = logs.flushed("again"), logs.flushed("first")
    filesystem = dict(below(spec, "filesystem"))
    array: Tree = {"kind": Stated("measured", "through the file system")}
    overwrite, new = figure(write, "again"), figure(first, "first")
    apart = overwrite.value / new.value
    if 1 / _ALIKE < apart < _ALIKE:
        overwrite = figure([*write, *first], "again and first")
    elif apart > 1:
        array["first_write"] = new.as_stated("B/s")
    array["read"] = figure(logs.figures("cold"), "cold").as_stated("B/s")
    array["write"] = overwrite.as_stated("B/s")
    if logs.has("several"):
        array["read_several"] = figure(logs.figures("several"), "several").as_stated("B/s")
    array |= _burst(logs.folder / "burst-rates.csv", overwrite)
    array["depths"] = _depths(logs)
    if logs.has("sync"):
        filesystem["sync_latency"] = figure(logs.times("sync"), "sync: each write of 4 KiB").as_stated("s")
    if logs.has("make", "take", "warm"):
        read, fill = (statistics.median(logs.figures(name)) for name in ("warm", "fill"))
        # a noisy run may take less for a file than its bytes did elsewhere: a tenth is left for the rest
        opened = figure([max(t - _SMALL_B / read, t / 10) / 2 for t in logs.times("take")], "take: open and close")
        make_times = [max(t - _SMALL_B / fill - opened.value, t / 10) for t in logs.times("make")]
        filesystem["op_time"] = opened.as_stated("s")
        filesystem["change_time"] = figure(make_times, "make: less its bytes and close").as_stated("s")
    return {**spec, "filesystem": filesystem, "array": array}


def _depths(logs: Logs) -> Tree:
    """Rates by requests in flight, of depths at which every test gave a figure; `InputError` where there is none."""
    tree: Tree = {}
    for depth in DEPTHS:
        names = {key: f"{name}-{depth}" for key, name in _REQUESTS.items()}
        rates = {key: logs.figures(name, "iops" if key.endswith("s") else "throughput") for key, name in names.items()}
        if all(rates.values()):
            units = {key: "IOPS" if key.endswith("s") else "B/s" for key in rates}
            tree[str(depth)] = {key: figure(runs, names[key]).as_stated(units[key]) for key, runs in rates.items()}
    if not tree:
        raise InputError("measure: no direct requests were measured; fio needs libaio, the volume direct I/O")
    return tree


def _burst(file: Path, steady: Figure) -> Tree:
    """The bucket that the long write emptied; nothing where its rate did not fall for good.

    The bytes until then came at R, of which b is no burst: the bucket had the part (R - b) / R of them.
    """
    if not file.is_file():
        return {}
    written = file.read_text(encoding="utf-8", errors="replace")
    rows = [[float(x) for x in row] for row in re.findall(r"^(\d+), *(\d+),", written, re.MULTILINE)]
    rates = [row[1] * 1024 for row in rows]
    steps = [b[0] - a[0] for a, b in zip([[0.0, 0.0], *rows], rows, strict=False)]
    best = (1.0, 0)
    for cut in range(4, len(rates) - 4):
        fast, slow = min(rates[:cut][-4:]), max(rates[cut:])
        best = min(best, (slow / fast if fast else 1.0, cut))
    if best[0] > _FALLS:
        return {}
    fast, slow = statistics.median(rates[: best[1]]), statistics.median(rates[best[1] :])
    moved = sum(r * s / 1e3 for r, s in zip(rates[: best[1]], steps, strict=False))
    source = f"{file.name}: the rate fell after {moved / 1e9:.3g} GB"
    lower = min(steady.value, slow)
    return {
        "burst": Stated(f"{{value: {moved * (1 - lower / fast):.6g} B, spread: 30 %}}", source),
        "burst_write": Stated(f"{{value: {fast:.6g} B/s, spread: 10 %}}", source),
    }


def path_to(discovered: Found, file: str, logs: Logs, peer: str, peer_file: Path, mount: str) -> str:
    """A path file from the host to a peer; empty where its own file, or tests between the two, are missing."""
    ping, to = f"peer-ping-{peer}", f"peer-to-{peer}"
    if not peer_file.is_file() or not logs.has(ping, to):
        return ""
    rtt = figure(logs.figures(ping, "rtt", statistic="mean") or logs.figures(ping, "rtt"), "ping")
    rate = figure(logs.figures(to, role="receiver"), "iperf3 -P 4")
    far = yamlio.load(peer_file)
    name, volumes = str(far.get("name") or peer), far.get("volumes")
    end = next(iter(volumes), "/") if isinstance(volumes, dict) else "/"
    return (
        f"# Written by dtnsim measure: the way between two hosts that were measured\n"
        f"name: {quoted(f'{discovered.name} to {name}')}\n"
        f"hosts: {{{quoted(discovered.name)}: {quoted(Path(file).name)}, {quoted(name)}: {quoted(peer_file.name)}}}\n"
        f"wan:\n  rtt: {rtt.as_stated('s').value}  # {rtt.source}\n"
        f"  bandwidth: {rate.as_stated('B/s').value}  # {rate.source}\n"
        f"transfer:\n  from: {quoted(f'{discovered.name}:{mount}')}\n  to: {quoted(f'{name}:{end}')}\n"
        f"  tool: rsync\n  dataset: {{files: 1, size: 10 GB}}\n"
    )
