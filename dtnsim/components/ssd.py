"""SSDs (SATA, SAS, NVMe): link, flash, caches that fill, compressing controllers, garbage collection, latency."""

from dataclasses import replace
from typing import Annotated, ClassVar, Final, Self

import numpy as np
from pydantic import model_validator

from dtnsim.components.access import Access, Operation
from dtnsim.components.device import ONCE, Device, links_rate
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, factor_spread, ideally, prior
from dtnsim.ground.term import Term, count, largest, law, minimum, term
from dtnsim.physics import pcie, ssd, waiting

_RATED_B: Final = 4096.0  #: size of the random requests that drives are rated for

#: link that a drive is made for over that of a slot which nobody has described; a faster slot changes nothing
UNSTATED_SEAT: Final = replace(
    ideally(
        "1",
        prior(
            "1.43",
            factor_spread(1.5),
            "assumed: its own generation, the one before with half of the rate, or a chipset's shared link (AnandTech, "
            "Samsung 980 PRO review, 2020: the vast majority of machines does not support PCIe 4.0)",
        ),
    ),
    key="slots of NVMe drives",
)
#: part of a drive in use where nothing tells it what is free
_UNTRIMMED: Final = prior(
    "0.95",
    0.1,
    "Red Hat Enterprise Linux 6, storage administration guide, 20.1: software RAID 1, 4, 5 and 6 write to all of the "
    "blocks when they are made; Linux drivers/md/raid5.c: no discard unless devices_handle_discard_safely",
)
_YOUNG: Final = 4  #: the first generation of PCIe that machines in use may lack
#: what a program's turn takes of a latency that it sees
_TURN: Final = prior("3 us", 0.4, "direct_call, 10,000 cycles, at the 3 to 4 GHz of hosts that drives are rated on")
#: what the library's 39 drives on PCIe and SAS have, where of one of them no more than its rates are stated: geometric
#: means, and standard deviations of the logarithm
_FASTER: Final = "the library's 39 drives on PCIe and SAS"
_LATENCIES: Final = {
    "latency_sequential": prior("10 us", 0.4, "Lenovo, product guide of the Intel P4500: 10 us; 85 to 115 at random"),
    "latency_write": prior("18 us", 0.29, f"{_FASTER}: 12 to 50 us"),
}
#: random reads of such drives without capacitors and with them, by the generation of PCIe, as they are rated; the
#: spread is that of the library's 39
_READS: Final = {
    False: {
        3: prior("66 us", 0.26, "as rated at depth 1: Samsung 950 PRO 83 us, 960 71, 970 EVO Plus 53, 980 59"),
        4: prior("47 us", 0.26, "kitguru.net, one thread at depth 1: Lexar NM790 50 us, Samsung 9100 PRO 44"),
    },
    True: {
        3: prior("97 us", 0.26, "as rated: Intel P4500 85 to 115 us, Samsung PM983 85, Micron 9200 92 to 150"),
        4: prior("82 us", 0.26, "as rated: Kioxia CD6 90 us, CD7 75"),
        5: prior("62 us", 0.26, "as rated: Micron 9550 60 us, Samsung PM9D3a 65"),
    },
}
_SATA: Final = "the library's 14 drives on SATA"
#: random writes of such drives that are rated into fresh cells; small ones of 120 GB do no more than 36,000
_FRESH: Final = prior("82k IOPS", 0.3, f"{_SATA}: 60,000 to 90,000 without capacitors")
#: part of the rate that random requests of 4 KiB come to: read; written, to a steady rating and into fresh cells
_OF_READ: Final = (0.65, 0.23)
_OF_WRITE: Final = {True: (0.16, 0.83), False: (2.1, 0.9)}


