"""robocopy: threads that copy files between volumes of one host, one of them usually a share over SMB."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import AliasChoices, Field

from dtnsim.components.access import Finish, Thread
from dtnsim.ground.quantity import Quantity, Unit, prior
from dtnsim.tools._common import Size, device_work, one_host, reading, writing
from dtnsim.tools.plan import FileCost, Job, Plan, Step, Tool


class Robocopy(Tool):
    """``robocopy SRC DST /E /MT:8 /J``: from one volume of a host to another, over SMB where one is mounted so.

    ``MT`` threads copy a file each; without it one does. ``J`` reads and writes past the cache. ``changed`` is the
    part of the bytes in files whose size or time differs: those that are the same cost their look-up alone.

    Neglects: ``/Z`` and its journal in each file; ACLs (``/SEC``, ``/COPYALL``); compression of SMB (``/COMPRESS``).
    Source: github.com/MicrosoftDocs/windowsserverdocs WindowsServerDocs/administration/windows-commands/robocopy.md.
    """

    kind: ClassVar[str] = "robocopy"
    tool_class = "local"

    MT: Annotated[int, Field(ge=1, le=128, description="threads; /MT alone is 8, no /MT is 1")] = 1
    J: Annotated[bool, Field(validation_alias=AliasChoices("J", "unbuffered"))] = False
    changed: Annotated[Quantity, Unit("1", high=1.0)] = prior("1", 0.0, "first copy: every file is new")
    buffer: Size = prior("1 MiB", 0.7, "assumed: CopyFileEx reads and writes 64 KiB to 1 MiB, 1 MiB over SMB")

    def plan(self, job: Job) -> Plan:
        """Look-up of every file, then copies of those that differ."""
        one_host(job, self.kind)
        workers = max(1, min(self.MT, job.files))
        process = Thread("robocopy", workers)
        seen = FileCost(source=("stat",), destination=("lookup", "stat"))
        steps = [Step("scan", files=seen)]
        if self.changed.value > 0:
            finish: Finish = "direct" if self.J else "none"
            cost = FileCost(
                source=("open", "close"), destination=("create", "setattr", "close"), directory=("mkdir", "setattr")
            )
            read = reading(job, process, self.buffer, workers=workers, finish="direct" if self.J else "steady")
            write = writing(job, process, self.buffer, workers=workers, finish=finish)
            steps.append(
                Step(
                    "copy",
                    read=read,
                    write=write,
                    cpu=device_work(job, process),
                    files=cost if self.changed.value == 1 else FileCost(),
                    share=self.changed.value,
                )
            )
        return Plan(tuple(steps), workers=workers, weight=workers)
