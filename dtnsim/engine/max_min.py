"""Weighted max-min fair shares, put right only where something changed.

A node that holds flows back (its free flows) gives each of them ``weight * level``; the others run
at their own cap. The shares are weighted max-min fair exactly if every node that is short of capacity
has the level at which it is just full, and no flow runs above the level of a node that it visits:

    sum of demand * min(cap, weight * min of levels on the row) = capacity      where level < infinity
                                                                <= capacity     elsewhere

(progressive filling; Bertsekas and Gallager, Data Networks, 2nd ed. 1992, 6.5.2). After a change,
`share` takes the nodes whose level is out of date, lowest first, and gives each the level
that fills it as its neighbours are now: flows whose cap is now below leave the group, flows that run
faster elsewhere are taken in. The changed rates are booked at the other nodes of the same flows, at
the cost of one addition a pair of nodes however many flows there are, and nodes that are then short or
have something to spare are looked at in turn. The lowest level of the network is right after one
look at each node, then the next higher one, and so on, so the process ends; it touches only nodes
whose level changes and their neighbours.

In time: all flows that one node holds back get service at one rate per weight, so the node has one virtual
clock (service per weight so far) and one heap of virtual finishing times; an event moves the clocks of the
nodes whose level changes, not the flows. A flow at its own cap has a fixed end. One queue holds both: an
entry a capped flow, and for each node the earliest time that its first flow may end. A node that slows down
keeps its early entry, and is asked again when that comes up. Time is exact: no step, no threshold on the
bytes left; an end falls on the double nearest to it.

Neglects: differences of levels below 1e-12 and of capacities below 1e-13, relative.
"""

# ruff: noqa: F403, F405 - plain functions on numbers; see `layout`
import math

from dtnsim.engine.flow_lists import (
    CANCELLED,
    TIE,
    book,
    first_guess,
    free,
    holds,
    left,
    look_at,
    mark,
    mark_after,
    refresh,
    set_band,
    touch,
    used,
)
from dtnsim.engine.heaps import cut, entry, pop, push, put, size
from dtnsim.engine.layout import *
from dtnsim.engine.rate_updates import cap, freeze, take, thaw, uncap, unfree


def fastest(f: Floats, q: Integers, n: int) -> float:
    """The highest level of the nodes that hold back flows through this one."""
    best = 0.0
    first = q[n + FEEDERS]
    for m in q[first : first + 2 * q[n + N_FEEDERS] : 2]:
        if f[m + LEVEL] > best:  # noqa: PLR1730 - plain Python: a call of max would cost half of it
            best = f[m + LEVEL]
    return best


def insert(f: Floats, q: Integers, h: Heaps, x: int, rest: float, now: float) -> bool:
    """Puts a flow in at the rate that it gets as things are (not yet fair); False where nothing at all limits it.

    Never faster than alone, so that what it is booked with stays of the size of the capacities.
    """
    r, weight = q[x + ROW_OF], f[x + SHARE]
    bound, n = math.inf, -1
    first, last = q[r + PAIRS], q[r + PAIRS] + q[r + N_PAIRS]
    for m, demand in zip(q[first:last], f[first:last]):  # noqa: B905 - the compiler has no strict
        limit = f[m + CAPACITY] / (weight * demand)
        if f[m + LEVEL] < limit:  # noqa: PLR1730 - as in `fastest`
            limit = f[m + LEVEL]
        if limit < bound:
            bound, n = limit, m
    if bound == math.inf and f[x + LIMIT] == math.inf:
        return False
    if f[x + LIMIT] <= bound:
        cap(f, q, h, x, rest, now)
        book(f, q, h, r, f[x + CAP])
    else:
        if q[r + FREE]:
            n = q[r + AT_NODE]
        touch(f, q, h, n, now)
        if not q[n + COUNT]:
            f[n + LEVEL] = bound
        elif bound < f[n + LEVEL]:
            shift(f, q, h, n, bound)
            look_at(q, h, n, bound)  # others may run above that now
        f[x + MARK] = mark_after(f, q, h, n, rest / weight)
        free(f, q, h, x, n)
        book(f, q, h, r, weight * f[n + LEVEL])
    for m, demand in zip(q[first:last], f[first:last]):  # noqa: B905
        f[m + TOTAL] += weight * demand
    return True


