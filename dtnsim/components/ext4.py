"""ext4 on local drives."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from dtnsim.components.access import Access
from dtnsim.components.filesystem import ExtentFilesystem
from dtnsim.components.machine import Machine
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, prior
from dtnsim.ground.term import law
from dtnsim.physics import journal


class Ext4(ExtentFilesystem):
    """ext4 behind the Linux page cache; its costs are the kernel's (see `stack`).

    With ``data: journal`` the data go through the journal too and are written twice. Without delayed allocation a
    commit of the journal writes the data too, every ``commit`` seconds.
    """

    kind: ClassVar[str] = "ext4"
    #: 256-B inodes, 16 in a 4-KiB block; directory entries of some 64 B (kernel.org, ext4 disk layout)
    metadata_writes: ClassVar[float] = 1 / 16 + 1 / 64

    data: Literal["ordered", "writeback", "journal"] = "ordered"
    delalloc: Annotated[bool, Field(description="False with nodelalloc: blocks are allocated when written to")] = True
    commit: Annotated[Quantity, Unit("s", low=0.1)] = prior("5 s", 0.0, "kernel.org, ext4: commit=nrsec, default 5")

    def dirty_age(self, row: Row, host: Machine) -> Value:
        """A commit takes the data of all blocks that it allocates with it."""
        allocated = self.data == "journal" or (self.data == "ordered" and not self.delalloc)
        return law(
            journal.forced_age,
            expire_s=row.term(host.vm.dirty_expire),
            commit_s=row.term(self.commit),
            allocated=float(allocated),
        ).value

    def medium(self, row: Row, use: Access, host: Machine, volume: str) -> None:
        """The array, with what the journal writes."""
        if use.operation == "write" and self.data == "journal":
            row = row.times(law(journal.written_bytes, data_journaled=1.0))
        super().medium(row, use, host, volume)
