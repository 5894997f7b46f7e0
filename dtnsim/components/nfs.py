"""NFS: requests in flight over a round trip, read-ahead, connections, a round trip for every file operation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from dtnsim.components.access import Access
from dtnsim.components.filesystem import CHANGES, label_of
from dtnsim.components.servers import Servers, SharedFilesystem
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, prior
from dtnsim.ground.term import Term, count, law, least, term
from dtnsim.physics import cache, metadata, nfs

if TYPE_CHECKING:
    from dtnsim.description.host import Host


#: requests of a sequential reader's read-ahead (Linux before 5.4, NFS_MAX_READAHEAD; RHEL 8.3, Ubuntu 18.04 and later
#: set 128 KiB unless told otherwise: Microsoft, Linux NFS read-ahead best practices for Azure NetApp Files)
READ_AHEAD = 15


class Nfs(SharedFilesystem):
    """An NFS mount; the volume's ``server`` names host and volume that export it, or ``servers`` describes a filer.

    ``close`` waits until everything written has reached the server (close-to-open consistency, nfs(5)), so a file
    that fits into the client's cache is first written there and then sent; a file of several WRITEs ends with a
    COMMIT. A sequential reader has ``read_ahead`` in flight; where nothing is said, 15 requests (Linux before 5.4,
    NFS_MAX_READAHEAD). ``stable`` is what the server's stable storage takes: every request that changes a directory
    waits for it (RFC 1813, section 1.5), and COMMITs and synchronous WRITEs do.

    With ``servers`` a mount talks to one of them, unless ``pnfs`` spreads its files over all.
    """

    kind: ClassVar[str] = "nfs"
    flushes_at_close: ClassVar[bool] = True
    refused: ClassVar[dict[str, str]] = {}
    striped: ClassVar[bool] = False
    drives_in_arrays: ClassVar[bool] = True

    op_time: Annotated[Quantity, Unit("s", spread=0.5)] = prior(
        "0.2 ms",
        1.5,
        "assumed: one metadata request, from some 0.05 ms with a log in memory to some ms where a disk's log is "
        "waited for (RFC 1813, section 4.8: changes are on stable storage before the answer)",
    )

    proto: Literal["tcp", "rdma"] = "tcp"
    pnfs: bool = False
    rsize: Annotated[Quantity, Unit("B", low=512, high=2**20)] = prior("1 MiB", 0.0, "nfs(5): negotiated maximum")
    wsize: Annotated[Quantity, Unit("B", low=512, high=2**20)] = prior("1 MiB", 0.0, "nfs(5): negotiated maximum")
    read_ahead: Annotated[Quantity, Unit("B", spread=0.5)] | None = None
    slots: Annotated[Quantity, Unit("1", low=1, spread=0.3)] = prior(
        "128", 0.7, "assumed: sunrpc slot table, 16 fixed on old kernels, dynamic to 65536 on newer (SUSE KB 7023238)"
    )
    nconnect: Annotated[int, Field(ge=1, le=16)] = 1
    threads: Annotated[int, Field(ge=1, le=4096)] = 8
    service: Annotated[Quantity, Unit("s", spread=0.5)] = prior(
        "0.3 ms", 0.7, "assumed: time of one READ or WRITE at the server"
    )
    acdirmin: Annotated[Quantity, Unit("s", low=0.1)] = prior("30 s", 0.0, "nfs(5): acdirmin, default 30 s")
    depth: Annotated[int, Field(ge=0, le=100)] = 4
    rpc_byte: Annotated[Quantity, Unit("cycles/B", spread=0.4)] = prior(
        "1.5 cycles/B",
        0.5,
        "one connection carries about 2 GB/s of reads and 1.2 GB/s of writes on processors of about 3 GHz "
        "(ngxstorage.com, nconnect), 1.5 to 2.5 cycles/B in all, of which TCP has some 0.5",
    )
    rdma_byte: Annotated[Quantity, Unit("cycles/B", spread=0.4)] = prior(
        "0.45 cycles/B",
        0.5,
        "VAST documentation: two connections for each 100 Gb/s with RDMA, 6 GB/s each at about 3 GHz",
    )
    stable: Annotated[Quantity, Unit("s", spread=0.5)] = prior(
        "0 s", 0.0, "async export, or a server with a log in memory that survives (then part of op_time and service)"
    )

    @property
    def connection_byte(self) -> Quantity:
        """Work of the kernel for a byte of one connection besides the transport's."""
        return self.rdma_byte if self.proto == "rdma" else self.rpc_byte

    def io_size(self, use: Access) -> Quantity:
        """Bytes of one READ or WRITE."""
        return self.rsize if use.operation == "read" else self.wsize

    def window(self, row: Row) -> Term:
        """Bytes that a sequential reader has in flight."""
        if self.read_ahead is not None:
            return row.term(self.read_ahead)
        return law(nfs.read_ahead, requests=READ_AHEAD, rsize_B=row.term(self.rsize))

    def answers(self, row: Row, use: Access) -> Value | None:
        """A whole read-ahead is asked for at once, when the reader enters the one before it (Linux mm/readahead.c)."""
        return self.window(row).value if use.operation == "read" else None

    def request_wait(self, row: Row, use: Access, host: Host, volume: str) -> Value:
        """A round trip, less what the slots are charged for it; what a call asks for goes out together."""
        del host, volume
        size = row.value(self.io_size(use))
        charged = use.block_B / np.minimum(size, use.block_B) / (row.value(self.slots) * self.nconnect)
        wait = use.rtt_s + self.answer_time(row, use).value
        return wait / use.block_B * np.maximum(1.0 - charged, 0.0)

    def answer_time(self, row: Row, use: Access) -> Term:
        """Seconds of one request at the server; a synchronous WRITE waits for stable storage."""
        service = row.term(self.service)
        if use.operation == "write" and use.finish in ("direct", "dsync") and self.stable.value > 0:
            return service + row.term(self.stable)
        return service

    def medium(self, row: Row, use: Access, host: Host, volume: str) -> None:
        """Slots and read-ahead of this mount, threads or servers; the composer charges a server that is a host."""
        label, size = label_of(volume), row.term(self.io_size(use))
        alone = use.random or use.finish in ("direct", "dsync")
        if alone:
            size = least(size, term(use.block_B, "B"))  # nothing joins them
        rtt, service = term(use.rtt_s, "s", "round trip of the route"), self.answer_time(row, use)
        row.charge(
            f"{label}.nfs-slots", "nfs", what=f"NFS {use.operation} requests in flight",
            capacity=law(
                nfs.data_rate, slots=row.term(self.slots), io_B=size, rtt_s=rtt, service_s=service,
                connections=self.nconnect,
            ),
        )  # fmt: skip
        if use.operation == "read" and not alone:
            ahead = law(cache.readahead_rate, disk_rate=np.inf, window_B=self.window(row), latency_s=rtt + service)
            row.charge(
                f"{label}.read-ahead", "nfs", capacity=count(max(use.own_streams, 1), "reader") * ahead, private=True,
                what="NFS read-ahead over the round trip",
            )  # fmt: skip
        if host.volumes[volume].server is None:
            self.behind(row, use, label, size)
            host.storage_network(row, use, volume)

    def thread_time(self, row: Row, use: Access) -> Term:
        """Time of a thread of the server for a byte that is read or written [s/B]."""
        size = row.term(self.io_size(use))
        if use.random or use.finish in ("direct", "dsync"):
            size = least(size, term(use.block_B, "B"))
        return self.answer_time(row, use) / size

    def thread_operations(self, row: Row, per_byte: Mapping[str, float]) -> Term:
        """Time of a thread of the server for the metadata operations of one payload byte [s/B]."""
        changes = sum(n for operation, n in per_byte.items() if operation in CHANGES)
        change = self.change_time if self.change_time is not None else self.op_time
        return term(sum(per_byte.values()) - changes) * row.term(self.op_time) + term(changes) * row.term(change)

    def touched(self, row: Row, use: Access, made: Servers) -> Term | None:
        """A mount talks to one server; parallel NFS to all of them."""
        del row, use, made
        return None if self.pnfs else count(1, "server")

    # -- metadata ---------------------------------------------------------------------------------

    def round_trips(self, row: Row, operation: str) -> Value:
        """A READDIRPLUS brings fewer names than a local call, since each comes with its attributes."""
        del row
        return float(metadata.listing_calls(nfs.NAMES_PER_REPLY)) if operation == "readdir" else 1.0

    def expired(self, row: Row, request_s: Value) -> Value:
        """Requests for each that does the work, where the directories on the way expire meanwhile."""
        return law(
            nfs.revalidation, objects=self.depth, attribute_s=row.term(self.acdirmin), request_s=term(request_s, "s")
        ).value

    def operation_time(self, row: Row, operation: str, host: Host) -> Value:
        """A request at the server; what changes a directory or inode waits for stable storage."""
        stable = row.value(self.stable) if operation in CHANGES else 0.0
        return super().operation_time(row, operation, host) + stable

    def close_time(self, row: Row, file_B: float, rtt_s: Value) -> Value:
        """The COMMIT at a file's close."""
        trips = law(nfs.commits, file_B=file_B, wsize_B=row.term(self.wsize)).value
        return trips * (rtt_s + row.value(self.service) + row.value(self.stable))
