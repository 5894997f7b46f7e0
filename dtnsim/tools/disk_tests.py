"""Tests of a volume.

- dd: one process that reads a block and writes it, with or without waiting for the medium.
- bonnie++: one process writes, rewrites and reads twice the memory in chunks; seekers hop about.
- IOzone: one process (or several) reads or writes one file record by record.
- IOR: tasks write or read a file each, all of which are waited for.
- mdtest: tasks create, look up, read or remove files, one after the other.
"""

from typing import Annotated, ClassVar, Final, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from dtnsim.components.access import Finish, Thread
from dtnsim.ground import units
from dtnsim.ground.quantity import Quantity, prior
from dtnsim.ground.uncertainty import Otherwise
from dtnsim.tools._common import (
    OPENED,
    VolumeTest,
    core_cost,
    device_work,
    in_memory,
    needs_volume,
    one_host,
    reading,
    waits_for,
    with_read,
    writing,
)
from dtnsim.tools._options import ON_VOLUME, Count, Size, documented, named, one_of
from dtnsim.tools.plan import CpuUse, FileCost, Job, Plan, Step, Tool

_CONV: Final = ("fdatasync", "fsync", "notrunc", "nocreat", "excl", "noerror", "sync")
_OFLAG: Final = ("dsync", "sync", "direct", "append", "nocache", "seek_bytes")
_IFLAG: Final = ("direct", "fullblock", "nocache", "skip_bytes", "count_bytes")


def _words(allowed: tuple[str, ...]) -> AfterValidator:
    def check(text: str) -> str:
        words = [w.strip() for w in text.split(",") if w.strip()]
        unknown = [w for w in words if w not in allowed]
        if unknown:
            raise ValueError(f"{unknown[0]!r} is not one of {', '.join(allowed)} (several are written with commas)")
        return ",".join(words)

    return AfterValidator(check)


def _blocks(text: object) -> object:
    """A number of blocks as dd takes it: 1M are 1,048,576 (a size by the time that it is read here)."""
    return str(int(units.parse(text, "B"))) if isinstance(text, str) and text.endswith("B") else text


class Dd(Tool):
    """``dd if=... of=... bs=... count=... conv=... oflag=... iflag=...``: ``if`` and ``of`` are the transfer's ends.

    ``of`` is a new file. One that was there is truncated, and what replaces it is written back as it is closed (ext4,
    XFS, Btrfs): that takes as long as with ``sync: true``.

    Neglects: the start of the process; ``ibs`` different from ``obs``.
    Source: dd(1), GNU coreutils; the rate it prints includes closing the output file. Linux admin-guide/ext4
        (auto_da_alloc, replace-via-truncate); fs/xfs/xfs_file.c, xfs_file_release; fs/btrfs/file.c, btrfs_release_file.
    """

    kind: ClassVar[str] = "dd"
    tool_class = "test"
    reads_option, writes_option = "reads", "writes"

    bs: Annotated[
        Size, Otherwise("1 MiB", "tests of disks: bs=1M (Alibaba Cloud topic center, dd command instances)")
    ] = prior("512 B", 0.0, "dd(1): default of ibs and obs")
    conv: Annotated[str, _words(_CONV)] = ""
    oflag: Annotated[str, _words(_OFLAG)] = ""
    iflag: Annotated[str, _words(_IFLAG)] = ""
    reads: Annotated[str | None, documented("if", "reads", description="its from")] = None
    writes: Annotated[str | None, documented("of", "writes", description="its to")] = None
    count: Annotated[
        int | None, BeforeValidator(_blocks), documented(ge=1, description="blocks, in the place of a data set")
    ] = None
    sync: Annotated[
        bool,
        Otherwise(
            "true", "timed until the data are on the medium: dd && sync, or dd over a file of ext4, XFS or Btrfs"
        ),
    ] = False

    def plan(self, job: Job) -> Plan:
        """One process; a direct read has no read-ahead, so that it waits for the block before writing it."""
        one_host(job, self.kind)
        process = Thread("dd")
        direct = "direct" in self.iflag.split(",")
        read = reading(job, process, self.bs, finish="direct" if direct else "steady")
        write = writing(job, process, self.bs, finish=self.finish)
        if write is not None and "notrunc" in self.conv.split(","):
            write = write.but(rewrite=True)
        cpu = device_work(job, process)
        if direct and read is not None and write is not None:
            return Plan((Step("read", read=read), Step("write", write=write, cpu=cpu, files=OPENED)))
        return Plan((Step("copy", read=read, write=write, cpu=cpu, files=OPENED),))

    def files(self) -> tuple[int, float] | None:
        return None if self.count is None else (1, self.count * self.bs.value)

    @property
    def finish(self) -> Finish:
        """What the flags make the tool wait for."""
        flags = {*self.oflag.split(",")}
        flushed = self.sync or {"fdatasync", "fsync"} & {*self.conv.split(",")}
        return waits_for(direct="direct" in flags, each=bool({"dsync", "sync"} & flags), end=bool(flushed))


