"""A fleet in time on flat numbers: arrivals, queues, who begins on which way, what is booked."""

# ruff: noqa: D103, F403, F405 - plain functions on numbers; see `transfer_layout`
import math

from dtnsim.engine.flow_lists import append, left, tightest, unlink
from dtnsim.engine.heaps import cut, entry, pop, push, put, size
from dtnsim.engine.max_min import finished, insert, next_time, settle
from dtnsim.simulation.fleet.transfer_layout import *

HOUR_S = 3600.0  #: stretches in which use is summed [s]
LEAST_B = 1e-3  #: what is left of a transfer at least when it goes on [B]
#: in which order equal priorities begin
FAIR = 1
BY_DEADLINE = 2


def run(f: Floats, q: Integers, h: Heaps, t: Table, u: Table, most: int) -> int:
    """Goes on for so many events; returns why it comes back."""
    for _ in range(most):
        if q[PHASE] == AFRESH:
            why = advance(f, q, h, t, u)
            if why != MORE:
                return why
        now = f[NOW]
        if q[PHASE] != DISPATCHING:
            while size(h, RETRIES) and entry(h, RETRIES, 0)[0] <= now:
                requeue(f, q, h, t, u, pop(h, RETRIES)[1], now)
            arrive(q, h, t, u, now)
            line_up(f, q, h)
        if not dispatch(f, q, h, t, u, now):
            q[PHASE] = DISPATCHING
            return NARROW
        settle(f, q, h, now)
        q[PHASE] = AFRESH
    return MORE


def advance(f: Floats, q: Integers, h: Heaps, t: Table, u: Table) -> int:
    """Goes to the next instant and ends what ends there; returns why it stops short of it."""
    if q[FINISHED] == q[COUNT_ALL]:
        return OVER
    now = next_time(f, q, h)
    if q[ARRIVAL] < q[COUNT_ALL]:
        now = min(now, float(t[READY, q[ARRIVAL]]))
    if size(h, RETRIES):
        now = min(now, entry(h, RETRIES, 0)[0])
    now = min(now, f[FAULT])
    tick = (q[HOUR] + 1) * HOUR_S
    if tick <= now and tick < f[UNTIL]:
        f[NOW] = tick
        book_all(f, q, tick)
        q[HOUR] += 1
        return TICKED
    if now >= f[UNTIL]:
        f[NOW] = f[UNTIL]
        return OVER
    f[NOW] = now
    q[EVENTS] += 1
    finished(f, q, h, now)
    for k in range(size(h, ENDED_NOW)):
        _, x, n = entry(h, ENDED_NOW, k)
        i = q[x + TRANSFER]
        release(f, q, h, x, n, 0.0, now)
        u[STATUS, i], t[ENDED, i] = DONE, now
        q[FINISHED] += 1
    cut(h, ENDED_NOW, 0)
    if f[FAULT] <= now:
        q[PHASE] = STRUCK
        return FAILING
    return MORE


# -- queues -----------------------------------------------------------------------------------------


def let_go(q: Integers, h: Heaps, lane: int) -> None:
    """A lane is to be looked at."""
    if not q[lane + IS_FREED]:
        q[lane + IS_FREED] = 1
        put(h, FREED, 0.0, lane, 0)


def has_room(q: Integers, lane: int) -> bool:
    """Whether the limits let a lane's next transfer begin."""
    one, other, user, kind = q[lane], q[lane + 1], q[lane + 2], q[lane + 3]
    if q[user + ACTIVE] >= q[user + MOST] or q[kind + ACTIVE] >= q[kind + MOST]:
        return False
    if one == other:
        return q[one + ACTIVE] + 2 <= q[one + MOST]
    return q[one + ACTIVE] < q[one + MOST] and q[other + ACTIVE] < q[other + MOST]


def arrive(q: Integers, h: Heaps, t: Table, u: Table, now: float) -> None:
    while q[ARRIVAL] < q[COUNT_ALL] and t[READY, q[ARRIVAL]] <= now:
        i = q[ARRIVAL]
        lane = q[LANES] + int(u[OF_LANE, i]) * LANE
        enqueue(q, h, t, u, i, lane, now)
        if has_room(q, lane):
            let_go(q, h, lane)
        q[ARRIVAL] += 1


def enqueue(q: Integers, h: Heaps, t: Table, u: Table, i: int, lane: int, now: float) -> None:
    if not size(h, q[lane + LANE_HEAP]):
        waits(q, lane, 1)
    push(h, q[lane + LANE_HEAP], float(t[DUE_BY, i]) if q[ORDER] == BY_DEADLINE else 0.0, i, 0)
    t[QUEUED_AT, i], u[STATUS, i] = now, QUEUED


