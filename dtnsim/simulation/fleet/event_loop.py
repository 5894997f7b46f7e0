"""A fleet in time: arrivals, queues, shares, faults, retries, on exact fluid shares.

An event costs only what it changes: the shares concerned are updated, and only lanes that a freed place lets through
are looked at (`traffic`). Faults happen here. Use of stations is booked by way and hour, at no cost per byte.
"""

import math
import weakref
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from dtnsim.engine import flow_lists
from dtnsim.engine.nodes import more_flows, node_capacity
from dtnsim.ground.errors import ModelError
from dtnsim.physics._arrays import FloatArray as Array, IntArray
from dtnsim.physics.tools import kept_bytes
from dtnsim.simulation.fleet import compiled, state, traffic, transfer_layout as at
from dtnsim.simulation.fleet.facility import Lane, Way, Work
from dtnsim.simulation.fleet.faults import Fault

_OTHERS: Final = ("queue", "down", "back-off")  #: what holds a transfer besides stations (`transfer_layout`)


class EventLoop:
    """A running fleet with its faults in order of time; ``idle``: it lasts to the end of the span when all is done."""

    def __init__(
        self,
        capacity: Sequence[float],
        work: Work,
        lanes: Sequence[Lane],
        ways: Sequence[Way],
        faults: Iterable[Fault],
        *,
        until: float,
        order: str = "fifo",
        hosts: int = 2,
        fast: bool = False,
        idle: bool = False,
    ) -> None:
        self.work, self.lanes, self.ways, self.until, self._idle = work, lanes, ways, until, idle
        self.capacity = [float(c) for c in capacity]
        kinds = 1 + max((lane.kind.number for lane in lanes), default=0)
        layout = state.Layout(self.capacity, lanes, ways, kinds, hosts)
        numbers = state.initial_state(layout, work, until, order)
        self.f: Any = numbers[0]
        self.q: Any = numbers[1]
        self._keep(*numbers[2:])
        self._kernel: Any = compiled.fast() if fast else None
        if self._kernel is None:
            self._kernel = compiled.plain()
        else:
            self.f, self.q = np.array(self.f), np.array(self.q, np.int64)
        self.h = self._kernel.lists(layout.heaps)
        if hasattr(self._kernel, "give_back"):
            weakref.finalize(self, self._kernel.give_back, self.h).atexit = False
        self._heaps = layout.heaps
        #: what has been moved in vain because transfers were broken off [B], and how often
        self.broken, self.tries = np.zeros(len(work)), np.zeros(len(work), np.int64)
        self._whole = work.size + work.damage.again_B
        #: for each stretch: numbers of ways and the bytes that they have moved
        self.hours: list[tuple[IntArray, Array]] = []
        self.faults = list(faults)
        self.fault = 0
        self._next_fault()

    def _keep(self, t: Any, u: Any) -> None:
        """Keeps the tables of transfers: (N,) begin and end of each [s], its state, its last way (-1: none yet)."""
        self.t, self.u = t, u
        self.begun, self.ended, self.status, self.way = t[at.BEGUN], t[at.ENDED], u[at.STATUS], u[at.WAY_NUMBER]

    # -- what it says -------------------------------------------------------------------------------

    @property
    def now(self) -> float:
        """Time [s]."""
        return float(self.f[at.NOW])

    @property
    def events(self) -> int:
        """Instants at which something happened."""
        return int(self.q[at.EVENTS])

    @property
    def finished(self) -> int:
        """How many transfers are done or given up."""
        return int(self.q[at.FINISHED])

    @property
    def held_seconds(self) -> dict[tuple[int, int | str], float]:
        """(class, what held it) -> seconds."""
        start, width = int(self.q[at.HELD]), int(self.q[at.N_HELD])
        stations = width - at.OTHERS
        table = np.array(self.f[start : start + width * (1 + max((x.kind.number for x in self.lanes), default=0))])
        held_s: dict[tuple[int, int | str], float] = {}
        for n in np.flatnonzero(table).tolist():
            kind, holder = divmod(n, width)
            held_s[kind, holder if holder < stations else _OTHERS[holder - stations]] = float(table[n])
        return held_s

    @property
    def kinds(self) -> IntArray:
        """(N,) number of each one's class."""
        return np.array([lane.kind.number for lane in self.lanes] or [0])[self.work.lane]

    @property
    def of_hours(self) -> tuple[IntArray, IntArray, Array]:
        """`hours` end to end: how many ways were used in each, which, and what each of those moved [B]."""
        ways = np.concatenate([np.zeros(0, np.int64), *(numbers for numbers, _ in self.hours)])
        moved = np.concatenate([np.zeros(0), *(values for _, values in self.hours)])
        return np.array([len(numbers) for numbers, _ in self.hours], np.int64), ways, moved

    @property
    def resent(self) -> Array:
        """(N,) bytes of each moved in vain: broken off, or in files that arrived damaged [B]."""
        return np.asarray(self.broken + np.maximum(self._whole - self.left() - self.work.size, 0.0), float)

    @property
    def moved(self) -> Array:
        """(N,) bytes of each moved in all [B]."""
        return np.asarray(self._whole - self.left() + self.broken, float)

    def left(self) -> Array:
        """(N,) bytes that each transfer has still to go [B]."""
        rest = np.where(self.status == at.DONE, 0.0, self.t[at.LEFT])
        for x in self._live():
            rest[self.q[x + at.TRANSFER]] = flow_lists.left(self.f, self.q, x, self.now)
        return np.asarray(rest, float)

    def _lane(self, n: int) -> int:
        return int(self.q[at.LANES]) + n * at.LANE

    def _live(self) -> Iterator[int]:
        """Flows under way, the first first."""
        x = int(self.q[at.FIRST_LIVE])
        while x >= 0:
            following = int(self.q[x + at.NEXT_LIVE])
            yield x
            x = following

    # -- the loop -----------------------------------------------------------------------------------

    def run(self, most: int) -> bool:
        """Goes on for so many events; returns whether there is nothing more to come."""
        goal = self.events + most
        while self.events < goal:
            try:
                why = self._kernel.run(self.f, self.q, self.h, self.t, self.u, goal - self.events)
            except RuntimeError as error:
                raise ModelError(f"given up at {self.now} s: {error}") from None
            if why == at.OVER:
                self.stop()
                if self._idle:  # nothing more to move: stretches of nothing, to the end of the span
                    none = np.zeros(0, np.int64), np.zeros(0)
                    self.hours += [none] * (math.ceil(self.until / traffic.HOUR_S) - len(self.hours))
                    self.f[at.NOW] = self.until
                return True
            if why == at.TICKED:
                self._collect()
            elif why == at.NARROW:
                self.f, self.q = more_flows(self.f, self.q, 2 * int(self.q[at.LIVE]))
            elif why == at.FAILING:
                while self.fault < len(self.faults) and self.faults[self.fault].time <= self.now:
                    self._strike(self.faults[self.fault], self.now)
                    self.fault += 1
                self._next_fault()
        return False

    def _next_fault(self) -> None:
        self.f[at.FAULT] = self.faults[self.fault].time if self.fault < len(self.faults) else math.inf

    # -- where it is ------------------------------------------------------------------------------------

    def heaps(self) -> tuple[IntArray, Array]:
        """(length of each heap, their entries one after the other), as they lie; integers below 2**53."""
        kernel, h = self._kernel, self.h
        lengths = np.array([kernel.size(h, k) for k in range(self._heaps)], np.int64)
        entries = [kernel.entry(h, k, j) for k, n in enumerate(lengths.tolist()) for j in range(n)]
        return lengths, np.array(entries, float).reshape(-1, 3)

    def restore(self, f: Any, q: Any, tables: tuple[Any, Any], heaps: tuple[Any, Any], fault: int) -> None:
        """Goes on from the numbers of another course of the same fleet.

        Args:
            tables: The two tables of its transfers.
            heaps: What `heaps` has given.
            fault: Number of the fault that comes next.
        """
        plain = isinstance(self.f, list)
        self.f, self.q = (f.tolist(), q.tolist()) if plain else (np.ascontiguousarray(f), np.ascontiguousarray(q))
        self._keep(*map(np.ascontiguousarray, tables))
        lengths, entries = heaps
        at_entry = iter(entries.tolist())
        for k, n in enumerate(lengths.tolist()):
            self._kernel.cut(self.h, k, 0)
            for _ in range(n):
                a, b, c = next(at_entry)
                self._kernel.put(self.h, k, a, int(b), int(c))
        self.fault = fault
        self._next_fault()

    # -- faults -------------------------------------------------------------------------------------

    def _strike(self, fault: Fault, now: float) -> None:
        """Stations get other capacities; what crosses them may be broken off."""
        f, q, h, kernel = self.f, self.q, self.h, self._kernel
        touched = {k for k, _ in fault.factors}
        hit = [x for x in self._live() if any(k in touched for k, _ in self._way(x).reduced.demands)]
        for x in hit:
            traffic.book_flow(f, q, x, int(q[x + at.SIDE]), flow_lists.left(f, q, x, now), now)
        for k, factor in fault.factors:
            s = int(q[at.STATIONS]) + at.STATION * k
            f[s] = self.capacity[k] * factor
            down = int(factor == 0)
            q[at.DOWN_COUNT] += down - q[s + at.DOWN]
            q[s + at.DOWN] = down
            if q[s] >= 0:
                kernel.set_capacity(f, q, h, int(q[s]), node_capacity(f, q, int(q[s])))
        if fault.breaks:
            for x in hit:
                self._break(x, now)
        if not fault.begins:
            for n in range(len(self.lanes)):
                kernel.let_go(q, h, self._lane(n))

    def _way(self, x: int) -> Way:
        return self.ways[(int(self.q[x + at.WAY_OF]) - int(self.q[at.WAYS])) // at.WAY]

    def _break(self, x: int, now: float) -> None:
        """Breaks off a transfer: which of its bytes stand, and when it is retried."""
        f, q, h, kernel = self.f, self.q, self.h, self._kernel
        i, side, way = int(q[x + at.TRANSFER]), int(q[x + at.SIDE]), self._way(x)
        lane = self.lanes[(int(q[x + at.LANE_OF]) - int(q[at.LANES])) // at.LANE]
        rest = kernel.withdraw(f, q, h, x, now)
        kernel.release(f, q, h, x, side, rest, now)
        whole, files = float(self._whole[i]), int(self.work.files[i])
        each = float(self.work.size[i]) / files
        done, restart = whole - rest, lane.kind.retry.restart
        keep = done if restart == "byte" else 0.0
        if restart == "file":
            keep = float(kept_bytes(done, each, max(round(whole / each), 1), way.reduced.workers))
        self.broken[i] += done - keep
        self.t[at.LEFT, i] = whole - keep
        self.tries[i] += 1
        if self.tries[i] > lane.kind.retry.times:
            self.status[i], self.ended[i] = at.FAILED, now
            q[at.FINISHED] += 1
            return
        self.status[i], self.t[at.QUEUED_AT, i] = at.BACKING_OFF, now
        kernel.push(h, at.RETRIES, now + lane.kind.back_off_s(int(self.tries[i])), i, 0)

    # -- books --------------------------------------------------------------------------------------

    def _collect(self) -> None:
        """Closes a stretch and notes the bytes of every way in it."""
        first, last = int(self.q[at.WAYS]), int(self.q[at.WAYS]) + at.WAY * len(self.ways)
        moved = np.array(self.f[first : last : at.WAY], float)
        numbers = np.flatnonzero(moved)
        self.hours.append((numbers, moved[numbers]))
        for n in numbers.tolist():
            self.f[first + at.WAY * n] = 0.0

    def stop(self) -> None:
        """Ends the run now; transfers in progress are booked as far as they have come."""
        f, q, now = self.f, self.q, self.now
        for i in np.flatnonzero((self.status == at.QUEUED) | (self.status == at.BACKING_OFF)).tolist():
            lane = self._lane(int(self.work.lane[i]))
            since = float(self.t[at.QUEUED_AT, i])
            if self.status[i] == at.QUEUED:
                traffic.book_wait(f, q, lane, since, now)
            else:
                holder = int(q[at.N_HELD]) - at.OTHERS + at.BY_BACK_OFF
                traffic.hold(f, q, int(q[lane + at.KIND]), holder, now - since)
            self.t[at.QUEUED_AT, i] = now
        traffic.book_all(f, q, now)
        self._collect()
        q[at.HOUR] += 1
