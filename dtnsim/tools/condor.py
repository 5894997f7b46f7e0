"""HTCondor's file transfer: the access point sends each job's files over one connection of its own."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar, Final

from pydantic import Field

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import Quantity, Unit, prior
from dtnsim.tools._common import TLS, Count, Cycles, Size, both_ends, core_cost, device_work, reading, writing
from dtnsim.tools.plan import FileCost, Job, NetUse, Plan, Step, Tool

#: a job: TCP, a security session with its key, the transfer key, what is sent (assumed); a file: its name and size go
#: ahead of its bytes, and the answer says that there is room ("go ahead", file_transfer.cpp)
_JOB: Final = 6.0
_FILE: Final = 1.0


class Condor(Tool):
    """Input (or output) of ``jobs`` jobs, ``files_per_job`` files each, ``concurrent`` of them at once.

    Neglects: time that jobs wait to be matched; file-transfer plug-ins (OSDF: see pelican); the disk-load throttle.
    Source: HTCondor manual, MAX_CONCURRENT_UPLOADS and MAX_CONCURRENT_DOWNLOADS (100 each), SEC_DEFAULT_ENCRYPTION
        and AES since 9.0.
    """

    kind: ClassVar[str] = "condor"
    tool_class = "mover"
    files_option = "concurrent"

    files_per_job: Count = 1
    concurrent: Count = 100
    encrypt: Annotated[bool, Field(description="AES-GCM of what is sent, as since 9.0")] = True
    block: Size = prior("256 KiB", 0.7, "assumed: 64 KiB to 1 MiB, ReliSock's buffer")
    cipher: Cycles = core_cost("aes128_gcm", "AES of a security session")
    overhead: Cycles = prior("1 cycles/B", 0.7, "assumed: a copy in user space at either end")
    start: Annotated[Quantity, Unit("s")] = prior(
        "0.1 s", 0.7, "assumed: a shadow and a starter agree on a job's files"
    )

    def plan(self, job: Job) -> Plan:
        """A connection for each job under way."""
        jobs = max(1, math.ceil(job.files / self.files_per_job))
        workers = min(self.concurrent, jobs)
        sender, receiver = Thread("condor shadow", workers), Thread("condor starter", workers)
        cpu = (*device_work(job, sender), *both_ends(sender, receiver, self.overhead, "ReliSock"))
        if self.encrypt:
            cpu += both_ends(sender, receiver, self.cipher, "AES-GCM", TLS)
        each = 1.0 / min(self.files_per_job, job.files)
        step = Step(
            "transfer",
            read=reading(job, sender, self.block, workers=workers),
            net=NetUse(sender, receiver, streams=workers, reopened=self.files_per_job == 1),
            write=writing(job, receiver, self.block, workers=workers),
            cpu=cpu,
            files=FileCost(
                round_trips=_FILE + _JOB * each,
                fixed=self.start.worth(self.start.value * each, f"{self.start.source}; {each:.3g} jobs a file"),
                source=("stat", "open", "close"),
                destination=("create", "close", "setattr"),
                directory=("mkdir",),
            ),
        )
        return Plan((step,), workers=workers, weight=workers)
