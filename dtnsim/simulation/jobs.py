"""Transfers ready for the engine: the stations of each phase, the waits of a worker, the order of the files.

Private stations (windows, threads) are divided among the workers and become a worker's cap; shared
ones are the engine's business, and so is everything below the destination's page cache.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from dtnsim.ground.quantity import in_scenario
from dtnsim.ground.records import SLOW_START, Phase, Problem, Transfer
from dtnsim.simulation.chunks import in_turns, parts_of_files, work
from dtnsim.simulation.opening import Ramp, ramp_of
from dtnsim.simulation.results import Durations

if TYPE_CHECKING:
    import simpy

    from dtnsim.engine.flows import Row
    from dtnsim.simulation.cache import PageCache
    from dtnsim.simulation.transfer_processes import Move


#: part of what connections carry in the end from which on the link holds them: what is within two merged steps of it
_FULL: Final = 0.9

MakeRow = Callable[[Mapping[int, float]], "Row"]  #: makes the engine's row of demands

#: most files with connections of their own whose openings are followed by round trips; those of more are waits
MAX_OPENINGS: Final = 1000


@dataclass(slots=True, eq=False)
class Leg:
    """A phase ready for the engine."""

    name: str  #: Name of the phase.
    fill: Row  #: What a worker's bytes cross before the destination's cache; everything where there is none.
    drain: Row | None  #: What they cross below it; None where there is no cache.
    both: Row  #: One and the other at once.
    cap: float  #: Rate that the private stations allow one worker in ``fill``, the others elsewhere [B/s].
    cap_station: int  #: The station that sets it; -1 for none.
    #: Waiting per byte, per file and at its close, and once a worker.
    byte_s: float
    file_s: float
    close_s: float
    start_s: float
    #: Demands by station, private ones included.
    fill_costs: Mapping[int, float]
    drain_costs: Mapping[int, float]
    ramp: Ramp | None = None  #: How its connections open up.
    anew: bool = False  #: Whether every file has connections of its own.
    #: Rate of one worker beside all others of its transfer, in shares of which ``ramp`` is [B/s].
    ramp_Bps: float = math.inf
    #: The same while the others are elsewhere and leave an open connection their part of the link [B/s].
    open_Bps: float = math.inf
    private_Bps: float = math.inf  #: Rate that the private stations besides them allow one worker [B/s].
    filled: float = 0.0  #: Payload that has crossed its first half, or all of it where there is no cache [B].
    drained: float = 0.0  #: Payload that has crossed what lies below the cache [B].
    seconds: float = 0.0  #: Worker-seconds of moving [s].

    def opened(self, share: float) -> float:
        """Rate that connections at a share of their transfer's final rate allow one worker [B/s].

        Below the link's rate they are bound by their windows, which are the worker's own.
        """
        if self.ramp is None or share == math.inf:
            return self.cap
        return min(self.private_Bps, share * (self.ramp_Bps if share < _FULL * self.ramp.last else self.open_Bps))

    def visits(self, stations: Sequence[int]) -> bool:
        """Whether a byte needs any of some stations."""
        return any(self.fill_costs.get(k, 0.0) > 0 or self.drain_costs.get(k, 0.0) > 0 for k in stations)


def station_capacities(problem: Problem, scenario: int = 0) -> list[float]:
    """Capacity of every station [unit/s]."""
    return [in_scenario(s.capacity, scenario) for s in problem.stations]


def engine_stations(problem: Problem) -> list[bool]:
    """Which stations the engine shares out: all but those that are in a worker's cap."""
    below = {
        d.station
        for t in problem.transfers
        if cached(t) and t.buffered is not None
        for d in t.buffered.demands
        if d.below_cache
    }
    return [not s.split or s.name in below for s in problem.stations]


def cached(transfer: Transfer) -> bool:
    """Whether a page cache lies between the transfer and its medium."""
    below = transfer.buffered is not None and any(d.below_cache for d in transfer.buffered.demands)
    return below and transfer.cache is not None


def phases_of(transfer: Transfer) -> list[Phase]:
    """The phases as simulated: one through the page cache instead of the stretches that it is split into."""
    if not cached(transfer) or transfer.buffered is None:
        return list(transfer.phases)
    steps = [phase.step for phase in transfer.phases]
    place = steps.index(transfer.buffered.step) if transfer.buffered.step in steps else 0
    rest = [phase for phase in transfer.phases if phase.step != transfer.buffered.step]
    return [*rest[:place], transfer.buffered, *rest[place:]]


