"""When the medium has every byte: later than the tool's end where the page cache has taken what is still to be written.

A tool that does not wait for the medium (scp, bbcp, cp, GridFTP ...) ends when memory has its last byte. That is
*written*, the time that it prints. *On the medium* is when a power cut no longer loses anything.
"""

from dataclasses import replace

import numpy as np

from dtnsim.ground.grouping import by_key
from dtnsim.ground.records import Phase, Problem, Transfer
from dtnsim.physics import cache
from dtnsim.physics._arrays import FloatArray as Array
from dtnsim.physics.waiting import emptied_together
from dtnsim.steady import solve


def waits_for(problem: Problem) -> list[int]:
    """Numbers of the transfers that end before the medium has their bytes."""
    return [f for f, t in enumerate(problem.transfers) if t.cache is not None and not t.flushed and t.buffered]


def seconds(problem: Problem, rates: Array) -> dict[int, Array]:
    """Time from the start until the medium has every byte, of each transfer that ends before, (S,) [s].

    Args:
        rates: Rates at which the tools write, (S, F) [B/s].

    Returns:
        By number of the transfer; never less than the tool's own time.
    """
    numbers = waits_for(problem)
    if not numbers:
        return {}
    drained = _drained(problem, numbers)
    drain = np.maximum(np.broadcast_to(drained.rate, (len(rates), len(numbers))), 1e-300)
    sizes_B, ends = np.array([problem.transfers[f].payload_B for f in numbers]), np.zeros(drain.shape)
    media = by_key(((drained.binding[0, n], problem.transfers[f].turn), n) for n, f in enumerate(numbers))
    for those in media.values():
        ends[:, those] = emptied_together(sizes_B[those], drain[:, those])
    fill = np.broadcast_to(fill_rates(problem, numbers), drain.shape)
    together: dict[tuple[str, int], list[int]] = {}
    for place, f in enumerate(numbers):
        t = problem.transfers[f]
        assert t.cache is not None
        together.setdefault((t.cache.pool, t.turn), []).append(place)
    medium_s: dict[int, Array] = {}
    for writers in together.values():
        page_cache = problem.transfers[numbers[writers[0]]].cache
        assert page_cache is not None
        written = sum(problem.transfers[numbers[place]].payload_B for place in writers)
        filling = np.maximum(fill[:, writers].sum(axis=1), 1e-300)
        begins = cache.write_back_begins(written, page_cache.write_back_B, filling, page_cache.write_back_s)
        for place in writers:
            f = numbers[place]
            wrote, out = np.maximum(rates[:, f], 1e-300), sizes_B[place] / np.maximum(ends[:, place], 1e-300)
            medium_s[f] = cache.on_medium_time(sizes_B[place], wrote, out, begins)
    return medium_s


def fill_rates(problem: Problem, numbers: list[int]) -> Array:
    """Rates at which some transfers fill the caches before them while nothing throttles them, (S, n) [B/s]."""
    fills = []
    for f in numbers:
        t = problem.transfers[f]
        assert t.buffered is not None
        above = tuple(d for d in t.buffered.demands if not d.below_cache)
        fills.append(replace(t, phases=(replace(t.buffered, demands=above),), weight=1.0))
    return solve.solve(solve.matrices(replace(problem, transfers=tuple(fills), slowdowns=()))).rate


def drain_rates(problem: Problem, numbers: list[int], *, filling: bool = False) -> Array:
    """Rates at which the media empty the caches of some transfers at once, (S, n) [B/s]."""
    return _drained(problem, numbers, filling=filling).rate


def _drained(problem: Problem, numbers: list[int], *, filling: bool = False) -> solve.Solution:
    """The media of some transfers' caches, which empty them at once.

    Args:
        problem: The path.
        numbers: Which of its transfers.
        filling: Whether as much comes in meanwhile, and is verified: work at the same stations (cores that compress).
    """
    drains = []
    for f in numbers:
        t = problem.transfers[f]
        assert t.buffered is not None
        below = [d for d in t.buffered.demands if d.below_cache]
        phases = (t.buffered, *(p for p in t.phases if p.step != t.buffered.step)) if filling else ()
        beside = [d for p in phases for d in p.demands if not (d.below_cache or d.aside)]
        media = {d.station for d in below}
        work = (*below, *(d for d in beside if d.station in media))
        drains.append(Transfer(t.name, (Phase("write-back", work),), 1.0, t.payload_B, 1, turn=t.turn))
    return solve.solve(solve.matrices(replace(problem, transfers=tuple(drains), slowdowns=())))
