"""Where a worker waits while no station works: round trips, file operations, requests one at a time, slow start."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Final, Literal

import numpy as np

from dtnsim.components.access import Access, Thread
from dtnsim.components.filesystem import Stretch
from dtnsim.composition import completion, tcp
from dtnsim.composition.resolved_transfer import Leg
from dtnsim.composition.storage import Storage
from dtnsim.ground.ledger import Row, per_station, solo_rate
from dtnsim.ground.quantity import Value, middle
from dtnsim.ground.records import REPAIR, SLOW_START, Connection, Demand, Phase, Station
from dtnsim.ground.term import Term, count, largest, parameter, term
from dtnsim.physics.waiting import late_through_cache
from dtnsim.tools.plan import Job, NetUse, Plan, Step

_ANSWERS: Final = "control round trips"  #: what each file waits for
_PLAIN = NetUse(Thread("kernel"), Thread("kernel"))  #: how the connections of a mount are used: nothing opens them anew
Each = Literal["byte", "file", "close", "start", "open", "lead"]  #: what a delay belongs to
AGAIN: Final = ("byte", "file", "close")  #: what a worker waits for again and again, not once at its start
Wait = tuple[Term, str, Each]  #: (seconds per payload byte, what is waited for, what it belongs to)


@dataclass(frozen=True, slots=True)
class Waits:
    """Waits of a whole step, as (seconds per payload byte, what is waited for, what it belongs to)."""

    before: list[Wait]  #: Requests, set-up and round trips.
    operations: list[Wait]  #: File operations at each end, which may go on while bytes move.
    after: list[Wait]  #: Other work of each file.
    #: Connections of the volumes that it uses to servers beyond the network, and their stations.
    mounted: list[tuple[str, Connection]]


def waits_of(storage: Storage, leg: Leg, step: Step, row: Row) -> Waits:
    """What the workers wait for in a step, whatever stretches it is cut into."""
    draw, job = storage.ledger.draw, leg.job
    cost, each = step.files, 1.0 / term(max(job.payload_B, 1.0), "B")
    before: list[Wait] = []
    for reading in _readings(storage, leg, step, row):
        before.append((term(reading.delay, "s/B") * term(step.share), reading.what, "byte"))
        if positive(term(reading.first).value):
            before.append((_first_bytes(reading, leg, step, row), reading.first_what, "byte"))
    if step is leg.plan.steps[0]:
        before += _opening(storage, leg, each)
    files = _files(job, leg.plan)
    rtt = leg.route.rtt(draw) if step.net is not None and leg.route is not None else 0.0
    if cost.round_trips and positive(rtt):
        trips = term(cost.round_trips) if cost.drawn is None else row.term(cost.drawn)
        waited = count(files, "file") * trips * term(rtt, "s", "round-trip time of the route") / cost.ahead
        before.append((waited * each, _ANSWERS, "file"))
    operations: list[Wait] = []
    hidden = storage.operations(leg.destination, cost.destination, leg, cost)[0] if cost.together else 0.0
    for end, names, number, beside in (
        (leg.source, cost.source, job.files, hidden),
        (leg.destination, cost.destination, job.files, 0.0),
        (leg.destination, cost.directory, job.directories, 0.0),
    ):
        seconds, base = storage.operations(end, names, leg, cost)
        seconds = np.maximum(seconds - beside, 0.0)  # what one end does while the other works costs no time
        if not number or not positive(seconds):
            continue
        total = count(number, "file") * term(seconds, "s", base) * each
        mounted = end.mounted
        flushed = positive(storage.flushed(end, names, leg, cost))
        slow = " x latency to the server" * mounted.away + (" and flushes of its disks" if flushed else "")
        text = f"file operations{slow} ({' + '.join(mounted.filesystem.called(names))})"
        operations.append((total, f"{text} on {end.host.name}:{end.volume}", "file"))
    after: list[Wait] = []
    if cost.fixed is not None:
        after.append((count(files, "file") * row.term(cost.fixed) * each, "per-file work", "file"))
    write = storage.use(leg.destination, step.write, leg)
    if write is not None and positive(write.commit_s):
        waited = count(job.files, "file") * term(write.commit_s, "s", "what has gathered in the server's memory")
        after.append((waited * each, "COMMIT: the server's disks, once all has come", "close"))
    return Waits(before, operations, after, list(storage.connections(leg, step, row)))


def delays(
    waits: Waits, leg: Leg, step: Step, part: Stretch, row: Row, metadata: list[Demand], *, fills: bool, late: Value
) -> list[Demand]:
    """Seconds per payload byte in which a worker waits while no station works, in a stretch of a step.

    ``metadata`` has what file operations take of stations: the time that a worker spends there is part of its wait.
    Where a page cache lies between the worker and the medium (``part.behind``), the medium works meanwhile: how long a
    connection opens up is then a matter of what comes before the cache.

    Args:
        waits: Those of the whole step.
        part: The stretch.
        row: What bytes charge in it.
        metadata: What file operations charge in it.
        fills: Whether the worker fills a page cache that has room.
        late: Part that is felt of what a connection that opens once loses before the cache (`felt_of_opening`).
    """
    gathers = fills or positive(part.behind)
    above = replace(row, demands=[d for d in row.demands if not d.below_cache]) if gathers else row
    full_waits = _waits_in(waits, leg, step, part, (row, above), metadata)
    remaining = _left_of_waits(full_waits, row.ledger.stations, [*row.demands, *metadata], leg, part)
    name, demands = f"{leg.job.name}.workers", []
    for seconds, text, each in full_waits:
        left = remaining.get(each)
        if text == SLOW_START and np.any(np.asarray(late) < 1.0):
            left = term(late, "", "dtnsim.physics.waiting: what comes late, the medium takes from the cache")
        lasts = seconds if left is None else seconds * left
        if positive(lasts.value):
            demands.append(Demand(name, lasts.value, text, lasts.formula, lasts.source, each))
    return demands


def felt_of_opening(
    leg: Leg, step: Step, row: Row, stretches: Sequence[Stretch], write: Access, begins_B: Value
) -> Value:
    """Part of what a connection loses before a page cache, as it opens, that the whole write takes longer [1].

    Args:
        row: What the step charges.
        stretches: Those of the write.
        write: How it is written, with the rates before the cache and of the medium.
        begins_B: Bytes with which write-back begins.
    """
    elsewhere = any(s.net or s.cpu or s.read or s.write or s.reread for s in leg.plan.steps if s is not step)
    if leg.route is None or step.net is None or leg.timing is not None or elsewhere or _anew(leg, step.net):
        return 1.0  # the medium has its time while workers are at other steps, or between files
    workers, size_B = leg.plan.workers, max(leg.job.payload_B, 1.0)
    above = replace(row, demands=[d for d in row.demands if not d.below_cache])
    main = tcp.main_connection(row, leg.route)
    opened = min(leg.job.files, workers) if step.net.reopened else workers
    filling, medium = (completion.opening_costs(leg, step.net, main, holds)[0] / opened for holds in (above, row))
    first = completion.opening_costs(leg, step.net, main, above, most_B=middle(begins_B))[0] / opened
    fill_s, drain_s = 1 / np.asarray(write.fill_Bps), 1 / np.maximum(write.drain_Bps, 1e-9)
    seconds = size_B * (sum(np.maximum(p.cpu * fill_s, p.medium * drain_s) for p in stretches) - fill_s)
    late = late_through_cache(filling, first, medium, seconds, np.minimum(begins_B, size_B) * fill_s)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(np.asarray(filling) > 0, late / filling, 1.0)


def _anew(leg: Leg, net: NetUse) -> bool:
    """Whether workers open connections again and again, each for a file."""
    return net.reopened and leg.job.files > leg.plan.workers


def _left_of_waits(
    full_waits: list[Wait], stations: Mapping[str, Station], demands: list[Demand], leg: Leg, part: Stretch
) -> dict[Each, Term]:
    """What is left of waits at bytes and at files once the medium works meanwhile.

    The medium has something to do for as long as it needs more time than the worker, who waits and fills the cache.
    Between two files it has no more than the cache holds.
    """
    above = [d for d in demands if not d.below_cache]
    meanwhile = any(each in AGAIN for _, _, each in full_waits)
    if not meanwhile or not positive(part.behind) or len(above) == len(demands):
        return {}
    load = _loads(stations, above, leg.plan.workers, {})
    cached = _longest(load)
    with_medium = _longest(_loads(stations, [d for d in demands if d.below_cache], leg.plan.workers, load))
    spare = np.maximum(with_medium - cached, 0.0)
    limits: dict[Each, Value] = {"byte": np.inf, "file": part.behind / max(leg.job.mean_B, 1.0) * with_medium}
    remaining: dict[Each, Term] = {}
    for each, limit in limits.items():
        waiting = sum((s.value for s, _, belongs in full_waits if belongs == each), 0.0)
        if not positive(waiting) or not positive(spare):
            continue
        hidden = np.minimum(np.minimum(waiting, spare), limit)
        left = 1.0 - hidden / np.where(np.asarray(waiting) > 0, waiting, 1.0)
        remaining[each] = term(left, "", "the rest of it passes while the medium takes what is in the page cache")
        spare = spare - hidden
    return remaining


def _waits_in(
    waits: Waits, leg: Leg, step: Step, part: Stretch, rows: tuple[Row, Row], metadata: list[Demand]
) -> list[Wait]:
    """What a worker waits for in a stretch of a step, whatever goes on meanwhile; ``rows``: all, and what holds it."""
    full_waits: list[Wait] = []
    row, holds = rows
    divided = leg.timing is None and leg.job.largest_B > leg.plan.piece_B
    shared = divided and leg.job.files < leg.plan.workers  # each of them has the one file to wait for

    def wait(seconds: Term, text: str, each: Each = "file") -> None:
        if positive(seconds.value):
            full_waits.append((seconds, text, "start" if shared and each in ("file", "close") else each))

    wait(term(part.delay, "s/B") * term(step.share), part.what, "byte")
    if not positive(part.cpu):
        return full_waits  # a flush has no files of its own
    share = term(part.cpu)
    of_payload = share / term(max(leg.job.payload_B, 1.0), "B")
    main = None if leg.route is None or step.net is None else tcp.main_connection(row, leg.route)
    beside = 0.0 if step.net is None else completion.beside_answers(leg, step.net, main, holds)
    for seconds, text, each in waits.before:
        whole = seconds * share
        if text == _ANSWERS and np.any(beside):
            more = term(beside, "s", "dtnsim.physics.tcp: a file's flights beside the connections' mean rate")
            whole = largest(whole + more * of_payload, term(0.0, "s/B"))
        wait(whole, text, each)
    spent = _time_added(row.ledger.stations, row.demands, metadata, leg.plan.workers)
    for seconds, text, each in waits.operations:
        if not positive(seconds.value):
            continue
        total = seconds * share
        left = largest(total - term(spent, "s/B"), term(0.0, "s/B")) if positive(spent) else total
        wait(left, text, each)
        spent = np.maximum(spent - total.value, 0.0)
    for seconds, text, each in waits.after:
        wait(seconds * share, text, each)
    anew = step.net is not None and _anew(leg, step.net)
    costs = [completion.opening_costs(leg, _PLAIN, streams, row) for streams in waits.mounted]  # side by side
    if leg.route is not None and step.net is not None:
        costs.append(completion.opening_costs(leg, step.net, main, holds))
        late = completion.repair(leg, step.net, main, holds, anew=anew)
        lost = term(late, "s", "dtnsim.physics.tcp.rate_over_time: holes that are left when the last byte comes")
        wait(lost * of_payload, REPAIR, "file" if anew else "lead")
    ramp, opens = (reduce(np.maximum, times) for times in zip((0.0, 0.0), *costs, strict=True))
    again: Each = "file" if anew else "start"
    parts: dict[Each, Value] = {"open": np.minimum(opens, ramp), again: np.maximum(ramp - opens, 0.0)}
    for when, times in parts.items():
        lost = term(times, "s", "dtnsim.physics.tcp.rate_over_time: the ramp against the steady rate")
        wait(lost * of_payload, SLOW_START, when)
    return full_waits


def _files(job: Job, plan: Plan) -> int:
    """Files that the workers' waits are counted by.

    Where the sizes are known the workers that are left without a file in the last round are not at work
    (`dtnsim.physics.waiting`); otherwise, and for fewer files than workers, they wait as if they had one.
    """
    if job.sizes_B and job.files >= plan.workers and job.largest_B <= plan.piece_B:
        return job.files
    return math.ceil(job.files / plan.workers) * plan.workers


def _opening(storage: Storage, leg: Leg, each: Term) -> list[Wait]:
    """What the tool does once: before any worker moves, and for each further worker's connection."""
    first, further, draw = leg.plan.opening, leg.plan.workers - 1, storage.ledger.draw
    if leg.route is not None:
        trip = leg.route.rtt(draw)
    else:  # a store that the tool itself connects to, or nothing but the start of its processes
        ends = [e for e in (leg.source, leg.destination) if e.volume is not None]
        stores = [e for e in ends if e.mounted.filesystem.connected_by_tools]
        trip = storage.server_rtt(stores[0]) if stores else 0.0
    if first.work is None and first.connect_work is None and not positive(trip):
        return []
    rtt = term(trip, "s", "round-trip time of the route")
    lead = first.round_trips * rtt + (term(0.0) if first.work is None else parameter(draw, first.work))
    more = first.connect * rtt + (term(0.0) if first.connect_work is None else parameter(draw, first.connect_work))
    return [
        (lead * each, first.what or "set-up", "lead"),
        (count(further, "connection") * more * each, "further connections", "start"),
    ]


