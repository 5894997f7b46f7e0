"""A host's memory in time: its dirty limits apply to everything written there, by any number of transfers.

Each transfer's `dtnsim.simulation.cache.PageCache` counts its own dirty bytes; write-back and throttling depend on
their sum. Bytes that one transfer leaves behind are still dirty when the next begins.

Flows bound by the same node of the engine change together and in proportion, so the memory counts by nodes: a change of
shares costs one step per node, however many stores there are. From the sum and its growth it computes when a limit is
next met, and then has the stores concerned look: those that fill faster than they empty. A store whose own rates matter
is told when they leave a band.

`Files` keeps track of cached files and of the memory that programs take.

Neglects: the parts of the limit that Linux gives each device and each task by its own rate of write-back.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from dtnsim.composition.residency import Residency, begun
from dtnsim.engine.layout import CAPPED, LEVEL
from dtnsim.ground.quantity import in_scenario
from dtnsim.physics import cache
from dtnsim.simulation.jobs import Job
from dtnsim.simulation.store import Alarm

if TYPE_CHECKING:
    import simpy

    from dtnsim.engine.engine import Engine, Transfer
    from dtnsim.simulation.cache import PageCache


#: relative difference of rates that counts as none: rounding of shares, far below any figure of interest
EVEN: Final = 1e-11
_TOGETHER: Final = 1e-9  #: waits closer than this, relative, are one
_BAND: Final = 1.05  #: factor by which the rates of one of several stores may change before it is told

Part = tuple["Transfer", float]  #: a flow, and the bytes that one of its bytes adds to what is held
#: of a flow: the node that holds it back, its bytes for a unit of that node's clock, and what that showed at first
_Entry = tuple[int, float, float]


@dataclass(slots=True, eq=False)
class _Node:
    """Flows bound by one node of the engine, taken together."""

    rate: float  #: Bytes a second for a weight of one; of flows at their own caps, those count as weights.
    clock: float = 0.0  #: Integral of that.
    #: Rates beyond which ``minders`` are told.
    low: float = 0.0
    high: float = math.inf
    weight: float = 0.0  #: Of all flows, those that empty a store negative.
    flows: int = 0  #: How many.
    minders: dict[PageCache, None] = field(default_factory=dict)  #: Stores whose own rates matter to them.


@dataclass(slots=True)
class _Report:
    """A store's last report: bytes held then, and its flows since."""

    level: float
    flows: dict[Transfer, tuple[_Entry, float]] = field(default_factory=dict)
    minds: bool = False


