"""Objects over S3: requests that share a pool of connections, large objects in parts."""

import math
from dataclasses import dataclass
from typing import Final

from dtnsim.components.access import Access, Thread
from dtnsim.components.offload import Duty
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Quantity, prior
from dtnsim.tools._common import TLS, both_ends, core_cost, device_work, reading, writing
from dtnsim.tools.plan import CpuUse, End, FileCost, Job, NetUse, Opening, Plan, Step

#: TCP, and TLS 1.3 from ClientHello to Finished (RFC 9293, RFC 8446)
TCP_TRIP: Final = 1.0
TLS_TRIP: Final = 1.0
KEYS_A_PAGE: Final = 1000  #: keys in one answer of ListObjectsV2 (Amazon S3 API reference, MaxKeys)
#: work of a client in Go on a byte
GO_CLIENT: Final = prior("1 cycles/B", 0.7, "assumed: Go's HTTP client, two copies in user space")
#: and on a request, whatever it carries
GO_REQUEST: Final = prior(
    "300000 cycles",
    0.8,
    "assumed: 0.1 ms at 3 GHz, from 30 us of Go's net/http to 0.3 ms with an SDK's handlers, signature and XML; client "
    "and MinIO on one machine took 1.3 ms a stat with 12 at once (github minio/warp, pull 22)",
)
_GCM: Final = core_cost("aes128_gcm", "TLS")
_BLOCK: Final = prior("256 KiB", 0.5, "s3transfer manager.py: io_chunksize 256 KiB; Go's io.Copy reads 32 KiB")


def cut(use: Access | None, part_B: float, parts: int = 1) -> Access | None:
    """An access by requests of so many bytes, where the other end is an object store.

    Args:
        use: The access; None stays None.
        part_B: Bytes of a request.
        parts: Requests of one object at once.
    """
    return None if use is None else use.but(part_B=part_B, parts=parts)


def uploads(job: Job, tool: str, client: End | None) -> bool:
    """Whether the bucket is the destination; memory or a device may stand for one."""
    put = client == "source" if client is not None else job.buckets != (True, False)
    far, kind = (("to", job.destination), ("from", job.source))[not put]
    if kind == "volume" and not job.buckets[put]:
        message = f"{tool} speaks S3, and its other end is no bucket"
        if client is not None and any(job.buckets):
            remedy = "leave it out: the bucket is elsewhere"
            raise SpecError(message, key=f"{job.name}.tool.client", value=client, remedy=remedy)
        remedy = "give that volume 'filesystem: {kind: s3}', or use a tool that copies between hosts"
        raise SpecError(message, key=f"{job.name}.{far}", remedy=remedy)
    return put