@lru_cache(maxsize=2)
def _numbers(problem: Problem) -> dict[str, int]:
    """Number of each station by its name."""
    return {s.name: k for k, s in enumerate(problem.stations)}


def legs_of(problem: Problem, transfer: Transfer, capacity: Sequence[float], row: MakeRow, scenario: int) -> list[Leg]:
    """All phases of a transfer ready for the engine, the stations as they are now."""
    return [_leg(problem, transfer, phase, capacity, row, scenario) for phase in phases_of(transfer)]


def _leg(
    problem: Problem, transfer: Transfer, phase: Phase, capacity: Sequence[float], row: MakeRow, scenario: int
) -> Leg:
    """Shared demands as rows, private ones before the cache as the worker's cap."""
    through, index = cached(transfer) and phase is transfer.buffered, _numbers(problem)
    fill: dict[int, float] = {}
    drain: dict[int, float] = {}
    for demand in (d for d in phase.demands if not d.aside):  # those are the page cache's own business
        target, k = drain if through and demand.below_cache else fill, index[demand.station]
        target[k] = target.get(k, 0.0) + in_scenario(demand.per_byte, scenario)
    costs = dict(fill), drain
    cap, cap_station, (ramp, anew, rate, opened), private_Bps = _limits(problem, transfer, fill, capacity, scenario)
    waits = dict.fromkeys(("byte", "file", "close", "start", "open", "lead"), 0.0)
    payload = max(transfer.payload_B, 1.0)  # as the delays were spread over it
    for delay in phase.delays:
        if ramp is None or delay.what != SLOW_START:
            waits[delay.each] += in_scenario(delay.per_byte, scenario) * payload
    lead = 0.0 if transfer.timed else waits["lead"]
    if not transfer.timed and transfer.files < transfer.workers:  # each of those who share a file has one to wait for
        waits["start"], waits["file"], waits["close"] = waits["start"] + waits["file"] + waits["close"], 0.0, 0.0
    crossed = row(fill)
    both = row({k: fill.get(k, 0.0) + drain.get(k, 0.0) for k in fill.keys() | drain.keys()}) if drain else crossed
    start_s = lead + (waits["start"] + waits["open"]) / transfer.workers
    files = max(transfer.files, 1)
    each = waits["byte"] / payload, waits["file"] / files, waits["close"] / files, start_s
    below = row(drain) if through else None
    return Leg(phase.name, crossed, below, both, cap, cap_station, *each, *costs, ramp, anew, rate, opened, private_Bps)


def _limits(
    problem: Problem, transfer: Transfer, fill: dict[int, float], capacity: Sequence[float], scenario: int
) -> tuple[float, int, tuple[Ramp | None, bool, float, float], float]:
    """Cap, its station, (ramp, anew, ramp_Bps, open_Bps) and private_Bps of a `Leg`; split stations leave its row."""
    ramp, anew, cap_station = None, False, -1
    cap = ramp_Bps = open_Bps = private_Bps = math.inf
    for k in list(fill):
        station, streams = problem.stations[k], problem.connections.get(problem.stations[k].name)
        private, nominal = station.private, in_scenario(station.capacity, scenario)
        if not private and streams is None:
            continue
        cost = fill.pop(k) if station.split else fill[k]
        part = in_scenario(station.of_one(transfer.workers), scenario) * (capacity[k] / nominal if nominal > 0 else 1.0)
        limit = part / cost if cost else math.inf
        if streams is not None and not (streams.reopened and transfer.files > MAX_OPENINGS):
            # a share of unlike streams has their openings in it
            ramp, anew = None if transfer.opened else ramp_of(streams, scenario), streams.reopened
            ramp_Bps = capacity[k] / (transfer.workers if private else 1.0) / cost if cost else math.inf
            open_Bps = limit
            limit *= ramp.last if ramp is not None else 1.0
        elif private:
            private_Bps = min(private_Bps, limit)
        if private and limit < cap:
            cap, cap_station = limit, k
    return cap, cap_station, (ramp, anew, ramp_Bps, open_Bps), private_Bps


