"""Transfers as their tools do them: workers that take files, wait, move bytes, and start again after a fault.

A worker goes through the phases of each file in turn, as in the steady model: it waits for round
trips and file operations, then its bytes flow over the stations of the phase. Private stations
(windows, threads) are divided among the workers; shared ones are the engine's business.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dtnsim.errors import ModelError
from dtnsim.records import Phase, Problem, Transfer

if TYPE_CHECKING:
    import simpy
    from numpy.typing import NDArray

    from dtnsim.simulate.engine import Engine
    from dtnsim.simulation.cache import PageCache

Process = Generator[Any, Any, None]

#: more files than this are moved in batches of equal ones; the batch waits and moves for all of them
MAX_STEPS: Final = 100_000


@dataclass(slots=True)
class Leg:
    """A phase ready for the engine.

    Attributes:
        name: Name of the phase.
        fill: Station -> demand of what a worker's bytes cross before the destination's cache.
        drain: Station -> demand below the cache.
        cap: Rate that the private stations allow one worker in ``fill`` [B/s].
        cap_station: The station that sets it.
        byte_s, file_s, start_s: Waiting per byte, per file, and once a worker.
        dense: (K,) demand of fill and drain together, private stations included.
        dense_fill: (K,) demand of fill alone.
    """

    name: str
    fill: dict[int, float]
    drain: dict[int, float]
    cap: float
    cap_station: int
    byte_s: float
    file_s: float
    start_s: float
    dense: NDArray[np.float64]
    dense_fill: NDArray[np.float64]


def leg(problem: Problem, transfer: Transfer, phase: Phase, *, scenario: int = 0) -> Leg:
    """Makes a phase ready: shared demands as a row, private ones as the worker's cap."""
    index = {s.name: k for k, s in enumerate(problem.stations)}
    fill: dict[int, float] = {}
    drain: dict[int, float] = {}
    dense, dense_fill = np.zeros(len(index)), np.zeros(len(index))
    for demand in phase.demands:
        k, value = index[demand.station], at(demand.per_byte, scenario)
        dense[k] += value
        dense_fill[k] += 0.0 if demand.below_cache else value
        target = drain if demand.below_cache else fill
        target[k] = target.get(k, 0.0) + value
    cap, cap_station = math.inf, -1
    for k in [k for k in fill if problem.stations[k].private]:
        limit = at(problem.stations[k].capacity, scenario) / transfer.workers / fill[k] if fill[k] else math.inf
        if limit < cap:
            cap, cap_station = limit, k
        del fill[k]
    waits = dict.fromkeys(("byte", "file", "start"), 0.0)
    for delay in phase.delays:
        waits[delay.each] += at(delay.per_byte, scenario) * transfer.payload_B
    payload = max(transfer.payload_B, 1.0)
    return Leg(
        phase.name, {k: d for k, d in fill.items() if d}, {k: d for k, d in drain.items() if d}, cap, cap_station,
        waits["byte"] / payload, waits["file"] / max(transfer.files, 1), waits["start"] / transfer.workers,
        dense, dense_fill,
    )  # fmt: skip


def at(value: Any, scenario: int) -> float:
    """The value of a parameter in one scenario."""
    flat = np.ravel(value)
    return float(flat[scenario if flat.size > 1 else 0])


@dataclass(slots=True)
class Job:
    """A transfer under way."""

    transfer: Transfer
    legs: list[Leg]
    order: Iterator[tuple[float, int]]
    started: float = math.nan
    finished: float = math.nan
    moved: float = 0.0
    files: int = 0
    file_s: list[float] = field(default_factory=list)
    waiting: float = 0.0
    moving: float = 0.0
    retries: int = 0
    busy: dict[int, tuple[Any, Leg]] = field(default_factory=dict)
    waiters: int = 0
    changed: Any = None
    may_change: bool = False
    abort_after: float = -1.0
    cache: PageCache | None = None

    @property
    def done(self) -> bool:
        """Whether it has finished."""
        return not math.isnan(self.finished)


