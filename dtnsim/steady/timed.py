"""Timed transfers: the bytes they move follow from their rate, and part of their costs from those bytes.

How much of a write fits into a page cache, how many files are opened, how far slow start gets: all of that depends on
the bytes. So the path is composed again with the bytes of the last solution until they no longer change.

Also what transfers find that wait for others: cached files, dirty bytes, memory that programs hold. The turns of a path
are solved in order, each by itself at the median, and what it leaves behind is noted. `simulate` does the same in time.

Neglects: other chains that are in another turn at the same time; transfers that end or begin in the middle of a turn.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from dtnsim.composition import files
from dtnsim.composition.compose import Composer
from dtnsim.composition.residency import NOTHING, History, Residency, begun
from dtnsim.composition.resolved_transfer import FIRST_GUESS_BPS
from dtnsim.description.spec import PathSpec
from dtnsim.ground.ledger import Ledger
from dtnsim.ground.pages import CachedFile
from dtnsim.ground.quantity import Draw, middle
from dtnsim.ground.records import Problem, Transfer
from dtnsim.ground.term import without_words, worded
from dtnsim.physics.tcp.window import ahead_of_arrival
from dtnsim.steady import durability, epochs
from dtnsim.steady.meetings import meetings
from dtnsim.steady.ordering import ends as ends_of

_MERGERS: Final = 12  #: how often overlapping turns are merged before all are made one


@dataclass(slots=True)
class _Dirty:
    """Dirty bytes in a host's page cache."""

    level: float = 0.0  #: Bytes when they were last counted [B].
    since: float = math.inf  #: Start of their write-back [s].
    rate: float = 0.0  #: Rate of write-back [B/s].
    file: str = ""  #: File that was written last.

    def bytes_at(self, time: float) -> float:
        """Dirty bytes left at a time [B]."""
        return max(self.level - self.rate * max(time - self.since, 0.0), 0.0)


@dataclass(slots=True)
class _Walk:
    """State of the walk through the turns."""

    ends: dict[str, float] = field(default_factory=dict)
    memories: dict[str, Residency] = field(default_factory=dict)
    dirty: dict[str, _Dirty] = field(default_factory=dict)
    shares: dict[str, tuple[float, ...]] = field(default_factory=dict)
    held: dict[tuple[str, str], float] = field(default_factory=dict)
    left: dict[tuple[str, str], float] = field(default_factory=dict)
    now: float = 0.0

    def begins(self, t: Transfer) -> float:
        """Start of a transfer, once those before it are known [s]."""
        return max([t.start_s, *(self.ends[name] for name in t.after if name in self.ends)]) + t.pause_s

    def memory(self, kept: CachedFile) -> Residency:
        """Cached files of the host that caches this one."""
        if kept.host not in self.memories:
            dirty = self.dirty.setdefault(kept.host, _Dirty())
            residency = Residency(
                middle(kept.room_B), lambda file: dirty.bytes_at(self.now) if file == dirty.file else 0.0
            )
            self.memories[kept.host] = residency
        return self.memories[kept.host]

    def hold(self, sizes: Mapping[str, float], sign: int) -> None:
        """Takes programs' memory from their hosts (``sign`` 1), or gives it back (-1)."""
        for host, size in sizes.items():
            if size and host in self.memories:
                self.memories[host].hold(sign * size)


def history(spec: PathSpec, moved: Mapping[str, float]) -> History:
    """What earlier transfers of a path have left behind when later ones begin."""
    ordered = [t for t in spec.transfers if t.after or t.start is not None]
    if not ordered:
        return NOTHING
    walk, turns = _Walk(), files.turns(spec.transfers)
    with without_words():
        if not any(t.after for t in ordered):
            turns = _by_time(spec, moved)
        last, by_name = max(turns), dict(zip((t.name for t in spec.transfers), turns, strict=True))
        outlines = Composer(spec, Ledger(Draw()), moved, History(turns=by_name)).outlines()
        nothing_left = _leaves_nothing(outlines)
        for turn in range(last + 1):
            group = [t for t, n in zip(spec.transfers, turns, strict=True) if n == turn]
            path, live = spec.model_copy(update={"transfers": group}), [t for t in outlines if by_name[t.name] == turn]
            _turn(walk, path, live, moved, last=turn == last or nothing_left)
    return History(walk.shares, walk.held, walk.left, by_name if last else {})


def _leaves_nothing(outlines: Sequence[Transfer]) -> bool:
    """Whether no transfer waits for another, uses another's file or writes to another's page cache."""
    used = Counter((kept.host, kept.file) for t in outlines for kept in {*t.reads, *t.writes})
    used.update((t.cache.pool, "") for t in outlines if t.cache is not None)
    return not any(t.after for t in outlines) and all(count == 1 for count in used.values())


