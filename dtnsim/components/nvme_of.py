"""NVMe over Fabrics: remote NVMe drives over TCP or RDMA."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from dtnsim.components.remote_block import RemoteBlock
from dtnsim.ground.quantity import Quantity, Unit, prior


class NvmeOf(RemoteBlock):
    """Namespaces of NVMe targets (``nvme connect -t tcp|rdma --nr-io-queues --queue-size``).

    Neglects: in-capsule data; digests of TCP; multipath policies beyond an even spread.

    Attributes:
        connections: I/O queues to all targets together (--nr-io-queues; the kernel makes one for each core).
        depth: Requests that one queue takes (--queue-size).
    """

    kind: ClassVar[str] = "nvme-of"

    connections: Annotated[int, Field(ge=1, le=4096)] = 8
    round_trip: Annotated[Quantity, Unit("s", spread=0.4)] | None = None
    protocol_byte: Annotated[Quantity, Unit("cycles/B", spread=0.5)] = prior(
        "0.05 cycles/B",
        0.8,
        "assumed: a command, its completion and an interrupt for each 128 KiB, some thousand cycles",
    )

    ROUND_TRIP: ClassVar[dict[str, Quantity]] = {
        "tcp": prior("32 us", 0.4, "nvme-tcp.com, NVMe/TCP vs NVMe/RDMA: 25 to 40 us"),
        "rdma": prior("15 us", 0.4, "nvme-tcp.com, NVMe/TCP vs NVMe/RDMA: 10 to 20 us"),
    }
