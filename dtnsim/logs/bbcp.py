"""bbcp: progress in its three forms, file lines, and the closing line.

Units: ``KB MB GB`` = 2^10, 2^20, 2^30 B (bbcp ``bbcp_Config.C``, Scale; ``/1024.0`` in older ``bbcp.C``).

- ``At 140506 17:33:18 copy 20% complete; 89998.2 KB/s`` (before 2005) and ``170307 15:40:36 3% done; 425.7
  MB/s``: R is the mean since the start of the file (``bbcp_ProgMon.C``: bytes so far / elapsed time), so the ramp
  and every slow spell are smeared out. Each becomes a record ``average="running"``, and where the digits carry it
  a second one, ``derived="differentiated"``: the mean since the line before.
- ``8% done; 1006.2 MB/s, avg 1006.2 MB/s`` (with ``-v``): the first is the rate since the line before. Versions
  before 2015 print the two unit letters the wrong way round (same source: the prefix of one rate is
  computed, that of the other printed); seen when the figures differ by about 1024, and put right.

The headline is ``N files copied at effectively R`` (from the start of the program to its end); next the line
``File F created; N bytes at R`` when there is one file; a run with neither has its last running mean as
``partial``. "Copying 0 files and 0 links" is normal for a single file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from dtnsim.logs._declared import Found, LinesParser, Match, reads
from dtnsim.logs._numbers import binary_size
from dtnsim.logs.base import Conditions, Evidence, Record, anew, located

_FAILED: Final = re.compile(
    r"(?<!\S)bbcp(?:@\S+)?: (?!Warning|Creating|Copying|Indexing|Appending|\d{6})\S.*"
    r"(?:failed|[Ee]rror|denied|refused|[Uu]nable|[Ii]nvalid|not found|No such|timed out|exists|closed|space|abort).*"
)
_DAY: Final = 86400.0


@dataclass(slots=True)
class _Run:
    """One run of bbcp."""

    known: Conditions = field(default_factory=dict)
    last: tuple[float, str, int] | None = None  # running mean [B/s], as printed, line
    clock: float | None = None  # of the line before [s]
    elapsed: float | None = None  # from the start of the file to the line before, as far as is known [s]
    waiting: bool = False  # only the first line was seen
    mean: tuple[float, float] | None = None  # running mean of the line before, half of its last digit [B/s]
    files: int = 0
    file: tuple[float, str, int, Conditions] | None = None
    closed: bool = False


class Bbcp(LinesParser):
    """Progress, file and closing lines of bbcp."""

    tool = "bbcp"
    evidence = Evidence.TRANSFER
    words = "bbcp effectively created"

    _run = anew(_Run)

    def feed(self, text: str) -> Iterable[Record]:
        if not self._run.known:
            self._run.known = {**self.copy(), **self.where}
        return super().feed(text)

    @reads(
        r"bbcp: (?:At )?(?:(?P<day>\d{6}) +(?P<h>\d\d):(?P<m>\d\d):(?P<s>\d\d) +)?(?:copy )?(?P<share>\d+%|not) "
        r"(?:complete|done); <rate:num> <u:k>B/s(?:, avg <avg:num> <au:k>B/s)?"
    )
    def _progress(self, found: Match) -> Iterator[Record]:
        run = self._run
        if run.closed:
            run = self._run = _Run(dict(run.known))
        rate, printed = binary_size(found["rate"], found["u"]), f"{found['rate']} {found['u']}B/s"
        share: Conditions = {} if found["share"] == "not" else {"share": int(found["share"][:-1]) / 100}
        if found["avg"] is None:
            running = (rate, printed, found["rate"])
        else:
            rate, mean, printed, text = _ordered(found)
            running = (mean, text, found["avg"])
            known = {**run.known, **share, "interval": True, "average": "interval"}
            yield self.measure("throughput", rate, printed, **known)
        known = {**run.known, **share, "interval": True, "average": "running"}
        yield self.measure("throughput", running[0], running[1], **known)
        run.last = (*running[:2], self.ctx.line)
        if found["avg"] is None and found["day"] is not None:
            yield from self._differentiated(run, running[0], running[2], found)

    def _differentiated(self, run: _Run, mean: float, digits: str, found: Match) -> Iterator[Record]:
        """The rate since the line before, where rounding leaves at least one good digit.

        The monitor reports at a fixed period from the start of the file on: the first line comes after
        one period, which is the distance to the second.
        """
        clock = int(found["day"][4:]) * _DAY + int(found["h"]) * 3600.0 + int(found["m"]) * 60.0 + int(found["s"])
        half = 0.5 * 10.0 ** -len(digits.partition(".")[2]) * (mean / float(digits) if float(digits) else 0.0)
        (before, run.clock), (last, run.mean) = (run.clock, clock), (run.mean, (mean, half))
        if before is None:
            run.waiting = True
            return
        step = clock - before
        if step <= 0 or last is None:
            run.elapsed = None
            return
        if run.elapsed is None and run.waiting:
            run.elapsed, run.waiting = step, False
        if run.elapsed is not None:
            start, end = run.elapsed, run.elapsed + step
            run.elapsed = end
            rate, error = (mean * end - last[0] * start) / step, (half * end + last[1] * start) / step
            if rate > 0 and error <= 0.1 * rate:
                known: Conditions = {**run.known, "interval": True, "derived": "differentiated"}
                yield self.measure("throughput", rate, "", known | {"start_s": start, "end_s": end})

    @reads(r"File (?P<file>\S.{0,400}?) created; <size:int> bytes at <rate:num> <u:k>B/s")
    def _file(self, found: Match) -> Record:
        run = self._run
        run.files, size = run.files + 1, int(found["size"])
        known: Conditions = {**run.known, "file": found["file"], "file_B": size, "operation": "file"}
        rate, printed = binary_size(found["rate"], found["u"]), f"{found['rate']} {found['u']}B/s"
        if size == 0 or rate == 0:
            return self.unread(found[0], "no bytes were transferred: no rate")
        run.file = (rate, printed, self.ctx.line, known)
        return self.measure("throughput", rate, printed, {**known, "interval": True})

    @reads(r"(?<!\d)<n:int> files? copied at effectively <rate:num> <u:k>B/s")
    def _closing(self, found: Match) -> Iterator[Record]:
        run, rate = self._run, binary_size(found["rate"], found["u"])
        run.closed = True
        known: Conditions = {**run.known, "files": int(found["n"])}
        if run.file is not None and run.files == 1:
            known |= {"file": run.file[3].get("file"), "file_B": run.file[3].get("file_B")}
        elif int(found["n"]) > 1:
            known.pop("file", None)
        yield self.rate(rate, f"{found['rate']} {found['u']}B/s", known, text=found[0])

    @reads(r"bbcp: Creating (?P<file>\S.*)$")
    def _creating(self, found: Match) -> None:
        run = self._run
        run.clock = run.elapsed = run.mean = None
        run.waiting, run.known["file"] = False, found["file"]

    def other(self, text: str) -> Found:
        if (problem := located(_FAILED, text, "bbcp: ", "bbcp@")) is None:
            return None
        run, self._run = self._run, _Run(self._run.known)
        return self.failure(problem[0], **run.known)

    def settle(self) -> Iterator[Record]:
        run, self._run = self._run, _Run()
        if run.file is not None and run.files == 1 and not run.closed:
            rate, printed, line, known = run.file
            yield self.measure("throughput", rate, printed, line=line, **known)
        elif run.last is not None and not run.files and not run.closed:
            rate, printed, line = run.last
            known = {**run.known, "average": "running"}
            yield self.measure("throughput", rate, printed, status="partial", line=line, **known)


def _ordered(found: Match) -> tuple[float, float, str, str]:
    """(rate, mean, rate as printed, mean as printed) of the verbose form, swapped letters put right."""
    rate, mean = binary_size(found["rate"], found["u"]), binary_size(found["avg"], found["au"])
    if found["u"] != found["au"] and min(rate, mean) > 0 and max(rate, mean) / min(rate, mean) > 100:
        swapped = binary_size(found["rate"], found["au"]), binary_size(found["avg"], found["u"])
        if max(swapped) < 100 * min(swapped):
            rate, mean = swapped
    return rate, mean, f"{found['rate']} {found['u']}B/s", f"avg {found['avg']} {found['au']}B/s"
