"""bbftp: parallel streams of processes, each of which moves one stretch of a file."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final

from pydantic import AliasChoices, Field

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import prior
from dtnsim.tools._common import (
    Client,
    Count,
    Cycles,
    Ratio,
    Size,
    both_ends,
    core_cost,
    device_work,
    reading,
    scaled,
    writing,
)
from dtnsim.tools._ssh import LOGIN, LOGIN_WORK
from dtnsim.tools.plan import CpuUse, FileCost, Job, NetUse, Opening, Plan, Step, Tool

#: TCP, cipher and key of the server, encrypted log-in, protocol version (bbftpc/connecttoserver.c, connectviapassword)
_LOGIN: Final = 4.0
#: ssh, then the daemon's port is connected to and says MSG_IPADDR_OK (connectviassh)
_SSH: Final = LOGIN + 2.0
#: a file: MSG_STORE or MSG_RETR answered with ports (MSG_TRANS_OK_V3), the data connections, MSG_TRANS_START to MSG_OK
_FILE: Final = 3.0
_WORK: Final = prior("0.03 s", 0.5, "assumed: RSA of the log-in and a process forked for the session")
_FORK: Final = prior("2 ms", 0.7, "assumed: a child forked for each stream at both ends")


class Bbftp(Tool):
    """``bbftp -p streams -c -s -e 'setrecvwinsize KB; put file'``: a process a stream, a stretch of the file each.

    The streams of a file are new connections: each of them starts slowly. The file is done when the slowest stream is.
    Windows are set for each stream, 256 KiB unless the control commands say otherwise.

    Neglects: checks of an existing file; RFIO; retries.
    Source: github.com/jedsoft/bbftp bbftp-client/bbftpc/bbftp.c (defaults), bbftp_put.c (messages of a file),
        connecttoserver.c (log-in); bbftp(1).
    """

    kind: ClassVar[str] = "bbftp"
    tool_class = "mover"
    streams_option = "p"

    p: Annotated[Count, Field(validation_alias=AliasChoices("p", "setnbstream"))] = 1
    c: Annotated[bool, Field(validation_alias=AliasChoices("c", "gzip"))] = False
    s: Annotated[bool, Field(validation_alias=AliasChoices("s", "ssh"), description="the daemon is started by ssh")] = (
        False
    )
    setrecvwinsize: Size = prior("256 KiB", 0.0, "bbftpc/bbftp.c: BBftp_Recvwinsize = 256")
    setsendwinsize: Size = prior("256 KiB", 0.0, "bbftpc/bbftp.c: BBftp_Sendwinsize = 256")
    setbuffersize: Size = prior("256 KiB", 0.0, "bbftpc/bbftp.c: BBftp_Buffersizeperstream = 256")
    ratio: Ratio = prior("1", 0.0, "incompressible data")
    client: Client = "source"
    overhead: Cycles = prior("0.5 cycles/B", 0.7, "assumed: a copy from file to socket in user space")

    def plan(self, job: Job) -> Plan:
        """Streams of one file after the other."""
        sender, receiver = Thread("bbftp senders", self.p), Thread("bbftp receivers", self.p)
        sent = 1.0 / self.ratio.value if self.c else 1.0
        cpu: tuple[CpuUse, ...] = (
            *device_work(job, sender),
            *both_ends(sender, receiver, scaled(self.overhead, sent, "of what is sent"), "bbftp"),
        )
        if self.c:
            cpu += (
                CpuUse("source", sender, core_cost("zlib6_compress", "bbftp -c"), "gzip"),
                CpuUse("destination", receiver, core_cost("zlib6_decompress", "bbftp -c"), "gunzip"),
            )
        # setrecvwinsize is the daemon's receive window and the client's send window, setsendwinsize the other way
        window = self.setrecvwinsize if self.client == "source" else self.setsendwinsize
        step = Step(
            "transfer",
            read=reading(job, sender, self.setbuffersize, workers=1),
            net=NetUse(sender, receiver, streams=self.p, window=window, overhead=sent, reopened=True),
            write=writing(job, receiver, self.setbuffersize, workers=1),
            cpu=cpu,
            files=FileCost(
                round_trips=_FILE,
                fixed=_FORK.worth(_FORK.value * self.p, f"{_FORK.source}; {self.p} streams"),
                source=("stat", "open", "close"),
                destination=("create", "close", "setattr", "rename"),
                directory=("mkdir",),
            ),
        )
        opening = Opening(_SSH if self.s else _LOGIN, LOGIN_WORK if self.s else _WORK, "log-in at bbftpd")
        return Plan((step,), weight=self.p, opening=opening if job.remote else Opening())
