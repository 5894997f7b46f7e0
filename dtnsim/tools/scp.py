"""scp: one SSH connection; its channel window, one core a side, or the disks."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final

from pydantic import AliasChoices, Field

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import prior
from dtnsim.tools._common import READER, Size, device_work, reading, version_tuple, writing
from dtnsim.tools._sftp import Session
from dtnsim.tools._ssh import SshCopy
from dtnsim.tools.plan import FileCost, Job, Plan, Step, Usage

#: the old protocol waits for the file's name and for its end (openssh scp.c, source() and sink())
SCP_ROUND_TRIPS: Final = 2.0
#: before and after the files of the old protocol: "ready", the folder's D and E lines
SCP_OPENING: Final = 3.0


class Scp(SshCopy):
    """``scp -c ... -l ... -r -O``: SFTP underneath since 9.0, the old protocol before or with ``O``.

    The file is read and written by a process of its own beside the SSH process.

    ``client`` says at which end it was typed: at the source it puts, at the destination it gets.

    Neglects: that the window adjusts three packets late.
    Source: openssh-portable scp.c, sftp-client.c, channels.h; release notes 4.7, 6.5 and 9.0.
    """

    kind: ClassVar[str] = "scp"
    usages = (
        Usage(
            "scp", "scp -r -c {cipher} SRC HOST:DST", lacks="no resume",
            tries={"cipher": ("chacha20-poly1305", "aes-gcm")},
        ),
    )  # fmt: skip

    r: Annotated[bool, Field(json_schema_extra=READER, validation_alias=AliasChoices("r", "recursive"))] = False
    old_protocol: Annotated[bool, Field(validation_alias=AliasChoices("O", "old_protocol"))] = False
    block: Size = prior("32 KiB", 0.3, "openssh-portable sftp-client.c DEFAULT_COPY_BUFLEN; scp.c COPY_BUFLEN 16 KiB")

    def plan(self, job: Job) -> Plan:
        """One connection, file after file."""
        if version_tuple(self.version) >= (9, 0) and not self.old_protocol:
            session = Session(self, self.client == "source", in_place=True)
            return session.plan(job, self.block, self.limit)
        source, sink = Thread("scp reader"), Thread("scp writer")
        files = FileCost(
            round_trips=SCP_ROUND_TRIPS,
            source=("stat", "open", "close"),
            destination=("create", "close"),
            directory=("mkdir",),
        )
        step = Step(
            "transfer",
            read=reading(job, source, self.block),
            net=self.network(rate=self.limit, stopped=True, sent=self.sent(job)),
            files=files,
            write=writing(job, sink, self.block),
            cpu=(*device_work(job, source), *self.crypto(self.sent(job)), *self.packing()),
        )
        return Plan((step,), opening=self.opening(SCP_OPENING, "scp's own protocol"))
