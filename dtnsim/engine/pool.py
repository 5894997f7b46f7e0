"""Many files through a few workers that have the stations to themselves, as fast as a loop can go.

Each worker takes the next file, spends the file's overhead (round trips, metadata operations, an
open and a close) without using any station, then moves its bytes; all workers that move bytes share
the stations max-min fairly, each within its cap. As the rows are equal, the rate of a worker depends
on how many are moving, nothing else: one clock and one small heap do for any number of files,
and a file that waits costs nothing. Where other transfers share the stations, use
`dtnsim.engine.workers.worker_pool` on an `Engine`.

`aggregate_pool` takes runs of equal files. Once the workers' state repeats after as many files as there
are workers, it skips whole periods: the cost depends on the number of runs and workers only.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import repeat
from typing import Final

from dtnsim.engine.flows import check_flow, checked_row
from dtnsim.engine.nodes import check_capacity
from dtnsim.ground.errors import InputError, ModelError

#: two states of the workers closer than this (relative) are the same
_SAME: Final = 1e-12


@dataclass(slots=True)
class PoolResult:
    """What became of the files.

    Attributes:
        end: When the last one was done [s].
        files: How many were done.
        size: Their bytes [B].
        finish: Time of each file's end in the order of the files, where asked for [s].
    """

    end: float
    files: int
    size: float
    finish: array[float] = field(default_factory=lambda: array("d"))

    @property
    def throughput(self) -> float:
        """Mean rate over the whole time [B/s]."""
        return self.size / self.end if self.end > 0 else math.inf


def run_pool(
    capacities: Sequence[float],
    row: Mapping[int, float],
    sizes: Iterable[float],
    workers: int,
    *,
    overhead: float | Iterable[float] = 0.0,
    cap: float = math.inf,
    keep: bool = False,
) -> PoolResult:
    """Moves files of given sizes, in order, with a fixed number of workers.

    Args:
        capacities: (K,) capacity of each station [station's unit/s].
        row: Station -> what one byte costs there [station's unit/B].
        sizes: Bytes of each file; may be a generator, and is read one at a time [B].
        workers: How many files are in progress at once.
        overhead: Seconds that a worker spends on a file before its bytes move, one for all or one a file [s].
        cap: Rate that one worker cannot pass [B/s].
        keep: Keep the time of every file's end (8 bytes a file).

    Returns:
        The `PoolResult`.

    Raises:
        InputError: No worker, or figures that mean nothing.
        ModelError: The files can never be moved (a station or the cap is zero).
    """
    each = repeat(overhead) if isinstance(overhead, (int, float)) else iter(overhead)
    state = _Workers(shares(capacities, row, workers, cap), iter(sizes), each, keep=keep)
    state.work(math.inf)
    return PoolResult(state.now, state.done, state.size, state.finish)


def aggregate_pool(
    capacities: Sequence[float],
    row: Mapping[int, float],
    runs: Iterable[tuple[int, float]],
    workers: int,
    *,
    overhead: float = 0.0,
    cap: float = math.inf,
) -> PoolResult:
    """Moves runs of equal files, ``(how many, bytes of each)``; otherwise as `run_pool`, and equal to it.

    Raises:
        InputError: No worker, or figures that mean nothing.
        ModelError: The files can never be moved.
    """
    files = _Runs(runs)
    state = _Workers(shares(capacities, row, workers, cap), files, repeat(overhead), keep=False)
    origin, before, run = 0.0, [math.nan], -1
    while files.more():
        start = state.now
        state.work(state.done + workers)
        after = state.shape()
        if run == files.run and files.left >= workers and _alike(before, after, state.now):
            periods = files.left // workers
            files.left -= periods * workers
            state.done += periods * workers
            state.size += periods * workers * files.size
            origin += periods * (state.now - start) + state.restart_clock()
        before, run = after, files.run
    state.work(math.inf)
    return PoolResult(origin + state.now, state.done, state.size)


def shares(capacities: Sequence[float], row: Mapping[int, float], workers: int, cap: float) -> list[float]:
    """Rate of each worker when n of them move bytes, for n from 0 to ``workers`` [B/s].

    Raises:
        InputError: No worker, or figures that mean nothing.
    """
    if not (isinstance(workers, int) and workers >= 1):
        raise InputError(f"workers is {workers}; give a whole number >= 1")
    check_flow(1.0, 1.0, cap)
    stations = [check_capacity(c, s) for s, c in enumerate(capacities)]
    alone = min((stations[s] / d for s, d in checked_row(row, len(stations))), default=math.inf)
    return [0.0] + [min(cap, alone / n) for n in range(1, workers + 1)]


def _alike(a: list[float], b: list[float], now: float) -> bool:
    """Whether two states are the same but for the digits that times have at ``now``."""
    slack = 1e-15 * now
    return len(a) == len(b) and all(abs(x - y) <= _SAME * abs(x) + slack for x, y in zip(a, b, strict=True))


class _Runs:
    """Sizes of files given as runs of equal ones; ``left`` of the present run may be shortened."""

    def __init__(self, runs: Iterable[tuple[int, float]]) -> None:
        self.runs = [(int(count), float(size)) for count, size in runs]
        if any(count < 0 for count, _ in self.runs):
            raise InputError("a run of files has a negative number of files; give a number >= 0")
        self.run, self.left, self.size = -1, 0, 0.0

    def more(self) -> bool:
        """Whether a file is left; goes on to the next run where the present one is used up."""
        while self.left == 0 and self.run + 1 < len(self.runs):
            self.run += 1
            self.left, self.size = self.runs[self.run]
        return self.left > 0

    def __iter__(self) -> Iterator[float]:
        return self

    def __next__(self) -> float:
        if not self.more():
            raise StopIteration
        self.left -= 1
        return self.size


class _Workers:
    """Workers in the middle of their files.

    Attributes:
        now: Time [s].
        done: Files done.
        size: Bytes of the files taken so far [B].
        waiting: Heap of (end of overhead, file, bytes) of files whose bytes do not move yet.
        moving: Heap of (virtual finishing time, file).
        clock: Service that each moving file has had since all stood still [B].
    """

    def __init__(self, share: list[float], sizes: Iterator[float], overheads: Iterator[float], *, keep: bool) -> None:
        self.share, self.sizes, self.overheads, self.keep = share, sizes, overheads, keep
        self.now = self.clock = self.size = 0.0
        self.done = self.taken = 0
        self.waiting: list[tuple[float, int, float]] = []
        self.moving: list[tuple[float, int]] = []
        self.finish = array("d")
        for _ in range(len(share) - 1):
            self.take(0.0)

    def take(self, now: float) -> None:
        """A worker takes the next file, if there is one.

        Raises:
            InputError: Bytes or an overhead that mean nothing, or fewer overheads than files.
            ModelError: Bytes that can never be moved.
        """
        size = next(self.sizes, None)
        if size is None:
            return
        overhead = next(self.overheads, None)
        if overhead is None:
            raise InputError(f"there is no overhead for file {self.taken}; give one a file, or one number")
        if not (0 <= size < math.inf and 0 <= overhead < math.inf):
            raise InputError(f"file {self.taken} has {size} B and {overhead} s overhead; give finite numbers >= 0")
        if size > 0 and self.share[-1] == 0:
            raise ModelError(f"file {self.taken} of {size} B can never be moved: a station or the cap is zero")
        heappush(self.waiting, (now + overhead, self.taken, size))
        self.taken += 1
        self.size += size
        if self.keep:
            self.finish.append(math.nan)

    def work(self, limit: float) -> None:
        """Works until ``limit`` files are done, or all."""
        waiting, moving, share, keep, finish = self.waiting, self.moving, self.share, self.keep, self.finish
        now, clock, done, take = self.now, self.clock, self.done, self.take
        rate, forever = share[len(moving)], math.inf
        while done < limit:
            ready = waiting[0][0] if waiting else forever
            if moving and (end := now + (moving[0][0] - clock) / rate) <= ready:
                clock, file = heappop(moving)
                now, rate = end, share[len(moving)]
                if not moving:
                    clock = 0.0
            elif waiting:
                _, file, size = heappop(waiting)
                if moving:
                    clock += rate * (ready - now)
                now = ready
                if size > 0 and share[-1] < forever:
                    heappush(moving, (clock + size, file))
                    rate = share[len(moving)]
                    continue
            else:
                break
            done += 1
            if keep:
                finish[file] = now
            take(now)
        self.now, self.clock, self.done = now, clock, done

    def restart_clock(self) -> float:
        """Counts time from now on, to keep its digits; returns the time so far [s]."""
        so_far, self.now = self.now, 0.0
        self.waiting = [(time - so_far, file, size) for time, file, size in self.waiting]
        self.moving = [(mark - self.clock, file) for mark, file in self.moving]
        self.clock = 0.0
        return so_far

    def shape(self) -> list[float]:
        """All that the future depends on, but for the files to come."""
        waiting = sorted((time - self.now, size) for time, _, size in self.waiting)
        moving = sorted(mark - self.clock for mark, _ in self.moving)
        return [len(waiting), *(x for pair in waiting for x in pair), *moving]
