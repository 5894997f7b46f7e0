"""File systems on local drives: how they read ahead, sync by a log, and what extents and new files cost."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from dtnsim.components.access import CHANGES, Access, Operation, Operations, Thread
from dtnsim.components.device import Device
from dtnsim.components.filesystem import PageCached, Stretch, label_of
from dtnsim.components.machine import Machine
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, prior
from dtnsim.ground.term import Term, largest, law, term
from dtnsim.physics import cache, local, metadata

#: writes of a journal's commit that wait for each other: blocks, and then the record that makes them count
_BARRIERS = 2.0
#: memory of the kernel for a file that it knows, and a block of a file system
_IN_MEMORY = prior(
    "1.3 KiB", 0.2, "Linux: an inode of ext4 1072 B in 4.9 (Debian bug 861964), of xfs some 1 KiB; a name 192 B"
)
_BLOCK_B = 4096.0


def _blocks(files: int, operation: Operation = "read") -> Access:
    """Blocks of a file system that are read one at a time, or written back."""
    return Access(operation, Thread("kernel"), _BLOCK_B, _BLOCK_B, files * _BLOCK_B, random=True)


class LocalFilesystem(PageCached):
    """A file system on local drives.

    What writers leave in the page cache goes to the drives by one thread of the kernel for each file system
    (Linux fs/fs-writeback.c; lwn.net/Articles/1024402), page by page until the file system has large folios.

    What memory does not have of inodes and names is read block by block: a file's share of a block of inodes and of one
    of its directory. Who walks a whole tree (a re-sync) finds so much of it ``forgotten`` since it was last looked at.

    Neglects: processes that flush their own files, each of which writes back by itself what is left of them; folders of
    few files, each of which has a block of its own; names that are read ahead.

    Attributes:
        forgotten: Part of a tree's inodes and names that memory no longer has when it is walked.
    """

    on_drives: ClassVar[bool] = True
    #: release of Linux from which on what is written lies in large folios; none has
    large_folios: ClassVar[tuple[int, ...]] = (99,)

    #: shares of a file in a block of inodes and in one of its directory, and blocks of inodes that a walk reads at once
    inode_block: ClassVar[float] = 0.0
    name_block: ClassVar[float] = 0.0
    inodes_ahead: ClassVar[int] = 1

    read_ahead: Annotated[Quantity, Unit("B", spread=0.5, low=4096)] | None = None
    forgotten: Annotated[Quantity, Unit("1", high=1.0)] = prior(
        "0.5", 0.7, "assumed: anything from none to all; data that are read push inodes out (vfs_cache_pressure 100)"
    )

    @property
    def metadata_writes(self) -> float:
        """Writes that a new file costs besides its data: its share of an inode block and of a directory block."""
        return self.inode_block + self.name_block

    def misses(self, row: Row, host: Machine, volume: str, requests: Operations) -> Value:
        array, absent = host.volumes[volume].array, self._absent(row, host, requests)
        if array is None or not np.any(absent.value > 0):
            return 0.0
        waited: Value = 0.0
        for times, read in self._looked_at(requests):
            first = array.latency(row, read) if read.random else array.next_file(row, read)
            waited = waited + times * (first + read.block_B / array.single_rate(row, read))
        return absent.value * waited

    def metadata(self, row: Row, requests: Operations, host: Machine, volume: str) -> None:
        """Charges the drives with the blocks that are read, and written, for files which are not in memory."""
        array, absent = host.volumes[volume].array, self._absent(row, host, requests)
        if array is None or not np.any(absent.value > 0):
            return
        for times, use in self._moved(requests):
            host.array(row.times(absent * (times * use.block_B)), use, volume, array, None)

    def _moved(self, requests: Operations) -> list[tuple[float, Access]]:
        """(reads and writes of blocks for a byte, each of them)."""
        met = max(requests.per_byte.values(), default=0.0)
        return [(met * times, read) for times, read in self._looked_at(requests)]

    def _looked_at(self, requests: Operations) -> list[tuple[float, Access]]:
        """(reads for a file, the read): in any order, or in that of a tree, whose inodes lie where its files do."""
        if not requests.walked_B:
            return [(self.metadata_writes, _blocks(requests.files))]
        reads = []
        for share, blocks in ((self.inode_block, self.inodes_ahead), (self.name_block, 1)):
            size_B = blocks * _BLOCK_B
            read = Access("read", Thread("kernel"), size_B, size_B, requests.walked_B, record_B=size_B)
            reads += [(share / blocks, read)] if share else []
        return reads

    def _absent(self, row: Row, host: Machine, requests: Operations) -> Term:
        """Part of so many files that is not in memory."""
        return row.term(self.forgotten) if requests.walked_B else term(0.0)

    def stretches(self, row: Row, use: Access, host: Machine, volume: str) -> tuple[Stretch, ...]:
        """As any file system; who reads one file after the other waits for the first bytes of each."""
        parts = super().stretches(row, use, host, volume)
        array = self._holder(use, host.volumes[volume].array)
        alone = use.random or use.finish == "direct"  # then it waits for every request already
        if use.operation != "read" or use.cached or alone or array is None or use.file_B >= use.total_B:
            return parts
        first = term(min(use.file_B, cache.LINUX_READ_AHEAD_B), "B") / term(array.single_rate(row, use), "B/s")
        wait = term(array.next_file(row, use), "s", "one positioning, or one read of flash") + first
        text = "the first bytes of each file"
        if array.rotates and array.spread(use) > 1:
            text += f", from the slowest of the {array.spread(use):g} disks that hold them"
        by = row.stations_of(lambda probe: self.medium(probe, use, host, volume))
        return (replace(parts[0], first=wait / term(use.file_B, "B"), first_what=text, by=by), *parts[1:])

    def _holder(self, use: Access, array: Device | None) -> Device | None:
        """The device that holds the files."""
        return array

    def _device_flush(self, row: Row, use: Access, host: Machine, volume: str, *, barrier: bool = True) -> Term | None:
        """One emptying of flash's memory, or one positioning of a disk [s]; None where something else says the wait.

        Without barriers it is one write, which the drive's cache answers where it has one.
        """
        array = host.volumes[volume].array
        if self.states("sync_latency") or array is None or array.keeps_writes:
            return None
        if not barrier:
            return term(array.latency(row, use.but(operation="write", random=True, finish="direct")), "s")
        if (emptied := array.flush_time(row)) is not None:
            return emptied + array.turnaround(row)
        away = use.but(operation="write", random=True, finish="dsync")
        return term(array.latency(row, away), "s") if array.rotates else None

    def medium(self, row: Row, use: Access, host: Machine, volume: str) -> None:
        """The array, its adapters and slots; write-back of what has gathered in the page cache."""
        array: Device | None = host.volumes[volume].array
        if array is None:
            return
        if use.buffered and not use.commits and host.stack.release is not None:
            self._write_back(row, host, volume)
        host.array(row, use, volume, array, self._stated_ahead(row, use))

    def _stated_ahead(self, row: Row, use: Access) -> Value | None:
        """Bytes of a reader's visit where the path states its read-ahead."""
        return row.value(self.read_ahead) if self.read_ahead is not None and use.operation == "read" else None

    def _write_back(self, row: Row, host: Machine, volume: str) -> None:
        """Charges the thread of the kernel that all writers of the file system share."""
        small, large, kernels = host.stack.write_back_byte, host.stack.folio_write_back_byte, host.stack.releases
        assert kernels is not None
        byte = row.term(kernels.number(lambda release: large if release >= self.large_folios else small))
        text = "write-back of the page cache"
        host.pool(row, byte, text)
        name, label = f"{label_of(volume)}.write-back", f"the write-back thread of {volume}"
        text = f"{text}, one thread of the kernel"
        remedy = "direct requests, a file system with large folios (xfs from Linux 6.6 on, ext4 from 6.16), "
        remedy += "or several file systems"
        row.charge(name, "core", capacity=host.clock(row), per_byte=byte, what=text, label=label, remedy=remedy)


