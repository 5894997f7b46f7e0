"""FTS: a service that has storages copy files from each other, a process and checksums for each."""

from dataclasses import replace
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import prior
from dtnsim.tools._common import ADLER32, COPIED, both_ends, reading, rereading, transfer
from dtnsim.tools._options import Count, Cycles, Size, named
from dtnsim.tools.plan import CpuUse, End, FileCost, Job, Mover, NetUse, Plan, Step

#: before the data of a file: stat of the source, stat of the destination that finds nothing; after it: its size there
_STATS: Final = 3.0
_SUM: Final = 1.0  #: a checksum that is asked for at an end
#: GridFTP third-party with a log-in of its own at both ends (a process has one file): TCP, TLS and delegation, eight
#: commands, then PASV, PORT, RETR and STOR, 226; session reuse leaves those of the file
#: HTTP third-party: TCP, TLS, COPY at the one end; TCP, TLS, GET (or PUT) between the ends
#: xrootd third-party: see xrdcp
_TRIPS: Final = {"gsiftp": (12.0, 4.0), "davs": (2.0, 4.0), "root": (3.0, 12.0)}  #: (log-in, a file)
#: fts_url_copy of a file: fork, exec, plug-ins of gfal2, credentials
_PROCESS: Final = prior("0.5 s", 0.7, "assumed: start of a process with gfal2's plug-ins, X.509 proxy, log file")


class Fts(Mover):
    """A job of FTS3: ``active`` files at once between two storages, ``nostreams`` connections each.

    A process of its own moves each file: it asks for the size at the source, for the checksum there (``checksum``),
    has the destination pull it, and asks for size and checksum there. ``reuse`` (``-r``) keeps one process and its
    log-ins for all files of the job. The optimizer moves ``active`` between 2 and 60 by what it sees; the number here
    stays.

    Neglects: time in the queue, the optimizer's steps (a file more a minute or so), retries, tape; the service's own
    place: its messages take the round trip of the path.
    Source: github.com/cern-fts/fts3 src/url-copy/UrlCopyProcess.cpp (steps of a file),
        src/server/services/optimizer/OptimizerConstants.h (2 to 60), OptimizerStreams.cpp (1 stream).
    """

    kind: ClassVar[str] = "fts"

    active: Annotated[Count, named("active", "max_active")] = 2
    nostreams: Annotated[int, named("nostreams", "streams", ge=1, le=64)] = 1
    protocol: Annotated[Literal["gsiftp", "davs", "root"], Field(description="how the storages speak")] = "davs"
    checksum: Annotated[Literal["none", "source", "target", "both"], named("checksum", "checksum_mode")] = "both"
    reuse: Annotated[bool, named("reuse", "r")] = False
    tcp_buffersize: Size | None = None
    block: Size = prior("1 MiB", 0.7, "assumed: buffers of storage servers, 256 KiB to 8 MiB")
    adler32: Cycles = ADLER32
    overhead: Cycles = prior("0.3 cycles/B", 0.7, "assumed: event loop of the storage server")

    def plan(self, job: Job) -> Plan:
        """Checksum at the source, copy, checksum at the destination; file by file in each of the processes."""
        workers = 1 if self.reuse else max(1, min(self.active, job.files))
        before = (self._sum(job, workers, source=True),) if self.checksum in ("source", "both") else ()
        after = (self._sum(job, workers, source=False),) if self.checksum in ("target", "both") else ()
        return Plan((*before, self._copy(job, workers), *after), workers=workers, weight=workers * self.nostreams)

    def _copy(self, job: Job, workers: int) -> Step:
        sender, receiver = Thread("storage sender", workers), Thread("storage receiver", workers)
        login, each = _TRIPS[self.protocol]
        reuse = self.reuse and self.protocol == "gsiftp"
        net = NetUse(sender, receiver, streams=workers * self.nostreams, window=self.tcp_buffersize, reopened=not reuse)
        cpu = both_ends(sender, receiver, self.overhead, "storage server")
        trips, process = _STATS + each + (0.0 if self.reuse else login), None if self.reuse else _PROCESS
        files = replace(COPIED, round_trips=trips, fixed=process)
        return transfer(job, (sender, receiver), self.block, net, cpu, files, workers=workers)

    def _sum(self, job: Job, workers: int, *, source: bool) -> Step:
        end: End = "source" if source else "destination"
        thread = Thread(f"checksum at {end}", workers)
        on_volume = (job.source if source else job.destination) == "volume"
        opened = ("open", "close") if on_volume else ()
        return Step(
            f"checksum at {end}",
            read=reading(job, thread, self.block, workers=workers) if source else None,
            reread=None if source else rereading(job, thread, self.block, workers=workers),
            cpu=(CpuUse(end, thread, self.adler32, "Adler-32"),) if on_volume else (),
            files=FileCost(round_trips=_SUM, source=opened if source else (), destination=() if source else opened),
        )
