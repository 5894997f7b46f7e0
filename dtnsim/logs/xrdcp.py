"""xrdcp's progress line (XRootD 3.3 and later): ``[16.11GB/16.11GB][100%][====][25.46MB/s]``.

Units: ``kB``, ``MB``, ``GB`` of sizes and rates are powers of 1024 (XRootD ``XrdClUtils.cc``, ``BytesToString``,
which prints four digits: ``1.024e+04GB``). The rate is the mean since the start over whole seconds, of which a copy
of less than one counts as one (``resolution_s``; 26.51 kB are printed at 26.51kB/s): small files look slow. The line
is redrawn; the last drawing counts. An error after it (``Run: [ERROR] ...``) makes the copy a failure; a line of less
than 100 % is ``partial``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import ClassVar, Final

from dtnsim.logs._declared import Progress, ProgressParser, declare
from dtnsim.logs._net import options, positive_int
from dtnsim.logs.base import BINARY, Conditions, Evidence, Record
from dtnsim.logs.measurement import Status

_N: Final = r"\d++(?:\.\d++)?(?:e\+\d\d)?"
_OPTIONS: Final = {
    "-S": "streams", "--streams": "streams", "-y": "sources", "--sources": "sources", "-f": "force!",
    "--parallel": "parallel",
}  # fmt: skip


class Xrdcp(ProgressParser):
    """Progress lines and errors."""

    tool = "xrdcp"
    evidence = Evidence.TRANSFER
    words = ("kB", "MB", "GB", "TB", "B", "ERROR", "FATAL")
    beside: ClassVar[Mapping[str, tuple[str, ...]]] = dict.fromkeys(("kB", "MB", "GB", "TB", "B"), ("%][",))
    commands = ("xrdcp", "xrdcopy")
    line = declare(
        "%][",
        rf"\[(?P<got>{_N})(?P<gu>[kMGTP]?)B/(?P<of>{_N})(?P<ou>[kMGTP]?)B\]",
        r"\[ *+(?P<share>\d{1,3})%\]",
        r"\[[=> ]{0,80}+\]",
        rf"\[(?P<rate>{_N})(?P<ru>[kMGTP]?)B/s\]",
    )
    failures = re.compile(r"^\s*(?:Run: )?\[(?:ERROR|FATAL)\] .*")
    units = BINARY

    def same(self, progress: Progress, held: Progress) -> bool:  # noqa: ARG002 (the base's signature)
        """A line that overwrites another is of the same copy."""
        return self.ctx.after_redraw

    def status(self, found: re.Match[str], moved: float, total: float) -> Status:  # noqa: ARG002 (the base's)
        """Complete at 100 %."""
        return "complete" if found["share"] == "100" else "partial"

    def conditions(self, found: re.Match[str] | None, moved: float) -> Conditions:  # noqa: ARG002
        """What the command line says; the time is whole seconds."""
        given, paths = options(self.ctx.args(*self.commands), _OPTIONS)
        known: Conditions = {"streams": positive_int(given.get("streams"))}
        if len(paths) > 1:
            known["source"], known["target"] = paths[-2], paths[-1]
        return known if found is None else {**known, "resolution_s": 1.0}

    def failed(self, message: str) -> Iterable[Record]:
        """An error makes the copy a failure."""
        if self._held is None and self.ctx.args(*self.commands) is None:
            return ()
        held, self._held = self._held, None
        known = self.conditions(None, 0.0) if held is None else {**held.known, "resolution_s": None}
        return (self.failure(message, **known),)
