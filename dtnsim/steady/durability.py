"""When every byte is on the medium: later than the tool's end if the page cache still has bytes to write back.

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
from dtnsim.steady import matrices, solve


def waits_for(problem: Problem) -> list[int]:
    """Numbers of the transfers that end before their bytes are on the medium."""
    return [f for f, t in enumerate(problem.transfers) if t.cache is not None and not t.flushed and t.buffered]


def seconds(problem: Problem, rates: Array) -> dict[int, Array]:
    """Time from the start until every byte is on the medium (S,) [s], for each transfer that ends earlier.

    Args:
        rates: Rates at which the tools write, (S, F) [B/s].

    Returns:
        Times by number of the transfer; never less than the tool's own time.

    Neglects: which of several drives the bytes left by an earlier turn belong to.
    """
    numbers = waits_for(problem)
    if not numbers:
        return {}
    drained = _drained(problem, numbers)
    drain = np.maximum(np.broadcast_to(drained.rate, (len(rates), len(numbers))), 1e-300)
    fill = np.broadcast_to(fill_rates(problem, numbers), drain.shape)
    transfers = [(t, t.cache) for f in numbers if (t := problem.transfers[f]).cache is not None]
    sizes_B, begins, ends = np.array([t.payload_B for t, _ in transfers]), np.zeros(drain.shape), np.zeros(drain.shape)
    for writers in by_key(((c.pool, t.turn), n) for n, (t, c) in enumerate(transfers)).values():
        page_cache = transfers[writers[0]][1]
        filling, written = np.maximum(fill[:, writers].sum(axis=1), 1e-300), sizes_B[writers].sum()
        begins[:, writers] = cache.write_back_begins(
            written, page_cache.write_back_B, filling, page_cache.write_back_s
        )[:, None]
    media = by_key(((drained.binding[0, n], t.turn), n) for n, (t, _) in enumerate(transfers))
    for (medium, turn), those in sorted(media.items(), key=lambda row: row[0][1]):
        earlier = max((key for key in media if key[0] == medium and key[1] < turn), default=None)
        rate, alone = drain[:, those].sum(axis=1), ends[:, media[earlier]] if earlier else ends[:, :0]
        left_B = max(transfers[n][1].left_B for n in those) if earlier else 0.0
        left = np.maximum(left_B - begins[:, those].min(axis=1) * rate, 0.0)  # and is written beside theirs
        sizes = np.append(np.broadcast_to(sizes_B[those], (len(left), len(those))), left[:, None], axis=1)
        shares = np.append(drain[:, those], rate[:, None] / len(those), axis=1) * len(those) / (len(those) + 1)
        ends[:, those], out = np.split(emptied_together(sizes, shares), [len(those)], axis=1)
        if earlier:
            last = alone >= alone.max(axis=1, keepdims=True)
            ends[:, media[earlier]] = np.where(last, alone + out - (left / rate)[:, None], alone)
    medium_s: dict[int, Array] = {}
    for n, (f, (t, _)) in enumerate(zip(numbers, transfers, strict=True)):
        wrote, out = np.maximum(rates[:, f], 1e-300), sizes_B[n] / np.maximum(ends[:, n], 1e-300)
        first = matrices.lead(t) * sizes_B[n] + begins[:, n]
        medium_s[f] = cache.on_medium_time(sizes_B[n], wrote, out, first)
    return medium_s


def fill_rates(problem: Problem, numbers: list[int]) -> Array:
    """Rates at which some transfers fill their page caches before write throttling sets in, (S, n) [B/s]."""
    fills = []
    for f in numbers:
        t = problem.transfers[f]
        assert t.buffered is not None
        above = tuple(d for d in t.buffered.demands if not d.below_cache)
        fills.append(replace(t, phases=(replace(t.buffered, demands=above),), weight=1.0))
    return solve.solve(solve.matrices(replace(problem, transfers=tuple(fills), slowdowns=()))).rate


def drain_rates(problem: Problem, numbers: list[int], *, filling: bool = False) -> Array:
    """Write-back rates of the media behind some transfers' caches, all at once, (S, n) [B/s]."""
    return _drained(problem, numbers, filling=filling).rate


def _drained(problem: Problem, numbers: list[int], *, filling: bool = False) -> solve.Solution:
    """Write-back of some transfers' caches, all at once.

    Args:
        problem: The path.
        numbers: Which of its transfers.
        filling: Whether as many bytes come in (and are verified) meanwhile, which loads the same stations (cores).
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
