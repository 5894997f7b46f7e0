"""SMB 3: credits over a round trip, channels, signatures and encryption at both ends."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from dtnsim.components.access import Access
from dtnsim.components.cores import core_cost
from dtnsim.components.remote import Remote
from dtnsim.components.servers import RequestTime
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, prior
from dtnsim.ground.term import Term, law
from dtnsim.ground.uncertainty import Otherwise
from dtnsim.physics import nfs

#: AES-128-GMAC (SMB 3.1.1) is the authentication of GCM without its cipher
_CIPHER = core_cost("aes128_gcm")


class Smb(Remote):
    """An SMB 3 mount (Linux cifs.ko); the volume's ``server`` names host and volume, or ``servers`` describes a filer.

    A session is one thread of one process of the server (Samba), whatever ``channels`` it has (max_channels), and a
    channel one core's work at the client. ``encrypt`` ciphers every byte at both ends; ``sign`` only authenticates.

    Neglects: leases that other clients break; SMB Direct.
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
        "assumed: as a connection of NFS; one of Samba fills 10 GbE on cores of 3 GHz and more",
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
    def connections(self) -> int:
        """Channels of the session."""
        return self.channels

    @property
    def sessions(self) -> int:
        """One thread of smbd, which serves all channels of a session."""
        return 1

    @property
    def server_byte(self) -> Quantity:
        """What smbd does with a byte."""
        return self.smbd_byte

    @property
    def connection_byte(self) -> Quantity:
        """Work of the client's kernel for a byte."""
        return self.smb_byte

    def both_ends(self, row: Row) -> Term | None:
        """Cipher or signature."""
        if self.encrypt:
            return row.term(self.cipher_byte)
        return row.term(self.sign_byte) if self.sign else None

    def io_size(self, use: Access) -> Quantity:
        """Bytes of one READ or WRITE."""
        return self.rsize if use.operation == "read" else self.wsize

    def flight_rate(self, row: Row, size: Term, rtt: Term, service: Term) -> Term:
        """Credits over the round trip."""
        del row
        return law(
            nfs.credits_rate, granted=self.credits, io_B=size, rtt_s=rtt, service_s=service, channels=self.channels
        )

    def window(self, row: Row) -> Term:
        """Bytes that a sequential reader has in flight."""
        if self.read_ahead is not None:
            return row.term(self.read_ahead)
        return law(nfs.smb_read_ahead, rsize_B=row.term(self.rsize))
