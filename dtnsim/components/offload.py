"""Cards that take work over from a host's cores: crypto accelerators and DPUs."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from dtnsim.components.access import Thread
from dtnsim.components.base import Component
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, prior
from dtnsim.ground.term import Term, count, law
from dtnsim.physics import waiting

#: what a byte costs more where the processor has no instructions for AES, in cycles of which such processors do 0.4 to
#: 0.9 each (`Cpu.per_cycle`)
WITHOUT_AES: Final = {
    "aes-ctr": prior(
        "8 cycles/B",
        0.4,
        "OpenSSL aes-x86_64.pl and bsaes-x86_64.pl, AES-128: 13.7 cycles/B on an Opteron, 20.2 on a Pentium 4, 8.7 on "
        "a Core 2, 16.4 on an Atom; assumed: which do 0.7, 0.45, 0.8 and 0.4 a cycle",
    ),
    "aes-gcm": prior(
        "15 cycles/B",
        0.5,
        "aes-ctr, and OpenSSL ghash-x86_64.pl: 7.7 cycles/B on an Opteron, 8.1 on a Core 2, 16.8 on an Atom; "
        "github.com/lelegard/aesbench: both together 27 on a Cortex-A53, 48 on a Cortex-A72",
    ),
    "aes-gmac": prior("7 cycles/B", 0.5, "aes-gcm less aes-ctr: the authentication alone"),
}
#: whose steps wait for each other, so that a byte takes as many cycles where a cycle does more (`Cpu.per_cycle`)
CHAINED: Final = frozenset({"md5"})


@dataclass(frozen=True, slots=True)
class Duty:
    """Work that a device may take over from a host's cores."""

    #: ``cipher``, ``compression``, ``tcp``, ``nvme-of`` (storage behind a network card), or ``own``, a cipher that the
    #: program or the kernel computes itself, whatever devices there are.
    kind: Literal["cipher", "compression", "tcp", "nvme-of", "own"]
    #: ``aes-gcm``, ``aes-ctr``, ``chacha20-poly1305``, ``deflate`` ...; empty where there is but one way.
    algorithm: str = ""
    protocol: str = ""  #: What speaks it: ``ssh``, ``tls``.
    nic: str = ""  #: Network card that the bytes pass.
    left: Quantity | None = None  #: What stays with the core: copies, the program itself [cycles/B].


class Offload(Component):
    """A device in a slot of a host; kinds add their own placement keys, and say what they take over.

    Attributes:
        slot: Slot that it sits in.
        card_lanes: PCIe lanes of the card.
        card_generation: PCIe generation of the card.
    """

    family: ClassVar[str] = "offload"
    placement_keys: ClassVar[tuple[str, ...]] = ("slot",)

    slot: str | None = None
    card_lanes: Annotated[int, Field(ge=1, le=32)] = 8
    card_generation: Annotated[int, Field(ge=1, le=6)] = 3

    #: times that a byte crosses the card's slot in each direction on its way there and back; 0 where it passes anyway
    visits: ClassVar[float] = 1.0

    @abstractmethod
    def takes(self, duty: Duty) -> bool:
        """Whether the device does such work."""

    @abstractmethod
    def serve(self, row: Row, name: str, duty: Duty, cycles: Term, thread: Thread) -> None:
        """Charges the device's own engines for one byte."""

    @abstractmethod
    def handing_over(self, row: Row) -> Term:
        """Work of the core to hand a byte to the card and take it back [cycles/B]."""

    def nics(self) -> list[str]:
        """Network cards of the host that the device's keys name; the host checks that they are there."""
        return []


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
        """Its engines, which are not the host's cores, and the requests that the thread has in flight."""
        rating = self.compression if duty.kind == "compression" and self.compression is not None else self.cipher
        rate, kind = row.term(rating), "compression" if duty.kind == "compression" else "cipher"
        remedy = f"a faster card or a second one (hosts.{row.host}.devices.{name})"
        row.charge(f"{name}.{kind}", "offload", capacity=rate, what=f"{kind} engines of {name}", remedy=remedy)
        size, latency_s, one = row.term(self.request), row.term(self.latency), rate / count(self.engines, "engine")
        alone = law(waiting.request_rate, request_B=size, latency_s=latency_s, rate_Bps=one, in_flight=self.in_flight)
        capacity, text = count(thread.copies, "thread") * alone, f"requests that {thread.name} has in flight at {name}"
        key = f"hosts.{row.host}.devices.{name}.in_flight: asynchronous mode"
        remedy = f"more requests in flight ({key}) or more streams or processes"
        station = f"{name}.requests.{thread.name}"
        row.charge(station, "offload", capacity=capacity, private=True, what=text, remedy=remedy)

    def handing_over(self, row: Row) -> Term:
        return row.term(self.submit) / row.term(self.request)


