"""NFS: requests in flight over a round trip, one connection or a few, a round trip for every file operation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from dtnsim.components.access import Access
from dtnsim.components.filesystem import LocalFilesystem
from dtnsim.ledger import Row
from dtnsim.physics import nfs
from dtnsim.quantity import Quantity, Unit, Value, prior

if TYPE_CHECKING:
    from dtnsim.host import Host


class Nfs(LocalFilesystem):
    """An NFS mount; the volume's ``server`` names host and volume that export it."""

    kind: ClassVar[str] = "nfs"

    rsize: Annotated[Quantity, Unit("B", low=512, high=2**20)] = prior("1 MiB", 0.0, "nfs(5): negotiated maximum")
    wsize: Annotated[Quantity, Unit("B", low=512, high=2**20)] = prior("1 MiB", 0.0, "nfs(5): negotiated maximum")
    slots: Annotated[Quantity, Unit("1", low=1, spread=0.3)] = prior(
        "128", 0.7, "assumed: sunrpc slot table, 16 fixed on old kernels, dynamic to 65536 on newer (SUSE KB 7023238)"
    )
    nconnect: Annotated[int, Field(ge=1, le=16)] = 1
    service: Annotated[Quantity, Unit("s", spread=0.5)] = prior(
        "0.3 ms", 0.7, "assumed: time of one READ or WRITE at the server"
    )
    stable: Annotated[Quantity, Unit("s", spread=0.5)] = prior(
        "0 s", 0.0, "async export: answers before stable storage"
    )

    def medium(self, row: Row, use: Access, host: Host, volume: str) -> None:
        """Slots of this mount; the network and the server's own volume are charged by the composer."""
        del host
        size = row.value(self.rsize if use.operation == "read" else self.wsize)
        wait = use.rtt_s + row.value(self.service)
        if use.operation == "write":
            wait = wait + row.value(self.stable)
        label = volume.strip("/").replace("/", "-")
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

    def slots_for(self, rate: Value, rtt_s: Value) -> Value:
        """Requests in flight that a rate needs."""
        return nfs.slots_needed(rate, self.wsize.value, rtt_s, self.service.value)
