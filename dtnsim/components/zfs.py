"""ZFS: records, transaction groups, prefetch, its own cache; every write costs a transaction."""

from dataclasses import replace
from typing import Annotated, ClassVar, Final, Literal

import numpy as np
from pydantic import BeforeValidator, Field

from dtnsim.components.access import Access
from dtnsim.components.base import Pick
from dtnsim.components.device import Device
from dtnsim.components.disk_filesystem import LocalFilesystem
from dtnsim.components.filesystem import Stretch, label_of
from dtnsim.components.machine import Machine
from dtnsim.components.offload import WITHOUT_AES
from dtnsim.components.stack import Stack
from dtnsim.components.vdevs import Raidz
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, middle, prior
from dtnsim.ground.term import Term, law, term
from dtnsim.ground.uncertainty import Otherwise, Since
from dtnsim.physics import cache, hdd_streams, zfs
from dtnsim.physics.core_rates import CORE_RATES

#: work on a byte that is stored: operation in `core_rates`, when written and when read
_COMPRESSORS: Final = {
    "lz4": ("lz4_compress", "lz4_decompress"),
    "zstd": ("zstd1_compress", "zstd1_decompress"),
    "gzip": ("zlib6_compress", "zlib6_decompress"),
}
_CHECKSUMS: Final = {"sha256": "sha256_ni", "blake3": "blake3"}
_CIPHERS: Final = {"aes-128-gcm": ("aes128_gcm", 1.0), "aes-256-gcm": ("aes128_gcm", 14 / 10)}  # rounds of AES

#: zfs_vdev_*_max_active of one class of requests (defaults: OpenZFS docs, zfs(4), "ZFS I/O SCHEDULER")
Active = Annotated[int, Field(ge=1, le=100000)]


