"""What drives, arrays of drives and layers over them have in common: bytes in, bytes out, a number of disks."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated, ClassVar, Final, Literal

from pydantic import model_validator

from dtnsim.components.access import Access, Operation
from dtnsim.components.base import Component, Pick
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Mixture, Quantity, Value, prior
from dtnsim.ground.term import Term, count, law, minimum, term
from dtnsim.physics import cache, hdd_streams, pcie

ONCE: Final = Term(1.0, "1")  #: demand of a byte that costs no more than its transfer
#: what the block layer makes of sequential writes where nothing gathers whole stripes
BLOCK_REQUEST: Final = prior("1280 KiB", 0.0, "Linux include/linux/blkdev.h: BLK_DEF_MAX_SECTORS")
#: what a pair of controllers with mirrored write caches takes
MIRROR_RATE: Final = prior(
    "2.5 GB/s",
    0.6,
    "Dell EMC BeeGFS High Capacity Storage guide, p. 18: four ME4084, caches mirrored, are written at 16.54 GB/s, so "
    "4.1 GB/s a pair; assumed: a half to a third of that a generation or two before",
)
#: (ports, PCIe or DMI generation, lanes) of what SATA drives hang on: chipsets of 2008, 2011 and 2015 (Intel ICH10,
#: series 6 and 100, data sheets), LSI SAS2008 and SAS3008, Marvell 88SE9215 and 88SE9230, ASMedia ASM1061 and ASM1166,
#: JMicron JMB585
_CONTROLLERS: Final = (
    (6, 1, 4), (6, 2, 4), (8, 3, 4), (8, 2, 8), (8, 3, 8), (4, 2, 1), (4, 2, 2), (2, 2, 1), (6, 3, 2), (5, 3, 2),
)  # fmt: skip
_NEARLY: Final = 0.1  #: largest spread of a capacity that counts as known
#: payload of a packet there, as chipsets agree on
_PAYLOAD_B: Final = 128.0
_PORTS: Final = (
    "nobody says what the drives hang on: one of ten controllers, from 4 ports on a lane of PCIe 2.0 to 8 on eight of "
    "3.0, each as likely (assumed; data sheets, and blog.zorinaq.com, From 32 to 2 ports), as many as the drives take"
)


@lru_cache(maxsize=128)
def _ports_rate(drives: int) -> Quantity:
    """Rate of the ports of so many drives together, drawn among controllers where none is described."""
    rates = [math.ceil(drives / n) * float(pcie.tlp_rate(gen, lanes, _PAYLOAD_B)) for n, gen, lanes in _CONTROLLERS]
    return _one_of("controllers of drives", [Quantity(rate, "B/s", 0.05, _PORTS) for rate in rates], "ports of drives")


def _one_of(chooser: str, kinds: Sequence[Quantity], key: str) -> Quantity:
    """A rate without a limit at its best, and drawn as one of several things has it."""
    usual = replace(Mixture.of_kinds(chooser, kinds), source=kinds[0].source)
    return replace(prior("1 PB/s", 0.0, f"not stated: the ideal; {usual.source}"), typical=usual, key=key)


def links_rate(row: Row, use: Access, copies: int, link: Term) -> Term:
    """Rate of the links of equal drives, or of a controller that nobody has described where that is less."""
    links = count(copies, "link") * link
    return minimum(links, row.term(_ports_rate(copies))) if use.loose and copies > 1 else links


#: years in which RAID controllers with memory came out, what they pass of reads and take of writes [B/s]: 3ware 9500S
#: (as it is sold, xbitlabs.com), Areca ARC-1220 (four lanes of PCIe; tomshardware.com, RAID Scaling Charts, Part 1: no
#: more than 275 MB/s are written), SAS1078 (Dell, PERC 6 performance analysis report: 1,484 MB/s read; sqlblog.com,
#: October 2008: eight disks written at 354 MB/s with its cache, 631 without), SAS2108 (MegaRAID SAS 9260-8i product
#: brief), SAS2208 behind eight lanes of PCIe 2.0 and of 3.0, SAS3108, SAS3508, SAS3916 (models/parts/hba)
_RAID_CONTROLLERS: Final = (
    (2004, 0.4e9, 0.1e9), (2006, 0.8e9, 0.275e9), (2007, 1.484e9, 0.354e9), (2007, 1.484e9, 0.631e9),
    (2009, 2.875e9, 1.85e9), (2012, 2.8e9, 2.24e9), (2012, 3.6e9, 2.88e9), (2014, 5e9, 4e9), (2017, 6.3e9, 5.04e9),
    (2020, 13e9, 10.4e9),
)  # fmt: skip
_IN_USE: Final = 2009, 2020  #: years of those that a host of an unknown year may have
_SOLD: Final = 6  #: years for which one is sold
#: drives that one of them is bought for: a chassis of 24 bays
_BAYS: Final = 24
_CARD: Final = (
    "nobody says what controller the array has: one of those that came out in the six years before the host, or from "
    "the SAS2108 to the SAS3916, each as likely (assumed; models/parts/hba), one for 24 drives"
)


@lru_cache(maxsize=128)
def _controllers_rate(drives: int, year: int | None, *, reading: bool) -> Quantity:
    """Rate of the RAID controllers of so many drives, drawn among those of the host's time where none is named."""
    first, last = (year - _SOLD, year) if year else _IN_USE
    oldest, *_, newest = _RAID_CONTROLLERS
    some = [c for c in _RAID_CONTROLLERS if first <= c[0] <= last] or [oldest if last < oldest[0] else newest]
    rates = [math.ceil(drives / _BAYS) * (read if reading else written) for _, read, written in some]
    kinds = [Quantity(rate, "B/s", 0.25, _CARD) for rate in rates]
    return _one_of("chips of RAID controllers", kinds, "RAID controllers")


