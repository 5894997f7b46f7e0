"""No file system: requests go to the block device itself (/dev/nvme0n1, /dev/md0, a logical volume)."""

from __future__ import annotations

from typing import Annotated, ClassVar

from dtnsim.components.access import Access
from dtnsim.components.filesystem import LocalFilesystem
from dtnsim.components.machine import Machine
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, prior


class NoFilesystem(LocalFilesystem):
    """A block device that programs open: behind the page cache, unless requests are direct.

    Nothing is allocated, there is no journal and no inode; a flush is that of the drives alone.

    Neglects: what a partition that begins within a stripe or a page of flash costs.
    """

    kind: ClassVar[str] = "none"

    op_time: Annotated[Quantity, Unit("s", spread=0.5)] = prior(
        "5 us", 0.7, "assumed: open and close of a device file, system calls of 2 to 10 us"
    )

    def flush_wait(self, row: Row, use: Access, host: Machine, volume: str) -> Value:
        """One flush of the drives' memory, or one positioning of a disk; as stated where it is stated."""
        array = host.volumes[volume].array
        if self.states("sync_latency") or array is None or array.keeps_writes:
            return super().flush_wait(row, use, host, volume)
        emptied = array.flush_time(row)
        if emptied is not None:
            return (emptied + array.turnaround(row)).value
        if not array.rotates:
            return super().flush_wait(row, use, host, volume)
        return array.latency(row, use.but(operation="write", random=True, finish="dsync"))
