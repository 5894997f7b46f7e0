"""SMB 3: credits in flight, channels, ciphers, and what each client asks for about a file."""

from typing import Annotated, ClassVar, Final, NamedTuple

from pydantic import Field

from dtnsim.components.access import Access, Calls
from dtnsim.components.cores import core_cost
from dtnsim.components.machine import Machine
from dtnsim.components.remote import Remote
from dtnsim.components.servers import RequestTime
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, prior
from dtnsim.ground.term import Term, law, term
from dtnsim.ground.uncertainty import Otherwise
from dtnsim.physics import nfs

#: requests of clients before Linux 4.20
_OLD_SMB: Final = prior(
    "1 MiB", 0.0, "Linux fs/smb, SMB21_DEFAULT_IOSIZE; commit 3d621230b867 made it 4 MiB with SMB 3"
)
#: requests of a read-ahead before Linux 5.13 and since
_ONE, _TWO = (prior(f"{n}", 0.0, "Linux fs/smb/client/cifsfs.c, cifs_read_super (ra_pages)") for n in (1, 2))
_CIPHER = core_cost("aes128_gcm")  #: AES-128-GMAC (SMB 3.1.1) is the authentication of GCM without its cipher


class Trips(NamedTuple):
    """Round trips of a client for a file that is opened, made, closed after reading, closed after writing."""

    opened: int
    made: int
    read: int
    written: int


#: a CREATE; at the end the WRITE that close waits for (cifs_flush) and a CLOSE (MS-SMB2, sections 3.2.4.3 and 3.2.4.5)
_PLAIN: Final = Trips(1, 1, 1, 2)
#: no CLOSE that anybody waits for: a handle with a lease is kept (Linux fs/smb/client/file.c, cifs_close, closetimeo)
_KEEPS: Final = Trips(1, 1, 0, 1)
#: Apple smbfs, smbfs_vnops.c: attributes are asked anew at the first open and the last close (smbfs_update_cache), a
#: directory for the name before the CREATE in it (smbfs_vnop_compound_open); a file that has grown is given its size
#: (NNEEDS_EOF_SET) and flushed (smbfs_smb_seteof) before its CLOSE
_APPLE: Final = Trips(2, 2, 2, 5)