class Zfs(LocalFilesystem):
    """ZFS on Linux.

    A call costs ``write_call`` or ``read_call`` besides its bytes; a write of whole records skips the
    partial-record path and costs ``record_call`` a record. What is new in memory costs ``fresh_byte``
    more, a record that comes from the pool ``fetch_record``. A random write copies the rest of its record too
    (``rest_byte``), since the record that it changes may still be on its way to the pool.

    Records are read and written whole, so random access to parts of them moves more than is asked for. A transaction
    group writes what all writers brought one after the other, however many they are; readers are read ahead by
    ``prefetch`` bytes each, of which every data disk has its part, and the disks serve the readers in order of place.
    Each drive has only so many requests before it: of readers that are read ahead ``async_read_max_active``, of random
    ones ``sync_read_max_active``, of transaction groups ``async_write_max_active``, of synchronous writes
    ``sync_write_max_active``; neighbours are joined up to ``aggregation_limit``. ``fragmentation`` is what
    ``zpool list`` shows, ``filled`` the part of the pool in use. ``arc_hits`` and ``l2arc_hits`` are the parts of reads
    that arcstat shows there. ``special`` takes files up to ``special_blocks``.

    Neglects: records that several random writes of one transaction group meet in; dedup.
    """

    kind: ClassVar[str] = "zfs"
    inode_block: ClassVar[float] = 1 / 32  # 512-B dnodes in a block that is stored compressed (OpenZFS, dnode.h)
    name_block: ClassVar[float] = 1 / 128  # some in a leaf of 16 KiB (OpenZFS, zap_leaf.h)
    in_page_cache: ClassVar[bool] = False

    change_time: Annotated[Quantity, Unit("s", spread=0.5)] | None = prior(
        "60 us", 0.7, "assumed: a transaction with a directory, an inode and a log record, two to three creates on ext4"
    )
    version: Annotated[
        Literal["0.6", "0.7", "0.8", "2.0", "2.1", "2.2", "2.3", "2.4"],
        BeforeValidator(lambda given: ".".join(str(given).removeprefix("zfs-").split(".")[:2])),  # of 0.8.3 the release
        Otherwise(
            "0.7", "hosts of 2018: aggregation to 128 KiB before 0.8, prefetch to 8 MiB before 2.1 (zfs version)"
        ),
        # Ubuntu 16.04 has 0.6.5, 18.04 0.7.5, 20.04 0.8.3, 22.04 2.1.4, 24.04 2.2.2; Debian 11 has 2.0.3
        Since(((2013, "0.6"), (2018, "0.7"), (2020, "0.8"), (2021, "2.0"), (2022, "2.1"), (2024, None))),
    ] = "2.2"
    recordsize: Annotated[
        Quantity, Unit("B", low=512, high=2**24), Otherwise("1 MiB", "data sets for large files (zfs get recordsize)")
    ] = prior("128 KiB", 0.0, "OpenZFS default")
    checksum: Literal["off", "on", "fletcher2", "fletcher4", "sha256", "blake3"] = "on"
    compression: Annotated[
        Literal["off", "lz4", "zstd", "gzip"],
        Otherwise("lz4", "the default since 2.2 (zfsprops(7); OpenZFS pull 13078)"),
    ] = "off"
    ratio: Annotated[Quantity, Unit("1", low=1.0, high=1000.0)] = prior("1", 0.0, "incompressible data")
    encryption: Literal["off", "aes-128-gcm", "aes-256-gcm"] = "off"
    sync: Annotated[
        Literal["standard", "always", "disabled"], Otherwise("disabled", "servers set up for speed (zfsprops(7), sync)")
    ] = "standard"
    log: Annotated[Device, Pick(Device)] | None = None
    special: Annotated[Device, Pick(Device)] | None = None
    special_blocks: Annotated[Quantity, Unit("B")] = prior("0 B", 0.0, "special_small_blocks: metadata only")
    l2arc: Annotated[Device, Pick(Device)] | None = None
    l2arc_hits: Annotated[Quantity, Unit("1", high=1.0)] = prior("0", 0.0, "a cold cache device")
    arc_hits: Annotated[Quantity, Unit("1", high=1.0)] = prior("0", 0.0, "data that are read once")
    arc_max: Annotated[Quantity, Unit("B")] | None = None
    prefetch: Annotated[Quantity, Unit("B", low=4096)] | None = None
    sync_read_max_active: Active = 10
    sync_write_max_active: Active = 10
    async_read_max_active: Active = 3
    async_write_max_active: Active = 10
    aggregation_limit: Annotated[Quantity, Unit("B", high=2**24)] | None = None
    fragmentation: Annotated[Quantity, Unit("1", high=1.0)] = prior("0", 0.0, "a fresh pool")
    filled: Annotated[Quantity, Unit("1", high=0.99)] = prior("0.5", 0.5, "assumed: half full")
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
    fetch_record: Annotated[Quantity, Unit("cycles", spread=0.5)] = prior(
        "100000 cycles",
        0.5,
        "OpenZFS pull 13452: one thread reads a wide NVMe pool at 2.5 GB/s; 3 GHz and records of 128 KiB assumed, less "
        "read_byte and read_call",
    )
    pipeline_byte: Annotated[Quantity, Unit("cycles/B", spread=0.3)] = prior(
        "1.2 cycles/B", 0.5, "assumed: allocation and I/O of one byte on the taskq threads, all cores"
    )
    dirty_max: Annotated[Quantity, Unit("B", spread=0.1)] | None = None
    sync_at: Annotated[Quantity, Unit("B", spread=0.1)] | None = None
    txg_timeout: Annotated[Quantity, Unit("s", low=0.1)] = prior("5 s", 0.0, "OpenZFS module parameter zfs_txg_timeout")
    commit_time: Annotated[Quantity, Unit("s", spread=0.6)] = prior(
        "0.1 ms",
        0.6,
        "assumed: zil_commit hands a write to four threads (issue, interrupt, flush, waiter), 10 to 40 us each",
    )
    sync_passes: Annotated[Quantity, Unit("1", high=100.0)] = prior(
        "6", 0.4, "assumed: spa_sync settles in 3 to 8 passes (zfs_sync_pass_dont_compress = 8), and writes two labels"
    )

    def cycles(self, row: Row, use: Access, stack: Stack) -> Term:
        """Bytes and transactions; what is direct (from release 2.3 on) is not copied, its pages are pinned."""
        block = term(use.block_B, "B")
        if use.finish == "direct":
            record = self.read_call if use.operation == "read" else self.record_call
            return (row.term(stack.direct_call) + row.term(record)) / block
        byte = self.read_byte if use.operation == "read" else self.write_byte
        work = row.term(stack.hot_byte if use.hot else byte) + stack.miss(row, use)
        if use.operation == "read":
            call = row.term(self.read_call) + (row.term(self.jump_call) if use.random else term(0.0, "cycles"))
            work = work + call / block
            return work if use.cached else work + self._fetched(row, use)
        partial = term(0.0, "cycles/B") if use.rewrite else row.term(self.fresh_byte)
        if use.random:
            rest = np.maximum(row.value(self.recordsize) / use.block_B - 1.0, 0.0)
            partial = partial + row.term(self.rest_byte) * term(rest)
        calls = {"call_cycles": row.term(self.write_call), "record_cycles": row.term(self.record_call)}
        size = row.term(self.recordsize)
        return work + law(zfs.write_cycles, write_B=block, recordsize_B=size, **calls, partial_byte=partial)

    def _fetched(self, row: Row, use: Access) -> Term:
        """Cycles per byte on records that come from the pool; a sequential reader meets each of them once."""
        record = term(self._record(use), "B")
        read_B = term(use.block_B, "B") if use.random else record
        return law(zfs.fetch_cycles, read_B=read_B, recordsize_B=record, record_cycles=row.term(self.fetch_record))

    def sees(self, use: Access) -> Access:
        """Direct I/O begins with release 2.3, of whole records where it writes; other calls for it are buffered.

        Either way a call of libaio returns when it is done, so that it keeps one request in flight (OpenZFS
        zfs_vnops.c: zfs_read and zfs_write wait; openzfs/zfs 18660 shows it for release 2.4).
        """
        if use.finish == "direct":
            use = use.but(queue_depth=use.queue_depth if use.submits else 1)
            if zfs.release(self.version) < (2, 3) or (use.operation == "write" and use.block_B < self.recordsize.value):
                use = use.but(finish="steady")
        if use.operation == "write" and self.sync == "always" and use.finish in ("none", "fdatasync", "steady"):
            return use.but(finish="dsync")
        if self.sync == "disabled" and use.finish in ("dsync", "fdatasync"):
            return use.but(finish="none" if use.finish == "fdatasync" else "steady")
        return use

    def by_free_memory(self, host: Machine) -> bool:
        """The limit on dirty data does not mind what programs hold."""
        return False

    def cache_limits(self, row: Row, host: Machine, held_B: float = 0.0) -> tuple[Value, Value]:
        """A transaction group starts to sync early; writers are delayed from 60 % of ``dirty_max`` on."""
        limit = self._dirty_max(row, host).value
        # zfs_dirty_data_sync_percent starts a txg at 20 % since release 0.8, zfs_dirty_data_sync at 64 MiB before
        start = 0.2 * limit if zfs.release(self.version) >= (0, 8) else np.minimum(64.0 * 2**20, limit)
        start = start if self.sync_at is None else row.value(self.sync_at)
        array = next((v.array for v in host.volumes.values() if v.filesystem is self), None)
        if array is None:
            return start, limit
        pool = array.media_rate(row, "write").value
        return start, zfs.balanced_dirty(row.value(self.recordsize), pool, limit)

    def _dirty_max(self, row: Row, host: Machine) -> Term:
        if self.dirty_max is not None:
            return row.term(self.dirty_max)
        memory = row.term(host.memory.size)
        ceiling = memory / 4.0 if zfs.release(self.version) < (0, 7) else term(zfs.DIRTY_MAX_B, "B")
        return law(zfs.dirty_limit, ram_B=memory, share=zfs.DIRTY_RAM_SHARE, ceiling_B=ceiling)

    def dirty_age(self, row: Row, host: Machine) -> Value:
        """A transaction group closes after ``txg_timeout``, however little it holds."""
        return row.value(self.txg_timeout)

    def memory_pool(self, host: str, volume: str) -> str:
        """Each pool has its own limit on dirty data."""
        return f"{host}{volume}"

    def request_size(self, use: Access) -> float:
        """A record is read whole, since its checksum is that of the whole."""
        return max(use.block_B, self.recordsize.value) if use.operation == "read" else use.block_B

    def flush_wait(self, row: Row, use: Access, host: Machine, volume: str) -> Value:
        """The intent log's next block is written, on its own device or in the pool.

        What keeps writes when power fails answers at once; a disk has just passed the place of the next block, so it
        turns once; flash that must empty its memory does that.
        """
        device = self.log if self.log is not None else host.volumes[volume].array
        emptied = None if device is None else device.flush_time(row)
        modelled = device is not None and (device.keeps_writes or device.rotates or emptied is not None)
        if self.states("sync_latency") or device is None or not modelled:
            return row.value(self.sync_latency)
        if emptied is not None and not device.keeps_writes:
            log = emptied + device.turnaround(row)
        elif device.keeps_writes:
            log = term(device.latency(row, use.but(operation="write", random=False)), "s")
        else:
            log = 2.0 * device.turnaround(row)
        return law(zfs.commit_time, log_s=log, threads_s=row.term(self.commit_time)).value

    def stretches(self, row: Row, use: Access, host: Machine, volume: str) -> tuple[Stretch, ...]:
        """As any file system; a part of a record that is not in memory is read before it is changed."""
        parts = super().stretches(row, use.but(record_B=self._record(use)), host, volume)
        array = host.volumes[volume].array
        partial = use.block_B < self.recordsize.value
        if use.operation == "read" or not use.rewrite or use.cached or not partial or array is None:
            return parts
        # zfs_write reads the old record itself, without prefetch (dmu_tx_hold_write): one at a time
        seen = use.but(operation="read", block_B=self.recordsize.value, record_B=self.recordsize.value, queue_depth=1)
        wait = array.latency(row, seen) / self.recordsize.value + 1.0 / array.single_rate(row, seen)
        text = "reading each record before a part of it is changed"
        return tuple(replace(part, delay=term(wait * part.cpu, "s/B") + part.delay, what=text) for part in parts)

    def _record(self, use: Access) -> float:
        """Bytes of a record; a smaller file is one of its own size."""
        return min(self.recordsize.value, max(use.file_B, 512.0))

    def cached_part(self, row: Row, use: Access, host: Machine) -> Value:
        """Part of a re-read file that the ARC still has."""
        share = 0.5 if zfs.release(self.version) < (2, 3) else 0.9
        arc = zfs.arc_limit(row.value(host.memory.size), share) if self.arc_max is None else row.value(self.arc_max)
        return cache.resident_share(use.total_B, arc, 1.0)

    def medium(self, row: Row, use: Access, host: Machine, volume: str) -> None:
        """Checksum, compression and parity on all cores, then the array with the stored bytes, in whole records."""
        stored: Value = 1.0
        if self.compression != "off":  # zeros vanish, and what is compressed once does not compress again
            stored, use = np.minimum(1.0 / row.value(self.ratio), use.stored), use.but(stored=1.0)
        scattered = use.random
        if use.random:
            row = row.times(law(zfs.record_amplification, write_B=use.block_B, recordsize_B=row.term(self.recordsize)))
            # copy on write: new records go out one after the other, wherever the old ones were
            use = use.but(block_B=max(use.block_B, self.recordsize.value), random=use.operation == "read")
        use = use.but(record_B=self._record(use), scheduled=True)
        extra, words = self._transform(use, host.volumes[volume].array)
        host.pool(row, row.term(self.pipeline_byte) + extra, f"ZFS pipeline{words}")
        below = row.times(term(stored))
        if use.operation == "read":
            self._read(below, use, host, volume)
        else:
            self._write(below, use, host, volume, scattered=scattered)

    def _read(self, row: Row, use: Access, host: Machine, volume: str) -> None:
        """What neither cache has comes from the special devices or the pool."""
        row = row.times(term(1.0) - row.term(self.arc_hits))
        if self.l2arc is not None:
            self.l2arc.serve(row.times(row.term(self.l2arc_hits)), use, f"{label_of(volume)}-l2arc")
            row = row.times(term(1.0) - row.term(self.l2arc_hits))
        self._pool(row, use, host, volume, self._ahead(row))

    def _ahead(self, row: Row) -> Term:
        return row.term(self.prefetch) if self.prefetch is not None else law(zfs.prefetch_bytes, version=self.version)

    def ahead_B(self, row: Row, use: Access) -> Value:
        """The prefetcher's distance; requests that several threads bring at once are no stream to the older ones."""
        lost = use.queue_depth > 1 and zfs.release(self.version) < zfs.REORDERS
        return 0.0 if lost else self._ahead(row).value

    def _write(self, row: Row, use: Access, host: Machine, volume: str, *, scattered: bool) -> None:
        """Transaction groups write all streams one after the other; the intent log takes synchronous ones first."""
        if use.finish == "dsync" and self.log is not None:
            self.log.serve(row, self._queued(use.but(random=False), self.log), f"{label_of(volume)}-log")
            use = use.but(finish="steady")
        elif use.finish == "dsync":
            row = row.times(law(zfs.zil_pool_writes, write_B=use.block_B, log_device=False))
        use = use.but(streams=1)
        array = host.volumes[volume].array
        if array is not None and use.finish != "dsync":
            row = row.times(self._synced(row, use, host, volume, array, scattered=scattered))
        self._pool(row, use, host, volume, None)

    def _synced(self, row: Row, use: Access, host: Machine, volume: str, array: Device, *, scattered: bool) -> Term:
        """Metadata passes and labels of each transaction group, and pointers to records from all over a file.

        Groups go out as fast as all on their way lets them, and wait for the disks in between.
        """
        probed = row.probed(lambda probe: self._pool(probe, use, host, volume, None))
        rate = term(probed, "B/s", "the pool and its way to memory")
        dirty_max_B = self._dirty_max(row, host)
        held = law(zfs.balanced_dirty, transaction_B=row.term(self.recordsize), pool_rate=rate, dirty_max_B=dirty_max_B)
        wait = array.latency(row, use.but(operation="write", random=True, block_B=4096.0, finish="dsync"))
        passes, group = row.term(self.sync_passes), held / 2.0
        cost = law(zfs.sync_cost, passes=passes, positioning_s=term(wait, "s"), pool_rate=rate, group_B=group)
        if not scattered or self.special is not None:
            return cost
        file = term(use.data_B or max(use.total_B, use.file_B), "B", "size of the files")
        more = law(zfs.indirect_load, recordsize_B=row.term(self.recordsize), file_B=file, group_B=group)
        return cost * (term(1.0) + more)

    def _holder(self, use: Access, array: Device | None) -> Device | None:
        return self.special if use.file_B <= self.special_blocks.value and self.special is not None else array

    def _pool(self, row: Row, use: Access, host: Machine, volume: str, ahead: Term | None) -> None:
        """The array and its buses; the runs in which data lie depend on how fragmented the pool is."""
        array = host.volumes[volume].array
        if self.special is not None and self._holder(use, array) is self.special:
            self.special.serve(row, self._queued(use, self.special), f"{label_of(volume)}-special")
            return
        run = middle(zfs.free_segment_bytes(row.value(self.fragmentation)))
        if np.isfinite(run):
            gap = middle(hdd_streams.gap_bytes(run, row.value(self.filled)))
            use = use.but(extent_B=run, gap_B=gap)
        if self.states("filled"):
            use = use.but(filled=row.value(self.filled))
        if array is not None:
            host.array(row, self._queued(use, array), volume, array, ahead)

    def _queued(self, use: Access, array: Device) -> Access:
        """How many requests of its class a drive has before it, and how large they are."""
        if use.operation == "read":
            active = self.sync_read_max_active if use.random else self.async_read_max_active
        else:
            active = self.sync_write_max_active if use.finish == "dsync" else self.async_write_max_active
        limit = self.aggregation_limit
        joined = float(zfs.aggregation_bytes(self.version, array.rotates)) if limit is None else limit.value
        piece = array.piece(use)
        return use.but(active=float(active), request_B=piece if use.random else max(piece, joined))

    def _transform(self, use: Access, array: Device | None) -> tuple[Term, str]:
        """Cycles per byte of checksum, compression, encryption and parity, and their names."""
        reading = use.operation == "read"
        cost, words = term(0.0, "cycles/B"), ""
        if self.checksum != "off":
            cost, words = cost + _rate(_CHECKSUMS.get(self.checksum, "fletcher4_ssse3")), f", {self.checksum} checksum"
        if self.compression != "off":
            cost = cost + _rate(_COMPRESSORS[self.compression][1 if reading else 0])
            words += f", {self.compression} {'decompression' if reading else 'compression'}"
        if self.encryption != "off":
            name, rounds = _CIPHERS[self.encryption]
            slow = 0.0 if use.aes_blocks else term(WITHOUT_AES["aes-gcm"].value, "cycles/B", "no instructions for AES")
            cost, words = cost + _rate(name) * rounds + slow, f"{words}, {self.encryption}"
        parity, parity_name = self._parity(use, array)
        return cost + parity, words + parity_name

    def _parity(self, use: Access, array: Device | None) -> tuple[Term, str]:
        """What raidz computes: parity of what is written, lost data of what is read (with SIMD from release 0.7 on)."""
        code = "simd" if zfs.release(self.version) >= (0, 7) else "original"
        if isinstance(array, Raidz) and use.operation == "write":
            return _rate(f"raidz_p{array.parity}_{code}"), f", raidz{array.parity} parity"
        if isinstance(array, Raidz) and array.lost:
            return _rate(f"raidz_lost{array.lost}_{code}"), f", {array.lost} lost disks rebuilt"
        return term(0.0, "cycles/B"), ""


def _rate(operation: str) -> Term:
    """Cycles per byte of an operation that a core was measured at."""
    rate = CORE_RATES[operation]
    return term(rate.cycles_per_byte, "cycles/B", rate.source)
