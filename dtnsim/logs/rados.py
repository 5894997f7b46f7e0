"""``rados bench`` of Ceph, write, seq and rand, any release since Firefly.

Units: ``Bandwidth (MB/sec)`` = 2^20 B/s (checked: 491 writes of 8388608 B in 10.284 s are 381.95 MiB/s, printed
381.954; 4200 of 4194304 B in 301.488871 s are 55.723); latencies in s, with ``(s)`` or without. The headline is the
mean of the whole run; maximum, minimum and standard deviation are of its seconds. Rows of the seconds are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from dtnsim.logs._net import host_of
from dtnsim.logs.base import Conditions, Evidence, LineParser, Record

_PAIR: Final = re.compile(
    r"^\s*+(?P<key>Total time run|Total (?:writes|reads) made|(?:Write|Read|Object) size|Bandwidth \(MB/sec\)"
    r"|(?:Stddev|Max|Min) [Bb]andwidth(?: \(MB/sec\))?|(?:Average|Stddev|Max|Min) IOPS"
    r"|(?:Average|Stddev|Max|Min) [Ll]atency(?:\(s\))?)\s*+:\s*+(?P<value>\d++(?:\.\d++)?(?:e-?\d++)?)(?=\s|$)"
)
_STATISTICS: Final = {"": None, "average": None, "stddev": "stddev", "max": "max", "min": "min"}
_MIB: Final = 2.0**20


class RadosBench(LineParser):
    """The summary of a run."""

    tool = "rados bench"
    evidence = Evidence.SERVERS
    words = ("Total", "Bandwidth", "bandwidth", "IOPS", "Latency", "latency", "size")
    commands = ("rados",)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._found: dict[str, tuple[float, str, int]] = {}
        self._known: Conditions = {}

    def feed(self, text: str) -> Iterable[Record]:
        pair = _PAIR.match(text)
        if pair is None:
            return ()
        key = pair["key"].lower().replace(" (mb/sec)", "").replace("(s)", "")
        done: list[Record] = []
        if key == "total time run":
            done = list(self.settle())
            self._found["seconds"] = (float(pair["value"]), pair["value"], self.ctx.line)
            self._known = {**self._arguments(), **host_of(self.ctx)}
        elif self._found:
            self._found[key] = (float(pair["value"]), pair["value"], self.ctx.line)
        return done

    def settle(self) -> Iterator[Record]:
        found, self._found = self._found, {}
        if "bandwidth" not in found:
            return
        seconds, printed, line = found["seconds"]
        known = self._conditions(found)
        rate, text, _ = found["bandwidth"]
        moved = known.pop("moved", None)
        if isinstance(moved, float) and seconds >= 1 and abs(moved / seconds - rate * _MIB) > 0.02 * rate * _MIB:
            yield self.unread(
                f"{text} MB/sec", f"operations, size and time give {moved / seconds / _MIB:.6g}", line=line
            )
        if rate <= 0:
            yield self.unread(text, "nothing was moved: no rate", line=line)
            return
        yield self.measure("duration", seconds, "s", printed, line=line, **known)
        for key, (value, shown, at) in found.items():
            statistic, _, what = key.rpartition(" ")
            if what not in ("bandwidth", "iops", "latency"):
                continue
            more = {**known, "statistic": _STATISTICS[statistic]}
            if what == "bandwidth":
                yield self.measure("throughput", value * _MIB, "B/s", f"{shown} MB/sec", line=at, **more)
            elif what == "iops":
                yield self.measure("iops", value, "1/s", shown, line=at, **more)
            else:
                yield self.measure("latency", value, "s", f"{shown} s", line=at, **more)

    def _conditions(self, found: dict[str, tuple[float, str, int]]) -> Conditions:
        operation = "write" if "total writes made" in found else "read"
        count = found.get(f"total {operation}s made", (0.0, "", 0))[0]
        size = found.get(f"{operation} size", (0.0, "", 0))[0]
        known: Conditions = {**self._known, "operation": operation, "duration_s": found["seconds"][0]}
        if size and count:
            known |= {"block_B": size, "bytes": size * count, "moved": size * count}
        if "object size" in found:
            known["object_B"] = found["object size"][0]
        return known

    def _arguments(self) -> Conditions:
        args = self.ctx.args("rados")
        if args is None:
            return {}
        known: Conditions = {"pattern": "random" if "rand" in args else "sequential" if "seq" in args else None}
        for at, word in enumerate(args[:-1]):
            if word in ("-t", "--concurrent-ios") and args[at + 1].isdigit() and len(args[at + 1]) < 6:
                known["depth"] = int(args[at + 1])
            elif word in ("-p", "--pool"):
                known["target"] = args[at + 1]
        return known
