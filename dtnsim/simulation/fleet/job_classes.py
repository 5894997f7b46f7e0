"""From a path with a workload to the service demands of its fleet: each kind of transfer composed once.

Hosts that are alike (but for their names) are composed once and renamed, so forty of them cost what two do. How long a
transfer takes alone is composed at sizes a factor of ten apart, for files of sizes a factor of four apart; both grids
are fixed, so that no transfer changes what another one takes. A class with one size of transfers is composed for that.

Neglects: what drives lose when several transfers take turns at them, beyond the streams of one (`simulate` has it);
the load of memory that slows cores beyond that of one transfer; differences of hosts of one kind in drawn runs.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from dtnsim.composition.network import Network
from dtnsim.composition.resolved_transfer import end_of
from dtnsim.description import dataset
from dtnsim.description.host import Host
from dtnsim.description.spec import PathSpec
from dtnsim.description.transfer import split_end
from dtnsim.ground.errors import DtnsimError, SpecError
from dtnsim.ground.quantity import Draw, Table, in_scenario, middle
from dtnsim.ground.records import Problem, Station
from dtnsim.ground.term import without_words
from dtnsim.physics._arrays import BoolArray, FloatArray as Array, IntArray
from dtnsim.simulation.fleet import merge
from dtnsim.simulation.fleet.facility import Reduced
from dtnsim.steady import solve, timed
from dtnsim.steady.reasons import cause_of

Solved = tuple[Any, Any, Any]  #: a path composed, its matrices and its solution
#: sizes of files a factor apart share a row; sizes of transfers between composed ones
GRAIN: Final = 4.0
KNOT: Final = 10.0


@dataclass(frozen=True, slots=True)
class Sort:
    """What a class moves, as far as demands are concerned."""

    sizes_B: tuple[float, ...]  #: Sizes at which to compose [B].
    file_B: float = 0.0  #: Size of its files; 0: one file, whatever its size [B].
    files: int = 0  #: Number of files where that is fixed; 0 where it follows from ``file_B``.
    middle: int = 0  #: Which of the sizes its demands are composed for.

    def dataset(self, size_B: float) -> dataset.Dataset:
        """The data set of a transfer."""
        count = self.files or (max(1, round(size_B / self.file_B)) if self.file_B else 1)
        return dataset.load({"files": str(count), "size": f"{size_B!r} B"})


@dataclass(slots=True)
class Stations:
    """All stations of a fleet, each with one capacity, and names of what else can hold a transfer."""

    number: dict[str, int] = field(default_factory=dict)
    given: list[Station | None] = field(default_factory=list)

    def number_of(self, name: str, station: Station | None) -> int:
        """Number of a station, or of a name that is none (``station`` None)."""
        if name not in self.number:
            self.number[name] = len(self.given)
            self.given.append(station)
        return self.number[name]

    def capacity(self, scenario: int) -> list[float]:
        """Of each; infinite for what is no station."""
        return [math.inf if s is None else in_scenario(s.capacity, scenario) for s in self.given]


@dataclass(frozen=True, slots=True)
class Composed:
    """One kind of transfer between two hosts as composed: arrays over the scenarios, names as they were."""

    demands: tuple[tuple[Station, Any], ...]
    sizes_B: tuple[float, ...]
    times_s: Array
    weight: float
    workers: float
    own: tuple[str, bool]


class Reduction:
    """Composes what a fleet needs, each kind once."""

    def __init__(self, path: PathSpec, draw: Draw) -> None:
        self.given, self.draw = path, draw
        self.stations = Stations()
        self.warnings: dict[str, None] = {}
        self._kinds: list[Host] = []
        self._kind_of: dict[str, int] = {}
        #: all kinds of transfers composed so far: template, ends, what is moved, demands
        self.made: dict[tuple[Any, ...], tuple[int, tuple[str, str], Sort, Composed]] = {}
        self._scenario = 0
        self._reduced: dict[tuple[Any, ...], Reduced] = {}
        self._order = {name: n for n, name in enumerate(path.hosts)}

    def kind_of(self, host: str) -> int:
        """Which hosts are alike."""
        if host not in self._kind_of:
            plain = self.given.hosts[host].model_copy(update={"name": ""})
            number = next((n for n, other in enumerate(self._kinds) if other == plain), len(self._kinds))
            if number == len(self._kinds):
                self._kinds.append(plain)
            self._kind_of[host] = number
        return self._kind_of[host]

    def _key(self, template: int, ends: tuple[str, str], sort: Sort) -> tuple[Any, ...]:
        """What makes two kinds of transfers the same."""
        (source, path), (target, other) = split_end(ends[0]), split_end(ends[1])
        forward = self._order[source] < self._order[target]
        return template, self.kind_of(source), self.kind_of(target), path, other, forward, sort, self._route(ends)

    def otherwise(self, hosts: Mapping[str, Host], template: int, ends: tuple[str, str], sort: Sort) -> Composed:
        """A kind of transfer where ``hosts``, by name, are in another state."""
        path = self.given.model_copy(update={"hosts": {**self.given.hosts, **hosts}})
        return self._compose(path, template, ends, sort)

    def _route(self, ends: tuple[str, str]) -> tuple[str, ...]:
        """Segments between two hosts, where they have links of their own."""
        if not self.given.links:
            return ()
        source, target = (end_of(self.given, e).host for e in ends)
        return tuple(name for name, *_ in Network(self.given).route(source, target, []).hops)

    def prepare(self, template: int, every: Sequence[tuple[str, str]], sort: Sort) -> None:
        """Composes transfers of a kind between ``every`` pair of ends at once, where hosts differ in numbers alone."""
        new: dict[tuple[Any, ...], tuple[str, str]] = {}
        for ends in every:
            if (key := self._key(template, ends, sort)) not in self.made:
                new.setdefault(key, ends)
        if len(new) < merge.WORTH or self.draw.many or self.given.links:
            return
        pairs = list(new.values())
        batch = self._composed_together(template, pairs, sort)
        if batch is None:
            return
        first = replace(sort, sizes_B=(sort.sizes_B[sort.middle],), middle=0)
        for n in merge.tried([hosts_of(ends) for ends in pairs]):
            alone = self._compose(self.given, template, pairs[n], first)
            sliced = replace(batch[n], sizes_B=first.sizes_B, times_s=batch[n].times_s[sort.middle : sort.middle + 1])
            if not merge.same_composition(
                alone, sliced, dict(zip(hosts_of(pairs[0]), hosts_of(pairs[n]), strict=True))
            ):
                return
        for key, composed in zip(new, batch, strict=True):
            self.made[key] = template, pairs[0], sort, composed

    def _composed_together(self, template: int, pairs: Sequence[tuple[str, str]], sort: Sort) -> list[Composed] | None:
        """Kinds of transfers between pairs, named as the hosts of the first; None where that cannot be."""
        names = [hosts_of(ends) for ends in pairs]
        if len({(split_end(a)[1], split_end(b)[1], self._order[h] < self._order[g])
                for (a, b), (h, g) in zip(pairs, names, strict=True)}) > 1:  # fmt: skip
            return None
        hosts, values = dict(self.given.hosts), dict[str, Any]()
        for side in (0, 1):
            listed = list(dict.fromkeys(n[side] for n in names))
            varied = merge.varied([self.given.hosts[h] for h in listed], f"~{side}")
            if varied is None:
                return None
            hosts[listed[0]] = varied[0]
            place = np.array([listed.index(n[side]) for n in names])
            values |= {key: np.array(each)[place] for key, each in varied[1].items()}
        path = self.given.model_copy(update={"hosts": hosts})
        try:
            rows = self._solved(path, template, pairs[0], sort, Table(values))
        except DtnsimError:
            return None
        return _by_scenario(rows, sort, len(pairs))

    def _compose(self, path: PathSpec, template: int, ends: tuple[str, str], sort: Sort) -> Composed:
        return _composed(self._solved(path, template, ends, sort, self.draw), sort)

    def _solved(self, path: PathSpec, template: int, ends: tuple[str, str], sort: Sort, draw: Draw) -> list[Solved]:
        """A kind of transfer composed and solved at each size."""
        rows = []
        for size in sort.sizes_B:
            with without_words():  # nobody reads how each number of a fleet came about
                problem = timed.composer(_sub(path, template, ends, sort.dataset(size)), draw).problem()
            m = solve.matrices(problem)
            solution = solve.solve(m)
            if not np.all(solution.rate > 0):
                raise SpecError("never ends: a station on its way has no capacity", key=f"workload: {ends[0]}")
            rows.append((problem, m, solution))
        for warning in rows[sort.middle][0].warnings:
            self.warnings.setdefault(warning)
        return rows

    def reduced(self, template: int, ends: tuple[str, str], sort: Sort, scenario: int) -> Reduced:
        """A kind of transfer between two ends in one scenario: of the last scenario all are kept."""
        if scenario != self._scenario:
            self._scenario = scenario
            self._reduced.clear()
        here = template, ends, sort
        if here not in self._reduced:
            if (key := self._key(*here)) not in self.made:
                self.made[key] = *here, self._compose(self.given, *here)
            _, first, _, composed = self.made[key]
            names = dict(zip(hosts_of(first), hosts_of(ends), strict=True))
            self._reduced[here] = self._in_scenario(composed, names, scenario)
        return self._reduced[here]

    def _in_scenario(self, composed: Composed, names: Mapping[str, str], scenario: int) -> Reduced:
        """What was composed, where its hosts have other names."""
        demands = []
        for station, cost in composed.demands:
            name = merge.renamed(station.name, names)
            k = self.stations.number.get(name, -1)
            if k < 0:
                k = self.stations.number_of(
                    name, replace(station, name=name, host=names.get(station.host, station.host))
                )
            reference = self.stations.given[k]
            assert reference is not None
            one, other = (in_scenario(s.capacity, scenario) for s in (reference, station))
            scale = one / other if one != other else 1.0
            demands.append((k, in_scenario(cost, scenario) * scale))
        holder_name, shared = composed.own
        holder = self.stations.number.get(merge.renamed(holder_name, names), -1) if shared else -1
        if holder < 0:
            holder = self.stations.number_of(holder_name, None)
        column = scenario if composed.times_s.shape[1] > 1 else 0
        times = tuple(float(t) for t in composed.times_s[:, column])
        return Reduced(tuple(demands), composed.sizes_B, times, composed.weight, composed.workers, holder)


def _composed(rows: Sequence[Solved], sort: Sort) -> Composed:
    """A kind of transfer as composed and solved, in all scenarios."""
    problem, m, solution = rows[sort.middle]
    shared = [(station, cost) for station, cost in _open(problem, m) if np.any(cost > 0)]
    transfer = problem.transfers[0]
    times = np.broadcast_arrays(*(p.transfers[0].payload_B / s.rate[:, 0] for p, _, s in rows))
    holder = _own_holder(problem, m, cause_of(m, 0, int(solution.binding[0, 0])).station)
    return Composed(tuple(shared), sort.sizes_B, np.array(times), transfer.weight, transfer.workers, holder)


def _open(problem: Problem, m: solve.Matrices) -> list[tuple[Station, Any]]:
    """Stations of the first transfer that others may share, and what it costs them."""
    numbers, demands = m.total.row_entries(0)
    return [
        (problem.stations[k], demands[:, n])
        for n, k in enumerate(numbers)
        if k < len(problem.stations) and not problem.stations[k].private
    ]


def _by_scenario(rows: Sequence[Solved], sort: Sort, count: int) -> list[Composed]:
    """A kind of transfer as composed and solved, each of many scenarios by itself."""
    problem, m, solution = rows[sort.middle]
    joint = _composed(rows, sort)
    table = [(station, np.ravel(station.capacity), np.ravel(cost)) for station, cost in joint.demands]
    times = np.broadcast_to(joint.times_s, (len(rows), count))
    binding = np.broadcast_to(solution.binding[:, 0], count).tolist()
    holders = {k: _own_holder(problem, m, cause_of(m, 0, k).station) for k in set(binding)}
    stations: dict[tuple[int, float], Station] = {}
    composed = []
    for i in range(count):
        shared = []
        for n, (station, capacities, costs) in enumerate(table):
            capacity, cost = (v[i : i + 1] if v.size > 1 else v for v in (capacities, costs))
            if cost[0] > 0:
                key = n, float(capacity[0])
                if key not in stations:
                    stations[key] = replace(station, capacity=capacity)
                shared.append((stations[key], cost))
        composed.append(replace(joint, demands=tuple(shared), times_s=times[:, i : i + 1], own=holders[binding[i]]))
    return composed


def _sub(path: PathSpec, template: int, ends: tuple[str, str], data: dataset.Dataset) -> PathSpec:
    """The path with two hosts, and what those mount, and one transfer."""
    names = hosts_of(ends)
    for name in names:  # grows while it is gone through: servers may mount others
        servers = [v.server.partition(":")[0].strip() for v in path.hosts[name].volumes.values() if v.server]
        names += [s for s in servers if s in path.hosts and s not in names]
    transfer = path.transfers[template].model_copy(
        update={"source_end": ends[0], "to": ends[1], "dataset": data, "after": []}
    )
    hosts = {name: host for name, host in path.hosts.items() if name in names}
    return path.model_copy(update={"hosts": hosts, "transfers": [transfer]})


def _own_holder(problem: Problem, m: solve.Matrices, binding: int | None) -> tuple[str, bool]:
    """(what holds a transfer that is alone, whether that is a station that others share).

    Connections that their link holds are held by the narrowest place that others share, not by what is their own.
    """
    name = problem.transfers[0].name
    if binding is None:
        return f"{name}: its own waiting between files", False
    station = problem.stations[binding]
    if not station.private:
        return station.name, True
    streams = problem.connections.get(station.name)
    narrow = [(middle(other.capacity / np.maximum(cost, 1e-30)), other.name) for other, cost in _open(problem, m)]
    if streams is not None and narrow and np.all(np.asarray(streams.limit) == "link"):
        return min(narrow)[1], True
    plain = station.name.removeprefix(f"{station.host}.").replace(f"[{name}]", "")
    if station.kind == "tcp":
        plain = "TCP connections"
    return f"{name}: its own {plain}", False


def sorts(sizes: Array, files: IntArray, typical_B: float) -> tuple[list[Sort], IntArray]:
    """What a class moves, in kinds that are composed apart, and which one each transfer is of, by its size [B]."""
    if len(sizes) == 0:
        return [], np.zeros(0, np.int64)
    one, count = float(sizes[0]), int(files[0])
    if np.all(sizes == one) and np.all(files == count):
        return [Sort((one,), files=count)], np.zeros(len(sizes), np.int64)

    def sort(mask: BoolArray, file_B: float) -> Sort:
        low, high = (math.log(float(size), KNOT) for size in (sizes[mask].min(), sizes[mask].max()))
        first, last = math.floor(low + 1e-12), math.ceil(high - 1e-12)  # powers of ten around them
        knots = tuple(KNOT**n for n in range(first, max(last, first + 1) + 1))
        middle = min(range(len(knots)), key=lambda n: abs(math.log(knots[n] / typical_B)))
        return Sort(knots, file_B, middle=middle)

    if np.all(files == 1):
        return [sort(np.ones(len(sizes), np.bool_), 0.0)], np.zeros(len(sizes), np.int64)
    grains = np.floor(np.log(sizes / files) / math.log(GRAIN) + 1e-9).astype(np.int64)  # these share a row
    kinds, number = [], np.zeros(len(sizes), np.int64)
    for n, grain in enumerate(np.unique(grains).tolist()):
        number[grains == grain] = n
        kinds.append(sort(grains == grain, GRAIN ** (grain + 0.5)))
    return kinds, number


def hosts_of(ends: Iterable[str]) -> list[str]:
    """Names of the hosts of some ends."""
    return [split_end(end)[0] for end in ends]
