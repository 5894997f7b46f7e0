"""File systems on local drives: ext4, XFS, btrfs, those of other systems, tmpfs, unknown ones, and none."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, ClassVar, Final, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from dtnsim.components.access import Access, Operation, Operations, Thread
from dtnsim.components.cores import core_cost
from dtnsim.components.device import Device
from dtnsim.components.disk_filesystem import AgedFilesystem, ExtentFilesystem, LocalFilesystem
from dtnsim.components.filesystem import PageCached, Stretch, label_of
from dtnsim.components.machine import Machine
from dtnsim.components.stack import Stack
from dtnsim.ground.errors import SpecError
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, prior
from dtnsim.ground.term import Term, count, law, term
from dtnsim.physics import cpu, local, waiting


class Ext4(ExtentFilesystem):
    """ext4 behind the Linux page cache; its costs are the kernel's (see `stack`).

    With ``data: journal`` the data go through the journal too and are written twice. Without delayed allocation a
    commit of the journal writes the data too, every ``commit`` seconds.
    """

    kind: ClassVar[str] = "ext4"
    large_folios: ClassVar[tuple[int, ...]] = (6, 16)
    #: 256-B inodes, 16 in a 4-KiB block; directory entries of some 64 B (kernel.org, ext4 disk layout)
    inode_block: ClassVar[float] = 1 / 16
    name_block: ClassVar[float] = 1 / 64
    inodes_ahead: ClassVar[int] = 32  # kernel.org, ext4: inode_readahead_blks

    data: Literal["ordered", "writeback", "journal"] = "ordered"
    delalloc: Annotated[bool, Field(description="False with nodelalloc: blocks are allocated when written to")] = True
    commit: Annotated[Quantity, Unit("s", low=0.1)] = prior("5 s", 0.0, "kernel.org, ext4: commit=nrsec, default 5")

    def dirty_age(self, row: Row, host: Machine) -> Value:
        """A commit takes the data of all blocks that it allocates with it."""
        allocated = self.data == "journal" or (self.data == "ordered" and not self.delalloc)
        expire_s, commit_s = row.term(host.vm.dirty_expire), row.term(self.commit)
        return law(local.forced_age, expire_s=expire_s, commit_s=commit_s, allocated=float(allocated)).value

    def medium(self, row: Row, use: Access, host: Machine, volume: str) -> None:
        """The array, with what the journal writes."""
        if use.operation == "write" and self.data == "journal":
            row = row.times(law(local.written_bytes, data_journaled=1.0))
        super().medium(row, use, host, volume)


class Xfs(ExtentFilesystem):
    """xfs behind the Linux page cache; its costs are the kernel's (see `stack`).

    Every change of metadata takes ``log_record`` of the log, ten times that on kernels without delayed logging (before
    2.6.39); the log goes no faster than its ``logbufs`` buffers of ``logbsize`` are written.
    """

    kind: ClassVar[str] = "xfs"
    large_folios: ClassVar[tuple[int, ...]] = (6, 6)  # fs/iomap: large folios in the buffered write path
    #: 512-B inodes, written in clusters of 32; directory entries of some 64 B (XFS algorithms and data structures)
    inode_block: ClassVar[float] = 1 / 32
    name_block: ClassVar[float] = 1 / 64

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

    def sees(self, use: Access) -> Access:
        """Where inodes have 32 bits, on file systems above 1 TiB, each file begins in the next allocation group.

        Source: Linux fs/xfs/xfs_alloc.c (m_agfrotor); 08bf540412ed (3.7: inode64 is the default).
        """
        apart = use.file_B < use.within_B and use.kernel is not None and use.kernel < (3, 7)
        return super().sees(use.but(within_B=0.0) if apart else use)

    def metadata(self, row: Row, requests: Operations, host: Machine, volume: str) -> None:
        """Charges the log with what changes directories and inodes."""
        super().metadata(row, requests, host, volume)
        array = host.volumes[volume].array
        if not requests.changes or array is None:
            return
        delayed = (host.stack.release or local.DELAYED_SINCE) >= local.DELAYED_SINCE
        logged = law(local.logged_bytes, record_B=row.term(self.log_record), stale=0.0 if delayed else local.STALE)
        size, write_s, most = row.term(self.logbsize), array.turnaround(row), array.media_rate(row, "write")
        rate = law(waiting.queued_rate, active=self.logbufs, request_B=size, latency_s=write_s, rate=most)
        per_byte = Term(requests.changes, f"{requests.changes:.7g}") * logged
        text = "log of changes to files and directories"
        remedy = f"larger log buffers (hosts.{host.name}.volumes.{volume}.filesystem.logbsize; mount -o logbsize)"
        row.charge(f"{label_of(volume)}.log", self.kind, capacity=rate, per_byte=per_byte, what=text, remedy=remedy)


class Local(ExtentFilesystem):
    """A file system behind its system's page cache, whose costs are the kernel's (see `stack`); parts say which one.

    Neglects: what a file system compresses, deduplicates or checks (ReFS' integrity streams) of the data themselves.
    """

    kind: ClassVar[str] = "local"
    #: a file record of 1 KiB in blocks of 4 KiB and its part of a directory (Microsoft, master file table)
    inode_block: ClassVar[float] = 1 / 4
    name_block: ClassVar[float] = 1 / 64


class Tmpfs(PageCached):
    """Files that are nowhere but in memory: nothing is written back, nothing is waited for.

    ``huge`` (mount -o huge=always) copies into pages of 2 MiB, which are cleared but hardly cost an allocation.

    Neglects: swap; the page cache that its files leave no room for.

    Attributes:
        huge: Whether it uses huge pages.
    """

    kind: ClassVar[str] = "tmpfs"
    keeps_dirty: ClassVar[bool] = False

    change_time: Annotated[Quantity, Unit("s", spread=0.5)] | None = prior(
        "4 us", 0.6, "mdtest 1.9.3 on tmpfs, two tasks (vi4io.org): 2 to 6 us a create or removal"
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
        """Refuses drives: the files are in memory alone."""
        if host.volumes[volume].array is not None:
            key = f"hosts.{host.name}.volumes.{volume}.array"
            remedy = "leave it out, or mount another file system"
            raise SpecError("is in memory and has no drives", key=key, remedy=remedy)

    def flush_wait(self, row: Row, use: Access, host: Machine, volume: str) -> Value:
        return 0.0


class NoFilesystem(LocalFilesystem):
    """A block device that programs open: behind the page cache, unless requests are direct.

    Nothing is allocated, there is no journal and no inode; a flush is that of the drives alone.

    Neglects: what a partition that begins within a stripe or a page of flash costs.
    """

    kind: ClassVar[str] = "none"

    op_time: Annotated[Quantity, Unit("s", spread=0.5)] = prior(
        "5 us", 0.7, "assumed: open and close of a device file, system calls of 2 to 10 us"
    )
    change_time: Annotated[Quantity, Unit("s", spread=0.5)] | None = None

    def flush_wait(self, row: Row, use: Access, host: Machine, volume: str) -> Value:
        """One flush of the drives' memory, or one positioning of a disk; as stated where it is stated."""
        one = self._device_flush(row, use, host, volume)
        return super().flush_wait(row, use, host, volume) if one is None else one.value


_RANGE = (
    "assumed: log-normal over what transfer hosts have, from one hard disk (WD Ultrastar DC HC310 specification: "
    "255 MB/s outside, half of it inside) to an array of NVMe drives (Intel P4510 specification: 3.2 GB/s each)"
)


class Unknown(Device):
    """Drives of an unknown kind and number.

    ``read`` and ``write`` may be stated where a benchmark was run; stating them narrows the answer.
    """

    kind: ClassVar[str] = "unknown"

    read: Annotated[Quantity, Unit("B/s", spread=0.2, low=1e5)] = prior("800 MB/s", 1.5, _RANGE)
    write: Annotated[Quantity, Unit("B/s", spread=0.3, low=1e5)] = prior("600 MB/s", 1.5, _RANGE)
    access: Annotated[Quantity, Unit("s", high=10.0)] = prior(
        "1 ms", 2.0, "assumed: log-normal between flash (0.1 ms) and a seek of a disk (10 ms)"
    )

    def serve(self, row: Row, use: Access, name: str, *, copies: int = 1, visit_B: Term | Value | None = None) -> None:
        """Charges one station for whatever is behind the volume; a random request also waits for its place."""
        rate = row.term(self.read if use.operation == "read" else self.write)
        per_byte = 1.0 + row.term(self.access) * rate / use.block_B if use.random else 1.0
        text = f"{use.operation} on drives of unknown kind"
        row.charge(f"{name}.drives", "unknown", capacity=count(copies, "device") * rate, per_byte=per_byte, what=text)

    def latency(self, row: Row, use: Access, members: float = 1.0) -> Value:
        return row.value(self.access) if use.random else 0.0

    def single_rate(self, row: Row, use: Access) -> Value:
        return self.media_rate(row, use.operation).value

    def media_rate(self, row: Row, operation: Operation) -> Term:
        return row.term(self.read if operation == "read" else self.write)


_CHECKSUMS: Final = {
    "crc32c": prior(
        "0.3 cycles/B", 0.5, "assumed: the processor's own CRC32C instruction, some 0.15 to 0.5 cycles a byte"
    ),
    "xxhash": core_cost("xxh64"),
    "sha256": core_cost("sha256_ni"),
    "blake2": prior(
        "3.5 cycles/B", 0.4, "assumed: BLAKE2b in the kernel without vector instructions, 3 to 5 cycles a byte"
    ),
}
#: (to compress, to decompress)
_COMPRESSORS: Final = {
    "lzo": (
        prior("9 cycles/B", 0.5, "assumed: lz4 takes 6.3 and LZO1X-1 half as much again"),
        prior("3 cycles/B", 0.5, "assumed: lz4 takes 1 and LZO some times that"),
    ),
    "zlib": (core_cost("zlib6_compress"), core_cost("zlib6_decompress")),
    "zstd": (core_cost("zstd1_kernel"), core_cost("zstd1_decompress")),
}


class Btrfs(AgedFilesystem):
    """btrfs behind the Linux page cache.

    The volume's ``array`` is the profile: jbod for single, raid for RAID 0, 1 and 10.

    Checksums and compression are done by the mount's worker threads. What is written goes to a new place, so that a
    random rewrite from the page cache is a stream for the drives; ``nodatacow`` rewrites in place, without checksums or
    compression. A file that has been rewritten so lies in pieces (``extent``). A reader waits while an extent of its
    file is decompressed, one after the other: what the figures of Linux commit 5c1aab1dd544 have in common.

    Neglects: levels of compression (zstd as fast as level 1, zlib as level 6); duplicates of metadata; scrubs; the
    write hole of RAID 5 and 6.

    Attributes:
        checksum: Checksum of data (mkfs.btrfs --csum).
        compress: Compression (mount -o compress).
        ratio: Bytes of files for each byte that the algorithm leaves.
        nodatacow: Whether data are rewritten in place (mount -o nodatacow, chattr +C).
        thread_pool: Worker threads (mount -o thread_pool): as many as cores and two more, at most 8.
    """

    kind: ClassVar[str] = "btrfs"
    #: leaves of 16 KiB, two thirds full; inode, reference, entry and index of a file some 450 B (btrfs on-disk format)
    inode_block: ClassVar[float] = 1 / 24
    #: as measured on ext4 and xfs: 22.3 us to remove a name, 24.0 to rename it, 3.7 to set attributes, 15.1 to create
    of_a_create: ClassVar[Mapping[str, float]] = {"remove": 1.5, "rename": 1.6, "setattr": 0.2}

    checksum: Literal["crc32c", "xxhash", "sha256", "blake2"] = "crc32c"
    compress: Literal["none", "lzo", "zlib", "zstd"] = "none"
    ratio: Annotated[Quantity, Unit("1", low=1.0, high=1000.0)] = prior("1", 0.0, "data that do not compress")
    nodatacow: bool = False
    thread_pool: Annotated[int, Field(ge=1, le=1024)] | None = None

    @property
    def compressed(self) -> bool:
        """Whether files are compressed: without nodatacow alone."""
        return self.compress != "none" and not self.nodatacow

    def medium(self, row: Row, use: Access, host: Machine, volume: str) -> None:
        """The workers' checksums and compression, then the array with what is stored."""
        reading, stored, extent_load = use.operation == "read", term(1.0), term(1.0)
        if self.compressed:
            ratio = row.term(self.ratio) / term(max(use.stored, 1e-3))
            stored, use = law(local.stored_share, ratio=ratio), use.but(stored=1.0)
            if reading and use.random:
                extent_load = law(local.extent_load, request_B=term(use.block_B, "B"))
                use = use.but(block_B=max(use.block_B, local.COMPRESSED_B))
        if not self.nodatacow:
            self._work(row.times(extent_load), host, stored, reading=reading)
        if use.buffered and use.random and not self.nodatacow:
            use = use.but(random=False, rewrite=False)
        share = float(np.mean(np.asarray(stored.value)))
        super().medium(row.times(extent_load * stored), use.but(total_B=use.total_B * share), host, volume)

    def stretches(self, row: Row, use: Access, host: Machine, volume: str) -> tuple[Stretch, ...]:
        """Reads wait for the decompression of each extent."""
        parts = super().stretches(row, use, host, volume)
        if use.operation != "read" or use.cached or not self.compressed:
            return parts
        wait = row.term(_COMPRESSORS[self.compress][1]) / host.clock(row)
        if use.random:
            wait = wait * law(local.extent_load, request_B=term(use.block_B, "B"))
        text = "each compressed extent, one after the other"
        return tuple(
            replace(s, delay=wait + s.delay, what=s.what if np.any(term(s.delay).value) else text) for s in parts
        )

    def _work(self, row: Row, host: Machine, stored: Term, *, reading: bool) -> None:
        """Charges the workers for a byte of the file: what is stored has checksums."""
        cycles = stored * row.term(_CHECKSUMS[self.checksum])
        text = f"{self.checksum} checksum"
        if self.compressed:
            cycles = cycles + row.term(_COMPRESSORS[self.compress][1 if reading else 0])
            text += f", {self.compress} {'decompression' if reading else 'compression'}"
        workers = self.thread_pool or min(host.cpu.total + 2, 8)
        host.core(row, Thread("btrfs worker", workers), cycles, text)

    def request_size(self, use: Access) -> float:
        """A compressed extent is read whole."""
        return max(use.block_B, local.COMPRESSED_B) if self.compressed and use.operation == "read" else use.block_B
