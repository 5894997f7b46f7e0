"""From a path to stations and demands: follows each transfer through hosts and network.

Every step of a tool's plan becomes a row: read at the source, network, write at the destination,
each component on the way charging what it costs. Where a file system works in stretches (cached,
then throttled), the step becomes as many phases.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dtnsim.components import memory
from dtnsim.components.access import Access, Thread
from dtnsim.components.filesystem import Stretch
from dtnsim.composition.network import Network
from dtnsim.composition.route import Route
from dtnsim.description.dataset import Dataset
from dtnsim.description.host import Host
from dtnsim.description.spec import DEVICES, PathSpec, TransferSpec, split_end
from dtnsim.ground.errors import SpecError
from dtnsim.ground.ledger import Ledger, Row
from dtnsim.ground.quantity import Draw, Quantity, Value
from dtnsim.ground.records import SLOW_START, Demand, Phase, Problem, Transfer
from dtnsim.tools.plan import EndKind, Job, NetUse, Plan, Step

#: threads of a Linux NFS server unless told otherwise (nfsd(7))
NFSD = 8
#: what a metadata operation on a server costs in round trips: one RPC each (NFSv3, RFC 1813), but READDIRPLUS brings 16
#: entries at once (Linux commit 82f2e5472e23: 62 requests for a directory of 1000)
_ROUND_TRIPS = {"readdir": 1 / 16}


#: what a delay belongs to
Each = Literal["byte", "file", "start"]


@dataclass(frozen=True, slots=True)
class End:
    """One end of a transfer: host, and the volume or device on it."""

    host: Host
    path: str
    kind: EndKind
    volume: str | None


def compose(spec: PathSpec, draw: Draw) -> Problem:
    """Writes down all stations and demands of a path.

    Args:
        spec: The validated path.
        draw: Values of the parameters: nominal, or arrays of draws.

    Returns:
        The `Problem` that `solve` and `simulate` read.

    Raises:
        SpecError: a path between two hosts that does not exist, or ends that make no sense.
    """
    composer = Composer(spec, Ledger(draw))
    transfers = tuple(composer.transfer(number) for number in range(len(spec.transfers)))
    ledger = composer.ledger
    slowdowns = tuple(s for h in spec.hosts.values() for s in h.slowdowns(ledger))
    return Problem(
        spec.name, tuple(ledger.stations.values()), transfers, tuple(ledger.warnings), slowdowns, ledger.connections
    )  # fmt: skip


class Composer:
    """Composes the transfers of one path on one ledger."""

    def __init__(self, spec: PathSpec, ledger: Ledger) -> None:
        self.spec, self.ledger = spec, ledger
        self.network = Network(spec)
        self.ends = [(self.end(t.source_end), self.end(t.to)) for t in spec.transfers]
        self.plans = [self._plan(n, t) for n, t in enumerate(spec.transfers)]
        self.streams = self._streams_on_volumes()
        self._serving: list[End] = []  # mounts whose servers are being charged

    def end(self, text: str) -> End:
        """The end of a transfer that ``host:/path`` names."""
        name, path = split_end(text)
        host = self.spec.hosts[name]
        if path in DEVICES:
            return End(host, path, DEVICES[path], None)  # type: ignore[arg-type]  # values are EndKind
        return End(host, path, "volume", host.mount_of(path))

    def _job(self, number: int, spec: TransferSpec) -> Job:
        data: Dataset = spec.dataset if spec.dataset is not None else _default_dataset()
        source, destination = self.ends[number]
        route = self._route(source, destination, spec)
        return Job(
            name=spec.name,
            files=data.files,
            payload_B=data.payload_B,
            largest_B=data.largest_B,
            directories=data.directories,
            rtt_s=route.nominal_rtt if route else 0.0,
            source=source.kind,
            destination=destination.kind,
            memory_B=destination.host.memory.size.value,
            cores=min(source.host.cpu.total, destination.host.cpu.total),
            apart=route is not None,
        )

    def _plan(self, number: int, spec: TransferSpec) -> tuple[Job, Plan]:
        job = self._job(number, spec)
        plan = spec.tool.plan(job)
        for warning in plan.warnings:
            self.ledger.warn(f"{spec.name}: {warning}")
        return job, plan

    def _route(self, source: End, destination: End, spec: TransferSpec) -> Route | None:
        if source.host is destination.host:
            return None
        return self.network.route(source.host, destination.host, spec.via)

    def _streams_on_volumes(self) -> dict[tuple[str, str], int]:
        """Sequential streams on each volume, of all transfers together."""
        count: dict[tuple[str, str], int] = {}
        for (source, destination), (_, plan) in zip(self.ends, self.plans, strict=True):
            for end, uses in ((source, [s.read for s in plan.steps]), (destination, [s.write for s in plan.steps])):
                if end.volume is not None:
                    own = max((u.own_streams for u in uses if u is not None), default=0)
                    key = self._shelf(end)
                    count[key] = count.get(key, 0) + own
        return count

    @staticmethod
    def _shelf(end: End) -> tuple[str, str]:
        """What holds an end's files: a volume of its host, or a file system that several hosts mount."""
        system = getattr(end.host.volumes[end.volume or ""].filesystem, "system", None)
        return (end.host.name, end.volume or "") if system is None else ("", str(system))

    def transfer(self, number: int) -> Transfer:
        """All phases of one transfer."""
        spec, (job, plan) = self.spec.transfers[number], self.plans[number]
        phases = [phase for step in plan.steps for phase in self._phases(number, step, job)]
        if not any(p.demands or p.delays for p in phases):
            raise SpecError(
                "moves nothing from anywhere to anywhere",
                key=f"transfer {spec.name}",
                remedy="give it a volume or a network between its ends",
            )
        data: Dataset = spec.dataset if spec.dataset is not None else _default_dataset()
        return Transfer(
            spec.name,
            tuple(phases),
            float(plan.workers),
            job.payload_B,
            job.files,
            plan.weight,
            sizes_B=tuple(float(s) for s in data.sizes_B),
            counts=tuple(int(c) for c in data.counts),
            start_s=spec.start.value if spec.start is not None else 0.0,
            **self._destination_memory(number, plan, job),
        )

    def _destination_memory(self, number: int, plan: Plan, job: Job) -> dict[str, Any]:
        """What the destination can take before its medium has to keep up, and at all: for the simulation."""
        destination = self.ends[number][1]
        step = next((s for s in plan.steps if s.write is not None), None)
        write = self._use(destination, step.write if step is not None else None, self.spec.transfers[number])
        if destination.volume is None or step is None or write is None:
            return {}
        volume = destination.host.volumes[destination.volume]
        space = {} if volume.size is None else {"space_B": volume.size.value}
        if write.finish in ("dsync", "direct"):
            return space
        probe = Row(self.ledger, "", [], 1.0, destination.host.name)
        cache = volume.filesystem.page_cache(probe, write, destination.host)
        whole = self._phase(number, step, Stretch(step.name), step.name, job)
        return {"cache": cache, "buffered": whole, "flushed": write.finish != "none", **space}

    # -- one step ---------------------------------------------------------------------------------

    def _phases(self, number: int, step: Step, job: Job) -> list[Phase]:
        destination, spec = self.ends[number][1], self.spec.transfers[number]
        write = self._use(destination, step.write, spec)
        probe = Row(self.ledger, spec.name, [], 1.0)
        stretches: tuple[Stretch, ...] = (Stretch(step.name),)
        if write is not None and destination.volume is not None:
            volume = destination.host.volumes[destination.volume]
            if write.finish in ("fdatasync", "none"):
                write = write.but(fill_Bps=self._fill_rate(number, step, job))
            stretches = volume.filesystem.stretches(probe, write, destination.host, destination.volume)
        single = len(stretches) == 1
        return [self._phase(number, step, p, step.name if single else f"{step.name}: {p.name}", job) for p in stretches]

    def _fill_rate(self, number: int, step: Step, job: Job) -> Value:
        """Rate at which a step fills the destination's cache as long as nothing has to be written back [B/s]."""
        alone = self._phase(number, step, Stretch(step.name, medium=0.0), step.name, job)
        waits = sum((d.per_byte for d in alone.delays), 0.0)
        with np.errstate(divide="ignore"):  # a network that loses everything
            return 1.0 / np.maximum(1.0 / np.asarray(self._solo_rate(alone.demands)) + waits, 1e-15)

    def _phase(self, number: int, step: Step, part: Stretch, name: str, job: Job) -> Phase:
        """The phase in which a stretch of a step happens: everything on the way charges its row."""
        source, destination = self.ends[number]
        spec = self.spec.transfers[number]
        route = self._route(source, destination, spec) if step.net is not None else None
        row = Row(self.ledger, spec.name, [], step.share)
        busy = row.times(part.cpu)
        self._file(busy, busy, source, self._use(source, step.read, spec))
        below = row.times(part.medium).behind_cache()
        self._file(busy, below, destination, self._use(destination, step.write, spec))
        self._file(busy, busy, destination, self._use(destination, step.reread, spec))
        if step.net is not None and route is not None:
            self.network.carry(busy, route, step.net, spec)
        for work in step.cpu:
            host = (source if work.end == "source" else destination).host
            cost: Quantity = getattr(host.stack, work.stack) if work.stack else work.cycles
            thread, cycles = self._thread(work.thread, spec), row.value(cost)
            host.core(busy.at(host.name), thread, cycles, work.what, str(cost), cost.source)
        return Phase(name, tuple(row.demands), tuple(self._delays(step, part, job, number, route, row)))

    def _thread(self, thread: Thread, spec: TransferSpec) -> Thread:
        if spec.core is None:
            return thread
        return Thread(thread.name, thread.copies, spec.core)

    def _use(self, end: End, use: Access | None, spec: TransferSpec) -> Access | None:
        if use is None or end.volume is None:
            return None
        if use.finish == "none" and end.host.volumes[end.volume].filesystem.flushes_at_close:
            use = use.but(finish="fdatasync")
        return use.but(
            streams=max(self.streams[self._shelf(end)], use.own_streams),
            thread=self._thread(use.thread, spec),
            cached=spec.cached if spec.cached is not None and use.operation == "read" else use.cached,
            rtt_s=self._server_rtt(end),
            llc_B=end.host.cpu.cache.value if end.host.cpu.cache is not None else math.inf,
            l2_B=end.host.cpu.core_cache.value if end.host.cpu.core_cache is not None else math.inf,
        )

    def _server_rtt(self, end: End) -> Value:
        server = end.host.volumes[end.volume or ""].server
        if server is None:
            return 0.0
        remote = self._server(server, end)
        return self.network.route(end.host, remote.host, []).rtt(self.ledger.draw)

    def _server(self, server: str, end: End) -> End:
        name, _ = split_end(server)
        where: dict[str, Any] = {"value": server, "key": f"hosts.{end.host.name}.volumes.{end.volume}.server"}
        if name not in self.spec.hosts:
            remedy = f"hosts: {', '.join(self.spec.hosts)}"
            raise SpecError("there is no host of that name on this path", **where, remedy=remedy)
        found = self.end(server)
        if found.host is end.host:
            raise SpecError("serves itself", **where, remedy="name the volume of another host")
        if found.volume is None:
            mounts = ", ".join(found.host.volumes) or "none"
            raise SpecError(f"host {name!r} has no volume for it", **where, remedy=f"volumes: {mounts}")
        if found.host.volumes[found.volume].server is not None and end in self._serving:
            raise SpecError("hosts serve each other", **where, remedy="let one of them have drives of its own")
        return found

    def _file(self, calls: Row, medium: Row, end: End, use: Access | None) -> None:
        """Charges an access to a volume: the calling thread, and the medium (or the server) below the cache."""
        if use is None or end.volume is None:
            return
        host, volume = end.host, end.host.volumes[end.volume]
        calls, medium = calls.at(host.name), medium.at(host.name)
        cycles, cost = volume.filesystem.cycles(calls, use, host.stack)
        verb = "file read" if use.operation == "read" else "file write"
        source = volume.filesystem.source or (
            host.stack.file_read_byte.source if verb == "file read" else host.stack.file_write_byte.source
        )
        host.core(calls, use.thread, cycles, verb, cost, source)
        crossings = memory.READ if use.operation == "read" else memory.WRITE
        host.memory.cross(calls, memory.DIRECT if use.finish == "direct" else crossings, verb)
        if use.cached and use.operation == "read":
            return
        volume.filesystem.medium(medium, use, host, end.volume)
        if volume.server is not None:
            self._remote(medium, end, use, volume.server)

    def _remote(self, row: Row, end: End, use: Access, server: str) -> None:
        """The network and the server below a network file system."""
        remote = self._server(server, end)
        filesystem = end.host.volumes[end.volume or ""].filesystem
        ends = (remote.host, end.host) if use.operation == "read" else (end.host, remote.host)
        route = self.network.route(*ends, [])
        connections = int(getattr(filesystem, "nconnect", 1))
        kernel = Thread("kernel NFS", copies=connections)  # a connection's work stays on one core at a time
        burst = filesystem.answers(row.at(end.host.name), use)
        net = NetUse(kernel, kernel, streams=connections, burst=None if burst is None else burst / connections)
        self.network.carry(row, route, net, None)
        cost = getattr(filesystem, "rpc_byte", None)
        if cost is not None:
            near = row.at(end.host.name)
            end.host.core(near, kernel, near.value(cost), "NFS requests", str(cost), cost.source)
        block = use.block_B if use.random else 2.0**20
        inner = use.but(thread=Thread("nfsd", copies=NFSD), finish="steady", rtt_s=0.0, block_B=block)
        self._serving.append(end)
        self._file(row, row, remote, inner)
        self._serving.pop()

    # -- waiting ----------------------------------------------------------------------------------

    def _delays(self, step: Step, part: Stretch, job: Job, number: int, route: Route | None, row: Row) -> list[Demand]:
        """Seconds per payload byte in which a worker waits while no station works."""
        draw, payload = self.ledger.draw, max(job.payload_B, 1.0)
        delays: list[Demand] = []

        def wait(seconds: Value, what: str, formula: str, source: str = "", each: Each = "file") -> None:
            if _positive(seconds):
                delays.append(Demand(f"{job.name}.workers", seconds, what, formula, source, each))

        wait(part.delay * step.share, part.what, "seconds per byte", each="byte")
        if not _positive(part.cpu):
            return delays  # a flush has no files of its own
        for reading in self._readings(step, number, row):
            wait(reading.delay * part.cpu * step.share, reading.what, "seconds per byte", each="byte")
        cost, each = step.files, part.cpu / payload
        rtt = route.rtt(draw) if route is not None else 0.0
        wait(
            job.files * cost.round_trips * rtt / cost.ahead * each,
            "control round trips",
            f"{job.files} files x {cost.round_trips:g} round trips / {cost.ahead:g} ahead",
        )
        source, destination = self.ends[number]
        hidden = self._operations(destination, cost.destination, job)[0] if cost.together else 0.0
        for end, operations, count, beside in (
            (source, cost.source, job.files, hidden),
            (destination, cost.destination, job.files, 0.0),
            (destination, cost.directory, job.directories, 0.0),
        ):
            seconds, base = self._operations(end, operations, job)
            seconds = np.maximum(seconds - beside, 0.0)  # what one end does while the other works costs no time
            what = "file operations" + (" x latency to the server" if base.startswith("server") else "")
            formula = f"{count} x ({' + '.join(operations)}) on {end.host.name}:{end.volume}"
            wait(count * seconds * each, what, formula, base)
        if cost.fixed is not None:
            wait(job.files * draw(cost.fixed) * each, "per-file work", f"{job.files} x {cost.fixed}", cost.fixed.source)
        if route is not None and step.net is not None:
            lost = self._ramp(route, step.net, number, payload, row)
            which: Each = "file" if step.net.reopened else "start"
            wait(lost * each, SLOW_START, "time the ramp loses against the steady rate", each=which)
        return delays

    def _readings(self, step: Step, number: int, row: Row) -> Iterator[Stretch]:
        """How the files that a step reads are read: random and direct requests are waited for."""
        source, destination = self.ends[number]
        for end, asked in ((source, step.read), (destination, step.reread)):
            use = self._use(end, asked, self.spec.transfers[number])
            if use is not None and end.volume is not None:
                filesystem = end.host.volumes[end.volume].filesystem
                yield filesystem.stretches(row.at(end.host.name), use, end.host, end.volume)[0]

    def _ramp(self, route: Route, net: NetUse, number: int, payload: float, row: Row) -> Value:
        """Seconds that the slow starts of a step lose, of all its files or of its workers."""
        spec, workers = self.spec.transfers[number], self.plans[number][1].workers
        data: Dataset = spec.dataset or _default_dataset()
        moved = (data.sizes_B * workers, data.counts) if net.reopened else (np.array([payload]), np.array([workers]))
        return self.network.ramp(route, net, moved, self._solo_rate(row.demands), self.ledger.draw, spec)

    def _solo_rate(self, demands: Iterable[Demand]) -> Value:
        """Rate that the stations of some demands allow when nobody else is there [B/s]."""
        load: dict[str, Value] = {}
        for demand in demands:
            load[demand.station] = load.get(demand.station, 0.0) + demand.per_byte
        rate: Value = np.inf
        for name, per_byte in load.items():
            with np.errstate(divide="ignore", invalid="ignore"):  # no demand, no limit, whatever the capacity
                cost = np.asarray(per_byte)
                here = np.where(cost > 0, self.ledger.stations[name].capacity / cost, np.inf)
            rate = np.minimum(rate, here)
        return rate

    def _operations(self, end: End, operations: tuple[str, ...], job: Job) -> tuple[Value, str]:
        """Seconds of one file's metadata operations on a volume, and where their cost comes from."""
        if not operations or end.volume is None:
            return 0.0, ""
        volume = end.host.volumes[end.volume]
        probe = Row(self.ledger, job.name, [], 1.0, end.host.name)
        away = self._server_rtt(end)
        seconds: Value = 0.0
        for operation in operations:
            trips = _ROUND_TRIPS.get(operation, 1.0) * volume.filesystem.requests(probe)
            seconds = seconds + trips * (away + volume.filesystem.operation_time(probe, operation, end.host))
        source = volume.filesystem.op_time.source
        return seconds, f"server round trips; {source}" if volume.server else source


def _positive(value: Value) -> bool:
    return bool(np.any(np.asarray(value) > 0))


def _default_dataset() -> Dataset:
    from dtnsim.description import dataset

    return dataset.load({"files": 1, "size": "100 GB"})
