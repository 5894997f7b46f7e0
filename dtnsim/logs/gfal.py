"""gfal-copy of gfal2-util: ``Copying SOURCE   [DONE]  after 3s``, and ``Copying N bytes SOURCE => TARGET`` with ``-v``.

Units: bytes, and whole seconds, cut off (``resolution_s``): a copy of ``0s`` has no duration. The size is only
printed with ``-v``; then the rate is bytes over that time. ``[FAILED]`` is a failure, as is ``gfal-copy error:``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs._net import host_of
from dtnsim.logs.base import Conditions, Evidence, LineParser, Record

_DONE: Final = re.compile(
    r"Copying (?P<source>\S{1,600}) {1,9}\[(?P<state>DONE|FAILED)\] {1,4}after (?P<seconds>\d{1,7})s"
)
_SIZE: Final = re.compile(r"^\s*+Copying (?P<size>\d++) bytes (?P<source>\S{1,600}) {1,4}=> {1,4}(?P<target>\S{1,600})")
_ERROR: Final = re.compile(r"^\s*+gfal-copy error: .{1,300}")


class GfalCopy(LineParser):
    """Lines of copies."""

    tool = "gfal-copy"
    evidence = Evidence.TRANSFER
    words = ("Copying", "gfal")
    commands = ("gfal-copy",)

    def forget(self) -> None:
        self._size: dict[str, tuple[int, str]] = {}

    def feed(self, text: str) -> Iterable[Record]:
        if "[DONE]" in text or "[FAILED]" in text:
            found = None
            for found in _DONE.finditer(text):  # noqa: B007 (redraws may be joined: the last counts)
                pass
            return () if found is None else self._copied(found)
        if (size := _SIZE.match(text)) is not None:
            self._size = {size["source"]: (int(size["size"]), size["target"])}
            return ()
        if (problem := _ERROR.match(text)) is not None:
            return (self.failure(problem[0], **host_of(self.ctx)),)
        return ()

    def _copied(self, found: re.Match[str]) -> Iterator[Record]:
        size, target = self._size.pop(found["source"], (0, self._target()))
        known: Conditions = {**host_of(self.ctx), "source": found["source"], "target": target}
        if found["state"] == "FAILED":
            yield self.failure(found[0], **known)
            return
        seconds = int(found["seconds"])
        if seconds == 0:
            yield self.unread(found[0], "a copy of less than a second: no duration, no rate")
            return
        known |= {"resolution_s": 1.0, "bytes": size or None}
        printed = f"after {seconds}s"
        yield self.measure("duration", seconds, "s", printed, **known)
        if size:
            rate = size / seconds
            yield self.record("throughput", rate, "B/s", f"{size} B {printed}", {**known, "duration_s": seconds})

    def _target(self) -> str | None:
        args = self.ctx.args("gfal-copy") or []
        return args[-1] if len(args) > 1 and not args[-1].startswith("-") else None
