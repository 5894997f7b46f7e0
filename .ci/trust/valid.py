"""Random valid paths, written as text, and what has to hold of each; no line is shared with tests/wide.py.

Whatever the path: more of anything is never slower (but by a burst that a faster card sends at once); names, order and
the units in which numbers are written move no digit; a path as JSON is the path; the document has no number that JSON
lacks; `predict`, `simulate` and, for tests over a network, `tcp` lie within 10 % of each other; what binds next is what
predict says once the remedy is written.
"""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

import dtnsim
from dtnsim.ground.records import Prediction
from dtnsim.physics.tcp import controls
from dtnsim.report.document import prediction_document

USUAL = {"valid": 100}
FOLDER = TemporaryDirectory()
HOST = """
  {name}:
    cpu: {{sockets: 1, cores: {cores}, clock: {clock} GHz}}
    memory: {{channels: {channels}, rate: 3200 MT/s, size: {memory} GiB}}
    nics: {{lan: {{rate: {nic} Gb/s, mtu: {mtu} B, slot: wide}}}}
    slots: {{wide: {{generation: 5, lanes: 16}}}}
    tcp: {{rmem_max: {window} MiB, wmem_max: {window} MiB, cc: {cc}}}
    volumes:
      /store:
        filesystem: {{kind: {filesystem}}}
        array: {array}
"""
PATH = """
name: path {number}
hosts:{hosts}
wan: {{bandwidth: {wan} Gb/s, rtt: {rtt} ms, loss: {loss}, buffer: {buffer} MB, mtu: {mtu} B,
      background: {{share: 0 %}}}}
transfers:{transfers}
"""
TRANSFER = "\n  - {{name: {name}, from: {one}, to: {other}, tool: {tool}{data}}}"
#: what may grow: (key, factor on the number that is there)
GROWS = (
    "wan.bandwidth",
    "hosts.{a}.cpu.clock",
    "hosts.{b}.cpu.clock",
    "hosts.{a}.nics.lan.rate",
    "hosts.{b}.nics.lan.rate",
    "hosts.{b}.memory.channels",
    "hosts.{a}.cpu.cores",
    "hosts.{a}.volumes./store.array{of}.rate",
)
#: what makes bursts denser, or moves the queue that they meet; and the largest that Linux hands down at once [B]
LUMPS, GSO_B = ("wan.bandwidth", "hosts.left.nics.lan.rate"), 65_536
#: part of a rate that is lost where the queue is no longer the WAN's, but that of a port, which is shorter
MOVED = 0.03
#: digits of a mean over courses that random losses make
ROUNDS = 0.005
#: part of a rate by which the rung above may miss what its remedy gives: of the page cache it has today's share
RUNG = 0.02
SAME = {
    "Gb/s": ("Mb/s", 1e3),
    "MB/s": ("kB/s", 1e3),
    "GHz": ("MHz", 1e3),
    "ms": ("us", 1e3),
    "GiB": ("MiB", 1024.0),
    "GB": ("MB", 1e3),
    "MB": ("kB", 1e3),
}


def written(number: int, a: str = "left", b: str = "right", *, turned: bool = False) -> tuple[str, dict[str, Any]]:
    """The text of a path, and what was chosen; the same path with other names, or its lists turned."""
    r = random.Random(f"valid {number}")
    mtu, tested = r.choice((1500, 9000)), r.random() < 0.3
    drive = f"{{kind: hdd, rate: {r.choice((90, 150, 210, 270))} MB/s}}"
    nested = r.random() < 0.6
    array = f"{{kind: raid, level: {r.choice((0, 5, 6, 10))}, disks: {r.choice((4, 6, 10))}, of: {drive}}}"
    hosts = [
        HOST.format(
            name=name,
            cores=r.choice((4, 12, 24)),
            clock=r.choice((1.9, 2.6, 3.3)),
            channels=r.choice((2, 6, 8)),
            memory=r.choice((8, 32, 192)),
            nic=r.choice((10, 40, 100)),
            mtu=mtu,
            window=1024 if tested else r.choice((4, 64, 1024)),
            cc=r.choice(("reno", *controls.offered())) if not tested else "cubic",
            filesystem=r.choice(("xfs", "ext4")),
            array=array if nested else drive,
        )
        for name in (a, b)
    ]
    said: dict[str, Any] = {
        "of": ".of" if nested else "",
        "mtu": mtu,
        "wan": r.choice((1, 5, 10, 40)),
        "rtt": round(10 ** r.uniform(-0.7, 2.3), 2),
        "loss": r.choice(("0", "0", "1e-6", "1e-5", "1e-4")),
        "buffer": r.choice((2, 20, 100)),
        "streams": r.choice((1, 2, 4, 16)),
        "tested": tested,
        "seconds": r.choice((20, 60, 300)),
    }
    tools = ("{name: gridftp, p: 2, cc: 2}", "{name: gridftp, p: 8}", "scp", "rsync", "{name: bbcp, s: 4}", "curl")
    made = []
    for n in range(1 if tested else r.choice((1, 1, 2, 3))):
        tool = f"{{name: iperf3, P: {said['streams']}, t: {said['seconds']} s}}" if tested else r.choice(tools)
        files = r.choice((1, 7, 400))
        data = "" if tested else f", dataset: {{files: {files}, size: {r.choice((3, 40, 700))} GB}}"
        ends = [f"{host}:{'memory' if tested else '/store'}" for host in (a, b)]
        made.append(TRANSFER.format(name=f"{a}{n}", one=ends[0], other=ends[1], tool=tool, data=data))
    said["count"] = len(made)
    said["port"] = min(int(n) for n in re.findall(r"rate: (\d+) Gb/s", "".join(hosts)))
    if turned:
        hosts.reverse()
        made.reverse()
    values = {key: said[key] for key in ("wan", "rtt", "loss", "buffer", "mtu")}
    return PATH.format(number=number, hosts="".join(hosts), transfers="".join(made), **values), said