def remove(f: Floats, q: Integers, h: Heaps, x: int) -> None:
    """Takes a flow out."""
    r, weight = q[x + ROW_OF], f[x + SHARE]
    first, last = q[r + PAIRS], q[r + PAIRS] + q[r + N_PAIRS]
    for m, demand in zip(q[first:last], f[first:last]):  # noqa: B905
        f[m + TOTAL] -= weight * demand
    if q[x + SIDE] == CAPPED:
        uncap(f, q, x)
        book(f, q, h, r, -f[x + CAP])
    else:
        level = f[q[x + SIDE] + LEVEL]
        unfree(f, q, h, x)
        book(f, q, h, r, -weight * level)
    q[x + SIDE] = ABSENT


def withdraw(f: Floats, q: Integers, h: Heaps, x: int, now: float) -> float:
    """Takes a flow out before its end; returns the bytes that it had still to go."""
    rest = left(f, q, x, now)
    if q[x + SIDE] != CAPPED:  # its node will end another one next
        touch(f, q, h, q[x + SIDE], now)
    remove(f, q, h, x)
    return rest


def shift(f: Floats, q: Integers, h: Heaps, n: int, level: float) -> None:
    """Sets a node's level and books what its flows now use elsewhere."""
    change = level - f[n + LEVEL]
    f[n + LEVEL] = level
    floor = level * (1 - 2 * TIE) if change > 0 else -1.0
    first = q[n + LOADS]
    for s in q[first : first + q[n + N_LOADS]]:
        m = q[s + OTHER]
        spare = f[m + SPARE] - f[s] * change
        f[m + SPARE] = spare
        if spare < f[m + LOW] or spare > f[m + HIGH]:
            if not q[m + WAITING]:
                q[m + WAITING] = 1
                push(h, DIRTY, first_guess(f, q, m), m, 0)
            if f[m + LEVEL] < floor:
                q[m + FORCED] = 1
        elif f[m + LEVEL] < floor:
            look_at(q, h, m, f[m + LEVEL])


def level_of(f: Floats, q: Integers, h: Heaps, n: int, now: float, tie: float) -> float:
    """The level that just fills a node, after all flows that change sides have done so."""
    lowest, highest = q[n + HEAPS] + 1, q[n + HEAPS] + 2
    steep = f[n + SPARE] * CANCELLED < -f[n + CAPACITY]  # much load goes: roundings of it would stay
    while True:
        if q[n + COUNT]:
            level = max(0.0, f[n + LEVEL] + f[n + SPARE] / f[q[n + OWN]])
            while size(h, lowest) and not holds(f, q, entry(h, lowest, 0), n, 1):
                pop(h, lowest)
            if size(h, lowest) and entry(h, lowest, 0)[0] < level * (1 - tie):
                freeze(f, q, h, entry(h, lowest, 0)[2], n, now)
                continue
        elif f[n + SPARE] >= f[n + LOW]:
            return math.inf
        else:
            level = 0.0
        while size(h, highest) and not holds(f, q, entry(h, highest, 0), n, 2):
            pop(h, highest)
        top = -entry(h, highest, 0)[0] if size(h, highest) else 0.0
        fast = fastest(f, q, n)
        if top <= level * (1 + tie) and fast <= level * (1 + tie):
            if not steep and level >= CANCELLED * f[n + LEVEL]:
                return level
            shift(f, q, h, n, level)
            f[n + SPARE] = f[n + CAPACITY] - used(f, q, n)
            steep = False
            continue
        if not q[n + COUNT]:
            f[n + LEVEL] = max(top, fast)
        elif level < 0.5 * f[n + LEVEL]:  # newcomers must not be booked at a level far too high
            steep = steep or level < CANCELLED * f[n + LEVEL]
            shift(f, q, h, n, level)
        if fast >= top:
            take(f, q, h, n, fast, now)
        else:
            thaw(f, q, h, entry(h, highest, 0)[2], n, now)


