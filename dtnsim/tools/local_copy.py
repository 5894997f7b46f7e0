"""Copies within a host and to its mounts, and what its own programs read and write there.

- cp: one process copies file after file; over a network file system each file costs round trips.
- nfs-cp of libnfs: a client in user space that copies a buffer at a time.
- robocopy: threads that copy files between volumes of one host, one of them usually a share over SMB.
- rm -r: no byte moves; every file is a request that waits for its answer.
- program: a step of somebody's own program, which reads a file into its memory or writes that to one.
"""

from dataclasses import replace
from typing import Annotated, ClassVar, Final

from pydantic import Field

from dtnsim.components.access import Finish, Thread
from dtnsim.ground.quantity import Quantity, Unit, prior
from dtnsim.ground.uncertainty import Otherwise, Since
from dtnsim.tools._common import OPENED, ZERO_BYTE, device_work, needs_volume, one_host, reading, transfer, writing
from dtnsim.tools._options import Share, Size, Version, documented, named, version_tuple
from dtnsim.tools.plan import CpuUse, FileCost, Job, LocalTool, NetUse, Opening, Plan, Step


class Cp(LocalTool):
    """``cp [-r] [-p|-a]``, with ``sync: true`` for ``cp ... && sync``.

    New files are created exclusively with their mode, which is a CREATE and a SETATTR on NFSv3 and one call elsewhere;
    nothing but ``-p`` changes their attributes later. ``close`` sends what was written.

    ``reflink`` (``--reflink=always``) has the file system share the blocks, so that no byte moves: both ends are on one
    file system that can (XFS, Btrfs, bcachefs, ZFS 2.2, NFS 4.2).

    From coreutils 9.0 on (copy_file_range) the kernel copies what stays on one volume from page to page, once.

    Neglects: that this release tries a reflink first by itself; what a clone of many extents takes.
    Source: GNU coreutils NEWS (9.0: cp uses copy_file_range), src/ioblksize.h and copy.c (O_EXCL; omitted_permissions
        of a file is 0 unless its owner is preserved); Linux fs/read_write.c, fs/splice.c (do_splice_direct); RFC 1813
        section 3.3.8 (exclusive create).
    """

    kind: ClassVar[str] = "cp"

    sync: Annotated[bool, Otherwise("true", "timed until the data are on the medium: cp && sync")] = False
    r: Annotated[bool, documented("r", "R", "recursive")] = False
    p: Annotated[bool, named("p", "preserve", "a", "archive")] = False
    reflink: Annotated[bool, Field(description="--reflink=always: blocks are shared, none is copied")] = False
    version: Annotated[
        Version,
        Otherwise("8.32", "coreutils of hosts before 2022 (cp --version)"),
        # RHEL 7 to 9, Debian 10 and 11 and Ubuntu up to 22.04 have 8.x; Debian 12 has 9.1, Ubuntu 24.04 9.4
        Since(((2005, "8.32"), (2023, None))),
    ] = "9.1"
    buffer: Size = prior("128 KiB", 0.5, "GNU coreutils ioblksize.h: 64 KiB (2011), 128 KiB (2014), 256 KiB (2024)")

    def plan(self, job: Job) -> Plan:
        one_host(job, self.kind)
        process = Thread("cp")
        attrs = ("setattr",) if self.p else ()
        cost = FileCost(
            source=("stat", "open", "close"),
            destination=("lookup", "create", "exclusive", "close", *attrs),
            directory=("mkdir", *attrs),
        )
        if self.reflink:
            cost = replace(cost, destination=("lookup", "create", "exclusive", *attrs))
            return Plan((Step("copy", files=cost),))
        finish: Finish = "fdatasync" if self.sync else "none"
        step = transfer(job, (process, process), self.buffer, None, (), cost, name="copy", finish=finish)
        if step.read is not None and job.within and version_tuple(self.version) >= (9, 0):
            step = replace(step, read=step.read.but(spliced=True))
        return Plan((step,))


class Rm(LocalTool):
    """``rm -rf`` of the data set on the transfer's ``to`` (or on its ``from`` where ``to`` is no volume).

    Its throughput is the bytes of the removed files over the time; its duration is what one reads.

    Over NFSv3 each file is a REMOVE, and its name came with others in a READDIRPLUS. Each directory is opened
    (GETATTR), checked (ACCESS), read (READDIRPLUS, which fills the cache of names, so that no LOOKUP is left) and
    removed (RMDIR).

    Neglects: time that the medium needs to free blocks.
    Source: RFC 1813, sections 3.3.12, 3.3.13 and 3.3.17; GNU coreutils rm.c (fts, unlinkat).
    """

    kind: ClassVar[str] = "rm"

    r: Annotated[bool, documented("r", "R", "recursive")] = True
    f: Annotated[bool, documented("f", "force")] = True

    def plan(self, job: Job) -> Plan:
        one_host(job, self.kind, "removes", "write its host at both ends, from: HOST:memory")
        each, directory = ("remove", "readdir"), ("stat", "access", "list", "remove")
        if job.destination == "volume":
            return Plan((Step("remove", files=FileCost(destination=each, directory=directory)),))
        needs_volume(job, "source", self.kind)
        return Plan((Step("remove", files=FileCost(source=each, directory=directory)),))


