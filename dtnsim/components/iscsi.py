"""iSCSI and iSER: LUNs of a target over TCP, a core a session, or over RDMA."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from dtnsim.components.access import Access
from dtnsim.components.device import BLOCK_REQUEST
from dtnsim.components.remote_block import RemoteBlock
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, prior
from dtnsim.ground.term import Term, law, term
from dtnsim.physics import nfs

_CRC = prior("0.3 cycles/B", 0.6, "assumed: CRC32C by the processor's own instruction, some 0.15 to 0.6 cycles a byte")


class Iscsi(RemoteBlock):
    """LUNs of an iSCSI target (open-iscsi); ``transport: rdma`` is iSER.

    What a write brings along is ``first_burst``; the target asks for the rest, ``burst`` by ``burst`` (R2T, one at a
    time unless MaxOutstandingR2T says otherwise), and each burst is a round trip.

    Neglects: error recovery levels; several R2T at a time.

    Attributes:
        connections: Sessions to all targets together (node.session.nr_sessions, paths of multipath).
        depth: Commands that a session has in flight for one LUN (node.session.queue_depth).
        request: Largest request (MaxRecvDataSegmentLength, MaxBurstLength).
        first_burst: Data that a write sends without being asked (FirstBurstLength; ImmediateData, InitialR2T=No).
        burst: Data that the target asks for at once (MaxBurstLength).
        digest: Whether data have CRC32C digests (node.conn[0].iscsi.DataDigest).
        digest_byte: What a digest costs a byte.
    """

    kind: ClassVar[str] = "iscsi"

    depth: Annotated[int, Field(ge=1, le=4096)] = 32
    request: Annotated[Quantity, Unit("B", low=4096)] = prior(
        "128 KiB", 0.0, "Linux: read_ahead_kb of block devices; open-iscsi takes data segments of up to 256 KiB"
    )
    protocol_byte: Annotated[Quantity, Unit("cycles/B", spread=0.5)] = prior(
        "0.3 cycles/B", 0.7, "assumed: headers, SCSI commands and a copy in part, in the session's one thread"
    )
    first_burst: Annotated[Quantity, Unit("B", low=0)] = prior("64 KiB", 0.0, "RFC 7143, 13.14: default 65536")
    burst: Annotated[Quantity, Unit("B", low=512)] = prior("256 KiB", 0.0, "RFC 7143, 13.13: default 262144")
    digest: bool = False
    digest_byte: Annotated[Quantity, Unit("cycles/B", spread=0.5)] = _CRC

    ROUND_TRIP: ClassVar[dict[str, Quantity]] = {
        "tcp": prior(
            "100 us", 0.6, "assumed: kernel to kernel 50 to 200 us; 15 us where a card does it (Chelsio T6, 100G iSCSI)"
        ),
        "rdma": prior(
            "20 us", 0.5, "Chelsio, High performance 100G iSCSI: 15 us more than local, protocol on the card"
        ),
    }

    def largest(self, use: Access) -> Quantity:
        """A direct write is one command as far as the block layer leaves it whole."""
        direct = use.operation == "write" and use.finish in ("direct", "dsync")
        return BLOCK_REQUEST if direct else super().largest(use)

    def trips(self, row: Row, use: Access) -> Term | float:
        """A write waits for each burst that the target asks for."""
        if use.operation == "read":
            return 1.0
        gathered = use.buffered and not use.random
        size = self.largest(use).value if gathered else min(use.block_B, self.largest(use).value)
        sent, burst = row.term(self.first_burst), row.term(self.burst)
        return law(nfs.solicited_trips, write_B=term(size, "B"), first_B=sent, burst_B=burst)

    @property
    def per_byte(self) -> Quantity:
        """Commands, and digests where they are on."""
        own, crc = self.protocol_byte, self.digest_byte
        return own.worth(own.value + crc.value, f"{own.source}; {crc.source}") if self.digest else own