class AgedFilesystem(LocalFilesystem):
    """A file system that allocates extents and syncs by a log.

    An aged one finds contiguous space of ``extent`` bytes only (filefrag, xfs_db's frag): as often must disks position.
    Without ``barrier`` a sync ends in the drives' caches: the log's writes follow each other, and nothing is flushed.
    """

    extent: Annotated[Quantity, Unit("B", spread=0.5, low=4096)] | None = None
    barrier: Annotated[
        bool, Field(description="False with nobarrier: a sync leaves the drives' caches as they are")
    ] = True

    #: changes that take another time than a create, as parts of its: 10.5 and 12.4 us to remove a name, 3.2 and 3.9 to
    #: set attributes, 15.3 and 16.7 to create on ext4 and xfs in memory (measured: CPU time of 100,000 files in folders
    #: of 1,000, two or three runs within 5 %, Linux 6.18, Zen 4 at 3.65 GHz)
    of_a_create: ClassVar[Mapping[str, float]] = {"remove": 0.7, "setattr": 0.2}

    def operation_time(self, row: Row, operation: str, host: Machine) -> Value:
        """Work of the kernel at the host's clock, where no file says how long it takes."""
        seconds, change = super().operation_time(row, operation, host), operation in CHANGES
        if self.states("op_time") or (change and self.states("change_time")):
            return seconds
        share = self.of_a_create.get(operation, 1.0)
        return law(metadata.kernel_time, time_s=term(share * seconds, "s"), clock_Hz=host.clock(row)).value

    def flush_wait(self, row: Row, use: Access, host: Machine, volume: str) -> Value:
        """The log's blocks and then their commit record: disks position for each, flash empties its memory."""
        spread = use.total_B if use.random else 0.0  # bytes over which the writes are scattered
        one = self._device_flush(row, use.but(total_B=spread), host, volume, barrier=self.barrier)
        if one is None:
            return super().flush_wait(row, use, host, volume)
        turns = law(local.commit_turns, writers=use.own_streams)
        return law(local.sync_time, waits=turns * _BARRIERS, positioning_s=one).value

    def change_wait(self, row: Row, use: Access, host: Machine, volume: str) -> Value:
        """Only the log is written, where the heads of disks are: its blocks and its record wait for a turn each."""
        array = host.volumes[volume].array
        if array is None or not array.rotates or not self.barrier or array.keeps_writes or self.states("sync_latency"):
            return super().change_wait(row, use, host, volume)
        return law(local.sync_time, waits=_BARRIERS, positioning_s=array.turn(row)).value

    def medium(self, row: Row, use: Access, host: Machine, volume: str) -> None:
        if self.extent is not None:
            use = use.but(extent_B=self.extent.value)
        super().medium(row, use, host, volume)


