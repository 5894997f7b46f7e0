"""The Globus transfer service: GridFTP driven by a service that verifies every file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar, Final, NamedTuple

from pydantic import AliasChoices, Field

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import prior
from dtnsim.tools._common import (
    TLS,
    Count,
    Cycles,
    Size,
    both_ends,
    core_cost,
    device_work,
    reading,
    rereading,
    writing,
)
from dtnsim.tools.gridftp import THIRD_KEPT
from dtnsim.tools.plan import FileCost, Job, NetUse, Plan, Step, Tool, Usage


class Tuning(NamedTuple):
    """What the service chooses by file size."""

    concurrency: int
    parallelism: int
    pipelining: int


#: mean sizes [B] where the service's defaults change
SMALL_B: Final = 50e6
MEDIUM_B: Final = 250e6


def tuning(size: float) -> Tuning:
    """The service's choice for files of a mean size [B] (from memory: the service does not publish it)."""
    if size < SMALL_B:
        return Tuning(2, 2, 20)
    return Tuning(2, 4, 5) if size < MEDIUM_B else Tuning(2, 8, 5)


class Globus(Tool):
    """A task of the Globus service; ``verify`` reads each file back at both ends and compares MD5 sums.

    Options left out follow the mean file size. ``max_concurrency`` and ``max_parallelism`` are the
    endpoints' limits. The verification of a file follows its transfer in the same worker.

    Neglects: time in the service's queue; chunks of large files verified while others move; faults.
    Source: globus-cli manual (network use, verify-checksum); defaults by size assumed.
    """

    kind: ClassVar[str] = "globus"
    tool_class = "mover"
    files_option = "concurrency"
    streams_option = "parallelism"
    usages = (
        Usage("Globus transfer", "globus transfer --recursive HERE:SRC HOST:DST", "Globus endpoints at both ends"),
    )  # fmt: skip

    concurrency: Annotated[Count | None, Field(validation_alias=AliasChoices("concurrency", "cc"))] = None
    parallelism: Annotated[Count | None, Field(validation_alias=AliasChoices("parallelism", "p"))] = None
    pipelining: Annotated[Count | None, Field(validation_alias=AliasChoices("pipelining", "pp"))] = None
    max_concurrency: Count = 4
    max_parallelism: Count = 8
    verify: Annotated[bool, Field(validation_alias=AliasChoices("verify", "verify_checksum", "verify-checksum"))] = True
    encrypt: Annotated[bool, Field(validation_alias=AliasChoices("encrypt", "encrypt_data", "encrypt-data"))] = False
    block: Size = prior("256 KiB", 0.0, "globus-gridftp-server: default block size 262144")
    checksum_block: Size = prior("1 MiB", 0.5, "assumed: buffer of the server's CKSM command")
    checksum: Cycles = core_cost("md5_openssl", "CKSM MD5 of the GridFTP server")
    cipher: Cycles = core_cost("aes128_gcm", "TLS of the data channel")
    overhead: Cycles = prior(
        "0.2 cycles/B", 0.7, "assumed: XIO event loop, 20 000 to 100 000 cycles for each block of 256 KiB"
    )

    def chosen(self, job: Job) -> Tuning:
        """Files at once, streams a file and commands ahead, within the endpoints' limits."""
        default = tuning(job.mean_B)
        concurrency = min(self.concurrency or default.concurrency, self.max_concurrency, max(job.files, 1))
        parallelism = min(self.parallelism or default.parallelism, self.max_parallelism)
        return Tuning(concurrency, parallelism, self.pipelining or default.pipelining)

    def plan(self, job: Job) -> Plan:
        """Transfer, then verification, of each file."""
        use = self.chosen(job)
        steps = [self._transfer(job, use)]
        if self.verify:
            steps.append(self._verification(job, use.concurrency))
        return Plan(
            tuple(steps),
            workers=use.concurrency,
            weight=use.concurrency * use.parallelism,
            warnings=tuple(self._clipped()),
        )

    def _clipped(self) -> Iterator[str]:
        """What was asked for and the end points do not allow."""
        for name in ("concurrency", "parallelism"):
            asked, most = getattr(self, name), getattr(self, f"max_{name}")
            if asked is not None and asked > most:
                yield f"globus: {name} {asked} is cut to {most}, the end points' limit (max_{name})"

    def _transfer(self, job: Job, use: Tuning) -> Step:
        workers = use.concurrency
        sender, receiver = Thread("gridftp sender", workers), Thread("gridftp receiver", workers)
        cpu = (*device_work(job, sender), *both_ends(sender, receiver, self.overhead, "GridFTP event loop"))
        if self.encrypt:
            cpu += both_ends(sender, receiver, self.cipher, "encryption of the data channel", TLS)
        volume = job.destination == "volume"
        return Step(
            "transfer",
            read=reading(job, sender, self.block, workers=workers),
            net=NetUse(sender, receiver, streams=workers * use.parallelism),
            cpu=cpu,
            write=writing(job, receiver, self.block, workers=workers),
            files=FileCost(
                round_trips=THIRD_KEPT,
                ahead=float(use.pipelining),
                source=("stat", "open", "close") if job.source == "volume" else (),
                destination=("create", "close", "setattr") if volume else (),
                directory=("mkdir",) if volume else (),
            ),
        )

    def _verification(self, job: Job, workers: int) -> Step:
        sender, receiver = Thread("checksum at source", workers), Thread("checksum at destination", workers)
        sums = both_ends(sender, receiver, self.checksum, "MD5 of the verification")
        there = {"source": job.source == "volume", "destination": job.destination == "volume"}
        return Step(
            "verification",
            read=rereading(job, sender, self.checksum_block, workers=workers, end="source"),
            reread=rereading(job, receiver, self.checksum_block, workers=workers),
            cpu=tuple(use for use in sums if there[use.end]),
            files=FileCost(
                round_trips=1.0,
                source=("open", "close") if there["source"] else (),
                destination=("open", "close") if there["destination"] else (),
            ),
        )
