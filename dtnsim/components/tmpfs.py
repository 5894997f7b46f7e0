"""tmpfs: files in memory."""

from __future__ import annotations

from typing import Annotated, ClassVar, Self

from pydantic import model_validator

from dtnsim.components.access import Access
from dtnsim.components.filesystem import PageCached
from dtnsim.components.machine import Machine
from dtnsim.components.stack import Stack
from dtnsim.ground.errors import SpecError
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, prior
from dtnsim.ground.term import Term, law, term
from dtnsim.physics import cpu


class Tmpfs(PageCached):
    """Files that are nowhere but in memory: nothing is written back, nothing is waited for.

    ``huge`` (mount -o huge=always) copies into pages of 2 MiB, which are cleared but hardly cost an allocation.

    Neglects: swap; the page cache that its files leave no room for.

    Attributes:
        huge: Whether it uses huge pages.
    """

    kind: ClassVar[str] = "tmpfs"

    op_time: Annotated[Quantity, Unit("s", spread=0.5)] = prior(
        "5 us", 0.7, "assumed: a system call and an inode in memory, 2 to 10 us"
    )
    huge: bool = False

    @model_validator(mode="after")
    def _nothing_to_sync(self) -> Self:
        if "sync_latency" in self.model_fields_set:
            raise ValueError("sync_latency has no meaning for tmpfs: there is nothing to flush")
        return self

    def sees(self, use: Access) -> Access:
        """Direct and synchronous requests are copies as well."""
        return use if use.operation == "read" and use.finish != "direct" else use.but(finish="steady")

    def cycles(self, row: Row, use: Access, stack: Stack) -> Term:
        """A copy, and where a file grows the pages for it."""
        if not (self.huge and use.operation == "write"):
            return super().cycles(row, use, stack)
        byte = row.term(stack.file_read_byte) + row.term(stack.zero_byte)
        return law(
            cpu.cycles_per_byte, per_byte=byte, per_call=row.term(stack.file_call), call_B=term(use.block_B, "B")
        )

    def medium(self, row: Row, use: Access, host: Machine, volume: str) -> None:
        """Nothing lies below.

        Raises:
            SpecError: the volume has drives.
        """
        del row, use
        if host.volumes[volume].array is not None:
            raise SpecError(
                "is in memory and has no drives",
                key=f"hosts.{host.name}.volumes.{volume}.array",
                remedy="leave it out, or mount another file system",
            )

    def flush_wait(self, row: Row, use: Access, host: Machine, volume: str) -> Value:
        """Nothing to wait for."""
        del row, use, host, volume
        return 0.0