def file_order(transfer: Transfer) -> Iterator[tuple[float, int]]:
    """(bytes, files) of each step: one file, or a batch of equal ones where there are very many.

    Sizes are taken in turn, as a directory walk meets them, not all small ones first.
    """
    per_step = max(1, math.ceil(transfer.files / MAX_STEPS))
    left = [[size, count] for size, count in zip(transfer.sizes_B, transfer.counts, strict=True) if count > 0]
    while left:
        for group in left:
            take = min(per_step, group[1])
            group[1] -= take
            yield group[0] * take, int(take)
        left = [g for g in left if g[1] > 0]


def make_job(problem: Problem, transfer: Transfer, *, scenario: int = 0) -> Job:
    """A job ready to run.

    Raises:
        ModelError: a file set larger than its target volume.
    """
    if transfer.payload_B > transfer.space_B:
        raise ModelError(
            f"{transfer.name}: {transfer.payload_B:.4g} bytes do not fit the destination of {transfer.space_B:.4g}; "
            "give a smaller data set or a larger volume"
        )
    return Job(transfer, legs_of(problem, transfer, scenario=scenario), file_order(transfer))


def legs_of(problem: Problem, transfer: Transfer, *, scenario: int = 0) -> list[Leg]:
    """The phases as they are simulated: a page cache is simulated, not split into stretches."""
    phases = list(transfer.phases)
    if cached(transfer):
        assert transfer.buffered is not None
        name = transfer.buffered.name
        rest = [p for p in phases if p.name != name and not p.name.startswith(f"{name}: ")]
        phases = [transfer.buffered, *rest]
    return [leg(problem, transfer, p, scenario=scenario) for p in phases]


def cached(transfer: Transfer) -> bool:
    """Whether a page cache stands between the transfer and its medium."""
    below = transfer.buffered is not None and any(d.below_cache for d in transfer.buffered.demands)
    return below and transfer.cache is not None


def run_job(env: simpy.Environment, engine: Engine, job: Job) -> Process:
    """The process of a transfer: waits for its start, runs its workers, notes its end."""
    if job.transfer.start_s:
        yield env.timeout(job.transfer.start_s)
    job.started = env.now
    job.changed = env.event()
    count = max(1, min(int(job.transfer.workers), job.transfer.files))
    yield env.all_of([env.process(_worker(env, engine, job, n)) for n in range(count)])
    if job.cache is not None and job.transfer.flushed:
        yield job.cache.emptied()
    job.finished = env.now


def _worker(env: simpy.Environment, engine: Engine, job: Job, number: int) -> Process:
    first = True
    for size, count in job.order:
        began = env.now
        again = True
        while again:
            again = False
            for place in range(len(job.legs)):
                wait = job.legs[place].byte_s * size + job.legs[place].file_s * count
                wait += job.legs[place].start_s if first else 0.0
                if wait > 0:
                    job.waiters += 1
                    yield env.timeout(wait)
                    job.waiters -= 1
                    job.waiting += wait
                began_moving = env.now
                again = yield from _move(engine, job, number, place, size)
                job.moving += env.now - began_moving
                if again:
                    job.retries += count
                    yield env.timeout(job.abort_after)
                    break
        first = False
        job.moved += size
        job.files += count
        job.file_s.append((env.now - began) / count)


def _move(engine: Engine, job: Job, number: int, place: int, size: float) -> Generator[Any, Any, bool]:
    """Moves a file's bytes through one phase; starts anew with what is left when the path changes.

    Returns:
        True where a fault aborted the file.
    """
    left = size
    while left > 0:
        now = job.legs[place]
        weight = job.transfer.weight / job.transfer.workers
        through_cache = job.cache is not None and now.drain and place == 0
        if job.cache is not None and through_cache:
            flow = job.cache.fill(now.fill, left, weight, now.cap, (job, number))
        else:
            row = {k: now.fill.get(k, 0.0) + now.drain.get(k, 0.0) for k in now.fill.keys() | now.drain.keys()}
            flow = engine.transfer(row, left, weight=weight, cap=now.cap, label=(job, number))
        job.busy[number] = (flow, now)
        yield (flow | job.changed) if job.may_change else flow
        del job.busy[number]
        if flow.triggered:
            return False
        left = job.cache.forget(flow) if job.cache is not None and through_cache else engine.cancel(flow)
        if job.abort_after >= 0:
            return True
    return False
