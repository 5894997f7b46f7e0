"""The small frozen records that rooms hand to each other: stations, demands, predictions.

A *station* is anything that can run out. A *demand* is what one payload byte costs there. A *transfer* is a sequence of
phases (most have one), each a row of demands. The solver and the simulation see nothing else, so they cannot disagree.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal, Protocol

from dtnsim.ground import units
from dtnsim.ground.lazy import Shown
from dtnsim.ground.pages import Cache, CachedFile
from dtnsim.ground.quantity import Value
from dtnsim.ground.uncertainty import Assumption, Change, Drawn, Interval, Remedy

SLOW_START: Final = "slow start"  # the delay of a connection that opens up
REPAIR: Final = "repair of what is lost last"  # that of its last byte, behind a hole


@dataclass(frozen=True, slots=True)
class Station:
    """Anything with a capacity that can run out."""

    name: str  #: Unique name, ``host.component.part``.
    #: Host it is in, or ``network``, and the component there that it belongs to.
    host: str
    component: str
    kind: str  #: Kind of component (``drive``, ``pcie``, ``core``, ``tcp`` ...).
    capacity: Value  #: Units per second, a float or one value per scenario (S,).
    unit: str  #: Unit of one use: ``B`` (bytes), ``cycles``, ``s`` (of a slot, thread or server), ``op``.
    formula: str = ""  #: How the capacity was reached, with its numbers.
    source: str = ""  #: Where those numbers come from.
    private: bool = False  #: True where it serves one transfer only (a window, a thread of its own).
    #: What one worker of that transfer has of it while the others are elsewhere (of streams that the link holds, the
    #: link); None where each has its part, whoever else is there (a thread, a window).
    alone: Value | None = None
    label: str = ""  #: What sentences call it, where its name is not good enough (``core 3 of venadi``).
    slowed: float = 0.0  #: Part of its capacity that the load of memory takes, 0 to 1.
    remedy: str = ""  #: What relieves it, where whoever charges it knows better than its kind.
    changes: tuple[Change, ...] = ()  #: Ways to relieve it that can be tried: a segment is named by its station.

    @property
    def split(self) -> bool:
        """Whether the workers of its transfer have a part of it each, and none what another leaves."""
        return self.private and self.alone is None

    def of_one(self, workers: float) -> Value:
        """Capacity for one worker of a transfer of so many, while the others are elsewhere."""
        if self.alone is not None:
            return self.alone
        return self.capacity / workers if self.private else self.capacity


@dataclass(frozen=True, slots=True)
class Demand:
    """What one byte of a phase costs at a station."""

    station: str  #: Name of the station.
    per_byte: Value  #: Units of the station per byte, float or (S,).
    what: str  #: The activity, in words that a bottleneck's reason can quote.
    #: How ``per_byte`` was reached, with its numbers, and where those come from.
    formula: str = ""
    source: str = ""
    #: What a delay belongs to: every ``byte``, every ``file`` alike or its ``close``, the ``start`` of a worker,
    #: connections that ``open``, or the ``lead`` of a transfer, in which nothing moves (``per_byte`` spreads it over
    #: the payload).
    each: Literal["byte", "file", "close", "start", "open", "lead"] = "byte"
    below_cache: bool = False  #: True where the destination's page cache comes before the station.
    #: How many memories (the reader's own, then its server's) must lack a byte that visits the station.
    missed: int = 0
    aside: bool = False  #: True where a medium empties a page cache while the worker is at another step.
    yields: bool = False  #: True where it does so only as long as nobody waits for it: no worker is held by it then.


@dataclass(frozen=True, slots=True)
class Phase:
    """A stretch of a transfer in which the same work is done for every byte."""

    name: str  #: ``transfer``, ``verification``, ``flush`` ...
    #: The row of service demands, per payload byte of the whole transfer (a third of the bytes: a third).
    demands: tuple[Demand, ...]
    #: Seconds per payload byte in which a worker waits and no station works (round trips, slow start).
    delays: tuple[Demand, ...] = ()
    step: str = ""  #: Step of the tool's plan that it is a stretch of.


@dataclass(frozen=True, slots=True)
class Transfer:
    """A transfer: its phases and how many workers run through them at once."""

    name: str  #: Name in the path file.
    phases: tuple[Phase, ...]  #: What each worker does to its bytes, one after the other.
    workers: float  #: Files or chunks in progress at once; each goes through the phases in turn.
    payload_B: float  #: Bytes to move.
    files: int  #: Number of files.
    weight: float = 1.0  #: Weight in fair sharing (number of streams).
    #: Sizes of the files, and how many have each; infinite where a time ends it and no file is given.
    sizes_B: tuple[float, ...] = ()
    counts: tuple[int, ...] = ()
    start_s: float = 0.0  #: When it starts.
    cache: Cache | None = None  #: The destination's page cache; None where the tool waits for the medium at every call.
    #: The phase that writes through that cache, whole: what fills it and, below it, what empties it.
    buffered: Phase | None = None
    #: True where it ends when the medium has every byte, False where it ends when the cache has them.
    flushed: bool = True
    #: Time after which it ends, whatever has moved by then; its files are moved over and over.
    time_s: float = math.inf
    omitted_s: float = 0.0  #: Time before that, which does not count.
    #: Bytes that one worker takes at once: longer files are cut, so that all workers can work on one.
    piece_B: float = math.inf
    #: Names of the transfers that must have finished before it begins, and how long before.
    after: tuple[str, ...] = ()
    pause_s: float = 0.0
    turn: int = 0  #: Length of the longest row of transfers before it; those of different turns never meet.
    #: Its files as page caches know them: that of its own host, then that of the server.
    reads: tuple[CachedFile, ...] = ()
    writes: tuple[CachedFile, ...] = ()
    #: Host on which the program has memory of its own, and how much.
    holder: str = ""
    holds_B: float = 0.0
    opened: bool = False  #: Whether its weight's share has the opening of its connections in it.
    counted: bool = True  #: Whether its bytes count in the rate of the whole path.

    @property
    def timed(self) -> bool:
        """Whether a time ends it, not its bytes."""
        return self.time_s < math.inf


@dataclass(frozen=True, slots=True)
class Connection:
    """TCP streams on a route, as the round model needs them for how they open up."""

    rate_Bps: Value  #: Bottleneck of the route in IP bytes [B/s].
    rtt_s: Value  #: Base round-trip time [s].
    buffer_B: Value  #: Its drop-tail buffer [B].
    loss: Value  #: Random loss [1].
    window_B: Value  #: Most payload in flight of one stream [B].
    mtu_B: float  #: IP packet [B].
    mss_B: float  #: Payload of a packet [B].
    streams: int  #: Parallel streams of all workers.
    cc: str  #: Their congestion control.
    reopened: bool = False  #: True where every file has connections of its own.
    burst: Value = 1.0  #: Mean length of the bursts of random loss [packets].
    send_B: Value = math.inf  #: Sender's buffer by which trains go; inf where there are none [B].
    line_Bps: Value = math.inf  #: Rate at which a sender's bursts reach the bottleneck [B/s].
    paced: bool = False  #: Whether the sender spaces its packets.
    capacity_Bps: Value = math.inf  #: What they allow the transfer, its mean where slow start overshoots [B/s].
    limit: Any = "link"  #: What holds them.
    allowed: Any = None  #: What each limit allows them alone, by its name [B/s].
    course: Any = None  #: How they go in time at nominal values (`dtnsim.physics.tcp.rate_over_time.Course`).
    factor: Value = 1.0  #: Rates over those of the course [1].
    early: Value = 1.0  #: The same below its steady rate [1].
    stretch: Value = 1.0  #: Round trip over that of the course [1].
    nominal: Connection | None = None  #: The same streams at nominal values; None where scenarios have their own.
    #: Payload after which answers are waited for or connections opened anew, which no window exceeds [B].
    file_B: float = math.inf
    #: What each limit leaves of their rate, where a bound says so; else it follows from all the others.
    left: Mapping[str, Value] | None = None

    @property
    def by_loss(self) -> bool:
        """Whether their congestion control goes by losses."""
        from dtnsim.physics.tcp import controls

        return controls.find(self.cc).by_loss

    @property
    def course_here(self) -> dict[str, Value]:
        """How their course goes here, as it is asked (`dtnsim.physics.tcp.rate_over_time.Here`)."""
        return {"factor": self.factor, "early": self.early, "stretch": self.stretch}


@dataclass(frozen=True, slots=True)
class Slowdown:
    """Stations that lose capacity as another one fills: cores that wait for a loaded memory."""

    driver: str  #: Station whose utilisation U decides.
    affected: tuple[str, ...]  #: Stations that slow down.
    slope: Value  #: k in ``capacity / max(1, (1 + k U) / (1 + k U0))``.
    reference: Value  #: U0, the utilisation at which the demands were measured.


class Drives(Protocol):
    """What each transfer costs beside how many streams on the volumes of its ends (`dtnsim.composition.volumes`)."""

    scenarios: int  # of what is composed here: there is none for a part or a multiple of them

    def visits(self, f: int) -> Sequence[tuple[tuple[str, str], int]]:
        """(volume, its own streams there) of each end of a transfer that is a volume."""

    def minds(self, f: int) -> bool:
        """Whether other streams on its volumes may change what a transfer costs."""

    def beside_all(self, f: int) -> Transfer:
        """The transfer beside all others."""

    def beside_streams(self, f: int, streams: Mapping[tuple[str, str], int]) -> Transfer:
        """The transfer beside so many streams on each volume, its own included."""


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Stations and transfers of one path: all that the solver and the simulation need. Equal to itself alone.

    ``connections`` has the TCP streams behind the private stations that represent them; ``keys`` says where the path
    file describes a node of the path's graph (``venadi.slot-hba`` is ``hosts.venadi.slots.hba``); ``carried`` is the
    part of a segment that unlike streams carry; ``drives`` knows what volumes that transfers share cost beside fewer.
    """

    name: str
    stations: tuple[Station, ...]
    transfers: tuple[Transfer, ...]
    warnings: tuple[str, ...] = ()
    slowdowns: tuple[Slowdown, ...] = ()
    connections: Mapping[str, Connection] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)
    carried: Mapping[str, float] = field(default_factory=dict)
    drives: Drives | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """The station that holds the transfer back, why, and what relieves it.

    ``work`` names what takes the station, or what is waited for, most of it first, then the longest of several phases.
    """

    station: str
    component: str
    host: str
    kind: str
    reason: str
    remedy: str = ""
    work: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "work": list(self.work)}


