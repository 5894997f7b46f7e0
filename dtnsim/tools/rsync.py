"""rsync, and several at once, each with a list of files that fpart made.

- rsync: scan, then send what changed; one stream, one sender, one receiver.
- fpsync: rsyncs at once over lists that fpart makes, of at most 2000 files and 4 GiB each.
- msrsync: rsyncs at once within a host, over lists of at most 1000 files and 1 GiB each.
- parsyncfp: rsyncs at once over lists of fpart, of some 10 GB each.
- rsync behind xargs or GNU parallel: a run for each entry of the top folder, several at once.
"""

import math
from dataclasses import replace
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from dtnsim.components.access import Access, Thread
from dtnsim.ground.quantity import Quantity, prior
from dtnsim.ground.uncertainty import Otherwise, Since
from dtnsim.physics.tools import delta_share
from dtnsim.tools._common import both_ends, core_cost, device_work, one_host, reading, rereading, scaled, writing
from dtnsim.tools._options import Count, Cycles, Rate, Ratio, Share, Size, Version, by_release, named, version_tuple
from dtnsim.tools._ssh import FAREWELL, LOGIN, LOGIN_CPU, SshLink, crowd
from dtnsim.tools.plan import CpuUse, FileCost, Job, LocalTool, NetUse, Opening, Plan, Step, Tool

_SUM = {"md5": core_cost("md5", "whole-file sum"), "xxh128": core_cost("xxh3", "whole-file sum, XXH128")}
_PACK = {"zlib": core_cost("zlib6_compress"), "zstd": core_cost("zstd1_compress")}
_UNPACK = {"zlib": core_cost("zlib6_decompress"), "zstd": core_cost("zstd1_decompress")}
_ROLLING = prior("4 cycles/B", 0.6, "assumed: rolling checksum, byte by byte, over the sender's file")
_SIGNATURE = prior("1 cycles/B", 0.6, "assumed: get_checksum1 over each block of the old file, with SSE2 or AVX2")
_GENERATOR = Thread("rsync generator")
_SENDER, _RECEIVER = Thread("rsync sender"), Thread("rsync receiver")

#: what waits once in a run (main.c, flist.c, generator.c, io.c): arguments, checksum names and seed, file list, end of
#: the first phase, end of the second, statistics and farewell; versions come with ssh's answer to the command
PROTOCOL = 5.0
#: the daemon: TCP, greeting, module, @RSYNCD: OK, and its fork's answer (clientserver.c), then versions
DAEMON = 7.0
START = prior(
    "0.05 s",
    0.4,
    "rsync 3.2.7, an empty folder within one host: 0.03 to 0.07 s, most of it waiting for its own processes to end",
)
_DAEMON_WORK = prior("0.1 s", 0.3, "rsync 3.5.0 daemon, empty folder: start of two processes and of the list")


def _new(release: str) -> bool:
    """Whether sums are XXH128 and ``-z`` is zstd."""
    return version_tuple(release) >= (3, 2)


def _packer(release: str) -> str:
    return "zstd" if _new(release) else "zlib"


