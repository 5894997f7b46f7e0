"""One run of iperf3 while it is read: what was said before its rows, and the rows themselves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from dtnsim.logs._iperf import Row
from dtnsim.logs._net import options, positive_int
from dtnsim.logs.base import DECIMAL, Conditions, size_bytes

#: options of the iperf3 command line (iperf3 manual); those that are no condition take their value off
_OPTIONS: Final = {
    "-c": "host", "--client": "host", "-P": "streams", "--parallel": "streams", "-u": "udp!", "--udp": "udp!",
    "-R": "reverse!", "--reverse": "reverse!", "--bidir": "bidir!", "-w": "window", "--window": "window",
    "-l": "block", "--len": "block", "--length": "block", "-b": "rate", "--bitrate": "rate", "--bandwidth": "rate",
    "-C": "congestion", "--congestion": "congestion", "-Z": "zerocopy!", "--zerocopy": "zerocopy!", "-t": "time",
    "--time": "time", "-p": "port", "--port": "port", "-i": "every", "--interval": "every", "-f": "format",
    "-O": "omit", "--omit": "omit", "-A": "affinity", "--affinity": "affinity", "-s": "server!",
    "--server": "server!", "-F": "file", "--file": "file", "-T": "title", "--title": "title", "-B": "bind",
    "--bind": "bind", "-M": "mss", "-S": "tos", "-n": "bytes", "--bytes": "bytes", "-k": "blocks", "-V": "verbose!",
    "-J": "json!", "-4": "ipv4!", "-6": "ipv6!", "-N": "nodelay!", "--fq-rate": "pacing", "--logfile": "log",
    "-D": "daemon!", "-1": "once!", "-X": "xbind", "-I": "pid", "--cport": "cport", "-L": "label", "--dscp": "dscp",
    "--sctp": "sctp!",
}  # fmt: skip

_TEXTS: Final = (("congestion", "congestion"), ("host", "target"), ("affinity", "affinity"), ("file", "disk_file"))


def from_args(args: list[str] | None) -> Conditions:
    """Conditions from an iperf3 command line; sizes are 1024-based, rates 1000-based (iperf3 manual)."""
    found, _ = options(args, _OPTIONS)
    conditions: Conditions = {}
    for name in ("reverse", "bidir", "zerocopy"):
        if name in found:
            conditions[name] = True
    if args is not None:
        conditions["protocol"] = "udp" if "udp" in found else "sctp" if "sctp" in found else "tcp"
    if "server" in found:
        conditions["reporter"] = "server"
    streams = positive_int(found.get("streams"))
    if streams is not None:
        conditions["streams"] = streams
    for option, key, table in (
        ("window", "window_B", None),
        ("block", "block_B", None),
        ("rate", "target_Bps", DECIMAL),
    ):
        if option in found:
            text = found[option].split("/")[0]
            value = size_bytes(text) if table is None else size_bytes(text, {**table, "m": 1e6, "g": 1e9, "t": 1e12})
            if value:
                conditions[key] = value / 8 if key == "target_Bps" else value
    for option, key in _TEXTS:
        if option in found:
            conditions[key] = found[option]
    return conditions


@dataclass(slots=True)
class Summary:
    """A row of the summary."""

    row: Row
    role: str | None
    cut: bool


@dataclass(slots=True)
class Mean:
    """Running mean of the interval rows of one stream."""

    seconds: float = 0.0
    volume: float = 0.0  # [B]
    line: int = 0  # of the last row


@dataclass(slots=True)
class Test:
    """One run.

    Attributes:
        conditions: What the command line and the preamble said.
        host: Host in the prompt.
        streams: Stream numbers of the preamble.
        finals: Rows of the summary by (stream, way, role).
        means: Means of the interval rows by (stream, way).
        rule, summary: A rule was seen; rows are of the summary.
        role: Role under a "Sent"/"Received" head (3.0 betas).
    """

    conditions: Conditions = field(default_factory=dict)
    host: str | None = None
    streams: set[str] = field(default_factory=set)
    finals: dict[tuple[str, str | None, str | None], Summary] = field(default_factory=dict)
    means: dict[tuple[str, str | None], Mean] = field(default_factory=dict)
    rule: bool = False
    summary: bool = False
    role: str | None = None
    error: str | None = None
    interrupted: bool = False
    _shared: dict[tuple[str, str | None], tuple[int, Conditions]] = field(default_factory=dict)

    @property
    def has_rows(self) -> bool:
        """Whether rows were read."""
        return bool(self.finals or self.means)

    @property
    def plain(self) -> bool:
        """Whether rows without a role are of the time series."""
        return not (self.summary or self.finals or self.error)

    def mean(self, name: str, way: str | None, rate: float, span: float, line: int) -> None:
        """Adds an interval row to its stream's mean."""
        mean = self.means.get((name, way))
        if mean is None:
            mean = self.means[(name, way)] = Mean()
        if span > 0:
            mean.seconds += span
            mean.volume += rate * span
        mean.line = line

    def shared(self, name: str, way: str | None) -> Conditions:
        """Conditions that all interval rows of a stream share, put together once."""
        shared = self._shared.get((name, way))
        if shared is None or shared[0] != len(self.streams):
            base = {**self.figure(name, way, None), "interval": True}
            if name != "SUM" and len(self.streams) != 1 and "stream" not in base:
                base["stream"] = int(name)
            shared = self._shared[name, way] = (len(self.streams), base)
        return shared[1]

    def ids(self, way: str | None) -> set[str]:
        """Streams of the summary in one direction."""
        return {name for name, row_way, _ in self.finals if row_way == way}

    def figure(self, name: str, way: str | None, role: str | None) -> Conditions:
        """Conditions of the rows of a stream, or of ``SUM``."""
        found = dict(self.conditions)
        if self.host is not None:
            found["host"] = self.host
        if role is not None:
            found["role"] = role
        ids = self.ids(way)
        asked = self.conditions.get("streams")
        count = max(len(self.streams) // (2 if way else 1), asked if isinstance(asked, int) else 0)
        count = count or len(ids - {"SUM"})
        if count:
            found["streams"] = count
        if name != "SUM" and (count > 1 or len(ids) > 1):
            found["stream"] = int(name)
        if way is not None:
            found["direction"] = "send" if way[0] == "T" else "receive"
        elif found.get("reporter") != "server":
            found["direction"] = "receive" if found.get("reverse") else "send"
        return found
