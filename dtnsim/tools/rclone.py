"""rclone: several files at once, large ones in several streams, over S3, http, webdav, sftp or smb, or in a host."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, ClassVar, Final, Literal, NamedTuple

from pydantic import Field

from dtnsim.components.access import Access, Thread
from dtnsim.components.offload import Duty
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Quantity, prior
from dtnsim.ground.uncertainty import Otherwise
from dtnsim.physics.tools import mean_finish_time, pacer_wait, staggered_idle_time
from dtnsim.tools._common import COPIED, MD5, TLS, both_ends, core_cost, device_work, reading, rereading, writing
from dtnsim.tools._options import Client, Count, Cycles, Rate, Size, named
from dtnsim.tools._s3 import GO_CLIENT, cut, uploads
from dtnsim.tools._ssh import COSTS, LOGIN_CPU
from dtnsim.tools.plan import CpuUse, End, Far, FileCost, Job, Mover, NetUse, Opening, Plan, Step

_GCM = core_cost("aes128_gcm", "TLS")
_MD5 = core_cost("md5_openssl", "hash of what was read, compared with the remote's")
#: pkg/sftp: 64 requests of 32 KiB for a file
_BLOCK: Final = prior("32 KiB", 0.0, "rclone documentation: --sftp-chunk-size")
#: the shell and the program that the far end starts for each file's sum
_SUM: Final = prior("0.02 s", 0.4, "a remote shell and md5sum for each file")


class Backend(NamedTuple):
    """Messages of a backend that wait for their answers, and the start of the program."""

    #: Before the first file, when the remote is the source or the destination.
    get: float
    put: float
    #: A file.
    get_file: float
    put_file: float
    connect: float  #: A further connection.
    start: Quantity  #: Start of the program and its connection.


#: S3: TCP, TLS, list; HEAD and PUT or GET. http: TCP, HEAD of the root, list; GET.
#: webdav (backend/webdav/webdav.go of 1.60.1): TCP, PROPFIND twice, MKCOL; a file: GET, or MKCOL, PUT and PROPFIND. The
#: answers to PUT and PROPFIND are not read to their end (lib/rest/rest.go, Call and DecodeXML), so that Go closes their
#: connections: two new ones for each file that is put.
#: sftp (backend/sftp/sftp.go; Go's ssh: 11 to the subsystem's INIT): REALPATH, STAT, the sum's program looked for by
#: two commands (3 each), the list; a file: STAT, OPEN, FSTAT, READ, CLOSE; put: STAT of its folder, OPEN, WRITE,
#: CLOSE, SETSTAT and STAT are in the source, and two more in the slope of the measured runs
#: smb (backend/smb/smb.go since 1.63, go-smb2, which joins no messages, so that a look is CREATE and CLOSE): TCP,
#: NEGOTIATE, two of log-in, TREE_CONNECT; a look at the root and its list (4), put: the folder is looked for. A file:
#: CREATE, READ twice, CLOSE. Put: its folder (2), CREATE, WRITE, CLOSE, its time (3), a look twice (4), and as it is
#: written under another name its folder (2), the change of name (3) and a look (2)
_BACKENDS: Final = {
    "s3": Backend(3.0, 3.0, 2.0, 2.0, 2.0, prior("0.15 s", 0.3, "as over http")),
    "http": Backend(3.0, 3.0, 1.0, 1.0, 1.0, prior("0.15 s", 0.2, "rclone 1.60, empty folder at 5 ms, less 3 trips")),
    "webdav": Backend(4.0, 4.0, 1.0, 5.0, 1.0, prior("0.17 s", 0.2, "rclone 1.60, empty folder at 5 ms, less 4 trips")),
    "sftp": Backend(
        25.0, 21.0, 5.0, 8.0, 11.0, prior("0.27 s", 0.2, "rclone 1.60, empty folder at 5 ms, less 25 trips")
    ),
    "smb": Backend(11.0, 13.0, 4.0, 19.0, 5.0, prior("0.15 s", 0.3, "as over http")),
}
#: backends that reach each kind of far end, the default first; memory may stand for any store
_WAYS: Final[Mapping[Far, tuple[str, ...]]] = {
    "bucket": ("s3",),
    "host": ("sftp", "http", "webdav", "smb"),
    "memory": ("sftp", "http", "webdav", "s3", "smb"),
    "mount": ("local",),
}
#: the webdav backend lets a request begin every 10 ms (pacer.MinSleep), whatever --transfers says
_PACE_S: Final = 0.01
_PACED: Final = {"get": 1.0, "put": 3.0}  #: its requests for a file
#: connections of the sftp and smb backends begin so far apart (backend/sftp/sftp.go, backend/smb/smb.go, minSleep)
_LOGIN_PACE_S: Final = 0.1
#: rclone serve webdav: http.ServeContent reads the first 512 bytes to name the type of a file without extension, and
#: the virtual file system waits for a read in sequence before it goes back (vfs/read.go, waitSequential,
#: --vfs-read-wait)
_SERVE: Final = prior("20 ms", 0.5, "rclone 1.60.1 vfs/vfscommon/options.go: ReadWait 20 ms, where rclone serves")
_REQUEST: Final = prior("1 MiB", 0.0, "go-smb2 client.go, winMaxPayloadSize")  #: smb: one request of a file at a time
#: backends that write no file in parts, though several of a file are read (no OpenWriterAt; sftp has it since pull 9724
#: of August 2026)
_WHOLE: Final = ("sftp", "webdav")
_HASH: Final = 2.0  #: a channel of the same connection, the command and its end


class Way(NamedTuple):
    """Protocol of the far end, and whether rclone runs at the source."""

    backend: str
    put: bool


class Rclone(Mover):
    """``rclone copy --transfers --checkers --multi-thread-streams --multi-thread-cutoff --bwlimit ...``.

    ``backend`` is the far end's protocol: s3 to or from a bucket, sftp between hosts, local between mounts of one host
    unless given. ``client`` is the end at which rclone runs: the one that is no bucket; over http, which only gives,
    the destination; else the source. A bucket is asked for each object by HEAD, after it is put (left out by
    ``s3_no_head``) and before it is got (``s3_no_head_object``). Over http each file of the list costs a HEAD,
    ``checkers`` at once. Over sftp each stream has a connection, and each file's sum is made by a program at the far
    end. A local file is one stream unless ``multi_thread_streams`` is given. A file that rclone itself writes is given
    its time when it is whole, and its name unless ``inplace``.

    Neglects: limits and latency of the object store's own service.
    Source: rclone documentation, global flags, and Amazon S3 (--s3-no-head, --s3-no-head-object);
        github.com/rclone/rclone 1.60.1 backend/sftp/sftp.go, backend/webdav/webdav.go, backend/http/http.go,
        backend/s3/s3.go (prepareUpload: the MD5 of what is uploaded comes first), fs/operations/check.go (checkHashes),
        backend/smb/smb.go and connpool.go (2024), github.com/CloudSoda/go-smb2 client.go, fs/operations/copy.go,
        backend/local/local.go (sums of both files while they are copied; Update, Move), fs/operations/multithread.go,
        lib/rest/rest.go, lib/pacer/pacers.go.
    """

    kind: ClassVar[str] = "rclone"
    files_option = "transfers"

    backend: Annotated[
        Literal["s3", "http", "webdav", "sftp", "smb", "local"] | None,
        Otherwise("webdav", "servers without ssh (rclone documentation, webdav)", "sftp"),
    ] = None
    transfers: Count = 4
    checkers: Count = 8
    multi_thread_streams: Annotated[int, named("multi_thread_streams", "multi-thread-streams", ge=0, le=4096)] = 4
    multi_thread_cutoff: Annotated[Size, named("multi_thread_cutoff", "multi-thread-cutoff")] = prior(
        "256 MiB", 0.0, "rclone documentation: --multi-thread-cutoff"
    )
    bwlimit: Rate | None = None
    inplace: Annotated[bool, Field(description="no name of its own while it is written; so before rclone 1.63")] = False
    ignore_checksum: Annotated[bool, named("ignore_checksum", "ignore-checksum")] = False
    sftp_disable_hashcheck: Annotated[bool, named("sftp_disable_hashcheck", "sftp-disable-hashcheck")] = False
    sftp_concurrency: Annotated[Count, named("sftp_concurrency", "sftp-concurrency")] = 64
    sftp_chunk_size: Annotated[Size, named("sftp_chunk_size", "sftp-chunk-size")] = _BLOCK
    tls: bool = True
    client: Client | None = None
    s3_chunk_size: Annotated[Size, named("s3_chunk_size", "s3-chunk-size")] = prior(
        "5 MiB", 0.0, "rclone documentation, s3: --s3-chunk-size"
    )
    s3_upload_cutoff: Annotated[Size, named("s3_upload_cutoff", "s3-upload-cutoff")] = prior(
        "200 MiB", 0.0, "rclone documentation, s3: --s3-upload-cutoff"
    )
    s3_upload_concurrency: Annotated[Count, named("s3_upload_concurrency", "s3-upload-concurrency")] = 4
    s3_disable_checksum: Annotated[bool, named("s3_disable_checksum", "s3-disable-checksum")] = False
    s3_no_head: Annotated[bool, named("s3_no_head", "s3-no-head")] = False
    s3_no_head_object: Annotated[bool, named("s3_no_head_object", "s3-no-head-object")] = False
    block: Size = prior("1 MiB", 0.3, "rclone lib/pool: buffers of 1 MiB")
    overhead: Cycles = GO_CLIENT

    def plan(self, job: Job) -> Plan:
        """Files at once; streams a file only where it is large enough."""
        way = self._route(job)
        workers = max(1, min(self.transfers, job.files))
        cut = job.mean_B >= self.multi_thread_cutoff.value and not (way.put and way.backend in _WHOLE)
        if way.backend == "local":
            cut &= "multi_thread_streams" in self.model_fields_set
        each = max(1, self.multi_thread_streams) if cut else 1
        if way.put and way.backend == "s3":  # a part each
            each = self._parts_at_once(job, cut=cut)
        streams = workers * each
        sender, receiver = Thread("rclone senders", streams), Thread("rclone receivers", streams)
        if not job.remote:  # a mount, or a bucket as a volume of this host
            sender = receiver = Thread("rclone", streams)
        read = self._cut(way, reading(job, sender, self.block, workers=workers), each, job)
        write = self._cut(way, writing(job, receiver, self.block, workers=workers), each, job)
        net, files = self._net(way, sender, receiver, streams, job), self._files(way, job, workers)
        work = (*device_work(job, sender), *self._work(way, sender, receiver, apart=job.remote))
        step = Step("transfer", read=read, net=net, write=write, cpu=work, files=files)
        steps = self._summed(way, step, job, workers, apart=cut and (way.put or each > 1))
        opened = streams if way.backend == "sftp" else workers
        return Plan(steps, workers=workers, weight=streams, opening=self._opening(way, job, opened))

    def _summed(self, way: Way, step: Step, job: Job, workers: int, *, apart: bool) -> tuple[Step, ...]:
        """The step with the sums of its bytes, taken while they pass, or of the whole file.

        So before it goes to a bucket, since its sum goes with it, and after it has come in several streams.
        """
        first = way.put and way.backend == "s3" and not (apart and self.s3_disable_checksum)
        if not first and (self.ignore_checksum or way.backend in ("http", "webdav", "smb")):
            return (step,)
        local, thread = way.backend == "local", Thread("rclone hash", workers)
        ends: tuple[End, ...] = ("source", "destination") if local else ("source",) if way.put else ("destination",)
        sums = tuple(CpuUse(end, thread, _MD5, "MD5", duty=MD5) for end in ends)
        if first:
            return (Step("checksum", read=reading(job, thread, self.block, workers=workers), cpu=sums), step)
        if not apart:
            return (replace(step, cpu=(*step.cpu, *sums)),)
        read, reread = (
            rereading(job, thread, self.block, workers=workers, end=end) if end in ends else None
            for end in ("source", "destination")
        )
        return (step, Step("checksum", read=read, reread=reread, cpu=sums))

    def _route(self, job: Job) -> Way:
        """The protocol that leads to the far end: the one that is asked for, or the first of those that do."""
        fit = _WAYS[job.far_end]
        backend = self.backend or fit[0]
        if backend not in fit:
            ends = {"bucket": "a bucket", "mount": "another mount of the same host"}
            end = ends.get(job.far_end, "a host without a bucket")
            remedy = f"write {' or '.join(fit)}, or leave it out"
            raise SpecError(f"the other end is {end}", key=f"{job.name}.tool.backend", value=backend, remedy=remedy)
        if backend == "s3":
            return Way(backend, uploads(job, self.kind, self.client))
        if backend == "http" and self.client == "source":
            message, key = "http servers give files and take none", f"{job.name}.tool.client"
            raise SpecError(message, key=key, value=self.client, remedy="write client: destination")
        return Way(backend, backend != "http" and self.client != "destination")

    def _cut(self, way: Way, use: Access | None, streams: int, job: Job) -> Access | None:
        """Uploads in chunks, several at once; downloads in as many streams as a file has."""
        if way.backend != "s3":
            return use
        if way.put:
            return cut(use, self._part(job), streams)
        return cut(use, max(job.mean_B / streams, 1.0), streams)

    def _parts_at_once(self, job: Job, *, cut: bool) -> int:
        """Parts of one upload at once; ``multi_thread_streams`` may ask for more (fs/operations/multithread.go)."""
        streams = self.multi_thread_streams if cut and "multi_thread_streams" in self.model_fields_set else 1
        return max(1, min(max(self.s3_upload_concurrency, streams), math.ceil(job.mean_B / self._part(job))))

    def _part(self, job: Job) -> float:
        """Bytes of one part of an upload; files up to the cutoff go in one request."""
        chunk = self.s3_chunk_size.value if job.mean_B > self.s3_upload_cutoff.value else job.mean_B
        return max(min(chunk, job.mean_B), 1.0)

    def _hashes(self, way: Way) -> bool:
        return way.backend == "sftp" and not (self.sftp_disable_hashcheck or self.ignore_checksum)

    def _net(self, way: Way, sender: Thread, receiver: Thread, streams: int, job: Job) -> NetUse | None:
        if way.backend == "local" and self.bwlimit is None:
            return None
        fresh = way.backend == "webdav" and way.put
        stopped = job.files > 1 and not fresh
        net = NetUse(sender, receiver, streams=streams, rate=self.bwlimit, stopped=stopped, reopened=fresh)
        if way.backend == "smb":
            return replace(net, channel=_REQUEST, grain=_REQUEST)
        grain = self.sftp_chunk_size
        source = f"{self.sftp_concurrency} requests of {grain}; {grain.source}"
        window = Quantity(self.sftp_concurrency * grain.value, "B", grain.spread, source)
        return replace(net, channel=window, grain=grain) if way.backend == "sftp" else net

    def _waits(self, way: Way, job: Job, workers: int) -> Quantity | None:
        """What a file waits for besides its messages: a sum at the far end, the server, the pace of requests."""
        if way.backend == "sftp":
            return _SUM if self._hashes(way) else None
        if way.backend != "webdav":
            return None
        put = way.put
        messages = (_BACKENDS["webdav"].put_file if put else _BACKENDS["webdav"].get_file) * job.rtt_s
        own_s = messages + (0.0 if put else _SERVE.value)
        turn = float(pacer_wait(job.files, workers, _PACED["put" if put else "get"], _PACE_S, own_s))
        if put and turn == 0:
            return None
        return _SERVE.worth(own_s - messages + turn, f"{_SERVE.source}; requests begin {_PACE_S:g} s apart (lib/pacer)")

    def _work(self, way: Way, sender: Thread, receiver: Thread, *, apart: bool) -> tuple[CpuUse, ...]:
        client: End = "source" if way.put else "destination"
        copied = {"sftp": "SFTP", "smb": "SMB", "local": "copy"}.get(way.backend, "HTTP")
        cpu = both_ends(sender, receiver, self.overhead, copied)
        if way.backend == "sftp":
            cpu += both_ends(sender, receiver, COSTS["aes-gcm"], "SSH aes-gcm", Duty("own", "aes-gcm"))
        elif self.tls and way.backend not in ("smb", "local"):
            cpu += both_ends(sender, receiver, _GCM, "TLS AES-GCM", TLS)
        if not apart:  # the store's end is elsewhere
            cpu = tuple(use for use in cpu if use.end == client)
        return cpu

    def _files(self, way: Way, job: Job, workers: int) -> FileCost:
        trips = 0.0
        head = () if way.backend == "s3" and (self.s3_no_head if way.put else self.s3_no_head_object) else ("stat",)
        opened = head if job.buckets[0] else ("stat", "open", "close")  # a bucket: HEAD; GET and PUT are data
        created = head if job.buckets[1] else COPIED.destination
        if not job.buckets[1] and (way.backend == "local" or not way.put):
            created += ("setattr",) if self.inplace else ("setattr", "lookup", "rename")
        if way.backend != "local":
            backend = _BACKENDS[way.backend]
            trips = (backend.put_file if way.put else backend.get_file) + (_HASH if self._hashes(way) else 0.0)
            trips -= float(not head)
        waits = self._waits(way, job, workers)
        return replace(COPIED, round_trips=trips, fixed=waits, source=opened, destination=created)

    def _opening(self, way: Way, job: Job, workers: int) -> Opening:
        if not job.remote:
            local = job.far_end == "mount"
            return Opening(0.0, _BACKENDS["http"].start, "start of the program") if local else Opening()
        backend = _BACKENDS[way.backend]
        trips = backend.put if way.put else backend.get
        work, connect = backend.start, backend.connect
        if way.backend not in ("sftp", "smb"):  # a TLS handshake; that of S3 is counted above
            more = float(self.tls) - float(way.backend == "s3")
            trips, connect = trips + more, connect + more
        if way.backend == "http" and job.files > 1:  # the length and time of every file in the list
            trips += math.ceil(job.files / max(job.directories, 1) / self.checkers) + backend.connect
        further = None
        if way.backend == "sftp" and workers > 1:
            mean = float(mean_finish_time(workers - 1, _LOGIN_PACE_S, LOGIN_CPU.value / job.cores))
            further = LOGIN_CPU.worth(
                mean, f"{LOGIN_CPU.source}; log-ins begin {_LOGIN_PACE_S:g} s apart (rclone's pacer)"
            )
        if way.backend == "smb" and workers > 1:
            each_s = (backend.put_file if way.put else backend.get_file) * job.rtt_s
            mean = float(staggered_idle_time(workers, job.files, _LOGIN_PACE_S, each_s))
            further = prior(f"{mean} s", 0.2, f"connections begin {_LOGIN_PACE_S:g} s apart (rclone's pacer)")
        return Opening(trips, work, f"connection and lists over {way.backend}", connect, further)
