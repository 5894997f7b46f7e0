"""rados bench: objects in flight on a pool of Ceph, below any file system."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import AliasChoices, Field

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import Quantity, Unit, prior
from dtnsim.tools._common import Count, Size
from dtnsim.tools._volume import one_of, read_access, with_read, write_access
from dtnsim.tools.plan import Job, Plan, Step, Timing, Tool

Mode = Literal["write", "seq", "rand"]


class RadosBench(Tool):
    """``rados bench SECONDS write|seq|rand -t 16 -b 4M``: one client with ``t`` operations of ``b`` in flight.

    The volume is one on Ceph (``filesystem: {kind: cephfs}`` or an RBD image): what differs from the pool, metadata
    and read-ahead, does not matter to objects in flight past the cache.

    Neglects: clean-up; the first write of an object beside the next ones.
    Source: ceph documentation, rados(8): -t 16 and -b 4 MiB by default.
    """

    kind: ClassVar[str] = "rados-bench"
    tool_class = "test"
    files_option = "t"

    mode: Annotated[Mode, one_of(Mode)] = "write"
    seconds: Annotated[Quantity, Unit("s", low=0.1)] = prior("60 s", 0.0, "an argument of rados bench; usual")
    t: Annotated[Count, Field(validation_alias=AliasChoices("t", "concurrent-ios"))] = 16
    b: Annotated[Size, Field(validation_alias=AliasChoices("b", "block-size"))] = prior("4 MiB", 0.0, "rados(8): -b")

    def timing(self, *, sized: bool) -> Timing | None:
        """So many seconds, or the bytes of a data set."""
        return self.timed(self.seconds, "seconds", sized=sized)

    def plan(self, job: Job) -> Plan:
        """Operations in flight, a worker each."""
        process = Thread("rados bench")
        if self.mode == "write":
            write = write_access(job, self.kind, process, self.b, finish="direct", workers=self.t)
            return Plan((Step("write", write=write),), workers=self.t, divided=True)
        random = self.mode == "rand"
        read = read_access(job, self.kind, process, self.b, workers=self.t, direct=True, random=random)
        return Plan((with_read(job, Step("read"), read),), workers=self.t, divided=True)
