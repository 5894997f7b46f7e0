"""What several tools share: types of their options, accesses to the ends, costs of device files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, AliasChoices, Field

from dtnsim.components import cores
from dtnsim.components.access import Access, Finish, Thread
from dtnsim.components.offload import Duty
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Quantity, Unit, prior
from dtnsim.ground.uncertainty import Otherwise
from dtnsim.tools.plan import CpuUse, End, Far, FileCost, Job

Size = Annotated[Quantity, Unit("B", low=1)]
Rate = Annotated[Quantity, Unit("B/s", low=1)]
#: payload bytes for each byte that is left of them when they are compressed
Ratio = Annotated[Quantity, Unit("1", low=1.0, high=1000.0)]
Cycles = Annotated[Quantity, Unit("cycles/B", spread=0.3)]

#: at which end of a transfer the command is typed: at the source it puts, at the destination it gets
Client = Annotated[Literal["source", "destination"], Field(description="end at which the command is typed")]


def named(*names: str, **rules: Any) -> Any:
    """An option that goes by several names, the first of which documents show; rules as `pydantic.Field` takes them."""
    return Field(validation_alias=AliasChoices(*names) if names else None, **rules)


def documented(*names: str, **rules: Any) -> Any:
    """The same, accepted because people type it; it moves no answer: the data set or the path says it."""
    return named(*names, json_schema_extra={"x-documentation-only": True}, **rules)


#: streams of one transfer, where its ends are there for long ways
STREAMS: Final = Otherwise("4", "transfer hosts: 4 to 8 streams (ESnet fasterdata, GridFTP and iperf3)", role="dtn")

#: a number of files, streams, threads or ports that an option asks for
Count = Annotated[int, Field(ge=1, le=4096)]

ZERO_BYTE: Final = prior(
    "0.2 cycles/B", 0.3, "clearing pages: UCI LightPath report, dd /dev/zero to /dev/null 16.8 GB/s, ~3 GHz laptop"
)
RANDOM_BYTE: Final = prior(
    "160 cycles/B",
    1.0,
    "Venadi post, dd if=/dev/urandom 14.6 MB/s on a Cori login node (2.3 GHz assumed); "
    "kernels since 4.8 (ChaCha20) are some ten times faster",
)


#: what a copy does for each file, and for each folder where they go; with the files' times and modes
COPIED: Final = FileCost(source=("stat", "open", "close"), destination=("create", "close"), directory=("mkdir",))
COPIED_WITH_TIMES: Final = replace(COPIED, destination=("create", "close", "setattr"))

#: part of a host's memory that holds files for another reading (assumed: programs and what waits to be written have
#: the rest; from a quarter to nearly all)
CACHE_PART: Final = 0.5

#: AES-GCM of TLS, as a card of the host could compute it
TLS: Final = Duty("cipher", "aes-gcm", "tls")


def version_tuple(text: str) -> tuple[int, ...]:
    """``7.4p1`` as (7, 4): what orders releases."""
    return tuple(int(n) for n in re.findall(r"\d+", text.partition("p")[0]))


def _check_version(text: str) -> str:
    if not re.fullmatch(r"\d{1,4}(\.\d{1,4}){0,3}(p\d{1,2})?", text):
        raise ValueError("is not a version; write it like 7.4 or 3.16")
    return text


#: version of a tool, as the tool prints it
Version = Annotated[str, AfterValidator(_check_version)]


#: cycles per byte of an operation whose rate is published
core_cost = cores.core_cost


def scaled(quantity: Quantity, factor: float, why: str) -> Quantity:
    """A quantity times a number, with the reason added to its source."""
    return quantity.worth(quantity.value * factor, f"{quantity.source}; {why}")


def reading(
    job: Job, thread: Thread, block: Quantity, *, workers: int = 1, queue_depth: int = 1, finish: Finish = "steady"
) -> Access | None:
    """Use of the source volume; None where the source is a device or memory."""
    return None if job.source != "volume" else _access("read", job, thread, block, workers, queue_depth, finish)


def writing(
    job: Job, thread: Thread, block: Quantity, *, workers: int = 1, finish: Finish = "none", queue_depth: int = 1
) -> Access | None:
    """Use of the destination volume; None where the destination is a device or memory."""
    if job.destination != "volume":
        return None
    return _access("write", job, thread, block, workers, queue_depth, finish).but(stored=job.stored)


def _access(
    operation: Literal["read", "write"],
    job: Job,
    thread: Thread,
    block: Quantity,
    workers: int,
    queue_depth: int,
    finish: Finish,
) -> Access:
    return Access(
        operation, thread, block_B=block.value, file_B=job.mean_B, total_B=job.payload_B,
        streams=workers, own_streams=workers, queue_depth=queue_depth, finish=finish,
    )  # fmt: skip


def rereading(
    job: Job, thread: Thread, block: Quantity, *, workers: int = 1, end: End = "destination"
) -> Access | None:
    """Reading a file once more after it has been moved; from memory where the files in flight fit there."""
    there = end == "destination"
    access = reading(replace(job, source=job.destination) if there else job, thread, block, workers=workers)
    if access is None:
        return None
    again = job.mean_B * workers
    fits = again < CACHE_PART * job.file_memory_B[there]
    # least recently used pages go first: of a file that does not fit none is left when it is read again
    kept = {"cached": True, "total_B": again} if fits else {}
    return access.but(again=True, stored=job.stored if there else 1.0, **kept)


def device_work(job: Job, thread: Thread) -> tuple[CpuUse, ...]:
    """What it costs the reading thread where the source is /dev/zero or /dev/urandom."""
    if job.source == "zero":
        return (CpuUse("source", thread, ZERO_BYTE, "clearing pages of /dev/zero", stack="zero_byte"),)
    if job.source == "random":
        return (CpuUse("source", thread, RANDOM_BYTE, "random number generator of the kernel"),)
    return ()


def both_ends(
    sender: Thread, receiver: Thread, cycles: Quantity, what: str, duty: Duty | None = None
) -> tuple[CpuUse, ...]:
    """The same work per byte at both ends."""
    ends: tuple[tuple[End, Thread], ...] = (("source", sender), ("destination", receiver))
    return tuple(CpuUse(end, thread, cycles, what, duty=duty) for end, thread in ends)


def protocol(job: Job, option: str, asked: str | None, ways: Mapping[Far, tuple[str, ...]]) -> str:
    """The protocol that leads to the far end: the one that is asked for, or the first of those that do.

    Args:
        job: What the tool is asked to do.
        option: Name of the tool's option.
        asked: Its value, where the path says it.
        ways: What leads to each kind of far end, the usual one first.

    Raises:
        SpecError: what is asked for does not lead there.
    """
    fit = ways[job.far]
    if asked is None or asked in fit:
        return asked or fit[0]
    end = {"bucket": "a bucket", "mount": "another mount of the same host"}.get(job.far, "a host without a bucket")
    remedy = f"write {' or '.join(fit)}, or leave it out"
    raise SpecError(f"the other end is {end}", key=f"{job.name}.tool.{option}", value=asked, remedy=remedy)


def one_host(job: Job, tool: str) -> None:
    """Refuses a job between two hosts for a tool that copies within one.

    Raises:
        SpecError: the ends are on different hosts.
    """
    if job.remote:
        raise SpecError(
            f"{tool} copies within one host",
            key=f"{job.name}.to",
            remedy="mount the other end (volumes: {/share: {filesystem: smb, server: 'HOST:/data'}}) and name that, "
            "or use a network tool",
        )


def needs_volume(job: Job, end: End, tool: str) -> None:
    """Refuses a job whose ``end`` is no volume.

    Raises:
        SpecError: the end is a device or memory.
    """
    kind = job.source if end == "source" else job.destination
    if kind != "volume":
        key = "from" if end == "source" else "to"
        raise SpecError(
            f"{tool} needs a volume here",
            key=f"{job.name}.{key}",
            value=kind,
            remedy="write host:/mount of one of the host's volumes",
        )