_OPENING: Final = 7.0  #: TCP, NULL, two to set up the client, the way down to the export, GETATTR
#: OPEN with its confirmation, GETATTR, CLOSE
_FILE: Final = 3.0
_START: Final = prior("0.03 s", 0.5, "assumed: one small process")


class NfsCp(LocalTool):
    """``nfs-cp nfs://server/export/file local``: each read waits for the one before it.

    Neglects: NFSv3's mount protocol.
    Source: github.com/sahlberg/libnfs utils/nfs-cp.c: one buffer of 1 MiB, read and written in turn; RFC 7530.
    """

    kind: ClassVar[str] = "nfs-cp"

    buffer: Annotated[Size, named("buffer", "rsize")] = prior(
        "1 MiB", 0.0, "libnfs utils/nfs-cp.c: buffer of 1024 x 1024 B"
    )

    def plan(self, job: Job) -> Plan:
        sender, receiver = Thread("nfs server"), Thread("nfs-cp")
        net = NetUse(sender, receiver, channel=self.buffer, grain=self.buffer)
        step = transfer(job, (sender, receiver), self.buffer, net, files=replace(OPENED, round_trips=_FILE))
        return Plan((step,), opening=Opening(_OPENING, _START, "mount in user space"))


class Robocopy(LocalTool):
    """``robocopy SRC DST /E /MT:8 /J``: from one volume of a host to another, over SMB where one is mounted so.

    ``MT`` threads copy a file each; without it one does. ``J`` reads and writes past the cache. ``changed`` is the
    part of the bytes in files whose size or time differs: those that are the same cost their look-up alone.

    Neglects: ``/Z`` and its journal in each file; ACLs (``/SEC``, ``/COPYALL``); compression of SMB (``/COMPRESS``).
    Source: github.com/MicrosoftDocs/windowsserverdocs WindowsServerDocs/administration/windows-commands/robocopy.md.
    """

    kind: ClassVar[str] = "robocopy"
    files_option = "MT"

    MT: Annotated[int, Field(ge=1, le=128, description="threads; /MT alone is 8, no /MT is 1")] = 1
    J: Annotated[bool, named("J", "unbuffered")] = False
    changed: Share = prior("1", 0.0, "first copy: every file is new")
    buffer: Size = prior("1 MiB", 0.7, "assumed: CopyFileEx reads and writes 64 KiB to 1 MiB, 1 MiB over SMB")

    def plan(self, job: Job) -> Plan:
        one_host(job, self.kind)
        workers = max(1, min(self.MT, job.files))
        process = Thread("robocopy", workers)
        seen = FileCost(source=("stat",), destination=("lookup", "stat"))
        steps = [Step("scan", files=seen)]
        if self.changed.value > 0:
            finish: Finish = "direct" if self.J else "none"
            cost = FileCost(
                source=("open", "close"), destination=("create", "setattr", "close"), directory=("mkdir", "setattr")
            )
            read = reading(job, process, self.buffer, workers=workers, finish="direct" if self.J else "steady")
            write = writing(job, process, self.buffer, workers=workers, finish=finish)
            share, work = self.changed.value, device_work(job, process)
            cost = cost if share == 1 else FileCost()
            steps.append(Step("copy", read=read, write=write, cpu=work, files=cost, share=share))
        return Plan(tuple(steps), workers=workers, weight=workers)


class Program(LocalTool):
    """One thread that calls read or write; a path file's ``programs`` are made of such steps.

    One end is a file, the other the host's memory. What it reads goes into memory that it has not used before
    (``fresh``), so that each page costs a fault.
    ``holds`` is the memory that the program has meanwhile, which page caches cannot have.

    Neglects: the start of the process.
    Source: read(2), write(2), malloc(3): large buffers are mapped when they are first touched.
    """

    kind: ClassVar[str] = "program"

    block: Size = prior("1 MiB", 1.0, "assumed: from 64 KiB to a file at once")
    fresh: Annotated[bool, Field(description="whether what is read goes into memory not used before")] = True
    holds: Annotated[Quantity, Unit("B")] = prior("0 B", 0.0, "nothing is said of memory that it holds")

    def plan(self, job: Job) -> Plan:
        one_host(job, self.kind)
        thread = Thread("program")
        read, write = reading(job, thread, self.block), writing(job, thread, self.block)
        cpu = device_work(job, thread)
        if self.fresh and write is None:
            cpu += (CpuUse("destination", thread, ZERO_BYTE, "page faults of the program", stack="first_touch"),)
        step = Step("write" if write is not None else "read", read=read, write=write, cpu=cpu, files=OPENED)
        return Plan((step,), holds_B=self.holds.value)
