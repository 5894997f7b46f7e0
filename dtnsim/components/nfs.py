"""NFS and VAST: requests in flight over a round trip, read-ahead, connections, metadata."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Literal

import numpy as np
from pydantic import Field

from dtnsim.components.access import CHANGES, Access, Calls, Operations
from dtnsim.components.filesystem import FileOperations
from dtnsim.components.machine import Machine
from dtnsim.components.remote import Remote
from dtnsim.components.servers import RequestTime, Servers
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, prior
from dtnsim.ground.term import Term, count, law, term
from dtnsim.ground.uncertainty import Change, Otherwise, Since
from dtnsim.physics import cache, metadata, nfs

#: requests of a sequential reader's read-ahead before Linux 5.4 (NFS_MAX_READAHEAD), what it is since, slots before 3.1
_READ_AHEAD: Final = 15
_USUAL_AHEAD: Final = prior("128 KiB", 0.0, "Linux 5.4 and later: that of any device (commit c128e575514c)")
_OLD_SLOTS: Final = prior("16", 0.0, "Linux include/linux/sunrpc/xprt.h, RPC_DEF_SLOT_TABLE")

#: a look-up that the client answers itself
_LOCAL_LOOK: Final[Quantity] = FileOperations.model_fields["op_time"].default
_SFS: Final = (
    "SPEC SFS 2008 and 97, all operations together: over loads from a tenth to the peak 0.9 ms (Alacritech ANX 1500), "
    "1.4 (Xserve 2008, Avere FXT 2500), 1.6 (NetApp F840, F820c), 2.5 (Isilon S200) and 2.7 (Xserve 2009); at a tenth "
    "of the peak 0.5 to 1.1, and 4.8 (S200)"
)
#: what servers agree to that are no Linux of today
_SMALLER: Final = Otherwise("128 KiB", "servers and appliances that agree to less (nfsstat -m)")


class Nfs(Remote):
    """An NFS mount; the volume's ``server`` names host and volume that export it, or ``servers`` describes a filer.

    ``close`` waits until everything written has reached the server (close-to-open consistency, nfs(5)), so a file
    that fits into the client's cache is first written there and then sent; a file of several WRITEs ends with a
    COMMIT, and that of one waits until it is stable. A sequential reader has ``read_ahead`` in flight; where nothing
    is said, 128 KiB or one large call of its own, 15 requests before Linux 5.4 (NFS_MAX_READAHEAD). ``slots`` are 16
    before Linux 2.6.32, and a server that is a host of the path agrees to requests by its memory. ``stable`` is what
    the server's stable storage takes: every request that changes a directory waits for it (RFC 1813, section 1.5), and
    COMMITs and synchronous WRITEs do, for each byte of one request (``stable_byte``) besides. Where neither ``stable``
    nor ``op_time`` is given and the server is a host of the path, it is what a flush of that host's file system takes,
    unless the volume is exported ``async``.

    Where the server is no host of the path and no time of its requests is given, they are those of appliances
    (``filer``). What this client has made less than ``acregmin`` ago it looks at without asking.

    With ``servers`` a mount talks to one of them, unless ``pnfs`` spreads its files over all.
    """

    kind: ClassVar[str] = "nfs"
    protocol: ClassVar[str] = "NFS"
    daemon: ClassVar[str] = "nfsd"
    commits: ClassVar[bool] = True
    filer: ClassVar[Mapping[str, Quantity]] = {
        "op_time": prior("0.2 ms", 1.5, f"between a kernel's server, 30 us, and the mean of all operations: {_SFS}"),
        "service": prior("0.2 ms", 1.5, f"between a kernel's server, 20 us, and the mean of all operations: {_SFS}"),
        "service_byte": prior("0.2 ns/B", 0.7, "assumed: as at a kernel's server (github beckerg/nct, README)"),
        "change_time": prior("1.5 ms", 1.2, f"no less than the mean of all operations: {_SFS}"),
    }
    setting: ClassVar[str] = "nfs.conf: threads"
    wires: ClassVar[str] = "filesystem.nconnect"

    op_time: RequestTime = prior(
        "30 us",
        0.8,
        "github beckerg/nct, README: a GETATTR takes 15 to 33 us; assumed: a look-up that much or twice that",
    )
    change_time: RequestTime | None = prior(
        "0.2 ms",
        1.5,
        "assumed: from some 0.05 ms with a log in memory to some ms where a disk's log is waited for (RFC 1813, "
        "section 4.8: changes are on stable storage before the answer)",
    )

    proto: Literal["tcp", "rdma"] = "tcp"
    # nfs-utils 2.8.2 of December 2024: nfsd, NFSD_NPROC
    threads: Annotated[int, Field(ge=1, le=4096), Since(((2003, None), (2025, 16)))] = 8
    pnfs: bool = False
    read_ahead: Annotated[
        Quantity | None,
        Unit("B", spread=0.5, low=4096),
        Otherwise("15 MiB", "clients tuned for one stream (read_ahead_kb of the mount)", "by the client's kernel"),
    ] = None
    export: Annotated[
        Literal["sync", "async"],
        Field(description="exports(5); sync is the default"),
        Otherwise("async", "Synology's rules as DSM writes them, and servers set up for speed (exports(5))"),
    ] = "sync"
    rsize: Annotated[Quantity, Unit("B", low=512, high=2**20), _SMALLER] = prior(
        "1 MiB", 0.0, "nfs(5): negotiated maximum"
    )
    wsize: Annotated[Quantity, Unit("B", low=512, high=2**20), _SMALLER] = prior(
        "1 MiB", 0.0, "nfs(5): negotiated maximum"
    )
    slots: Annotated[Quantity, Unit("1", low=1, spread=0.3)] = prior(
        "128", 0.7, "assumed: sunrpc slot table, 16 fixed on old kernels, dynamic to 65536 on newer (SUSE KB 7023238)"
    )
    nconnect: Annotated[int, Field(ge=1, le=16), Otherwise("4", "mounts of fast servers (nfs(5))")] = 1
    acregmin: Annotated[Quantity, Unit("s", low=0.0)] = prior("3 s", 0.0, "nfs(5): acregmin, default 3 s")
    acdirmin: Annotated[Quantity, Unit("s", low=0.0)] = prior("30 s", 0.0, "nfs(5): acdirmin, default 30 s")
    depth: Annotated[int, Field(ge=0, le=100)] = 4
    rpc_byte: Annotated[Quantity, Unit("cycles/B", spread=0.4)] = prior(
        "0.6 cycles/B",
        0.8,
        "the mean of two sources far apart: replies are read into pages as any TCP receiver reads (Linux commit "
        "277e4ab7d530), which leaves some 500 to 2000 cycles a page (fs/nfs/pagelist.c, read.c: a request, two locks, "
        "the end of its read), 0.1 to 0.5 cycles/B; one connection to an appliance carries about 2 GB/s of reads and "
        "1.2 GB/s of writes (ngxstorage.com, nconnect), 1.5 to 2.5 cycles/B in all at 3 GHz, "
        "of which TCP has some 0.5",
    )
    rdma_byte: Annotated[Quantity, Unit("cycles/B", spread=0.4)] = prior(
        "0.07 cycles/B",
        1.0,
        "assumed: 100 to 700 cycles a page to map and register it, one request after the other (Linux "
        "net/sunrpc/xprtrdma/frwr_ops.c, frwr_map); the card places the data, and the reply's handler touches none. "
        "VAST documentation has two connections for each 100 Gb/s, 6 GB/s of each and no most",
    )
    stable: RequestTime = prior(
        "0 s", 0.0, "async export, or a server with a log in memory that survives (then part of op_time and service)"
    )
    stable_byte: Annotated[Quantity, Unit("s/B", spread=0.5)] = prior("0 ns/B", 0.0, "as long for requests of any size")

    @property
    def transport(self) -> Literal["tcp", "rdma"]:
        return self.proto

    @property
    def connection_byte(self) -> Quantity:
        return self.rdma_byte if self.proto == "rdma" else self.rpc_byte

    def agrees(self, server: Machine) -> float:
        """As much as the memory of a kernel's server allows."""
        if server.stack.release is None:
            return super().agrees(server)
        return float(nfs.largest_request(server.memory.size.value))

    def flight_rate(self, row: Row, use: Access, size: Term) -> Term:
        slots = self.slots
        if use.kernels is not None and not self.states("slots"):
            slots = use.kernels.number(lambda release: _OLD_SLOTS if release < nfs.DYNAMIC_SLOTS else self.slots)
        takes = {"rtt_s": term(use.rtt_s, "s", "round trip of the route"), "service_s": self.answer_time(row, use)}
        return law(nfs.data_rate, slots=row.term(slots), io_B=size, **takes, connections=self.nconnect)

    def window(self, row: Row, use: Access) -> Term:
        """Bytes that a sequential reader has in flight: as set, or what its kernel makes of its requests and calls."""
        if self.read_ahead is not None:
            return row.term(self.read_ahead)
        size = self.io_size(use)
        if use.kernels is None:
            return law(nfs.read_ahead_bytes, requests=_READ_AHEAD, rsize_B=row.term(size))
        many_B = float(nfs.read_ahead_bytes(_READ_AHEAD, size.value))
        many = size.worth(many_B, "15 requests: Linux fs/nfs/client.c, NFS_MAX_READAHEAD before 5.4")
        usual = use.kernels.number(lambda release: many if release < nfs.SMALL_READ_AHEAD else _USUAL_AHEAD)
        call = term(use.block_B, "B")
        return law(cache.read_ahead_window, set_B=row.term(usual), call_B=call, largest_B=row.term(size))

    def more_ahead(self, use: Access, volume: str, key: str) -> tuple[Change, ...]:
        """Fifteen of the largest requests, as before Linux 5.4; nfsrahead(5) keeps it over mounts."""
        if use.kernels is None or (self.read_ahead is not None and self.read_ahead.value >= 15 * 2**20):
            return ()
        typed = f"echo 15360 > /sys/class/bdi/$(mountpoint -d {volume})/read_ahead_kb"
        return (Change(f"15 MiB read ahead at once: {typed}", (f"{key}=15 MiB",)),)

    def answer_time(self, row: Row, use: Access) -> Term:
        """Seconds of one request at the server; one WRITE that holds a whole synchronous call waits for the disks."""
        service = super().answer_time(row, use)
        return self._stable(row, use, service) if use.block_B <= self.wsize.value else service

    def commit_time(self, row: Row, use: Access) -> Term | None:
        """The COMMIT after a synchronous call that takes several WRITEs (RFC 1813, section 3.3.7: UNSTABLE)."""
        if use.operation == "read" or use.finish not in ("direct", "dsync") or use.block_B <= self.wsize.value:
            return None
        return self._stable(row, use, row.term(self.service))

    def _stable(self, row: Row, use: Access, service: Term) -> Term:
        """Time of a request whose data must be on disk before the answer."""
        if use.operation == "read" or use.finish not in ("direct", "dsync"):
            return service
        waits = row.term(self.stable) if self.stable.value > 0 else term(use.stable_s, "s", "flush at the server")
        if self.stable_byte.value > 0:
            waits = waits + row.term(self.stable_byte) * self._request(row, use)
        return service + waits if np.any(np.asarray(waits.value) > 0) else service

    @property
    def synced(self) -> bool:
        return self.export == "sync" and not (self.states("stable") or self.states("op_time"))

    def flushes(self, operations: Calls, *, written: bool) -> tuple[float, float]:
        """Each change of a directory or inode waits, and the close for what was written: COMMIT or stable WRITE."""
        if not self.synced:
            return 0.0, 0.0
        closed = written and "create" in operations and "close" in operations
        return float(sum(operation in CHANGES for operation in operations)), float(closed)

    def touched(self, row: Row, use: Access, nodes: Servers) -> Term | None:
        """A mount talks to one server; parallel NFS to all of them."""
        return None if self.pnfs else super().touched(row, use, nodes)

    # -- metadata ---------------------------------------------------------------------------------

    def round_trips(self, row: Row, operation: str) -> Value:
        """A READDIRPLUS brings fewer names than a local call, since each comes with its attributes.

        A SETATTR ends an exclusive create (RFC 1813, section 3.3.8), whose verifier stands where attributes would.
        """
        return float(metadata.listing_calls(nfs.NAMES_PER_REPLY)) if operation == "readdir" else 1.0

    def expired(self, row: Row, request_s: Value) -> Value:
        """GETATTRs for each request that walks a path, of directories on the way that expire meanwhile."""
        return law(
            nfs.revalidation, objects=self.depth, attribute_s=row.term(self.acdirmin), request_s=term(request_s, "s")
        ).value

    def waits(self, row: Row, operations: Calls, host: Machine, away_s: Value, file_B: float, *, met: int = 0) -> Value:
        """What this client has just made it looks at without asking, as long as it trusts the attributes."""
        waited = super().waits(row, operations, host, away_s, file_B)
        if not met or operations != ("stat",):
            return waited
        apart = term(super().waits(row, ("create", "close"), host, away_s, file_B), "s", "one creation")
        trusted = law(nfs.trusted_share, files=met, apart_s=apart, attribute_s=row.term(self.acregmin)).value
        return trusted * row.value(_LOCAL_LOOK) + (1.0 - trusted) * waited

    def operation_time(self, row: Row, operation: str, host: Machine) -> Value:
        """A request at the server; what changes a directory or inode waits for stable storage."""
        stable = row.value(self.stable) if operation in CHANGES else 0.0
        return super().operation_time(row, operation, host) + stable

    def thread_operations(self, row: Row, requests: Operations) -> Term:
        """A thread answers what changes a directory or inode when that is stable."""
        return super().thread_operations(row, requests) + term(requests.changes) * row.term(self.stable)

    def close_time(self, row: Row, file_B: float, rtt_s: Value) -> Value:
        trips = law(nfs.commits, file_B=file_B, wsize_B=row.term(self.wsize)).value
        last = row.value(self.stable_byte) * np.minimum(file_B, row.value(self.wsize))
        return trips * (rtt_s + row.value(self.service) + row.value(self.stable)) + last