class Smb(Remote):
    """An SMB 3 mount (Linux cifs.ko); the volume's ``server`` names host and volume, or ``servers`` describes a filer.

    A session is one thread of one process of the server (Samba), whatever ``channels`` it has (max_channels), and a
    channel one core's work at the client. ``encrypt`` ciphers every byte at both ends; ``sign`` only authenticates.

    What a file costs in round trips is its client's, which is known by the stack: Linux, macOS, or as MS-SMB2 has it.

    Neglects: leases that other clients break; SMB Direct; of macOS what a server with vfs_fruit saves (size and FLUSH),
    extended attributes and the server's disks at a FLUSH.
    """

    kind: ClassVar[str] = "smb"
    protocol: ClassVar[str] = "SMB"
    daemon: ClassVar[str] = "smbd"
    setting: ClassVar[str] = "smb.conf: aio max threads"
    wires: ClassVar[str] = "filesystem.channels"

    op_time: RequestTime = prior(
        "0.3 ms", 1.5, "assumed: one compound of create, query and close at a server in user space"
    )
    threads: Annotated[int, Field(ge=1, le=4096)] = 100
    service: RequestTime = prior(
        "0.1 ms", 0.7, "assumed: a request at a server in user space whose threads hand it on, 50 to 200 us"
    )
    rsize: Annotated[Quantity, Unit("B", low=4096, high=2**23)] = prior(
        "4 MiB", 0.0, "mount.cifs(8): rsize, 4 MiB with SMB 3"
    )
    wsize: Annotated[Quantity, Unit("B", low=4096, high=2**23)] = prior(
        "4 MiB", 0.0, "mount.cifs(8): wsize, 4 MiB with SMB 3"
    )
    credits: Annotated[int, Field(ge=1, le=65535)] = 8192
    channels: Annotated[int, Field(ge=1, le=16)] = 1
    sign: Annotated[bool, Otherwise("true", "Windows 11 and Server 2025 ask for it (Get-SmbClientConfiguration)")] = (
        False
    )
    encrypt: bool = False
    smb_byte: Annotated[Quantity, Unit("cycles/B", spread=0.4)] = prior(
        "1.5 cycles/B",
        0.6,
        "assumed: more than a connection of NFS, since replies are read page by page (Linux fs/smb/client, "
        "cifs_read_page_from_socket); one of Samba fills 10 GbE on cores of 3 GHz and more",
    )
    smbd_byte: Annotated[Quantity, Unit("cycles/B", spread=0.4)] = prior(
        "0.7 cycles/B",
        0.6,
        "a report on tuning SMB on ZFS (fs2, September 2026): smbd's one thread for all channels at some 80 % of "
        "a core with 2.0 to 2.3 GB/s; 3.5 GHz assumed, less 0.6 cycles/B of TCP",
    )
    cipher_byte: Annotated[Quantity, Unit("cycles/B", spread=0.4)] = _CIPHER
    sign_byte: Annotated[Quantity, Unit("cycles/B", spread=0.4)] = prior(
        "0.4 cycles/B", 0.5, "assumed: AES-128-GMAC, the authentication of GCM, half of its cycles"
    )

    @property
    def sessions(self) -> int:
        """One thread of smbd, which serves all channels of a session."""
        return 1

    @property
    def server_byte(self) -> Quantity:
        return self.smbd_byte

    @property
    def connection_byte(self) -> Quantity:
        return self.smb_byte

    def both_ends(self, row: Row) -> tuple[Term, str] | None:
        if self.encrypt:
            return row.term(self.cipher_byte), "aes-gcm"
        return (row.term(self.sign_byte), "aes-gmac") if self.sign else None

    def io_size(self, use: Access) -> Quantity:
        """Bytes of one READ or WRITE; older clients ask for less where nobody says."""
        size = super().io_size(use)
        if use.kernels is None or self.states("rsize" if use.operation == "read" else "wsize"):
            return size
        return use.kernels.number(lambda release: _OLD_SMB if release < nfs.LARGE_SMB else size)

    def flight_rate(self, row: Row, use: Access, size: Term) -> Term:
        rtt, service = term(use.rtt_s, "s", "round trip of the route"), self.answer_time(row, use)
        return law(
            nfs.credits_rate, granted=self.credits, io_B=size, rtt_s=rtt, service_s=service, channels=self.channels
        )

    def window(self, row: Row, use: Access) -> Term:
        if self.read_ahead is not None:
            return row.term(self.read_ahead)
        requests = _TWO if use.kernels is None else use.kernels.number(lambda old: _ONE if old < nfs.DEEP_SMB else _TWO)
        return law(nfs.read_ahead_bytes, requests=row.term(requests), rsize_B=row.term(self.io_size(use)))

    def waits(self, row: Row, operations: Calls, host: Machine, away_s: Value, file_B: float, *, met: int = 0) -> Value:
        """Round trips as the client of the host makes them, each of which waits."""

        def wait(trips: Trips) -> Quantity:
            closed = trips.written if "create" in operations else trips.read
            each = {"open": trips.opened, "create": trips.made, "close": closed}
            number = 1 + sum(each.get(operation, 1) for operation in operations)
            return prior(f"{number}", 0.0, "round trips of a file, and one")

        kernels = host.stack.releases
        if kernels is None:
            trips = wait(_APPLE if host.system == "macos" else _PLAIN)
        else:
            trips = kernels.number(lambda release: wait(_KEEPS if release >= nfs.DEEP_SMB else _PLAIN))
        waited = super().waits(row, operations, host, away_s, file_B, met=met)
        return waited + (row.value(trips) - 1.0 - len(operations)) * (away_s + row.value(self.op_time))
