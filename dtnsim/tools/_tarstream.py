"""A stream made at one end and unpacked at the other while it travels: an archive, a file or device, a snapshot."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import Quantity
from dtnsim.tools._common import device_work, reading, writing
from dtnsim.tools.plan import CpuUse, FileCost, Job, NetUse, Opening, Plan, Step

#: GNU tar: 512 B a header, files padded to 512 B, the archive to records of 10 KiB
HEADER_B: Final = 512.0
RECORD_B: Final = 10240.0

#: what makes the stream: tar a folder, dd a file or device, zfs send a snapshot
Packer = Annotated[
    Literal["tar", "dd", "zfs"], Field(description="tar -c | tar -x, dd | dd, or zfs send | zfs receive")
]
#: what the packer and unpacker do for a file, and for a folder at the destination; those of dd and zfs know no files
_OF_A_FILE: Final = FileCost(
    source=("stat", "open", "close"),
    destination=("create", "close", "setattr"),
    directory=("mkdir", "setattr"),
    together=True,
)
_UNPACKERS: Final = {"tar": "tar -x", "dd": "dd of", "zfs": "zfs receive"}


def overhead(job: Job, packer: str) -> float:
    """Bytes of the stream per payload byte."""
    return archive_B(job) / max(job.payload_B, 1.0) if packer == "tar" else 1.0


def archive_B(job: Job) -> float:
    """Bytes of the archive of a job: headers and padding come on top of the files."""
    bare = job.files * (HEADER_B + HEADER_B / 2) + job.directories * HEADER_B + job.payload_B
    return float(-(-(bare + 2 * HEADER_B) // RECORD_B) * RECORD_B)


def stream(
    job: Job,
    packer: str,
    net: NetUse,
    cpu: tuple[CpuUse, ...],
    record: Quantity,
    opening: Opening,
    holds_B: float = 0.0,
) -> Plan:
    """A packer, a connection and an unpacker: no message of a file waits."""
    maker, unpacker = Thread(packer), Thread(_UNPACKERS[packer])
    step = Step(
        "transfer",
        read=reading(job, maker, record),
        net=net,
        write=writing(job, unpacker, record),
        cpu=(*device_work(job, maker), *cpu),
        files=_OF_A_FILE if packer == "tar" else FileCost(),
    )
    return Plan((step,), opening=opening, holds_B=holds_B)