def waits(q: Integers, lane: int, begins: int) -> None:
    """A lane has transfers that wait from now on, or no longer."""
    for k in range(FOUR):
        if k == 1 and q[lane] == q[lane + 1]:
            continue  # both ends are one place
        if begins:
            append(q, q[lane + k] + FIRST_WAITING, lane + LINKS + LINK * k, 0)
        else:
            unlink(q, q[lane + k] + FIRST_WAITING, lane + LINKS + LINK * k, 0)


def turn_of(f: Floats, q: Integers, h: Heaps, lane: int) -> Entry:
    """Which lane of a priority comes first: (share or deadline, transfer, lane)."""
    due, i, _ = entry(h, q[lane + LANE_HEAP], 0)
    user = q[lane + 2]
    return (q[user + ACTIVE] / f[user + FAIR_SHARE] if q[ORDER] == FAIR else due, i, lane)


def add_turn(f: Floats, q: Integers, h: Heaps, lane: int) -> None:
    """A lane is looked at in its turn, after those of higher priorities."""
    first, i, _ = turn_of(f, q, h, lane)
    push(h, q[lane + TURN_HEAP], first, i, lane)


def line_up(f: Floats, q: Integers, h: Heaps) -> None:
    """Lanes that are to be looked at, each in its turn."""
    for k in range(size(h, FREED)):
        lane = entry(h, FREED, k)[1]
        q[lane + IS_FREED] = 0
        if size(h, q[lane + LANE_HEAP]) and has_room(q, lane):
            add_turn(f, q, h, lane)
    cut(h, FREED, 0)


def dispatch(f: Floats, q: Integers, h: Heaps, t: Table, u: Table, now: float) -> bool:
    """Begins as many transfers of some lanes as the limits let; False where there are no more places for flows.

    While it does, places only fill and shares only grow: a turn that is out of date is too early, and is put right
    when it comes.
    """
    for k in range(q[TURNS], q[TURNS] + q[N_TURNS]):
        while size(h, k):
            lane = entry(h, k, 0)[2]
            again = has_room(q, lane)
            if again and turn_of(f, q, h, lane) == entry(h, k, 0):
                if q[SPARE_SLOT] < 0:
                    return False
                again = begin(f, q, h, t, u, lane, now) and size(h, q[lane + LANE_HEAP]) > 0
            pop(h, k)
            if again:
                add_turn(f, q, h, lane)
    return True


# -- ways -------------------------------------------------------------------------------------------


def next_machine(q: Integers, place: int, last: int) -> int:
    """The host of an endpoint that is tried after another, with its rank: by load or turn; -1 where there is none."""
    best = -1
    count = q[place + N_MACHINES]
    for k in range(count):
        rank = (k - q[place + NEXT_MACHINE]) % count
        if q[place + BY_LOAD]:
            rank += count * q[q[HOSTS] + q[q[place + MACHINES] + k]]
        if rank > last and (best < 0 or rank < best):
            best = rank
    return best


def machine_of(q: Integers, place: int, rank: int) -> int:
    """Which of an endpoint's hosts has a rank."""
    count = q[place + N_MACHINES]
    return (rank + q[place + NEXT_MACHINE]) % count


def is_up(q: Integers, way: int) -> bool:
    """Whether no station of a way is down."""
    first = q[way + CROSSES]
    for k in range(first, first + q[way + N_CROSSES]):  # noqa: SIM110 - the compiler wants no generator
        if q[q[k] + DOWN]:
            return False
    return True


def choose(q: Integers, lane: int, grain: int) -> int:
    """The way of a lane's next transfer; -1 where all are down."""
    one, other = q[lane], q[lane + 1]
    first = next_machine(q, one, -1)
    while first >= 0:
        m = machine_of(q, one, first)
        second = next_machine(q, other, -1)
        while second >= 0:
            k = machine_of(q, other, second)
            way = q[q[lane + TABLE] + (m * q[other + N_MACHINES] + k) * q[lane + N_GRAINS] + grain]
            if way >= 0 and (not q[DOWN_COUNT] or is_up(q, way)):
                # the source's turn moves on first: where both ends are one place, the target's is what stays
                q[one + NEXT_MACHINE] = (m + 1) % q[one + N_MACHINES]
                q[other + NEXT_MACHINE] = (k + 1) % q[other + N_MACHINES]
                return way
            second = next_machine(q, other, second)
        first = next_machine(q, one, first)
    return -1


def alone_s(f: Floats, q: Integers, way: int, whole: float) -> float:
    """Time that a transfer takes alone: between sizes for which it is known, as far between."""
    first, n = q[way + SIZES], q[way + N_SIZES]
    if n == 1:
        return f[first + 1] * whole / f[first]
    k = 1
    while k < n - 1 and f[first + k] <= whole:
        k += 1
    slope = (f[first + n + k] - f[first + n + k - 1]) / (f[first + k] - f[first + k - 1])
    return f[first + n + k - 1] + slope * (whole - f[first + k - 1])


