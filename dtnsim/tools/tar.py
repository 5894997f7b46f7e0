"""tar: one process; for small files each file's operations decide, above all over a network file system."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import AliasChoices, Field

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import prior
from dtnsim.ground.uncertainty import Otherwise
from dtnsim.tools._common import Size, core_cost, device_work, one_host, reading, writing
from dtnsim.tools.plan import CpuUse, FileCost, Job, Plan, Step, Tool

_COMPRESS = core_cost("zlib6_compress", "gzip -6")
_EXPAND = core_cost("zlib6_decompress", "gzip -d")


class Tar(Tool):
    """``tar -x`` or ``tar -c``, ``z: true`` through gzip, ``sync: true`` for ``tar ... && sync``.

    The data set is the files, not the archive. A file that is extracted costs five requests on NFSv3:
    LOOKUP, an exclusive CREATE and the SETATTR it needs, the WRITE at close, SETATTR of its times. A directory costs
    MKDIR, an ACCESS before the first file is made in it, and SETATTR of its times.

    Neglects: that a compressed archive has fewer bytes to read or write than its files.
    Source: GNU tar extract.c; RFC 1813 section 3.3.8; c0t0d0s0.org, "tarxpathology".
    """

    kind: ClassVar[str] = "tar"
    tool_class = "local"

    mode: Annotated[Literal["x", "c"], Field(description="x: extract, c: create")] = "x"
    z: Annotated[bool, Field(validation_alias=AliasChoices("z", "gzip"))] = False
    sync: Annotated[bool, Otherwise("true", "timed until the data are on the medium: tar && sync")] = False
    record: Size = prior("10 KiB", 0.0, "tar(1): blocking factor 20 x 512 B")

    def plan(self, job: Job) -> Plan:
        """One process, file after file; gzip beside it."""
        one_host(job, self.kind)
        process = Thread("tar")
        read = reading(job, process, self.record)
        write = writing(job, process, self.record, finish="fdatasync" if self.sync else "none")
        step = Step(
            "extract" if self.mode == "x" else "create",
            read=read,
            write=write,
            cpu=(*device_work(job, process), *self._gzip()),
            files=self._files(job),
        )
        return Plan((step,))

    def _gzip(self) -> tuple[CpuUse, ...]:
        if not self.z:
            return ()
        cost = _EXPAND if self.mode == "x" else _COMPRESS
        return (CpuUse("source", Thread("gzip"), cost, "gzip"),)

    def _files(self, job: Job) -> FileCost:
        if self.mode == "c":
            return FileCost(source=("stat", "open", "close"))
        if job.destination != "volume":
            return FileCost()
        return FileCost(
            destination=("lookup", "create", "setattr", "close", "setattr"), directory=("mkdir", "access", "setattr")
        )
