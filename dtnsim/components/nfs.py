"""NFS: requests in flight over a round trip, read-ahead, connections, a round trip for every file operation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from pydantic import Field

from dtnsim.components.access import Access
from dtnsim.components.filesystem import LocalFilesystem
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, prior
from dtnsim.physics import cache, nfs

if TYPE_CHECKING:
    from dtnsim.description.host import Host


#: requests of a sequential reader's read-ahead (Linux before 5.4; RHEL 8.3, Ubuntu 18.04 and later set 128 KiB
#: unless told otherwise: Microsoft, Linux NFS read-ahead best practices for Azure NetApp Files)
READ_AHEAD = 15


class Nfs(LocalFilesystem):
    """An NFS mount; the volume's ``server`` names host and volume that export it.

    ``close`` waits until everything written has reached the server (close-to-open consistency, nfs(5)), so a file
    that fits into the client's cache is first written there and then sent. A sequential reader has ``read_ahead`` in
    flight; where nothing is said, 15 requests (Linux before 5.4, NFS_MAX_READAHEAD).
    """

    kind: ClassVar[str] = "nfs"
    flushes_at_close: ClassVar[bool] = True

    op_time: Annotated[Quantity, Unit("s", spread=0.5)] = prior(
        "0.2 ms", 0.7, "assumed: one metadata request at a server that keeps its log in memory"
    )

    rsize: Annotated[Quantity, Unit("B", low=512, high=2**20)] = prior("1 MiB", 0.0, "nfs(5): negotiated maximum")
    wsize: Annotated[Quantity, Unit("B", low=512, high=2**20)] = prior("1 MiB", 0.0, "nfs(5): negotiated maximum")
    slots: Annotated[Quantity, Unit("1", low=1, spread=0.3)] = prior(
        "128", 0.7, "assumed: sunrpc slot table, 16 fixed on old kernels, dynamic to 65536 on newer (SUSE KB 7023238)"
    )
    nconnect: Annotated[int, Field(ge=1, le=16)] = 1
    service: Annotated[Quantity, Unit("s", spread=0.5)] = prior(
        "0.3 ms", 0.7, "assumed: time of one READ or WRITE at the server"
    )
    revalidation: Annotated[Quantity, Unit("1", low=1.0)] = prior(
        "1.05", 0.06, "assumed: GETATTR and ACCESS of what expired (nfs(5): acregmin 3 s, acdirmin 30 s) come on top"
    )
    rpc_byte: Annotated[Quantity, Unit("cycles/B", spread=0.4)] = prior(
        "1.5 cycles/B",
        0.5,
        "one connection carries about 2 GB/s of reads and 1.2 GB/s of writes on processors of about 3 GHz "
        "(ngxstorage.com, nconnect), 1.5 to 2.5 cycles/B in all, of which TCP has some 0.5",
    )
    stable: Annotated[Quantity, Unit("s", spread=0.5)] = prior(
        "0 s", 0.0, "async export: answers before stable storage"
    )

    def requests(self, row: Row) -> Value:
        """Attributes that expired and names seen first are asked for besides."""
        return row.value(self.revalidation)

    def window(self, row: Row) -> Value:
        """Bytes that a sequential reader has in flight."""
        return row.value(self.read_ahead) if self.read_ahead is not None else READ_AHEAD * row.value(self.rsize)

    def answers(self, row: Row, use: Access) -> Value | None:
        """A whole read-ahead is asked for at once, when the reader enters the one before it (Linux mm/readahead.c)."""
        return self.window(row) if use.operation == "read" else None

    def request_wait(self, row: Row, use: Access, host: Host, volume: str) -> Value:
        """A round trip, less what the slots are charged for it; what a call asks for goes out together."""
        del host, volume
        size = row.value(self.rsize if use.operation == "read" else self.wsize)
        charged = use.block_B / np.minimum(size, use.block_B) / (row.value(self.slots) * self.nconnect)
        return self.answer_time(row, use) / use.block_B * np.maximum(1.0 - charged, 0.0)

    def answer_time(self, row: Row, use: Access) -> Value:
        """Seconds from one request to its answer."""
        stable = row.value(self.stable) if use.operation == "write" else 0.0
        return use.rtt_s + row.value(self.service) + stable

    def medium(self, row: Row, use: Access, host: Host, volume: str) -> None:
        """Slots and read-ahead of this mount; the network and the server's own volume are charged by the composer."""
        del host
        size = row.value(self.rsize if use.operation == "read" else self.wsize)
        alone = use.random or use.finish in ("direct", "dsync")
        if alone:
            size = np.minimum(size, use.block_B)  # nothing joins them
        wait = self.answer_time(row, use)
        label = volume.strip("/").replace("/", "-") or "root"
        row.charge(
            f"{label}.nfs-slots",
            "nfs",
            capacity=row.value(self.slots) * self.nconnect,
            unit="s",
            per_byte=wait / size,
            what=f"NFS {use.operation} requests in flight",
            formula=f"{self.slots} slots x {self.nconnect} connections",
            source=self.slots.source,
            cost=f"(RTT + {self.service}) per {self.rsize if use.operation == 'read' else self.wsize}",
        )

        if use.operation == "read" and not alone:
            row.charge(
                f"{label}.read-ahead",
                "nfs",
                capacity=max(use.own_streams, 1) * cache.readahead_rate(np.inf, self.window(row), wait),
                private=True,
                what="NFS read-ahead over the round trip",
                formula=f"{max(use.own_streams, 1)} reader(s) x "
                + (f"{self.read_ahead}" if self.read_ahead is not None else f"{READ_AHEAD} x {self.rsize}")
                + f" / (RTT + {self.service})",
                source=self.read_ahead.source if self.read_ahead is not None else "Linux before 5.4: NFS_MAX_READAHEAD",
            )

    def slots_for(self, rate: Value, rtt_s: Value) -> Value:
        """Requests in flight that a rate needs."""
        return nfs.slots_needed(rate, self.wsize.value, rtt_s, self.service.value)
