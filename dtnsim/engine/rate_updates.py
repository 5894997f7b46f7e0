"""How flows and rows change sides between their own caps and the nodes that hold them back."""

# ruff: noqa: D103, F403, F405 - plain functions on numbers; see `layout`
from dtnsim.engine.flow_lists import (
    CANCELLED,
    TIE,
    add_up,
    book,
    enter,
    free,
    join,
    leave,
    left,
    look_at,
    mark_after,
    place_of,
    set_band,
    sweep,
    touch,
    unlink,
    vacate,
    weigh,
)
from dtnsim.engine.heaps import cut, entry, push, put, size
from dtnsim.engine.layout import *


def cap(f: Floats, q: Integers, h: Heaps, x: int, rest: float, now: float) -> None:
    """A flow with so much left runs at its own cap from now on (its rate is booked elsewhere)."""
    r = q[x + ROW_OF]
    q[x + SIDE] = CAPPED
    f[x + MARK] = now + rest / f[x + CAP] if f[x + CAP] else rest
    q[r + N_CAPPED] += 1
    f[r + CAPPED_RATE] += f[x + CAP]
    first = q[r + PAIRS]
    for p in range(first, first + q[r + N_PAIRS]):
        heap = q[q[p] + HEAPS] + 2
        push(h, heap, -f[x + LIMIT], q[x + NUMBER], x)
        if size(h, heap) > q[q[p] + ROOM + 2]:
            sweep(f, q, h, q[p])
    put(h, MOVED_NOW, 0.0, x, q[x + NUMBER])


def uncap(f: Floats, q: Integers, x: int) -> None:
    r = q[x + ROW_OF]
    q[r + N_CAPPED] -= 1
    f[r + CAPPED_RATE] = f[r + CAPPED_RATE] - f[x + CAP] if q[r + N_CAPPED] else 0.0


def unfree(f: Floats, q: Integers, h: Heaps, x: int) -> None:
    """A flow leaves those that its node holds back."""
    r, weight, n = q[x + ROW_OF], f[x + SHARE], q[x + SIDE]
    unlink(q, r + FIRST_FLOW, x, NEXT)
    q[r + FREE] -= 1
    q[n + COUNT] -= 1
    if not q[r + FREE]:
        leave(f, q, r)
        q[r + AT_NODE] = -1
        f[r + WEIGHT] = 0.0
    else:
        f[r + WEIGHT] -= weight
        pairs, count = q[r + PAIRS], q[r + N_PAIRS]
        slots = q[r + SLOTS] + q[r + PLACE] * count
        for k in range(count):
            f[q[slots + k]] -= weight * f[pairs + k]
        if f[r + WEIGHT] < CANCELLED * weight:
            weigh(f, q, r)
            add_up(f, q, n)
    if not q[n + COUNT]:
        vacate(f, q, h, n)
    elif f[q[n + OWN]] < CANCELLED * f[n + PEAK]:
        add_up(f, q, n)


def freeze(f: Floats, q: Integers, h: Heaps, x: int, n: int, now: float) -> None:
    """A free flow of a node goes over to its own cap."""
    rest = max(0.0, f[x + MARK] - f[n + CLOCK]) * f[x + SHARE]
    rate = f[x + SHARE] * f[n + LEVEL]
    r = q[x + ROW_OF]
    unfree(f, q, h, x)
    cap(f, q, h, x, rest, now)
    book(f, q, h, r, f[x + CAP] - rate)
    first = q[r + PAIRS]
    for p in range(first, first + q[r + N_PAIRS]):
        if f[q[p] + LEVEL] < f[x + LIMIT] * (1 - 2 * TIE):
            look_at(q, h, q[p], f[q[p] + LEVEL])


def move(f: Floats, q: Integers, h: Heaps, r: int, n: int, now: float) -> None:
    """A row's free flows go over from the node that held them back to another."""
    old, count = q[r + AT_NODE], q[r + FREE]
    touch(f, q, h, old, now)
    touch(f, q, h, n, now)
    change = f[r + WEIGHT] * (f[n + LEVEL] - f[old + LEVEL])
    before, after = f[old + CLOCK], f[n + CLOCK]
    leave(f, q, r)
    join(f, q, r, n)
    q[old + COUNT] -= count
    q[n + COUNT] += count
    set_band(f, q, n)
    x = q[r + FIRST_FLOW]
    while x >= 0:
        f[x + MARK] = after + max(0.0, f[x + MARK] - before)
        x = q[x + NEXT]
    x = q[r + FIRST_FLOW]
    while x >= 0:
        enter(f, q, h, x, n)
        x = q[x + NEXT]
    f[n + PEAK] = max(f[n + PEAK], f[q[n + OWN]])
    if not q[old + COUNT]:
        vacate(f, q, h, old)
    elif f[q[old + OWN]] < CANCELLED * f[old + PEAK]:
        add_up(f, q, old)
    book(f, q, h, r, change)


def thaw(f: Floats, q: Integers, h: Heaps, x: int, n: int, now: float) -> None:
    """A capped flow is held back by a node from now on."""
    r = q[x + ROW_OF]
    if q[r + FREE] and q[r + AT_NODE] != n:
        move(f, q, h, r, n, now)  # level as its limit to a rounding: the row stays together
    rest = left(f, q, x, now)
    uncap(f, q, x)
    f[x + MARK] = mark_after(f, q, h, n, rest / f[x + SHARE])
    free(f, q, h, x, n)
    book(f, q, h, r, f[x + SHARE] * f[n + LEVEL] - f[x + CAP])


def take(f: Floats, q: Integers, h: Heaps, n: int, level: float, now: float) -> None:
    """All rows through a node that run at a level elsewhere are held back by it from now on."""
    first = q[n + FEEDERS]
    for k in range(first, first + 2 * q[n + N_FEEDERS], 2):
        if f[q[k] + LEVEL] >= level:
            put(h, TAKEN, 0.0, q[k], 0)
    for k in range(size(h, TAKEN)):
        r = q[entry(h, TAKEN, k)[1] + FIRST_HELD]
        while r >= 0:
            following = q[r + NEXT_HELD]
            if place_of(q, r, n) >= 0:
                move(f, q, h, r, n, now)
            r = following
    cut(h, TAKEN, 0)