Phase = Literal["create", "stat", "read", "remove"]
#: metadata operations of each file
_OF_A_FILE: Final[dict[Phase, tuple[str, ...]]] = {
    "create": ("create", "close"), "stat": ("stat",), "read": ("open", "close"), "remove": ("remove",),
}  # fmt: skip


class Mdtest(Tool):
    """One phase of ``mdtest -F [-u] -n FILES``, by one task; ``runs`` of the transfer are further tasks (mpirun -n).

    Files are empty, unless ``-w`` writes their bytes. Operations a second are the files over the duration.

    Each task looks at the files that it has made itself. Without ``-u`` (``u: false``) all share one folder, which one
    of them changes at a time, at each client and at the servers.

    Neglects: tasks that look at another's files (``-N``); barriers; phases on folders; bytes that are read (``-e``).
    Source: mdtest.c (hpc/ior): open with O_CREAT, write and close; stat; open and close; unlink. Linux
        Documentation/filesystems/directory-locking: who creates or removes holds its parent exclusively.
    """

    kind: ClassVar[str] = "mdtest"
    tool_class = "test"

    test: Annotated[Phase, one_of(Phase)] = "create"
    w: Annotated[bool, named("w", "write_bytes", description="create: each file is written as long as it is")] = False
    u: Annotated[bool, named("u", "unique_dir_per_task", description="false: all tasks share one folder")] = True

    def plan(self, job: Job) -> Plan:
        one_host(job, self.kind)
        needs_volume(job, "destination", self.kind)
        creates = self.test == "create"
        write = writing(job, Thread(self.kind), Quantity(job.mean_B, "B", 0.0, "mdtest.c: one call a file"))
        folders: tuple[str, ...] = ("mkdir",) if creates else ()
        files = FileCost(destination=_OF_A_FILE[self.test], directory=folders, folder="own" if self.u else "shared")
        return Plan((Step(self.test, write=write if creates and self.w else None, files=files),))


#: releases 1.9x do the per-character tests with one system call a byte
_BYTE = Quantity(1.0, "B", 0.0, "bonnie++ 1.9x: write(2) and read(2) of one byte")
UPDATE_SHARE = 0.1  #: every tenth chunk that a seeker reads is written back (UpdateSeek)

Test = Literal["char-write", "block-write", "rewrite", "char-read", "block-read", "seeks"]