class Rsync(Tool):
    """``rsync -a [-W] [-c] [-z] [-e ssh] [--bwlimit]`` between hosts, or on one host (local or NFS).

    ``changed`` is the part of the bytes in files that the quick check finds new or changed (0: a rescan);
    ``literal`` the part of those bytes that is sent where an older version lies at the destination and the
    delta algorithm runs (never with ``whole_file``, the default on one host). So a data set that has not changed is
    ``changed: 0``; one of which a hundredth of the files has, ``changed: 0.01``; files that were touched but hold what
    they held, ``literal: 0``, of which the generator still reads the old ones and the sender the new ones.

    ``version`` is the older of the two ends: below 3.2 sums are MD5 and ``-z`` is zlib, from 3.2 to 3.4 XXH128 and
    zstd.

    The sender lists its files while the generator at the destination checks those it has heard of (incremental
    recursion, since 3.0), so the slower of the two scans counts. Where a part has changed, both walk trees of which
    memory has forgotten a part; of a first copy that is neglected beside the positioning for each file's data.

    Neglects: that the generator's scan runs ahead of the transfer; memory for the file list, and the list on the wire
    (some 30 B a file: it counts below 100 Mb/s).
    Source: rsync(1); github.com/RsyncProject/rsync 3.2.7 rsync.h (MAX_MAP_SIZE 256 KiB), checksum.c and compat.c (what
        the ends agree on: XXH128 before MD5, zstd before lz4 and zlib), generator.c, token.c.
    """

    kind: ClassVar[str] = "rsync"
    tool_class = "ssh"

    whole_file: Annotated[bool | None, named("whole_file", "W", "whole-file")] = None
    checksum: Annotated[bool, named("checksum", "c")] = False
    compress: Annotated[bool, named("compress", "z")] = False
    archive: Annotated[bool, named("archive", "a")] = True
    e: Annotated[Literal["ssh", "none"], named("e", "rsh")] = "ssh"
    ssh: SshLink = SshLink()
    bwlimit: Rate | None = None
    version: Annotated[
        Version,
        Otherwise("3.1.3", "RHEL 7 and 8; macOS had 2.6.9: MD5 and zlib, not XXH128 and zstd (NEWS of 3.2.0, 2020)"),
        # as Red Hat Enterprise Linux 4 to 8 had it, 7 since its release 7.5
        Since(((2005, "2.6.3"), (2007, "2.6.8"), (2010, "3.0.6"), (2014, "3.0.9"), (2018, "3.1.2"), (2022, None))),
    ] = "3.2.7"
    changed: Share = prior("1", 0.0, "first copy: every file is new")
    literal: Share = prior("1", 0.0, "no older version at the destination")
    ratio: Ratio = prior("1", 0.0, "incompressible data")
    buffer: Size = prior("256 KiB", 0.0, "rsync.h: MAX_MAP_SIZE and write buffer of 8 x 32 KiB")
    overhead: Cycles = prior("1.5 cycles/B", 0.5, "assumed: map window, multiplexed buffers and pipe, three copies")

    def plan(self, job: Job) -> Plan:
        """Scan of every file; sums of all bytes with ``checksum``; transfer of what changed."""
        walk = self.changed.value < 1
        scan = FileCost(source=("stat",), destination=("lookup", "stat"), together=True, walk=walk)
        steps = [Step("scan", files=scan)]
        if self.checksum:
            steps.append(self._sums(job))
        changed = self.changed.value
        if changed > 0:
            steps.append(self._transfer(job))
        partly = 0 < changed < 1
        opening = self._opening() if job.remote else Opening(0.0, START, "start and end of three processes")
        warning = "rsync: operations of the changed files are neglected, as their number is not known"
        return Plan(tuple(steps), warnings=(warning,) if partly else (), opening=opening)

    def _opening(self) -> Opening:
        """Log-in or the daemon's greeting, then what generator, sender and receiver say to each other once."""
        if self.e == "ssh":
            return self.ssh.opening(PROTOCOL, "rsync's start and phases")
        return Opening(DAEMON + PROTOCOL, _DAEMON_WORK, "the daemon's greeting, rsync's start and phases")

    def _sum(self) -> Quantity:
        return by_release(self, "rsync", lambda release: _SUM["xxh128" if _new(release) else "md5"])

    def _sums(self, job: Job) -> Step:
        reread = rereading(job, _RECEIVER, self.buffer) if self.changed.value < 1 else None
        work = both_ends(_SENDER, _RECEIVER, self._sum(), "sums of all files (-c)")
        return Step(
            "checksum",
            read=reading(job, _SENDER, self.buffer),
            reread=reread.but(cached=False) if reread is not None else None,
            cpu=work if reread is not None else work[:1],
        )

    def _transfer(self, job: Job) -> Step:
        remote = job.remote
        delta = self.literal.value < 1 and not (self.whole_file if self.whole_file is not None else not remote)
        sent = job.per_file(lambda size: float(delta_share(size, self.literal.value))) if delta else 1.0
        sent /= self.ratio.value if self.compress else 1.0
        read, write = reading(job, _SENDER, self.buffer), writing(job, _RECEIVER, self.buffer)
        net = self._net(sent) if remote or self.bwlimit is not None else None
        work, files = self._work(job, sent, delta=delta, remote=remote), self._files()
        step = Step("transfer", read=read, net=net, write=write, cpu=work, share=self.changed.value)
        old = rereading(job, _GENERATOR, self.buffer) if delta else None
        return replace(step, reread=old, files=files if self.changed.value == 1 else FileCost())

    def _net(self, sent: float) -> NetUse:
        if self.e == "ssh":
            return self.ssh.network(rate=self.bwlimit, sent=sent)
        return NetUse(_SENDER, _RECEIVER, rate=self.bwlimit, overhead=sent, answered=True)

    def _work(self, job: Job, sent: float, *, delta: bool, remote: bool) -> tuple[CpuUse, ...]:
        work = (*device_work(job, _SENDER), *both_ends(_SENDER, _RECEIVER, self.overhead, "rsync's buffers"))
        work += both_ends(_SENDER, _RECEIVER, self._sum(), "whole-file sum")
        if delta:
            work += (
                CpuUse("source", _SENDER, _ROLLING, "search for known blocks"),
                CpuUse("destination", _GENERATOR, _SIGNATURE, "rolling sums of the old blocks"),
                CpuUse("destination", _GENERATOR, self._sum(), "strong sums of the old blocks"),
            )
        if self.compress and remote:
            name = _packer(self.version)
            pack = by_release(self, "rsync", lambda release: _PACK[_packer(release)])
            unpack = by_release(self, "rsync", lambda release: _UNPACK[_packer(release)])
            part = self.literal.value if delta else 1.0
            work += (
                CpuUse("source", _SENDER, scaled(pack, part, "of what is sent"), f"{name} compression"),
                CpuUse("destination", _RECEIVER, scaled(unpack, part, "of what is sent"), f"{name} expansion"),
            )
        if remote and self.e == "ssh":
            work += self.ssh.crypto(sent)
        return work

    def _files(self) -> FileCost:
        """A new file is made under a temporary name and renamed; requests to the sender run ahead."""
        attrs = ("setattr",) if self.archive else ()
        return FileCost(
            source=("open", "close"), destination=("create", "close", *attrs, "rename"), directory=("mkdir", *attrs)
        )


