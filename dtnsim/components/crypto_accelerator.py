"""A card that encrypts and compresses for the host, such as Intel QuickAssist (QAT)."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from dtnsim.components.access import Thread
from dtnsim.components.offload import Duty, Offload
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, prior
from dtnsim.ground.term import Term, count, law
from dtnsim.physics import waiting


class CryptoAccelerator(Offload):
    """A look-aside card: bytes go there and come back over its slot, and the program waits or keeps some in flight.

    Attributes:
        cipher: Rate of all its engines on ciphers.
        compression: Rate of all its engines on deflate.
        algorithms: Ciphers that it computes; others stay with the host.
        engines: Engines that share these rates; a request is on one of them.
        request: Bytes of one request.
        latency: Time of an empty request, there and back.
        in_flight: Requests that a thread keeps in flight; 1 where the program waits for each, as OpenSSH does.
        submit: Work of the core to submit a request and take it back.
    """

    kind: ClassVar[str] = "crypto-accelerator"
    placement_keys: ClassVar[tuple[str, ...]] = ("slot", "in_flight")

    cipher: Annotated[Quantity, Unit("B/s", spread=0.15, low=1e6)]
    compression: Annotated[Quantity, Unit("B/s", spread=0.2, low=1e6)] | None = None
    algorithms: tuple[Literal["aes-gcm", "aes-ctr", "chacha20-poly1305"], ...] = ("aes-gcm", "aes-ctr")
    engines: Annotated[int, Field(ge=1, le=256)] = 8
    request: Annotated[Quantity, Unit("B", low=64)] = prior(
        "16 KiB", 0.0, "RFC 8446: largest TLS record; packets of SSH carry up to 32 KiB"
    )
    latency: Annotated[Quantity, Unit("s", spread=0.5)] = prior(
        "20 us", 0.7, "assumed: doorbell, DMA both ways and polling of a PCIe card, some ten microseconds"
    )
    in_flight: Annotated[int, Field(ge=1, le=65536)] = 1
    submit: Annotated[Quantity, Unit("cycles", spread=0.5)] = prior(
        "3000 cycles", 0.6, "assumed: building descriptors, a doorbell and polling, about a microsecond a request"
    )

    def takes(self, duty: Duty) -> bool:
        """Ciphers that it has engines for; deflate where it has a rate for it."""
        if duty.kind == "compression":
            return self.compression is not None and duty.algorithm in ("", "deflate")
        return duty.kind == "cipher" and duty.algorithm in self.algorithms

    def serve(self, row: Row, name: str, duty: Duty, cycles: Term, thread: Thread) -> None:
        """Its engines, and the requests that the thread has in flight."""
        del cycles  # its engines are not the host's cores
        given = self.compression if duty.kind == "compression" and self.compression is not None else self.cipher
        rate, kind = row.term(given), "compression" if duty.kind == "compression" else "cipher"
        row.charge(
            f"{name}.{kind}",
            "offload",
            capacity=rate,
            what=f"{kind} engines of {name}",
            remedy=f"a faster card or a second one (hosts.{row.host}.devices.{name})",
        )
        alone = law(
            waiting.request_rate,
            request_B=row.term(self.request),
            latency_s=row.term(self.latency),
            rate_Bps=rate / count(self.engines, "engine"),
            in_flight=self.in_flight,
        )
        row.charge(
            f"{name}.requests.{thread.name}",
            "offload",
            capacity=count(thread.copies, "thread") * alone,
            private=True,
            what=f"requests that {thread.name} has in flight at {name}",
            remedy=f"more requests in flight (hosts.{row.host}.devices.{name}.in_flight: asynchronous mode) or more "
            "streams or processes",
        )

    def handing_over(self, row: Row) -> Term:
        """A request for so many bytes."""
        return row.term(self.submit) / row.term(self.request)
