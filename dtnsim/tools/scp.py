"""scp: one SSH connection; its channel window, one core a side, or the disks."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final

from pydantic import AliasChoices, Field

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import prior
from dtnsim.tools._common import Size, device_work, reading, version_tuple, writing
from dtnsim.tools._ssh import SshTool
from dtnsim.tools.plan import FileCost, Job, Plan, Step

#: SFTP messages of a file that wait: stat, open, fsetstat or fstat, close (openssh sftp-client.c)
SFTP_ROUND_TRIPS: Final = 4.0
#: the old protocol waits for the file's name and for its end (openssh scp.c, source())
SCP_ROUND_TRIPS: Final = 2.0


class Scp(SshTool):
    """``scp -c ... -l ... -r -O``: SFTP underneath since 9.0, the old protocol before or with ``O``.

    The file is read and written by a process of its own beside the SSH process.

    Neglects: compression (``-C``); key exchange and log-in; that the window adjusts
    three packets late.
    Source: openssh-portable scp.c, sftp-client.c, channels.h; release notes 4.7, 6.5 and 9.0.
    """

    kind: ClassVar[str] = "scp"

    r: Annotated[bool, Field(validation_alias=AliasChoices("r", "recursive"))] = False
    old_protocol: Annotated[bool, Field(validation_alias=AliasChoices("O", "old_protocol"))] = False
    block: Size = prior("32 KiB", 0.3, "openssh-portable sftp-client.c DEFAULT_COPY_BUFLEN; scp.c COPY_BUFLEN 16 KiB")

    def plan(self, job: Job) -> Plan:
        """One connection, file after file."""
        sftp = version_tuple(self.version) >= (9, 0) and not self.old_protocol
        source, sink = Thread("scp reader"), Thread("scp writer")
        volume = job.destination == "volume"
        files = FileCost(
            round_trips=SFTP_ROUND_TRIPS if sftp else SCP_ROUND_TRIPS,
            source=("stat", "open", "close") if job.source == "volume" else (),
            destination=("create", "close") if volume else (),
            directory=("mkdir",) if volume else (),
        )
        step = Step(
            "transfer",
            read=reading(job, source, self.block),
            net=self.network(rate=self.limit),
            files=files,
            write=writing(job, sink, self.block),
            cpu=(*device_work(job, source), *self.crypto()),
        )
        return Plan((step,))
