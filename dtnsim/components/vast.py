"""VAST: NFS over many connections to many server nodes (nconnect, remoteports), over TCP or RDMA."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from dtnsim.components.access import Access
from dtnsim.components.nfs import Nfs
from dtnsim.components.servers import RequestTime, Servers
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, prior
from dtnsim.ground.term import Term, count


class Vast(Nfs):
    """A mount of a VAST cluster; ``servers`` are its server nodes (CNodes), its ``arrays`` the boxes of flash.

    ``nconnect`` connections are spread over ``remoteports`` addresses, so that one mount reaches as many nodes. The
    vendor advises 8 connections for each 100 Gb/s with TCP, 2 with RDMA (kb.vastdata.com, client NFS multipathing).

    Neglects: connections kept for metadata (mdconnect); reads that miss the nodes' caches cost no other time.

    Attributes:
        nconnect: Connections of the mount, spread over the addresses.
        remoteports: Addresses of the cluster that the mount uses.
    """

    kind: ClassVar[str] = "vast"

    nconnect: Annotated[int, Field(ge=1, le=64)] = 1
    remoteports: Annotated[int, Field(ge=1, le=1024)] = 1
    service: RequestTime = prior(
        "0.5 ms", 0.6, "assumed: a request for data at a node whose flash is behind a fabric, 0.3 to 1 ms"
    )
    read_ahead: Annotated[Quantity, Unit("B", spread=0.5, low=4096)] | None = prior(
        "15 MiB", 0.3, "assumed: read_ahead_kb raised as for other NFS appliances (Linux' old default of 15 requests)"
    )

    def touched(self, row: Row, use: Access, made: Servers) -> Term | None:
        """As many nodes as there are addresses with a connection."""
        del row, use
        return count(min(self.remoteports, self.nconnect, made.count), "server")
