"""IOzone: one process (or several) reads or writes one file record by record."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import AliasChoices, Field

from dtnsim.components.access import Finish, Thread
from dtnsim.quantity import prior
from dtnsim.tools._common import Count, Size
from dtnsim.tools._volume import read_access, with_read, write_access
from dtnsim.tools.plan import Job, Plan, Step, Tool


class Iozone(Tool):
    """One column of ``iozone -i ... -r record -s size [-e] [-o] [-I] [-t threads]``.

    ``-s`` is the size of the data set. Without ``-e`` a write is done when the cache has it; a read
    finds what was just written in the cache where that is less than half of the memory.

    Neglects: strided and backward tests, memory-mapped and asynchronous I/O.
    Source: iozone(1).
    """

    kind: ClassVar[str] = "iozone"

    test: Literal["write", "rewrite", "read", "reread", "random-read", "random-write"] = "write"
    r: Annotated[Size, Field(validation_alias=AliasChoices("r", "reclen", "record"))] = prior(
        "4 KiB", 0.0, "iozone(1): default record size"
    )
    t: Annotated[Count, Field(validation_alias=AliasChoices("t", "threads"))] = 1
    e: Annotated[bool, Field(description="flush is part of the time")] = False
    c: Annotated[bool, Field(description="close is part of the time")] = False
    o: Annotated[bool, Field(description="O_SYNC")] = False
    direct: Annotated[bool, Field(validation_alias=AliasChoices("I", "direct"), description="O_DIRECT")] = False

    def plan(self, job: Job) -> Plan:
        """A single step; all processes do the same."""
        process, random = Thread("iozone", self.t), self.test.startswith("random")
        step = Step(self.test)
        if self.test in ("read", "reread", "random-read"):
            access = read_access(job, self.kind, process, self.r, workers=self.t, direct=self.direct, random=random)
            step = with_read(job, step, access)
        else:
            access = write_access(
                job,
                self.kind,
                process,
                self.r,
                finish=self.finish,
                workers=self.t,
                random=random,
                rewrite=self.test != "write",
            )
            step = Step(self.test, write=access)
        return Plan((step,), workers=self.t)

    @property
    def finish(self) -> Finish:
        """What the options make a write wait for."""
        if self.direct:
            return "direct"
        if self.o:
            return "dsync"
        return "fdatasync" if self.e else "none"
