"""dm-crypt (LUKS): every byte is ciphered by the host's cores, on its way through work queues or inline."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar, Final

import numpy as np

from dtnsim.components.access import AHEAD, Access
from dtnsim.components.cores import core_cost
from dtnsim.components.device import Layer, Work
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, prior
from dtnsim.ground.term import law
from dtnsim.ground.uncertainty import Otherwise
from dtnsim.physics import cpu

_QUEUES: Final = (
    "LKML, dm crypt: add flags to optionally bypass dm-crypt workqueues (July 2020): 4 KiB, null cipher, RAM disk, "
    "{}; a virtual machine of 2.8 GHz"
)
#: write-back has as many requests under way as there are cores
_MANY: Final = 4096


class DmCrypt(Layer):
    """A LUKS volume: AES-XTS in sectors, by work queues (``workqueue``) on as many cores as there are requests.

    Neglects: integrity tags (dm-integrity); ciphers that a card of the host could take over.

    Attributes:
        of: The device that it lies on.
        cipher: What a byte costs; ``cryptsetup benchmark`` prints the rate of one core.
        sector: Sector size of the volume (--sector-size).
        sector_work: What each sector costs besides its bytes.
        workqueue: False with --perf-no_read_workqueue and --perf-no_write_workqueue: who writes then ciphers, too.
        request: What one core ciphers of a request, the rest being another's (max_read_size, max_write_size).
        queue_read: Time that a read waits in work queues.
        queue_write: Time that a write waits in work queues and is sorted.
        inline: Time that a request takes without them.
    """

    kind: ClassVar[str] = "dm-crypt"

    cipher: Annotated[Quantity, Unit("cycles/B", spread=0.4)] = core_cost("aes256_xts")
    sector: Annotated[Quantity, Unit("B", low=512, high=4096)] = prior(
        "512 B", 0.0, "cryptsetup(8): LUKS1, and drives of 512 B"
    )
    sector_work: Annotated[Quantity, Unit("cycles", spread=0.5)] = prior(
        "150 cycles",
        0.7,
        "assumed: an initial vector, a request of the crypto API and its scatter lists, 50 to 400 cycles",
    )
    workqueue: bool = True
    request: Annotated[
        Quantity, Unit("B", low=4096), Otherwise("128 KiB", "Linux before 5.9, and from 6.11 on (commit 0d815e3400e6)")
    ] = prior("1 MiB", 0.0, "Linux commit 0d815e3400e6: a request of 1 MiB is ciphered on one core before 6.11")
    queue_read: Annotated[Quantity, Unit("s", spread=0.5)] = prior(
        "40 us", 0.6, _QUEUES.format("84.5 MB/s, 48 us a request, where the RAM disk alone takes 8")
    )
    queue_write: Annotated[Quantity, Unit("s", spread=0.5)] = prior(
        "89 us", 0.6, _QUEUES.format("42.4 MB/s, 97 us a request, where the RAM disk alone takes 8")
    )
    inline: Annotated[Quantity, Unit("s", spread=0.5)] = prior(
        "6 us", 0.6, _QUEUES.format("309 and 290 MB/s, 13 to 14 us a request, where the RAM disk alone takes 8")
    )

    def latency(self, row: Row, use: Access, members: float = 1.0) -> Value:
        """That of the device below, and the way through the queues."""
        queued = self.queue_read if use.operation == "read" else self.queue_write
        return np.asarray(self.of.latency(row, use, members)) + row.value(queued if self.workqueue else self.inline)

    def works(self, row: Row, use: Access) -> tuple[Work, ...]:
        """The cipher, on as many cores as there are requests under way."""
        cycles = law(
            cpu.cycles_per_byte,
            per_byte=row.term(self.cipher),
            per_call=row.term(self.sector_work),
            call_B=row.term(self.sector),
        )
        piece, inline = self.request.value, use.operation == "write" and not self.workqueue
        if inline:  # in the thread that submits the request; write-back has one for a device
            under_way, piece = 1 if use.buffered else max(use.streams, 1), math.inf
        elif use.buffered:
            under_way = _MANY
        elif use.alone:
            under_way = int(use.in_flight) * max(1, math.ceil(use.block_B / piece))
        else:
            under_way = max(use.streams, 1) * int(AHEAD)
        return (Work("crypt", cycles, under_way, "cipher of dm-crypt", piece), *super().works(row, use))
