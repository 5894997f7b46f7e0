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
    last: Row | None = None


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

    def mean(self, row: Row) -> None:
        """Adds an interval row to its stream's mean."""
        mean = self.means.get((row.id, row.way))
        if mean is None:
            mean = self.means[(row.id, row.way)] = Mean()
        span = row.end_s - row.start_s
        if span > 0:
            mean.seconds += span
            mean.volume += row.rate * span
        mean.last = row

    def interval(self, row: Row) -> Conditions:
        """Conditions of an interval row; what all rows of a stream share is put together once."""
        name = (row.id, row.way)
        shared = self._shared.get(name)
        if shared is None or shared[0] != len(self.streams):
            base = self.figure(row, None)
            del base["duration_s"]
            base["interval"] = True
            if row.id != "SUM" and len(self.streams) != 1 and "stream" not in base:
                base["stream"] = int(row.id)
            shared = self._shared[name] = (len(self.streams), base)
        return {**shared[1], "start_s": row.start_s, "end_s": row.end_s}

    def ids(self, way: str | None) -> set[str]:
        """Streams of the summary in one direction."""
        return {name for name, row_way, _ in self.finals if row_way == way}

    def figure(self, row: Row, role: str | None) -> Conditions:
        """Conditions of a row."""
        found = dict(self.conditions)
        if self.host is not None:
            found["host"] = self.host
        if role is not None:
            found["role"] = role
        ids = self.ids(row.way)
        asked = self.conditions.get("streams")
        count = max(len(self.streams) // (2 if row.way else 1), asked if isinstance(asked, int) else 0)
        count = count or len(ids - {"SUM"})
        if count:
            found["streams"] = count
        if row.id != "SUM" and (count > 1 or len(ids) > 1):
            found["stream"] = int(row.id)
        if row.way is not None:
            found["direction"] = "send" if row.way[0] == "T" else "receive"
        elif found.get("reporter") != "server":
            found["direction"] = "receive" if found.get("reverse") else "send"
        found["duration_s"] = row.end_s - row.start_s
        return found
