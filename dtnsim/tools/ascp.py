"""ascp: FASP at a target rate, one process a side, encrypted unless -T."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import AliasChoices, Field

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import Quantity, prior
from dtnsim.physics.tcp import ratebased
from dtnsim.tools._common import READER, Rate, Size, both_ends, device_work, reading, writing
from dtnsim.tools.plan import FileCost, Job, NetUse, Plan, Step, Tool

_CIPHER = Quantity(
    ratebased.FASP_CYCLES_PER_BYTE,
    "cycles/B",
    0.5,
    "assumed: AES-128 and integrity checks of a user-space transport on a core with AES instructions",
)


class Ascp(Tool):
    """``ascp -l target [-T] [-k 0..3] [-Q policy]``.

    ``fallback`` is what happens where no UDP passes and ``-y 1`` allows it: one connection over HTTP(S) to port 8080 or
    8443. ``l`` is written with its unit (``1 Gb/s`` for ``-l 1G``). Work for each packet in user space belongs to
    the transport; the cipher is charged here, and not with ``T``.

    Neglects: what ``k`` 2 and 3 read back of files that exist; the policies' shares against other traffic.
    Source: IBM Aspera ascp command reference (default target 10 Mb/s, resume levels, ``-T``).
    """

    kind: ClassVar[str] = "ascp"
    tool_class = "mover"

    target: Annotated[Rate, Field(validation_alias=AliasChoices("l", "target", "target_rate"))] = prior(
        "10 Mb/s", 0.0, "ascp command reference: -l, default 10000 Kbps"
    )
    T: Annotated[bool, Field(description="no encryption")] = False
    k: Annotated[int, Field(json_schema_extra=READER, ge=0, le=3, description="resume level")] = 0
    policy: Annotated[
        Literal["fixed", "high", "fair", "low"],
        Field(json_schema_extra=READER, validation_alias=AliasChoices("policy", "Q")),
    ] = "fair"
    fallback: Annotated[bool, Field(description="UDP is blocked: HTTP(S) over TCP (-y 1)")] = False
    block: Size = prior("256 KiB", 0.7, "assumed: read and write size of ascp")

    def plan(self, job: Job) -> Plan:
        """One UDP flow; disk threads beside the network threads."""
        reader, writer = Thread("ascp reader"), Thread("ascp writer")
        sender, receiver = Thread("ascp sender"), Thread("ascp receiver")
        step = Step(
            "transfer",
            read=reading(job, reader, self.block),
            net=NetUse(sender, receiver, transport="tcp" if self.fallback else "fasp", rate=self.target),
            write=writing(job, writer, self.block),
            cpu=(
                *device_work(job, reader),
                *(() if self.T else both_ends(sender, receiver, _CIPHER, "FASP cipher")),
            ),
            files=FileCost(
                round_trips=1.0,  # name and attributes of a file are acknowledged before its data (assumed)
                source=("stat", "open", "close"),
                destination=("create", "close", "setattr"),
                directory=("mkdir",),
            ),
        )
        return Plan((step,))