def _by_time(path: PathSpec, moved: Mapping[str, float]) -> list[int]:
    """Turns of transfers with start times of their own: one that ends before another begins does not meet it.

    At first each has a turn of its own; turns that overlap are merged until none do. Ends of the last turn do not
    matter and are left out.
    """
    begins = [(t.start.value if t.start else 0.0) + (t.pause.value if t.pause else 0.0) for t in path.transfers]
    order = sorted(range(len(begins)), key=lambda f: begins[f])
    turns = [sorted(set(begins)).index(begin) for begin in begins]
    names, ends, tried = [t.name for t in path.transfers], dict[str, float](), set[tuple[int, ...]]()
    for _ in range(_MERGERS):
        if not (last := max(turns)):
            break
        each = {tuple(f for f in order if turns[f] == turn) for turn in range(last)} - tried
        tried |= each
        composer = Composer(path, Ledger(Draw()), moved, History(turns=dict(zip(names, turns, strict=True))))
        composer.legs = [composer.legs[f] for f in sorted(f for row in each for f in row)]  # the others end as they did
        problem = composer.problem()
        ended = ends_of(problem, epochs.rates(problem))[0].tolist() if each else []
        ends |= dict(zip((t.name for t in problem.transfers), ended, strict=True))
        merged, turn, before, latest = [0] * len(begins), -1, -1, -math.inf
        for f in order:
            if turns[f] != before and begins[f] >= latest:
                turn += 1
            before, latest = turns[f], max(latest, ends.get(names[f], latest))
            merged[f] = turn
        if merged == turns:
            return merged
        turns = merged
    return [0] * len(begins)


def _turn(walk: _Walk, path: PathSpec, outlines: Sequence[Transfer], moved: Mapping[str, float], *, last: bool) -> None:
    """Solves one turn: what it finds, how long it takes and, unless it is the last, what it leaves."""
    order = sorted(outlines, key=walk.begins)
    holds: dict[str, float] = {}
    for t in order:
        holds[t.holder] = holds.get(t.holder, 0.0) + t.holds_B
    for t in order:
        walk.now = walk.begins(t)
        walk.held |= {(t.name, host): size for host, size in holds.items() if size}
        pool = t.cache.pool if t.cache is not None else ""
        if pool in walk.dirty:
            walk.left[t.name, pool] = walk.dirty[pool].bytes_at(walk.now)
    for t in order:
        for kept in (*t.reads, *t.writes):
            walk.memory(kept)
    walk.hold(holds, 1)
    for t in order:
        walk.now = walk.begins(t)
        if any(shares := begun(t, walk.memory)):
            walk.shares[t.name] = shares
    if last:
        return
    problem = Composer(path, Ledger(Draw()), moved, History(walk.shares, walk.held, walk.left)).problem()
    alone = (replace(t, start_s=walk.begins(t), pause_s=0.0, after=()) for t in problem.transfers)
    rates = epochs.rates(replace(problem, transfers=tuple(alone)))[0]
    for t, rate in zip(problem.transfers, rates, strict=True):
        walk.ends[t.name] = walk.begins(t) + (t.time_s if t.timed else t.payload_B / max(float(rate), 1e-300))
    _leave(walk, problem)
    walk.hold(holds, -1)


def _leave(walk: _Walk, problem: Problem) -> None:
    """Notes what a turn leaves in memory."""
    waiting = durability.waits_for(problem)
    drains = durability.drain_rates(problem, waiting)[0] if waiting else np.empty(0)
    together: dict[str, list[tuple[Transfer, float]]] = {}
    for f, drain in zip(waiting, drains, strict=True):
        t = problem.transfers[f]
        assert t.cache is not None
        together.setdefault(t.cache.pool, []).append((t, float(drain)))
    for pool, writers in together.items():
        _dirty_after(walk, pool, writers)
    for t in problem.transfers:
        walk.now = walk.ends[t.name]
        for kept in (*t.reads, *t.writes):
            walk.memory(kept).ended(kept.file)


def _dirty_after(walk: _Walk, pool: str, writers: list[tuple[Transfer, float]]) -> None:
    """Notes a host's dirty bytes after transfers that wrote there at the same time."""
    dirty = walk.dirty.setdefault(pool, _Dirty())
    first, done = min(walk.begins(t) for t, _ in writers), max(walk.ends[t.name] for t, _ in writers)
    cache = writers[0][0].cache
    assert cache is not None
    written, rate = sum(t.payload_B for t, _ in writers), sum(drain for _, drain in writers)
    before, filling = dirty.bytes_at(first), written / max(done - first, 1e-9)
    starts = first + min(middle(cache.write_back_B) / filling, cache.write_back_s)
    gone = rate * max(done - starts, 0.0)
    most = before + middle(cache.size_B)  # which throttled writers leave full
    dirty.level, dirty.rate, dirty.since = min(max(before + written - gone, 0.0), most), rate, max(starts, done)
    dirty.file = writers[-1][0].writes[0].file if writers[-1][0].writes else ""


