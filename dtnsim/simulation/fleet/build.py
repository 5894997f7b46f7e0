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
class Made:
    """A fleet ready to run, and what its numbers mean."""

    course: EventLoop  #: The run.
    names: list[str]  #: Of stations and of what else can hold a transfer, by number.
    alone_s: Any  #: (N,) how long each transfer would take alone on the first of its ways [s].
    outages: list[faults.Outage]  #: What is down when.
    hosts: list[str]  #: Names of the hosts.


class Fleet:
    """Everything that the runs of a workload have in common.

    Args:
        given: A path with a workload.
        runs: How many runs of it this process will make, about: whether compiling pays.

    Raises:
        SpecError: The path has no workload, or ends that nothing stands behind.
    """

    def __init__(self, given: PathSpec, draw: Draw, runs: int = 1) -> None:
        if given.workload is None:
            remedy = "write 'workload:' into the path file, or give one with --workload"
            raise SpecError("the path has no workload", file=given.file or None, remedy=remedy)
        self.given, self.workload, self.runs = given, given.workload, runs
        self.reduction = job_classes.Reduction(given, draw)
        self.degraded = Degraded(self)
        self.hosts = list(given.hosts)
        for name, endpoint in self.workload.endpoints.items():
            key = f"workload.endpoints.{name}.hosts"
            for pattern in endpoint.hosts:
                if not any(fnmatchcase(h, pattern) for h in self.hosts):
                    remedy = f"write one of {', '.join(self.hosts[:12])}"
                    raise SpecError("is no host", file=given.file, key=key, value=pattern, remedy=remedy)
        users = {u for kind in self.workload.classes.values() for u in kind.user}
        for name in self.workload.users:
            if name not in users:
                remedy = f"users: {', '.join(sorted(users))}"
                raise SpecError("has no transfers", key=f"workload.users.{name}", value=name, remedy=remedy)

    def made(self, seed: int, scenario: int = 0) -> Made:
        """A run of it: its transfers, its faults."""
        return _Build(self, seed, scenario).made()


