"""An archive made at one end and unpacked at the other while it travels."""

from __future__ import annotations

from typing import Final

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import Quantity
from dtnsim.tools._common import device_work, reading, writing
from dtnsim.tools.plan import CpuUse, FileCost, Job, NetUse, Opening, Plan, Step

#: GNU tar: 512 B a header, files padded to 512 B, the archive to records of 10 KiB
HEADER_B: Final = 512.0
RECORD_B: Final = 10240.0


def archive_B(job: Job) -> float:
    """Bytes of the archive of a job: headers and padding come on top of the files."""
    bare = job.files * (HEADER_B + HEADER_B / 2) + job.directories * HEADER_B + job.payload_B
    return float(-(-(bare + 2 * HEADER_B) // RECORD_B) * RECORD_B)


def stream(job: Job, net: NetUse, cpu: tuple[CpuUse, ...], record: Quantity, opening: Opening) -> Plan:
    """tar, a connection and tar: no message of a file waits."""
    packer, unpacker = Thread("tar"), Thread("tar -x")
    there = job.destination == "volume"
    step = Step(
        "transfer",
        read=reading(job, packer, record),
        net=net,
        write=writing(job, unpacker, record),
        cpu=(*device_work(job, packer), *cpu),
        files=FileCost(
            source=("stat", "open", "close") if job.source == "volume" else (),
            destination=("create", "close", "setattr") if there else (),
            directory=("mkdir", "setattr") if there else (),
            together=True,
        ),
    )
    return Plan((step,), opening=opening)
