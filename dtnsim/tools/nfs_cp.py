"""nfs-cp of libnfs: a client in user space that copies a buffer at a time."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final

from pydantic import AliasChoices, Field

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import prior
from dtnsim.tools._common import Size, device_work, reading, writing
from dtnsim.tools.plan import FileCost, Job, NetUse, Opening, Plan, Step, Tool

#: TCP, NULL, two to set up the client, the way down to the export, GETATTR
_OPENING: Final = 7.0
#: OPEN with its confirmation, GETATTR, CLOSE
_FILE: Final = 3.0
_START: Final = prior("0.03 s", 0.5, "assumed: one small process")


class NfsCp(Tool):
    """``nfs-cp nfs://server/export/file local``: each read waits for the one before it.

    Neglects: NFSv3's mount protocol.
    Source: github.com/sahlberg/libnfs utils/nfs-cp.c: one buffer of 1 MiB, read and written in turn; RFC 7530.
    """

    kind: ClassVar[str] = "nfs-cp"
    tool_class = "local"

    buffer: Annotated[Size, Field(validation_alias=AliasChoices("buffer", "rsize"))] = prior(
        "1 MiB", 0.0, "libnfs utils/nfs-cp.c: buffer of 1024 x 1024 B"
    )

    def plan(self, job: Job) -> Plan:
        """One connection, one buffer after the other."""
        sender, receiver = Thread("nfs server"), Thread("nfs-cp")
        step = Step(
            "transfer",
            read=reading(job, sender, self.buffer),
            net=NetUse(sender, receiver, channel=self.buffer, grain=self.buffer),
            write=writing(job, receiver, self.buffer),
            cpu=device_work(job, sender),
            files=FileCost(round_trips=_FILE, source=("open", "close"), destination=("create", "close")),
        )
        return Plan((step,), opening=Opening(_OPENING, _START, "mount in user space"))