@dataclass(frozen=True, slots=True)
class Client:
    """How a program moves objects."""

    name: str  #: The program.
    put: bool  #: True where it uploads.
    at_once: int  #: Requests with data under way at once, of all objects together.
    part_B: float  #: Bytes of one part or range; objects that are larger are moved in parts.
    threshold_B: float  #: Objects from this size on are moved in parts.
    start: Quantity  #: Start of the program, its libraries and credentials.
    overhead: Quantity  #: What a byte costs in the program besides TLS and checksums.
    #: What a request costs in the program, whatever it carries; None where a thread of its own does it.
    request: Quantity | None = GO_REQUEST
    a_file: int | None = None  #: Parts of one object at once; None: as many as there are requests.
    first: bool = False  #: Whether the first range of a download is alone, since its answer tells how many there are.
    head: float = 0.0  #: Requests for an object that wait before its data (HEAD of a download).
    checksums: tuple[tuple[Quantity, str, Duty | None], ...] = ()  #: What the program sums of what it puts.
    tls: bool = True  #: Whether the store is reached by https.
    lists: bool = False  #: Whether the keys are listed before (recursive downloads, ``sync``).
    limit: Quantity | None = None  #: Rate of all requests together, where the user caps it.
    share: float = 1.0  #: Part of the bytes that is moved (``sync`` of what changed).

    def parts(self, size_B: float) -> int:
        """Requests that carry the data of an object."""
        return max(1, math.ceil(size_B / self.part_B)) if size_B >= self.threshold_B else 1

    def part(self, job: Job) -> float:
        """Bytes of one request for data of a mean file."""
        return min(self.part_B, job.mean_B) if job.mean_B >= self.threshold_B else max(job.mean_B, 1.0)

    def flying(self, size_B: float) -> float:
        """Requests of an object under way in the mean: its parts over the rounds that they take."""
        parts = self.parts(size_B)
        alone = int(self.first and parts > 1)
        return parts / (alone + math.ceil((parts - alone) / (self.a_file or parts)))

    def workers(self, job: Job) -> int:
        """Requests that can be under way: no more than the pool, an object's own limit, and what there is to do."""
        return max(1, min(self.at_once, round(job.per_file(self.flying) * job.files)))

    def round_trips(self, job: Job, workers: int) -> float:
        """Answers of a mean file that a connection waits for.

        Every part is a request. An upload in parts also begins and ends (CreateMultipartUpload,
        CompleteMultipartUpload). The model hands files to workers; where an object's parts go to several, each of them
        waits for its own only.
        """
        data = job.per_file(self.parts) * job.files
        return math.ceil(data / workers) / math.ceil(job.files / workers) + self._extra_requests(job)

    def _operations(self, job: Job, *names: str, put: bool) -> tuple[str, ...]:
        """Operations at an end; a bucket's requests for data stand for themselves, so that only the others are left."""
        if self.put is not put or not job.buckets[put]:
            return names
        return names[:1] * round(self._extra_requests(job))

    def _extra_requests(self, job: Job) -> float:
        """Requests of a mean file that carry none of its data."""
        multipart = job.per_file(lambda size: float(self.parts(size) > 1)) if self.put else 0.0
        return 2.0 * multipart + self.head

    def asking(self, job: Job, thread: Thread, cycles: Quantity) -> CpuUse:
        """What the requests of its objects cost a thread, spread over their bytes."""
        each = (job.per_file(self.parts) + self._extra_requests(job)) / max(job.mean_B, 1.0)
        byte = Quantity(cycles.value * each, "cycles/B", cycles.spread, f"{cycles.source}; {each:.3g} requests a byte")
        return CpuUse("source" if self.put else "destination", thread, byte, f"requests of {self.name}")

    def plan(self, job: Job) -> Plan:
        """Requests of a pool of connections that stay open."""
        workers = self.workers(job)
        client, store = Thread(self.name, workers), Thread("object store", workers)
        if not job.remote:  # a bucket as a volume of this host: the store's own threads are elsewhere
            store = client
        sender, receiver = (client, store) if self.put else (store, client)
        end: End = "source" if self.put else "destination"
        cpu: tuple[CpuUse, ...] = (*device_work(job, sender), CpuUse(end, client, self.overhead, self.name))
        if self.request is not None:
            cpu += (self.asking(job, client, self.request),)
        if self.tls:
            ends = both_ends(sender, receiver, _GCM, "TLS AES-GCM", TLS)
            cpu += ends if job.remote else tuple(use for use in ends if use.end == end)
        if self.put:
            cpu += tuple(CpuUse(end, client, cost, what, duty=duty) for cost, what, duty in self.checksums)
        files = FileCost(
            round_trips=self.round_trips(job, workers),
            source=self._operations(job, "stat", "open", "close", put=False) if job.source == "volume" else (),
            destination=self._operations(job, "create", "close", put=True) if job.destination == "volume" else (),
            directory=("mkdir",) if job.destination == "volume" and not self.put else (),
        )
        net = NetUse(sender, receiver, streams=workers, rate=self.limit, stopped=True)
        read = cut(reading(job, sender, _BLOCK, workers=workers), self.part(job))
        write = cut(writing(job, receiver, _BLOCK, workers=workers), self.part(job))
        files = files if self.share == 1 else FileCost()
        step = Step("transfer", read=read, net=net, write=write, cpu=cpu, files=files, share=self.share)
        steps = (step,) if self.share > 0 else (Step("scan", files=FileCost(source=("stat",) if self.put else ())),)
        connect = TCP_TRIP + (TLS_TRIP if self.tls else 0.0)
        pages = max(1, math.ceil(job.files / KEYS_A_PAGE)) if self.lists else 0
        opening = Opening(connect + pages, self.start, "connection, credentials and list of keys", connect)
        piece_B = self.part_B if job.largest_B >= self.threshold_B else math.inf
        return Plan(steps, workers=workers, weight=workers, piece_B=piece_B, opening=opening)
