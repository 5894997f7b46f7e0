"""IOzone: one process (or several) reads or writes one file record by record."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, Literal

from pydantic import AliasChoices, Field

from dtnsim.components.access import Finish, Thread
from dtnsim.ground.quantity import prior
from dtnsim.tools._common import READER, Count, Size, core_cost
from dtnsim.tools._volume import ON_VOLUME, in_memory, one_of, read_access, with_read, write_access
from dtnsim.tools.plan import CpuUse, Job, Plan, Step, Tool

#: fwrite(3) copies a record into the stream's buffer, which setvbuf(3) made as large as the record
_STDIO = core_cost("memcpy_cached", "copy of fwrite(3)")
Test = Literal[
    "write",
    "rewrite",
    "read",
    "reread",
    "random-read",
    "random-write",
    "backward-read",
    "record-rewrite",
    "stride-read",
    "fwrite",
    "frewrite",
    "fread",
    "freread",
]
#: tests by their numbers (-i), most of which are two
_NUMBERS: Final = {
    "0": ("write", "rewrite"),
    "1": ("read", "reread"),
    "2": ("random-read", "random-write"),
    "6": ("fwrite", "frewrite"),
    "7": ("fread", "freread"),
}


class Iozone(Tool):
    """One column of ``iozone -i ... -r record -s size [-e] [-o] [-I] [-t threads]``.

    ``s`` or the data set says how much. Without ``-e`` a write is done when the cache has it; a read
    finds what was just written in the cache where that is less than half of the memory.

    Backward and strided reads cost what a read costs; ``record-rewrite`` writes one record again and again,
    so that it stays in the processor's cache; ``fwrite`` and ``frewrite`` copy through the buffer of stdio, and
    find the memory that the tests before have used.

    Neglects: read-ahead that a backward or strided read of the medium loses; memory-mapped and asynchronous I/O.
    Source: iozone(1); IOzone documentation (what each test does).
    """

    kind: ClassVar[str] = "iozone"
    tool_class = "test"
    reads_option = writes_option = "f"

    test: Annotated[Test, Field(validation_alias=AliasChoices("test", "i")), one_of(Test, _NUMBERS)] = "write"
    r: Annotated[Size, Field(validation_alias=AliasChoices("r", "reclen", "record", "bs"))] = prior(
        "4 KiB", 0.0, "iozone(1): default record size"
    )
    t: Annotated[Count, Field(validation_alias=AliasChoices("t", "threads"))] = 1
    e: Annotated[bool, Field(description="flush is part of the time")] = False
    c: Annotated[bool, Field(json_schema_extra=READER, description="close is part of the time")] = False
    o: Annotated[bool, Field(description="O_SYNC")] = False
    f: Annotated[
        str | None,
        Field(validation_alias=AliasChoices("f", "volume"), json_schema_extra=READER, description=ON_VOLUME),
    ] = None
    s: Annotated[
        Size | None,
        Field(
            validation_alias=AliasChoices("s", "size"), json_schema_extra=READER, description="bytes of each process"
        ),
    ] = None
    direct: Annotated[bool, Field(validation_alias=AliasChoices("I", "direct"), description="O_DIRECT")] = False

    def plan(self, job: Job) -> Plan:
        """A single step; all processes do the same."""
        process, random = Thread("iozone", self.t), self.test.startswith("random")
        step = Step(self.test)
        if self.test.endswith("read"):
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
            ).but(hot=self.test == "record-rewrite", cached=in_memory(job) or self.test == "record-rewrite")
            buffered = self.test.startswith("f")
            copies = (
                (CpuUse("destination", process, _STDIO, "copy through the buffer of stdio", stack="hot_byte"),)
                if buffered
                else ()
            )
            step = Step(self.test, write=access, cpu=copies)
        return Plan((step,), workers=self.t)

    def files(self) -> tuple[int, float] | None:
        """A file a process."""
        return None if self.s is None else (self.t, self.s.value)

    @property
    def finish(self) -> Finish:
        """What the options make a write wait for."""
        if self.direct:
            return "direct"
        if self.o:
            return "dsync"
        return "fdatasync" if self.e else "none"
