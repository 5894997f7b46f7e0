"""/proc/mdstat.

Units: ``blocks`` are KiB (kernel md.c prints sectors / 2), ``speed=259783K/sec`` KiB/s, ``64k chunk`` KiB.
``[8/7] [UUUUUUU_]`` is raid devices and working ones. A recovery's speed is that of its last moments,
per member device.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs.base import BINARY, Conditions, Evidence, LineParser, Record

_ARRAY: Final = re.compile(
    r"^\s*(?P<array>md\w+) : (?P<state>active|inactive)(?: \((?P<mode>[a-z-]+)\))*"
    r"(?: (?P<level>raid\d+|linear|multipath|faulty))?(?P<members>(?: \S+\[\d+\](?:\([A-Z]\))*)*)\s*$"
)
_BLOCKS: Final = re.compile(r"^\s+(?P<blocks>\d+) blocks\b(?P<rest>.*)$")
_STATE: Final = re.compile(r"\[(\d+)/(\d+)\]")
_CHUNK: Final = re.compile(r"(?<!\d)(\d++)k chunks?\b")
_PROGRESS: Final = re.compile(
    r"\b(?P<what>recovery|resync|check|reshape|repair) =\s*(?P<done>[\d.]+)% \(\d+/\d+\) finish=(?P<finish>[\d.]+)min "
    r"speed=(?P<speed>\d+)K/sec"
)


class Mdstat(LineParser):
    """Two or three lines an array."""

    tool = "mdstat"
    evidence = Evidence.CORRECTS
    words = ("md", "active", "inactive")

    def forget(self) -> None:
        self.open = False
        self._array: Conditions | None = None

    def feed(self, text: str) -> Iterable[Record]:
        match = _ARRAY.match(text)
        if match is not None:
            members = match["members"].split()
            self._array = {
                "array": match["array"], "state": match["state"], "mode": match["mode"], "level": match["level"],
                "members": " ".join(m.partition("[")[0] for m in members) or None, "member_count": len(members),
                "failed": sum("(F)" in m for m in members), "spares": sum("(S)" in m for m in members),
            }  # fmt: skip
            self.open = True
            return ()
        if self._array is None:
            return ()
        if not text.strip() or not text[:1].isspace():
            self._array, self.open = None, False
            return ()
        return self._inside(text)

    def _inside(self, text: str) -> Iterator[Record]:
        array = self._array or {}
        blocks = _BLOCKS.match(text)
        if blocks is not None:
            state, chunk = _STATE.search(blocks["rest"]), _CHUNK.search(blocks["rest"])
            more: Conditions = {}
            if state is not None:
                more = {"raid_devices": int(state[1]), "working": int(state[2])}
            if chunk is not None:
                more["chunk_B"] = int(chunk[1]) * BINARY["K"]
            size = int(blocks["blocks"]) * BINARY["K"]
            yield self.measure("capacity", size, "B", f"{blocks['blocks']} blocks", **array, **more)
            return
        progress = _PROGRESS.search(text)
        if progress is not None:
            speed = int(progress["speed"]) * BINARY["K"]
            operation = progress["what"]
            printed = f"{progress['speed']}K/sec"
            done = float(progress["done"])
            yield self.measure(
                "throughput", speed, "B/s", printed, operation=operation, interval=True, status="partial", **array
            )
            yield self.measure("progress", done / 100, "1", f"{done} %", operation=operation, **array)