CRAWL: Final = ("stat",)  #: a file costs fpart a stat beside rsync's own


def parts_of(job: Job, files: int | None, size_B: float) -> int:
    """Lists that fpart makes of a job: none has more files (None: any number) or bytes than it may."""
    by_size = math.ceil(job.payload_B / max(size_B, 1.0))
    by_files = math.ceil(job.files / files) if files else 1
    return max(1, min(max(by_size, by_files), job.files))


def _several(rsync: Rsync, job: Job, parts: int, at_once: int) -> Plan:
    """A plan of ``parts`` runs of rsync, ``at_once`` of them at a time.

    A run logs in, exchanges its list and says farewell, whatever it moves: those messages are spread over its files.
    """
    workers = max(1, min(at_once, parts))
    one = rsync.plan(job)
    trips = (LOGIN + FAREWELL if rsync.e == "ssh" else DAEMON) + PROTOCOL
    each = math.ceil(parts / workers) / math.ceil(job.files / workers)  # runs a worker does for each of its files
    trips = trips if job.remote else 0.0
    work = START if not job.remote else crowd(LOGIN_CPU, workers, job, 0.0) if rsync.e == "ssh" else None
    steps: list[Step] = []
    for step in one.steps:
        files = step.files
        if step.name == "scan":
            files = replace(files, source=(*files.source, *CRAWL))
        if step is one.steps[-1]:
            fixed = None if work is None else work.worth(work.value * each, f"{work.source}; {each:.3g} runs a file")
            files = replace(files, round_trips=files.round_trips + trips * each, fixed=fixed)
        steps.append(_wider(step, workers, files))
    return replace(one, steps=tuple(steps), workers=workers, weight=workers, opening=Opening())


def _wider(step: Step, workers: int, files: FileCost) -> Step:
    """A step of one rsync as a step of several."""

    def thread(one: Thread) -> Thread:
        return replace(one, copies=one.copies * workers)

    def access(one: Access | None) -> Access | None:
        if one is None:
            return None
        return one.but(thread=thread(one.thread), streams=workers, own_streams=workers)

    net = step.net
    if net is not None:
        channels = workers if net.channel is not None else None
        sender, receiver = thread(net.sender), thread(net.receiver)
        net = replace(net, sender=sender, receiver=receiver, streams=workers, channels=channels)
    cpu = tuple(replace(use, thread=thread(use.thread)) for use in step.cpu)
    read, write, reread = map(access, (step.read, step.write, step.reread))
    return replace(step, read=read, write=write, reread=reread, net=net, cpu=cpu, files=files)


