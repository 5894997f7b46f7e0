"""bonnie++: one process writes, rewrites and reads twice the memory in chunks; seekers hop about."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import AliasChoices, Field

from dtnsim.components.access import Finish, Thread
from dtnsim.ground.quantity import Quantity, prior
from dtnsim.tools._common import READER, Count, Size
from dtnsim.tools._volume import ON_VOLUME, in_memory, one_of, read_access, with_read, write_access
from dtnsim.tools.plan import Job, Plan, Step, Tool

#: releases 1.9x do the per-character tests with one system call a byte
_BYTE = Quantity(1.0, "B", 0.0, "bonnie++ 1.9x: write(2) and read(2) of one byte")
#: every tenth chunk that a seeker reads is written back (UpdateSeek)
UPDATE_SHARE = 0.1

Test = Literal["char-write", "block-write", "rewrite", "char-read", "block-read", "seeks"]


class Bonnie(Tool):
    """One column of a bonnie++ result.

    A rewrite reads a chunk, changes a byte and writes it back, in the same process: its throughput
    counts a byte once. ``seeks`` is chunks read at random by ``seekers`` processes; operations a second
    are its throughput over the chunk.

    Neglects: releases before 1.9x, whose per-character tests used stdio; the file-creation tests.
    Source: bonnie++ source (bonnie++.cpp, bon_file.cpp: chunk, fsync at close, UpdateSeek).
    """

    kind: ClassVar[str] = "bonnie"
    tool_class = "test"
    reads_option = writes_option = "d"

    test: Annotated[Test, one_of(Test)] = "block-write"
    chunk: Annotated[Size, Field(validation_alias=AliasChoices("chunk", "chunk_size", "chunk-size"))] = prior(
        "8 KiB", 0.0, "bonnie++(8): default chunk size"
    )
    b: Annotated[bool, Field(description="fsync after every write")] = False
    direct: Annotated[bool, Field(validation_alias=AliasChoices("D", "direct"), description="O_DIRECT")] = False
    d: Annotated[
        str | None,
        Field(validation_alias=AliasChoices("d", "volume"), json_schema_extra=READER, description=ON_VOLUME),
    ] = None
    s: Annotated[
        Size | None,
        Field(validation_alias=AliasChoices("s", "size"), json_schema_extra=READER, description="bytes of its files"),
    ] = None
    seekers: Count = 5

    def plan(self, job: Job) -> Plan:
        """A step a test; seekers also update."""
        if self.test == "seeks":
            return self._seeks(job)
        process = Thread("bonnie++")
        block = _BYTE if self.test.startswith("char") else self.chunk
        step = Step(self.test)
        if self.test.endswith("write"):
            rewrite = self.test == "rewrite"
            write = write_access(job, self.kind, process, block, finish=self.finish(job), rewrite=rewrite)
            write = write.but(cached=rewrite)  # it has just read what it writes
            step = Step(self.test, write=write)
        if self.test in ("rewrite", "char-read", "block-read"):
            step = with_read(job, step, read_access(job, self.kind, process, block, direct=self.direct))
        return Plan((step,))

    def files(self) -> tuple[int, float] | None:
        """One file, as large as all of them."""
        return None if self.s is None else (1, self.s.value)

    def finish(self, job: Job) -> Finish:
        """The files are closed with fsync; twice the memory keeps the medium busy all the time."""
        if self.direct:
            return "direct"
        if self.b:
            return "dsync"
        return "fdatasync" if in_memory(job) else "steady"

    def _seeks(self, job: Job) -> Plan:
        seekers, count = Thread("bonnie++ seekers", self.seekers), self.seekers
        read = read_access(
            job, self.kind, seekers, self.chunk, workers=count, direct=self.direct, random=True, depth=count
        )
        steps = [with_read(job, Step("seek"), read)]
        if job.destination == "volume":
            update = write_access(
                job,
                self.kind,
                seekers,
                self.chunk,
                finish="dsync" if self.b else "none",
                workers=count,
                random=True,
                rewrite=True,
            ).but(cached=True)
            steps.append(Step("update", write=update, share=UPDATE_SHARE))
        return Plan(tuple(steps), workers=count)
