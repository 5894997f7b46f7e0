"""lspci -vv: PCIe link capability and status, payload and read request sizes.

Units: ``8GT/s`` is 1e9 transfers per second and lane. ``link_rate`` is transfers * lanes * line code / 8 in
B/s, the line code being 8/10 for 2.5 and 5 GT/s and 128/130 for 8, 16 and 32 GT/s (PCI Express base
specification); 64 GT/s uses another framing and gets no rate. ``view="status"`` (LnkSta) is what the link
does now, ``view="capability"`` (LnkCap) what the device could; ``(downgraded)`` is kept as a condition. MaxPayload
of DevCtl is the one in use.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs.base import Conditions, Evidence, LineParser, Record

_DEVICE: Final = re.compile(r"^\s*(?P<slot>(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) (?P<name>\S.*)$")
_LINK: Final = re.compile(
    r"^\s*Lnk(?P<what>Cap|Sta):\s.*?Speed (?P<speed>[\d.]+)GT/s(?: \((?P<speed_is>\w+)\))?,\s*"
    r"Width x(?P<width>\d+)(?: \((?P<width_is>\w+)\))?(?=[\s,]|$)"
)
_PAYLOAD: Final = re.compile(r"^\s*(?P<cap>DevCap:\s+)?MaxPayload (\d+) bytes(?:, MaxReadReq (\d+) bytes)?")
_CODES: Final = {2.5: 0.8, 5.0: 0.8, 8.0: 128 / 130, 16.0: 128 / 130, 32.0: 128 / 130}


class Lspci(LineParser):
    """Link lines of each device."""

    tool = "lspci"
    evidence = Evidence.CORRECTS
    words = ("LnkCap", "LnkSta", "MaxPayload", "DevCap", "controller", "bridge", "Class", "Non", "Device")
    shape = r"^\s*(?:[a-f]*:)?[a-f]*:[a-f]* [A-Z]"
    commands = ("lspci",)

    def forget(self) -> None:
        self._device: Conditions = {}

    def feed(self, text: str) -> Iterable[Record]:
        device = _DEVICE.match(text)
        if device is not None:
            self._device = {"slot": device["slot"], "device": device["name"][:200]}
            return ()
        if "Lnk" in text and (link := _LINK.match(text)) is not None:
            return self._link(link)
        if "MaxPayload" in text and (payload := _PAYLOAD.match(text)) is not None:
            return self._payload(payload)
        return ()

    def _link(self, link: re.Match[str]) -> Iterator[Record]:
        speed, width = float(link["speed"]), int(link["width"])
        if width == 0 or speed == 0:
            return
        conditions: Conditions = {
            **self._device,
            "view": {"Cap": "capability", "Sta": "status"}[link["what"]],
            "lanes": width,
            "transfers_per_s": speed * 1e9,
            "speed_is": link["speed_is"],
            "width_is": link["width_is"],
        }
        printed = f"{link['speed']}GT/s x{width}"
        yield self.measure("transfer_rate", speed * 1e9, "1/s", printed, **conditions)
        yield self.measure("lanes", width, "1", printed, **conditions)
        if speed in _CODES:
            yield self.measure("link_rate", speed * 1e9 * width * _CODES[speed] / 8, "B/s", printed, **conditions)

    def _payload(self, match: re.Match[str]) -> Iterator[Record]:
        view = "capability" if match["cap"] else "status"
        yield self.measure("max_payload", int(match[2]), "B", match[2] + " bytes", view=view, **self._device)
        if match[3]:
            yield self.measure("max_read_request", int(match[3]), "B", match[3] + " bytes", **self._device)
