"""What is booked of a fleet: bytes by way, and what held transfers how long."""

# ruff: noqa: D103, F403, F405 - plain functions on numbers; see `layout`
from __future__ import annotations

import math

from dtnsim.engine.flow_lists import left, tightest
from dtnsim.simulation.fleet.layout import *


def hold(f: Floats, q: Integers, kind: int, what: int, seconds: float) -> None:
    if seconds > 0:
        f[q[HELD] + kind * q[N_HELD] + what] += seconds


def book_wait(f: Floats, q: Integers, lane: int, since: float, now: float) -> None:
    """Books a wait: what was down meanwhile, else the queue."""
    low, high = f[lane + DOWN_FROM], f[lane + DOWN_TO]
    if f[lane + DOWN_SINCE] < math.inf:
        low, high = f[lane + DOWN_SINCE], now
    down = max(min(high, now) - max(low, since), 0.0)
    hold(f, q, q[lane + KIND], q[N_HELD] - OTHERS + BY_DOWN, down)
    hold(f, q, q[lane + KIND], q[N_HELD] - OTHERS + BY_QUEUE, now - since - down)


def book_flow(f: Floats, q: Integers, x: int, n: int, rest: float, now: float) -> None:
    """Books what a flow has moved since it was last looked at, and what has held it (``n``: its side)."""
    way, kind = q[x + WAY_OF], q[q[x + LANE_OF] + KIND]
    moved = f[x + SEEN_B] - rest
    f[way + MOVED] += moved
    spent, alone = now - f[x + SEEN_S], moved / f[x + CAP]
    hold(f, q, kind, q[way + HOLDER], min(alone, spent))
    if spent > alone * (1 + 1e-9):
        hold(f, q, kind, holder(f, q, x, n), spent - alone)
    f[x + SEEN_S], f[x + SEEN_B] = now, rest


def holder(f: Floats, q: Integers, x: int, n: int) -> int:
    """What holds a flow back: a station, that which held it last where it has been let go, what is down."""
    if n < 0:
        n = q[x + HELD_BY]
    if n < 0:  # nothing did: a rounding
        return q[q[x + WAY_OF] + HOLDER]
    s = tightest(f, q, n)
    if q[s + DOWN]:
        return q[N_HELD] - OTHERS + BY_DOWN
    return (s - q[STATIONS]) // STATION


def book_all(f: Floats, q: Integers, now: float) -> None:
    """Books what is under way."""
    x = q[FIRST_LIVE]
    while x >= 0:
        book_flow(f, q, x, q[x + SIDE], left(f, q, x, now), now)
        x = q[x + NEXT_LIVE]
