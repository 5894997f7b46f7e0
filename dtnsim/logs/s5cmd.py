"""s5cmd cp --show-progress: ``50.00% ━━━━──── 11.02 GB / 22.04 GB (8.78 MB/s) 20m55s (32/32)``.

Units: ``kB``, ``MB``, ``GB`` are powers of 1000 (s5cmd ``progressbar.go`` sets pb's SIBytesPrefix; checked: 11.02 GB
at 8.78 MB/s take 1255 s, printed 20m55s). The rate is the mean since the start. Releases up to 2.2.2 may count the
total twice and stop at 50 % (issue 680): a copy whose files are all there, ``(32/32)``, is complete all the same.
``ERROR "cp ..."`` is a failure. Without the option s5cmd prints no rate.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs._net import failed, parts_s
from dtnsim.logs._progress import Progress, ProgressParser
from dtnsim.logs.base import DECIMAL, Evidence, Record
from dtnsim.logs.measurement import Condition, Status

_N: Final = r"\d++(?:\.\d++)?"
_LINE: Final = re.compile(
    rf"(?<![\d.])(?P<got>{_N}) (?P<gu>[kMGTP]?)B / (?P<of>{_N}) (?P<ou>[kMGTP]?)B "
    rf"\((?P<rate>{_N}) (?P<ru>[kMGTP]?)B/s\) "
    r"(?P<spent>[0-9a-zµ.]++) \((?P<done>\d++)/(?P<files>\d++)\)"
)
_ERROR: Final = re.compile(r'^\s*+ERROR "(?:cp|mv|sync) .{1,300}')


class S5cmd(ProgressParser):
    """Progress bars and errors."""

    tool = "s5cmd"
    evidence = Evidence.TRANSFER
    words = ("ERROR",)
    shape = r" [kMGTP]?B /  [kMGTP]?B \( [kMGTP]?B/s\) "
    needs = ("B/s) ",)
    commands = ("s5cmd",)

    def feed(self, text: str) -> Iterable[Record]:
        """One line."""
        if "B/s) " in text and "% " in text:
            return self._line(text)
        if text.lstrip().startswith("ERROR") and (problem := _ERROR.match(text)) is not None:
            return (failed(self, problem[0]),)
        return ()

    def _line(self, text: str) -> Iterator[Record]:
        found = None
        for found in _LINE.finditer(text):  # noqa: B007 (redraws may be joined: the last counts)
            pass
        if found is None:
            return
        moved = float(found["got"]) * DECIMAL[found["gu"]]
        total = float(found["of"]) * DECIMAL[found["ou"]]
        rate = float(found["rate"]) * DECIMAL[found["ru"]]
        every = found["done"] == found["files"] != "0"
        status: Status = "complete" if every or moved == total else "partial"
        known: dict[str, Condition] = {"files": int(found["done"])}
        if (spent := parts_s(found["spent"])) and rate > 0 and abs(moved / rate - spent) > 0.05 * spent + 1:
            yield self.unread(found[0], f"bytes and time give {moved / spent:.4g} B/s")
        printed = f"{found['rate']} {found['ru']}B/s"
        yield from self.hold(Progress(moved, total, rate, printed, self.ctx.line, status, known))