def begin(f: Floats, q: Integers, h: Heaps, t: Table, u: Table, lane: int, now: float) -> bool:
    """Begins the next transfer of a lane; False where every way is down."""
    i = entry(h, q[lane + LANE_HEAP], 0)[1]
    way = choose(q, lane, int(u[GRAIN, i]))
    if way < 0:
        f[lane + DOWN_SINCE] = min(f[lane + DOWN_SINCE], now)
        return False
    pop(h, q[lane + LANE_HEAP])
    if not size(h, q[lane + LANE_HEAP]):
        waits(q, lane, 0)
    queued = float(t[QUEUED_AT, i])
    if now > queued or f[lane + DOWN_SINCE] < math.inf:
        book_wait(f, q, lane, queued, now)
        if f[lane + DOWN_SINCE] < math.inf:
            f[lane + DOWN_FROM], f[lane + DOWN_TO] = f[lane + DOWN_SINCE], now
            f[lane + DOWN_SINCE] = math.inf
    for k in range(FOUR):
        q[q[lane + k] + ACTIVE] += 1
    q[q[HOSTS] + q[way + WAY_FROM]] += 1
    q[q[HOSTS] + q[way + WAY_TO]] += 1
    if math.isnan(t[BEGUN, i]):
        t[BEGUN, i] = now
    u[STATUS, i], u[WAY_NUMBER, i] = GOING, (way - q[WAYS]) // WAY
    whole = float(t[SIZE, i])
    limit = min(whole / alone_s(f, q, way, whole), float(t[OWN_CAP, i]))
    start(f, q, h, (i, way, lane), (float(t[LEFT, i]), limit), now)
    return True


def start(f: Floats, q: Integers, h: Heaps, ids: tuple[int, int, int], how: tuple[float, float], now: float) -> None:
    """A flow of (transfer, way, lane), (bytes, cap)."""
    x = q[SPARE_SLOT]
    q[SPARE_SLOT] = q[x + NEXT]
    rest, limit = max(how[0], LEAST_B), how[1]
    way = ids[1]
    q[CREATED] += 1
    q[x + NUMBER], q[x + TRANSFER], q[x + WAY_OF], q[x + LANE_OF] = q[CREATED], ids[0], way, ids[2]
    q[x + ROW_OF], q[x + SIDE], q[x + HELD_BY], q[x + NEXT], q[x + PREV] = q[way + WAY_ROW], ABSENT, ABSENT, -1, -1
    f[x + CAP], f[x + SHARE] = limit, f[way + WAY_WEIGHT]
    f[x + LIMIT] = limit / f[x + SHARE]
    f[x + SEEN_S], f[x + SEEN_B] = now, rest
    append(q, FIRST_LIVE, x, NEXT_LIVE)
    q[LIVE] += 1
    insert(f, q, h, x, rest, now)


def release(f: Floats, q: Integers, h: Heaps, x: int, n: int, rest: float, now: float) -> None:
    """Takes a transfer's places back and books what it has moved; the flow is no longer in the engine."""
    way, lane = q[x + WAY_OF], q[x + LANE_OF]
    book_flow(f, q, x, n, rest, now)
    for k in range(FOUR):
        place = q[lane + k]
        if q[place + ACTIVE] >= q[place + MOST] - 1:
            freed = q[place + FIRST_WAITING]
            while freed >= 0:
                let_go(q, h, q[freed + WAITER])
                freed = q[freed]
        q[place + ACTIVE] -= 1
    q[q[HOSTS] + q[way + WAY_FROM]] -= 1
    q[q[HOSTS] + q[way + WAY_TO]] -= 1
    unlink(q, FIRST_LIVE, x, NEXT_LIVE)
    q[x + NEXT], q[SPARE_SLOT] = q[SPARE_SLOT], x
    q[x + NUMBER] = 0
    q[LIVE] -= 1


def requeue(f: Floats, q: Integers, h: Heaps, t: Table, u: Table, i: int, now: float) -> None:
    """A transfer that was broken off queues again."""
    lane = q[LANES] + int(u[OF_LANE, i]) * LANE
    hold(f, q, q[lane + KIND], q[N_HELD] - OTHERS + BY_BACK_OFF, now - float(t[QUEUED_AT, i]))
    enqueue(q, h, t, u, i, lane, now)
    let_go(q, h, lane)


# -- what is booked: bytes by way, and what held transfers how long ---------------------------------


def hold(f: Floats, q: Integers, kind: int, cause: int, seconds: float) -> None:
    """Books what has held transfers.

    Args:
        kind: Their class.
        cause: A station's number, or behind those one of `OTHERS`.
        seconds: How long [s].
    """
    if seconds > 0:
        f[q[HELD] + kind * q[N_HELD] + cause] += seconds


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
