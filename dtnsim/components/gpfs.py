"""GPFS (Spectrum Scale): blocks striped over all NSDs, prefetch threads, pagepool, tokens."""

from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from dtnsim.components.access import Access, Calls
from dtnsim.components.filesystem import FileOperations, label_of
from dtnsim.components.machine import Machine
from dtnsim.components.parallel import ParallelFilesystem
from dtnsim.components.servers import Group, MetadataServers, RequestTime, TargetRate
from dtnsim.components.stack import Stack
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, prior
from dtnsim.ground.term import Term, law, minimum, term
from dtnsim.physics import cpu, gpfs, lustre, raid, waiting

#: mdtest on 16 nodes, each of which made the files that it looked up and removed
_PIXSTOR = "Dell PixStor administrator guide, pp. 24 to 35, mdtest on one array of 24 SSDs"
_EMPTY_B = 1.0  #: files of a byte stand for empty ones; those that do not fit an inode take no less than those that do
#: operations of a program that meets inodes which others have made, or which the node no longer holds
_MEETS = frozenset({"readdir", "stat", "open"})


class Gpfs(ParallelFilesystem):
    """A GPFS client mount; the NSD servers are shared with everybody.

    ``nsd_rate`` is one NSD's rate; where it writes slower, ``nsd_write`` says so. ``contended`` is the part of the
    entries whose token another node holds: it has to be asked for and revoked. With ``allocation: scatter`` (mmcrfs -j,
    the default beyond eight nodes) blocks lie anywhere on the disks, so that each costs a positioning where ``servers``
    say what that takes; with ``cluster`` a stream's blocks follow each other.

    The pagepool is pinned memory of the daemon that the kernel's module shares, so that a call costs a copy and no page
    of the kernel's cache. A node that holds the tokens of a directory changes it in its own memory and log: that takes
    ``op_time``, ``change_time`` and ``create_time``. For an inode that it has not met it asks a token server and reads
    the inode, which takes ``metadata_time``; so it does, twice, for what another node holds.

    Attributes:
        op_time: Look-up of what the node holds.
        change_time: Change of an inode or directory that it holds.
        create_time: A new file or directory in one that it holds.
        data_time: What a new file takes beyond that, unless it is empty.
        metadata_time: A message to another node for a token, and the inode's block.
    """

    kind: ClassVar[str] = "gpfs"
    refused: ClassVar[dict[str, str]] = {}
    times: ClassVar[tuple[str, str]] = FileOperations.times
    in_page_cache: ClassVar[bool] = False
    common: ClassVar[str] = "servers share nsds nsd_rate nsd_write block allocation"

    usual_metadata: ClassVar[MetadataServers | None] = MetadataServers(
        create=prior("130000 ops/s", 1.0, f"{_PIXSTOR}: 124K to 222K creates/s; assumed: disks do a tenth of it"),
        stat=prior("3300000 ops/s", 1.0, f"{_PIXSTOR}: 3.2M to 11M stats/s"),
        remove=prior("150000 ops/s", 1.0, f"{_PIXSTOR}: 145K to 194K removals/s; assumed: disks do a tenth of it"),
    )

    block: Annotated[Quantity, Unit("B", low=16384)] = prior(
        "4 MiB", 0.5, "assumed: block size of large file systems, 1 to 8 MiB"
    )
    allocation: Literal["scatter", "cluster"] = "scatter"
    prefetch: Annotated[int, Field(ge=1, le=10000)] = 72
    prefetch_share: Annotated[Quantity, Unit("1", low=0.01, high=0.6)] = prior(
        "0.2", 0.3, "prefetchPct 20: the part of the pagepool that prefetch and write-behind may fill"
    )
    pagepool: Annotated[Quantity, Unit("B", low=2**20)] = prior("1 GiB", 0.3, "IBM Spectrum Scale: default pagepool")
    latency: Annotated[Quantity, Unit("s", spread=0.4)] = prior(
        "20 ms", 0.6, "assumed: one block from disk NSDs under load"
    )
    nsds: Annotated[int, Field(ge=1, le=100000)] = 100
    nsd_rate: TargetRate = prior("500 MB/s", 0.5, "assumed: one NSD (RAID group of ten disks) of the 2010s")
    nsd_write: TargetRate | None = None
    share: Annotated[Quantity, Unit("1", spread=0.5, low=1e-3, high=1.0)] = prior(
        "0.4", 0.7, "assumed: what other users leave of the servers at a random hour"
    )
    op_time: RequestTime = prior("6 us", 0.5, f"{_PIXSTOR}: 11.2 million stats a second of 64 threads")
    change_time: RequestTime | None = prior("94 us", 0.5, f"{_PIXSTOR}: 170,600 removals a second of 16 threads")
    create_time: RequestTime = prior("0.14 ms", 0.7, f"{_PIXSTOR}: 222,100 empty ones a second of 32 threads")
    metadata_time: RequestTime = prior(
        "1 ms",
        1.0,
        "assumed: a message between daemons, 0.1 ms, and a block of inodes: 0.2 ms from flash, 6 from disks",
    )
    data_time: RequestTime = prior(
        "0.9 ms",
        0.6,
        f"{_PIXSTOR}: one thread makes 960 files of 3 KiB a second, in their inodes, less their creation; 512 make "
        "68,100 of 4 KiB, outside, and are not yet the most",
    )
    contended: Annotated[Quantity, Unit("1", high=1.0)] = prior("0", 0.0, "this node keeps its directories' tokens")

    @property
    def keeps_files(self) -> float:
        """What the pagepool has room for (IBM Spectrum Scale, Cache usage)."""
        return self.pagepool.value

    def medium(self, row: Row, use: Access, host: Machine, volume: str) -> None:
        """Prefetch or write-behind of this node, the disks and servers, then the storage network."""
        label = label_of(volume)
        fs = self.system_mount(row)
        block = row.term(fs.block)
        pagepool_B, share = row.term(self.pagepool), row.term(self.prefetch_share)
        flight = law(gpfs.blocks_in_flight, threads=self.prefetch, block_B=block, pagepool_B=pagepool_B, share=share)
        wait = self.away(row.term(self.latency), use)
        rate = law(waiting.request_rate, request_B=block, latency_s=wait, rate_Bps=np.inf, in_flight=flight)
        if use.finish != "direct":
            row.charge(f"{label}.prefetch", "gpfs", what="GPFS blocks in flight", capacity=rate)
        if use.operation == "write":  # the tail of a file takes a whole subblock
            file = max(use.file_B, 1.0)
            taken = law(gpfs.allocated_bytes, file_B=file, subblock_B=law(gpfs.subblock, block_B=block))
            row = row.times(taken / file)
        nsd = row.term(self.either(use, fs.nsd_rate, fs.nsd_write))
        touched = law(raid.striped, size_B=use.file_B, unit_B=block, members=fs.nsds)
        scattered = fs.allocation == "scatter"
        self.groups(row, use, label, Group("nsds", "GPFS NSDs", fs.nsds, nsd, touched, block, scattered))
        self.charge_servers(row, use, label, block)
        host.storage_network(row, use, volume)

    def request_wait(self, row: Row, use: Access, host: Machine, volume: str) -> Value:
        """One block; less than one takes a message and the drives' turn, as a block of inodes does, and its bytes."""
        block, alone = row.term(self.system_mount(row).block), row.term(self.latency)
        whole = {"known_B": block, "known_s": alone, "slower": 1.0, "message_s": row.term(self.metadata_time)}
        asked = minimum(term(use.block_B, "B"), block)
        return (law(lustre.rpc_time, asked_B=asked, **whole).value + use.rtt_s) / use.block_B

    def cycles(self, row: Row, use: Access, stack: Stack) -> Term:
        """A copy from or to pinned memory: that of a read from the page cache, which allocates nothing either."""
        if use.finish == "direct":
            return super().cycles(row, use, stack)
        copied, call = row.term(stack.file_read_byte), row.term(stack.file_call)
        return law(cpu.cycles_per_byte, per_byte=copied, per_call=call, call_B=term(use.block_B, "B"))

    def cache_limits(self, row: Row, host: Machine, held_B: float = 0.0) -> tuple[Value, Value]:
        """Write-behind of full blocks at once, and no more of them than the pagepool has room for (prefetchPct)."""
        room = row.value(self.prefetch_share) * row.value(self.pagepool)
        return np.zeros_like(np.asarray(room)), room

    def memory_pool(self, host: str, volume: str) -> str:
        """The pagepool, which no other file system's writers have a part of."""
        return f"{host}:{volume}"

    def by_free_memory(self, host: Machine) -> bool:
        """The pagepool is pinned."""
        return False

    def spread(self, row: Row, use: Access) -> Term:
        fs = self.system_mount(row)
        return law(raid.striped, size_B=use.file_B, unit_B=row.term(fs.block), members=fs.nsds)

    def waits(self, row: Row, operations: Calls, host: Machine, away_s: Value, file_B: float, *, met: int = 0) -> Value:
        """The node's own work for each, and messages where it does not hold the token."""
        local_s: Value = 0.0
        for operation in operations:
            local_s = local_s + row.value(self.timed(operation)) * FileOperations.round_trips(self, row, operation)
        if "create" in operations and file_B > _EMPTY_B:
            local_s = local_s + row.value(self.data_time)
        unknown = float(not met and any(operation in _MEETS for operation in operations))
        messages = law(gpfs.token_messages, inodes=unknown, contended=row.term(self.contended)).value
        return local_s + messages * (row.value(self.metadata_time) + away_s)

    def timed(self, operation: str) -> Quantity:
        return self.create_time if operation in ("create", "mkdir") else super().timed(operation)

    def round_trips(self, row: Row, operation: str) -> Value:
        """More where a token has to be taken from another node."""
        taken = law(gpfs.token_messages, inodes=1.0, contended=row.term(self.contended)).value
        return super().round_trips(row, operation) * taken
