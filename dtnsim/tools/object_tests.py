"""Tests of object stores.

- warp: MinIO's benchmark of object stores, requests from memory on connections that stay open.
- rados bench: objects in flight on a pool of Ceph, below any file system.
"""

from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import prior
from dtnsim.tools._common import VolumeTest, with_read
from dtnsim.tools._options import Client as ClientEnd, Count, Cycles, Seconds, Size, documented, named, one_of
from dtnsim.tools._s3 import Client, uploads
from dtnsim.tools.plan import Job, Plan, Step, Tool

_OBJECTS: Final = 1000  #: objects of a worker of warp


class Warp(Tool):
    """``warp put`` or ``warp get``: ``--concurrent`` objects of ``--obj.size`` at once, again and again.

    From memory to a bucket it puts, from a bucket to memory it gets; objects are larger than a part in neither. The
    answer is the rate of a long run: each worker has a thousand objects, whatever ``--duration`` says.

    Neglects: preparation and clean-up; mixed loads; several clients; multipart tests.
    Source: github.com/minio/warp README (concurrent 20, obj.size 10 MiB, duration 5 min).
    """

    kind: ClassVar[str] = "warp"
    tool_class = "test"
    files_option = "concurrent"

    concurrent: Count = 20
    obj_size: Annotated[Size, named("obj_size", "obj.size")] = prior("10 MiB", 0.0, "warp README: --obj.size")
    duration: Annotated[Seconds | None, documented("duration", description="--duration 5m")] = None
    tls: Annotated[bool, Field(description="https (--tls)")] = False
    client: ClientEnd | None = None
    overhead: Cycles = prior("1 cycles/B", 0.7, "assumed: Go's HTTP client and random data, two copies in user space")

    def files(self) -> tuple[int, float] | None:
        """So many of each worker that its start is no part of the rate."""
        return self.concurrent * _OBJECTS, self.obj_size.value

    def plan(self, job: Job) -> Plan:
        put = uploads(job, self.kind, self.client)
        start = prior("0.1 s", 0.5, "assumed: a Go program that reads its options")
        return Client(
            "warp",
            put,
            at_once=self.concurrent,
            part_B=self.obj_size.value,
            threshold_B=max(self.obj_size.value, job.largest_B) + 1,
            start=start,
            overhead=self.overhead,
            tls=self.tls,
        ).plan(job)


Mode = Literal["write", "seq", "rand"]


class RadosBench(VolumeTest):
    """``rados bench SECONDS write|seq|rand -t 16 -b 4M``: one client with ``t`` operations of ``b``, an object each.

    The volume is one on Ceph (``filesystem: {kind: cephfs}`` or an RBD image): what differs from the pool, metadata
    and read-ahead, does not matter to objects in flight past the cache.

    Neglects: clean-up; the first write of an object beside the next ones.
    Source: ceph documentation, rados(8): -t 16 and -b 4 MiB by default.
    """

    kind: ClassVar[str] = "rados-bench"
    files_option = "t"
    time_option = "seconds"

    mode: Annotated[Mode, one_of(Mode)] = "write"
    seconds: Seconds = prior("60 s", 0.0, "an argument of rados bench; usual")
    t: Annotated[Count, named("t", "concurrent-ios")] = 16
    b: Annotated[Size, named("b", "block-size")] = prior("4 MiB", 0.0, "rados(8): -b")

    def plan(self, job: Job) -> Plan:
        process = Thread("rados bench")
        how: dict[str, Any] = {"streams": self.t, "own_streams": self.t, "part_B": self.b.value}
        if self.mode == "write":
            step = Step("write", write=self.write_access(job, process, self.b, "direct", **how))
        else:
            read = self.read_access(job, process, self.b, direct=True, random=self.mode == "rand", **how)
            step = with_read(job, Step("read"), read)
        return Plan((step,), workers=self.t, piece_B=self.b.value)
