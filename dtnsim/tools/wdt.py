"""WDT: threads that each read, encrypt and send blocks of files over their own connection."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import Quantity, prior
from dtnsim.tools._common import Count, Rate, Size, both_ends, core_cost, device_work, reading, writing
from dtnsim.tools._ssh import FAREWELL, LOGIN, LOGIN_WORK
from dtnsim.tools.plan import FileCost, Job, NetUse, Opening, Plan, Step, Tool, Usage

_CIPHERS = {
    "aes128ctr": core_cost("aes128_ctr", "WDT in user space"),
    "aes128gcm": core_cost("aes128_gcm", "WDT in user space"),
}
#: the receiver's address comes back, then each connection says what it sends and is told where to begin (assumed)
_URL = 2.0
_CRC = prior("0.3 cycles/B", 0.5, "assumed: CRC32C with SSE 4.2, one 8-byte step every 1 to 3 cycles")


class Wdt(Tool):
    """``wdt -num_ports -block_size_mbytes -buffer_size -encryption_type -enable_checksum ...``.

    The receiver is started through ssh, and prints the address to send to.

    Large files are cut into blocks, so that all ports work on one file. The checksum belongs to
    connections that are not authenticated by the cipher.

    Neglects: directory discovery; ``disk`` option type (fewer ports, no blocks).
    Source: facebook/wdt WdtOptions.h.
    """

    kind: ClassVar[str] = "wdt"
    tool_class = "mover"
    usages = (
        Usage(
            "wdt", "wdt -directory SRC -num_ports {num_ports} ... | ssh HOST wdt -directory DST -",
            "wdt at both ends",
            tries={"num_ports": (8, 1, 4, 16, 32)},
        ),
    )  # fmt: skip

    num_ports: Count = 8
    block_size_mbytes: Annotated[float, Field(le=1e6, description="MiB; 0 or less: whole files")] = 16.0
    buffer_size: Size = prior("256 KiB", 0.0, "WdtOptions.h: buffer_size 256 * 1024")
    encryption_type: Literal["none", "aes128ctr", "aes128gcm"] = "aes128gcm"
    enable_checksum: bool = True
    avg_mbytes_per_sec: Annotated[float, Field(le=1e6, description="MiB/s; negative: unlimited")] = -1.0

    def plan(self, job: Job) -> Plan:
        """A thread a port at each end, which does file and network work."""
        size = self.block_size_mbytes * 2.0**20
        blocks = math.ceil(job.payload_B / size) if size > 0 else job.files
        workers = max(1, min(self.num_ports, max(blocks, job.files)))
        sender, receiver = Thread("wdt senders", workers), Thread("wdt receivers", workers)
        cpu = device_work(job, sender)
        if self.encryption_type != "none":
            cpu += both_ends(sender, receiver, _CIPHERS[self.encryption_type], self.encryption_type)
        elif self.enable_checksum:
            cpu += both_ends(sender, receiver, _CRC, "CRC32C")
        step = Step(
            "transfer",
            read=reading(job, sender, self.buffer_size, workers=workers),
            net=NetUse(sender, receiver, streams=workers, rate=self._limit()),
            write=writing(job, receiver, self.buffer_size, workers=workers),
            cpu=cpu,
            files=FileCost(source=("open", "close"), destination=("create", "close"), directory=("mkdir",)),
        )
        opening = Opening(LOGIN + FAREWELL + _URL, LOGIN_WORK, "ssh log-in that starts the receiver, and its answer")
        return Plan((step,), workers=workers, weight=workers, divided=size > 0, opening=opening)

    def _limit(self) -> Rate | None:
        if self.avg_mbytes_per_sec < 0:
            return None
        return Quantity(self.avg_mbytes_per_sec * 2.0**20, "B/s", 0.0, "wdt -avg_mbytes_per_sec")
