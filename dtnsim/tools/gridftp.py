"""globus-url-copy: GridFTP with parallel streams, concurrent files and pipelined commands."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import AliasChoices, Field

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import prior
from dtnsim.tools._common import Count, Cycles, Size, both_ends, device_work, reading, writing
from dtnsim.tools.plan import FileCost, Job, NetUse, Plan, Step, Tool

#: Control round trips of a file: PASV/PORT, RETR/STOR with their 150, the 226 at the end, and the
#: TCP connection of the data channel; -fast (MODE E, channels reused) leaves RETR/STOR and the 226.
ROUND_TRIPS = 4.0
ROUND_TRIPS_FAST = 2.0
#: Files whose commands -pp keeps outstanding
PIPELINE = 20.0


class Gridftp(Tool):
    """``globus-url-copy -p ... -cc ... -pp -fast -udt -tcp-bs ... -bs ... -stripe``.

    A server process a file in flight reads (or writes) the file and serves all its streams in one
    event loop, so file and network work share a core. Without ``-fast`` (MODE S) the end of a file is the
    end of its data connections: the next one has new ones, which start slowly.

    Neglects: authentication; writes out of order with ``p`` > 1 (MODE E) on disks.
    Source: gridcf/gct globus-url-copy manual; RFC 959 and GFD.20 (commands of a transfer).
    """

    kind: ClassVar[str] = "gridftp"

    p: Annotated[Count, Field(validation_alias=AliasChoices("p", "parallel"))] = 1
    cc: Annotated[Count, Field(validation_alias=AliasChoices("cc", "concurrency"))] = 1
    pp: Annotated[bool, Field(validation_alias=AliasChoices("pp", "pipeline"))] = False
    fast: bool = False
    udt: bool = False
    r: Annotated[bool, Field(validation_alias=AliasChoices("r", "recurse"))] = False
    tcp_bs: Annotated[
        Size | None, Field(validation_alias=AliasChoices("tcp_bs", "tcp-bs", "tcp_buffer_size", "tcp-buffer-size"))
    ] = None
    bs: Annotated[Size, Field(validation_alias=AliasChoices("bs", "block_size", "block-size"))] = prior(
        "256 KiB", 0.0, "globus-gridftp-server: default block size 262144"
    )
    stripe: Annotated[Count, Field(description="data movers of a striped transfer (-stripe)")] = 1
    overhead: Cycles = prior(
        "0.2 cycles/B", 0.7, "assumed: XIO event loop, 20 000 to 100 000 cycles for each block of 256 KiB"
    )

    def plan(self, job: Job) -> Plan:
        """A process for each file in flight at each end."""
        workers = max(1, min(self.cc, job.files))
        processes = workers * self.stripe
        sender, receiver = Thread("gridftp sender", processes), Thread("gridftp receiver", processes)
        streams = self.p * processes
        net = NetUse(
            sender,
            receiver,
            streams=streams,
            transport="udt" if self.udt else "tcp",
            window=self.tcp_bs,
            reopened=not self.fast,
        )
        transfer = Step(
            "transfer",
            net=net,
            files=self.file_cost(job),
            read=reading(job, sender, self.bs, workers=workers),
            write=writing(job, receiver, self.bs, workers=workers),
            cpu=(*device_work(job, sender), *both_ends(sender, receiver, self.overhead, "GridFTP event loop")),
        )
        return Plan((transfer,), workers=workers, weight=streams)

    def file_cost(self, job: Job) -> FileCost:
        """Commands and file operations of one file."""
        return FileCost(
            round_trips=ROUND_TRIPS_FAST if self.fast else ROUND_TRIPS,
            source=("open", "stat", "close") if job.source == "volume" else (),
            destination=("create", "close") if job.destination == "volume" else (),
            ahead=PIPELINE if self.pp else 1.0,
            directory=("mkdir",) if job.destination == "volume" else (),
        )
