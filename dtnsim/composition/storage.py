"""Demands of an access to a volume: on the calling thread, the file system, the medium or the server behind a mount."""

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from dtnsim.components import memory
from dtnsim.components.access import Access, Operations, Thread
from dtnsim.components.filesystem import label_of
from dtnsim.components.offload import Duty
from dtnsim.components.remote import Remote
from dtnsim.components.segment import segment_names
from dtnsim.composition import remote_servers, transport
from dtnsim.composition.network import Network
from dtnsim.composition.residency import NOTHING, History
from dtnsim.composition.resolved_transfer import End, Leg, end_of
from dtnsim.composition.route import Route
from dtnsim.composition.tcp import main_connection
from dtnsim.description.spec import PathSpec
from dtnsim.description.transfer import split_end
from dtnsim.ground.errors import SpecError
from dtnsim.ground.ledger import Ledger, Row
from dtnsim.ground.quantity import Value, middle
from dtnsim.ground.records import Connection
from dtnsim.ground.term import Term, count, term
from dtnsim.physics import cache
from dtnsim.tools.plan import FileCost, NetUse, Step

Shelf = tuple[str, str]  #: what holds files: (host, volume), or (nothing, file system) where several hosts mount it
_INODE_B = 4096.0  #: bytes of the block of metadata that a flush at a server waits for


