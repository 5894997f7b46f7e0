"""Files over HTTP/1.1: a request a file on connections that stay open, or new ones.

- curl: one connection kept, several at once, or a process a file.
- aria2: files at once, and pieces of a file over several connections.
- Pelican (stashcp before): objects of the Open Science Data Federation, from a cache or an origin by HTTP.
"""

import math
from dataclasses import replace
from functools import partial
from typing import Annotated, ClassVar, Final

from pydantic import Field

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import Quantity, prior
from dtnsim.tools._common import OPENED, TLS as INLINE, both_ends, core_cost, transfer
from dtnsim.tools._options import Count, Rate, Size, named
from dtnsim.tools.plan import CpuUse, Job, Mover, NetUse, Opening, Plan

REQUEST: Final = 1.0  #: a file on an open connection: the request, and its answer with the bytes
CONNECT: Final = 1.0  #: a new connection: SYN and SYN-ACK
TLS: Final = 1.0  #: TLS 1.3 from ClientHello to Finished (RFC 8446)
#: a process that starts and reads its libraries
START: Final = prior("0.03 s", 0.3, "curl 7.88.1, one byte at 5 ms: 0.040 s less two round trips")
#: OpenSSL's first cipher suite of TLS 1.3 is TLS_AES_256_GCM_SHA384 (SSL_CTX_set_ciphersuites(3))
GCM: Final = core_cost("aes256_gcm", "TLS")
CALLS: Final = prior("0.3 cycles/B", 0.7, "assumed: one copy in user space and the loop of the client")
BLOCK: Final = prior("128 KiB", 0.5, "sendfile and read-ahead of web servers; clients read 16 to 256 KiB")


def _download(
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
    cpu: tuple[CpuUse, ...] = (CpuUse("destination", receiver, CALLS, "client"),)
    if tls:
        cpu += both_ends(sender, receiver, GCM, "TLS AES-GCM", INLINE)
    net = NetUse(
        sender, receiver, streams=streams, rate=rate, reopened=reopened, stopped=not reopened, sendfile=not tls
    )
    files = replace(OPENED, round_trips=each, fixed=process)
    step = transfer(job, (sender, receiver), BLOCK, net, cpu, files, workers=workers)
    return Plan((step,), workers=workers, weight=streams, opening=opening)


#: one run of curl in a shell's loop: fork, exec, libraries, exit
_PROCESS: Final = prior("0.01 s", 0.4, "curl 7.88.1, a process a file: user and system time of 50 of them")


class Curl(Mover):
    """``curl -Z --parallel-max N -K list``, or ``each: true`` for a curl (or wget) of its own for each file.

    In parallel mode curl first waits whether the server speaks HTTP/2 on the first connection.

    Neglects: HTTP/2 and 3; uploads.
    Source: curl(1); lib/multi.c (CURLOPT_PIPEWAIT); RFC 9112.
    """

    kind: ClassVar[str] = "curl"
    fetches = True

    parallel: Annotated[bool, named("parallel", "Z")] = False
    parallel_max: Annotated[Count, named("parallel_max", "parallel-max")] = 50
    limit_rate: Annotated[Rate | None, named("limit_rate", "limit-rate")] = None
    each: Annotated[bool, Field(description="a curl of its own for each file")] = False
    tls: Annotated[bool, Field(description="https")] = False

    def plan(self, job: Job) -> Plan:
        connect = CONNECT + (TLS if self.tls else 0.0)
        download = partial(_download, job, tls=self.tls, rate=self.limit_rate)
        if self.each:
            return download(Opening(), workers=1, each=REQUEST + connect, reopened=True, process=_PROCESS)
        workers = max(1, min(self.parallel_max, job.files)) if self.parallel else 1
        opening = Opening(connect + (connect if workers > 1 else 0.0), START, "connection")
        return download(opening, workers=workers, each=REQUEST)


#: start of the program: options, DNS and RNG, disk cache, timers of its event loop
_START: Final = prior("0.06 s", 0.4, "aria2 1.36.0: user and system time of a run with one file")


class Aria2(Mover):
    """``aria2c -j files -x connections -s splits -k least -i list``.

    A file is cut into at most ``s`` parts of at least ``k``, over at most ``x`` connections to a server; the others
    begin when the first answer has shown the length and that ranges are allowed.

    Neglects: several mirrors; pieces handed from slow to fast connections.
    Source: aria2c(1).
    """

    kind: ClassVar[str] = "aria2"
    fetches = True
    streams_option = "s"

    j: Annotated[Count, named("j", "max-concurrent-downloads")] = 5
    x: Annotated[int, named("x", "max-connection-per-server", ge=1, le=16)] = 1
    s: Annotated[Count, named("s", "split")] = 5
    k: Annotated[Size, named("k", "min-split-size")] = prior("20 MiB", 0.0, "aria2c(1): --min-split-size")
    limit: Annotated[Rate | None, named("limit", "max-overall-download-limit")] = None
    tls: Annotated[bool, Field(description="https")] = False

    def plan(self, job: Job) -> Plan:
        workers = max(1, min(self.j, job.files))
        parts = max(1, min(self.x, self.s, math.floor(job.mean_B / self.k.value)))
        connect = CONNECT + (TLS if self.tls else 0.0)
        opening = Opening(connect + ((connect + REQUEST) if parts > 1 else 0.0), _START, "connections")
        download = partial(_download, job, opening, tls=self.tls, rate=self.limit)
        return download(workers=workers, each=REQUEST, streams=workers * parts)


#: the director is asked (TCP, TLS, an answer that names the cache), then the cache (TCP, TLS, HEAD); both are assumed
#: to be as far away as the cache
_ASKED: Final = 2 * (CONNECT + TLS + REQUEST)
_PELICAN_START: Final = prior(
    "0.2 s", 0.6, "assumed: a Go program that reads its configuration and federation's metadata"
)


class Pelican(Mover):
    """``pelican object get pelican://FEDERATION/PATH``: ``workers`` objects at once, a connection each.

    The path's ``from`` is the cache: what it has to fetch from an origin first is a transfer of its own. Of an object
    that is asked for, the director names the cache first.

    Neglects: tokens; a second cache after a failure; uploads.
    Source: github.com/PelicanPlatform/pelican client (5 workers, TransferEngine); docs.pelicanplatform.org.
    """

    kind: ClassVar[str] = "pelican"
    fetches = True
    files_option = "workers"

    workers: Count = 5
    limit: Rate | None = None
    tls: Annotated[bool, Field(description="https; caches of public data have http as well")] = True

    def plan(self, job: Job) -> Plan:
        workers = max(1, min(self.workers, job.files))
        opening = Opening(_ASKED, _PELICAN_START, "director and cache")
        each = REQUEST * 2  # the director's answer is kept for a while; HEAD and GET at the cache
        return _download(job, opening, workers=workers, each=each, tls=self.tls, rate=self.limit)
