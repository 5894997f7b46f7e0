"""FDT (Fast Data Transfer, Caltech): the console's rates.

Units: ``Mb/s``, ``Gb/s`` are decimal bits (FDT ``lia/util/net/common/Utils.java``, formatWithBitFactor: 1000), in
``ConsoleReportingTask.java``: ``Net Out: 9.412 Gb/s<tab>Avg: 9.388 Gb/s 45.20% ( 01m 12s )``. The first figure is
of the last report period (5 s by default, ``interval=True``), ``Avg`` the mean since the session began; the time
in brackets is what is left. ``Net In`` is printed by the receiver.

FDT prints no closing rate: the last ``Avg`` is the headline, ``complete`` if the session says that it finished,
else ``partial``. No log of a real run was at hand: the forms are those of the source.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from dtnsim.logs._net import bits_rate, host_of, options, positive_int
from dtnsim.logs.base import Conditions, Evidence, LineParser, Record
from dtnsim.logs.measurement import Status

_LINE: Final = re.compile(
    r"Net (?P<way>In|Out): (?P<rate>\d+(?:[.,]\d+)?) ?(?P<u>[kKMGT]?)b/s"
    r"\s+Avg: (?P<avg>\d+(?:[.,]\d+)?) ?(?P<au>[kKMGT]?)b/s(?:\s+(?P<share>\d+(?:[.,]\d+)?)%)?"
)
_TOTAL: Final = re.compile(r"Total Net (?P<way>In|Out): ")
_DONE: Final = re.compile(r"finished OK|[Ss]ession.*finished ok|Exit Status: OK|FDT.*Session.*finished successfully")
_FAILED: Final = re.compile(r"^.*(?:finished with errors?|Exit Status: Not OK|Cannot (?:connect|start)|SEVERE).*")
_OPTIONS: Final = {
    "-c": "target", "-P": "streams", "-d": "directory", "-ss": "window", "-bs": "block", "-p": "port",
    "-limit": "limit", "-pull": "pull!", "-N": "nodelay!", "-fl": "list", "-r": "recursive!", "-jar": "jar",
    "-S": "once!", "-f": "allowed",
}  # fmt: skip


class Fdt(LineParser):
    """Rates of FDT's console."""

    tool = "fdt"
    evidence = Evidence.TRANSFER
    words = ("Net", "FDT", "Session", "session", "Exit")
    commands = ("fdt", "fdt.jar")

    def forget(self) -> None:
        self.open = False
        self._last: tuple[float, str, int, Conditions] | None = None
        self._done = False

    def feed(self, text: str) -> Iterator[Record]:
        found = _LINE.search(text) if "Avg" in text else None
        if found is not None:
            if self._done:
                yield from self.settle()
            known = self._known(found["way"])
            if found["share"]:
                known["share"] = float(found["share"].replace(",", ".")) / 100
            now = {**known, "interval": True, "average": "interval"}
            text = f"{found['rate']} {found['u']}b/s"
            yield self.measure("throughput", bits_rate(found["rate"], found["u"]), "B/s", text, **now)
            printed = f"Avg: {found['avg']} {found['au']}b/s"
            self._last = (bits_rate(found["avg"], found["au"]), printed, self.ctx.line, known)
        elif self._last is not None and _DONE.search(text):
            self._done = True
        elif (self._last is not None or "FDT" in text) and (problem := _FAILED.match(text)) is not None:
            known = self._last[3] if self._last is not None else {}
            self._last = None
            yield self.failure(problem[0], **known)

    def settle(self) -> Iterator[Record]:
        """The last mean is the headline."""
        last, self._last = self._last, None
        status: Status = "complete" if self._done else "partial"
        self._done = False
        if last is not None and last[0] > 0:
            rate, printed, line, known = last
            yield self.measure("throughput", rate, "B/s", printed, status=status, line=line, **known)

    def _known(self, way: str) -> Conditions:
        given, _ = options(self.ctx.args("java", "fdt", "fdt.jar"), _OPTIONS)
        found: Conditions = {
            "direction": "receive" if way == "In" else "send",
            "role": "receiver" if way == "In" else "sender",
            "target": given.get("target"),
            "streams": positive_int(given.get("streams")),
        }
        return {**found, **host_of(self.ctx)}
