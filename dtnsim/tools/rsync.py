"""rsync: scan, then send what changed; one stream, one sender, one receiver."""

from dataclasses import replace
from typing import Annotated, ClassVar, Literal

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import Quantity, prior
from dtnsim.ground.uncertainty import Otherwise, Since
from dtnsim.physics.tools import delta_share
from dtnsim.tools._common import both_ends, core_cost, device_work, reading, rereading, scaled, writing
from dtnsim.tools._options import Cycles, Rate, Ratio, Share, Size, Version, by_release, named, version_tuple
from dtnsim.tools._ssh import SshLink
from dtnsim.tools.plan import CpuUse, FileCost, Job, NetUse, Opening, Plan, Step, Tool

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
