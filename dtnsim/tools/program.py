"""program: a step of somebody's own program, which reads a file into its memory or writes that to one."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import Quantity, Unit, prior
from dtnsim.tools._common import OPENED, ZERO_BYTE, device_work, one_host, reading, writing
from dtnsim.tools._options import Size
from dtnsim.tools.plan import CpuUse, Job, Plan, Step, Tool


class Program(Tool):
    """One thread that calls read or write; a path file's ``programs`` are made of such steps.

    One end is a file, the other the host's memory. What it reads goes into memory that it has not used before
    (``fresh``), so that each page costs a fault.
    ``holds`` is the memory that the program has meanwhile, which page caches cannot have.

    Neglects: the start of the process.
    Source: read(2), write(2), malloc(3): large buffers are mapped when they are first touched.
    """

    kind: ClassVar[str] = "program"
    tool_class = "local"

    block: Size = prior("1 MiB", 1.0, "assumed: from 64 KiB to a file at once")
    fresh: Annotated[bool, Field(description="whether what is read goes into memory not used before")] = True
    holds: Annotated[Quantity, Unit("B")] = prior("0 B", 0.0, "nothing is said of memory that it holds")

    def plan(self, job: Job) -> Plan:
        """One file after the other, by one thread."""
        one_host(job, self.kind)
        thread = Thread("program")
        read, write = reading(job, thread, self.block), writing(job, thread, self.block)
        cpu = device_work(job, thread)
        if self.fresh and write is None:
            cpu += (CpuUse("destination", thread, ZERO_BYTE, "page faults of the program", stack="first_touch"),)
        step = Step("write" if write is not None else "read", read=read, write=write, cpu=cpu, files=OPENED)
        return Plan((step,), holds_B=self.holds.value)