def charge_controller(row: Row, use: Access, name: str, drives: int) -> None:
    """Charges the controller of a hardware array of so many drives that nobody has described: all bytes pass it."""
    if use.loose:
        card = row.term(_controllers_rate(drives, use.year, reading=use.operation == "read"))
        row.charge(f"{name}.controller", "hba", capacity=card, what="RAID controller")


@dataclass(frozen=True, slots=True)
class Work:
    """What the host's kernel does to each byte of a device."""

    name: str  #: Name of its station.
    cycles: Term  #: What a byte costs [cycles/B].
    threads: int  #: Cores that may do it at once.
    what: str  #: The activity, in words.
    piece_B: float = math.inf  #: Bytes of a request that one core works on, while others take the next ones.

    def cores(self, request_B: float) -> int:
        """Cores that work on one request."""
        return max(1, math.ceil(request_B / self.piece_B))


@dataclass(frozen=True, slots=True)
class Fabric:
    """How a device behind a network is reached."""

    #: What carries the requests; ``user`` is a driver past the kernel that is charged elsewhere.
    transport: Literal["tcp", "rdma", "user"]
    connections: int  #: Connections, each of which is worked on by a core at a time.
    byte: Quantity  #: What a byte costs that core besides the transport.
    what: str  #: The protocol.
    key: str = "array.connections"  #: Key of the volume that says how many connections there are.
    #: What requests cost that core for each byte that they carry; None where ``byte`` has it.
    commands: Callable[[Row, Access], Term] | None = None

    def cycles(self, row: Row, use: Access) -> Term:
        """What a byte of an access costs the core of its connection besides the transport [cycles/B]."""
        byte = row.term(self.byte)
        return byte if self.commands is None else byte + self.commands(row, use)


@dataclass(frozen=True, slots=True)
class Connections:
    """The connections that carry an access to servers behind a network: what a bond's hash spreads over its ports."""

    number: int  #: Connections at work at once.
    tied: bool = False  #: True where each carries a fixed part of every file, so that the slowest sets the pace of all.
    #: True where everything that uses the mount shares them, False where each program opens its own.
    shared: bool = True


