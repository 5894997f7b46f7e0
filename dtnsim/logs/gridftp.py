"""Transfer log of the GridFTP server (``log_transfer``), one line a file in NetLogger form; also wuftpd's and FDT's.

Units: ``NBYTES`` in B, ``BUFFER`` (TCP, 0: the system's) and ``BLOCK`` in B. ``DATE`` is the end and ``START`` the
start, in UTC to the microsecond; versions before 6 print the microseconds without leading zeros, so the digits after
the dot are a count of microseconds (``globus_gridftp_server`` ``globus_i_gfs_log.c``: ``%d`` of ``tv_usec``, later
``%06d``). The rate is computed from them: the time of one file's data, without listing, checksums and what the client
did between files. ``RETR`` leaves the server (``direction="send"``), ``STOR`` comes in. Listings are left out.
``CODE=226`` is success; other codes are failures. ``DEST`` is the other end (0.0.0.0 where several stripes took part).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from dtnsim.logs.base import Conditions, Evidence, LineParser, Record, located

_LINE: Final = re.compile(
    r"DATE=(?P<end>\d{14})\.(?P<end_us>\d{1,6}) HOST=(?P<host>\S++) PROG=(?P<prog>\S++) (?:NL\.EVNT=\S++ )?"
    r"START=(?P<start>\d{14})\.(?P<start_us>\d{1,6}) (?:USER=\S*+ FILE=(?P<file>.*?) )??"
    r"BUFFER=(?P<buffer>\d++) BLOCK=(?P<block>\d++) NBYTES=(?P<bytes>\d++) (?:VOLUME=\S*+ )?STREAMS=(?P<streams>\d++) "
    r"(?:STRIPES=(?P<stripes>\d++) )?DEST=\d?\[(?P<dest>[^\]]*+)\] TYPE=(?P<type>\w++) CODE=(?P<code>\d++)"
    r"(?: TASKID=(?P<task>\S++))?(?: retrans=(?P<retrans>[\d,]++))?"
)
_DIRECTIONS: Final = {"RETR": "send", "ERET": "send", "STOR": "receive", "ESTO": "receive"}
_UNKNOWN: Final = ("0.0.0.0", "")  # noqa: S104 (what the log has for several)


@lru_cache(maxsize=4096)
def _second(stamp: str) -> float:
    return datetime.strptime(stamp, "%Y%m%d%H%M%S").replace(tzinfo=UTC).timestamp()


class GridFtp(LineParser):
    """Lines of the server's transfer log."""

    tool = "gridftp"
    evidence = Evidence.TRANSFER
    words = ("NBYTES",)

    def feed(self, text: str) -> Iterable[Record]:
        """One line: one file."""
        found = located(_LINE, text, "DATE=")
        if found is None:
            if "DATE=" in text and "START=" in text:
                return (self.unread(text, "the line is cut or of an unknown form"),)
            return ()
        if found["type"].upper() not in _DIRECTIONS:
            return ()
        return self._file(found)

    def _file(self, found: re.Match[str]) -> Iterator[Record]:
        size = int(found["bytes"])
        known = self._conditions(found)
        if found["code"][0] != "2":
            yield self.failure(f"{found['type']} CODE={found['code']}", **{**known, "bytes": size})
            return
        seconds = _second(found["end"]) - _second(found["start"])
        seconds += (int(found["end_us"]) - int(found["start_us"])) * 1e-6
        if size == 0 or seconds <= 0:
            why = "no bytes were transferred: no rate" if size == 0 else "no time passed: the clock was set back"
            yield self.unread(f"NBYTES={size}", why)
            return
        known |= {"bytes": size, "duration_s": seconds}
        yield self.measure("throughput", size / seconds, "B/s", f"NBYTES={size} in {seconds:.6f} s", **known)
        yield self.measure("duration", seconds, "s", f"{seconds:.6f} s", **known)
        if found["retrans"]:
            count = sum(int(part) for part in found["retrans"].split(",") if part)
            yield self.measure("retransmits", count, "1", found["retrans"], **known)

    @staticmethod
    def _conditions(found: re.Match[str]) -> Conditions:
        return {
            "host": found["host"],
            "direction": _DIRECTIONS[found["type"].upper()],
            "file": found["file"],
            "streams": int(found["streams"]),
            "stripes": int(found["stripes"]) if found["stripes"] else None,
            "block_B": int(found["block"]) or None,
            "window_B": int(found["buffer"]) or None,
            "peer": found["dest"] if found["dest"] not in _UNKNOWN else None,
            "task": found["task"] if found["task"] not in (None, "none") else None,
            "end": found["end"],
        }
