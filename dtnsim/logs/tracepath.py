"""tracepath and tracepath6 of iputils.

Units: milliseconds; ``pmtu`` in bytes of the IP packet. ``asymm N`` says that the way back seems to have N
hops. A hop may print several lines (a lower path MTU found there, a late answer after it). The headline is
the RTT of the host that is ``reached``, the path MTU of the ``Resume`` line and the number of hops; without
``reached`` there is no RTT of the target.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from dtnsim.logs.base import Command, Conditions, Evidence, LineParser, Record, decimal

_HOP: Final = re.compile(
    r"^\s*(?P<hop>\d{1,3})(?P<maybe>\?)?:\s+(?P<host>\S+)(?:\s+\((?P<address>[\da-fA-F.:]+)\))?(?P<rest>\s.*)?$"
)
_TIME: Final = re.compile(r"(?<![\d.,])(?P<ms>\d+(?:[.,]\d+)?) ?ms\b")
_PMTU: Final = re.compile(r"\bpmtu (\d+)")
_ASYMM: Final = re.compile(r"\basymm +(\d+)")
_RESUME: Final = re.compile(r"^\s*Resume: pmtu (?P<mtu>\d+)(?: hops (?P<hops>\d+))?(?: back (?P<back>\d+))?")
_MANY: Final = re.compile(r"^\s*Too many hops: pmtu (\d+)")
_FAILED: Final = re.compile(r"tracepath6?: .*(?:known|unreachable|permitted|resol).*")


class Tracepath(LineParser):
    """Hops and the summary of tracepath."""

    tool = "tracepath"
    evidence = Evidence.WAY
    words = ("pmtu", "reached", "asymm", "tracepath", "LOCALHOST", "reply", "Resume")
    shape = r"^ ?: .*ms"
    commands = ("tracepath", "tracepath6")

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._target: str | None = None
        self._active = False  # a first hop or a command of the tool was seen
        self._last: tuple[int, str] | None = None

    def feed(self, text: str) -> Iterator[Record]:
        resume = _RESUME.search(text)
        if resume is not None:
            yield from self._summary(resume)
            return
        if "Too many hops" in text:
            many = _MANY.search(text)
            if many is not None:
                yield self.unread(text, "the target was not reached")
            return
        hop = _HOP.match(text)
        if hop is not None:
            yield from self._hop(hop)
            return
        problem = _FAILED.search(text)
        if problem is not None:
            yield self.failure(problem[0])

    def on_command(self, command: Command) -> Iterable[Record]:  # noqa: ARG002 (the base's signature)
        """A command ends the path before it."""
        self._active = self.open = False
        return ()

    def close(self) -> Iterable[Record]:
        """A path that stops before its summary leaves its hops only."""
        self._active = self.open = False
        return ()

    def _hop(self, found: re.Match[str]) -> Iterator[Record]:
        rest = found["rest"] or ""
        first = found["maybe"] is not None or found["host"] == "[LOCALHOST]"
        mine = first or "pmtu" in rest or "reached" in rest or "asymm" in rest
        if not (self._active or mine or self.ctx.args("tracepath", "tracepath6") is not None):
            return
        if first or not self._active:
            args = self.ctx.args("tracepath", "tracepath6")
            self._target = args[-1] if args and not args[-1].startswith("-") else None
        self._active = True
        time = _TIME.search(rest)
        if time is None or first:
            return
        address = found["address"] or found["host"]
        known: Conditions = {"hop": int(found["hop"]), "address": address, "target": self._target}
        asymmetric = _ASYMM.search(rest)
        if asymmetric is not None:
            known["hops_back"] = int(asymmetric[1])
        mtu = _PMTU.search(rest)
        if mtu is not None:
            known["mtu_B"] = int(mtu[1])
        value = decimal(time["ms"]) * 1e-3
        if "reached" in rest:
            known["reached"] = True
            if self._last == (int(found["hop"]), address):  # a second probe of the target
                known["interval"] = True
            self._last = (int(found["hop"]), address)
        else:
            known["interval"] = True
        yield self.measure("rtt", value, "s", time[0], **known)

    def _summary(self, found: re.Match[str]) -> Iterator[Record]:
        hops = found["hops"]
        known: Conditions = {"target": self._target, "reached": hops is not None}
        if hops is not None:
            known["hops"] = int(hops)
        yield self.measure("mtu", int(found["mtu"]), "B", f"pmtu {found['mtu']}", **known)
        if hops is not None:
            back = int(found["back"]) if found["back"] else None
            yield self.record("hops", int(hops), "1", f"hops {hops}", {"target": self._target, "hops_back": back})
        self._active, self._last, self._target = False, None, None