@dataclass(frozen=True, slots=True)
class Rung:
    """A rung of the ladder: what binds once all before it is relieved, what relieves it, and ``key=value`` of that."""

    station: str
    throughput_Bps: float
    reason: str
    remedy: str = ""
    overrides: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TransferPrediction:
    """The answer for one transfer of a path.

    ``throughput_Bps`` is its bytes over its own time, ``all_run_Bps`` its rate while all of the path run [B/s].
    ``ceiling`` is its rate with every parameter at its median and everything unstated at its best [B/s].
    ``sender_Bps`` is what the sender of a timed test reports: it counts what its socket has taken, so also what
    has not arrived when the time is up. None where bytes end the transfer.
    ``on_medium_s`` is when the medium has every byte; None where the tool itself waits for that.
    ``ways`` are changes that bring a tenth or more against what holds it, the best first, tried when first looked at.
    """

    name: str
    throughput_Bps: Interval
    ceiling: float
    duration_s: Interval
    bottleneck: Bottleneck
    files: int
    payload_B: float
    ladder: Sequence[Rung]
    sender_Bps: float | None = None
    on_medium_s: Interval | None = None
    all_run_Bps: float = math.nan
    ways: Sequence[Remedy] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class StationUse:
    """A station in the answer: utilisation at the ceiling."""

    station: Station
    demand_per_byte: float
    utilization: float