class Memory:
    """The limits on dirty bytes that several page caches share: ``size``, from which on writers are throttled [B].

    ``free`` is the memory that this is a part of, which programs may take from [B]; infinite where it is none.
    """

    def __init__(self, size: float, free: float = math.inf) -> None:
        self._whole, self._free, self._held = size, free, 0.0
        self.part, self.size = 1.0, size  #: What programs leave of the limits [1], and the size now [B].
        self.caches: list[PageCache] = []  #: Those that share it.
        self._engine: Engine  # since the first has joined
        self._stations: set[int] = set()
        self._unwatch: Callable[[], None] = lambda: None
        self._nodes: dict[int, _Node] = {}
        self._told: dict[PageCache, _Report] = {}
        self._level = self._growth = self._since = 0.0  # of what all hold
        self._epoch = 0
        self._waiting: dict[float, dict[PageCache, None]] = {}  # for so many bytes until write-back begins
        self._stopping: dict[PageCache, float] = {}  # until all hold so few bytes
        self._pressing: dict[PageCache, None] = {}
        self.throttled: dict[PageCache, None] = {}  #: Those whose writers are.
        self._idle: dict[PageCache, None] = {}
        self._close: dict[PageCache, None] = {}  # told of every change
        self._due: list[dict[PageCache, None]] = []
        self._later = False
        self._alarm: Alarm

    @property
    def band(self) -> float:
        """Factor by which a store's rates may have changed since it last looked without being told."""
        return _BAND**2 if len(self.caches) > 1 else 1.0

    def slack(self, *writers: PageCache) -> float:
        """Room that must be free before throttled writers go on; for one alone, at most a little of its bytes [B]."""
        waiting = {*self.throttled, *writers}
        return cache.SLACK * min([self.size, *(each.payload for each in waiting if len(waiting) == 1)])

    def hold(self, size: float) -> None:
        """Takes memory for a program, or gives some back (negative); the limits follow."""
        self._held += size
        if math.isinf(self._free):
            return
        self.part = float(cache.dirtyable_bytes(self._free, self._held)) / self._free
        self.size = self._whole * self.part
        for each in self.caches:
            each.look()

    def join(self, one: PageCache) -> None:
        """Adds a store."""
        if not self.caches:
            self._engine, self._alarm = one.engine, Alarm(one.env, self._ring)
        self.caches.append(one)

    def crossed(self, stations: Iterable[int]) -> None:
        """Sets the stations that a store's bytes cross from now on."""
        if not self._stations.issuperset(stations):
            self._stations.update(stations)
            self._unwatch()
            self._unwatch = self._engine.watch(sorted(self._stations), self._changed)

    def others_hold(self, cache: PageCache) -> float:
        """Bytes that the other stores hold now [B]."""
        if len(self.caches) == 1:
            return 0.0
        time = cache.env.now - self._since
        report = self._told.get(cache)
        return max(self._level + self._growth * time - (self._held_by(report, time) if report else 0.0), 0.0)

    def growth_beside(self, cache: PageCache) -> float:
        """Growth of the other stores' bytes now [B/s]."""
        if len(self.caches) == 1:
            return 0.0
        flows = report.flows if (report := self._told.get(cache)) else {}
        return self._growth - sum(weight * self._nodes[side].rate for (side, weight, _), _ in flows.values())

    def _held_by(self, report: _Report, time: float) -> float:
        """Bytes that a store holds a given time after the last count [B]."""
        nodes, level = self._nodes, report.level
        for (side, weight, since), _ in report.flows.values():
            node = nodes[side]
            level += weight * (node.clock + node.rate * time - since)
        return level

    def _advance(self, now: float) -> None:
        """Counts up to now."""
        time = now - self._since
        if time:
            self._level += self._growth * time
            for node in self._nodes.values():
                node.clock += node.rate * time
            self._since = now
        if self._engine.fluid.epoch == self._epoch:
            return
        # nodes have other numbers: what each store has said goes on under those
        self._epoch = self._engine.fluid.epoch
        for report in self._told.values():
            report.level = self._held_by(report, 0.0)
        self._nodes.clear()
        for store, report in self._told.items():
            flows, report.flows = report.flows, {}
            for flow, (_, adds) in flows.items():
                self._enter(store, report, flow, adds)

    def note(self, cache: PageCache, parts: Iterable[Part], *, minds: bool, close: bool) -> None:
        """Takes a store's report: its bytes, and its flows, each with the bytes that one of its bytes adds.

        With ``minds`` it is told when its own rates leave the band, with ``close`` of every change of them.
        """
        self._advance(cache.env.now)
        self._forget(cache)
        report = self._told[cache] = _Report(cache.level / cache.scale, minds=minds)
        for flow, adds in parts:
            self._enter(cache, report, flow, adds)
        self._level += report.level
        if len(self.caches) == 1:
            self._level = report.level
        if close:
            self._close[cache] = None
        else:
            self._close.pop(cache, None)
        self._growth = sum([node.weight * node.rate for node in self._nodes.values()])

    def waits(
        self, cache: PageCache, *, begins: float | None, stops: float | None, presses: bool, full: bool, idle: bool
    ) -> None:
        """Sets the limits that a store waits for: write-back, throttling, or room for throttled writers.

        Args:
            begins: Level at which its write-back begins [B]; None if it does not wait for that.
            stops: Level of all stores below which its write-back stops [B]; None if only its own matters.
            presses: Whether it waits for the limit of writers.
            full: Whether its writers are throttled.
            idle: Whether it holds bytes but nobody fills it: it looks when others' throttling begins or ends.
        """
        turned = full != (cache in self.throttled)
        self._stopping.pop(cache, None)
        for those in (*self._waiting.values(), self._pressing, self.throttled, self._idle):
            those.pop(cache, None)
        if begins is not None:
            self._waiting.setdefault(begins, {})[cache] = None
        if stops is not None:
            self._stopping[cache] = stops
        if presses:
            self._pressing[cache] = None
        if full:
            self.throttled[cache] = None
        for each in self._idle if turned else ():
            each.look()
        if idle:
            self._idle[cache] = None
        self._soon(cache.env)

    def _forget(self, cache: PageCache) -> None:
        """Removes a store from the sum, counted up to now."""
        report = self._told.pop(cache, None)
        if report is None:
            return
        self._level -= self._held_by(report, 0.0)
        for (side, weight, _), _ in report.flows.values():
            node = self._nodes[side]
            node.minders.pop(cache, None)
            node.flows -= 1
            node.weight -= weight
            if not node.flows:
                del self._nodes[side]

    def _enter(self, cache: PageCache, report: _Report, flow: Transfer, adds: float) -> None:
        side = self._engine.fluid.side(flow.flow)
        if side < 0 and side != CAPPED:  # it has ended
            return
        node = self._nodes.get(side)
        if node is None:
            rate = 1.0 if side == CAPPED else self._engine.fluid.f[side + LEVEL]
            node = self._nodes[side] = _Node(rate if rate < math.inf else 0.0)
            self._bound(node)
        weight = adds * (flow.flow.cap if side == CAPPED else flow.flow.weight)
        report.flows[flow] = (side, weight, node.clock), adds
        node.weight += weight
        node.flows += 1
        if report.minds:
            node.minders[cache] = None

    def _bound(self, node: _Node) -> None:
        band = _BAND if len(self.caches) > 1 else 1.0
        node.low, node.high = node.rate / band, node.rate * band

    def _changed(self) -> None:
        """Called after a change of shares."""
        fluid, growth = self._engine.fluid, 0.0
        self._advance(self._engine.env.now)
        affected: dict[PageCache, None] = dict(self._close) if self._close else {}
        for side, node in self._nodes.items():
            rate = node.rate if side == CAPPED else fluid.f[side + LEVEL]
            if rate != node.rate:
                node.rate = rate if rate < math.inf else 0.0  # infinite: it holds nobody back any more
                if not node.low <= rate <= node.high:
                    self._bound(node)
                    affected.update(node.minders)
            growth += node.weight * node.rate
        if growth != self._growth:
            self._growth = growth
            self._soon(self._engine.env)
        for each in affected:
            each.changed()

    def _soon(self, env: simpy.Environment) -> None:
        """Schedules the computation of who has to look when, once all stores have reported."""
        if len(self.caches) == 1:
            self._plan()
        elif not self._later:
            self._later = True
            env.timeout(0).callbacks.append(self._plan)

    def _plan(self, _event: Any = None) -> None:
        self._later = False
        level, growth = self._level + self._growth * (self._engine.env.now - self._since), self._growth
        waits = [
            (_time_to(begins * self.part - level, growth), those) for begins, those in self._waiting.items() if those
        ]
        waits += [(_time_to(level - stops, -growth), {each: None}) for each, stops in self._stopping.items()]
        if self._pressing:
            waits.append((_time_to(self.size - level, growth), self._pressing))
        if self.throttled and len(self.caches) > 1:
            waits.append((_time_to(level - (self.size - self.slack()) * (1 - EVEN), -growth), self.throttled))
        first = min((wait for wait, _ in waits), default=math.inf)
        self._due = [those for wait, those in waits if wait <= first * (1 + _TOGETHER)]
        self._alarm.set(first)

    def _ring(self) -> bool:
        changed = [each.look_now() for each in [each for those in self._due for each in those]]
        return any(changed)