def bound_of(f: Floats, q: Integers, n: int) -> float:
    """The level at which a node's flows would fill some node twice over."""
    best = math.inf
    first = q[n + LOADS]
    for k in range(first, first + q[n + N_LOADS]):
        s = q[k]
        c = f[q[s + OTHER] + CAPACITY]
        if c and f[s] > 0:
            best = min(best, 2 * c / f[s])
    return best


def end_unlimited(f: Floats, q: Integers, h: Heaps, n: int) -> None:
    """Nothing limits a node's flows any more: they end at once."""
    r = q[n + FIRST_HELD]
    while r >= 0:
        following = q[r + NEXT_HELD]
        x = q[r + FIRST_FLOW]
        while x >= 0:
            after = q[x + NEXT]
            remove(f, q, h, x)
            put(h, UNLIMITED, 0.0, x, q[x + NUMBER])
            x = after
        r = following


def look(f: Floats, q: Integers, h: Heaps, n: int, now: float, tie: float) -> None:
    """Gives a node the level that just fills it, with all flows that change sides and far moves."""
    touch(f, q, h, n, now)
    level = level_of(f, q, h, n, now, tie)
    if not q[n + COUNT]:
        return
    if not f[n + CAPACITY]:
        level = 0.0
    elif level > 2 * f[n + LEVEL]:
        bound = bound_of(f, q, n)
        if level > bound:
            f[TURN] += 1.0  # after the node that it overfills has taken its flows, and in turn
            look_at(q, h, n, 1e250 * f[TURN])
            shift(f, q, h, n, bound)
            return
        if level == math.inf:
            end_unlimited(f, q, h, n)
            return
    shift(f, q, h, n, level)
    f[n + SPARE] = 0.0


def rises(f: Floats, q: Integers, h: Heaps, n: int, now: float, tie: float) -> bool:
    """Whether a node's new level changes no flow's side: most often none does; it has that level then."""
    old = f[n + LEVEL]
    spare = f[n + SPARE]
    level = old + spare / f[q[n + OWN]]
    if spare > 0:
        lowest = q[n + HEAPS] + 1
        if level > 2 * old or (size(h, lowest) and entry(h, lowest, 0)[0] < level):
            return False
    else:
        highest = q[n + HEAPS] + 2
        if 0.5 * old >= level or (size(h, highest) and -entry(h, highest, 0)[0] > level):
            return False
    if fastest(f, q, n) > level * (1 + tie):
        return False
    touch(f, q, h, n, now)
    shift(f, q, h, n, level)
    f[n + SPARE] = 0.0
    return True


def share(f: Floats, q: Integers, h: Heaps, now: float) -> None:
    """Makes the shares fair; `RuntimeError` where levels do not rest, or after a million changes at one instant."""
    q[REPEATS] = 0 if now != f[LAST] else q[REPEATS] + 1
    f[LAST] = now
    if q[REPEATS] > 1_000_000:
        raise RuntimeError("time does not move on")
    q[SETTLED] += 1
    if not q[SETTLED] & 4095:
        refresh(f, q, h)
    tie, looks = TIE, 0
    while size(h, DIRTY):
        n = pop(h, DIRTY)[1]
        q[n + WAITING] = 0
        if f[n + LOW] <= f[n + SPARE] <= f[n + HIGH] and not q[n + FORCED]:
            continue
        looks += 1
        if not looks & 1023:
            if looks > 200 * q[N_NODES] + 100_000:
                raise RuntimeError("shares do not come to rest")
            tie = min(2 * tie, 1e-9) if looks > 4 * q[N_NODES] else tie
        if q[n + COUNT] and not q[n + FORCED] and rises(f, q, h, n, now, tie):
            continue
        q[n + FORCED] = 0
        look(f, q, h, n, now, tie)


