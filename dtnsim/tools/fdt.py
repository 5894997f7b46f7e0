"""FDT: all files as one continuous stream over several connections."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import AliasChoices, Field

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import prior
from dtnsim.tools._common import READER, Count, Cycles, Rate, Size, both_ends, core_cost, device_work, reading, writing
from dtnsim.tools.plan import CpuUse, FileCost, Job, NetUse, Opening, Plan, Step, Tool, Usage

_MD5 = core_cost("md5", "Java's MD5")
_JAVA = prior("0.5 s", 0.5, "assumed: start of a Java machine and FDT's classes, 0.2 to 1 s")
#: TCP, session and its key on the control channel, the list of files, go, and the farewell (assumed)
_OPENING = Opening(5.0, _JAVA, "Java and the session")


class Fdt(Tool):
    """``java -jar fdt.jar -P streams -bs buffer -ss window -limit rate -md5 -bio``.

    A thread reads, a thread writes (one a device); selectors serve the sockets, with ``bio`` a thread
    each. Files follow each other without waiting for the other end.

    Neglects: several devices at an end.
    Source: FDT documentation, doc-fdt-ddcopy.md.
    """

    kind: ClassVar[str] = "fdt"
    tool_class = "mover"
    streams_option = "P"
    usages = (
        Usage(
            "fdt", "java -jar fdt.jar -c HOST -r -P {P} -d DST SRC", "fdt.jar -S", lacks="not encrypted, no checksum",
            tries={"P": (4, 1, 8, 16, 32)},
        ),
    )  # fmt: skip

    P: Annotated[Count, Field(validation_alias=AliasChoices("P", "streams"))] = 4
    bs: Size = prior("512 KiB", 0.0, "FDT documentation: -bs, default 512K")
    ss: Annotated[Size | None, Field(validation_alias=AliasChoices("ss", "window"))] = None
    limit: Rate | None = None
    md5: bool = False
    bio: Annotated[bool, Field(json_schema_extra=READER)] = False
    overhead: Cycles = prior("0.1 cycles/B", 0.7, "assumed: Java NIO with direct buffers, a call for 512 KiB")

    def plan(self, job: Job) -> Plan:
        """One reader and one writer, the sockets beside them."""
        reader, writer = Thread("fdt reader"), Thread("fdt writer")
        copies = self.P if self.bio else max(1, min(self.P, job.cores))
        sender, receiver = Thread("fdt senders", copies), Thread("fdt receivers", copies)
        sums = (CpuUse("source", reader, _MD5, "MD5"),) if self.md5 else ()
        step = Step(
            "transfer",
            read=reading(job, reader, self.bs),
            net=NetUse(sender, receiver, streams=self.P, window=self.ss, rate=self.limit),
            write=writing(job, writer, self.bs),
            cpu=(*device_work(job, reader), *both_ends(sender, receiver, self.overhead, "Java NIO"), *sums),
            files=FileCost(source=("open", "close"), destination=("create", "close"), directory=("mkdir",)),
        )
        return Plan((step,), weight=self.P, opening=_OPENING if job.remote else Opening())
