"""Which flows a node holds back: sums of their loads, virtual clocks, and the heaps that say who goes next.

A flow is *capped* (it runs at its own cap) or *free* (a node holds it back). All free flows of a row are with one
node, the one with the lowest level on the row. Stations that all rows cross alike are one node (`network`).
"""

# ruff: noqa: D103, F403, F405 - plain functions on numbers; see `layout`
import math

from dtnsim.engine.heaps import cut, entry, order, push, put, size, write
from dtnsim.engine.layout import *

TIE = 1e-12  #: two levels closer than this (relative) are one
CANCELLED = 1e-3  #: a remainder this much smaller than what it was left over from is added up afresh
TOLERANCE = 1e-13  #: relative part of a node's capacity that counts as nothing


# Doubly linked lists of records (a row's free flows, a node's rows, the flows that are under way). The address of the
# first record is kept at ``ends``, the last at ``ends + 1``. A record's field ``link`` has the address of the next,
# ``link + 1`` that of the one before; -1 where there is none.


def append(q: Integers, ends: int, x: int, link: int) -> None:
    last = q[ends + 1]
    q[x + link + 1], q[x + link] = last, -1
    if last < 0:
        q[ends] = x
    else:
        q[last + link] = x
    q[ends + 1] = x


def unlink(q: Integers, ends: int, x: int, link: int) -> None:
    before, after = q[x + link + 1], q[x + link]
    if before < 0:
        q[ends] = after
    else:
        q[before + link] = after
    if after < 0:
        q[ends + 1] = before
    else:
        q[after + link + 1] = before


def set_band(f: Floats, q: Integers, n: int) -> None:
    slack = TOLERANCE * f[n + CAPACITY] if f[n + CAPACITY] < math.inf else 0.0
    f[n + LOW] = -slack
    f[n + HIGH] = slack if q[n + COUNT] else math.inf


def first_guess(f: Floats, q: Integers, n: int) -> float:
    """Where a node comes in the order of settling: its level, or the least that it can be."""
    if q[n + COUNT]:
        return f[n + LEVEL]
    total = f[n + TOTAL]
    return f[n + CAPACITY] / total if total > 0 else 0.0


def mark(f: Floats, q: Integers, h: Heaps, n: int) -> None:
    """Has a node looked at where its spare capacity says that its level is out of date."""
    spare = f[n + SPARE]
    if (spare < f[n + LOW] or spare > f[n + HIGH]) and not q[n + WAITING]:
        q[n + WAITING] = 1
        push(h, DIRTY, first_guess(f, q, n), n, 0)


def look_at(q: Integers, h: Heaps, n: int, before: float) -> None:
    """Has a node looked at, in this order, even if its spare capacity is in the band."""
    q[n + FORCED] = 1
    if not q[n + WAITING]:
        q[n + WAITING] = 1
        push(h, DIRTY, before, n, 0)


def book(f: Floats, q: Integers, h: Heaps, r: int, rate: float) -> None:
    """Books so many more bytes a second of a row at its nodes."""
    first, last = q[r + PAIRS], q[r + PAIRS] + q[r + N_PAIRS]
    for n, demand in zip(q[first:last], f[first:last]):  # noqa: B905 - the compiler has no strict
        spare = f[n + SPARE] - rate * demand
        f[n + SPARE] = spare
        if (spare < f[n + LOW] or spare > f[n + HIGH]) and not q[n + WAITING]:
            mark(f, q, h, n)


def rate_of(f: Floats, q: Integers, r: int) -> float:
    """Bytes a second of all flows of a row."""
    rate = f[r + CAPPED_RATE]
    if q[r + FREE]:
        rate += f[r + WEIGHT] * f[q[r + AT_NODE] + LEVEL]
    return rate


def used(f: Floats, q: Integers, n: int) -> float:
    """What the flows of a node use of it, added up afresh, with what roundings lose (Neumaier)."""
    total, lost = 0.0, 0.0
    first = q[n + THROUGH]
    for k in range(q[n + N_THROUGH]):
        p = q[first + 2 * k + 1]
        part = rate_of(f, q, q[first + 2 * k]) * f[p]
        both = total + part
        lost += (total - both) + part if abs(total) >= abs(part) else (part - both) + total
        total = both
    return total + lost


def refresh(f: Floats, q: Integers, h: Heaps) -> None:
    """Adds up the spare capacity of all nodes afresh, against the drift of many small roundings."""
    n = q[FIRST_NODE]
    while n >= 0:
        f[n + SPARE] = f[n + CAPACITY] - used(f, q, n)
        f[n + GREATEST] = f[n + CAPACITY]
        mark(f, q, h, n)
        n = q[n + NEXT_NODE]