class Ssd(Device):
    """A solid-state drive.

    ``write`` is the sustained rate of incompressible data where it is known; ``burst_write`` with ``burst`` is what the
    datasheet promises until the fast cache is full, of which the part ``dynamic`` shrinks as the drive is ``filled``.
    Some drives then write ``direct`` bytes at ``direct_write`` before they must fold the cache at the same time.
    A ``compresses`` controller stores zeros for nothing, at its own rate ``write_compressed``; where that is not given,
    at the ``burst_write`` that its datasheet promises for data that compress.
    ``spare`` (flash beyond the capacity) makes random writes pay for garbage collection; leave it out where
    ``iops_write`` is a steady-state figure, as that of drives with ``power_loss_protection`` is: it says what a full
    drive copies for each byte of a random write, of 4 KiB or more; one that is ``filled`` in part copies less.
    ``latency_read`` is that of a random read; small requests in sequence find what a die read with the one before
    (``latency_sequential``, ``page``). Latencies are as rated: of 4 KiB, one at a time, as a program sees them. ``hot``
    is the rate that the drive keeps at its temperature limit, ``flush`` what a sync takes where no capacitors help.
    Behind parity, or a controller, nothing is trimmed: a drive is full there whatever files there are.
    """

    kind: ClassVar[str] = "ssd"
    columns: ClassVar[tuple[str, ...]] = ("read", "write", "iops_read", "iops_write")

    read: Annotated[Quantity, Unit("B/s", spread=0.05, low=1e6)]
    write: Annotated[Quantity, Unit("B/s", spread=0.15, low=1e5)]
    burst_write: Annotated[Quantity, Unit("B/s", spread=0.05, low=1e5)] | None = None
    burst: Annotated[Quantity, Unit("B", spread=0.3)] | None = None
    dynamic: Annotated[Quantity, Unit("1", high=1.0)] = prior("0", 0.0, "a cache of fixed size")
    direct_write: Annotated[Quantity, Unit("B/s", spread=0.1, low=1e5)] | None = None
    direct: Annotated[Quantity, Unit("B", spread=0.3)] | None = None
    filled: Annotated[Quantity, Unit("1", high=1.0)] = prior("0.5", 0.5, "assumed: half full, the rest trimmed")
    compresses: bool = False
    write_compressed: Annotated[Quantity, Unit("B/s", spread=0.3, low=1e5)] | None = None
    spare: Annotated[Quantity, Unit("1", spread=0.1, high=10.0)] | None = None
    indirection: Annotated[Quantity, Unit("B", low=512)] = prior(
        "4 KiB", 0.0, "mapping table of one entry a 4-KiB page"
    )
    hot: Annotated[Quantity, Unit("B/s", spread=0.2, low=1e5)] | None = None
    hot_after: Annotated[Quantity, Unit("s", spread=0.3)] = prior(
        "120 s", 0.7, "assumed: a drive without heat sink at full rate throttles after one to a few minutes"
    )
    interference: Annotated[Quantity, Unit("1", high=5.0)] = prior(
        "0.2", 1.0, "assumed: reads that wait for dies busy with programs cost a mixed load 0 to 40 % at an even mix"
    )
    latency_read: Annotated[Quantity, Unit("s", spread=0.2)] = prior(
        "105 us", 0.15, "Intel S4500 datasheet: 110 us; Samsung 850 EVO: 10,000 random reads a second at depth 1"
    )
    latency_sequential: Annotated[Quantity, Unit("s", spread=0.2)] = prior(
        "36 us", 0.3, "Intel S4500 datasheet: 36 us sequential"
    )
    page: Annotated[Quantity, Unit("B", low=512)] = prior(
        "16 KiB", factor_spread(1.5), "sabrent.com, NAND organization: pages tend to be 16 KB, of two to four planes"
    )
    latency_write: Annotated[Quantity, Unit("s", spread=0.2)] = prior(
        "36 us", 0.35, "Intel S4500 datasheet: 36 to 52 us; Samsung 850 EVO: 40,000 random writes a second at depth 1"
    )
    iops_read: Annotated[Quantity, Unit("1/s", spread=0.1, low=1)] = prior(
        "82k IOPS", 0.3, f"{_SATA}: 45,000 to 100,000"
    )
    iops_write: Annotated[Quantity, Unit("1/s", spread=0.2, low=1)] = prior(
        "45k IOPS", 0.36, f"{_SATA}: 28,000 to 65,000 of full drives with capacitors"
    )
    power_loss_protection: bool = False
    flush: Annotated[Quantity, Unit("s", spread=0.3)] = prior(
        "0.8 ms",
        0.7,
        "Vitastor documentation, understanding performance: desktop drives do 1000 to 2000 writes a second with fsync; "
        "Samsung 990 Pro 0.45 ms (smalldatum, January 2026), 960 Pro 3.5 ms for the two of an fsync (Percona, "
        "2018)",
    )
    link: Annotated[Quantity, Unit("B/s", low=1e6)] | None = None

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if self.burst_write is not None and self.burst is None and not self.compresses:
            raise ValueError("burst_write needs burst, the bytes that are written so fast; or leave both out")
        if self.burst is not None and self.burst_write is None:
            raise ValueError("burst needs burst_write, the rate until it is full; or leave both out")
        if (self.direct is None) != (self.direct_write is None):
            raise ValueError("direct (bytes) and direct_write (rate) belong together; or leave both out")
        if self.direct is not None and self.burst is None:
            raise ValueError("direct comes after burst, the fast cache; give burst and burst_write too")
        return self

    @model_validator(mode="after")
    def _as_fast_drives_are(self) -> Self:
        """What nobody stated of a drive that is faster than SATA, or rated fresh: defaults are those of neither."""
        if not self._faster:
            if not self.power_loss_protection and "iops_write" not in self.model_fields_set:
                self.__dict__["iops_write"] = _FRESH
            return self
        reads, generation = _READS[self.power_loss_protection], pcie.drive_generation(self.read.value)
        usual = {"latency_read": reads[min(generation, max(reads))], **_LATENCIES}
        parts = (("iops_read", self.read, _OF_READ), ("iops_write", self.write, _OF_WRITE[self.power_loss_protection]))
        for name, rate, (part, spread) in parts:
            source = f"{_FASTER}: {part} of the rate in requests of 4 KiB"
            usual[name] = Quantity(part * rate.value / _RATED_B, "1/s", spread, source)
        self.__dict__.update({name: usual[name] for name in usual if name not in self.model_fields_set})
        return self

    @property
    def _faster(self) -> bool:
        """Whether the drive is faster than SATA."""
        return self.read.value > pcie.SATA_BPS

    @property
    def keeps_writes(self) -> bool:
        return self.power_loss_protection

    def latency(self, row: Row, use: Access, members: float = 1.0) -> Value:
        return self._wait(row, use, use.block_B).value

    def next_file(self, row: Row, use: Access, copies: int = 1, members: float = 1.0) -> Value:
        """Files are read as they were written, one after the other, and a page holds several small ones.

        Source: coreutils copy.c (SAVEDIR_SORT_FASTREAD: by inode); kernel.org, ext4: allocators (side by side).
        """
        return self._wait(row, use.but(random=False, queue_depth=1), use.file_B).value

    def _wait(self, row: Row, use: Access, size_B: float) -> Term:
        """Seconds of a request of a size, its transfer left out; the next of a stream may be in the drive's memory."""
        turn = row.term(_TURN) if use.finish == "direct" else term(0.0, "s")
        if use.operation == "write":
            return self._within(row, self.latency_write, turn)
        flash = self._within(row, self.latency_read, turn)
        if use.random:
            return flash
        held = self._within(row, self.latency_sequential, turn)
        times = {"held_s": held, "flash_s": flash, "page_B": row.term(self.page)}
        return law(ssd.sequential_latency, request_B=term(size_B, "B"), in_flight=use.queue_depth, **times)

    def _within(self, row: Row, rated: Quantity, turn: Term) -> Term:
        """What a rated latency leaves for the drive itself."""
        link = law(pcie.drive_link, read_rate_Bps=self.read.value)
        around = {"rated_B": term(_RATED_B, "B"), "link_rate": link, "turn_s": turn}
        return law(ssd.latency_within, rated_s=row.term(rated), **around)

    def single_rate(self, row: Row, use: Access) -> Value:
        """Bytes per second of one large request alone, in the mean over what fits the fast cache and the rest [B/s]."""
        if use.operation == "read":
            return self.media_rate(row, "read").value
        size = largest(term(use.total_B, "B"), term(1.0, "B"))
        return self._linked(row, self._write_rate(row, use, size)).value

    def media_rate(self, row: Row, operation: Operation) -> Term:
        return self._linked(row, row.term(self.read if operation == "read" else self.write))

    def turnaround(self, row: Row) -> Term:
        return self._within(row, self.latency_write, term(0.0, "s"))

    def flush_time(self, row: Row) -> Term | None:
        """Seconds to write memory and mapping table to flash; None with capacitors, which do it at a loss of power."""
        return None if self.power_loss_protection else row.term(self.flush)

    def serve(self, row: Row, use: Access, name: str, *, copies: int = 1, visit_B: Term | Value | None = None) -> None:
        reading = use.operation == "read"
        size = largest(term(use.total_B / copies, "B"), term(1.0, "B"))
        rate = row.term(self.read) if reading else self._write_rate(row, use, size)
        rate = self._queued(row, use, rate)
        if self.hot is not None:
            hot, after = row.term(self.hot), row.term(self.hot_after)
            rate = law(ssd.throttled_rate, size_B=size, rate=rate, after_s=after, hot_rate=hot)
        mixed = ONCE
        if use.read_share is not None:
            mixed = law(ssd.interference, read_share=use.read_share, gamma=row.term(self.interference))
        cost = mixed if reading or not use.random else mixed * self._collected(row, use)
        drives = count(copies, "drive")
        row.charge(f"{name}.ssds", "ssd", capacity=drives * rate, per_byte=cost, what=f"flash {use.operation}")
        attached = use.but(loose=use.loose and not self._faster)  # a drive on PCIe has lanes of its own
        links = links_rate(row, attached, copies, self._link(row, use))
        row.charge(f"{name}.links", "sata", capacity=links, what="drive link")
        if use.random:
            capacity = drives * self._requests(row, use)
            per_byte = mixed / term(use.block_B, "B")
            text = f"random {use.operation} requests"
            row.charge(f"{name}.requests", "ssd", capacity=capacity, unit="op", per_byte=per_byte, what=text)

    def _queued(self, row: Row, use: Access, rate: Term) -> Term:
        """A rate as far as the requests that the file system has at a drive carry it."""
        if np.isinf(use.active):
            return rate
        size = use.request_B or use.block_B
        queue = {"active": term(use.active), "request_B": term(size, "B"), "latency_s": self._wait(row, use, size)}
        few = law(waiting.queued_rate, **queue, rate=rate)
        return few if np.any(few.value < rate.value) else rate

    def _requests(self, row: Row, use: Access) -> Term:
        """Random requests a second, of which the file system may have few at the drive."""
        reading = use.operation == "read"
        most = row.term(self.iops_read) if reading else self._sustained(row, use)
        if np.isinf(use.active):
            return most
        flash = self.media_rate(row, use.operation)
        return minimum(most, self._queued(row, use.but(request_B=use.block_B), flash) / term(use.block_B, "B"))

    @property
    def _rated_steady(self) -> bool:
        """Whether ``iops_write`` is what a full drive does once it must collect garbage."""
        return self.power_loss_protection and self.spare is None and self.indirection.value <= _RATED_B

    def _filled(self, row: Row, use: Access) -> Term:
        """Part of the drive in use, as it sees it."""
        return row.term(self.filled if use.trimmed or self.states("filled") else _UNTRIMMED)

    def _amplification(self, row: Row, use: Access) -> tuple[Term, Term]:
        """Flash writes per byte of a random write: as rated, on a full drive; and as far as this one is filled."""
        ratings = {"write_rate": row.term(self.write), "requests_rate": row.term(self.iops_write)}
        rated = law(ssd.rated_amplification, **ratings, rated_B=term(_RATED_B, "B"))
        spare = law(
            ssd.effective_spare, spare_ratio=law(ssd.implied_spare, amplification=rated), filled=self._filled(row, use)
        )
        return rated, law(ssd.fifo_write_amplification, spare_ratio=spare)

    def _sustained(self, row: Row, use: Access) -> Term:
        """Random writes a second. Its controller and link carry no more than reads where flash has time for more."""
        most = row.term(self.iops_write)
        if not self._rated_steady:
            return most
        rated, actual = self._amplification(row, use)
        return largest(most, minimum(most * rated / actual, row.term(self.iops_read)))

    def _linked(self, row: Row, rate: Term) -> Term:
        """A rate as the link lets it through; the link that a drive is sold with is never the slower one."""
        return rate if self.link is None else minimum(rate, row.term(self.link))

    def _link(self, row: Row, use: Access) -> Term:
        if self.link is not None:
            return row.term(self.link)
        link = law(pcie.drive_link, read_rate_Bps=self.read.value)
        newest = self._faster and pcie.drive_generation(self.read.value) >= _YOUNG
        return link / largest(count(1, "link"), row.term(UNSTATED_SEAT)) if newest and not use.seated else link

    def _collected(self, row: Row, use: Access) -> Term:
        """Flash writes per byte of a random write: whole mapping units, and what garbage collection copies."""
        load = law(ssd.indirection_load, write_B=term(use.block_B, "B"), unit_B=row.term(self.indirection))
        if self.spare is None:
            if not self._rated_steady or use.block_B <= _RATED_B:
                return load
            return load * self._amplification(row, use)[1]
        spare = law(ssd.effective_spare, spare_ratio=row.term(self.spare), filled=self._filled(row, use))
        return load * law(ssd.fifo_write_amplification, spare_ratio=spare)

    def _write_rate(self, row: Row, use: Access, size: Term) -> Term:
        steady = row.term(self.write)
        if self.compresses:  # what compresses away never reaches the flash
            stored = max(use.stored, 1e-9)
            if stored != 1.0:
                steady = law(
                    ssd.compressing_write_rate, link_rate=self._link(row, use), nand_rate=steady, stored_ratio=stored
                )
            promised = self.write_compressed or (self.burst_write if self.burst is None else None)
            if promised is not None:
                steady = minimum(steady, row.term(promised))
        if self.burst is None or self.burst_write is None:
            return steady
        fast = row.term(self.burst_write)
        cache_B, dynamic = row.term(self.burst), row.term(self.dynamic)
        cache = law(ssd.dynamic_cache_bytes, cache_B=cache_B, dynamic=dynamic, filled=self._filled(row, use))
        stages = {"burst_B": law(ssd.burst_bytes, cache_B=cache, cache_rate=fast, drain_rate=0.0), "burst_rate": fast}
        if self.direct is None or self.direct_write is None:
            stages["direct_rate"] = steady
        else:
            stages |= {"direct_rate": row.term(self.direct_write), "direct_B": row.term(self.direct)}
            stages["fold_rate"] = steady
        return size / law(ssd.burst_write_time, size_B=size, **stages)