def _readings(storage: Storage, leg: Leg, step: Step, row: Row) -> Iterator[Stretch]:
    """How the files that a step reads are read: random and direct requests are waited for."""
    for end, _, use in storage.uses(leg, step):
        if use.operation == "read":
            yield end.mounted.filesystem.stretches(row.seen_from(end.host.name), use, end.host, end.volume or "")[0]


def _first_bytes(reading: Stretch, leg: Leg, step: Step, row: Row) -> Term:
    """What a worker's time for a file's first bytes adds to that at its slowest station [s/B].

    They come before anything else is done with the file, so it takes at least these and all but the drives together.
    A tool that goes on to the next file without an answer has bytes of the one before on their way meanwhile.

    Neglects: that a sender's buffers may run dry before those of the next file come.
    """
    held = [d for d in row.demands if not d.below_cache]
    ahead = step.net is not None and not (step.net.stopped or step.net.reopened)
    others = [] if ahead else [d for d in held if d.station not in reading.by]
    longest, beside = (time_alone(row.ledger.stations, each, leg.plan.workers) for each in (held, others))
    spent = term(longest - beside, "s/B", "less what the drives, or all, take longer than what follows")
    return largest(term(reading.first, "s/B") * term(step.share) - spent, term(0.0, "s/B"))


