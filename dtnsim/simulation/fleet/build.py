"""A fleet put together: lanes, endpoints, users and ways of a workload on a path, and the transfers of one run."""

import math
from dataclasses import asdict, dataclass, fields
from fnmatch import fnmatchcase
from functools import partial
from itertools import product
from typing import Any, Final

import numpy as np

from dtnsim.description.spec import PathSpec
from dtnsim.description.templates import members
from dtnsim.description.transfer import split_end
from dtnsim.description.workload import TransferClass
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Draw, Quantity
from dtnsim.simulation.fleet import arrivals, compiled, corruption, faults, job_classes
from dtnsim.simulation.fleet.arrivals import Arrived
from dtnsim.simulation.fleet.degraded import Degraded
from dtnsim.simulation.fleet.event_loop import EventLoop
from dtnsim.simulation.fleet.facility import Endpoint, Kind, Lane, User, Way, Work

#: transfers at once that the Globus service lets a user have (docs.globus.org, FAQ, limits on file transfer)
GLOBUS_ACTIVE: Final = 3
#: places that a transfer takes at an endpoint that is both of its ends
_BOTH: Final = 2
_DAMAGE: Final = tuple(f.name for f in fields(corruption.Damage))


@dataclass(slots=True)
class ReadyFleet:
    """A fleet ready to run, and what its numbers mean."""

    course: EventLoop  #: The run.
    names: list[str]  #: Of stations and of what else can hold a transfer, by number.
    alone_s: Any  #: (N,) how long each transfer would take alone on the first of its ways [s].
    outages: list[faults.Outage]  #: What is down when.
    hosts: list[str]  #: Names of the hosts.


class Fleet:
    """Everything that the runs of a workload have in common; by how many this process makes, compiling pays or not."""

    def __init__(self, path: PathSpec, draw: Draw, runs: int = 1) -> None:
        if path.workload is None:
            remedy = "write 'workload:' into the path file, or give one with --workload"
            raise SpecError("the path has no workload", file=path.file or None, remedy=remedy)
        self.given, self.workload, self.runs = path, path.workload, runs
        self.reduction = job_classes.Reduction(path, draw)
        self.degraded = Degraded(self)
        self.hosts = list(path.hosts)
        for name, endpoint in self.workload.endpoints.items():
            key = f"workload.endpoints.{name}.hosts"
            for pattern in endpoint.hosts:
                if not any(fnmatchcase(h, pattern) for h in self.hosts):
                    remedy = f"write one of {', '.join(self.hosts[:12])}"
                    raise SpecError("is no host", file=path.file, key=key, value=pattern, remedy=remedy)
        users = {u for kind in self.workload.classes.values() for u in kind.user}
        for name in self.workload.users:
            if name not in users:
                remedy = f"users: {', '.join(sorted(users))}"
                raise SpecError("has no transfers", key=f"workload.users.{name}", value=name, remedy=remedy)

    def ready(self, seed: int, scenario: int = 0) -> ReadyFleet:
        """A run of it: its transfers, its faults."""
        return _Build(self, seed, scenario).ready()


