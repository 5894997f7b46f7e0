"""When a figure of a log was measured: stamps in the log at or before its line, or in the name of its file."""

import re
from bisect import bisect_right
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Final

from dtnsim.logs.measurement import Measurement

#: largest log that is searched for stamps, and the most of them that are kept
_LARGEST_B: Final = 64 * 2**20
_MOST: Final = 200_000
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH: Final = r"(?P<month>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_CLOCK: Final = r"(?P<h>\d\d):(?P<m>\d\d)(?::(?P<s>\d\d))?"
#: ``Tue Mar  3 10:11:12 CET 2020`` (date, ctime, fio); ``Tue 03 Mar 2020 10:11:12``; ``2020-03-03T10:11``; a count of
#: seconds as JSON has it
_C: Final = re.compile(rf"\b{_MONTH} +(?P<day>\d{{1,2}}) {_CLOCK}(?: [AP]M)?(?: [A-Z]{{2,5}})? (?P<year>20\d\d)\b")
_MAIL: Final = re.compile(rf"\b(?P<day>\d{{1,2}}) {_MONTH} (?P<year>20\d\d),? {_CLOCK}")
_ISO: Final = re.compile(rf"(?<!\d)(?P<year>20\d\d)-(?P<month>\d\d)-(?P<day>\d\d)[T ]{_CLOCK}")
_EPOCH: Final = re.compile(r'"(?:timestamp|timesecs|time_t|epoch)"\s*:\s*(?P<seconds>1\d{9})\b')
_NAME: Final = re.compile(
    r"(?<!\d)(?P<year>20\d\d)(?P<mark>[-_.]?)(?P<month>[01]\d)(?P=mark)(?P<day>[0-3]\d)(?!\d)"
    r"(?:[T_-]?(?P<h>[0-2]\d)[:-]?(?P<m>[0-5]\d)(?:[:-]?(?P<s>[0-5]\d))?)?"
)


def when(m: Measurement) -> datetime | None:
    """When a figure was measured (UTC where the log names no zone); None where nothing says it."""
    for key in ("end", "time"):  # of the run itself: GridFTP's log, iperf3's JSON
        text = m.conditions.get(key)
        if isinstance(text, str):
            match = re.fullmatch(r"(20\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)", text)
            stamp = _date(*map(int, match.groups())) if match else stamp_of(text)
            if stamp is not None:
                return stamp
    if m.file is None:
        return None
    lines, stamps = _stamps(m.file)
    index = bisect_right(lines, m.line or 0)
    if index:
        return stamps[index - 1]
    return stamp_of_name(Path(m.file).name)


def stamp_of(text: str) -> datetime | None:
    """The first stamp in a line; None where there is none."""
    for pattern in (_C, _ISO, _MAIL):
        if (match := pattern.search(text)) is not None:
            return _parsed(match)
    if (match := _EPOCH.search(text)) is not None:
        return datetime.fromtimestamp(int(match["seconds"]), UTC)
    return None


def stamp_of_name(name: str) -> datetime | None:
    """The stamp in a file's name, like ``dd-2020-03-03T101112.log`` or ``fio_20200303.json``."""
    match = _NAME.search(name)
    return _parsed(match) if match is not None else None


def _parsed(match: re.Match[str]) -> datetime | None:
    month = match["month"]
    number = int(month) if month.isdigit() else _MONTHS.index(month.lower()) + 1
    return _date(int(match["year"]), number, int(match["day"]), *(int(match[k] or 0) for k in ("h", "m", "s")))


def _date(year: int, month: int, day: int, hour: int, minute: int, second: int) -> datetime | None:
    try:
        return datetime(year, month, day, hour, minute, min(second, 59), tzinfo=UTC)
    except ValueError:
        return None


@lru_cache(maxsize=64)
def _stamps(file: str) -> tuple[list[int], list[datetime]]:
    """Lines of a log that carry a stamp, and the stamps."""
    lines: list[int] = []
    stamps: list[datetime] = []
    try:
        path = Path(file)
        if path.stat().st_size > _LARGEST_B:
            return lines, stamps
        with path.open(encoding="utf-8", errors="replace") as text:
            for number, line in enumerate(text, 1):
                stamp = stamp_of(line[:400]) if ":" in line else None
                if stamp is not None and len(lines) < _MOST:
                    lines.append(number)
                    stamps.append(stamp)
    except OSError:
        pass
    return lines, stamps