class _Build:
    """Puts one run together."""

    def __init__(self, fleet: Fleet, seed: int, scenario: int) -> None:
        self.fleet, self.workload, self.seed, self.scenario = fleet, fleet.workload, seed, scenario
        self.endpoints: dict[str, Endpoint] = {}
        self.users: dict[str, User] = {}
        self.lanes: list[Lane] = []
        self.ways: list[Way] = []
        self._known: dict[tuple[int, tuple[str, str], job_classes.Sort], Way] = {}

    def made(self) -> Made:
        workload = self.workload
        columns, total = list[dict[str, Any]](), 0
        for number, (name, given) in enumerate(workload.classes.items()):
            arrived = arrivals.draw(name, workload, self.seed, self.fleet.given.folder)
            total += len(arrived.asked)
            if arrived.note:
                self.fleet.reduction.warnings.setdefault(arrived.note)
            if total > arrivals.MOST:
                raise SpecError(f"would be more than {arrivals.MOST:.0e} transfers in all", key="workload.classes")
            kind = Kind(
                name, given.active, number, given.priority, given.retry or workload.retry,
                1 + arrivals.growth_of(given, workload),
            )  # fmt: skip
            columns.append(self._class(kind, given, arrived))
        stations = self.fleet.reduction.stations
        down = faults.outages(workload, stations.given, self.seed, partial(_arrays, self.fleet))
        whole = {name: np.concatenate([each[name] for each in columns]) for name in columns[0]}
        order = np.argsort(whole["ready"], kind="stable")
        whole = {name: values[order] for name, values in whole.items()}
        alone, damage = whole.pop("alone"), corruption.Damage(**{name: whole.pop(name) for name in _DAMAGE})
        work = Work(**whole, damage=damage)
        course = EventLoop(
            stations.capacity(self.scenario), work, self.lanes, self.ways, faults.timeline(down),
            until=workload.span.value, order=workload.queue, hosts=len(self.fleet.hosts),
            fast=compiled.worth(len(work), self.fleet.runs), idle=workload.whole_span,
        )  # fmt: skip
        return Made(course, list(stations.number), alone, down, self.fleet.hosts)

    def _endpoint(self, name: str) -> Endpoint:
        """An endpoint of the workload, or a host by itself."""
        if name not in self.endpoints:
            given = self.workload.endpoints.get(name)
            hosts = [h.partition(":")[0] for h in members(name, self.workload, self.fleet.hosts, {"key": "workload"})]
            numbers = [self.fleet.hosts.index(h) for h in hosts]
            active = given.active if given is not None else None
            by_load = given is not None and given.choose == "least loaded"
            self.endpoints[name] = Endpoint(name, active, numbers, by_load=by_load)
        return self.endpoints[name]

    def _user(self, name: str) -> User:
        if name not in self.users:
            given = self.workload.users.get(name)
            limit = GLOBUS_ACTIVE if self.workload.service == "globus" else None
            if given is not None and given.active is not None:
                limit = given.active
            self.users[name] = User(name, limit, given.share if given is not None else 1.0)
        return self.users[name]

    def _class(self, kind: Kind, given: TransferClass, arrived: Arrived) -> dict[str, Any]:
        """Lanes and columns of the transfers of a class."""
        typical = float(np.median(arrived.size)) if given.size is None and len(arrived.size) else given.typical_B
        sorts, grain = job_classes.sorts(arrived.size, arrived.files, typical)
        count = len(given.user)
        key = (arrived.pair[:, 0] * len(given.to) + arrived.pair[:, 1]) * count + arrived.user
        lane, alone = np.zeros(len(key), np.int64), np.zeros(len(key))
        for sort in sorts:
            self.fleet.reduction.prepare(kind.number, self._between(given, arrived), sort)
        order = np.argsort(key, kind="stable")
        begins = np.flatnonzero(np.diff(key[order], prepend=-1))
        for here in np.split(order, begins[1:]) if len(key) else ():
            number = int(key[here[0]])
            pair, user = divmod(number, count)
            ends = given.begin[pair // len(given.to)], given.to[pair % len(given.to)]
            lane[here] = len(self.lanes)
            made = self._lane(kind, self._user(given.user[user]), ends, sorts)
            first = next(each for row in made.ways for each in row if each[0] is not None)
            for n in range(len(sorts)):
                way, some = first[n], here[grain[here] == n]
                assert way is not None
                alone[some] = _alone(way, arrived.size[some])
        alone = np.maximum(alone, arrived.size / arrived.cap)
        due = arrived.asked + given.deadline.value if given.deadline is not None else np.full(len(key), math.inf)
        own = {name: getattr(arrived, name) for name in ("asked", "ready", "size", "files", "cap")}
        damage = asdict(self._damage(kind, given, arrived))
        return {**own, "lane": lane, "grain": grain, "due": due, "alone": alone, **damage}

    def _between(self, given: TransferClass, arrived: Arrived) -> list[tuple[str, str]]:
        """All pairs of ends between hosts that a class' transfers may go."""
        found: dict[tuple[str, str], None] = {}
        for number in np.unique(arrived.pair[:, 0] * len(given.to) + arrived.pair[:, 1]).tolist():
            begin, to = divmod(number, len(given.to))
            (source, path), (target, other) = split_end(given.begin[begin]), split_end(given.to[to])
            for a, b in product(self._endpoint(source).hosts, self._endpoint(target).hosts):
                if a != b:
                    found[f"{self.fleet.hosts[a]}:{path}", f"{self.fleet.hosts[b]}:{other}"] = None
        return list(found)

    def _damage(self, kind: Kind, given: TransferClass, arrived: Arrived) -> corruption.Damage:
        """What happens to the files of a class' transfers."""
        between = self.workload.corruption
        if between is None:
            return corruption.none(len(arrived.size))
        tool = self.fleet.given.transfers[kind.number].tool
        noticed = corruption.notices(tool) if given.verified is None else given.verified
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
            return [None if a == b and not alone else self._way(kind.number, names, (a, b), s) for s in sorts]

        ways = [[between(a, b) for b in two.hosts] for a in one.hosts]
        if all(way is None for row in ways for each in row for way in each):
            key = f"workload.classes.{kind.name}"
            raise SpecError("has one host, which is both of its ends", key=key, value=source)
        lane = Lane(len(self.lanes), (one, two), user, kind, ways)
        self.lanes.append(lane)
        return lane

    def _way(self, template: int, ends: tuple[str, str], at: tuple[int, int], sort: job_classes.Sort) -> Way:
        """The way between two hosts for one kind of files."""
        key = (template, ends, sort)
        known = self._known.get(key)
        if known is None:
            reduced = self.fleet.reduction.reduced(*key, self.scenario)
            known = self._known[key] = Way(len(self.ways), reduced, *at)
            self.ways.append(known)
        return known


def _alone(way: Way, sizes: Any) -> Any:
    """How long transfers take alone [s], (n,)."""
    known, times = way.reduced.sizes_B, way.reduced.times_s
    if len(known) == 1:
        return sizes * (times[0] / known[0])
    return np.interp(sizes, known, times)


def _arrays(fleet: Fleet, pattern: str, rebuild: Quantity, key: str) -> list[faults.Target]:
    """The arrays of drives that ``host:/volume`` names, and what lost drives leave of them.

    What a lost drive costs follows from composing the path once more with the drive lost.

    Raises:
        SpecError: There is none, or it is none that can lose a drive.
    """
    host_pattern, colon, mount_pattern = pattern.partition(":")
    found = [
        (name, mount)
        for name, host in fleet.given.hosts.items()
        for mount in host.volumes
        if colon and fnmatchcase(name, host_pattern) and fnmatchcase(mount, mount_pattern)
    ]
    if not found:
        known = [f"{n}:{m}" for n, h in fleet.given.hosts.items() for m in h.volumes]
        raise SpecError("is no volume", key=key, value=pattern, remedy=f"write one of {', '.join(known[:8])}")
    every = [fleet.degraded.target(name, mount, rebuild, key) for name, mount in found]
    return [target for target in every if target is not None]
