"""What the kernel's network and file paths cost a core: cycles a byte, a packet, a call."""

import math
from functools import lru_cache
from typing import Annotated, ClassVar, Final

from pydantic import Field

from dtnsim.components.access import Access
from dtnsim.components.base import Component
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, prior
from dtnsim.ground.term import Term, law, term
from dtnsim.ground.uncertainty import Otherwise, Releases, Since
from dtnsim.physics import cache, memory

OTHERS: Final = ("freebsd", "macos", "windows")  #: parts with the costs of kernels that are not Linux

_S2 = "fitted from NASA GSFC nuttcp CPU shares (3.2 GHz Nehalem, LRO, MTU 9000, interrupts on other cores)"
#: /dev/urandom since ``_CHACHA``, and before
CHACHA_BYTE: Final = prior(
    "9 cycles/B", 0.4, "blogs.oracle.com/linux, entropy_avail 256: /dev/random gives 250 to 400 MB/s a core, some 3 GHz"
)
_SHA1_BYTE: Final = prior(
    "160 cycles/B",
    0.5,
    "Venadi post, dd if=/dev/urandom 14.6 MB/s on a Cori login node (2.3 GHz assumed); pthree.org, 2016: 13.4 MB/s",
)
#: Linux drivers/char/random.c, commit e192be9d9a30: replace the non-blocking pool with a ChaCha20-based generator
_CHACHA: Final = (4, 8)

#: kernel of a host's years -> those of RHEL, Ubuntu with long support and Debian amid these years, the last and the one
#: before it, and of the newest, which hosts without a year have, the last three. Dates of releases are in
#: models/systems.yaml; assumed: each as likely (no census of hosts was found)
BESIDE: Final = {
    "2.6.18": ("2.6.18", "2.6.9", "2.6.24", "2.6.15", "2.6.26", "2.6.18"),
    "2.6.32": ("2.6.32", "2.6.18", "3.2", "2.6.32", "2.6.32", "2.6.26"),
    "3.10": ("3.10", "2.6.32", "3.13", "3.2", "3.16", "3.2"),
    "4.4": ("3.10", "2.6.32", "4.4", "3.13", "4.9", "3.16"),
    "4.15": ("4.18", "3.10", "5.4", "4.15", "4.19", "4.9"),
    "5.4": ("4.18", "3.10", "5.4", "4.15", "5.10", "4.19"),
    "5.15": ("4.18", "5.14", "6.12", "5.4", "5.15", "6.8", "5.10", "6.1", "6.12"),
}


@lru_cache
def _release(part: str, kernel: str) -> tuple[int, ...] | None:
    other = part.rpartition("/")[2] in OTHERS
    return None if other else tuple(int(number) for number in kernel.split("."))


_FLUSHER = "Solidigm, KA-01862 (kernel 6.8, two Gen5 drives, a Xeon of 2023 at some 3.5 GHz)"

#: RHEL 4 to 7, and releases of Ubuntu with long support from 2017 on (models/systems.yaml)
_OF_YEARS: Final = (
    (2005, "2.6.9"), (2007, "2.6.18"), (2011, "2.6.32"), (2014, "3.10"), (2017, "4.4"), (2019, "4.15"), (2021, "5.4"),
    (2022, None),
)  # fmt: skip


