"""tar through ssh: ``tar -cf - . | ssh host tar -xf -``."""

from __future__ import annotations

from typing import ClassVar

from dtnsim.ground.quantity import prior
from dtnsim.tools._common import Size
from dtnsim.tools._ssh import SshTool
from dtnsim.tools._tarstream import archive_B, stream
from dtnsim.tools.plan import Job, Plan, Usage


class TarSsh(SshTool):
    """``tar -cf - DIR | ssh -C -c cipher HOST 'tar -xf -'``: one stream in the channel's window, nothing a file.

    Neglects: pipes between the processes.
    Source: GNU tar, headers of 512 B; openssh-portable channels.h.
    """

    kind: ClassVar[str] = "tar-ssh"
    usages = (
        Usage("tar through ssh", "tar -C SRC -cf - . | ssh HOST 'tar -C DST -xf -'", lacks="no resume"),
    )  # fmt: skip

    record: Size = prior("10 KiB", 0.0, "tar(1): blocking factor 20 x 512 B")

    def plan(self, job: Job) -> Plan:
        """One connection, one archive."""
        sent = self.sent(job) * archive_B(job) / max(job.payload_B, 1.0)
        cpu = (*self.crypto(sent), *self.packing())
        return stream(job, self.network(sent=sent), cpu, self.record, self.opening(1.0, "the end of the archive"))