class Vast(Nfs):
    """A mount of a VAST cluster; ``servers`` are its server nodes (CNodes), its ``arrays`` the boxes of flash.

    ``nconnect`` connections are spread over ``remoteports`` addresses, so that one mount reaches as many nodes. The
    vendor advises 8 connections for each 100 Gb/s with TCP, 2 with RDMA (kb.vastdata.com, client NFS multipathing).

    Neglects: connections kept for metadata (mdconnect); reads that miss the nodes' caches cost no other time.

    Attributes:
        nconnect: Connections of the mount, spread over the addresses.
        remoteports: Addresses of the cluster that the mount uses.
    """

    kind: ClassVar[str] = "vast"
    behind_kind: ClassVar[str] = ""
    filer: ClassVar[Mapping[str, Quantity]] = {}

    op_time: RequestTime = prior(
        "0.2 ms", 1.0, "assumed: a look-up at a node whose metadata are behind a fabric, as a request for data or less"
    )
    nconnect: Annotated[int, Field(ge=1, le=64)] = 1
    remoteports: Annotated[int, Field(ge=1, le=1024)] = 1
    service: RequestTime = prior(
        "0.5 ms", 0.6, "assumed: a request for data at a node whose flash is behind a fabric, 0.3 to 1 ms"
    )
    service_byte: Annotated[Quantity, Unit("s/B", spread=0.5)] = prior("0 ns/B", 0.0, "part of service")
    rpc_byte: Annotated[Quantity, Unit("cycles/B", spread=0.4)] = prior(
        "1.5 cycles/B",
        0.5,
        "VAST documentation: eight connections for each 100 Gb/s with TCP, 2 GB/s of one at most; at about 3 GHz that "
        "is 1.5 to 2 cycles/B in all, of which TCP has some 0.5",
    )
    read_ahead: Annotated[Quantity, Unit("B", spread=0.5, low=4096)] | None = prior(
        "15 MiB", 0.3, "assumed: read_ahead_kb raised as for other NFS appliances (Linux' old default of 15 requests)"
    )

    def touched(self, row: Row, use: Access, nodes: Servers) -> Term | None:
        """As many nodes as there are addresses with a connection."""
        return count(min(self.remoteports, self.nconnect, nodes.count), "server")
