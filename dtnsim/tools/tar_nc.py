"""tar through netcat: ``tar -cf - . | nc host port``, no log-in and no cipher."""

from __future__ import annotations

from typing import ClassVar

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import prior
from dtnsim.tools._common import Cycles, Size, both_ends
from dtnsim.tools._tarstream import archive_B, stream
from dtnsim.tools.plan import Job, NetUse, Opening, Plan, Tool, Usage


class TarNc(Tool):
    """``tar -cf - DIR | nc -N HOST PORT`` to ``nc -l PORT | tar -xf -``: one TCP stream.

    Neglects: pipes between the processes; the other end has to be started by hand.
    Source: GNU tar, headers of 512 B; netcat-openbsd.
    """

    kind: ClassVar[str] = "tar-nc"
    tool_class = "mover"
    usages = (
        Usage(
            "tar through netcat", "tar -C SRC -cf - . | nc -N HOST PORT", "nc -l PORT | tar -x",
            lacks="not encrypted, no checksum, no resume",
        ),
    )  # fmt: skip

    record: Size = prior("10 KiB", 0.0, "tar(1): blocking factor 20 x 512 B")
    overhead: Cycles = prior("0.5 cycles/B", 0.7, "assumed: netcat copies 16 KiB at a time from pipe to socket")

    def plan(self, job: Job) -> Plan:
        """One connection, one archive."""
        sender, receiver = Thread("nc sender"), Thread("nc receiver")
        net = NetUse(sender, receiver, overhead=archive_B(job) / max(job.payload_B, 1.0))
        # TCP's handshake, and the last byte's way with the end of the connection
        opening = Opening(1.5, None, "TCP connection")
        return stream(job, net, both_ends(sender, receiver, self.overhead, "netcat"), self.record, opening)