class Bonnie(VolumeTest):
    """One column of a bonnie++ result.

    A rewrite reads a chunk, changes a byte and writes it back, in the same process: its throughput
    counts a byte once. ``seeks`` is chunks read at random by ``seekers`` processes; operations a second
    are its throughput over the chunk.

    Neglects: releases before 1.9x, whose per-character tests used stdio; the file-creation tests.
    Source: bonnie++ source (bonnie++.cpp, bon_file.cpp: chunk, fsync at close, UpdateSeek).
    """

    kind: ClassVar[str] = "bonnie"
    reads_option = writes_option = "d"

    test: Annotated[Test, one_of(Test)] = "block-write"
    chunk: Annotated[Size, named("chunk", "chunk_size", "chunk-size")] = prior(
        "8 KiB", 0.0, "bonnie++(8): default chunk size"
    )
    b: Annotated[bool, Field(description="fsync after every write")] = False
    direct: Annotated[bool, named("D", "direct", description="O_DIRECT")] = False
    d: Annotated[str | None, documented("d", "volume", description=ON_VOLUME)] = None
    s: Annotated[Size | None, documented("s", "size", description="bytes of its files")] = None
    seekers: Count = 5

    def plan(self, job: Job) -> Plan:
        if self.test == "seeks":
            return self._seeks(job)
        process = Thread("bonnie++")
        block = _BYTE if self.test.startswith("char") else self.chunk
        step = Step(self.test)
        if self.test.endswith("write"):
            again = self.test == "rewrite"  # it has just read what it writes
            write = self.write_access(job, process, block, self.finish(job), rewrite=again, cached=again)
            step = Step(self.test, write=write)
        if self.test in ("rewrite", "char-read", "block-read"):
            step = with_read(job, step, self.read_access(job, process, block, direct=self.direct))
        return Plan((step,))

    def files(self) -> tuple[int, float] | None:
        return None if self.s is None else (1, self.s.value)

    def finish(self, job: Job) -> Finish:
        """The files are closed with fsync; twice the memory keeps the medium busy all the time."""
        if self.direct:
            return "direct"
        if self.b:
            return "dsync"
        return "fdatasync" if in_memory(job) else "steady"

    def _seeks(self, job: Job) -> Plan:
        seekers = Thread("bonnie++ seekers", self.seekers)
        read = self.read_access(job, seekers, self.chunk, direct=self.direct, random=True, queue_depth=self.seekers)
        steps = [with_read(job, Step("seek"), read)]
        if job.destination == "volume":
            finish: Finish = "dsync" if self.b else "none"
            update = self.write_access(job, seekers, self.chunk, finish, random=True, rewrite=True, cached=True)
            steps.append(Step("update", write=update, share=UPDATE_SHARE))
        return Plan(tuple(steps), workers=self.seekers)


#: fwrite(3) copies a record into the stream's buffer, which setvbuf(3) made as large as the record
_STDIO = core_cost("memcpy_cached", "copy of fwrite(3)")
IozoneTest = Literal[
    "write", "rewrite", "read", "reread", "random-read", "random-write", "backward-read", "record-rewrite",
    "stride-read", "fwrite", "frewrite", "fread", "freread",
]  # fmt: skip
#: tests by their numbers (-i), most of which are two
_NUMBERS: Final = {
    "0": ("write", "rewrite"), "1": ("read", "reread"), "2": ("random-read", "random-write"),
    "6": ("fwrite", "frewrite"), "7": ("fread", "freread"),
}  # fmt: skip


