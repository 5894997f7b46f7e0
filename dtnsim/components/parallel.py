"""What parallel file systems have in common: files striped over targets, a request's way to one, metadata servers."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from dtnsim.components.access import Access
from dtnsim.components.machine import Machine
from dtnsim.components.servers import Servers, SharedFilesystem
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value
from dtnsim.ground.term import Term, law
from dtnsim.physics import cache, servers


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
        """Servers of a transfer's own files, which their stripes fall on at random."""
        return self._fallen_on(row, use, made.count)

    def _fallen_on(self, row: Row, use: Access, number: int) -> Term | None:
        own = self.stripes(row, use.file_B)
        return None if own is None else law(servers.occupied, items=max(use.own_streams, 1), bins=number, each=own)

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
