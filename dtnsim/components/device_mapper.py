"""Layers of the device mapper: logical volumes (LVM), encryption (dm-crypt)."""

import math
from functools import cached_property
from typing import Annotated, ClassVar, Final, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from dtnsim.components.access import AHEAD, Access
from dtnsim.components.cores import core_cost
from dtnsim.components.device import Device, Layer, Work
from dtnsim.components.jbod import Jbod
from dtnsim.components.raid import Raid
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, prior
from dtnsim.ground.term import Term, count, law, term
from dtnsim.physics import cpu, raid


class Lvm(Layer):
    """A logical volume over ``disks`` physical volumes: one after the other, or in stripes.

    A linear volume has each file on one physical volume. A ``thin`` one maps chunks on their first write: volumes that
    were filled at the same time lie in chunks that alternate (``interleaved``), and a first write that does not cover
    its chunk has the rest of it zeroed.

    Neglects: snapshots, which copy a chunk on its first change; dm-cache and dm-writecache.

    Attributes:
        type: linear or striped (lvcreate --type).
        disks: Physical volumes that it lies on.
        stripesize: Bytes on one physical volume before the next (lvcreate --stripesize).
        thin: Whether it is a volume of a thin pool on such a volume.
        chunksize: Chunk size of the thin pool (lvs -o chunksize).
        zero: Whether the pool zeroes new chunks.
        interleaved: Volumes of the pool that were written at the same time, whose chunks alternate.
    """

    kind: ClassVar[str] = "lvm"

    type: Literal["linear", "striped"] = "linear"
    disks: Annotated[int, Field(ge=1, le=128)] = 1
    stripesize: Annotated[Quantity, Unit("B", low=4096)] = prior("64 KiB", 0.0, "lvcreate(8): stripes of 64 KiB")
    thin: bool = False
    chunksize: Annotated[Quantity, Unit("B", low=65536, high=2**30)] = prior(
        "64 KiB", 0.0, "lvmthin(7): 64 KiB, more for pools whose metadata would not fit 128 MiB"
    )
    zero: bool = True
    interleaved: Annotated[int, Field(ge=1, le=10000)] = 1

    @model_validator(mode="after")
    def _enough(self) -> Self:
        if self.type == "striped" and self.disks < 2:
            raise ValueError("a striped volume needs at least 2 physical volumes; write disks: 2")
        if not self.thin and self.interleaved > 1:
            raise ValueError("only thin volumes are interleaved; write 'thin: true'")
        return self

    @cached_property
    def _volumes(self) -> Device:
        if self.disks == 1:
            return self.of
        if self.type == "linear":
            return Jbod(disks=self.disks, of=self.of)
        return Raid(level=0, disks=self.disks, chunk=self.stripesize, of=self.of)

    @property
    def below(self) -> Device:
        return self._volumes

    def serve(self, row: Row, use: Access, name: str, *, copies: int = 1, visit_B: Term | Value | None = None) -> None:
        """Charges the physical volumes, with what a thin pool adds."""
        if not self.thin:
            super().serve(row, use, name, copies=copies, visit_B=visit_B)
            return
        chunk = row.term(self.chunksize)
        if self.interleaved > 1:
            chunk_B = self.chunksize.value
            use = use.but(extent_B=min(use.extent_B, chunk_B), gap_B=(self.interleaved - 1) * chunk_B)
        if use.operation == "write" and not use.rewrite and not use.buffered:
            size, run = term(use.block_B, "B"), term(0.0, "B") if use.random else chunk
            row = row.times(law(raid.provision_load, write_B=size, chunk_B=chunk, zeroed=float(self.zero), run_B=run))
        super().serve(row, use, name, copies=copies, visit_B=visit_B)


_QUEUES: Final = (
    "LKML, dm crypt: add flags to optionally bypass dm-crypt workqueues (July 2020): 4 KiB, null cipher, RAM disk, "
    "{}; a virtual machine of 2.8 GHz"
)
_WOKEN: Final = "{} us by perf-bench(1), sched pipe: 5.9 to 8.1 us for two, on bare metal (16.9 at first)"
#: releases between which a request of up to 1 MiB stays on one core, and its parts in others
_WHOLE: Final = (5, 9), (6, 11)
_SPLIT: Final = prior("128 KiB", 0.0, "Linux commit 0d815e3400e6: before 5.9, and from 6.11 on")
_MANY: Final = 4096  #: write-back has as many requests under way as there are cores


