"""aws s3 cp, sync and mv: the progress line of aws-cli 1.11.40 and later.

Units: ``KiB``, ``MiB``, ``GiB`` and ``Bytes``, powers of 1024 (aws-cli ``customizations/s3/utils.py``,
``human_readable_size``). The rate is the mean since the start, listing and connecting among it: of small copies it
says little. The line is redrawn; the last drawing counts. ``Completed`` of all bytes is complete, ``~`` (not all
listed yet) or less is ``partial``. ``upload failed:`` is a failure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs._net import failed
from dtnsim.logs._progress import Progress, ProgressParser
from dtnsim.logs.base import BINARY, Evidence, Record
from dtnsim.logs.measurement import Condition, Status

_N: Final = r"\d++(?:\.\d++)?"
_UNIT: Final = r"(?:Bytes|[KMGTP]iB)"
_LINE: Final = re.compile(
    rf"Completed (?P<got>{_N}) (?P<gu>{_UNIT})/(?P<more>~?)(?P<of>{_N}) (?P<ou>{_UNIT}) "
    rf"\((?P<rate>{_N}) (?P<ru>{_UNIT})/s\) with (?P<left>~?\d++) file\(s\) remaining"
)
_DONE: Final = re.compile(r"^\s*+(?P<what>upload|download|copy|move): (?P<from>\S.{0,300}?) to (?P<to>\S.{0,300})")
_FAILED: Final = re.compile(r"^\s*+(?:upload|download|copy|move) failed: .{1,300}")
_DIRECTIONS: Final = {"upload": "send", "download": "receive"}


class AwsS3(ProgressParser):
    """Progress lines, lines of files, failures."""

    tool = "aws s3"
    evidence = Evidence.TRANSFER
    words = ("Completed", "upload", "download", "copy", "move", "remaining")
    commands = ("aws",)

    def feed(self, text: str) -> Iterable[Record]:
        """One line."""
        if "file(s) remaining" in text:
            return self._line(text)
        if "s3://" not in text:
            return ()
        done = _DONE.match(text)
        if done is not None:
            held = self._held
            if held is not None:
                count = held.known.get("files")
                held.known["files"] = (count if isinstance(count, int) else 0) + 1
                if (direction := _DIRECTIONS.get(done["what"])) is not None:
                    held.known["direction"] = direction
            return ()
        if (problem := _FAILED.match(text)) is not None:
            return (failed(self, problem[0]),)
        return ()

    def _line(self, text: str) -> Iterator[Record]:
        found = None
        for found in _LINE.finditer(text):  # noqa: B007 (redraws may be joined: the last counts)
            pass
        if found is None:
            return
        moved, total = _bytes(found["got"], found["gu"]), _bytes(found["of"], found["ou"])
        whole = not found["more"] and (found["got"], found["gu"]) == (found["of"], found["ou"])
        status: Status = "complete" if whole else "partial"
        held = self._held
        known: dict[str, Condition] = {}
        if held is not None and moved >= held.moved:
            known = {key: held.known[key] for key in ("files", "direction") if key in held.known}
        rate = _bytes(found["rate"], found["ru"])
        printed = f"{found['rate']} {found['ru']}/s"
        yield from self.hold(Progress(moved, total, rate, printed, self.ctx.line, status, known))


def _bytes(text: str, unit: str) -> float:
    return float(text) * BINARY[unit.removesuffix("Bytes").removesuffix("iB")]