def valid(number: int) -> str | None:
    """Everything that has to hold of a path."""
    text, said = written(number)
    file = Path(FOLDER.name) / "path.yaml"

    def rates(what: str) -> list[float]:
        file.write_text(what)
        return _rates(dtnsim.predict(str(file), samples=0))

    file.write_text(text)
    made = dtnsim.predict(str(file), samples=0)
    plain = _rates(made)
    for other, same in (
        ("names", written(number, "zebra", "ant")[0]),
        ("order", written(number, turned=True)[0]),
        ("units", re.sub(r"([\d.]+) (Gb/s|MB/s|GHz|ms|GiB|GB|MB)\b", _units, text)),
        ("JSON", json.dumps(yaml.safe_load(text))),
    ):
        if (far := _apart(plain, rates(same))) > 1e-9:
            return f"{other} move it by {far:.2g}"
    file.write_text(text)
    drawn = random.Random(number)
    key = drawn.choice(GROWS).format(a="left", b="right", of=said["of"])
    if (more := _grown(text, key)) is not None:
        now = dtnsim.predict(str(file), samples=0, overrides=[f"{key}={more}"]).throughput_Bps.p50  # to the last end
        least = 1 - max(_lumps(said) if key in LUMPS else 0, MOVED if said["wan"] == said["port"] else 0,
                        1e-6 if said["loss"] == "0" else ROUNDS)  # fmt: skip
        if now < made.throughput_Bps.p50 * least:
            return f"{key}={more} makes {made.throughput_Bps.p50} {now}"
    if number % 4 == 0:  # a document takes a quarter of all that is tried
        document = prediction_document(dtnsim.predict(str(file), samples=8))
        if json.loads(json.dumps(document, allow_nan=False)) != json.loads(json.dumps(document)):
            return "the document is not what it is read as"
    return _others(file, made, said)


def _lumps(said: dict[str, Any]) -> float:
    """Part of pipe and buffer that a train of each stream fills at once, where its card is faster than what follows."""
    pipe = min(said["wan"], said["port"]) * 125e6 * said["rtt"] / 1e3 + said["buffer"] * 1e6
    return float(GSO_B * (said["streams"] if said["tested"] else 8 * said["count"]) / pipe)


def _rates(made: Prediction) -> list[float]:
    return sorted(t.throughput_Bps.p50 for t in made.transfers)


def _units(found: re.Match[str]) -> str:
    unit, factor = SAME[found[2]]
    return f"{float(found[1]) * factor:.15g} {unit}"


def _apart(one: list[float], other: list[float]) -> float:
    return max(abs(a / b - 1) for a, b in zip(one, other, strict=True))


def _grown(text: str, key: str) -> str | None:
    """A half more of the number at a key, twice what counts things; None where there is none."""
    found = yaml.safe_load(text)
    for step in re.split(r"\.(?!/)", key):
        found = found.get(step) if isinstance(found, dict) else None
    if found is None:
        return None
    if isinstance(found, int):
        return str(2 * found)
    number, _, unit = str(found).partition(" ")
    return f"{1.5 * float(number):.6g} {unit}"


def _others(file: Path, made: Prediction, said: dict[str, Any]) -> str | None:
    """What simulate and tcp say, and what predict says of the path as its remedy has it."""
    plain = _rates(made)
    run = sorted(t.throughput_Bps for t in dtnsim.simulate(str(file)).runs[0].transfers)
    if (far := _apart(run, plain)) > 0.1:
        return f"simulate is {far:.1%} from predict"
    held = made.bottleneck
    # where a port is as narrow, the queue is the host's own, which `tcp` is not told of
    if said["tested"] and said["port"] > said["wan"] and held.kind in ("tcp", "segment", "wire"):
        answer = dtnsim.tcp(
            f"{said['wan'] * said['mtu'] / (said['mtu'] + 38):.9g} Gb/s",
            f"{said['rtt']} ms",
            loss=float(said["loss"]),
            streams=said["streams"],
            buffer=f"{said['buffer']} MB",
            mtu=said["mtu"],
            duration=float(said["seconds"]),
        )
        if abs(answer.goodput_Bps.p50 / plain[0] - 1) > 0.1:
            return f"tcp says {answer.goodput_Bps.p50:.4g}, predict {plain[0]:.4g}"
    every = next((u.station.changes for u in made.stations if u.station.name == held.station), ())
    changes = [c for c in every if not c[1] or not c[1][0].partition("=")[0].endswith(".cc")]  # another law, not none
    if held.kind == "tcp" and said["count"] == 1 and changes and changes[0][1] and len(made.transfers[0].ladder) > 1:
        sets = [change.removeprefix("network.") for change in changes[0][1]]
        then = dtnsim.predict(str(file), samples=0, overrides=sets).throughput_Bps.p50
        if abs(made.transfers[0].ladder[1].throughput_Bps / then - 1) > RUNG:
            return f"binds next at {made.transfers[0].ladder[1].throughput_Bps:.4g}, --set {sets} gives {then:.4g}"
    return None