class DmCrypt(Layer):
    """A LUKS volume: AES-XTS in sectors, by work queues (``workqueue``) on as many cores as there are requests.

    The queues of all volumes of a host have the same few pools of workers, and each request takes the lock of one
    (``queue_rate``), so that more encrypted drives bring no more small requests.

    Neglects: integrity tags (dm-integrity); ciphers that a card of the host could take over; the thread of each volume
    that hands on what is written (dmcrypt_write).

    Attributes:
        of: The device that it lies on.
        cipher: What a byte costs; ``cryptsetup benchmark`` prints the rate of one core. Where it is left out, kernels
            from 4.15 to 5.11 are slower (retpolines), and those from 6.10 on faster (AVX, VAES).
        without_aes: What it costs a processor that has no instructions for AES.
        sector: Sector size of the volume (--sector-size).
        sector_work: What each sector costs besides its bytes.
        workqueue: False with --perf-no_read_workqueue and --perf-no_write_workqueue: who writes then ciphers, too.
        request: What one core ciphers of a request, the rest being another's (max_read_size, max_write_size); where it
            is left out, 128 KiB before Linux 5.9 and from 6.11 on.
        queue_read: Time that a read waits in work queues: a worker wakes, then who asked.
        queue_write: Time that a write waits in work queues and is sorted, which is a third one's.
        queue_rate: Requests a second that one pool of workers takes, gives out and ends.
        inline: Time that a request takes without them.
    """

    kind: ClassVar[str] = "dm-crypt"

    cipher: Annotated[Quantity, Unit("cycles/B", spread=0.4)] = core_cost("aes256_xts")
    without_aes: Annotated[Quantity, Unit("cycles/B", spread=0.4)] = prior(
        "12 cycles/B",
        0.4,
        "Crowley and Biggers, Adiantum (2018): AES-256-XTS takes a Cortex-A7 some five times the 10.6 cycles/B of "
        "Adiantum, and a cycle of it does 0.23 of a server core's (1.9 DMIPS/MHz)",
    )
    sector: Annotated[Quantity, Unit("B", low=512, high=4096)] = prior(
        "512 B", 0.0, "cryptsetup(8): LUKS1, and drives of 512 B"
    )
    sector_work: Annotated[Quantity, Unit("cycles", spread=0.5)] = prior(
        "320 cycles",
        0.7,
        "systemd issue 24382: sectors of 4 KiB make 512 B half as fast again, c + w/512 = 1.5 (c + w/4096) with the "
        "cipher's c alone; assumed: up to twice that, since what else is on that core counts into c",
    )
    workqueue: bool = True
    request: Annotated[Quantity, Unit("B", low=4096)] = prior(
        "1 MiB", 0.0, "Linux commit 0d815e3400e6: a request of 1 MiB is ciphered on one core before 6.11"
    )
    queue_read: Annotated[Quantity, Unit("s", spread=0.5)] = prior(
        "18 us", 0.8, f"two wake-ups, {_WOKEN.format('8')}; {_QUEUES.format('48 us a read, 8 of them the RAM disk')}"
    )
    queue_write: Annotated[Quantity, Unit("s", spread=0.5)] = prior(
        "33 us", 1.0, f"three, {_WOKEN.format('12')}; {_QUEUES.format('97 us a write, 8 of them the RAM disk')}"
    )
    queue_rate: Annotated[Quantity, Unit("1/s", spread=0.5, low=1e3)] = prior(
        "490000 ops/s",
        0.5,
        "Linux lib/test_workqueue.c, its commit 24b2e73f9700 and its first version: 286,000, 591,000 and 708,000 items "
        "a second through one pool that 50 to 72 processors fill",
    )
    inline: Annotated[Quantity, Unit("s", spread=0.5)] = prior(
        "6 us", 0.6, _QUEUES.format("309 and 290 MB/s, 13 to 14 us a request, where the RAM disk alone takes 8")
    )

    def _piece(self, use: Access) -> Quantity:
        """What one core ciphers of a request, by the kernel where nobody states it."""
        if use.kernels is None or self.states("request"):
            return self.request
        return use.kernels.number(lambda release: self.request if _WHOLE[0] <= release < _WHOLE[1] else _SPLIT)

    def latency(self, row: Row, use: Access, members: float = 1.0) -> Value:
        """That of the device below, and the way through the queues."""
        queued = self.queue_read if use.operation == "read" else self.queue_write
        return np.asarray(self.of.latency(row, use, members)) + row.value(queued if self.workqueue else self.inline)

    def serve(self, row: Row, use: Access, name: str, *, copies: int = 1, visit_B: Term | Value | None = None) -> None:
        """Charges the pools of workers that all encrypted volumes of a host share, and the device below."""
        if self.workqueue:
            most = count(use.pools, "pool") * row.term(self.queue_rate)
            each = 1.0 / use.joined_request_B(row.term(self._piece(use)))
            text = "dm-crypt's work queues, whose pools of workers have one each"
            remedy = f"larger requests, or none of the queues (hosts.{row.host}.volumes, workqueue: false; "
            remedy += "cryptsetup --perf-no_read_workqueue --perf-no_write_workqueue)"
            row.charge("cpu.work-queues", "lock", capacity=most, per_byte=each, what=text, remedy=remedy)
        super().serve(row, use, name, copies=copies, visit_B=visit_B)

    def works(self, row: Row, use: Access) -> tuple[Work, ...]:
        """The cipher, on as many cores as there are requests under way."""
        stated = self.states("cipher")
        per_byte = row.term(self.cipher if use.aes_blocks or stated else self.without_aes)
        per_call = row.term(self.sector_work)
        cycles = law(cpu.cycles_per_byte, per_byte=per_byte, per_call=per_call, call_B=row.term(self.sector))
        if use.aes_blocks and use.kernels is not None and not stated:

            def faster(release: tuple[int, ...]) -> Quantity:
                factor = float(cpu.xts_speedup(release, use.aes_blocks, self.sector.value))
                return Quantity(factor, "1", source="AES-XTS of this kernel over Linux 5.12")

            cycles = cycles / row.term(use.kernels.number(faster))
        piece, inline = self._piece(use).value, use.operation == "write" and not self.workqueue
        if inline:  # in the thread that submits the request; write-back has one for a device
            under_way, piece = 1 if use.buffered else max(use.streams, 1), math.inf
        elif use.buffered:
            under_way = _MANY
        elif use.waits_for_each:
            under_way = int(use.in_flight) * max(1, math.ceil(use.block_B / piece))
        else:
            under_way = max(use.streams, 1) * int(AHEAD)
        return (Work("crypt", cycles, under_way, "cipher of dm-crypt", piece), *super().works(row, use))
