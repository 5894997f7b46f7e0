"""Mounts of one server over the network (NFS, SMB): requests in flight, read-ahead, a thread of the server each."""

import math
from abc import abstractmethod
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from dtnsim.components.access import Access, Operations
from dtnsim.components.device import Connections, Fabric
from dtnsim.components.filesystem import label_of
from dtnsim.components.machine import Machine
from dtnsim.components.servers import RequestTime, Servers, SharedFilesystem
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, middle, prior
from dtnsim.ground.term import Term, count, law, minimum, term
from dtnsim.ground.uncertainty import Change
from dtnsim.physics import cache, nfs


class Remote(SharedFilesystem):
    """A mount of one server: a host that the volume's ``server`` names, or a filer that ``servers`` describe."""

    flushes_at_close: ClassVar[bool] = True
    over_ip: ClassVar[bool] = True
    behind_kind: ClassVar[str] = "servers"
    refused: ClassVar[dict[str, str]] = {}
    striped: ClassVar[bool] = False
    drives_in_arrays: ClassVar[bool] = True
    #: what the protocol and the server's processes are called, and where their number is set
    protocol: ClassVar[str] = ""
    daemon: ClassVar[str] = ""
    setting: ClassVar[str] = ""
    commits: ClassVar[bool] = False  #: whether clients ask the server to write back what they have written (COMMIT)
    wires: ClassVar[str] = ""  #: key of the volume that says how many connections there are

    change_time: Annotated[Quantity, Unit("s", spread=0.5)] | None = None
    rsize: Annotated[Quantity, Unit("B")]
    wsize: Annotated[Quantity, Unit("B")]
    read_ahead: Annotated[Quantity, Unit("B", spread=0.5, low=4096)] | None = None
    warm: Annotated[bool, Field(description="True where the server has the files in its memory")] = False
    threads: Annotated[int, Field(ge=1, le=4096)] = 8
    service: RequestTime = prior(
        "20 us",
        0.7,
        "github beckerg/nct, README (FreeBSD 12): a GETATTR takes 15 to 33 us, network and client included",
    )
    service_byte: Annotated[Quantity, Unit("s/B", spread=0.5)] = prior(
        "0.2 ns/B",
        0.7,
        "github beckerg/nct, README: a READ of 128 KiB takes 52 to 56 us more than a GETATTR and the wire, at both "
        "ends; assumed: half of it at the server",
    )

    call: Annotated[Quantity, Unit("cycles", spread=0.5)] = prior(
        "24000 cycles",
        0.6,
        "between a command of iSCSI, 15,000, and 38,000 at most: two connections of NFS 4.2 with RDMA do 136,000 "
        "random reads a second on a Xeon of 2.6 GHz (burrito documentation, NetApp NFS RDMA Performance Test, "
        "2024)",
    )

    @property
    def connections(self) -> int:
        """Connections to the server, as the key that says their number has it."""
        return int(getattr(self, self.wires.partition(".")[2]))

    @property
    def transport(self) -> Literal["tcp", "rdma"]:
        """What carries the requests."""
        return "tcp"

    @property
    def fabric(self) -> Fabric:
        """How a filer is reached whose servers are no hosts of the path."""
        return Fabric(self.transport, self.connections, self.connection_byte, self.protocol, self.wires, self.call_byte)

    @property
    def synced(self) -> bool:
        """Whether what must be stable waits for the disks of a server that the path describes."""
        return False

    def connections_of(self, row: Row, use: Access) -> Connections:
        """Connections of the mount; each request takes one that is free."""
        return Connections(self.connections)

    @property
    @abstractmethod
    def connection_byte(self) -> Quantity:
        """Work of the client's kernel for a byte of one connection besides the transport's."""

    def call_byte(self, row: Row, use: Access) -> Term:
        """What requests cost the core of their connection for each byte that they carry [cycles/B]."""
        return row.term(self.call) / self._request(row, use)

    def operation_cycles(self, row: Row, requests: Operations) -> Term:
        """What metadata operations of one payload byte cost that core: each is a request like any other [cycles/B].

        Source: Linux net/sunrpc/xprt.c (one task sends on a transport at a time) and xprtsock.c (one work receives);
            fs/smb/client/connect.c (cifs_demultiplex_thread, one for each connection).
        """
        return term(requests.number) * row.term(self.call)

    @property
    def sessions(self) -> int:
        """Threads of the server that work on the connections, each on its own."""
        return self.connections

    @property
    def server_byte(self) -> Quantity | None:
        """Work of such a thread for a byte besides the transport's; None where the kernel does it in passing."""
        return None

    def both_ends(self, row: Row) -> tuple[Term, str] | None:
        """Work for a byte at either end: signatures, ciphers."""
        return None

    def io_size(self, use: Access) -> Quantity:
        """Bytes of one READ or WRITE: what client and server agree on."""
        size = self.rsize if use.operation == "read" else self.wsize
        agreed = middle(use.agreed_B)
        return size if size.value <= agreed else size.worth(agreed, "the server's memory (Linux fs/nfsd/nfssvc.c)")

    def agrees(self, server: Machine) -> float:
        """Largest request that a server on this machine agrees to [B]."""
        return math.inf

    @abstractmethod
    def flight_rate(self, row: Row, use: Access, size: Term) -> Term:
        """Rate by the requests of one size that may be in flight."""

    @abstractmethod
    def window(self, row: Row, use: Access) -> Term:
        """Bytes that a sequential reader has in flight."""

    def answers(self, row: Row, use: Access) -> Value | None:
        """A whole read-ahead is asked for at once, when the reader enters the one before it (Linux mm/readahead.c)."""
        return self.window(row, use).value if use.operation == "read" else None

    def requests(self, row: Row, use: Access) -> tuple[float, int]:
        """Bytes of one request of an access, and how many go out at once: those of a call, or of a window."""
        size = middle(self.request_B(row, use).value)
        total_B = use.block_B * use.queue_depth if use.waits_for_each else middle(self.window(row, use).value)
        if use.operation == "write":
            return size, use.queue_depth
        return min(size, total_B), max(1, round(total_B / size))

    def request_wait(self, row: Row, use: Access, host: Machine, volume: str) -> Value:
        """A round trip, the wire and the server's drives, one after the other, less what stations are charged for it.

        What a call asks for goes out together.
        """
        size, service = minimum(row.term(self.io_size(use)), term(use.block_B, "B")), self.answer_time(row, use)
        slots = 1.0 / self.flight_rate(row, use, size).value
        wait = use.rtt_s + service.value + use.cold_s + self._commit_wait(row, use)
        charged = np.maximum(np.maximum(slots, use.drives_s), use.wire_s)
        return np.maximum(wait / use.block_B + use.wire_s - charged, 0.0)

    def flush_wait(self, row: Row, use: Access, host: Machine, volume: str) -> Value:
        """A synchronous write is one request, or several and a commit, unless ``sync_latency`` says what it takes."""
        if self.states("sync_latency"):
            return super().flush_wait(row, use, host, volume)
        return use.rtt_s + self.answer_time(row, use).value + self._commit_wait(row, use)

    def commit_time(self, row: Row, use: Access) -> Term | None:
        """Seconds of the request that makes a call's writes stable at the server; None where there is none."""
        return None

    def _commit_wait(self, row: Row, use: Access) -> Value:
        """What a call waits for that request."""
        commit = self.commit_time(row, use)
        return 0.0 if commit is None else use.rtt_s + commit.value

    def answer_time(self, row: Row, use: Access) -> Term:
        """Seconds of one request at the server; ``service`` that is stated alone holds for requests of any size."""
        service = row.term(self.service)
        if self.states("service") and not self.states("service_byte"):
            return service
        size, byte = self._request(row, use), row.term(self.service_byte)
        return law(nfs.service_time, request_s=service, byte_s=byte, request_B=size)

    def medium(self, row: Row, use: Access, host: Machine, volume: str) -> None:
        """Requests and read-ahead of this mount, a filer's servers; the composer charges a server that is a host."""
        label, size = label_of(volume), self.request_B(row, use)
        rtt, service = term(use.rtt_s, "s", "round trip of the route"), self.answer_time(row, use)
        rate, text = self.flight_rate(row, use, size), f"{self.protocol} {use.operation} requests in flight"
        row.charge(f"{label}.{self.kind}-slots", self.kind, capacity=rate, what=text)
        if use.operation == "read" and not use.waits_for_each:
            window, waits = self.window(row, use), rtt + service
            if np.any(np.asarray(use.wire_s) > 0):  # a request passes one stage after the other
                stages = term(use.cold_s, "s", "drives of the server") + term(use.wire_s, "s/B") * minimum(size, window)
                waits = waits + stages
            flying = minimum(cache.WINDOWS * window, term(max(use.file_B, 1.0), "B", "one file"))
            ahead = law(cache.read_ahead_rate, disk_rate=np.inf, window_B=flying, latency_s=waits)
            text = f"{self.protocol} read-ahead over the round trip, the wire and the server's drives"
            key = f"hosts.{host.name}.volumes.{volume}.filesystem.read_ahead"
            more, changes = f"a larger read-ahead ({key}), or more files at once", self.more_ahead(use, volume, key)
            self.of_each(row, use, f"{label}.read-ahead", ahead, text, "reader", more, changes)
        if host.volumes[volume].server is None:
            self.charge_servers(row, use.but(warm=self.warm and use.operation == "read"), label, size)
            host.storage_network(row, use, volume)

    def more_ahead(self, use: Access, volume: str, key: str) -> tuple[Change, ...]:
        """A larger read-ahead of a mount, where its client can be told."""
        return ()

    def request_B(self, row: Row, use: Access) -> Term:
        """Bytes of one request of an access: no more than a file, since each names one (RFC 1813, section 3.3.6)."""
        size = use.joined_request_B(row.term(self.io_size(use)))
        return term(use.file_B, "B", "one file") if 0 < use.file_B < middle(size.value) else size

    def _request(self, row: Row, use: Access) -> Term:
        """Bytes of one request, or of the read-ahead window where that is smaller."""
        return term(self.requests(row, use)[0], "B", "one request")

    def thread_time(self, row: Row, use: Access) -> Term:
        """Time of a thread of the server for a byte that is read or written [s/B]."""
        data, commit = self.answer_time(row, use) / self._request(row, use), self.commit_time(row, use)
        return data if commit is None else data + commit / term(use.block_B, "B")

    def thread_drives(self, row: Row, use: Access) -> Term:
        """Time that a thread of the server waits for the drives, for a byte that is read from them [s/B]."""
        return term(use.cold_s, "s", "drives of the server") / self._request(row, use)

    def thread_operations(self, row: Row, requests: Operations) -> Term:
        """Time of a thread of the server for the metadata operations of one payload byte [s/B]."""
        look, change = row.term(self.op_time), row.term(self.timed("create"))
        return term(requests.number - requests.changes) * look + term(requests.changes) * change

    def touched(self, row: Row, use: Access, nodes: Servers) -> Term | None:
        """A mount talks to one server."""
        return count(1, "server")