def _time_added(stations: Mapping[str, Station], data: list[Demand], metadata: list[Demand], workers: int) -> Value:
    """Seconds per byte that metadata operations add to what one worker spends at the slowest station of its phase."""
    if not metadata:
        return 0.0
    load = _loads(stations, data, workers, {})
    before = _longest(load)
    return _longest(_loads(stations, metadata, workers, load)) - before


def hidden_by_medium(
    phases: Sequence[Phase], buffered: Phase, stations: Mapping[str, Station], cache: Sequence[Value], workers: int
) -> list[Phase]:
    """The phases of a transfer, with what the medium does of a worker's bytes while it is at another step.

    Args:
        phases: The phases.
        buffered: What goes through the page cache, as one phase.
        cache: Part of what a worker writes at once that the cache has room for; part of all bytes that gather there
            before any is written back, and the seconds per byte of all after which that begins however few they are.
        workers: Workers. Of one, what the medium writes while it fills the cache does not wait; of several, the others
            may keep the medium busy meanwhile, so that all of a worker's bytes may.
    """
    writing = [n for n, p in enumerate(phases) if p.step == buffered.step]
    elsewhere = [n for n, p in enumerate(phases) if p.step != buffered.step and p.demands]
    if not writing or not elsewhere:
        return list(phases)
    seconds = partial(time_alone, stations, workers=workers)
    medium = seconds([d for d in buffered.demands if d.below_cache])
    free = seconds([d for d in buffered.demands if not d.below_cache]) + recurring(buffered)
    takes, away = (
        sum((seconds(phases[n].demands) + recurring(phases[n]) for n in group), 0.0) for group in (writing, elsewhere)
    )
    longer = np.maximum(takes - free, 0.0) if workers == 1 else medium
    room, gathers, age = cache
    away = away * (1.0 - np.minimum(np.minimum(gathers, age / np.maximum(free + away, 1e-300)), 1.0))
    hidden = np.minimum(np.minimum(longer, away), room * medium)
    last, next_one = writing[-1], elsewhere[-1]
    written = seconds([d for d in phases[last].demands if d.below_cache])
    if not positive(hidden) or not positive(written):
        return list(phases)
    part = np.minimum(hidden / np.where(np.asarray(written) > 0, written, 1.0), 1.0)
    rest = tuple(_times(d, 1.0 - part) if d.below_cache else d for d in phases[last].demands)
    moved = tuple(_times(d, part, aside=True) for d in phases[last].demands if d.below_cache)
    changed = {last: rest, next_one: phases[next_one].demands + moved}
    return [replace(p, demands=changed.get(n, p.demands)) for n, p in enumerate(phases)]


