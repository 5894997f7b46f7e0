"""ZFS: records, transaction groups, its own cache; every write costs a transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np

from dtnsim.components.access import Access
from dtnsim.components.filesystem import LocalFilesystem
from dtnsim.components.stack import Stack
from dtnsim.ledger import Row
from dtnsim.physics.core_rates import CORE_RATES
from dtnsim.quantity import Quantity, Unit, Value, prior

if TYPE_CHECKING:
    from dtnsim.host import Host

_COMPRESSORS = {"lz4": "lz4_compress", "zstd": "zstd1_compress", "gzip": "zlib6_compress"}


class Zfs(LocalFilesystem):
    """ZFS on Linux.

    A write of part of a record costs ``write_call`` cycles besides its bytes; a write of whole
    records skips the partial-record path and costs ``record_call`` a record.
    """

    kind: ClassVar[str] = "zfs"

    recordsize: Annotated[Quantity, Unit("B", low=512, high=2**24)] = prior("128 KiB", 0.0, "OpenZFS default")
    checksum: Literal["off", "on", "fletcher2", "fletcher4", "sha256"] = "on"
    compression: Literal["off", "lz4", "zstd", "gzip"] = "off"
    ratio: Annotated[Quantity, Unit("1", low=1.0, high=1000.0)] = prior("1", 0.0, "incompressible data")
    write_byte: Annotated[Quantity, Unit("cycles/B", spread=0.2)] = prior(
        "0.75 cycles/B", 0.3, "assumed: copy into the ARC and transaction bookkeeping, as the page cache"
    )
    write_call: Annotated[Quantity, Unit("cycles", spread=0.3)] = prior(
        "12000 cycles", 0.5, "assumed: dmu_tx assign, hold and commit of a partial record, a few microseconds"
    )
    record_call: Annotated[Quantity, Unit("cycles", spread=0.5)] = prior(
        "20000 cycles", 0.7, "assumed: transaction of a whole record that is borrowed, not copied twice"
    )
    read_byte: Annotated[Quantity, Unit("cycles/B", spread=0.2)] = prior(
        "0.4 cycles/B", 0.3, "assumed: copy from the ARC, as from the page cache"
    )
    read_call: Annotated[Quantity, Unit("cycles", spread=0.3)] = prior(
        "5000 cycles", 0.5, "assumed: lookup of a cached record and system call"
    )
    pipeline_byte: Annotated[Quantity, Unit("cycles/B", spread=0.3)] = prior(
        "1.2 cycles/B", 0.5, "assumed: allocation, parity and I/O of one byte on the taskq threads, all cores"
    )
    dirty_max: Annotated[Quantity, Unit("B", spread=0.1)] = prior(
        "4 GiB", 0.3, "OpenZFS module parameter zfs_dirty_data_max: 10 % of memory, at most 4 GiB"
    )

    def cycles(self, row: Row, use: Access, stack: Stack) -> tuple[Value, str]:
        """Bytes and transactions."""
        del stack  # ZFS brings its own cache and its own costs
        record = row.value(self.recordsize)
        if use.operation == "read":
            return row.value(self.read_byte) + row.value(self.read_call) / use.block_B, f"{self.read_byte} + call"
        partial = row.value(self.write_call) / use.block_B
        whole = row.value(self.record_call) / record
        per_call = np.where(use.block_B >= record, whole, np.maximum(partial, whole))
        return row.value(self.write_byte) + per_call, (
            f"{self.write_byte} + {self.write_call} per {use.block_B:.0f} B (whole records: {self.record_call})"
        )

    def cache_limits(self, row: Row, host: Host) -> tuple[Value, Value]:
        """A transaction group starts to sync early; writers are delayed near ``dirty_max``."""
        del host
        limit = row.value(self.dirty_max)
        # zfs_dirty_data_sync_percent starts a txg at 20 %, the write throttle begins at 60 % (OpenZFS)
        return 0.2 * limit, limit

    def medium(self, row: Row, use: Access, host: Host, volume: str) -> None:
        """Checksum, compression and parity on all cores, then the array with the stored bytes."""
        stored = 1.0 if self.compression == "off" else 1.0 / row.value(self.ratio)
        extra, words = self._transform()
        host.pool(row, row.value(self.pipeline_byte) + extra, f"ZFS pipeline{words}", self.pipeline_byte.source)
        super().medium(row.times(stored), use, host, volume)

    def _transform(self) -> tuple[float, str]:
        """Cycles per byte of checksum and compression, and their names."""
        cost, words = 0.0, ""
        if self.checksum != "off":
            cost += CORE_RATES["sha256_ni" if self.checksum == "sha256" else "fletcher4_ssse3"].cycles_per_byte
            words += f", {self.checksum} checksum"
        if self.compression != "off":
            cost += CORE_RATES[_COMPRESSORS[self.compression]].cycles_per_byte
            words += f", {self.compression} compression"
        return cost, words
