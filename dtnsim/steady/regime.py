"""The kind of thing that binds a transfer, by which evidence is grouped: the binding station and the class of the tool.

The kinds are those that a planner would distinguish: a wire, a window, loss, a core, a disk, an array, a network file
system, a shared server, waiting of several sorts. How far real systems fall from the model depends on them.
"""

import math
from collections.abc import Mapping
from functools import lru_cache
from statistics import NormalDist
from typing import Final, NamedTuple

import numpy as np

from dtnsim.components.segment import Segment
from dtnsim.description.host import label_of
from dtnsim.description.spec import PathSpec
from dtnsim.ground.records import Problem, Station
from dtnsim.physics._arrays import LEVELS
from dtnsim.steady.meetings import Meeting
from dtnsim.steady.reasons import WORDS, Cause

KINDS: Final = tuple(WORDS["evidence"])  #: kinds of evidence in the order in which they are shown
#: kind of station -> kind of evidence; drives and TCP are looked at more closely
_KINDS: Final = {s: kind for kind, row in WORDS["evidence"].items() for s in row.get("stations", "").split()}
_STORAGE: Final = frozenset({"disk", "array", "bus"})  #: kinds that tests of a host's own volumes have met
#: what limits a TCP station -> kind of evidence
_TCP: Final = {"link": "wire", "window": "window", "loss": "loss", "buffer": "buffer"}
#: what a wait belongs to -> kind of evidence
_WAITS: Final = {"file": "small files", "byte": "requests", "close": "requests"} | dict.fromkeys(
    ("start", "open", "lead"), "start"
)
ISOLATED: Final = "isolated"
MEASURED: Final = "measured"
PRODUCTION: Final = "production"
#: standard deviations from p10 to p90
_APART: Final = NormalDist().inv_cdf(LEVELS[2]) - NormalDist().inv_cdf(LEVELS[0])


class Regime(NamedTuple):
    """What binds a transfer, the class of its tool, whether the path is dedicated, what was measured, the setting.

    A dedicated path has no other traffic on any segment (stated, without spread) and no shared server, so that days do
    not differ. If a drive, array or bus of a calibrated host binds, or requests to its own volumes wait, ``measured``
    has the scatter of its runs and days. ``setting``: an isolated lab, hosts of which one was calibrated by its own
    tests, or any other production. ``doubt``: if the setting follows from a fully stated network, the spread of what
    other traffic leaves of it (`_doubt`).
    """

    kind: str
    tool: str
    dedicated: bool = False
    measured: tuple[float, float | None] | None = None
    setting: str = PRODUCTION
    doubt: float = math.inf

    @property
    def same_every_day(self) -> bool:
        """Whether days do not differ: the path is dedicated, and no runs of several days say otherwise."""
        return self.dedicated and (self.measured is None or self.measured[1] is None)

    @property
    def name(self) -> str:
        """``production/core/ssh``."""
        return f"{self.setting}/{self.kind}/{self.tool}"

    @property
    def drawn_as(self) -> str:
        """Name by which its error is drawn: that of an isolated path if only a trace of other traffic differs."""
        return self.name if math.isinf(self.doubt) else self._replace(setting=ISOLATED).name

    @property
    def names(self) -> tuple[str, str, str]:
        """Names of its groups of evidence: setting, kind, class of tool."""
        return self.setting, f"{self.setting}/{self.kind}", self.name


class Holders(NamedTuple):
    """Everything that can bind a transfer."""

    own: Regime  #: What binds at the median.
    stations: Mapping[str, Regime]  #: Stations on its way, by name.
    waits: Mapping[str, Regime]  #: Its workers' waits, by what each belongs to (`Demand.each`).
    meeting: Meeting | None = None  #: The transfers that run halfway through its time; None if all always do.


