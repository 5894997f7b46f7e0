"""Transfers as tools run them: workers that take files, wait, move bytes, and start again after a fault.

A worker goes through the phases of each file in turn, as in the steady model: it waits for round
trips and file operations, then its bytes flow over the stations of the phase. Connections open up
as the round model of TCP says (`dtnsim.simulation.opening`): a cap that rises from round trip to round trip, once
where they stay open. Where very many files have connections of their own, slow start is a wait.

Neglects: slow start after an outage or a pause; a fault's restart takes up a file from its beginning.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, Final

from dtnsim.simulation.chunks import turns

if TYPE_CHECKING:
    import simpy

    from dtnsim.engine.engine import Engine, Transfer
    from dtnsim.simulation.jobs import Job, Leg

Process = Generator[Any, Any, None]

STOPPED: Final = -1.0  #: value of a flow's event where a fault has stopped it (else it is the time that the flow took)


class Move:
    """Bytes of one worker on their way through one leg.

    Attributes:
        flow: The engine's transfer; its event happens at the end, or when a fault stops it.
        leg: The leg as it was when its bytes were last counted.
        left: Bytes that were left then [B].
        since: When that was [s].
        share: How far its connections are open, as `jobs.Leg.opened` takes it; infinite where they are.
    """

    __slots__ = ("flow", "left", "leg", "share", "since")

    def __init__(self, flow: Transfer, leg: Leg, size: float, now: float) -> None:
        self.flow, self.leg, self.left, self.since, self.share = flow, leg, size, now, math.inf

    def book(self, left: float, time: float) -> float:
        """Counts what has moved up to a time for its leg; returns it [B]."""
        moved = self.left - left
        self.leg.filled += moved
        self.leg.seconds += time - self.since
        self.left, self.since = left, time
        return moved


def book(engine: Engine, job: Job, time: float) -> None:
    """Counts what a job has moved up to ``time`` [s], at which nothing has changed since the last event."""
    if job.cache is not None:
        job.cache.book(time)
    left = engine.fluid.left
    for move in job.moves.values():
        if move.leg.drain is None:
            move.book(left(move.flow.flow, time), time)


def run_job(
    engine: Engine,
    job: Job,
    begun: Callable[[], None] = lambda: None,
    ended: Callable[[], None] = lambda: None,
    follows: Callable[[], None] = lambda: None,
) -> Process:
    """The process of a transfer: waits for its start and for those before it, runs its workers, notes its end.

    Args:
        begun: Told that it begins.
        ended: Told that it has ended.
        follows: Told that those before it have finished.
    """
    env = engine.env
    if job.transfer.start_s:
        yield env.timeout(job.transfer.start_s)
    if job.follows:
        yield env.all_of(job.follows)
    follows()
    if job.transfer.pause_s:
        yield env.timeout(job.transfer.pause_s)
    job.started = env.now
    begun()
    workers = [env.process(Worker(engine, job, n).run()) for n in range(job.workers)]
    if job.transfer.timed:
        yield from _until_time_is_up(engine, job)
        ended()
        return
    yield env.all_of(workers)
    job.written = env.now
    if job.cache is not None and job.transfer.flushed:
        job.flushing += 1
        yield job.cache.flushed()
        job.flushing -= 1
    job.finished = job.on_medium = env.now
    if job.cache is not None and not job.transfer.flushed:
        job.on_medium = math.inf
        env.process(_settling(env, job))
    ended()


def _settling(env: simpy.Environment, job: Job) -> Process:
    """Waits until the medium has what the tool has left in memory."""
    assert job.cache is not None
    yield job.cache.emptied()
    job.on_medium = env.now


def _until_time_is_up(engine: Engine, job: Job) -> Process:
    """Ends a timed transfer, of which the bytes count that arrive after the omitted seconds."""
    env = engine.env
    yield env.timeout(job.transfer.omitted_s)
    book(engine, job, env.now)
    job.omitted = job.arrived
    yield env.timeout(job.transfer.time_s)
    book(engine, job, env.now)
    job.moved, job.over = job.arrived - job.omitted, True
    stop(engine, job, 0.0)
    job.written = job.finished = job.on_medium = env.now


class Worker:
    """One worker of a transfer, by number: takes files, waits for what each phase waits for, and moves its bytes."""

    __slots__ = ("_ages", "_engine", "_env", "_fresh", "_job", "_number")

    def __init__(self, engine: Engine, job: Job, number: int) -> None:
        self._engine, self._env, self._job, self._number = engine, engine.env, job, number
        self._fresh = True  # it has had no file yet
        self._ages: dict[int, float] = {}  # how long its connections of each phase have moved bytes [s]

    def run(self) -> Process:
        """Its process."""
        env, job = self._env, self._job
        for size, files in job.steps:
            began = job.begin(files, env.now)
            while not (yield from self._step(size, files)):
                if job.over:
                    return
                job.retries += files
                yield env.timeout(job.abort_after)
            self._fresh = False
            if not job.over:
                job.moved += size
            job.files += files
            if files:  # none with a part of a file that others are still at
                job.file_s.add((env.now - began) / files, files)

    def _step(self, size: float, files: int) -> Generator[Any, Any, bool]:
        """All phases of a file, or of a batch of equal ones; False where a fault stopped it, or the time is up."""
        job = self._job
        for place, leg in enumerate(job.legs):
            cut = job.in_turns and leg.byte_s > 0 and leg.drain is None
            pause, luck = job.wait_jitter(), job.share_jitter() if size > 0 else 1.0
            for turn, part in enumerate(turns(job.transfer, size, self._number) if cut else (size,)):
                if not (yield from self._part(place, part, 0 if turn else files, (luck, pause), first=turn == 0)):
                    return False
            if size > 0 and job.cache is not None and job.cache.each_file and leg.drain is not None:
                job.flushing += 1
                yield job.cache.flushed()
                job.flushing -= 1
            if leg.close_s and files:
                yield from self._wait(slice(place, place + 1), leg.close_s * files * pause)
                job.waiting[place] += leg.close_s * files * pause
        return True

    def _part(
        self, place: int, size: float, files: int, chance: tuple[float, float], *, first: bool
    ) -> Generator[Any, Any, bool]:
        """Waits for a part of a file in one phase, then moves it; False where a fault stopped it, or the time is up.

        The ``chance`` is luck and pause of the file, of which it may be the ``first`` part.
        """
        env, job, ages, (luck, pause) = self._env, self._job, self._ages, chance
        crossed = slice(None) if self._fresh else slice(place, place + 1)  # a log-in crosses what any phase does
        yield from self._let_through(crossed)
        leg = job.legs[place]
        wait = (leg.byte_s * size + leg.file_s * files) * pause + (leg.start_s if self._fresh and first else 0.0)
        if wait > 0:
            yield from self._wait(crossed, wait)
            job.waiting[place] += wait
            leg = job.legs[place]
        if job.over:
            return False
        if size <= 0:
            return True
        began = env.now
        flow = self._start(leg, size, files, luck)
        if leg.anew and first:
            ages.pop(place, None)
        age = ages.get(place, 0.0)
        if leg.ramp is not None and age < leg.ramp.ends_s[-1]:
            env.process(_open_up(self._engine, job, job.moves[self._number], age))
        took = yield flow
        ages[place] = age + env.now - began  # while it waits nothing is lost or acknowledged
        move = job.moves.pop(self._number)  # all has moved, or a fault has stopped it
        if move.leg.drain is None:
            move.book(0.0, env.now)
        job.moving[place] += env.now - began
        return bool(took != STOPPED)

    def _let_through(self, crossed: slice) -> Generator[Any, Any, None]:
        """Waits while a link of some phases is dead, over which no connection is set up or opens."""
        job = self._job
        while not job.transfer.timed and (barrier := next(filter(None, map(job.shut, job.legs[crossed])), None)):
            back, job.barred_by = barrier
            job.barred += 1
            yield back
            job.barred -= 1

    def _wait(self, crossed: slice, seconds: float) -> Generator[Any, Any, None]:
        """Waits for round trips and operations while the links are alive, and for the rest once they are back."""
        env = self._env
        while (turned := self._job.turned()) is not None:
            began, timer = env.now, env.timeout(seconds)
            yield env.any_of([timer, turned])
            if timer.processed:
                break
            seconds = max(seconds - (env.now - began), 0.0)
            yield from self._let_through(crossed)
        else:
            yield env.timeout(seconds)

    def _start(self, leg: Leg, size: float, files: int, luck: float) -> Transfer:
        """Starts bytes on their way through a phase."""
        job = self._job
        weight = job.transfer.weight / job.transfer.workers * luck
        if job.cache is not None and leg.drain is not None:
            move = job.cache.fill(leg, size, weight, max(files, 1))
        else:
            cap = leg.cap if leg is job.legs[job.main] else leg.cap / job.step_jitter()
            flow = self._engine.transfer(leg.fill, size, weight=weight, cap=cap, label=job)
            move = Move(flow, leg, size, self._env.now)
        job.moves[self._number] = move
        return move.flow


def _open_up(engine: Engine, job: Job, move: Move, age_s: float) -> Process:
    """Raises the cap of a move until its connections are open or it has ended."""
    ramp, env = move.leg.ramp, engine.env
    assert ramp is not None
    for seconds, move.share in (*ramp.after(age_s), (0.0, math.inf)):
        engine.change(move.flow, cap=move.leg.opened(move.share))  # of the path as it is now
        if job.cache is not None:
            job.cache.look()
        yield env.timeout(seconds)
        while not move.flow.triggered and (barrier := job.shut(move.leg, stalled=True)) is not None:
            yield barrier[0]
        if move.flow.triggered:
            return


def stop(engine: Engine, job: Job, retry_after: float) -> None:
    """Stops the files under way; their workers begin them again after so long [s]."""
    job.abort_after = retry_after
    for move in job.moves.values():
        if move.flow.triggered:
            continue
        if job.cache is not None and move.leg.drain is not None:
            job.cache.forget(move)
        else:
            now = engine.env.now
            move.book(engine.left(move.flow), now)
            engine.cancel(move.flow)
            move.left = 0.0
        move.flow.succeed(STOPPED)
