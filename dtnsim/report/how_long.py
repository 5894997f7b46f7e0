"""How long a path takes, how fast and how sure, in words; and the time of day at which it ends."""

import datetime as dt
import math
import re
from typing import Final

from dtnsim.ground import units
from dtnsim.ground.errors import InputError
from dtnsim.ground.records import Prediction
from dtnsim.ground.uncertainty import often
from dtnsim.steady import ordering
from dtnsim.steady.scenarios import took

_DAY_S: Final = 86400.0
_TINY_B: Final = 1024  #: mean file below which a rate is told in files [B]
#: below that an end is told to the second
_SOON_S: Final = 3600.0
_CLOCK: Final = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")


def clock(text: str) -> dt.time:
    """A time of day like 22:00."""
    match = _CLOCK.fullmatch(text.strip())
    if match is None:
        raise InputError(f"--start: {text!r} is no time of day; write it like 22:00")
    return dt.time(int(match[1]), int(match[2]))


def how_long(p: Prediction, start: dt.time | None = None, was: Prediction | None = None) -> str:
    """Time and rate with the interval; also the time of day at which transfers from ``start`` on end.

    The time of another answer is told beside it; if of other bytes these are told (fio's size is each job's).
    """
    rate = p.throughput_Bps
    low, middle, high = (units.show(v, "B/s", digits=3) for v in (rate.p10, rate.p50, rate.p90))
    if p.drawn is None:
        return f"at most {middle}"
    if all(t.timed for t in p.problem.transfers):
        return f"about {middle} ({often('runs')}: {low} to {high})"
    time = took(p.drawn.seconds)
    if start is None or time.p90 == float("inf"):
        spread = [time.p50, time.p10, time.p90]
        before, beside = [], ""
        if was is not None and was.drawn is not None:
            moved, told = (sum(t.payload_B for t in each.problem.transfers if not t.timed) for each in (p, was))
            same = math.isclose(moved, told, rel_tol=1e-6)
            before = [took(was.drawn.seconds).p50] if same else []
            beside = " instead of {}" if same else f" for {units.show(moved, 'B', digits=3)}"
        shown = units.in_one_unit([*spread, *before])
        half, quick, slow = units.in_one_unit(spread) if len({_unit(each) for each in shown}) > 1 else shown[:3]
        quick = quick.removesuffix(_unit(slow)).rstrip() if _unit(quick) == _unit(slow) else quick
        return f"about {half}{beside.format(*shown[3:])} ({often('runs')}: {quick} to {slow}), at {pace(p)}"
    quick, half, slow = (_end(v, start) for v in (time.p10, time.p50, time.p90))
    return f"there by {half} ({often('runs')}: {quick} to {slow}), at {pace(p)}"


def pace(p: Prediction) -> str:
    """The rate, or files a second where bytes say nothing: they are tiny, or most of them are there and stay."""
    files, payload_B = (sum(each) for each in zip(*((t.files, t.payload_B) for t in p.transfers), strict=True))
    if payload_B > _TINY_B * files and not resync(p):
        return units.show(p.throughput_Bps.p50, "B/s", digits=3)
    return f"{p.throughput_Bps.p50 * files / payload_B:,.0f} files a second"


def resync(p: Prediction) -> bool:
    """Whether all transfers send but a part of their files, so that a rate of all bytes is none of any wire."""
    return all(ordering.sends(t.tool) for t in p.given.transfers)


def _unit(shown: str) -> str:
    """The unit of a time as it is shown."""
    return shown.rpartition(" ")[2]


def _end(seconds: float, start: dt.time) -> str:
    """The time of day that a duration ends at."""
    days, rest = divmod(start.hour * 3600 + start.minute * 60 + seconds, _DAY_S)
    later = f" on day {int(days) + 1}" if days else ""
    exact = f":{int(rest % 60):02d}" if seconds < _SOON_S else ""
    return f"{int(rest // 3600):02d}:{int(rest % 3600 // 60):02d}{exact}{later}"