def holders(path: PathSpec, problem: Problem, f: int, cause: Cause) -> Holders:
    """Everything that can bind a transfer of a path, and what does at the medians."""
    transfer, base, stations = problem.transfers[f], _base(path, f), on_the_way(path, problem, f)
    longest = max((d for p in transfer.phases for d in p.delays), key=lambda d: float(np.max(d.per_byte)), default=None)
    ends = {end.partition(":")[0] for end in (path.transfers[f].source_end, path.transfers[f].to)}
    noise = path.noises.get(ends.pop()) if len(ends) == 1 else None
    waits = {
        each: base._replace(kind=kind, measured=noise if kind == "requests" else None) for each, kind in _WAITS.items()
    }
    wait = waits["byte" if longest is None else longest.each]
    binding = wait if cause.station is None else stations[problem.stations[cause.station].name]
    return Holders(binding, stations, waits)


def on_the_way(path: PathSpec, problem: Problem, f: int) -> dict[str, Regime]:
    """Stations on a transfer's way, by name, and its regime if they bind."""
    base, named = _base(path, f), _stations(problem)
    visited = dict.fromkeys(d.station for p in problem.transfers[f].phases for d in p.demands)
    return {name: _held_at(path, problem, named[name], base) for name in visited}


def _base(path: PathSpec, f: int) -> Regime:
    """The regime of a transfer before it is known what binds."""
    doubt = _doubt(path)
    stated = doubt if follows(path) else math.inf
    return Regime("", path.transfers[f].tool.tool_class, not doubt, None, setting(path), stated)


@lru_cache(maxsize=1)
def _stations(problem: Problem) -> Mapping[str, Station]:
    """The stations of a path by name, cached as each of its transfers asks for them."""
    return {s.name: s for s in problem.stations}


def _held_at(path: PathSpec, problem: Problem, station: Station, base: Regime) -> Regime:
    """The regime of a transfer that a station binds."""
    kind = _station(path, problem, station)
    return base._replace(kind=kind, measured=path.noises.get(station.host) if kind in _STORAGE else None)


def _doubt(path: PathSpec) -> float:
    """ln(p90 / p10) of the capacity that other traffic leaves: 0 for none, infinite if it is not stated."""
    systems = (v.filesystem.kind for h in path.hosts.values() for v in h.volumes.values())
    if any(_KINDS.get(kind) == "shared server" for kind in systems):
        return math.inf
    return max(map(_of_traffic, path.segments), default=0.0)


def _of_traffic(segment: Segment) -> float:
    """The same for one segment."""
    if segment.background is None:
        return math.inf
    share = segment.background.anytime
    return _APART * share.value * share.spread / (1 - share.value)


def follows(path: PathSpec) -> bool:
    """Whether the setting follows from the network: it is not stated, but every segment's loss and traffic are."""
    stated = bool(path.segments) and all(s.loss.typical is None for s in path.segments)
    return path.setting is None and stated and math.isfinite(_doubt(path))


def setting(path: PathSpec) -> str:
    """The stated setting, or `ISOLATED` if the network is fully stated and has no other traffic."""
    if path.setting == ISOLATED or (follows(path) and not _doubt(path)):
        return ISOLATED
    return MEASURED if path.measured else PRODUCTION


def _station(path: PathSpec, problem: Problem, station: Station) -> str:
    if station.kind == "tcp":
        streams = problem.connections.get(station.name)
        # a paced stream has no connection of its own: its rate is set
        return _TCP.get(streams.limit, "wire") if streams is not None else "wire"
    if station.kind in _KINDS:
        return _KINDS[station.kind]
    return "array" if _drives(path, station) > 1 else "disk"


def _drives(path: PathSpec, station: Station) -> int:
    """Drives of the volume that a station belongs to."""
    host = path.hosts.get(station.host)
    for mount, volume in host.volumes.items() if host is not None else ():
        if station.component.startswith(f"{label_of(mount)}.") and volume.array is not None:
            return volume.array.drives
    return 1
