"""A stream through netcat or mbuffer, without a cipher: ``tar | nc``, ``dd | nc``, ``zfs send | mbuffer -O``."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import prior
from dtnsim.tools._common import Cycles, Size, both_ends
from dtnsim.tools._tarstream import Packer, overhead, stream
from dtnsim.tools.plan import Job, NetUse, Opening, Plan, Tool, Usage

_COPY = prior("0.4 cycles/B", 0.7, "assumed: a copy into mbuffer's memory and one out of it, past the cache")


class TarNc(Tool):
    """``tar -cf - DIR | nc -N HOST PORT`` to ``nc -l PORT | tar -xf -``: one TCP stream.

    ``packer`` is what makes the stream. ``through: mbuffer`` has ``m`` bytes of memory at each end, which other caches
    cannot have, and a copy into it; ends that stop and go are not what the steady state knows.

    Neglects: pipes between the processes; the other end has to be started by hand.
    Source: GNU tar, headers of 512 B; netcat-openbsd; mbuffer(1), -m; zfs-send(8).
    """

    kind: ClassVar[str] = "tar-nc"
    tool_class = "mover"
    usages = (
        Usage(
            "tar through netcat", "tar -C SRC -cf - . | nc -N HOST PORT", "nc -l PORT | tar -x",
            lacks="not encrypted, no checksum, no resume",
        ),
    )  # fmt: skip

    packer: Packer = "tar"
    through: Literal["nc", "mbuffer"] = "nc"
    m: Annotated[Size, Field(description="memory of mbuffer (-m)")] = prior("1 GiB", 0.0, "usual with ZFS: -m 1G")
    record: Size = prior("10 KiB", 0.0, "tar(1): blocking factor 20 x 512 B")
    overhead: Cycles = prior("0.5 cycles/B", 0.7, "assumed: netcat copies 16 KiB at a time from pipe to socket")

    def plan(self, job: Job) -> Plan:
        """One connection, one archive."""
        sender, receiver = Thread(f"{self.through} sender"), Thread(f"{self.through} receiver")
        net = NetUse(sender, receiver, overhead=overhead(job, self.packer))
        # TCP's handshake, and the last byte's way with the end of the connection
        opening = Opening(1.5, None, "TCP connection")
        work, holds = both_ends(sender, receiver, self.overhead, "netcat"), 0.0
        if self.through == "mbuffer":
            work, holds = (*work, *both_ends(sender, receiver, _COPY, "memory of mbuffer")), self.m.value
        return stream(job, self.packer, net, work, self.record, opening, holds)
