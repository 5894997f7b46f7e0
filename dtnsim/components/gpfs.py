"""GPFS (Spectrum Scale): blocks striped over all NSDs, prefetch threads, pagepool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from dtnsim.components.access import Access
from dtnsim.components.filesystem import LocalFilesystem
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, prior
from dtnsim.physics import gpfs

if TYPE_CHECKING:
    from dtnsim.description.host import Host


class Gpfs(LocalFilesystem):
    """A GPFS client mount; the NSD servers are shared with everybody."""

    kind: ClassVar[str] = "gpfs"

    block: Annotated[Quantity, Unit("B", low=16384)] = prior(
        "4 MiB", 0.5, "assumed: block size of large file systems, 1 to 8 MiB"
    )
    prefetch: Annotated[int, Field(ge=1, le=10000)] = 72
    pagepool: Annotated[Quantity, Unit("B", low=2**20)] = prior("1 GiB", 0.3, "IBM Spectrum Scale: default pagepool")
    latency: Annotated[Quantity, Unit("s", spread=0.4)] = prior(
        "20 ms", 0.6, "assumed: one block from disk NSDs under load"
    )
    nsds: Annotated[int, Field(ge=1, le=100000)] = 100
    nsd_rate: Annotated[Quantity, Unit("B/s", spread=0.3, low=1e5)] = prior(
        "500 MB/s", 0.5, "assumed: one NSD (RAID group of ten disks) of the 2010s"
    )
    share: Annotated[Quantity, Unit("1", spread=0.5, high=1.0)] = prior(
        "0.4", 0.7, "assumed: what other users leave of the servers at a random hour"
    )
    metadata_time: Annotated[Quantity, Unit("s", spread=0.4)] = prior(
        "1 ms", 0.6, "assumed: token round trips of one metadata operation"
    )

    def medium(self, row: Row, use: Access, host: Host, volume: str) -> None:
        """Prefetch or write-behind of this node, the servers, then the storage network."""
        label = volume.strip("/").replace("/", "-") or "root"
        flight = gpfs.blocks_in_flight(self.prefetch, row.value(self.block), row.value(self.pagepool))
        row.charge(
            f"{label}.prefetch",
            "gpfs",
            capacity=gpfs.prefetch_rate(flight, row.value(self.block), row.value(self.latency)),
            what="GPFS blocks in flight",
            formula=f"blocks in flight x {self.block} / {self.latency}",
            source=self.latency.source,
        )
        touched = gpfs.nsds_touched(use.file_B, row.value(self.block), self.nsds)
        row.charge(
            f"{label}.servers",
            "gpfs",
            capacity=touched * row.value(self.nsd_rate) * row.value(self.share),
            what="GPFS NSD servers shared with other users",
            formula=f"NSDs x {self.nsd_rate} x {self.share} left by others",
            source=self.share.source,
        )
        host.storage_network(row, use, volume)

    def request_wait(self, row: Row, use: Access, host: Host, volume: str) -> Value:
        """One block from a server."""
        del host, volume
        return row.value(self.latency) / use.block_B

    def operation_time(self, row: Row, operation: str, host: Host) -> Value:
        """Token and inode round trips."""
        del operation, host
        return row.value(self.metadata_time)