class Device(Component):
    """A block device. Arrays hold devices, so RAID0 over hardware RAID5 over disks is three of them."""

    family: ClassVar[str] = "device"

    @abstractmethod
    def serve(self, row: Row, use: Access, name: str, *, copies: int = 1, visit_B: Term | Value | None = None) -> None:
        """Charges one byte of an access, spread evenly over ``copies`` equal devices."""

    @property
    def below(self) -> Device | None:
        """The device that a layer lies on: what the layer does not say itself is that of the device below."""
        return None

    @property
    def drives(self) -> int:
        """Drives inside."""
        return 1 if self.below is None else self.below.drives

    @property
    def data_disks(self) -> int:
        """Drives that a full stripe's data is spread over."""
        return 1 if self.below is None else self.below.data_disks

    @property
    def each_B(self) -> float:
        """Bytes that one of its drives holds; 0 where nobody says, or only of which series it is."""
        if self.below is not None:
            return self.below.each_B
        stated = self.facts.capacity if self.facts is not None else None
        return stated.value if stated is not None and stated.spread <= _NEARLY else 0.0

    @property
    def usable(self) -> float:
        """Part of its drives' bytes that is no redundancy."""
        below = self.below
        if below is None:
            return 1.0
        striped = hasattr(self, "groups")  # others add up what is below, or lie over it like a cipher
        share = self.data_disks * below.drives / (self.drives * below.data_disks) if striped else 1.0
        return share * below.usable

    def latency(self, row: Row, use: Access, members: float = 1.0) -> Value:
        """Seconds of one request alone, its transfer left out, where ``members`` equal devices hold a part of it."""
        return 0.0 if self.below is None else self.below.latency(row, use, members)

    def next_file(self, row: Row, use: Access, copies: int = 1, members: float = 1.0) -> Value:
        """Seconds from the end of one file to the first bytes of the next, of ``copies`` equal devices."""
        return self.latency(row, use.but(random=True))

    def spread(self, use: Access) -> float:
        """Drives of which each holds a part of a record, so that the slowest of them is waited for."""
        return 1.0 if self.below is None else self.below.spread(use)

    def single_rate(self, row: Row, use: Access) -> Value:
        """Bytes per second of one request alone, once it has started [B/s]."""
        return math.inf if self.below is None else self.below.single_rate(row, use)

    def media_rate(self, row: Row, operation: Operation) -> Term:
        """Bytes per second of a long stream in the mean over the whole device, as a rebuild meets it."""
        return term(math.inf, "B/s") if self.below is None else self.below.media_rate(row, operation)

    @property
    def fabric(self) -> Fabric | None:
        """How the device is reached where it is behind a network."""
        return None if self.below is None else self.below.fabric

    def ahead_window(self, row: Row) -> Term:
        """Bytes of a window that the kernel reads ahead on it where nobody sets them."""
        return term(cache.LINUX_READ_AHEAD_B, "B") if self.below is None else self.below.ahead_window(row)

    def works(self, row: Row, use: Access) -> tuple[Work, ...]:
        """Work of the host's kernel on each byte that is moved, parity left out."""
        return ()

    def served_here(self, row: Row, use: Access) -> Term | None:
        """What a byte costs the host's own cores where it is one of the device's servers [cycles/B]; None elsewhere."""
        return None if self.below is None else self.below.served_here(row, use)

    @property
    def rotates(self) -> bool:
        """Whether the drives inside are disks."""
        return self.below is not None and self.below.rotates

    def piece(self, use: Access) -> float:
        """Bytes of one block of a file on one drive."""
        return use.record_B or use.block_B if self.below is None else self.below.piece(use)

    @property
    def holds_B(self) -> float:
        """Bytes that it holds; infinite where it does not say so."""
        return math.inf if self.below is None else self.below.holds_B

    @property
    def keeps_writes(self) -> bool:
        """Whether what is written survives a loss of power as soon as the device has it (battery, capacitors)."""
        return self.below is not None and self.below.keeps_writes

    def answers_early(self, use: Access) -> bool:
        """Whether memory answers: a write before it is on the medium, a read in sequence that was read ahead."""
        return use.operation == "write" and self.keeps_writes if self.below is None else self.below.answers_early(use)

    def turnaround(self, row: Row) -> Term:
        """Seconds from handing a sequential write to the device until it is done, its transfer left out."""
        return term(0.0, "s") if self.below is None else self.below.turnaround(row)

    def turn(self, row: Row) -> Term:
        """Seconds until disks inside have a block under their heads that has just passed them: one turn."""
        return term(0.0, "s") if self.below is None else self.below.turn(row)

    def flush_time(self, row: Row) -> Term | None:
        """Seconds until flash that loses its memory with the power has emptied it; None where that is not known."""
        return None if self.below is None else self.below.flush_time(row)

    def parity_thread(self, row: Row, use: Access) -> tuple[Term, int] | None:
        """Work of the host's own parity thread on a byte of data [cycles/B], and how many threads share it."""
        return None

    def bus_factor(self, use: Access) -> Value:
        """Bytes that cross the host's bus per byte of data (parity computed by the host goes out too)."""
        return 1.0 if self.below is None else self.below.bus_factor(use)


