"""What parallel file systems and stores of objects have in common: files striped over targets, copies and shards."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from dtnsim.components.access import Access
from dtnsim.components.base import Model
from dtnsim.components.machine import Machine
from dtnsim.components.servers import Servers, SharedFilesystem
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value
from dtnsim.ground.term import Term, law
from dtnsim.physics import cache, redundancy


class Copies(Model):
    """What a pool of objects keeps of each: copies, or the shards of an erasure code.

    Attributes:
        replicas: Copies of an object that is not coded.
        data: Data shards of a coded object; 0 where it is not coded.
        coding: Its coding shards.
    """

    replicas: Annotated[int, Field(ge=1, le=10)] = 1
    data: Annotated[int, Field(ge=0, le=32)] = 0
    coding: Annotated[int, Field(ge=0, le=16)] = 0

    def stored(self) -> Term:
        """Bytes on drives for a byte that is written."""
        return law(redundancy.stored, replicas=self.replicas, data=self.data, coding=self.coding)

    def ports(self, *, reading: bool, here: float = 0.0) -> Term:
        """Bytes that pass the nodes' ports for one that is read or written, copies between them counted.

        Args:
            reading: Whether it is read.
            here: Part of the objects whose primary is on the client's own node.
        """
        stored = self.stored()
        return law(
            redundancy.ceph_port_bytes, stored_per_byte=stored, data=self.data, reading=float(reading), here=here
        )


class ParallelFilesystem(SharedFilesystem):
    """A mount whose client spreads a file over targets, and asks servers for names and attributes.

    Attributes:
        latency: Time of one request for data.
        metadata_time: Time of one metadata operation.
    """

    latency: Annotated[Quantity, Unit("s")]
    metadata_time: Annotated[Quantity, Unit("s")]

    def stripes(self, row: Row, file_B: float) -> Term | None:  # noqa: ARG002 - kinds need them
        """Targets that a file of this size lies on; None where it lies on all."""
        return None

    def touched(self, row: Row, use: Access, made: Servers) -> Term | None:
        """Servers of a transfer's own files, which their stripes fall on."""
        return self._fallen_on(row, use, made.count)

    def _fallen_on(self, row: Row, use: Access, number: int) -> Term | None:
        own = self.stripes(row, use.file_B)
        return None if own is None else self.fallen_on(use, max(use.own_streams, 1), number, own)

    @staticmethod
    def either(use: Access, read: Quantity, write: Quantity | None) -> Quantity:
        """The rate of this operation; where nobody says what is written, it is as what is read.

        Args:
            use: The access.
            read: Rate of reads.
            write: Rate of writes; None where nobody says.
        """
        return read if use.operation == "read" or write is None else write

    def ahead(self, row: Row, use: Access, label: str, window: Quantity, what: str) -> None:
        """Charges a window of read-ahead that each reader has under way.

        Args:
            row: The row to charge.
            use: The access.
            label: Name of the volume's stations.
            window: Bytes that each reader has under way.
            what: The activity, in words.
        """
        wait = self.away(row.term(self.latency), use)
        rate = law(cache.readahead_rate, disk_rate=np.inf, window_B=row.term(window), latency_s=wait)
        self.of_each(row, use, f"{label}.read-ahead", rate, what, "reader")

    def request_wait(self, row: Row, use: Access, host: Machine, volume: str) -> Value:
        """One request to a target."""
        del host, volume
        return (row.value(self.latency) + use.rtt_s) / use.block_B

    def timed(self, operation: str) -> Quantity:
        """One request to a metadata server."""
        del operation
        return self.metadata_time