class Stack(Component):
    """CPU costs of an operating system's data paths.

    A byte costs ``byte`` cycles, a call or packet its own cycles shared by the bytes it carries.
    Network packets are counted as the stack sees them: aggregates of up to ``aggregate`` bytes with
    segmentation and receive offload, single segments without. The version of the Linux ``kernel`` says what part of a
    socket's buffer is window. ``file_miss_byte`` is what reading a byte costs that the page cache lacks, copy
    included; left out, no more than one that is there. ``unbacked_byte`` is what a new page of the page cache costs a
    virtual machine besides where its host has to find the memory first (free page reporting, ballooning), and
    ``unbacked`` the part of its free memory that this holds for: all of an idle machine's, none of a busy one's.
    ``write_back_byte`` is what the one thread that writes back a file system's pages does for a byte, and
    ``folio_write_back_byte`` that where they lie in large folios.
    """

    kind: ClassVar[str] = "stack"

    kernel: Annotated[
        str, Field(pattern=r"^\d+\.\d+(\.\d+)?$"), Otherwise("6.8", "Linux of 2024 (uname -r)"), Since(_OF_YEARS)
    ] = "5.15"

    receive_byte: Annotated[Quantity, Unit("cycles/B", spread=0.15)] = prior("0.632 cycles/B", 0.15, _S2)
    receive_packet: Annotated[Quantity, Unit("cycles", spread=0.3)] = prior(
        "3000 cycles", 0.3, "assumed: per-aggregate protocol work, a few thousand cycles (Cai et al., SIGCOMM 2021)"
    )
    send_byte: Annotated[Quantity, Unit("cycles/B", spread=0.15)] = prior("0.394 cycles/B", 0.15, _S2)
    send_packet: Annotated[Quantity, Unit("cycles", spread=0.3)] = prior(
        "2500 cycles", 0.3, "assumed: per-aggregate protocol work, a few thousand cycles (Cai et al., SIGCOMM 2021)"
    )
    sendfile_byte: Annotated[Quantity, Unit("cycles/B", spread=0.4)] = prior(
        "0.12 cycles/B", 0.5, "assumed: page references instead of a copy"
    )
    socket_call: Annotated[Quantity, Unit("cycles", spread=0.5)] = prior(
        "900 cycles",
        0.5,
        "assumed: system call and socket layer, a third of the 2,790 cycles of a datagram (1.05 million a second at "
        "2.93 GHz: Rizzo, netmap, USENIX ATC 2012, figure 5)",
    )
    socket_block: Annotated[Quantity, Unit("B", low=1)] = prior(
        "64 KiB", 0.0, "nuttcp's buffer, with which the costs of a byte were measured: larger calls gain little"
    )
    verbs_call: Annotated[Quantity, Unit("cycles", spread=0.5)] = prior(
        "500 cycles",
        0.6,
        "assumed: to post a work request of RDMA and poll its completion, 4 to 12 million a second a core",
    )
    interrupt_byte: Annotated[Quantity, Unit("cycles/B", spread=0.4)] = prior(
        "0.2 cycles/B", 0.4, "assumed: driver and protocol in softirq, about a quarter of the receive work"
    )
    aggregate: Annotated[Quantity, Unit("B", low=512)] = prior(
        "32 KiB", 0.3, "assumed: half of the 64 KiB that GSO, GRO and LRO allow (Linux net/core/gro.c)"
    )
    file_read_byte: Annotated[Quantity, Unit("cycles/B", spread=0.3)] = prior(
        "0.45 cycles/B", 0.3, "assumed: copy to user space and read-ahead on a current kernel"
    )
    file_miss_byte: Annotated[Quantity, Unit("cycles/B", spread=0.3)] | None = None
    unbacked_byte: Annotated[Quantity, Unit("cycles/B", spread=0.3)] | None = None
    unbacked: Annotated[Quantity, Unit("1", high=1.0)] = prior(
        "0.5", 0.6, "assumed: nobody knows how much of the free memory was in use a moment ago"
    )
    file_write_byte: Annotated[Quantity, Unit("cycles/B", spread=0.3)] = prior(
        "0.9 cycles/B", 0.3, "assumed: copy from user space, page allocation and write-back set-up"
    )
    write_back_byte: Annotated[Quantity, Unit("cycles/B", spread=0.4)] = prior(
        "0.65 cycles/B", 0.5, f"{_FLUSHER}: ext4 written at 5,383 MB/s with the flusher at 100 % of a core"
    )
    folio_write_back_byte: Annotated[Quantity, Unit("cycles/B", spread=0.4)] = prior(
        "0.05 cycles/B", 0.7, f"{_FLUSHER}: xfs written at 14.6 GB/s with the flusher at 20 % of a core"
    )
    file_call: Annotated[Quantity, Unit("cycles", spread=0.5)] = prior(
        "3000 cycles", 0.5, "assumed: system call and file-system lookup, about a microsecond"
    )
    direct_call: Annotated[Quantity, Unit("cycles", spread=0.5)] = prior(
        "10000 cycles",
        0.5,
        "4 KiB direct reads a second at 100 % of one core, some 3 GHz: 279,000 by fio with libaio, 346,000 by another "
        "program (PhotonLibOS, File IO performance), 608,000 on bare devices in batches (Axboe, io_uring, "
        "2019)",
    )
    storage_interrupt_byte: Annotated[Quantity, Unit("cycles/B", spread=0.5)] = prior(
        "0.1 cycles/B", 0.5, "assumed: completions of large requests"
    )
    memory_stall: Annotated[Quantity, Unit("1", spread=0.4)] = prior(
        "0.25",
        0.4,
        "half of the cycles wait for memory, whose latency rises by half at full load (dtnsim.physics.memory)",
    )
    memory_reference: Annotated[Quantity, Unit("1", high=1.0)] = prior(
        "0.44",
        0.2,
        "memory load while the costs above were measured: 0.33 (write) to 0.56 (read) of 19.5 GB/s in NASA test 2",
    )
    hot_byte: Annotated[Quantity, Unit("cycles/B", spread=0.3)] = prior(
        "0.36 cycles/B", 0.4, "lz4 README: memcpy 13.7 GB/s at 4.9 GHz, data in cache"
    )
    miss_byte: Annotated[Quantity, Unit("cycles/B", spread=0.5)] = prior(
        "0.2 cycles/B",
        0.6,
        "assumed: a core reads about 11 GB/s from memory and twice as much from its last-level cache",
    )
    far_byte: Annotated[Quantity, Unit("cycles/B", spread=0.5)] = prior(
        "0.06 cycles/B",
        0.6,
        "assumed: a line of the last-level cache instead of the core's own, some 30 cycles in ten at once",
    )
    zero_byte: Annotated[Quantity, Unit("cycles/B", spread=0.3)] = prior(
        "0.2 cycles/B", 0.3, "clearing user pages; UCI dd /dev/zero to /dev/null 16.8 GB/s on a ~3 GHz laptop"
    )

    page_fault: Annotated[Quantity, Unit("cycles", spread=0.4)] = prior(
        "1000 cycles",
        0.5,
        "first touch of a page: at least 1,842 cycles on an 11th-generation Core i7, Linux 6.6 (ddumbying.vercel.app, "
        "experiments/pagefault-latency), of which clearing 4 KiB has some 820 (zero_byte)",
    )
    page: Annotated[Quantity, Unit("B", low=4096)] = prior(
        "4 KiB", 0.0, "x86 base page; 2 MiB where transparent huge pages serve a program's large buffers"
    )

    @property
    def release(self) -> tuple[int, ...] | None:
        """Release of the Linux kernel; None of other systems."""
        return _release(self.part or "", self.kernel)

    @property
    def releases(self) -> Releases[tuple[int, ...]] | None:
        """Releases of the Linux kernel that it may be of, where nobody states it; None of other systems."""
        if (stated := self.release) is None:
            return None
        alternatives = () if "kernel" in self.model_fields_set else BESIDE.get(self.kernel, ())
        each = tuple(tuple(int(n) for n in other.split(".")) for other in alternatives or (self.kernel,))
        return Releases(stated, each, self.unbacked.key.replace("unbacked", "kernel"))  # the key of all its numbers

    @property
    def random_byte(self) -> Quantity:
        """What a byte of /dev/urandom costs: SHA-1 before Linux 4.8, ChaCha20 since."""
        if self.releases is None:
            return CHACHA_BYTE
        return self.releases.number(lambda release: CHACHA_BYTE if release >= _CHACHA else _SHA1_BYTE)

    def first_touch(self, row: Row) -> Term:
        """Cycles per byte of memory that a program has not used before [cycles/B]."""
        fault = row.term(self.page_fault)
        return law(memory.first_touch, fault=fault, page_B=row.term(self.page), clear=row.term(self.zero_byte))

    def miss(self, row: Row, use: Access) -> Term:
        """Cycles per byte where a buffer that is used again has left the processor's caches [cycles/B].

        In a stream that is the program's buffer; where the same record is moved over and over, its source and target.
        """
        again = 2.0 if use.hot else 1.0
        cost = term(0.0)
        for byte, size in ((self.far_byte, use.l2_B), (self.miss_byte, use.llc_B)):
            if use.block_B * 64 > size and not math.isinf(size):
                sizes = {"record_B": term(use.block_B, "B"), "cache_B": term(size, "B")}
                hit_share = law(cache.random_replacement_share, **sizes, footprint=2.0, reused=again)
                cost = cost + row.term(byte) * again * (1.0 - hit_share)
        return cost
