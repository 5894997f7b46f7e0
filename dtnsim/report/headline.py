"""The answer as one sentence."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, Final

from dtnsim.ground import units
from dtnsim.ground.errors import InputError
from dtnsim.ground.term import plural

if TYPE_CHECKING:
    from dtnsim.ground.records import Prediction
    from dtnsim.steady.goals import Goal

_CLOCK: Final = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_DAY_S: Final = 86400.0
#: below that an end is told to the second
_SOON_S: Final = 3600.0


def clock(text: str) -> dt.time:
    """A time of day like 22:00.

    Raises:
        InputError: it is none.
    """
    found = _CLOCK.fullmatch(text.strip())
    if found is None:
        raise InputError(f"--start: {text!r} is no time of day; write it like 22:00")
    return dt.time(int(found[1]), int(found[2]))


def headline(p: Prediction, *, start: dt.time | None = None, goal: Goal | None = None) -> str:
    """One sentence: what arrives when, how sure that is, and what holds it back.

    ``10 TB in 8 files arrive by 05:10 (80 %: 04:20 to 06:40), at 3.13 Gb/s; P(06:00) = 71 %; nas holds them back.``

    Args:
        p: The answer.
        start: Time of day at which the transfers begin; without it, durations are said.
        goal: A deadline or a rate whose probability belongs into the sentence.
    """
    d, rate, held = p.duration_s, p.throughput_Bps, p.bottleneck
    payload = sum(t.payload_B for t in p.transfers)
    files = sum(t.files for t in p.transfers)
    moved = f"{units.show(payload, 'B')} in {plural(files, 'file')}"
    if any(t.timed for t in p.problem.transfers):
        span = f"(80 %: {units.show(rate.p10, 'B/s', digits=3)} to {units.show(rate.p90, 'B/s', digits=3)})"
        words = [f"{units.show(rate.p50, 'B/s', digits=3)} {span} over {units.show(d.p50, 's')}"]
    else:
        span = f"(80 %: {_when(d.p10, start)} to {_when(d.p90, start)})"
        when = f"by {_when(d.p50, start)}" if start is not None else f"in about {_when(d.p50, None)}"
        words = [f"{moved} arrive {when} {span}, at {units.show(rate.p50, 'B/s', digits=3)}"]
    if goal is not None:
        named = _when(goal.value, start) if goal.kind == "deadline" else goal.words
        words.append(f"P({named}) = {goal.probability(p):.0%}")
    words.append(f"{held.station} holds {'it' if files == 1 else 'them'} back")
    return "; ".join(words) + "."


def _when(seconds: float, start: dt.time | None) -> str:
    """A duration as people read it, or the time of day that it ends at."""
    if start is None or seconds == float("inf"):
        return units.show(seconds, "s", digits=2)
    whole = start.hour * 3600 + start.minute * 60 + seconds
    days, rest = divmod(whole, _DAY_S)
    later = f" on day {int(days) + 1}" if days else ""
    exact = f":{int(rest % 60):02d}" if seconds < _SOON_S else ""
    return f"{int(rest // 3600):02d}:{int(rest % 3600 // 60):02d}{exact}{later}"