class Iozone(VolumeTest):
    """One column of ``iozone -i ... -r record -s size [-e] [-o] [-I] [-t threads]``.

    ``s`` or the data set says how much. Without ``-e`` a write is done when the cache has it; a read
    finds what was just written in the cache where that is less than half of the memory.

    Backward and strided reads cost what a read costs; ``record-rewrite`` writes one record again and again,
    so that it stays in the processor's cache; ``fwrite`` and ``frewrite`` copy through the buffer of stdio, and
    find the memory that the tests before have used.

    Neglects: read-ahead that a backward or strided read of the medium loses; memory-mapped and asynchronous I/O.
    Source: iozone(1); IOzone documentation (what each test does).
    """

    kind: ClassVar[str] = "iozone"
    reads_option = writes_option = "f"

    test: Annotated[IozoneTest, named("test", "i"), one_of(IozoneTest, _NUMBERS)] = "write"
    r: Annotated[Size, named("r", "reclen", "record", "bs")] = prior("4 KiB", 0.0, "iozone(1): default record size")
    t: Annotated[Count, named("t", "threads")] = 1
    e: Annotated[bool, Field(description="flush is part of the time")] = False
    c: Annotated[bool, documented(description="close is part of the time")] = False
    o: Annotated[bool, Field(description="O_SYNC")] = False
    f: Annotated[str | None, documented("f", "volume", description=ON_VOLUME)] = None
    s: Annotated[Size | None, documented("s", "size", description="bytes of each process")] = None
    direct: Annotated[bool, named("I", "direct", description="O_DIRECT")] = False

    def plan(self, job: Job) -> Plan:
        process, random = Thread("iozone", self.t), self.test.startswith("random")
        step = Step(self.test)
        if self.test.endswith("read"):
            access = self.read_access(job, process, self.r, direct=self.direct, random=random)
            step = with_read(job, step, access)
        else:
            hot, finish = self.test == "record-rewrite", waits_for(direct=self.direct, each=self.o, end=self.e)
            how = {"random": random, "rewrite": self.test != "write", "hot": hot, "cached": in_memory(job) or hot}
            access = self.write_access(job, process, self.r, finish, **how)
            copy = CpuUse("destination", process, _STDIO, "copy through the buffer of stdio", stack="hot_byte")
            step = Step(self.test, write=access, cpu=(copy,) if self.test.startswith("f") else ())
        return Plan((step,), workers=self.t)

    def files(self) -> tuple[int, float] | None:
        return None if self.s is None else (self.t, self.s.value)


class Ior(VolumeTest):
    """``ior -w|-r -F -t 1m -b 4g -s 1 [-e] [-C]``: ``np`` tasks (mpirun -n) of this host, a file each.

    All begin at once and the time is that of the last, so that the fullest storage target counts; ``runs`` of the
    transfer, or other transfers, are further nodes. With ``reorder`` (-C) each task reads what another node wrote.

    Neglects: one file shared by all tasks (without ``-F``); MPI-IO, HDF5; stonewalling (``-D``); barriers.
    Source: IOR user guide (transferSize 256 KiB, blockSize 1 MiB, segmentCount 1, reorderTasks); ior.c: bandwidth is
        all bytes over the time from the first open to the last close.
    """

    kind: ClassVar[str] = "ior"

    test: Annotated[Literal["write", "read"], Field(description="-w or -r")] = "write"
    np: Annotated[Count, named("np", "n", "tasks", "numTasks")] = 1
    t: Annotated[Size, named("t", "transferSize")] = prior("256 KiB", 0.0, "IOR user guide: transferSize")
    b: Annotated[Size | None, named("b", "blockSize", description="bytes of a task, in a segment")] = None
    s: Annotated[Count, named("s", "segmentCount")] = 1
    e: Annotated[bool, named("e", "fsync", description="flush is part of the time")] = False
    reorder: Annotated[bool, named("reorder", "C", "reorderTasks", description="-r: what another node wrote")] = False
    direct: Annotated[bool, named("direct", "B", "odirect", "posix.odirect", description="O_DIRECT")] = False

    def plan(self, job: Job) -> Plan:
        tasks = Thread("IOR", self.np)
        if self.test == "read":
            read = self.read_access(job, tasks, self.t, direct=self.direct, cached=not self.reorder, awaited=True)
            step = with_read(job, Step("read"), read)
        else:
            finish = waits_for(direct=self.direct, each=False, end=self.e)
            write = self.write_access(job, tasks, self.t, finish, awaited=True, cached=in_memory(job))
            step = Step("write", write=write)
        return Plan((step,), workers=self.np)

    def files(self) -> tuple[int, float] | None:
        """A file a task; a block is 1 MiB where only their number is said."""
        return None if self.b is None and self.s == 1 else (self.np, (self.b.value if self.b else 2.0**20) * self.s)