def recurring(phase: Phase) -> Value:
    """Seconds per byte that a worker waits again and again, at bytes or at files, not once at its start."""
    return sum((d.per_byte for d in phase.delays if d.each in AGAIN), 0.0)


def _times(demand: Demand, part: Value, *, aside: bool = False) -> Demand:
    """A demand scaled to the part that is served beside, or the rest of it."""
    aside_note = "this part the page cache writes back while a worker is at another step"
    other = aside_note if aside else "the page cache writes the rest back while a worker is at another step"
    share = Term(demand.per_byte, f"({demand.formula})", demand.source) * term(part, source=other)
    return replace(demand, per_byte=share.value, formula=share.formula, source=share.source, aside=aside)


def time_alone(stations: Mapping[str, Station], demands: Iterable[Demand], workers: int) -> Value:
    """Seconds per byte that one worker spends at the slowest station of some demands when nobody else is there.

    Args:
        demands: The demands.
        workers: How many workers share what is private.
    """
    return _longest(_loads(stations, demands, workers, {}))


def _loads(
    stations: Mapping[str, Station], demands: Iterable[Demand], workers: int, load: dict[str, Value]
) -> dict[str, Value]:
    """Seconds per byte that one worker spends at each station alone, added to what it spends there already."""
    with np.errstate(divide="ignore", invalid="ignore"):
        for demand in demands:
            capacity = stations[demand.station].of_one(workers)
            load[demand.station] = load.get(demand.station, 0.0) + _ratio(demand.per_byte, capacity)
    return load