class _Build:
    """Puts one run together."""

    def __init__(self, fleet: Fleet, seed: int, scenario: int) -> None:
        self.fleet, self.workload, self.seed, self.scenario = fleet, fleet.workload, seed, scenario
        self.endpoints: dict[str, Endpoint] = {}
        self.users: dict[str, User] = {}
        self.lanes: list[Lane] = []
        self.ways: list[Way] = []
        self._known: dict[tuple[int, tuple[str, str], job_classes.Sort], Way] = {}

    def ready(self) -> ReadyFleet:
        workload = self.workload
        columns, total = list[dict[str, Any]](), 0
        for number, (name, spec) in enumerate(workload.classes.items()):
            arrived = arrivals.draw(name, workload, self.seed, self.fleet.given.folder)
            total += len(arrived.asked)
            if arrived.note:
                self.fleet.reduction.warnings.setdefault(arrived.note)
            if total > arrivals.MOST:
                raise SpecError(f"would be more than {arrivals.MOST:.0e} transfers in all", key="workload.classes")
            kind = Kind(
                name, spec.active, number, spec.priority, spec.retry or workload.retry,
                1 + arrivals.growth_of(spec, workload),
            )  # fmt: skip
            columns.append(self._class(kind, spec, arrived))
        stations = self.fleet.reduction.stations
        down = faults.outages(workload, stations.given, self.seed, partial(_arrays, self.fleet))
        table = {name: np.concatenate([each[name] for each in columns]) for name in columns[0]}
        order = np.argsort(table["ready"], kind="stable")
        table = {name: values[order] for name, values in table.items()}
        alone, damage = table.pop("alone"), corruption.Damage(**{name: table.pop(name) for name in _DAMAGE})
        work = Work(**table, damage=damage)
        course = EventLoop(
            stations.capacity(self.scenario), work, self.lanes, self.ways, faults.timeline(down),
            until=workload.span.value, order=workload.queue, hosts=len(self.fleet.hosts),
            fast=compiled.worth(len(work), self.fleet.runs), idle=workload.whole_span,
        )  # fmt: skip
        return ReadyFleet(course, list(stations.number), alone, down, self.fleet.hosts)

    def _endpoint(self, name: str) -> Endpoint:
        """An endpoint of the workload, or a host by itself."""
        if name not in self.endpoints:
            spec = self.workload.endpoints.get(name)
            hosts = [h.partition(":")[0] for h in members(name, self.workload, self.fleet.hosts, {"key": "workload"})]
            numbers = [self.fleet.hosts.index(h) for h in hosts]
            active = spec.active if spec is not None else None
            by_load = spec is not None and spec.choose == "least loaded"
            self.endpoints[name] = Endpoint(name, active, numbers, by_load=by_load)
        return self.endpoints[name]

    def _user(self, name: str) -> User:
        if name not in self.users:
            spec = self.workload.users.get(name)
            limit = GLOBUS_ACTIVE if self.workload.service == "globus" else None
            if spec is not None and spec.active is not None:
                limit = spec.active
            self.users[name] = User(name, limit, spec.share if spec is not None else 1.0)
        return self.users[name]

    def _class(self, kind: Kind, spec: TransferClass, arrived: Arrived) -> dict[str, Any]:
        """Lanes and columns of the transfers of a class."""
        typical = float(np.median(arrived.size)) if spec.size is None and len(arrived.size) else spec.typical_B
        sorts, grain = job_classes.sorts(arrived.size, arrived.files, typical)
        count = len(spec.user)
        key = (arrived.pair[:, 0] * len(spec.to) + arrived.pair[:, 1]) * count + arrived.user
        lane, alone = np.zeros(len(key), np.int64), np.zeros(len(key))
        for sort in sorts:
            self.fleet.reduction.prepare(kind.number, self._between(spec, arrived), sort)
        order = np.argsort(key, kind="stable")
        begins = np.flatnonzero(np.diff(key[order], prepend=-1))
        for rows in np.split(order, begins[1:]) if len(key) else ():
            number = int(key[rows[0]])
            pair, user = divmod(number, count)
            ends = spec.begin[pair // len(spec.to)], spec.to[pair % len(spec.to)]
            lane[rows] = len(self.lanes)
            new_lane = self._lane(kind, self._user(spec.user[user]), ends, sorts)
            first = next(each for row in new_lane.ways for each in row if each[0] is not None)
            for n in range(len(sorts)):
                way, part = first[n], rows[grain[rows] == n]
                assert way is not None
                alone[part] = _time_alone(way, arrived.size[part])
        alone = np.maximum(alone, arrived.size / arrived.cap)
        due = arrived.asked + spec.deadline.value if spec.deadline is not None else np.full(len(key), math.inf)
        copied = {name: getattr(arrived, name) for name in ("asked", "ready", "size", "files", "cap")}
        damage = asdict(self._damage(kind, spec, arrived))
        return {**copied, "lane": lane, "grain": grain, "due": due, "alone": alone, **damage}

    def _between(self, spec: TransferClass, arrived: Arrived) -> list[tuple[str, str]]:
        """All pairs of ends between hosts that a class' transfers may go."""
        pairs: dict[tuple[str, str], None] = {}
        for number in np.unique(arrived.pair[:, 0] * len(spec.to) + arrived.pair[:, 1]).tolist():
            begin, to = divmod(number, len(spec.to))
            (source, path), (target, other) = split_end(spec.begin[begin]), split_end(spec.to[to])
            for a, b in product(self._endpoint(source).hosts, self._endpoint(target).hosts):
                if a != b:
                    pairs[f"{self.fleet.hosts[a]}:{path}", f"{self.fleet.hosts[b]}:{other}"] = None
        return list(pairs)

    def _damage(self, kind: Kind, spec: TransferClass, arrived: Arrived) -> corruption.Damage:
        """What happens to the files of a class' transfers."""
        between = self.workload.corruption
        if between is None:
            return corruption.no_damage(len(arrived.size))
        tool = self.fleet.given.transfers[kind.number].tool
        noticed = corruption.notices(tool) if spec.verified is None else spec.verified
        rng = np.random.default_rng([self.seed, 2, *kind.name.encode()])
        return corruption.drawn(arrived.size, arrived.files, between.value, kind.retry.times, rng, noticed=noticed)

    def _lane(self, kind: Kind, user: User, ends: tuple[str, str], sorts: list[job_classes.Sort]) -> Lane:
        (source, path), (target, other) = split_end(ends[0]), split_end(ends[1])
        one, two = self._endpoint(source), self._endpoint(target)
        hosts = self.fleet.hosts
        if one is two and one.limit is not None and one.limit < _BOTH:
            key, remedy = f"workload.endpoints.{source}.active", "write 2 or more, or leave it out"
            message = "never lets a transfer begin that has both its ends here"
            raise SpecError(message, key=key, value=one.limit, remedy=remedy)
        alone = one is two and len(one.hosts) == 1

        def between(a: int, b: int) -> list[Way | None]:
            """The ways between two hosts; a host of several does not send to itself."""
            names = f"{hosts[a]}:{path}", f"{hosts[b]}:{other}"
            return [None if a == b and not alone else self._route(kind.number, names, (a, b), s) for s in sorts]

        ways = [[between(a, b) for b in two.hosts] for a in one.hosts]
        if all(way is None for row in ways for each in row for way in each):
            key = f"workload.classes.{kind.name}"
            raise SpecError("has one host, which is both of its ends", key=key, value=source)
        lane = Lane(len(self.lanes), (one, two), user, kind, ways)
        self.lanes.append(lane)
        return lane

    def _route(self, template: int, ends: tuple[str, str], hosts: tuple[int, int], sort: job_classes.Sort) -> Way:
        """The way between two hosts for one kind of files."""
        key = (template, ends, sort)
        way = self._known.get(key)
        if way is None:
            reduced = self.fleet.reduction.reduced(*key, self.scenario)
            way = self._known[key] = Way(len(self.ways), reduced, *hosts)
            self.ways.append(way)
        return way


def _time_alone(way: Way, sizes: Any) -> Any:
    """How long transfers take alone [s], (n,)."""
    sizes_B, times = way.reduced.sizes_B, way.reduced.times_s
    if len(sizes_B) == 1:
        return sizes * (times[0] / sizes_B[0])
    return np.interp(sizes, sizes_B, times)


def _arrays(fleet: Fleet, pattern: str, rebuild: Quantity, key: str) -> list[faults.Target]:
    """The arrays of drives that ``host:/volume`` names, and what lost drives leave of them.

    What a lost drive costs follows from composing the path once more with the drive lost.
    """
    host_pattern, colon, mount_pattern = pattern.partition(":")
    volumes = [
        (name, mount)
        for name, host in fleet.given.hosts.items()
        for mount in host.volumes
        if colon and fnmatchcase(name, host_pattern) and fnmatchcase(mount, mount_pattern)
    ]
    if not volumes:
        names = [f"{n}:{m}" for n, h in fleet.given.hosts.items() for m in h.volumes]
        raise SpecError("is no volume", key=key, value=pattern, remedy=f"write one of {', '.join(names[:8])}")
    every = [fleet.degraded.target(name, mount, rebuild, key) for name, mount in volumes]
    return [target for target in every if target is not None]
