"""Times that come again, as people write them: ``every: 1 day``, ``at: 02:00``, windows, and cron's five fields.

Time is counted in seconds from the start of the simulation, whose weekday and hour are given by a date. There are no
time zones and no summer time: all hours are of one clock.
"""

import datetime as dt
import re
from functools import lru_cache
from typing import Final

import numpy as np

from dtnsim.physics._arrays import FloatArray as Array

DAY_S: Final = 86400.0
WEEK_S: Final = 7 * DAY_S
_DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_CLOCK: Final = re.compile(r"([01]?\d|2[0-4]):([0-5]\d)(?::([0-5]\d))?\Z")
#: field of cron: (least, most, names)
_FIELDS: Final = (
    (0, 59, ()), (0, 23, ()), (1, 31, ()), (1, 12, _MONTHS), (0, 7, ("sun", *_DAYS)),
)  # fmt: skip


def clock(text: str) -> float:
    """Seconds after midnight of ``02:30``; ``24:00`` is the end of the day; `ValueError` where it is no time of day."""
    match = _CLOCK.match(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a time of day; write it like 02:30")
    seconds = int(match[1]) * 3600.0 + int(match[2]) * 60.0 + int(match[3] or 0)
    if seconds > DAY_S:
        raise ValueError(f"{text!r} is after midnight; write a time up to 24:00")
    return seconds


def weekdays(text: str) -> frozenset[int]:
    """Days of the week of ``mon-fri``, ``sat,sun`` or ``daily``; Monday is 0; `ValueError` for anything else."""
    if text.strip().lower() in ("daily", "all", "*"):
        return frozenset(range(7))
    days: set[int] = set()
    for part in text.lower().split(","):
        ends = [p.strip()[:3] for p in part.split("-")]
        if len(ends) > 2 or any(e not in _DAYS for e in ends):
            raise ValueError(f"{text!r} is not days of the week; write them like mon-fri or sat,sun")
        first, last = _DAYS.index(ends[0]), _DAYS.index(ends[-1])
        days |= {(first + n) % 7 for n in range((last - first) % 7 + 1)}
    return frozenset(days)


class Cron:
    """Cron's five fields: minute, hour, day of the month, month, day of the week; `ValueError` for anything else.

    As in cron, where both days are restricted, either will do.
    """

    def __init__(self, text: str) -> None:
        fields = text.split()
        if len(fields) != len(_FIELDS):
            raise ValueError(f"{text!r} has {len(fields)} fields; cron has five, like '30 2 * * mon-fri'")
        parsed = [_field(f, *limits) for f, limits in zip(fields, _FIELDS, strict=True)]
        self.minutes, self.hours, self.days, self.months = parsed[:4]
        self.weekdays = {(d - 1) % 7 for d in parsed[4]}
        self._either = fields[2] != "*" and fields[4] != "*"

    def _runs_on(self, day: dt.date) -> bool:
        if day.month not in self.months:
            return False
        dates, days = day.day in self.days, day.weekday() in self.weekdays
        return dates or days if self._either else dates and days

    def times(self, begin: dt.datetime, until_s: float) -> Array:
        """Times from ``begin`` on, before ``until_s`` seconds later [s]."""
        offset = (begin - dt.datetime.combine(begin.date(), dt.time())).total_seconds()
        within = np.array([h * 3600.0 + m * 60.0 for h in sorted(self.hours) for m in sorted(self.minutes)])
        count = int((until_s + offset) // DAY_S) + 1
        days = [n for n in range(count) if self._runs_on(begin.date() + dt.timedelta(days=n))]
        times = (np.array(days, float)[:, None] * DAY_S + within[None, :] - offset).ravel()
        return np.asarray(times[(times >= 0) & (times < until_s)])


def _field(text: str, low: int, high: int, names: tuple[str, ...]) -> set[int]:
    """Numbers of one field: ``*``, lists, ranges and steps."""
    numbers: set[int] = set()
    for part in text.lower().split(","):
        span, _, step = part.partition("/")
        first, dash, last = span.partition("-")
        every = int(step) if step.isdigit() and int(step) else 0 if step else 1
        ends = (low, high) if span == "*" else (_number(first, names, low), _number(last or first, names, low))
        if step and not dash and span != "*":
            ends = (ends[0], high)
        if not every or not low <= ends[0] <= ends[1] <= high:
            raise ValueError(f"{text!r} is not a field of cron from {low} to {high}; write it like *, 5, 1-5 or */10")
        numbers |= set(range(ends[0], ends[1] + 1, every))
    return numbers


def _number(text: str, names: tuple[str, ...], low: int) -> int:
    if text[:3] in names:
        return names.index(text[:3]) + low
    return int(text) if text.isdigit() else -1


@lru_cache(maxsize=64)
def date(text: str) -> dt.datetime:
    """A day, or a day and a time: ``2026-01-05`` or ``2026-01-05 08:00``; `ValueError` for anything else."""
    try:
        parsed = dt.datetime.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(f"{text!r} is not a date; write it like 2026-01-05") from None
    return parsed if parsed.tzinfo is None else parsed.astimezone(dt.UTC).replace(tzinfo=None)


def of_week(times: Array, begin: dt.datetime) -> Array:
    """Seconds since the Monday before each time [s]."""
    start = begin.weekday() * DAY_S + (begin - dt.datetime.combine(begin.date(), dt.time())).total_seconds()
    return np.asarray((times + start) % WEEK_S)
