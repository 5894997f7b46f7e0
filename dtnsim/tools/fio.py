"""fio: jobs that keep requests in flight on one volume."""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from dtnsim.components.access import Thread
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Quantity, Unit, prior
from dtnsim.ground.uncertainty import Otherwise
from dtnsim.tools._common import VolumeTest, waits_for, with_read
from dtnsim.tools._options import ON_VOLUME, Count, Size, documented, named, one_of
from dtnsim.tools.plan import FileCost, Job, Plan, Step, Timing

Rw = Literal["read", "write", "randread", "randwrite", "rw", "randrw"]


class Fio(VolumeTest):
    """``fio --rw --bs --iodepth --numjobs --direct --ioengine --end_fsync --fdatasync --sync --rwmixread ...``.

    Requests in flight are what the engine can really keep: ``iodepth`` with io_uring, or with libaio on
    direct I/O; one a job otherwise. Each is a worker, so that latency limits a shallow queue
    (Little's law). The size of the data set is ``size`` times ``numjobs``. Reads come from the drives, since fio
    drops its files from the page cache before it begins, unless ``invalidate: false``.

    Neglects: what a run reads twice; lay-out of the files before a read; ``fsync`` every n writes with n > 1.
    Source: fio HOWTO (iodepth and libaio with buffered I/O; invalidate=1).
    """

    kind: ClassVar[str] = "fio"
    files_option = "numjobs"
    time_option = "runtime"
    reads_option = writes_option = "volume"

    rw: Annotated[Rw, named("rw", "readwrite"), one_of(Rw)] = "read"
    volume: Annotated[str | None, documented("volume", "filename", "directory", description=ON_VOLUME)] = None
    size: Annotated[Size | None, documented(description="bytes of each job")] = None
    bs: Annotated[
        Size,
        named("bs", "blocksize"),
        Otherwise("1 MiB", "tests of throughput (Google Cloud, Benchmarking Persistent Disk performance: --bs=1M)"),
    ] = prior("4 KiB", 0.0, "fio HOWTO: default block size")
    iodepth: Count = 1
    numjobs: Count = 1
    direct: Annotated[
        bool,
        Otherwise("true", "tests of throughput (Google Cloud, Benchmarking Persistent Disk performance: --direct=1)"),
    ] = False
    ioengine: Annotated[
        Literal["psync", "sync", "libaio", "io_uring", "posixaio"],
        BeforeValidator(lambda given: {"windowsaio": "libaio", "pvsync2": "psync"}.get(str(given), given)),
    ] = "psync"
    fdatasync: Annotated[bool, named("fdatasync", "fsync", description="after every write (--fdatasync=1)")] = False
    sync: Annotated[bool, Field(description="each write is synchronous (--sync=1)")] = False
    end_fsync: bool = False
    invalidate: Annotated[bool, Field(description="drop the files from the page cache first (--invalidate)")] = True
    rwmixread: Annotated[int, Field(ge=0, le=100)] = 50
    runtime: Annotated[Quantity | None, Unit("s", low=0.001), Field(description="ends it after so long")] = None
    time_based: Annotated[
        bool, Field(description="goes over its files again until the runtime is up (--time_based)")
    ] = False
    ramp_time: Annotated[Quantity | None, Unit("s"), Field(description="time before what counts (--ramp_time)")] = None

    def timing(self, *, sized: bool) -> Timing | None:
        """``runtime``, after a ``ramp_time`` that does not count; with ``time_based`` the files are used again."""
        if self.runtime is None:
            for name in ("time_based", "ramp_time"):
                if getattr(self, name):
                    value, remedy = str(getattr(self, name)), "add runtime: 60 s"
                    raise SpecError("needs a runtime", key=f"tool.{name}", value=value, remedy=remedy)
            return None
        omitted = self.ramp_time.value if self.ramp_time is not None else 0.0
        return Timing(self.runtime.value, omitted, repeats=self.time_based or not sized)

    def files(self) -> tuple[int, float] | None:
        return None if self.size is None else (self.numjobs, self.size.value)

    @property
    def depth(self) -> int:
        """Requests that one job really has in flight; an fdatasync waits for those before it."""
        if self.fdatasync:
            return 1
        if self.ioengine in ("io_uring", "posixaio") or (self.ioengine == "libaio" and self.direct):
            return self.iodepth
        return 1

    def plan(self, job: Job) -> Plan:
        jobs, random = Thread("fio", self.numjobs), self.rw.startswith("rand")
        mixed = self.rw in ("rw", "randrw")
        read_share = self.rwmixread / 100 if mixed else float(self.rw.endswith("read"))
        how: dict[str, Any] = {"random": random, "queue_depth": self.depth, "submits": self.ioengine != "libaio"}
        steps = []
        if read_share > 0:
            read = self.read_access(job, jobs, self.bs, direct=self.direct, cached=not self.invalidate, **how)
            steps.append(with_read(job, Step("read", share=read_share, files=_opened(job, "open")), read))
        if read_share < 1:
            finish = waits_for(direct=self.direct, each=self.fdatasync or self.sync, end=self.end_fsync)
            write = self.write_access(job, jobs, self.bs, finish, rewrite=random or mixed, **how)
            opened = FileCost() if read_share else _opened(job, "create")
            steps.append(Step("write", write=write, share=1 - read_share, files=opened))
        return Plan(tuple(steps), workers=self.numjobs * self.depth, warnings=tuple(self._idle_depth()))

    def _idle_depth(self) -> Iterator[str]:
        """Why a depth that is asked for is not reached, where it is not."""
        if self.depth < self.iodepth:
            why, instead = f"{self.ioengine} has one request at a time", "ioengine: io_uring"
            if self.fdatasync:
                why, instead = "each write waits for its fdatasync", "numjobs"
            elif self.ioengine == "libaio":
                why, instead = "libaio waits for each request through the page cache", "direct: true"
            yield f"iodepth {self.iodepth} has no effect, since {why}; write {instead} for more at once"


def _opened(job: Job, how: str) -> FileCost:
    """Every file is opened before its first request and closed after its last, within the run (fio, openfiles)."""
    operations = (how, "close")
    return FileCost(destination=operations) if job.destination == "volume" else FileCost(source=operations)