class Fpsync(Tool):
    """``fpsync -n jobs -f files -s bytes -o 'rsync options' src/ host:/dst/``.

    Each list is an rsync of its own: over ssh it logs in again. ``rsync`` has its options (``-o``).

    Neglects: workers on other hosts (``-w``); that lists are made while the first are moved; other copy tools (``-m``).
    Source: github.com/martymac/fpart tools/fpsync (OPT_JOBS 2, OPT_FPMAXPARTFILES 2000, OPT_FPMAXPARTSIZE 4 GiB).
    """

    kind: ClassVar[str] = "fpsync"
    files_option = "n"
    tool_class = "ssh"

    n: Annotated[Count, named("n", "jobs")] = 2
    f: Annotated[int, named("f", "files", ge=1)] = 2000
    s: Annotated[Size, named("s", "size")] = prior("4 GiB", 0.0, "fpart tools/fpsync: OPT_FPMAXPARTSIZE")
    rsync: Rsync = Rsync()

    def plan(self, job: Job) -> Plan:
        return _several(self.rsync, job, parts_of(job, self.f, self.s.value), self.n)


class Msrsync(LocalTool):
    """``msrsync -p processes -f files -s size -r 'rsync options' SRC/ DST/``.

    Neglects: that lists are made while the first are moved.
    Source: github.com/jbd/msrsync README (-p 1, -f 1000, -s 1G).
    """

    kind: ClassVar[str] = "msrsync"
    files_option = "p"

    p: Annotated[Count, named("p", "processes")] = 1
    f: Annotated[int, named("f", "files", ge=1)] = 1000
    s: Annotated[Size, named("s", "size")] = prior("1 GiB", 0.0, "msrsync README: -s")
    rsync: Rsync = Rsync()

    def plan(self, job: Job) -> Plan:
        one_host(job, self.kind)
        return _several(self.rsync, job, parts_of(job, self.f, self.s.value), self.p)


class Parsyncfp(Tool):
    """``parsyncfp --NP n --chunksize size --maxbw KB/s --rsyncopts '...' --startdir DIR dirs host:/dst``.

    Lists are cut by size alone. ``NP`` is the square root of the processors unless given; ``maxbw`` is for all of them.

    Neglects: rsyncs that are suspended when the load is high (``--maxload``); the checks of every ``--checkperiod``.
    Source: github.com/hjmangalam/parsyncfp README.md (NP sqrt(CPUs), chunksize 10G, maxbw).
    """

    kind: ClassVar[str] = "parsyncfp"
    files_option = "NP"
    tool_class = "ssh"

    NP: Annotated[Count | None, named("NP", "np")] = None
    chunksize: Annotated[Size, named("chunksize", "cs")] = prior("10 GB", 0.0, "parsyncfp README: --chunksize 10G")
    maxbw: Rate | None = None
    rsync: Rsync = Rsync()

    def plan(self, job: Job) -> Plan:
        at_once = self.NP or max(1, round(math.sqrt(job.cores)))
        rsync = self.rsync if self.maxbw is None else self.rsync.model_copy(update={"bwlimit": self.maxbw})
        return _several(rsync, job, parts_of(job, None, self.chunksize.value), at_once)


class RsyncParallel(Tool):
    """``ls SRC | xargs -P jobs -I{} rsync -a SRC/{} HOST:DST/``, or ``parallel -j jobs``.

    ``entries`` are the arguments, each with its share of the files; as many as there are folders, or files of a folder
    alone, unless given. Each run logs in again.

    Neglects: entries of unlike size, of which the last one runs alone.
    Source: xargs(1); parallel(1).
    """

    kind: ClassVar[str] = "rsync-parallel"
    files_option = "jobs"
    tool_class = "ssh"

    jobs: Annotated[Count, named("jobs", "P", "j")] = 4
    entries: Annotated[int | None, Field(ge=1, description="arguments: entries of the top folder")] = None
    rsync: Rsync = Rsync()

    def plan(self, job: Job) -> Plan:
        entries = min(self.entries or job.directories or job.files, job.files)
        return _several(self.rsync, job, max(entries, 1), self.jobs)
