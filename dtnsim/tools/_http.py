"""Files over HTTP/1.1: a request a file on connections that stay open, or new ones."""

from __future__ import annotations

from typing import Final

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import Quantity, prior
from dtnsim.tools._common import TLS as INLINE
from dtnsim.tools._common import both_ends, core_cost, device_work, reading, writing
from dtnsim.tools.plan import CpuUse, FileCost, Job, NetUse, Opening, Plan, Step

#: a file on an open connection: the request, and its answer with the bytes
REQUEST: Final = 1.0
#: a new connection: SYN and SYN-ACK
CONNECT: Final = 1.0
#: TLS 1.3 from ClientHello to Finished (RFC 8446)
TLS: Final = 1.0
#: a process that starts and reads its libraries
START: Final = prior("0.03 s", 0.3, "curl 7.88.1, one byte at 5 ms: 0.040 s less two round trips")
GCM: Final = core_cost("aes128_gcm", "TLS")
CALLS: Final = prior("0.3 cycles/B", 0.7, "assumed: one copy in user space and the loop of the client")
BLOCK: Final = prior("128 KiB", 0.5, "sendfile and read-ahead of web servers; clients read 16 to 256 KiB")


def download(
    job: Job,
    opening: Opening,
    *,
    workers: int,
    each: float,
    streams: int | None = None,
    reopened: bool = False,
    tls: bool = False,
    rate: Quantity | None = None,
    process: Quantity | None = None,
) -> Plan:
    """``workers`` files at once, each with ``each`` messages that wait; ``streams`` connections in all."""
    streams = streams or workers
    sender, receiver = Thread("web server", streams), Thread("client")
    cpu: tuple[CpuUse, ...] = (*device_work(job, sender), CpuUse("destination", receiver, CALLS, "client"))
    if tls:
        cpu += both_ends(sender, receiver, GCM, "TLS AES-GCM", INLINE)
    step = Step(
        "transfer",
        read=reading(job, sender, BLOCK, workers=workers),
        net=NetUse(
            sender, receiver, streams=streams, rate=rate, reopened=reopened, stopped=not reopened, sendfile=not tls
        ),
        write=writing(job, receiver, BLOCK, workers=workers),
        cpu=cpu,
        files=FileCost(round_trips=each, fixed=process, source=("open", "close"), destination=("create", "close")),
    )
    return Plan((step,), workers=workers, weight=streams, opening=opening)