def settle(f: Floats, q: Integers, h: Heaps, now: float) -> None:
    """Makes the shares fair and finds the next ends."""
    share(f, q, h, now)
    find_ends(f, q, h, now)


def find_ends(f: Floats, q: Integers, h: Heaps, now: float) -> None:
    """Notes when the flows that changed sides, and the first of the nodes whose level changed, will end."""
    for k in range(size(h, MOVED_NOW)):
        _, x, number = entry(h, MOVED_NOW, k)
        if q[x + NUMBER] == number and q[x + SIDE] == CAPPED and f[x + CAP] > 0 and f[x + MARK] < math.inf:
            push(h, QUEUE, f[x + MARK], -number, x)
    cut(h, MOVED_NOW, 0)
    for k in range(size(h, NOTES)):
        n = entry(h, NOTES, k)[1]
        q[n + NOTED] = 0
        ends = q[n + HEAPS]
        while size(h, ends) and not holds(f, q, entry(h, ends, 0), n, 0):
            pop(h, ends)
        if size(h, ends):
            wait = entry(h, ends, 0)[0] - f[n + CLOCK]
            if wait < f[n + LEVEL] * 1e300:
                time = now + wait / f[n + LEVEL] if wait > 0 else now
                if time < f[n + DUE]:
                    f[n + DUE] = time
                    push(h, QUEUE, time, n, 0)
    cut(h, NOTES, 0)


def next_time(f: Floats, q: Integers, h: Heaps) -> float:
    """Time of the next end, or of a node that has to be asked; infinite where nothing will end."""
    while size(h, QUEUE):
        time, number, x = entry(h, QUEUE, 0)
        if number < 0:
            if q[x + NUMBER] == -number and q[x + SIDE] == CAPPED and f[x + MARK] == time:
                return time
        elif f[number + DUE] == time:
            if 0 < f[number + LEVEL] < math.inf:
                return time
            f[number + DUE] = math.inf  # it holds nobody back, or gives nothing; settling finds the next end
        pop(h, QUEUE)
    return math.inf


def finished(f: Floats, q: Integers, h: Heaps, now: float) -> None:
    """Takes out the flows that end now, into the list of those (call `settle` after it)."""
    while next_time(f, q, h) <= now:
        _, n, x = pop(h, QUEUE)
        if n < 0:
            put(h, ENDED_NOW, 0.0, x, CAPPED)
            remove(f, q, h, x)
            continue
        f[n + DUE] = math.inf
        touch(f, q, h, n, now)
        ends, clock, level = q[n + HEAPS], f[n + CLOCK], f[n + LEVEL]
        horizon = now + 4e-16 * abs(now)
        while size(h, ends):
            time, number, x = entry(h, ends, 0)
            if q[x + NUMBER] != number or q[x + SIDE] != n or f[x + MARK] != time:
                pop(h, ends)
            elif time <= clock or (level > 0 and now + (time - clock) / level <= horizon):
                pop(h, ends)
                put(h, ENDED_NOW, 0.0, x, n)
                remove(f, q, h, x)
            else:
                break


def set_capacity(f: Floats, q: Integers, h: Heaps, n: int, value: float) -> None:
    """A node has another capacity from now on."""
    old = f[n + CAPACITY]
    if value == old:
        return
    f[n + CAPACITY] = value
    if old == math.inf or value < 1e-3 * f[n + GREATEST]:
        f[n + SPARE] = value - used(f, q, n)
        f[n + GREATEST] = value
    else:
        f[n + SPARE] += value - old
        f[n + GREATEST] = max(value, f[n + GREATEST])
    set_band(f, q, n)
    mark(f, q, h, n)
