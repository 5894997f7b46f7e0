"""cp: one process copies file after file; over a network file system each file costs round trips."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, ClassVar

from pydantic import AliasChoices, Field

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import prior
from dtnsim.ground.uncertainty import Otherwise
from dtnsim.tools._common import READER, Size, device_work, one_host, reading, writing
from dtnsim.tools.plan import FileCost, Job, Plan, Step, Tool, Usage


class Cp(Tool):
    """``cp [-r] [-p|-a]``, with ``sync: true`` for ``cp ... && sync``.

    An exclusive create is a CREATE and a SETATTR on NFSv3; ``close`` sends what was written.

    ``reflink`` (``--reflink=always``) has the file system share the blocks, so that no byte moves: both ends are on one
    file system that can (XFS, Btrfs, bcachefs, ZFS 2.2, NFS 4.2).

    Neglects: ``copy_file_range`` (coreutils 9 tries a reflink first by itself); what a clone of many extents takes.
    Source: GNU coreutils src/ioblksize.h and copy.c; RFC 1813 section 3.3.8 (exclusive create).
    """

    kind: ClassVar[str] = "cp"
    tool_class = "local"
    usages = (
        Usage("cp", "cp -r SRC DST", "", "mount", lacks="no checksum, no resume"),
    )  # fmt: skip

    sync: Annotated[bool, Otherwise("true", "timed until the data are on the medium: cp && sync")] = False
    r: Annotated[bool, Field(json_schema_extra=READER, validation_alias=AliasChoices("r", "R", "recursive"))] = False
    p: Annotated[bool, Field(validation_alias=AliasChoices("p", "preserve", "a", "archive"))] = False
    reflink: Annotated[bool, Field(description="--reflink=always: blocks are shared, none is copied")] = False
    buffer: Size = prior("128 KiB", 0.5, "GNU coreutils ioblksize.h: 64 KiB (2011), 128 KiB (2014), 256 KiB (2024)")

    def plan(self, job: Job) -> Plan:
        """One process, file after file."""
        one_host(job, self.kind)
        process = Thread("cp")
        write = writing(job, process, self.buffer, finish="fdatasync" if self.sync else "none")
        kept = ("setattr",) if self.p else ()
        cost = FileCost(
            source=("stat", "open", "close"),
            destination=("lookup", "create", "setattr", "close", *kept),
            directory=("mkdir", *kept),
        )
        if self.reflink:
            cost = replace(cost, destination=("lookup", "create", "setattr", *kept))
            return Plan((Step("copy", files=cost),))
        read = reading(job, process, self.buffer)
        return Plan((Step("copy", read=read, write=write, cpu=device_work(job, process), files=cost),))
