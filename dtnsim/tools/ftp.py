"""ftp: the classic client, one file after the other, a data connection for each."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import prior
from dtnsim.tools._common import Client, Cycles, Size, both_ends, device_work, reading, writing
from dtnsim.tools.plan import FileCost, Job, NetUse, Opening, Plan, Step, Tool

#: TCP and greeting, USER, PASS, SYST, TYPE; and QUIT (RFC 959; usr.bin/ftp/util.c)
_SESSION: Final = 7.0
#: put: PASV (or PORT), the data connection, STOR to 150, the last byte to 226
_PUT: Final = 4.0
#: get: SIZE before it, MDTM after it (usr.bin/ftp/ftp.c, recvrequest: remotesize, remotemodtime)
_GET_MORE: Final = 2.0
#: PORT: the server connects while it answers the command, so that no trip of its own is left
_ACTIVE: Final = 1.0
#: mget: the list of names comes over a data connection of its own
_LIST: Final = 3.0
_START: Final = prior("0.03 s", 0.5, "assumed: one small process and a forked server")


class Ftp(Tool):
    """``ftp`` with ``mput`` or ``mget``: each file has PASV, a new connection, STOR or RETR, and its 226.

    Neglects: ASCII mode; names that are asked for.
    Source: github.com/NetBSD/src usr.bin/ftp/ftp.c (sendrequest, recvrequest, initconn); RFC 959.
    """

    kind: ClassVar[str] = "ftp"
    tool_class = "mover"

    mode: Annotated[Literal["passive", "active"], Field(description="PASV, or PORT (ftp -A)")] = "passive"
    preserve: Annotated[bool, Field(description="times of fetched files are asked for (MDTM)")] = True
    client: Client = "source"
    block: Size = prior("64 KiB", 0.7, "usr.bin/ftp/ftp.c: st_blksize of the file, 4 KiB to 1 MiB")
    overhead: Cycles = prior(
        "0.4 cycles/B", 0.7, "assumed: a copy between file and socket and two system calls a block"
    )

    def plan(self, job: Job) -> Plan:
        """One control connection, a data connection a file."""
        sender, receiver = Thread("ftp sender"), Thread("ftp receiver")
        get = self.client == "destination"
        trips = _PUT - (_ACTIVE if self.mode == "active" else 0.0)
        trips += (_GET_MORE - (0.0 if self.preserve else 1.0)) if get else 0.0
        step = Step(
            "transfer",
            read=reading(job, sender, self.block),
            net=NetUse(sender, receiver, reopened=True),
            write=writing(job, receiver, self.block),
            cpu=(*device_work(job, sender), *both_ends(sender, receiver, self.overhead, "ftp")),
            files=FileCost(
                round_trips=trips,
                source=("stat", "open", "close"),
                destination=("create", "close"),
                directory=("mkdir",),
            ),
        )
        folders = _LIST * max(job.directories, 1) if get and job.files > 1 else float(job.directories)
        opening = Opening(_SESSION + folders, _START, "log-in and folders")
        return Plan((step,), opening=opening if job.remote else Opening())
