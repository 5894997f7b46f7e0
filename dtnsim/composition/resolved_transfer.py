"""One transfer as composition sees it: ends, its tool's job and plan, route, and its way through the path's graph."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np

from dtnsim.components.access import Thread
from dtnsim.components.filesystem import label_of
from dtnsim.components.wiring import Volume
from dtnsim.composition.route import Route
from dtnsim.description import dataset
from dtnsim.description.dataset import Dataset
from dtnsim.description.graph import Cut, narrowest_cut, single_points
from dtnsim.description.host import Host
from dtnsim.description.spec import PathSpec
from dtnsim.description.transfer import DEVICES, TransferSpec, split_end
from dtnsim.ground.errors import SpecError
from dtnsim.ground.ledger import Ledger
from dtnsim.ground.quantity import Quantity, middle
from dtnsim.physics import cache
from dtnsim.tools.plan import EndKind, FileCost, Job, NetUse, Plan, Timing

FIRST_GUESS_BPS: Final = 1e9  #: rate from which the bytes of a timed transfer are guessed before it is known [B/s]


@dataclass(frozen=True, slots=True)
class End:
    """One end of a transfer: host, and the volume or device on it."""

    host: Host
    path: str
    kind: EndKind
    volume: str | None

    @property
    def mounted(self) -> Volume:
        """Its volume, where it is one."""
        return self.host.volumes[self.volume or ""]

    @property
    def is_bucket(self) -> bool:
        """Whether it is a bucket of an object store."""
        return self.is_on("s3")

    def is_on(self, kind: str) -> bool:
        """Whether it is a volume with a file system of a kind."""
        return self.volume is not None and self.mounted.filesystem.kind == kind


@dataclass(frozen=True, slots=True)
class Leg:
    """One transfer of a path."""

    spec: TransferSpec  #: What the path file says of it.
    source: End  #: End that is read.
    destination: End  #: End that is written.
    route: Route | None  #: The network between the ends; None within one host.
    data: Dataset  #: The files that are moved.
    job: Job  #: What the tool is asked to do.
    plan: Plan  #: How the tool does it.
    timing: Timing | None = None  #: When it ends, if it is timed.

    def use_of(self, net: NetUse) -> NetUse:
        """A use of the network, completed for this transfer's workers."""
        return replace(net, workers=max(int(self.plan.workers), 1), total_B=self.job.payload_B)

    def walked_B(self, cost: FileCost) -> float:
        """Bytes of the tree that a step walks, if its inodes may not all be cached; 0 if it walks none."""
        return self.job.payload_B if cost.walk and not self.spec.cached else 0.0

    def placed(self, thread: Thread) -> Thread:
        """A thread of the tool, pinned to the core that the path file states."""
        return thread if self.spec.core is None else replace(thread, slot=self.spec.core)


def end_of(spec: PathSpec, text: str) -> End:
    """The end of a transfer that ``host:/path`` names."""
    name, path = split_end(text)
    host = spec.hosts[name]
    if path in DEVICES:
        return End(host, path, DEVICES[path], None)  # type: ignore[arg-type]  # values are EndKind
    return End(host, path, "volume", host.mount_of(path))


def lies_on(spec: PathSpec, end: str, through: tuple[str, ...] = ()) -> tuple[str, str | None]:
    """Host and volume whose drives an end is on; for a mount, those of its server.

    Args:
        end: The end, ``host:/path``.
        through: Mounts that led there.
    """
    alias, where = split_end(end)
    host = spec.hosts.get(alias)
    mount = host.mount_of(where) if host is not None else None
    server = host.volumes[mount].server if host is not None and mount is not None else None
    return (alias, mount) if server is None or server in through else lies_on(spec, server, (*through, server))


