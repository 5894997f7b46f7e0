"""rclone: several files at once, large ones in several streams, over TLS."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import AliasChoices, Field

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import prior
from dtnsim.tools._common import Count, Cycles, Rate, Size, both_ends, core_cost, device_work, reading, writing
from dtnsim.tools.plan import CpuUse, FileCost, Job, NetUse, Plan, Step, Tool

_GCM = core_cost("aes128_gcm", "TLS")
_MD5 = core_cost("md5_openssl", "hash of what was read, compared with the remote's")


def _dash(name: str) -> AliasChoices:
    return AliasChoices(name, name.replace("_", "-"))


class Rclone(Tool):
    """``rclone copy --transfers --multi-thread-streams --multi-thread-cutoff --bwlimit ...``.

    Neglects: listing by ``--checkers``; limits and latency of the object store's own service.
    Source: rclone documentation, global flags.
    """

    kind: ClassVar[str] = "rclone"

    transfers: Count = 4
    checkers: Count = 8
    multi_thread_streams: Annotated[int, Field(ge=0, le=4096, validation_alias=_dash("multi_thread_streams"))] = 4
    multi_thread_cutoff: Annotated[Size, Field(validation_alias=_dash("multi_thread_cutoff"))] = prior(
        "256 MiB", 0.0, "rclone documentation: --multi-thread-cutoff"
    )
    bwlimit: Rate | None = None
    ignore_checksum: Annotated[bool, Field(validation_alias=_dash("ignore_checksum"))] = False
    tls: bool = True
    block: Size = prior("1 MiB", 0.3, "rclone lib/pool: buffers of 1 MiB")
    overhead: Cycles = prior("1 cycles/B", 0.7, "assumed: Go's HTTP client, two copies in user space")

    def plan(self, job: Job) -> Plan:
        """Files at once; streams a file only where it is large enough."""
        workers = max(1, min(self.transfers, job.files))
        each = max(1, self.multi_thread_streams) if job.mean_B >= self.multi_thread_cutoff.value else 1
        streams = workers * each
        sender, receiver = Thread("rclone senders", streams), Thread("rclone receivers", streams)
        cpu = (*device_work(job, sender), *both_ends(sender, receiver, self.overhead, "HTTP"))
        if self.tls:
            cpu += both_ends(sender, receiver, _GCM, "TLS AES-GCM")
        if not self.ignore_checksum:
            cpu += (CpuUse("source", Thread("rclone hash", workers), _MD5, "MD5"),)
        volume = job.destination == "volume"
        step = Step(
            "transfer",
            read=reading(job, sender, self.block, workers=workers),
            net=NetUse(sender, receiver, streams=streams, rate=self.bwlimit),
            write=writing(job, receiver, self.block, workers=workers),
            cpu=cpu,
            files=FileCost(
                round_trips=2.0,  # a HEAD and a PUT or GET (HTTP, connection kept)
                source=("stat", "open", "close") if job.source == "volume" else (),
                destination=("create", "close") if volume else (),
                directory=("mkdir",) if volume else (),
            ),
        )
        return Plan((step,), workers=workers, weight=streams)