def part_of_visit(visit_B: Term | Value | None, members: float) -> Term | None:
    """Bytes of one visit of a member, of those of the whole; None where nobody says any."""
    return None if visit_B is None else law(hdd_streams.visit_bytes, window_B=term(visit_B, "B"), data_disks=members)


class Layer(Device):
    """A device made of others: what a kind does not say itself is that of the device below.

    Attributes:
        of: The device that it lies on, or each of the equal devices that it is made of.
    """

    of: Annotated[Device, Pick(Device)]

    @model_validator(mode="before")
    @classmethod
    def _of_several(cls, raw: object) -> object:
        """A list of unlike drives as one member that stands for any of them; ``disks`` is their number."""
        shares = raw.get("of") if isinstance(raw, dict) else None
        if not isinstance(raw, dict) or not isinstance(shares, list) or "disks" not in cls.model_fields:
            return raw
        counts = [str(share.get("n")) if isinstance(share, dict) else "" for share in shares]
        if not counts or not all(count.isdigit() for count in counts):
            raise ValueError("'of' needs a drive and how many of it: of: [{drive: a, n: 8}, {drive: b, n: 4}]")
        number, groups = sum(map(int, counts)), str(raw.get("groups", 1))
        members = number // int(groups) if groups.isdigit() and int(groups) else number
        if str(raw.get("disks", members)) != str(members) or (groups.isdigit() and members * int(groups) != number):
            raise ValueError(
                f"has {raw.get('disks', members)} disks in {groups} groups, and 'of' lists {number} drives"
            )
        return {**raw, "disks": str(members), "of": {"kind": "unlike", "shares": shares}}

    @property
    def below(self) -> Device:
        return self.of

    def next_file(self, row: Row, use: Access, copies: int = 1, members: float = 1.0) -> Value:
        return self.below.next_file(row, use, copies * max(1, self.drives // max(self.below.drives, 1)), members)

    def works(self, row: Row, use: Access) -> tuple[Work, ...]:
        """Work on each byte that goes to the devices below."""
        times = self.bus_factor(use) / self.below.bus_factor(use)
        return tuple(replace(work, cycles=work.cycles * term(times)) for work in self.below.works(row, use))

    def parity_thread(self, row: Row, use: Access) -> tuple[Term, int] | None:
        """That of the device below; of several arrays that share the data each has threads of its own."""
        parity = self.below.parity_thread(row, use)
        return None if parity is None else (parity[0], parity[1] * max(1, self.data_disks // self.below.data_disks))

    def serve(self, row: Row, use: Access, name: str, *, copies: int = 1, visit_B: Term | Value | None = None) -> None:
        self.below.serve(row, use, name, copies=copies, visit_B=visit_B)