class Dpu(Offload):
    """The cores and engines of a DPU; its ports are a NIC of the host, which ``nic`` names.

    Bytes pass its slot once, on their way to the network; the host's cores hand over requests and copy.

    Attributes:
        nic: The host's NIC that is this card's ports; its only one where nothing is said.
        takes_over: Work that it does for the host: tcp, tls (inline AES-GCM), nvme-of.
        cores: Cores of the card.
        clock: Their clock.
        per_cycle: Work that one of their cycles does, over a cycle of the host that the kernel's costs belong to.
        crypto: Rate of its inline AES-GCM engines.
        request: Bytes of one request from the host.
        submit: Work of the host's core to submit a request and take it back.
    """

    kind: ClassVar[str] = "dpu"
    placement_keys: ClassVar[tuple[str, ...]] = ("slot", "nic", "takes_over")
    visits: ClassVar[float] = 0.0  # to the network they pass its slot anyway

    nic: str | None = None
    takes_over: tuple[Literal["tcp", "tls", "nvme-of"], ...] = ("tcp", "tls", "nvme-of")
    cores: Annotated[int, Field(ge=1, le=256)]
    clock: Annotated[Quantity, Unit("Hz", spread=0.05, low=1e8, high=1e10)]
    per_cycle: Annotated[Quantity, Unit("1", spread=0.2, low=0.1, high=5.0)] = prior(
        "0.7", 0.25, "assumed: Arm Cortex-A72, three instructions wide, beside four of a Xeon"
    )
    crypto: Annotated[Quantity, Unit("B/s", spread=0.1, low=1e6)] | None = None
    request: Annotated[Quantity, Unit("B", low=512)] = prior(
        "64 KiB", 0.3, "assumed: buffers of a virtual device, as large as a segmentation offload's"
    )
    submit: Annotated[Quantity, Unit("cycles", spread=0.5)] = prior(
        "3000 cycles", 0.6, "assumed: a descriptor, a doorbell and a completion, about a microsecond a request"
    )

    def takes(self, duty: Duty) -> bool:
        """What ``takes_over`` names, for bytes that pass its ports."""
        if self.nic is not None and duty.nic != self.nic:
            return False
        if duty.kind == "cipher":
            return "tls" in self.takes_over and (duty.protocol, duty.algorithm) == ("tls", "aes-gcm")
        return duty.kind in self.takes_over

    def serve(self, row: Row, name: str, duty: Duty, cycles: Term, thread: Thread) -> None:
        """Inline engines for AES-GCM where it has them, its cores, with threads of their own, for the rest."""
        key = f"hosts.{row.host}.devices.{name}"
        if duty.kind == "cipher" and self.crypto is not None:
            engines, remedy = row.term(self.crypto), f"a card with faster engines ({key}.crypto)"
            row.charge(f"{name}.crypto", "offload", capacity=engines, what="inline AES-GCM", remedy=remedy)
            return
        rate = count(self.cores, "core") * row.term(self.clock) * row.term(self.per_cycle)
        text, label = f"{duty.kind} on the cores of {name}", f"all cores of the DPU {name} of {row.host}"
        remedy, unit = f"leave work to the host's own cores ({key}.takes_over), or a card with more cores", "cycles"
        station = f"{name}.cores"
        row.charge(station, "offload", capacity=rate, per_byte=cycles, unit=unit, what=text, label=label, remedy=remedy)

    def handing_over(self, row: Row) -> Term:
        return row.term(self.submit) / row.term(self.request)

    def nics(self) -> list[str]:
        return [] if self.nic is None else [self.nic]