@dataclass(frozen=True, slots=True, repr=False)
class Prediction(Shown):
    """The answer of `predict`.

    Attributes:
        name: Name of the path.
        throughput_Bps: All transfers together: quantiles of the scenarios; of none, all three are the ceiling.
        duration_s: Time from the first transfer's start to the last's end.
        ceiling: The same with every parameter at its median and everything unstated at its best [B/s].
        transfers: One answer a transfer, in the order of the file.
        stations: Every station with its use, busiest first.
        warnings: What the reader should know (formula out of range, unused parameter ...).
        problem: The stations and demands that give the ceiling, for `explain`.
        drawn: The scenarios behind the interval; None where none were asked for.
        given: The path.
        assumed: Numbers that nobody wrote and that move the answer by more than 5 %, found when first looked at.
        unstated: What is not stated and goes with the answer over the scenarios, the strongest first.
    """

    name: str
    throughput_Bps: Interval
    duration_s: Interval
    ceiling: float
    transfers: tuple[TransferPrediction, ...]
    stations: Sequence[StationUse]
    warnings: tuple[str, ...]
    problem: Problem
    drawn: Drawn | None = field(default=None, compare=False, repr=False)
    given: Any = field(default=None, compare=False, repr=False)
    assumed: Sequence[Assumption] = field(default=(), compare=False, repr=False)
    unstated: Sequence[str] = ()

    def __repr__(self) -> str:
        rate, station = self.throughput_Bps, self.bottleneck.station
        return f"<Prediction {self.name}: {units.show(rate.p50, 'B/s')} ({rate.ends('B/s')}), held by {station}>"

    @property
    def longest(self) -> TransferPrediction:
        """The transfer that takes longest; of equals the one that the path file names first."""
        most = max(t.duration_s.p50 for t in self.transfers)
        return next((t for t in self.transfers if t.duration_s.p50 >= most * (1 - 1e-9)), self.transfers[0])

    @property
    def bottleneck(self) -> Bottleneck:
        """Bottleneck of the transfer that takes longest."""
        return self.longest.bottleneck

    @property
    def ladder(self) -> Sequence[Rung]:
        """Ladder of the transfer that takes longest."""
        return self.longest.ladder
