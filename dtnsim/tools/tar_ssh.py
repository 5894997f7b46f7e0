"""A stream through ssh: ``tar -cf - . | ssh host tar -xf -``, ``dd | ssh``, ``zfs send | ssh host zfs receive``."""

from __future__ import annotations

from typing import ClassVar

from dtnsim.ground.quantity import prior
from dtnsim.tools._common import Size
from dtnsim.tools._ssh import SshTool
from dtnsim.tools._tarstream import Packer, overhead, stream
from dtnsim.tools.plan import Job, Plan, Usage


class TarSsh(SshTool):
    """``tar -cf - DIR | ssh -C -c cipher HOST 'tar -xf -'``: one stream in the channel's window, nothing a file.

    ``packer`` is what makes the stream; of zfs the records are blocks of a data set, as its ``recordsize`` says.

    Neglects: pipes between the processes; blocks that zfs send leaves out of an incremental stream (give their bytes).
    Source: GNU tar, headers of 512 B; openssh-portable channels.h; zfs-send(8).
    """

    kind: ClassVar[str] = "tar-ssh"
    usages = (
        Usage("tar through ssh", "tar -C SRC -cf - . | ssh HOST 'tar -C DST -xf -'", lacks="no resume"),
    )  # fmt: skip

    packer: Packer = "tar"
    record: Size = prior("10 KiB", 0.0, "tar(1): blocking factor 20 x 512 B")

    def plan(self, job: Job) -> Plan:
        """One connection, one archive."""
        sent = self.sent(job) * overhead(job, self.packer)
        cpu = (*self.crypto(sent), *self.packing())
        opening = self.opening(1.0, "the end of the stream")
        return stream(job, self.packer, self.network(sent=sent), cpu, self.record, opening)
