"""The fluid engine as a SimPy resource: flows that share stations, exactly, event by event.

    env = simpy.Environment()
    engine = Engine(env, [1.25e9, 500e6])            # two stations: a 10 Gb/s link, a disk

    def copy(env):
        yield engine.transfer({0: 1.05, 1: 1.0}, 10e9, weight=4, cap=2e8)

A *row* says what one byte costs at each station it visits; a transfer of rate x takes
``x * demand`` of each. Rates are weighted max-min fair: they rise together, each by its weight, until a
station is full or a transfer reaches its cap. They are put right whenever a transfer starts, ends
or is changed, and whenever a capacity changes; everything that happens at one instant is put right
once, after all other events of that instant. Between events rates are constant, so there is no time
step and no error but rounding.

`Engine.set_capacity` changes a capacity at any time, to zero and back if need be.

Cost of an event: the nodes whose level changes, their neighbours, and a logarithm; not the number of
transfers (`dtnsim.engine.max_min`).

Neglects: queues and packets. A flow is a rate; what a change of rate takes (slow start, a window
that has to grow) is the caller's, as a cap that it changes.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from simpy.core import Environment  # this module is loaded only where SimPy is used
from simpy.events import Event, EventPriority

from dtnsim.engine.flows import Flow, Row
from dtnsim.engine.fluid import Fluid
from dtnsim.ground.errors import InputError

_LAST: Final = EventPriority(2)  #: after everything else at an instant (SimPy has URGENT = 0 and NORMAL = 1)
_DEEPEST: Final = 40  #: watchers that call each other, one within the other, at most; those beyond wait


class Transfer(Event):
    """A transfer under way: a SimPy event that happens when its last byte has passed.

    Its value is the time that the transfer took [s].
    """

    #: Called after changes of the shares that let something else hold it back than before.
    moved: Callable[[], None] | None = None

    def __init__(self, env: Environment, flow: Flow) -> None:
        super().__init__(env)
        self.size = flow.size  #: Bytes [B].
        self.started = env.now  #: When it started [s].
        self.flow = flow  #: Its state in the engine; ask the `Engine` instead.
        flow.owner = self


class _Tick(Event):
    """Wakes the engine: happens by itself, after all that other events do at that instant."""

    def __init__(self, env: Environment, delay: float, callback: Callable[[Event], None]) -> None:
        super().__init__(env)
        self._ok = True
        self._value = None
        self.callbacks.append(callback)
        env.schedule(self, priority=_LAST, delay=delay)


class Engine:
    """Stations with capacities, and the transfers that share them, in a SimPy environment."""

    def __init__(self, env: Environment, capacities: Sequence[float]) -> None:
        if not isinstance(env, Environment):
            raise InputError(f"an Engine needs a simpy.Environment (got {type(env).__name__})")
        self.env = env
        self.fluid = Fluid(capacities)
        self._tick: _Tick | None = None
        self._planned = math.inf
        self._time = -math.inf
        self._stale = False
        self._watchers: dict[int, dict[Callable[[], None], None]] = {}
        self._limits: dict[int, dict[Callable[[], None], None]] = {}  # of those whom rates do not concern
        self._poked: dict[int, None] = {}
        self._tightest: dict[int, int] = {}  # station that binds, by node; until the next change
        self._depth = self._epoch = 0
        self._deferred: dict[Callable[[], None], None] = {}
        #: labels of transfers that something else may hold back than when somebody last emptied this
        self.stirred: dict[Any, None] = {}

    # ---- transfers ----

    def transfer(
        self,
        row: Mapping[int, float] | Row,
        size: float,
        *,
        weight: float = 1.0,
        cap: float = math.inf,
        label: Any = None,
    ) -> Transfer:
        """Starts moving bytes now; `InputError` where bytes, weight, cap or a demand mean nothing.

        Args:
            row: Station -> what one byte costs there [station's unit/B]; or what `Engine.row` made of that.
            size: Bytes; 0 ends at once, infinite lasts until it is cancelled [B].
            label: Anything, to find it again.

        Returns:
            The `Transfer`, an event to yield.
        """
        if not isinstance(row, Row):
            row = self.fluid.row(row)
        flow = self.fluid.flow(row, size, weight, cap)
        flow.label = label
        transfer = Transfer(self.env, flow)
        self._start(flow)
        return transfer

    def row(self, demands: Mapping[int, float]) -> Row:
        """Checks a row once, for many transfers: its stations exist, its demands are finite and not negative."""
        return self.fluid.row(demands)

    def cancel(self, transfer: Transfer) -> float:
        """Takes a transfer out, whose event will not happen any more; bytes that it still had to go [B]."""
        if transfer.flow.at < 0:
            return 0.0
        left = self.fluid.withdraw(transfer.flow, self._engine_time())
        self.stirred[transfer.flow.label] = None
        self._soon()
        return left

    def change(
        self, transfer: Transfer, *, cap: float | None = None, row: Mapping[int, float] | Row | None = None
    ) -> None:
        """Gives a transfer under way another cap or row from now on, unless it has ended; None: as it is."""
        old = transfer.flow
        if old.at < 0:
            return
        if row is None:
            row = old.row
        elif not isinstance(row, Row):
            row = self.fluid.row(row)
        new = self.fluid.flow(row, old.size, old.weight, old.cap if cap is None else cap)
        new.size = self.fluid.withdraw(old, self._engine_time())
        self._soon()
        new.label, new.owner = old.label, transfer
        transfer.flow = new
        self._start(new)

    def rate(self, transfer: Transfer) -> float:
        """Its rate now [B/s]; 0 once it has ended."""
        if self._stale:
            self._settle()
        return self.fluid.rate(transfer.flow)

    def left(self, transfer: Transfer) -> float:
        """Bytes that it has still to go [B]."""
        return self.fluid.left(transfer.flow, self._engine_time())

    def bottleneck(self, transfer: Transfer) -> int | None:
        """The station that holds a transfer back now; None where that is its own cap, or it has ended."""
        if self._stale:
            self._settle()
        node = self.fluid.side(transfer.flow)
        if node < 0:  # capped or absent
            return None
        station = self._tightest.get(node)
        if station is None:
            station = self._tightest[node] = self.fluid.tightest(node)
        return station

    # ---- stations ----

    def set_capacity(self, station: int, capacity: float) -> None:
        """Sets a station's capacity from now on [station's unit/s]; `InputError` where it is negative or no number."""
        self.fluid.set_capacity(station, capacity)
        if station in self._watchers or station in self._limits:
            self._poked[station] = None
        self._soon()

    # ---- watching ----

    def watch(self, stations: Sequence[int], callback: Callable[[], None], *, rates: bool = True) -> Callable[[], None]:
        """Calls ``callback()`` after changes of the shares that may concern transfers over these stations.

        Args:
            stations: Which.
            callback: What is called.
            rates: False where only the capacity of these stations concerns it, and not who takes how much of it; what
                holds a transfer back, `Transfer.moved` says.

        Returns:
            A function that ends it.
        """
        watchers = self._watchers if rates else self._limits
        for station in stations:
            watchers.setdefault(station, {})[callback] = None

        def end() -> None:
            for station in stations:
                watchers.get(station, {}).pop(callback, None)

        return end

    # ---- time ----

    def _engine_time(self) -> float:
        """The engine's time: that of SimPy, but for the rounding of a delay."""
        return max(float(self.env.now), self._time)

    def _start(self, flow: Flow) -> None:
        self._tightest.clear()  # a row that is new may split nodes
        if self.fluid.start(flow, self._engine_time()):
            self._soon()
        else:
            flow.owner.succeed(self._engine_time() - flow.owner.started)

    def _soon(self) -> None:
        """Has the shares put right after all other events of this instant."""
        self._stale = True
        now = self._engine_time()
        if self._planned > now:
            self._plan(now)

    def _plan(self, time: float) -> None:
        self._planned = time
        self._tick = _Tick(self.env, max(0.0, time - self.env.now), self._on_tick)

    def _on_tick(self, event: Event) -> None:
        if event is not self._tick:  # an earlier one was needed since, and has been
            return
        now = self._time = max(self._engine_time(), self._planned)
        self._planned, self._tick = math.inf, None
        for flow in self.fluid.finished(now):
            self.stirred[flow.label] = None
            flow.owner.succeed(now - flow.owner.started)
        self._settle()

    def _settle(self) -> None:
        self._stale = False
        now = self._engine_time()
        self.fluid.settle(now)
        self._tightest.clear()
        self.stirred.update(dict.fromkeys([flow.label for flow in (*self.fluid.changed, *self.fluid.unlimited)]))
        for flow in self.fluid.unlimited:
            flow.owner.succeed(now - flow.owner.started)
        self.fluid.unlimited.clear()
        if self._watchers or self._limits:
            self._tell_watchers()
        if self._planned > now:
            time = self.fluid.next_time()
            if time < self._planned:
                self._plan(time)

    def _tell_watchers(self) -> None:
        called: dict[Callable[[], None], None] = {}
        watchers, members = self._watchers, self.fluid.network.members
        for node in self.fluid.touched if watchers else ():
            for station in members[node]:
                if station in watchers:
                    called.update(watchers[station])
        for flow in self.fluid.changed:
            if flow.owner.moved is not None:
                called[flow.owner.moved] = None
        if self.fluid.epoch != self._epoch:  # nodes have been split
            self._epoch = self.fluid.epoch
            self._poked.update(dict.fromkeys(self._limits))
        for station in self._poked:  # of two stations that tie, the other may bind now at the same level
            called.update(watchers.get(station, {}))
            called.update(self._limits.get(station, {}))
        self._poked.clear()
        if self._depth >= _DEEPEST:  # what one watcher changes calls the next: hundreds of them wait for those before
            self._deferred.update(called)
            return
        self._depth += 1
        try:
            for callback in called:
                callback()
            while self._deferred and self._depth == 1:
                callback = next(iter(self._deferred))
                del self._deferred[callback]
                callback()
        finally:
            self._depth -= 1
