"""xrdcp: chunks of a file asked for a few at a time."""

from dataclasses import replace
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import Quantity, prior
from dtnsim.tools._common import ADLER32, COPIED, CRC32C, MD5, both_ends, core_cost, in_flight, transfer
from dtnsim.tools._options import Client, Cycles, Rate, Size, named
from dtnsim.tools.plan import CpuUse, Job, Mover, NetUse, Opening, Plan

_SUMS = {"md5": core_cost("md5_openssl", "MD5 while copying"), "adler32": ADLER32, "crc32c": CRC32C}

_OPENING = 3.0  #: TCP, handshake with kXR_protocol, kXR_login
_FILE = 3.0  #: kXR_open, read or write, kXR_close
_FOLDER_GET, _FOLDER_PUT = 3.0, 1.0  #: -r get: STAT, DIRLIST with its end; put: the folder is made with the first file
_LIST = 1.0  #: a further folder: DIRLIST, or MKDIR with the first file
#: a further stream (-S): TCP, handshake, kXR_bind
_BIND = 3.0
_FILE_WORK = prior("4 ms", 0.4, "xrdcp 5.5.3, 50 files at 20 ms: time of a file less its messages")
_START = prior("0.07 s", 0.3, "xrdcp 5.5.3, one byte at 5 ms: 0.100 s less its round trips")
#: --tpc: messages of a file from the client to the source (open, close, query, open, close) and to the destination
#: (open, query, sync for the rendezvous, close; the sync for the copy is the copy itself)
_TPC_SOURCE, _TPC_DESTINATION = 5.0, 4.0
#: --tpc: how often the client looks whether the copy is done [s] (ThirdPartyCopyJob::RunTPC, XrdSysTimer::Wait( 2500 );
#: 1 s in XRootD 4)
_LOOK_S: Final = 2.5
_TPC_AT_ONCE: Final = 9  #: copies that a destination does at once (XrdOfsTPCConfig.hh: xfrMax)


class Xrdcp(Mover):
    """``xrdcp -S streams --parallel jobs --cksum type``, XRD_CPCHUNKSIZE and XRD_CPPARALLELCHUNKS.

    No more than ``parallel_chunks`` chunks are on their way at once: their bytes are a window.

    With ``--tpc`` the destination pulls from the source with an xrdcp of its own; the client, beside the end that
    ``client`` says, sets it going and looks every 2.5 s whether it is done.

    Neglects: redirection by a manager; delegation of credentials.
    Source: github.com/xrootd/xrootd 5.5.3 src/XrdCl/XrdClConstants.hh (chunk 8 MiB, 4 in parallel; 16 MiB before 5.0),
        XrdClClassicCopyJob.cc (open, read or write, close), XrdClThirdPartyCopyJob.cc, XrdOfs/XrdOfsTPCConfig.hh;
        xrdcp(1).
    """

    kind: ClassVar[str] = "xrdcp"
    files_option = "parallel"

    S: Annotated[int, named("S", "streams", ge=1, le=15)] = 1
    parallel: Annotated[int, Field(ge=1, le=128)] = 1
    chunk_size: Annotated[Size, named("chunk_size", "XRD_CPCHUNKSIZE")] = prior(
        "8 MiB", 0.0, "XrdClConstants.hh: DefaultCPChunkSize"
    )
    parallel_chunks: Annotated[int, named("parallel_chunks", "XRD_CPPARALLELCHUNKS", ge=1, le=255)] = 4
    overhead: Cycles = prior(
        "0.5 cycles/B",
        0.8,
        "assumed: chunks that pass queues and leave the processor's cache, half a copy at either end",
    )
    cksum: Literal["none", "md5", "adler32", "crc32c"] = "none"
    xrate: Rate | None = None
    tpc: Literal["none", "only", "first", "delegate"] = "none"
    client: Client = "destination"

    def plan(self, job: Job) -> Plan:
        third = self.tpc != "none"
        workers = max(1, min(self.parallel, job.files, _TPC_AT_ONCE if third else self.parallel))
        sender, receiver = Thread("xrootd sender", workers), Thread("xrootd receiver", workers)
        reader, writer = Thread("xrootd reader", workers), Thread("xrootd writer", workers)
        flight = in_flight(self.parallel_chunks, self.chunk_size, "chunks")
        sums: tuple[CpuUse, ...] = ()
        if self.cksum != "none":
            checker, duty = Thread("xrdcp checksum", workers), MD5 if self.cksum == "md5" else None
            sums = (CpuUse("destination", checker, _SUMS[self.cksum], self.cksum, duty=duty),)
        net = NetUse(sender, receiver, streams=workers * self.S, channel=flight, channels=workers, rate=self.xrate)
        net = replace(net, stopped=workers > 1 or job.files > 1)
        cpu = (*both_ends(sender, receiver, self.overhead, "xrootd"), *sums)
        get = self.client == "destination"
        msgs = _TPC_SOURCE if get else _TPC_DESTINATION  # what crosses the path: messages to the end without the client
        trips, fixed = (_FILE + msgs + _OPENING, self._looks(job)) if third else (_FILE, _FILE_WORK)
        files = replace(COPIED, round_trips=trips, fixed=fixed)
        step = transfer(job, (reader, writer), self.chunk_size, net, cpu, files, workers=workers)
        opening = Opening(_OPENING, _START, "log-in")
        if not third:
            folder = (_FOLDER_GET if get else _FOLDER_PUT) if job.files > 1 else 0.0
            trips = _OPENING + folder + _LIST * max(job.directories - 1, 0) + (_BIND if self.S > 1 else 0.0)
            opening = Opening(trips, _START, "log-in at the server")
        return Plan((step,), workers=workers, weight=workers * self.S, opening=opening)

    def _looks(self, job: Job) -> Quantity:
        """What looking now and then costs: the rest of the first interval, or half an interval of a long copy."""
        flight = self.chunk_size.value * self.parallel_chunks
        least = (_OPENING + _FILE + job.mean_B / flight) * job.rtt_s + _START.value
        late = max(_LOOK_S - least, _LOOK_S / 2)
        return _START.worth(late + _START.value, "xrdcp of the destination starts; ThirdPartyCopyJob looks every 2.5 s")