def touch(f: Floats, q: Integers, h: Heaps, n: int, now: float) -> None:
    """Brings a node's clock up to now and notes that its next end may change."""
    if f[n + READ] != now:
        if q[n + COUNT]:
            f[n + CLOCK] += f[n + LEVEL] * (now - f[n + READ])
        f[n + READ] = now
    if not q[n + NOTED]:
        q[n + NOTED] = 1
        put(h, NOTES, 0.0, n, 0)


def left(f: Floats, q: Integers, x: int, now: float) -> float:
    """Bytes that a flow still has to go."""
    side = q[x + SIDE]
    if side == CAPPED:
        if not f[x + CAP]:
            return f[x + MARK]
        rest = f[x + MARK] - now
        return rest * f[x + CAP] if rest > 0 else 0.0  # a call of max would cost as much as all of this
    if side == ABSENT:
        return 0.0
    rest = f[x + MARK] - (f[side + CLOCK] + f[side + LEVEL] * (now - f[side + READ]))
    return rest * f[x + SHARE] if rest > 0 else 0.0


def tightest(f: Floats, q: Integers, n: int) -> int:
    """The station of a node that binds (its address): the least capacity for what it is used."""
    best, least = -1, math.inf
    for k in range(q[n + MEMBERS], q[n + MEMBERS] + q[n + N_MEMBERS]):
        s = q[k]
        if best < 0 or f[s] / f[s + RATIO] < least:
            best, least = s, f[s] / f[s + RATIO]
    return best


def holds(f: Floats, q: Integers, e: Entry, n: int, which: int) -> bool:
    """Whether an entry of a node's heap still says what is so."""
    x = e[2]
    if q[x + NUMBER] != e[1]:
        return False
    if which == 0:
        return q[x + SIDE] == n and f[x + MARK] == e[0]
    return q[x + SIDE] == n if which == 1 else q[x + SIDE] == CAPPED


def sweep(f: Floats, q: Integers, h: Heaps, n: int) -> None:
    """Rebuilds a node's heaps without the entries that no longer hold; each sweep pays for itself."""
    for which in range(3):
        heap = q[n + HEAPS] + which
        q[STAMPS] += 1
        live = 0
        for k in range(size(h, heap)):
            e = entry(h, heap, k)
            if holds(f, q, e, n, which) and q[e[2] + STAMP] != q[STAMPS]:
                q[e[2] + STAMP] = q[STAMPS]
                write(h, heap, live, e)
                live += 1
        cut(h, heap, live)
        order(h, heap)
        q[n + ROOM + which] = 2 * live + 64


def mark_after(f: Floats, q: Integers, h: Heaps, n: int, service: float) -> float:
    """What a node's clock will show after so much more service per weight; it starts again if digits would be lost."""
    if service < 1e-6 * f[n + CLOCK] and q[n + JOINED] >= q[n + COUNT]:
        clock = f[n + CLOCK]
        sweep(f, q, h, n)
        r = q[n + FIRST_HELD]
        while r >= 0:
            x = q[r + FIRST_FLOW]
            while x >= 0:
                f[x + MARK] -= clock
                x = q[x + NEXT]
            r = q[r + NEXT_HELD]
        ends = q[n + HEAPS]
        for k in range(size(h, ends)):
            e = entry(h, ends, k)
            write(h, ends, k, (f[e[2] + MARK], e[1], e[2]))
        order(h, ends)
        f[n + CLOCK] = 0.0
        q[n + JOINED] = 0
    return f[n + CLOCK] + service


def weigh(f: Floats, q: Integers, r: int) -> None:
    """The weight of a row's free flows, added up afresh."""
    total = 0.0
    x = q[r + FIRST_FLOW]
    while x >= 0:
        total += f[x + SHARE]
        x = q[x + NEXT]
    f[r + WEIGHT] = total


def add_up(f: Floats, q: Integers, n: int) -> None:
    """Adds up a node's loads afresh, where small remainders of large sums would be wrong."""
    for k in range(q[n + N_LOADS]):
        f[q[q[n + LOADS] + k]] = 0.0
    r = q[n + FIRST_HELD]
    while r >= 0:
        weigh(f, q, r)
        pairs, count = q[r + PAIRS], q[r + N_PAIRS]
        slots = q[r + SLOTS] + q[r + PLACE] * count
        for k in range(count):
            f[q[slots + k]] += f[r + WEIGHT] * f[pairs + k]
        r = q[r + NEXT_HELD]
    f[n + PEAK] = f[q[n + OWN]]


def place_of(q: Integers, r: int, n: int) -> int:
    """Which of a row's pairs is that of a node; -1 where the row does not cross it."""
    for k in range(q[r + N_PAIRS]):
        if q[q[r + PAIRS] + k] == n:
            return k
    return -1