def leg(spec: TransferSpec, source: End, destination: End, route: Route | None, moved_B: float | None = None) -> Leg:
    """A transfer with the plan that its tool makes for its data set and ends.

    Args:
        source: End that is read.
        destination: End that is written.
        moved_B: What it moves in its time, where a time ends it and that is known by now [B].

    Raises:
        SpecError: its time is over before the first byte can be acknowledged.
    """
    data, timing = work(spec, moved_B)
    _check_time(spec, timing, route)
    job = Job(
        name=spec.name,
        files=data.files,
        payload_B=data.payload_B if timing is None or moved_B is None else moved_B,
        largest_B=data.largest_B,
        directories=data.directories,
        rtt_s=route.nominal_rtt if route else 0.0,
        source=source.kind,
        destination=destination.kind,
        file_memory_B=(_file_memory(source), _file_memory(destination)),
        cores=min(source.host.cpu.total, destination.host.cpu.total),
        apart=source.host is not destination.host,
        buckets=(source.is_bucket, destination.is_bucket),
        to_tape=destination.is_on("tape"),
        within=source.host is destination.host and source.volume is not None and source.volume == destination.volume,
        desk=source.host.desk or destination.host.desk,
        sizes_B=tuple(data.sizes_B.tolist()),
        counts=tuple(data.counts.tolist()),
    )
    return Leg(spec, source, destination, route, data, job, spec.tool.plan(job), timing)


def check_space(spec: PathSpec, legs: Sequence[Leg], ledger: Ledger) -> None:
    """Refuses transfers that exceed a volume's stated ``size``, and warns of those that exceed its drives.

    Writes to a volume are added up (reads may be of the same files); compressed files take less room.

    Raises:
        SpecError: more bytes are sent than the volume has by its ``size``.
    """
    needed: dict[tuple[str, str, str], float] = {}
    for number, leg in enumerate(legs):
        for end, text, does in ((leg.source, leg.spec.source_end, "read"), (leg.destination, leg.spec.to, "write")):
            shares = [middle(step.share) for step in leg.plan.steps if getattr(step, does) is not None]
            host, mount = lies_on(spec, text)
            if end.volume is None or mount is None or not shares or leg.timing is not None:
                continue
            moved_B, before_B = leg.job.payload_B * max(shares), needed.get((host, mount, does), 0.0)
            needed[host, mount, does] = before_B + moved_B if does == "write" else max(before_B, moved_B)
            size = end.mounted.size
            if does == "write" and size is not None and leg.job.payload_B > size.value:
                message = f"{Quantity(leg.job.payload_B, 'B')} will not fit on {end.host.name}:{end.volume} ({size})"
                remedy = "give a smaller data set, or the volume a larger 'size'"
                raise SpecError(message, key=f"{spec.transfer_key(number)}.dataset", remedy=remedy)
    for (host, mount, _), needed_B in needed.items():
        volume, place = spec.hosts[host].volumes[mount], f"hosts.{host}.volumes.{mount}"
        array, ratio = volume.array, getattr(volume.filesystem, "ratio", None)
        if volume.filesystem.kind == "tape":  # whose disks the files only pass
            array = None
        drives_B = array.each_B * array.drives * array.usable if array is not None else 0.0
        room_B = volume.size.value if volume.size is not None else drives_B
        if needed_B > room_B * (ratio.value if ratio is not None else 1.0) > 0:
            key = "size" if volume.size is not None else "array"
            amounts = f"{Quantity(needed_B, 'B')} will not fit on {host}:{mount} ({Quantity(room_B, 'B')} by its {key})"
            ledger.warn(f"{amounts}: write a smaller dataset, or what the volume has as {place}.size")


def _check_time(spec: TransferSpec, timing: Timing | None, route: Route | None) -> None:
    if timing is None or route is None or timing.seconds + timing.omitted >= route.nominal_rtt:
        return
    time, rtt = Quantity(timing.seconds + timing.omitted, "s"), Quantity(route.nominal_rtt, "s")
    message = f"ends after {time}, before the first byte can be acknowledged: a round trip takes {rtt}"
    remedy = f"let it last {Quantity(10 * route.nominal_rtt, 's')} or longer"
    raise SpecError(message, key=f"transfer {spec.name}", remedy=remedy)


def _file_memory(end: End) -> float:
    """Memory of an end's host in which files stay that a tool has read or written there [B]."""
    room = float(cache.dirtyable_bytes(end.host.memory.size.value, end.host.vm.used.value))
    return room if end.volume is None else min(room, end.mounted.filesystem.keeps_files)