@dataclass(slots=True, eq=False)
class Job:
    """A transfer under way."""

    transfer: Transfer  #: What is to be moved.
    legs: list[Leg]  #: Its phases, as the path is now.
    steps: Iterator[tuple[float, int]]  #: (bytes, files) of what the next free worker takes.
    moves: dict[int, Move] = field(default_factory=dict)  #: What each worker moves now.
    #: When the first worker began, when the tool's last byte was written (into the cache, where there is one), when all
    #: was done [s]; nan until then.
    started: float = math.nan
    written: float = math.nan
    finished: float = math.nan
    on_medium: float = math.inf  #: When the medium had every byte [s]; infinite where it has not yet.
    #: Bytes and number of the files that are done.
    moved: float = 0.0
    files: int = 0
    carried: float = 0.0  #: What `main` had carried before the path last changed [B].
    file_s: Durations = field(default_factory=Durations)  #: How long each took.
    waiting: list[float] = field(default_factory=list)  #: Worker-seconds spent waiting, by phase.
    moving: list[float] = field(default_factory=list)  #: Worker-seconds spent moving bytes, by phase.
    retries: int = 0  #: Files begun again after a fault.
    flushing: int = 0  #: Workers that wait for the medium.
    abort_after: float = 0.0  #: Time after which a file that a fault has stopped is begun again [s].
    cache: PageCache | None = None  #: The destination's page cache, if there is one.
    shared_since: float = math.nan  #: When the file that all workers share was begun [s]; nan where none is.
    omitted: float = 0.0  #: What had arrived when a timed transfer began to count [B].
    over: bool = False  #: Whether its time is up.
    #: How a file differs from the mean of its equals: its share of stations, its waits, the time of its further steps.
    share_jitter: Callable[[], float] = lambda: 1.0
    wait_jitter: Callable[[], float] = lambda: 1.0
    step_jitter: Callable[[], float] = lambda: 1.0
    follows: list[simpy.Event] = field(default_factory=list)  #: Ends of the transfers that it waits for.
    found: tuple[float, ...] = ()  #: Parts of what it reads that memories on the way have.
    #: (what happens when a phase's dead link may be back, the link); None while no link of it is dead.
    shut: Callable[..., tuple[simpy.Event, int] | None] = lambda _leg, *, stalled=False: None  # noqa: ARG005
    #: Happens when a link dies or is back; None where none ever does.
    turned: Callable[[], simpy.Event | None] = lambda: None
    #: Workers that wait for that, and the link.
    barred: int = 0
    barred_by: int = -1
    in_turns: bool = False  #: Whether its workers wait for their bytes and move them in turns, many to a file.

    @property
    def begun(self) -> bool:
        """Whether it has started."""
        return not math.isnan(self.started)

    @property
    def done(self) -> bool:
        """Whether it has finished."""
        return not math.isnan(self.finished)

    @property
    def workers(self) -> int:
        """Workers that take files, or parts of files where there are fewer files than workers."""
        return max(1, int(self.transfer.workers) if self.transfer.files else 1)

    def begin(self, files: int, now: float) -> float:
        """When the file began of which a worker takes a part now, or the file or batch itself [s]."""
        if not parts_of_files(self.transfer):
            return now
        began = now if math.isnan(self.shared_since) else self.shared_since
        self.shared_since = math.nan if files else began
        return began

    @property
    def arrived(self) -> float:
        """Bytes that have reached the place where the tool waits for them: medium, page cache or memory."""
        return self.passed[self.transfer.flushed]

    @property
    def passed(self) -> tuple[float, float, float]:
        """(bytes carried to the destination or into its cache, bytes on the medium, bytes in the cache) so far."""
        if self.cache is not None:
            return self.cache.filled, self.cache.drained, self.cache.level
        passed = self.carried + self.legs[self.main].filled
        return passed, passed, 0.0

    @property
    def main(self) -> int:
        """The phase that carries the payload to its destination: that through the cache, else the first."""
        return next((n for n, leg in enumerate(self.legs) if leg.drain is not None), 0)


def make_job(problem: Problem, transfer: Transfer, capacity: Sequence[float], row: MakeRow, scenario: int) -> Job:
    """A job ready to run."""
    legs = legs_of(problem, transfer, capacity, row, scenario)
    job = Job(transfer, legs, work(transfer, pauses=any(leg.byte_s > 0 for leg in legs)))
    job.waiting, job.moving = ([0.0] * len(job.legs) for _ in range(2))
    job.in_turns = in_turns(transfer) and any(leg.byte_s > 0 and leg.drain is None for leg in legs)
    return job