def _longest(load: Mapping[str, Value]) -> Value:
    longest: Value = 0.0
    for time in load.values():
        if isinstance(time, float) and isinstance(longest, float):  # numpy takes ten times as long for one number
            longest = time if time > longest or math.isnan(time) else longest
        else:
            longest = np.maximum(longest, time)
    return longest


def _ratio(cost: Value, capacity: Value) -> Value:
    """Time of a cost; none costs nothing, whatever the capacity [s/B]."""
    if isinstance(cost, float) and not cost > 0:
        return 0.0
    if isinstance(capacity, float) and capacity > 0:
        return cost / capacity
    return np.where(np.asarray(cost) > 0, np.divide(cost, capacity), 0.0)


def rate_beside(stations: Mapping[str, Station], demands: Sequence[Demand], fill: Value) -> Value:
    """Rate that is left to write-back while a cache is filled: stations may serve both (a disk that is read too) [B/s].

    Args:
        demands: Of the whole phase, those below the cache and those before it.
        fill: Rate at which the cache is filled [B/s].
    """
    above, below = ([d for d in demands if d.below_cache == is_below] for is_below in (False, True))
    left = {d.station: stations[d.station] for d in below}
    for name, cost in per_station(d for d in above if d.station in left).items():
        left[name] = replace(left[name], capacity=np.maximum(left[name].capacity - fill * cost, 0.0))
    return solo_rate(left, below)


def positive(value: Value) -> bool:
    """Whether any scenario has more than nothing."""
    return value > 0 if isinstance(value, float) else bool(np.any(np.asarray(value) > 0))
