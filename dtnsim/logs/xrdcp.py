"""xrdcp's progress line (XRootD 3.3 and later): ``[16.11GB/16.11GB][100%][====][25.46MB/s]``.

Units: ``kB``, ``MB``, ``GB`` of sizes and rates are powers of 1024 (XRootD ``XrdClUtils.cc``, ``BytesToString``,
which prints four digits: ``1.024e+04GB``). The rate is the mean since the start over whole seconds, of which a copy
of less than one counts as one (``resolution_s``; 26.51 kB are printed at 26.51kB/s): small files look slow. The line
is redrawn; the last drawing counts. An error after it (``Run: [ERROR] ...``) makes the copy a failure; a line of less
than 100 % is ``partial``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, Final

from dtnsim.logs._net import binary_size, failed, figure, host_of, options, positive_int
from dtnsim.logs.base import Evidence, LineParser, Record
from dtnsim.logs.measurement import Condition, Status

_N: Final = r"\d++(?:\.\d++)?(?:e\+\d\d)?"
_LINE: Final = re.compile(
    rf"\[(?P<got>{_N})(?P<gu>[kMGTP]?)B/(?P<of>{_N})(?P<ou>[kMGTP]?)B\]\[ *+(?P<share>\d{{1,3}})%\]"
    rf"\[[=> ]{{0,80}}+\]\[(?P<rate>{_N})(?P<ru>[kMGTP]?)B/s\]"
)
_ERROR: Final = re.compile(r"^\s*(?:Run: )?\[(?:ERROR|FATAL)\] .*")
_OPTIONS: Final = {
    "-S": "streams", "--streams": "streams", "-y": "sources", "--sources": "sources", "-f": "force!",
    "--parallel": "parallel",
}  # fmt: skip


class Xrdcp(LineParser):
    """Progress lines and errors."""

    tool = "xrdcp"
    evidence = Evidence.TRANSFER
    words = ("kB", "MB", "GB", "TB", "B", "ERROR", "FATAL")
    beside: ClassVar[Mapping[str, tuple[str, ...]]] = dict.fromkeys(("kB", "MB", "GB", "TB", "B"), ("%][",))
    commands = ("xrdcp", "xrdcopy")

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._held: tuple[re.Match[str], int, dict[str, Condition]] | None = None

    def feed(self, text: str) -> Iterable[Record]:
        """One line."""
        if "%][" in text:
            last = None
            for last in _LINE.finditer(text):  # noqa: B007 (redraws may be joined: the last counts)
                pass
            if last is None:
                return ()
            done = () if self.ctx.after_redraw else list(self.settle())
            self._held = last, self.ctx.line, {**self._conditions(), **host_of(self.ctx)}
            return done
        if "[ERROR]" in text or "[FATAL]" in text:
            return self._error(text)
        return ()

    def _error(self, text: str) -> Iterator[Record]:
        found = _ERROR.match(text)
        if found is None or (self._held is None and self.ctx.args(*self.commands) is None):
            return
        held, self._held = self._held, None
        yield failed(self, found[0], held[2] if held is not None else self._conditions())

    def settle(self) -> Iterator[Record]:
        """Figures of what is over."""
        held, self._held = self._held, None
        if held is None:
            return
        found, line, known = held
        size, rate = binary_size(found["got"], found["gu"]), binary_size(found["rate"], found["ru"])
        if size <= 0 or rate <= 0:
            yield self.unread(found[0], "no bytes were transferred: no rate", line=line)
            return
        status: Status = "complete" if found["share"] == "100" else "partial"
        more: dict[str, Condition] = {**known, "bytes": size, "duration_s": size / rate, "resolution_s": 1.0}
        printed = f"{found['rate']}{found['ru']}B/s"
        yield figure(self, "throughput", rate, "B/s", printed, more, status=status, line=line)

    def _conditions(self) -> dict[str, Condition]:
        args = self.ctx.args(*self.commands)
        given, paths = options(args, _OPTIONS)
        known: dict[str, Condition] = {"streams": positive_int(given.get("streams"))}
        if len(paths) > 1:
            known["source"], known["target"] = paths[-2], paths[-1]
        return known
