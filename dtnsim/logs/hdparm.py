"""hdparm -t, -T and --direct.

Units: ``MB`` is MiB: hdparm reads blocks of 2 MiB and divides by 1048576; below 1 MB/sec it prints
``kB/sec``, which are KiB/s (a real line: ``2 MB in 19.21 seconds = 106.63 kB/sec``, and 2 * 1024 / 19.21
= 106.6). ``cached reads`` measure memory, ``buffered disk reads`` the drive through the page cache,
``O_DIRECT`` without it. The rate is the printed one: it has more digits than the quotient.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from dtnsim.logs.base import BINARY, Conditions, Context, Evidence, LineParser, Record, agrees, decimal

_LINE: Final = re.compile(
    r"Timing (?P<what>cached|buffer-cache|buffered disk|O_DIRECT cached|O_DIRECT disk) reads:\s*"
    r"(?P<size>\d+) MB in\s+(?P<secs>[\d.,]+) seconds\s*=\s*(?P<rate>[\d.,]+)\s*(?P<unit>kB|MB|GB)/sec"
)
_DEVICE: Final = re.compile(r"^\W*(/dev/\S+?):\s*$")
_ERROR: Final = re.compile(r"^\W*(/dev/\S+?): ([A-Z][a-z].*)")
_KIND: Final = {
    "cached": ("memory_read", False),
    "buffer-cache": ("memory_read", False),
    "buffered disk": ("read", False),
    "O_DIRECT cached": ("cache_read", True),
    "O_DIRECT disk": ("read", True),
}


class Hdparm(LineParser):
    """The ``Timing ...`` lines; the device is named in the line before or on the command line."""

    tool = "hdparm"
    evidence = Evidence.FITS
    words = ("Timing", "dev")
    commands = ("hdparm",)

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        self._device: str | None = None

    def feed(self, text: str) -> Iterator[Record]:
        device = _DEVICE.match(text)
        if device is not None:
            self._device = device[1]
            return
        if "Timing" not in text:
            error = _ERROR.match(text)
            if error is not None and self.ctx.args("hdparm") is not None:
                yield self.failure(text, device=error[1])
            return
        match = _LINE.search(text)
        if match is None:
            if "reads:" in text:
                yield self.unread(text, "the timing line has no rate: it is cut or hdparm could not time it")
            return
        size = int(match["size"]) * BINARY["M"]
        seconds, shown = decimal(match["secs"]), decimal(match["rate"])
        factor = BINARY[match["unit"][0]]
        if size <= 0 or seconds <= 0 or shown <= 0:
            return
        if not agrees(size / seconds / factor, shown, match["rate"]):
            yield self.unread(match[0], f"the rate is not bytes / seconds ({size / seconds:.4g} B/s)")
        operation, direct = _KIND[match["what"]]
        args = self.ctx.args("hdparm")
        device_name = self._device or next((a for a in args or () if a.startswith("/dev/")), None)
        conditions: Conditions = {"operation": operation, "direct": direct, "device": device_name}
        printed = f"{match['rate']} {match['unit']}/sec"
        yield self.measure("throughput", shown * factor, "B/s", printed, duration_s=seconds, bytes=size, **conditions)
