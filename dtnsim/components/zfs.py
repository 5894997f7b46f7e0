"""ZFS: records, transaction groups, its own cache; every write costs a transaction."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np

from dtnsim.components.access import Access
from dtnsim.components.filesystem import LocalFilesystem, Stretch
from dtnsim.components.stack import Stack
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, prior
from dtnsim.physics import zfs
from dtnsim.physics.core_rates import CORE_RATES

if TYPE_CHECKING:
    from dtnsim.description.host import Host

_COMPRESSORS = {"lz4": "lz4_compress", "zstd": "zstd1_compress", "gzip": "zlib6_compress"}


class Zfs(LocalFilesystem):
    """ZFS on Linux.

    A call costs ``write_call`` or ``read_call`` besides its bytes; a write of whole records skips the
    partial-record path and costs ``record_call`` a record. What is new in memory costs ``fresh_byte``
    more, what comes from the pool ``fetch_byte``. A random write copies the rest of its record too
    (``rest_byte``), since the record that it changes may still be on its way to the pool.

    Records are read and written whole, so random access to parts of them moves more than is asked for.

    Neglects: records that several random writes of one transaction group meet in; reads that hit the
    ARC by chance in files larger than it.
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
    fresh_byte: Annotated[Quantity, Unit("cycles/B", spread=0.5)] = prior(
        "0.3 cycles/B", 0.6, "assumed: pages for a new record and clearing them before a part is written, 10 GB/s or so"
    )
    rest_byte: Annotated[Quantity, Unit("cycles/B", spread=0.5)] = prior(
        "0.36 cycles/B", 0.5, "lz4 README, memcpy 13.7 GB/s at 4.9 GHz: a byte of the record that a random write leaves"
    )
    jump_call: Annotated[Quantity, Unit("cycles", spread=0.5)] = prior(
        "5000 cycles", 0.6, "assumed: record, dnode and page-table lookups that miss the processor's caches"
    )
    fetch_byte: Annotated[Quantity, Unit("cycles/B", spread=0.5)] = prior(
        "0.1 cycles/B", 0.7, "assumed: prefetch, waking up and ARC insertion where a read comes from the pool"
    )
    pipeline_byte: Annotated[Quantity, Unit("cycles/B", spread=0.3)] = prior(
        "1.2 cycles/B", 0.5, "assumed: allocation, parity and I/O of one byte on the taskq threads, all cores"
    )
    dirty_max: Annotated[Quantity, Unit("B", spread=0.1)] = prior(
        "4 GiB", 0.3, "OpenZFS module parameter zfs_dirty_data_max: 10 % of memory, at most 4 GiB"
    )
    sync_at: Annotated[Quantity, Unit("B", spread=0.1)] | None = None

    def cycles(self, row: Row, use: Access, stack: Stack) -> tuple[Value, str]:
        """Bytes and transactions."""
        block, record = use.block_B, row.value(self.recordsize)
        copy, miss = self._copy(row, use, stack)
        if use.operation == "read":
            call = row.value(self.read_call) + (row.value(self.jump_call) if use.random else 0.0)
            fetch: Value = 0.0 if use.cached else row.value(self.fetch_byte)
            words = f"{self.read_byte} + {self.read_call} per {block:.0f} B" + (
                "" if use.cached else f" + {self.fetch_byte}"
            )
            return copy + miss + fetch + call / block, words + (f" + jump {self.jump_call}" if use.random else "")
        partial = row.value(self.write_call) / block
        if not use.rewrite:
            partial = partial + row.value(self.fresh_byte)
        if use.random:
            partial = partial + row.value(self.rest_byte) * np.maximum(record / block - 1.0, 0.0)
        whole = row.value(self.record_call) / record
        per_call = np.where(block >= record, whole, np.maximum(partial, whole))
        return copy + miss + per_call, (
            f"{self.write_byte} + {self.write_call} per {block:.0f} B (whole records: {self.record_call})"
        )

    def _copy(self, row: Row, use: Access, stack: Stack) -> tuple[Value, Value]:
        """Cycles per byte of the copy, and what the program's buffer adds where it outgrows the processor's cache."""
        byte = stack.hot_byte if use.hot else self.read_byte if use.operation == "read" else self.write_byte
        return row.value(byte), stack.miss(row, use)

    def cache_limits(self, row: Row, host: Host) -> tuple[Value, Value]:
        """A transaction group starts to sync early; writers are delayed near ``dirty_max``."""
        del host
        limit = row.value(self.dirty_max)
        # zfs_dirty_data_sync_percent starts a txg at 20 % since release 0.8, zfs_dirty_data_sync at 64 MiB before
        return 0.2 * limit if self.sync_at is None else row.value(self.sync_at), limit

    def request_size(self, use: Access) -> float:
        """A record is read whole, since its checksum is that of the whole."""
        return max(use.block_B, self.recordsize.value) if use.operation == "read" else use.block_B

    def stretches(self, row: Row, use: Access, host: Host, volume: str) -> tuple[Stretch, ...]:
        """As any file system; a part of a record that is not in memory is read before it is changed."""
        parts = super().stretches(row, use, host, volume)
        array = host.volumes[volume].array
        partial = use.block_B < self.recordsize.value
        if use.operation == "read" or not use.rewrite or use.cached or not partial or array is None:
            return parts
        # zfs_write reads the old record itself, without prefetch (dmu_tx_hold_write): one at a time
        seen = use.but(operation="read", block_B=self.recordsize.value, queue_depth=1)
        wait = array.latency(row, seen) / self.recordsize.value + 1.0 / array.single_rate(row)
        first = replace(
            parts[0], delay=parts[0].delay + wait, what="reading each record before a part of it is changed"
        )
        return (first, *parts[1:])

    def medium(self, row: Row, use: Access, host: Host, volume: str) -> None:
        """Checksum, compression and parity on all cores, then the array with the stored bytes, in whole records."""
        stored: Value = 1.0
        if self.compression != "off":  # zeros vanish, and what is compressed once does not compress again
            stored, use = np.minimum(1.0 / row.value(self.ratio), use.stored), use.but(stored=1.0)
        if use.random:
            row = row.times(zfs.record_amplification(use.block_B, row.value(self.recordsize)))
            # copy on write: new records go out one after the other, wherever the old ones were
            reading = use.operation == "read"
            use = use.but(block_B=max(use.block_B, self.recordsize.value), random=reading)
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