class Storage:
    """Accesses to the volumes of a path, on one ledger."""

    def __init__(
        self, spec: PathSpec, ledger: Ledger, network: Network, legs: list[Leg], past: History = NOTHING
    ) -> None:
        self.past = past
        self.spec, self.ledger, self.network = spec, ledger, network
        self.read_shares = self._read_shares(legs)
        self._files: Counter[Shelf] = Counter()
        self.streams: Counter[Shelf] = Counter()  # sequential ones, of all transfers together
        for leg in legs:
            visited = self.visited(leg)
            self._files.update({shelf: leg.job.files for shelf, _ in visited})
            for shelf, number in visited:
                self.streams[shelf] += number
        self._in_memory = self._writers_in_memory(legs)
        self._serving: list[End] = []  # mounts whose servers are being charged
        self._uses: dict[tuple[Any, ...], tuple[Access, Access]] = {}  # a use that is kept keeps its id

    def visited(self, leg: Leg) -> list[tuple[Shelf, int]]:
        """(what holds the files, streams of this transfer there) of each end that is a volume."""
        reads, writes = [s.read for s in leg.plan.steps], [s.write for s in leg.plan.steps]
        return [
            (self._shelf(end), max((u.own_streams for u in uses if u is not None), default=0))
            for end, uses in ((leg.source, reads), (leg.destination, writes))
            if end.volume is not None
        ]

    def _read_shares(self, legs: list[Leg]) -> dict[Shelf, float]:
        """Read share of the bytes on each volume that is read and written at the same time."""
        moved: dict[Shelf, list[float]] = {}
        for leg in legs:
            if len(legs) == leg.plan.workers == 1 and len(leg.plan.steps) > 1:
                continue  # one worker does one step after the other
            for step in leg.plan.steps:
                for end, read, written in ((leg.source, step.read, None), (leg.destination, step.reread, step.write)):
                    if end.volume is None:
                        continue
                    both = moved.setdefault(self._shelf(end), [0.0, 0.0])
                    part = middle(step.share) * leg.job.payload_B
                    both[0] += part if read is not None and not read.cached else 0.0
                    both[1] += part if written is not None else 0.0
        return {key: r / (r + w) for key, (r, w) in moved.items() if r > 0 and w > 0}

    def _writers_in_memory(self, legs: list[Leg]) -> dict[str, float]:
        """Part of the dirty limits that each transfer gets, shared among those that write through one cache."""
        pools: dict[str, list[Leg]] = {}
        for leg in legs:
            end = leg.destination
            if end.volume is None or not any(s.write is not None for s in leg.plan.steps):
                continue
            if (filesystem := end.mounted.filesystem).keeps_dirty:
                pools.setdefault(filesystem.memory_pool(end.host.name, end.volume), []).append(leg)
        shares: dict[str, float] = {}
        for together in pools.values():
            if len(together) == 1:
                continue
            end = together[0].destination
            where = together[0].spec.name, end.host.name
            filesystem = end.mounted.filesystem
            row = Row(self.ledger, "", [], 1.0, end.host.name)
            limit = middle(filesystem.cache_limits(row, end.host, self.past.held_B.get(where, 0.0))[1])
            room = max(limit - self.past.dirty_B.get(where, 0.0), 1.0)
            held_B = cache.water_filled([leg.job.payload_B for leg in together], room)
            for leg, bytes_held in zip(together, held_B, strict=True):
                shares[leg.spec.name] = max(float(bytes_held / held_B.sum()), 1e-6)
        return shares

    def memory_share(self, leg: Leg) -> float:
        """Part of the dirty limits that a transfer gets beside others that write through the same cache."""
        return self._in_memory.get(leg.spec.name, 1.0)

    @staticmethod
    def _shelf(end: End) -> Shelf:
        """Where an end's files are: a volume of its host, or a file system that several hosts mount."""
        system = getattr(end.mounted.filesystem, "system", None)
        return (end.host.name, end.volume or "") if system is None else ("", str(system))

    def use(self, end: End, use: Access | None, leg: Leg) -> Access | None:
        """A tool's access as the volume at an end sees it.

        Args:
            use: The access as the tool asks for it; None if it has none.
        """
        if use is None or end.volume is None:
            return None
        key = leg.spec.name, end.host.name, end.volume, id(use), self.streams[self._shelf(end)]
        if key not in self._uses:
            self._uses[key] = use, self._as_seen(end, use, leg)
        return self._uses[key][1]

    def _as_seen(self, end: End, use: Access, leg: Leg) -> Access:
        """A tool's access as the volume at an end sees it, not cached."""
        filesystem = end.mounted.filesystem
        if use.finish == "none" and filesystem.flushes_at_close:
            use = use.but(finish="fdatasync")
        cached, first = leg.spec.cached, next((s for s in leg.plan.steps if s.read is not None), None)
        data_B = leg.spec.dataset.payload_B if leg.spec.dataset is not None else 0.0
        as_asked = use.but(
            streams=max(self.streams[self._shelf(end)], use.own_streams),
            thread=leg.placed(use.thread),
            cached=cached if cached is not None and use.operation == "read" and not use.again else use.cached,
            revisited=use.operation == "read" and (first is None or use is not first.read),
            rtt_s=self.server_rtt(end),
            stable_s=self.stable(end, writers=use.own_streams * use.queue_depth),
            llc_B=end.host.cpu.cache.value if end.host.cpu.cache is not None else math.inf,
            l2_B=end.host.cpu.core_cache.value if end.host.cpu.core_cache is not None else math.inf,
            read_share=self.read_shares.get(self._shelf(end)),
            timed=leg.timing is not None,
            data_B=data_B,
            within_B=data_B if use.random else 0.0,
            held_B=self.past.held_B.get((leg.spec.name, end.host.name), 0.0),
            dirty_B=self.past.dirty_B.get((leg.spec.name, end.host.name), 0.0),
            kernel=end.host.stack.release,
            kernels=end.host.stack.releases,
            aes_blocks=end.host.cpu.aes_blocks if end.host.cpu.aes else 0,
            sockets=end.host.cpu.sockets,
            pools=end.host.cpu.worker_pools(end.host.stack.release),
        )
        seen = filesystem.sees(as_asked)
        if end.mounted.server is None or not isinstance(filesystem, Remote):
            return seen
        far = self.server(end)
        seen = seen.but(agreed_B=filesystem.agrees(far.host))
        return seen.but(**remote_servers.of_request(self.network, self.ledger, end, far, seen))

    def uses(self, leg: Leg, step: Step) -> Iterator[tuple[End, Access, Access]]:
        """Accesses of a step: (end, access as the tool asks for it, access as the volume sees it)."""
        for end, access in ((leg.source, step.read), (leg.destination, step.write), (leg.destination, step.reread)):
            seen = self.use(end, access, leg)
            if access is not None and seen is not None:
                yield end, access, seen

    def kept_in_flight(self, leg: Leg) -> float:
        """Part of the workers' requests that the file systems of a leg keep in flight."""
        uses = (each for step in leg.plan.steps for each in self.uses(leg, step))
        return min((seen.queue_depth / max(access.queue_depth, 1) for _, access, seen in uses), default=1.0)

    def way(self, end: End, *, reading: bool) -> Route:
        """The way between a volume and its servers."""
        if end.mounted.over:
            return self.network.over(end.host, end.volume or "", reading=reading)
        ends = end.host, self.server(end).host
        return self.network.route(*(ends[::-1] if reading else ends), [])

    def server_rtt(self, end: End) -> Value:
        """Round-trip time between a mount and its servers as the path describes it; 0 for local drives."""
        volume = end.mounted
        if not volume.over and volume.server is None:
            return 0.0
        rtt = self.way(end, reading=True).rtt(self.ledger.draw)
        return rtt * volume.filesystem.elsewhere if volume.over else rtt

    def stable(self, end: End, *, writers: int = 1, change: bool = False) -> Value:
        """Seconds of a flush at the server of a mount whose requests wait for its disks; 0 for others.

        Args:
            end: The mount.
            writers: Writers that flush there at once.
            change: Whether names or inodes alone have changed, and no data of a file.
        """
        volume = end.mounted
        mount = volume.filesystem
        if volume.server is None or not (isinstance(mount, Remote) and mount.synced):
            return 0.0
        remote = self.server(end)
        written = Access("write", Thread("nfsd"), block_B=_INODE_B, file_B=_INODE_B, total_B=_INODE_B, finish="dsync")
        probe = Row(self.ledger, "", [], 1.0, remote.host.name)
        filesystem = remote.mounted.filesystem
        wait = filesystem.change_wait if change else filesystem.flush_wait
        return wait(probe, written.but(own_streams=writers), remote.host, remote.volume or "")

    def server(self, end: End) -> End:
        """The volume of another host that a mount shows."""
        server = end.mounted.server or ""
        name, _ = split_end(server)
        where: dict[str, Any] = {"value": server, "key": f"hosts.{end.host.name}.volumes.{end.volume}.server"}
        if name not in self.spec.hosts:
            remedy = f"hosts: {', '.join(self.spec.hosts)}"
            raise SpecError("there is no host of that name on this path", **where, remedy=remedy)
        remote = end_of(self.spec, server)
        if remote.host is end.host:
            raise SpecError("serves itself", **where, remedy="name the volume of another host")
        if remote.volume is None:
            mounts = ", ".join(remote.host.volumes) or "none"
            raise SpecError(f"host {name!r} has no volume for it", **where, remedy=f"volumes: {mounts}")
        if remote.mounted.server is not None and end in self._serving:
            raise SpecError("hosts serve each other", **where, remedy="let one of them have drives of its own")
        return remote

    def charge(self, calls: Row, medium: Row, end: End, use: Access | None) -> None:
        """Charges an access to a volume: the calling thread, and the medium (or the server) below the cache.

        Args:
            calls: Takes the calling thread's demands.
            medium: Takes those below the cache.
            use: The access; nothing is charged where it is None.
        """
        if use is None or end.volume is None:
            return
        host, volume = end.host, end.mounted
        calls, medium = calls.seen_from(host.name), medium.seen_from(host.name)
        cycles = volume.filesystem.cycles(calls, use, host.stack)
        verb = "file read" if use.operation == "read" else "file write"
        # without the page cache a thread works with the drives themselves
        near = host.drives_sockets(end.volume) if use.finish == "direct" else None
        host.core(calls, use.thread, cycles, verb, near=near)
        crossings = memory.READ if use.operation == "read" else memory.WRITE
        host.memory.cross(calls, memory.DIRECT if use.finish == "direct" else crossings, verb)
        if use.cached and use.operation == "read":
            missed = 1.0 - np.asarray(volume.filesystem.cached_part(medium, use, host))
            if not np.any(missed > 0):
                return
            medium = medium.times(missed)
        if volume.over:
            use = remote_servers.carry(medium, self.network, end, use)
        volume.filesystem.medium(medium, use, host, end.volume)
        if volume.server is not None:
            self._remote(medium, end, use)

    def _behind_the_wan(self, row: Row, end: End, server: str, crossed: set[str]) -> None:
        """Warns that a server which is at neither end is taken to be across the WAN."""
        pairs = [{split_end(t.source_end)[0], split_end(t.to)[0]} for t in self.spec.transfers]
        over = crossed & set(segment_names(self.spec.wan))
        if over and max(map(len, pairs)) > 1 and not any(server in pair for pair in pairs):
            lan = f"links: {{lan: {{between: [{server}, {end.host.name}], rtt: 0.2 ms, bandwidth: 10 Gb/s}}}}"
            row.ledger.warn(f"{end.host.name}: {server}, which serves {end.volume}, is across the wan; nearby: '{lan}'")

    def _remote(self, row: Row, end: End, use: Access) -> None:
        """The network and the server below a network file system."""
        remote, filesystem = self.server(end), end.mounted.filesystem
        route = self.way(end, reading=use.operation == "read")
        if not isinstance(filesystem, Remote):
            raise SpecError(
                f"a volume of {filesystem.kind} has no server",
                key=f"hosts.{end.host.name}.volumes.{end.volume}.server",
                value=end.mounted.server,
                remedy="mount it with kind: nfs or smb, or give the volume an array",
            )
        self._behind_the_wan(row, end, remote.host.name, {name for name, _, _ in route.hops})
        near, wires = row.seen_from(end.host.name), filesystem.connections
        # a connection's work stays on one core at a time
        kernel = Thread(f"kernel {filesystem.protocol}", copies=wires)
        serving = Thread(kernel.name, copies=filesystem.sessions)
        burst = filesystem.answers(near, use)
        net = NetUse(
            *((serving, kernel) if use.operation == "read" else (kernel, serving)),
            streams=wires,
            transport=filesystem.transport,
            burst=None if burst is None else burst / wires,
            total_B=use.total_B,
        )
        # one mount, one set of connections, whatever uses it
        shared = end.host.mount(row, end.volume or "", filesystem.connections_of(row, use))
        cards, frame = self.network.carry(shared, route, net, None)
        transport.charge(shared.times(net.overhead).seen_from(""), route, net, frame, cards)
        local = shared.seen_from(end.host.name)
        work = near.term(filesystem.connection_byte) + filesystem.call_byte(near, use)
        end.host.core(local, kernel, work, f"{filesystem.protocol} requests")
        far, served, safe = shared.seen_from(remote.host.name), filesystem.server_byte, filesystem.both_ends(near)
        if served is not None:
            remote.host.core(far, serving, near.term(served), f"{filesystem.protocol} session")
        if safe is not None:
            end.host.work(local, kernel, safe[0], "cipher or signature", Duty("own", safe[1]))
            remote.host.work(far, serving, safe[0], "cipher or signature", Duty("own", safe[1]))
        self._threads(row, remote, end, filesystem.thread_time(near, use), "reads and writes")
        missed = row.where_missed() if row.missed else row
        if use.random and np.any(np.asarray(use.cold_s) > 0):  # of a sequence the heads meet what others asked for
            self._threads(missed, remote, end, filesystem.thread_drives(near, use), "waiting for the drives")
        self._serving.append(end)
        self.charge(row, missed, remote, remote_servers.inner(filesystem, near, use))
        self._serving.pop()

    @staticmethod
    def _threads(row: Row, remote: End, end: End, per_byte: Term, work: str) -> None:
        """Charges the threads of a server, which serve one request each at a time."""
        filesystem = end.mounted.filesystem
        assert isinstance(filesystem, Remote)
        row.seen_from(remote.host.name).charge(
            f"{label_of(remote.volume or '')}.{filesystem.daemon}",
            filesystem.kind,
            unit="s",
            capacity=count(filesystem.threads, "thread"),
            per_byte=per_byte,
            what=f"threads of the {filesystem.protocol} server: {work}",
            remedy=f"more threads of the {filesystem.protocol} server "
            f"(hosts.{end.host.name}.volumes.{end.volume}.filesystem.threads; {filesystem.setting})",
        )

    def operations(self, end: End, operations: tuple[str, ...], leg: Leg, cost: FileCost) -> tuple[Value, str]:
        """Seconds of one file's metadata operations on a volume, and where their cost comes from.

        Args:
            operations: Names of the operations.
            cost: What its step asks of each file.
        """
        if not operations or end.volume is None:
            return 0.0, ""
        volume, job, met = end.mounted, leg.job, cost.folder == "own"
        filesystem, probe = volume.filesystem, Row(self.ledger, job.name, [], 1.0, end.host.name)
        away = self.server_rtt(end)
        seconds = filesystem.waits(probe, operations, end.host, away, job.mean_B, met=job.files if met else 0)
        requests = Operations({}, job.directories, 0.0, self._files[self._shelf(end)], leg.walked_B(cost))
        seconds = seconds + filesystem.misses(probe, end.host, end.volume, requests)
        seconds = seconds + self.flushed(end, operations, leg, cost)
        source = "; ".join(dict.fromkeys(filesystem.timed(operation).source for operation in operations))
        return seconds, f"server round trips; {source}" if volume.server or volume.over else source

    def flushed(self, end: End, operations: tuple[str, ...], leg: Leg, cost: FileCost) -> Value:
        """Seconds that one file's operations wait for the disks of a mount's server."""
        written = any(step.write is not None for step in leg.plan.steps if step.files == cost)
        changes, closed = end.mounted.filesystem.flushes(operations, written=written)
        seconds: Value = changes * self.stable(end, change=True) if changes else 0.0
        return seconds + closed * self.stable(end) if closed else seconds

    def weight(self, leg: Leg) -> float:
        """Streams that a transfer has among others: its tool's, or those of a store beyond the network."""
        if leg.route is not None:
            return leg.plan.weight
        weights = [leg.plan.weight]
        for step in leg.plan.steps:
            for end, _, use in self.uses(leg, step):
                net = remote_servers.net_of(Row(self.ledger, "", [], 1.0, end.host.name), end, use)
                weights.append(1.0 if net is None else float(net.streams))
        return max(weights)

    def connections(self, leg: Leg, step: Step, row: Row) -> Iterator[tuple[str, Connection]]:
        """Connections of the volumes of a step to their servers, with the stations that the row has charged them at."""
        for end, _, use in self.uses(leg, step):
            if np.any(np.asarray(use.rtt_s) > 0):
                route = self.way(end, reading=use.operation == "read")
                connection = main_connection(remote_servers.owned(row, end, use), route)
                if connection is not None:
                    yield connection

    def metadata(self, leg: Leg, step: Step, row: Row) -> None:
        """Charges the metadata operations of a step's files where they are done."""
        cost, job = step.files, leg.job
        for end, operations, number in (
            (leg.source, cost.source, job.files),
            (leg.destination, cost.destination, job.files),
            (leg.destination, cost.directory, job.directories),
        ):
            if end.volume is None or not operations or not number:
                continue
            filesystem, local = end.mounted.filesystem, row.seen_from(end.host.name)
            each = {
                name: times * number / max(job.payload_B, 1.0) * float(np.mean(filesystem.round_trips(local, name)))
                for name, times in Counter(filesystem.asks(operations, met=cost.folder == "own")).items()
            }
            files = self._files[self._shelf(end)]
            remote_servers.names(local, end, each, own=cost.folder == "own")
            if end.mounted.server is not None and isinstance(filesystem, Remote):
                requests, remote = Operations(each, job.directories, files=files), self.server(end)
                flushed = self.flushed(end, operations, leg, cost) * number / max(job.payload_B, 1.0)
                waited = term(flushed, "s/B", "flushes at the server")
                time = filesystem.thread_operations(local, requests) + waited
                self._threads(local, remote, end, time, "file operations")
                remote.mounted.filesystem.metadata(
                    row.seen_from(remote.host.name), requests, remote.host, remote.volume or ""
                )
                continue
            requests = Operations(each, job.directories, self.server_rtt(end), files, leg.walked_B(cost))
            filesystem.metadata(local, requests, end.host, end.volume)