def work(spec: TransferSpec, moved_B: float | None) -> tuple[Dataset, Timing | None]:
    """The data that is moved and, for a timed transfer, when it ends.

    A timed transfer moves its files over and over, or one endless file if none is given. The bytes follow from the
    rate; before that is known they are a first guess.
    """
    timing = spec.timing()
    if timing is None:
        return (spec.dataset if spec.dataset is not None else default_dataset()), None
    data: Dataset | None = spec.dataset
    if data is not None and not timing.repeats and (moved_B is None or moved_B >= data.payload_B * (1 - 1e-9)):
        return data, None
    moved = FIRST_GUESS_BPS * timing.seconds if moved_B is None else moved_B
    if data is None:
        return dataset.of_sizes([moved], name=f"what moves in {timing.seconds:g} s"), timing
    counts = np.maximum(np.rint(data.counts * (moved / data.payload_B)), 1).astype(np.int64)
    return replace(data, counts=counts), timing


class Openings(NamedTuple):
    """What the connections of a transfer move between one opening and the next."""

    part_B: Any  #: Bytes that pass before connections are opened anew (G,) [B].
    times: Any  #: How often that happens (G,).
    omitted_s: float  #: Time before them that is left out [s].
    waited_B: float  #: Bytes of all workers after which answers are waited for; infinite where none are [B].
    end_s: float  #: Time in which what comes counts; infinite where bytes end it [s].
    answered: bool  #: Whether an answer to the last byte is waited for, whose round trip has its way.


def openings(leg: Leg, net: NetUse) -> Openings:
    """What a transfer's connections move between one opening and the next.

    A wait between two files ends no connection: its losses are those of all files together.
    """
    workers, data = leg.plan.workers, leg.data
    omitted = leg.timing.omitted if leg.timing is not None else 0.0
    if net.reopened:
        return Openings(data.sizes_B * workers, data.counts, omitted, math.inf, math.inf, answered=True)
    payload = max(leg.job.payload_B, 1.0)
    waited = min(max(leg.job.largest_B, 1.0) * workers, payload) if net.stopped else math.inf
    ends = math.inf
    if leg.timing is not None and leg.timing.repeats:  # what is sent last is on its way
        ends = max(leg.timing.seconds - (0.0 if omitted or leg.route is None else leg.route.nominal_rtt / 2), 1e-3)
    return Openings(np.array([payload]), np.array([workers]), omitted, waited, ends, net.stopped or net.answered)


@lru_cache(maxsize=1)
def default_dataset() -> Dataset:
    """The data set if none is stated."""
    return dataset.load({"files": 1, "size": "100 GB"})


@dataclass(frozen=True, slots=True)
class Way:
    """The way of one transfer."""

    transfer: str  #: Its name.
    nodes: tuple[str, ...]  #: Nodes of the graph from end to end, over both hosts' memory.
    single_points: tuple[str, ...]  #: Nodes without which nothing arrives.
    cut: Cut  #: The narrowest set of nodes on all ways between the ends.


def ways(spec: PathSpec) -> list[Way]:
    """The ways of all transfers, but for those whose ends are not connected."""
    import networkx as nx

    all_ways = []
    for transfer in spec.transfers:
        named = [end_of(spec, text) for text in (transfer.source_end, transfer.to)]
        over = [f"{end.host.name}.memory" for end in named]
        ends = [f"{end.host.name}.{label_of(end.volume) if end.volume is not None else 'memory'}" for end in named]
        stops = list(dict.fromkeys([ends[0], *over, ends[1]]))
        nodes = stops[:1]
        try:
            for a, b in pairwise(stops):
                nodes += nx.shortest_path(spec.graph, a, b, weight="rtt")[1:]
        except nx.NetworkXNoPath:
            continue
        points = tuple(p for a, b in pairwise(stops) for p in [*single_points(spec.graph, a, b), b] if p != ends[1])
        cut = narrowest_cut(spec.graph, ends[0], ends[1]) if ends[0] != ends[1] else Cut(float("inf"), ())
        all_ways.append(Way(transfer.name, tuple(nodes), points, cut))
    return all_ways
