"""aws s3 cp, sync and mv: the progress line of aws-cli 1.11.40 and later.

Units: ``KiB``, ``MiB``, ``GiB`` and ``Bytes``, powers of 1024 (aws-cli ``customizations/s3/utils.py``,
``human_readable_size``). The rate is the mean since the start, listing and connecting among it: of small copies it
says little. The line is redrawn; the last drawing counts. ``Completed`` of all bytes is complete, ``~`` (not all
listed yet) or less is ``partial``. ``upload failed:`` is a failure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from dtnsim.logs._declared import ProgressParser, declare
from dtnsim.logs._numbers import BINARY
from dtnsim.logs.base import Conditions, Evidence, Record
from dtnsim.logs.measurement import Status

_UNIT: Final = r"(?:Bytes|[KMGTP]iB)"
_DONE: Final = re.compile(r"^\s*+(?P<what>upload|download|copy|move): (?P<from>\S.{0,300}?) to (?P<to>\S.{0,300})")
_DIRECTIONS: Final = {"upload": "send", "download": "receive"}


class AwsS3(ProgressParser):
    """Progress lines, lines of files, failures."""

    tool = "aws s3"
    evidence = Evidence.TRANSFER
    words = ("Completed", "upload", "download", "copy", "move", "remaining")
    commands = ("aws",)
    line = declare(
        "file(s) remaining",
        rf"Completed (?P<got>\d++(?:\.\d++)?) (?P<gu>{_UNIT})/",
        rf"(?P<more>~?)(?P<of>\d++(?:\.\d++)?) (?P<ou>{_UNIT}) ",
        rf"\((?P<rate>\d++(?:\.\d++)?) (?P<ru>{_UNIT})/s\) ",
        r"with (?P<left>~?\d++) file\(s\) remaining",
    )
    failures = re.compile(r"^\s*+(?:upload|download|copy|move) failed: .{1,300}")
    units = {"Bytes": 1.0, **{f"{letter}iB": BINARY[letter] for letter in "KMGTP"}}  # noqa: RUF012 (ClassVar of the base)

    def feed(self, text: str) -> Iterable[Record]:
        if self.line.sign in text:
            return super().feed(text)
        if "s3://" not in text:
            return ()
        done = _DONE.match(text)
        if done is None:
            return super().feed(text)
        held = self._held
        if held is not None:
            count = held.known.get("files")
            held.known["files"] = (count if isinstance(count, int) else 0) + 1
            if (direction := _DIRECTIONS.get(done["what"])) is not None:
                held.known["direction"] = direction
        return ()

    def status(self, found: re.Match[str], moved: float, total: float) -> Status:
        """Complete once everything is listed, and as much is moved."""
        return "partial" if found["more"] else super().status(found, moved, total)

    def conditions(self, found: re.Match[str], moved: float) -> Conditions:  # noqa: ARG002 (the base's)
        """What lines of files said of the same copy."""
        held = self._held
        if held is None or moved < held.moved:
            return {}
        return {key: held.known[key] for key in ("files", "direction") if key in held.known}