#: rounds at most, and the relative change of what moves below which it stays
_ROUNDS: Final = 30
_STAYS: Final = 1e-4
_ROUNDING: Final = 1e-12  #: and that which is rounding
#: bytes that take so many times too long take for ever, and the part of them that is tried next
_FOR_EVER: Final = 1e3
_LEAST_STEP: Final = 1e-3


def composer(
    path: PathSpec,
    draw: Draw,
    moved: Mapping[str, float] | None = None,
    *,
    in_time: bool = False,
    before: History | None = None,
) -> Composer:
    """The path's composer, with the bytes of its timed transfers.

    Args:
        moved: Bytes that each timed transfer moves, if known (`amounts` of another problem); draws take those of the
            median.
        in_time: Whether a simulation finds out what earlier transfers leave behind.
        before: What they leave behind, if known.
    """
    times = {t.name: timing.seconds for t in path.transfers if (timing := t.timing()) is not None}
    if moved is None:
        moved, settled = _settled(path, times) if times else ({}, None)
        alone = before is None and not any(t.after or t.start is not None for t in path.transfers)
        if settled is not None and alone and not (draw.many or worded()):
            return settled
    if before is None:
        before = history(path, moved)
    if in_time:
        before = History(turns=before.turns) if before.turns else NOTHING
    return Composer(path, Ledger(draw), moved, before)


def met(problem: Problem) -> History:
    """Which transfers of a problem run together, for `composer`."""
    turns = {t.name: t.turn for t in problem.transfers}
    return History(turns=turns if any(turns.values()) else {})


def amounts(problem: Problem) -> dict[str, float]:
    """Bytes that each timed transfer moves, for `composer` [B]."""
    return {t.name: t.payload_B for t in problem.transfers if t.timed}


def _settled(path: PathSpec, times: Mapping[str, float]) -> tuple[dict[str, float], Composer | None]:
    """Bytes that each timed transfer moves at the median, and the composer of the last round if it confirmed them."""
    sizes = {t.name: t.dataset.payload_B for t in path.transfers if t.dataset is not None}
    once = {t.name for t in path.transfers if (timing := t.timing()) is not None and not timing.repeats}
    most = {name: sizes[name] if name in once else math.inf for name in times}
    moved = {name: min(FIRST_GUESS_BPS * seconds, most[name]) for name, seconds in times.items()}
    searches = {name: _Search(seconds) for name, seconds in times.items()}
    for _ in range(_ROUNDS):
        with without_words():
            composer = Composer(path, Ledger(Draw()), moved)
            problem = composer.problem()
        rates = dict(zip((t.name for t in problem.transfers), meetings(problem).own, strict=True))
        before = moved
        moved = {n: min(s.better(before[n], before[n] / max(rates[n], 1e-300)), most[n]) for n, s in searches.items()}
        if all(abs(moved[n] - before[n]) <= _STAYS * before[n] for n in moved):
            break
    same = all(abs(moved[n] - before[n]) <= _ROUNDING * before[n] for n in moved)
    return (before, composer) if same else (moved, None)


class _Search:
    """Search for the bytes that take a given time; more bytes take longer."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._below: tuple[float, float] | None = None
        self._above: tuple[float, float] | None = None

    def better(self, moved: float, took: float) -> float:
        """A better estimate than ``moved``, which takes ``took`` seconds: by the secant, or by proportion."""
        straight = moved * max(self.seconds / max(took, 1e-300), _LEAST_STEP)
        if took <= self.seconds:
            again, self._below = self._below is not None, (moved, took)
        else:
            again, self._above = self._above is not None, (moved, took)
        if self._below is None or self._above is None or abs(took - self.seconds) <= _STAYS * self.seconds:
            return straight
        (low, quick), (high, slow) = self._below, self._above
        if slow > _FOR_EVER * self.seconds:  # connections have no time to open up for so many
            return math.sqrt(low * high)
        chord = low + (high - low) * (self.seconds - quick) / (slow - quick)
        return math.sqrt(chord * math.sqrt(low * high)) if again else chord


def sender_rate(problem: Problem, transfer: Transfer, rate: float) -> float | None:
    """Rate that the sender of a timed test reports, which counts bytes handed to its sockets [B/s].

    Args:
        transfer: The test.
        rate: Rate of arrival [B/s].
    """
    if not transfer.timed or not rate > 0 or transfer.sizes_B != (math.inf,):
        return None
    visited = {d.station for p in transfer.phases for d in p.demands}
    for name, streams in problem.connections.items():
        if name in visited:
            waiting = ahead_of_arrival(rate, middle(streams.rtt_s), streams.streams, middle(streams.window_B))
            return rate + float(waiting) / transfer.time_s
    return None
