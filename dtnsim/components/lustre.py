"""Lustre: a file's stripes on object storage targets, RPCs in flight, and everybody else's load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from pydantic import Field

from dtnsim.components.access import Access
from dtnsim.components.filesystem import LocalFilesystem
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, prior
from dtnsim.physics import lustre

if TYPE_CHECKING:
    from dtnsim.description.host import Host


class Lustre(LocalFilesystem):
    """A Lustre client mount. The targets are shared: ``share`` is what others leave of them.

    Hosts whose mounts name the same ``system`` share its targets with each other as well.
    """

    kind: ClassVar[str] = "lustre"

    system: str | None = None
    stripe_count: Annotated[int, Field(ge=1, le=2000)] = 1
    stripe_size: Annotated[Quantity, Unit("B", low=65536)] = prior("1 MiB", 0.0, "Lustre manual: default stripe size")
    targets: Annotated[int, Field(ge=1, le=100000)] = 100
    target_rate: Annotated[Quantity, Unit("B/s", spread=0.3, low=1e5)] = prior(
        "1 GB/s", 0.6, "assumed: one OST of ten disks in a production system of the 2010s"
    )
    share: Annotated[Quantity, Unit("1", spread=0.6, high=1.0)] = prior(
        "0.4", 0.7, "assumed: what other users leave of a busy scratch system at a random hour"
    )
    stream: Annotated[Quantity, Unit("B/s", spread=0.5, low=1e5)] = prior(
        "425 MB/s",
        0.6,
        "Swinburne gSTAR, Lustre in production: 350 to 500 MB/s for a single stream of one OST; "
        "idle test beds give a single client 0.93 to 1.5 GB/s (Dell HPC Lustre storage white papers)",
    )
    rpcs: Annotated[int, Field(ge=1, le=4096)] = 8
    rpc_size: Annotated[Quantity, Unit("B", low=65536)] = prior(
        "4 MiB", 0.0, "Lustre manual: default RPC size (max 16 MiB)"
    )
    latency: Annotated[Quantity, Unit("s", spread=0.4)] = prior(
        "4 ms", 0.6, "assumed: one bulk RPC of a disk OST under load, network included"
    )
    client_rate: Annotated[Quantity, Unit("B/s", spread=0.2)] = prior(
        "4.5 GB/s", 0.3, "Lustre manual: single-client rate known in production (FDR InfiniBand)"
    )
    metadata_time: Annotated[Quantity, Unit("s", spread=0.4)] = prior(
        "1 ms", 0.5, "Lustre manual: 1000 metadata operations a second per client"
    )

    def medium(self, row: Row, use: Access, host: Host, volume: str) -> None:
        """RPC window and targets of this access, the client's ceiling, then the storage network."""
        label = volume.strip("/").replace("/", "-") or "root"
        stripes = lustre.file_stripes(use.file_B, self.stripe_count, row.value(self.stripe_size))
        files = max(use.own_streams, 1)
        row.charge(
            f"{label}.rpcs",
            "lustre",
            private=True,
            capacity=files
            * stripes
            * lustre.osc_rate(self.rpcs, row.value(self.rpc_size), 0.0, row.value(self.latency)),
            what=f"Lustre RPCs in flight to {float(np.mean(stripes)):.0f} stripe(s)",
            formula=f"{files} file(s) x stripes x {self.rpcs} x {self.rpc_size} / {self.latency}",
            source=self.latency.source,
        )
        row.charge(
            f"{label}.stream",
            "lustre",
            private=True,
            capacity=files * stripes * row.value(self.stream),
            what=f"single Lustre stream from {float(np.mean(stripes)):.0f} stripe(s)",
            formula=f"{files} file(s) x stripes x {self.stream}",
            source=self.stream.source,
        )
        used = lustre.occupied_targets(max(use.streams, 1), self.targets, stripes)
        # of several clients the targets are one set of stations, named after the file system
        (row if self.system is None else row.at(self.system)).charge(
            "targets" if self.system is not None else f"{label}.targets",
            "lustre",
            capacity=used * row.value(self.target_rate) * row.value(self.share),
            what=f"Lustre targets shared with other users ({float(np.mean(used)):.1f} OST of {self.targets})",
            formula=f"OSTs x {self.target_rate} x {self.share} left by others",
            source=self.share.source,
        )
        row.charge(
            f"{label}.client",
            "lustre",
            capacity=row.value(self.client_rate),
            what="Lustre client",
            formula=str(self.client_rate),
            source=self.client_rate.source,
        )
        host.storage_network(row, use, volume)

    def request_wait(self, row: Row, use: Access, host: Host, volume: str) -> Value:
        """One RPC to a target."""
        del host, volume
        return row.value(self.latency) / use.block_B

    def operation_time(self, row: Row, operation: str, host: Host) -> Value:
        """One metadata RPC to the MDS."""
        del operation, host
        return row.value(self.metadata_time)
