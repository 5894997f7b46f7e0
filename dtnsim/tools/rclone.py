"""rclone: several files at once, large ones in several streams, over S3, http, webdav or sftp."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar, Final, Literal, NamedTuple

from pydantic import AliasChoices, Field

from dtnsim.components.access import Access, Thread
from dtnsim.ground.quantity import Quantity, prior
from dtnsim.physics.pace import turn_s, wait_s
from dtnsim.tools._common import (
    TLS,
    Client,
    Count,
    Cycles,
    Rate,
    Size,
    both_ends,
    core_cost,
    device_work,
    reading,
    writing,
)
from dtnsim.tools._s3 import cut
from dtnsim.tools._ssh import COSTS, LOGIN_CPU
from dtnsim.tools.plan import CpuUse, FileCost, Job, NetUse, Opening, Plan, Step, Tool

_GCM = core_cost("aes128_gcm", "TLS")
_MD5 = core_cost("md5_openssl", "hash of what was read, compared with the remote's")
#: pkg/sftp: 64 requests of 32 KiB for a file
_BLOCK: Final = prior("32 KiB", 0.0, "rclone documentation: --sftp-chunk-size")
#: the shell and the program that the far end starts for each file's sum
_SUM: Final = prior("0.02 s", 0.4, "a remote shell and md5sum for each file")


class Backend(NamedTuple):
    """Messages that wait.

    Attributes:
        get, put: Before the first file, when the remote is the source or the destination.
        get_file, put_file: A file.
        connect: A further connection.
        start: Start of the program and its connection.
    """

    get: float
    put: float
    get_file: float
    put_file: float
    connect: float
    start: Quantity


#: S3: TCP, TLS, list; HEAD and PUT or GET. http: TCP, HEAD of the root, list; GET.
#: webdav (backend/webdav/webdav.go of 1.60.1): TCP, PROPFIND twice, MKCOL; a file: GET, or MKCOL, PUT and PROPFIND. The
#: answers to PUT and PROPFIND are not read to their end (lib/rest/rest.go, Call and DecodeXML), so that Go closes their
#: connections: two new ones for each file that is put.
#: sftp (backend/sftp/sftp.go; Go's ssh: 11 to the subsystem's INIT): REALPATH, STAT, the sum's program looked for by
#: two commands (3 each), the list; a file: STAT, OPEN, FSTAT, READ, CLOSE; put: STAT of its folder, OPEN, WRITE,
#: CLOSE, SETSTAT and STAT are in the source, and two more in the slope of the measured runs
_BACKENDS: Final = {
    "s3": Backend(3.0, 3.0, 2.0, 2.0, 2.0, prior("0.15 s", 0.3, "as over http")),
    "http": Backend(3.0, 3.0, 1.0, 1.0, 1.0, prior("0.15 s", 0.2, "rclone 1.60, empty folder at 5 ms, less 3 trips")),
    "webdav": Backend(4.0, 4.0, 1.0, 5.0, 1.0, prior("0.17 s", 0.2, "rclone 1.60, empty folder at 5 ms, less 4 trips")),
    "sftp": Backend(
        25.0, 21.0, 5.0, 8.0, 11.0, prior("0.27 s", 0.2, "rclone 1.60, empty folder at 5 ms, less 25 trips")
    ),
}
#: the webdav backend lets a request begin every 10 ms (pacer.MinSleep), whatever --transfers says
_PACE_S: Final = 0.01
#: its requests for a file
_PACED: Final = {"get": 1.0, "put": 3.0}
#: connections of the sftp backend begin so far apart (backend/sftp/sftp.go, minSleep)
_LOGIN_PACE_S: Final = 0.1
#: rclone serve webdav: http.ServeContent reads the first 512 bytes to name the type of a file without extension, and
#: the virtual file system waits for a read in sequence before it goes back (vfs/read.go, waitSequential,
#: --vfs-read-wait)
_SERVE: Final = prior(
    "20 ms", 0.5, "rclone 1.60.1 vfs/vfscommon/options.go: ReadWait 20 ms, where rclone serves"
)  #: a channel of the same connection, the command and its end
_HASH: Final = 2.0


def _dash(name: str) -> AliasChoices:
    return AliasChoices(name, name.replace("_", "-"))


class Rclone(Tool):
    """``rclone copy --transfers --checkers --multi-thread-streams --multi-thread-cutoff --bwlimit ...``.

    ``backend`` is the far end's protocol; ``client`` the end at which rclone runs. Over http each file of the list
    costs a HEAD, ``checkers`` at once. Over sftp each file's sum is made by a program at the far end.

    Neglects: limits and latency of the object store's own service.
    Source: rclone documentation, global flags; github.com/rclone/rclone 1.60.1 backend/sftp/sftp.go,
        backend/webdav/webdav.go, backend/http/http.go, lib/rest/rest.go, lib/pacer/pacers.go.
    """

    kind: ClassVar[str] = "rclone"

    backend: Literal["s3", "http", "webdav", "sftp"] = "s3"
    transfers: Count = 4
    checkers: Count = 8
    multi_thread_streams: Annotated[int, Field(ge=0, le=4096, validation_alias=_dash("multi_thread_streams"))] = 4
    multi_thread_cutoff: Annotated[Size, Field(validation_alias=_dash("multi_thread_cutoff"))] = prior(
        "256 MiB", 0.0, "rclone documentation: --multi-thread-cutoff"
    )
    bwlimit: Rate | None = None
    ignore_checksum: Annotated[bool, Field(validation_alias=_dash("ignore_checksum"))] = False
    sftp_disable_hashcheck: Annotated[bool, Field(validation_alias=_dash("sftp_disable_hashcheck"))] = False
    sftp_concurrency: Annotated[Count, Field(validation_alias=_dash("sftp_concurrency"))] = 64
    sftp_chunk_size: Annotated[Size, Field(validation_alias=_dash("sftp_chunk_size"))] = _BLOCK
    tls: bool = True
    client: Client = "source"
    s3_chunk_size: Annotated[Size, Field(validation_alias=_dash("s3_chunk_size"))] = prior(
        "5 MiB", 0.0, "rclone documentation, s3: --s3-chunk-size"
    )
    s3_upload_concurrency: Annotated[Count, Field(validation_alias=_dash("s3_upload_concurrency"))] = 4
    block: Size = prior("1 MiB", 0.3, "rclone lib/pool: buffers of 1 MiB")
    overhead: Cycles = prior("1 cycles/B", 0.7, "assumed: Go's HTTP client, two copies in user space")

    def plan(self, job: Job) -> Plan:
        """Files at once; streams a file only where it is large enough."""
        workers = max(1, min(self.transfers, job.files))
        each = max(1, self.multi_thread_streams) if job.mean_B >= self.multi_thread_cutoff.value else 1
        streams = workers * each if self.backend != "sftp" else workers
        sender, receiver = Thread("rclone senders", streams), Thread("rclone receivers", streams)
        if self.backend == "s3" and not job.remote:  # a bucket as a volume of this host
            sender = receiver = Thread("rclone", streams)
        step = Step(
            "transfer",
            read=self._cut(reading(job, sender, self.block, workers=workers), each, job),
            net=self._net(sender, receiver, streams, job),
            write=self._cut(writing(job, receiver, self.block, workers=workers), each, job),
            cpu=(*device_work(job, sender), *self._work(sender, receiver, workers, apart=job.remote)),
            files=self._files(job, workers),
        )
        return Plan((step,), workers=workers, weight=streams, opening=self._opening(job, workers))

    def _cut(self, use: Access | None, streams: int, job: Job) -> Access | None:
        """Uploads in chunks, several at once; downloads in as many streams as a file has."""
        if self.backend != "s3":
            return use
        if self.client == "source":
            chunk = min(self.s3_chunk_size.value, job.mean_B)
            return cut(use, max(chunk, 1.0), min(self.s3_upload_concurrency, math.ceil(job.mean_B / max(chunk, 1.0))))
        return cut(use, max(job.mean_B / streams, 1.0), streams)

    @property
    def _hashes(self) -> bool:
        return self.backend == "sftp" and not (self.sftp_disable_hashcheck or self.ignore_checksum)

    def _net(self, sender: Thread, receiver: Thread, streams: int, job: Job) -> NetUse:
        stopped = job.files > 1
        if self.backend != "sftp":
            fresh = self.backend == "webdav" and self.client == "source"
            return NetUse(
                sender, receiver, streams=streams, rate=self.bwlimit, stopped=stopped and not fresh, reopened=fresh
            )
        window = Quantity(
            self.sftp_concurrency * self.sftp_chunk_size.value,
            "B",
            self.sftp_chunk_size.spread,
            f"{self.sftp_concurrency} requests of {self.sftp_chunk_size}; {self.sftp_chunk_size.source}",
        )
        return NetUse(
            sender,
            receiver,
            streams=streams,
            rate=self.bwlimit,
            channel=window,
            grain=self.sftp_chunk_size,
            stopped=stopped,
        )

    def _waits(self, job: Job, workers: int) -> Quantity | None:
        """What a file waits for besides its messages: a sum at the far end, the server, the pace of requests."""
        if self.backend == "sftp":
            return _SUM if self._hashes else None
        if self.backend != "webdav":
            return None
        put = self.client == "source"
        messages = (_BACKENDS["webdav"].put_file if put else _BACKENDS["webdav"].get_file) * job.rtt_s
        own = messages + (0.0 if put else _SERVE.value)
        turn = float(wait_s(job.files, workers, _PACED["put" if put else "get"], _PACE_S, own))
        if put and turn == 0:
            return None
        return _SERVE.worth(own - messages + turn, f"{_SERVE.source}; requests begin {_PACE_S:g} s apart (lib/pacer)")

    def _work(self, sender: Thread, receiver: Thread, workers: int, *, apart: bool) -> tuple[CpuUse, ...]:
        cpu = both_ends(sender, receiver, self.overhead, "HTTP" if self.backend != "sftp" else "SFTP")
        if self.backend == "sftp":
            cpu += both_ends(sender, receiver, COSTS["aes-gcm"], "SSH aes-gcm")
        elif self.tls:
            cpu += both_ends(sender, receiver, _GCM, "TLS AES-GCM", TLS)
        if not apart:  # the store's end is elsewhere
            cpu = tuple(use for use in cpu if use.end == self.client)
        if not self.ignore_checksum and self.backend not in ("http", "webdav"):
            cpu += (CpuUse("source", Thread("rclone hash", workers), _MD5, "MD5"),)
        return cpu

    def _files(self, job: Job, workers: int) -> FileCost:
        backend, volume = _BACKENDS[self.backend], job.destination == "volume"
        trips = backend.put_file if self.client == "source" else backend.get_file
        return FileCost(
            round_trips=trips + (_HASH if self._hashes else 0.0),
            fixed=self._waits(job, workers),
            source=("stat", "open", "close") if job.source == "volume" else (),
            destination=("create", "close") if volume else (),
            directory=("mkdir",) if volume else (),
        )

    def _opening(self, job: Job, workers: int) -> Opening:
        if not job.remote:
            return Opening()
        backend = _BACKENDS[self.backend]
        trips = backend.put if self.client == "source" else backend.get
        work, connect = backend.start, backend.connect
        if self.backend != "sftp":  # a TLS handshake; that of S3 is counted above
            more = float(self.tls) - float(self.backend == "s3")
            trips, connect = trips + more, connect + more
        if self.backend == "http" and job.files > 1:  # the length and time of every file in the list
            trips += math.ceil(job.files / max(job.directories, 1) / self.checkers) + backend.connect
        further = None
        if self.backend == "sftp" and workers > 1:
            mean = float(turn_s(workers - 1, _LOGIN_PACE_S, LOGIN_CPU.value / job.cores))
            further = LOGIN_CPU.worth(
                mean, f"{LOGIN_CPU.source}; log-ins begin {_LOGIN_PACE_S:g} s apart (rclone's pacer)"
            )
        return Opening(trips, work, f"connection and lists over {self.backend}", connect, further)
