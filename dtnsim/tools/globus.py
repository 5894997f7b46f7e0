"""The Globus transfer service: GridFTP driven by a service that verifies every file."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, ClassVar, Final, NamedTuple

from pydantic import AliasChoices, Field

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import prior
from dtnsim.ground.uncertainty import Otherwise
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
    """Files (or chunks) at once, streams of each, commands ahead."""

    concurrency: int
    parallelism: int
    pipelining: int


#: network use "normal": for each server of the endpoint, and of a file
_PREFERRED, _MOST, _STREAMS, _MOST_STREAMS = 2, 4, 4, 8
#: commands ahead (GridFTP pipelining as globus-url-copy has it)
_AHEAD: Final = 20


class Globus(Tool):
    """A task of the Globus service; ``verify`` reads each file back at both ends and compares MD5 sums.

    An endpoint prefers two files at once and allows four for each of its ``servers`` (the fewer of the two ends), with
    four streams each and eight at most: "normal" network use, unless the limits are given. Of an endpoint of Globus
    Connect Personal (``personal``) network use cannot be set: it has one server and what is preferred. Files above
    a ``chunk`` are cut (``chunked``, since 2021): a large one has several movers, and several threads verify it.
    The verification of a file or chunk follows its transfer in the same worker.

    Neglects: time in the service's queue; a task waiting behind two others of its owner; faults.
    Source: docs.globus.org, Globus Connect Server, network use options; github.com/globus/globus-sdk-python, endpoint
        document (levels depend on the number of physical servers); globus-cli manual; W. Zheng et al., Globus service
        enhancements for exascale applications and facilities, arXiv 2503.22981 (chunks, and their integrity checks).
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
    servers: Annotated[int, Field(ge=1, le=1024, description="servers of the endpoint that has fewer of them")] = 1
    personal: Annotated[bool, Field(description="Globus Connect Personal at one of the ends")] = False
    max_concurrency: Count | None = None
    max_parallelism: Count = _MOST_STREAMS
    chunked: Annotated[
        bool,
        Field(description="large files are cut into chunks; false before 2021"),
        Otherwise("false", "storage that cannot write a part of a file (connectors of tape and cloud drives)"),
    ] = True
    chunk: Size = prior("500 MB", 1.0, "assumed: what a mover does in some seconds, 100 MB to some GB")
    verify: Annotated[bool, Field(validation_alias=AliasChoices("verify", "verify_checksum", "verify-checksum"))] = True
    encrypt: Annotated[bool, Field(validation_alias=AliasChoices("encrypt", "encrypt_data", "encrypt-data"))] = False
    block: Size = prior("256 KiB", 0.0, "globus-gridftp-server: default block size 262144")
    checksum_block: Size = prior("1 MiB", 0.5, "assumed: buffer of the server's CKSM command")
    checksum: Cycles = core_cost("md5_openssl", "CKSM MD5 of the GridFTP server")
    cipher: Cycles = core_cost("aes128_gcm", "TLS of the data channel")
    overhead: Cycles = prior(
        "0.2 cycles/B", 0.7, "assumed: XIO event loop, 20 000 to 100 000 cycles for each block of 256 KiB"
    )

    def limits(self) -> tuple[int, int]:
        """Most files at once, and streams of each, that the endpoints allow."""
        if self.personal:
            return _PREFERRED, _STREAMS
        return self.max_concurrency or _MOST * self.servers, self.max_parallelism

    def chosen(self, job: Job) -> Tuning:
        """Files at once, streams a file and commands ahead, within the endpoints' limits."""
        most, streams = self.limits()
        parts = math.ceil(job.per_file(self._parts) * job.files)
        concurrency = min(self.concurrency or _PREFERRED * self.servers, most, max(parts, 1))
        return Tuning(concurrency, min(self.parallelism or _STREAMS, streams), self.pipelining or _AHEAD)

    def _parts(self, size_B: float) -> float:
        return float(max(1, math.ceil(size_B / self.chunk.value))) if self.chunked else 1.0

    def plan(self, job: Job) -> Plan:
        """Transfer, then verification, of each file or chunk."""
        use = self.chosen(job)
        steps = [self._transfer(job, use)]
        if self.verify:
            steps.append(self._verification(job, use.concurrency))
        return Plan(
            tuple(steps),
            workers=use.concurrency,
            weight=use.concurrency * use.parallelism,
            divided=self._parts(job.largest_B) > 1,
            warnings=tuple(self._clipped()),
        )

    def _clipped(self) -> Iterator[str]:
        """What was asked for and the end points do not allow."""
        for name, most in zip(("concurrency", "parallelism"), self.limits(), strict=True):
            asked = getattr(self, name)
            if asked is not None and asked > most:
                yield f"globus: {name} {asked} is cut to {most}, the end points' limit (max_{name})"

    def _transfer(self, job: Job, use: Tuning) -> Step:
        workers = use.concurrency
        sender, receiver = Thread("gridftp sender", workers), Thread("gridftp receiver", workers)
        cpu = (*device_work(job, sender), *both_ends(sender, receiver, self.overhead, "GridFTP event loop"))
        if self.encrypt:
            cpu += both_ends(sender, receiver, self.cipher, "encryption of the data channel", TLS)
        return Step(
            "transfer",
            read=reading(job, sender, self.block, workers=workers),
            net=NetUse(sender, receiver, streams=workers * use.parallelism),
            cpu=cpu,
            write=writing(job, receiver, self.block, workers=workers),
            files=FileCost(
                round_trips=THIRD_KEPT,
                ahead=float(use.pipelining),
                source=("stat", "open", "close"),
                destination=("create", "close", "setattr"),
                directory=("mkdir",),
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