def _time_to(distance: float, rate: float) -> float:
    """Time to cover a distance [s]: 0 if already behind, infinite if never covered."""
    if rate > 0:
        return max(distance, 0.0) / rate
    return math.inf


class Files:
    """The files in the memories of a path's hosts; ``memories`` are limits on dirty bytes, by pool."""

    def __init__(self, jobs: Sequence[Job], memories: Mapping[str, Memory], scenario: int) -> None:
        self._jobs, self._memories = jobs, memories
        self._writers: dict[tuple[str, str], list[Job]] = {}
        self._hosts: dict[str, Residency] = {}
        for job in jobs:
            for kept in (*job.transfer.reads, *job.transfer.writes):
                if kept.host not in self._hosts:
                    dirty = partial(self._dirty, kept.host)
                    self._hosts[kept.host] = Residency(in_scenario(kept.room_B, scenario), dirty)
            for kept in job.transfer.writes[:1]:  # what waits at a server is on its way to the medium already
                self._writers.setdefault((kept.host, kept.file), []).append(job)

    def holds(self, f: int, sign: int) -> None:
        """Takes a program's memory (``sign`` 1), or gives it back (-1)."""
        transfer = self._jobs[f].transfer
        size = sign * transfer.holds_B
        if not size:
            return
        if transfer.holder in self._hosts:
            self._hosts[transfer.holder].hold(size)
        if transfer.holder in self._memories:
            self._memories[transfer.holder].hold(size)

    def begun(self, f: int) -> tuple[float, ...]:
        """Begins a transfer: parts of what it reads that its own host and the server have cached."""
        return begun(self._jobs[f].transfer, lambda kept: self._hosts[kept.host])

    def ended(self, f: int) -> None:
        """Ends a transfer: its files are cached."""
        transfer = self._jobs[f].transfer
        for kept in (*transfer.reads, *transfer.writes):
            self._hosts[kept.host].ended(kept.file)

    def _dirty(self, host: str, file: str) -> float:
        level = 0.0
        for job in self._writers.get((host, file), ()):
            if job.cache is not None:
                job.cache.book(job.cache.env.now)
                level += job.cache.level
        return level
