"""xfs on local drives."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from dtnsim.components.access import Operations
from dtnsim.components.filesystem import ExtentFilesystem, label_of
from dtnsim.components.machine import Machine
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, prior
from dtnsim.ground.term import Term, law
from dtnsim.physics import journal


class Xfs(ExtentFilesystem):
    """xfs behind the Linux page cache; its costs are the kernel's (see `stack`).

    Every change of metadata takes ``log_record`` of the log, ten times that on kernels without delayed logging (before
    2.6.39); the log goes no faster than its ``logbufs`` buffers of ``logbsize`` are written.
    """

    kind: ClassVar[str] = "xfs"
    #: 512-B inodes, written in clusters of 32; directory entries of some 64 B (XFS algorithms and data structures)
    metadata_writes: ClassVar[float] = 1 / 32 + 1 / 64

    log_size: Annotated[Quantity, Unit("B", low=2**20)] = prior(
        "512 MiB", 1.0, "mkfs.xfs(8): 1/2048 of the file system, up to 2 GiB; assumed: one of 1 TiB"
    )
    logbufs: Annotated[int, Field(ge=2, le=8)] = 8
    logbsize: Annotated[Quantity, Unit("B", low=16384, high=2**18)] = prior(
        "32 KiB", 0.0, "Linux, xfs-delayed-logging-design: 8 log buffers of 32 KiB each by default"
    )
    log_record: Annotated[Quantity, Unit("B", spread=0.5)] = prior(
        "400 B", 0.5, "assumed: inode core of 176 B, its log headers, and its part of directory and allocation blocks"
    )

    def metadata(self, row: Row, asked: Operations, host: Machine, volume: str) -> None:
        """Charges the log with what changes directories and inodes."""
        array = host.volumes[volume].array
        if not asked.changes or array is None:
            return
        kernel = tuple(int(part) for part in host.stack.kernel.split("."))
        delayed = kernel >= journal.DELAYED_SINCE
        logged = law(journal.logged_bytes, record_B=row.term(self.log_record), stale=0.0 if delayed else journal.STALE)
        rate = law(
            journal.log_rate,
            buffers=self.logbufs,
            buffer_B=row.term(self.logbsize),
            write_s=array.turnaround(row),
            rate=array.media_rate(row, "write"),
        )
        row.charge(
            f"{label_of(volume)}.log",
            self.kind,
            capacity=rate,
            per_byte=Term(asked.changes, f"{asked.changes:.7g}") * logged,
            what="log of changes to files and directories",
            remedy=f"larger log buffers (hosts.{host.name}.volumes.{volume}.filesystem.logbsize; mount -o logbsize)",
        )