def join(f: Floats, q: Integers, r: int, n: int) -> None:
    """A row's free flows are with a node from now on."""
    q[r + AT_NODE] = n
    q[r + PLACE] = place_of(q, r, n)
    append(q, n + FIRST_HELD, r, NEXT_HELD)
    pairs, count = q[r + PAIRS], q[r + N_PAIRS]
    slots = q[r + SLOTS] + q[r + PLACE] * count
    for k in range(count):
        s = q[slots + k]
        if q[s + USES]:
            f[s] += f[r + WEIGHT] * f[pairs + k]
        else:
            f[s] = f[r + WEIGHT] * f[pairs + k]
            m = q[s + OTHER]
            q[s + IN_LOADS] = q[n + N_LOADS]
            q[q[n + LOADS] + q[n + N_LOADS]] = s
            q[n + N_LOADS] += 1
            if m != n:
                q[s + IN_FEEDERS] = q[m + N_FEEDERS]
                feeder = q[m + FEEDERS] + 2 * q[m + N_FEEDERS]
                q[feeder], q[feeder + 1] = n, s
                q[m + N_FEEDERS] += 1
        q[s + USES] += 1


def drop(q: Integers, n: int, s: int) -> None:
    """A node puts nothing on another any more."""
    m = q[s + OTHER]
    q[n + N_LOADS] -= 1
    moved = q[q[n + LOADS] + q[n + N_LOADS]]
    q[q[n + LOADS] + q[s + IN_LOADS]] = moved
    q[moved + IN_LOADS] = q[s + IN_LOADS]
    if m != n:
        q[m + N_FEEDERS] -= 1
        last = q[m + FEEDERS] + 2 * q[m + N_FEEDERS]
        feeder = q[m + FEEDERS] + 2 * q[s + IN_FEEDERS]
        q[feeder], q[feeder + 1] = q[last], q[last + 1]
        q[q[feeder + 1] + IN_FEEDERS] = q[s + IN_FEEDERS]


def leave(f: Floats, q: Integers, r: int) -> None:
    """A row's free flows are no longer with their node."""
    n = q[r + AT_NODE]
    unlink(q, n + FIRST_HELD, r, NEXT_HELD)
    again = False
    pairs, count = q[r + PAIRS], q[r + N_PAIRS]
    slots = q[r + SLOTS] + q[r + PLACE] * count
    for k in range(count):
        s, part = q[slots + k], f[r + WEIGHT] * f[pairs + k]
        q[s + USES] -= 1
        if not q[s + USES]:
            drop(q, n, s)
            f[s] = 0.0
        else:
            f[s] -= part
            if f[s] < CANCELLED * part:
                again = True
    if again:
        add_up(f, q, n)


def vacate(f: Floats, q: Integers, h: Heaps, n: int) -> None:
    """A node holds nobody back any more."""
    f[n + LEVEL] = math.inf
    f[n + CLOCK] = f[n + PEAK] = 0.0
    q[n + JOINED] = 0
    cut(h, q[n + HEAPS], 0)
    cut(h, q[n + HEAPS] + 1, 0)
    set_band(f, q, n)
    mark(f, q, h, n)


def enter(f: Floats, q: Integers, h: Heaps, x: int, n: int) -> None:
    q[x + SIDE] = q[x + HELD_BY] = n
    q[n + JOINED] += 1
    ends = q[n + HEAPS]
    push(h, ends, f[x + MARK], q[x + NUMBER], x)
    if f[x + LIMIT] < math.inf:
        push(h, ends + 1, f[x + LIMIT], q[x + NUMBER], x)
    put(h, MOVED_NOW, 0.0, x, q[x + NUMBER])
    if size(h, ends) > q[n + ROOM] or size(h, ends + 1) > q[n + ROOM + 1]:
        sweep(f, q, h, n)


def free(f: Floats, q: Integers, h: Heaps, x: int, n: int) -> None:
    """A flow joins those that a node holds back (its mark is set, its rate is booked elsewhere)."""
    r, weight = q[x + ROW_OF], f[x + SHARE]
    if q[r + FREE]:
        pairs, count = q[r + PAIRS], q[r + N_PAIRS]
        slots = q[r + SLOTS] + q[r + PLACE] * count
        for k in range(count):
            f[q[slots + k]] += weight * f[pairs + k]
        f[r + WEIGHT] += weight
    else:
        f[r + WEIGHT] = weight
        join(f, q, r, n)
    append(q, r + FIRST_FLOW, x, NEXT)
    q[r + FREE] += 1
    q[n + COUNT] += 1
    if q[n + COUNT] == 1:
        set_band(f, q, n)
    f[n + PEAK] = max(f[n + PEAK], f[q[n + OWN]])
    enter(f, q, h, x, n)