class ExtentFilesystem(AgedFilesystem):
    """A file system that keeps inodes in tables: ext4 and xfs.

    Files whose inodes and names do not fit the host's memory are read from the drives when they are looked at.
    What changes is written back so, too.

    Neglects: work of the kernel that makes room.
    """

    log_size: Annotated[Quantity, Unit("B", low=2**20)] = prior(
        "128 MiB", 0.0, "mke2fs: 128 MiB on file systems of 32 GiB and more, later releases up to 1 GiB"
    )

    def _moved(self, requests: Operations) -> list[tuple[float, Access]]:
        """What is looked at, and what of the changes is written back: new files go with their data."""
        changed = requests.changes - sum(requests.per_byte.get(name, 0.0) for name in ("create", "exclusive"))
        written = [(changed * self.metadata_writes, _blocks(requests.files, "write"))] if changed > 0 else []
        return [*super()._moved(requests), *written]

    def _absent(self, row: Row, host: Machine, requests: Operations) -> Term:
        room = term(host.vm.free(row, row.value(host.memory.size)), "B", "memory that programs leave")
        least = super()._absent(row, host, requests)
        wanted = law(metadata.absent_share, files=float(requests.files), file_B=row.term(_IN_MEMORY), memory_B=room)
        return largest(wanted, least)

    def medium(self, row: Row, use: Access, host: Machine, volume: str) -> None:
        writes = 0.0
        if use.operation == "write" and not use.rewrite:
            # a sync waits for the log only; blocks go to their places once the log is full
            logged = use.total_B / max(use.file_B, 1.0) * self.metadata_writes * _BLOCK_B
            writes = self.metadata_writes * max(0.0, 1.0 - self.log_size.value / max(logged, 1.0))
        super().medium(row, use.but(metadata_writes=writes), host, volume)
