"""A stream made at one end and unpacked at the other while it travels: an archive, a file or device, a snapshot.

- tar: one process; for small files each file's operations decide, above all over a network file system.
- A stream through netcat or mbuffer, without a cipher: ``tar | nc``, ``dd | nc``, ``zfs send | mbuffer -O``.
- A stream through ssh: ``tar -cf - . | ssh host tar -xf -``, ``dd | ssh``, ``zfs send | ssh host zfs receive``.
"""

from dataclasses import replace
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import Quantity, prior
from dtnsim.ground.uncertainty import Otherwise
from dtnsim.physics.tools import tar_archive
from dtnsim.tools._common import both_ends, core_cost, one_host, transfer, waits_for
from dtnsim.tools._options import Cycles, Size, named
from dtnsim.tools._ssh import SshTool
from dtnsim.tools.plan import CpuUse, FileCost, Job, LocalTool, Mover, NetUse, Opening, Plan, Step

#: what makes the stream: tar a folder, dd a file or device, zfs send a snapshot
Packer = Annotated[
    Literal["tar", "dd", "zfs"], Field(description="tar -c | tar -x, dd | dd, or zfs send | zfs receive")
]
#: what the packer and unpacker do for a file, and for a folder at the destination; those of dd and zfs know no files
_OF_A_FILE: Final = FileCost(
    source=("stat", "open", "close"),
    destination=("create", "close", "setattr"),
    directory=("mkdir", "setattr"),
    together=True,
)
_UNPACKERS: Final = {"tar": "tar -x", "dd": "dd of", "zfs": "zfs receive"}


def overhead(job: Job, packer: str) -> float:
    """Bytes of the stream per payload byte."""
    archive_B = float(tar_archive(job.files, job.directories, job.payload_B))
    return archive_B / max(job.payload_B, 1.0) if packer == "tar" else 1.0


def _stream(job: Job, packer: str, net: NetUse, cpu: tuple[CpuUse, ...], record: Quantity) -> tuple[Step]:
    """A packer, a connection and an unpacker: no message of a file waits."""
    maker, unpacker = Thread(packer), Thread(_UNPACKERS[packer])
    return (transfer(job, (maker, unpacker), record, net, cpu, _OF_A_FILE if packer == "tar" else FileCost()),)


_RECORD: Final = prior("10 KiB", 0.0, "tar(1): blocking factor 20 x 512 B")
#: option -> program beside tar, and what a byte of the files costs it when it packs and when it unpacks
_PACKERS: Final = {
    "z": ("gzip", core_cost("zlib6_compress", "gzip -6"), core_cost("zlib6_decompress", "gzip -d")),
    "j": ("bzip2", core_cost("bzip2_compress", "bzip2 -9"), core_cost("bzip2_decompress", "bzip2 -d")),
    "J": ("xz", core_cost("xz6_compress", "xz -6"), core_cost("xz6_decompress", "xz -d")),
    "zstd": ("zstd", core_cost("zstd3_compress", "zstd -3"), core_cost("zstd1_decompress", "zstd -d")),
}


class Tar(LocalTool):
    """``tar -x`` or ``tar -c``, ``z`` through gzip, ``j`` bzip2, ``J`` xz; ``sync: true`` for ``tar ... && sync``.

    What goes to tape is created where nobody says ``mode``.

    The data set is the files, not the archive, which is read or written as one file. A file that is extracted costs
    five requests on NFSv3: LOOKUP, an exclusive CREATE and the SETATTR it needs, the WRITE at close, SETATTR of its
    times. A directory costs MKDIR, an ACCESS before the first file is made in it, and SETATTR of its times.

    Neglects: that a compressed archive has fewer bytes to read or write than its files.
    Source: GNU tar extract.c; RFC 1813 section 3.3.8; c0t0d0s0.org, "tarxpathology".
    """

    kind: ClassVar[str] = "tar"

    mode: Annotated[Literal["x", "c"], Field(description="x: extract, c: create")] = "x"
    z: Annotated[bool, named("z", "gzip")] = False
    j: Annotated[bool, named("j", "bzip2")] = False
    J: Annotated[bool, named("J", "xz")] = False
    zstd: bool = False
    sync: Annotated[bool, Otherwise("true", "timed until the data are on the medium: tar && sync")] = False
    record: Size = _RECORD

    def plan(self, job: Job) -> Plan:
        one_host(job, self.kind)
        extract = self.mode == "x" and not (job.to_tape and "mode" not in self.model_fields_set)
        process = Thread("tar")
        chosen = [packer for option, packer in _PACKERS.items() if getattr(self, option)]
        cpu = tuple(CpuUse("source", Thread(name), off if extract else on, name) for name, on, off in chosen)
        files = self._files(job, extract=extract)
        name, finish = "extract" if extract else "create", waits_for(direct=False, each=False, end=self.sync)
        step = transfer(job, (process, process), self.record, None, cpu, files, name=name, finish=finish)
        archive = step.read if extract else step.write
        if archive is None:
            return Plan((step,))
        one = archive.but(file_B=job.payload_B)
        return Plan((replace(step, read=one) if extract else replace(step, write=one),))

    def _files(self, job: Job, *, extract: bool) -> FileCost:
        if not extract:
            return FileCost(source=("stat", "open", "close"))
        if job.destination != "volume":
            return FileCost()
        return FileCost(
            destination=("lookup", "create", "exclusive", "close", "setattr"), directory=("mkdir", "access", "setattr")
        )


_COPY = prior("0.4 cycles/B", 0.7, "assumed: a copy into mbuffer's memory and one out of it, past the cache")


class TarNc(Mover):
    """``tar -cf - DIR | nc -N HOST PORT`` to ``nc -l PORT | tar -xf -``: one TCP stream.

    ``packer`` is what makes the stream. ``through: mbuffer`` has ``m`` bytes of memory at each end, which other caches
    cannot have, and a copy into it; ends that stop and go are not what the steady state knows.

    Neglects: pipes between the processes; the other end has to be started by hand.
    Source: GNU tar, headers of 512 B; netcat-openbsd; mbuffer(1), -m; zfs-send(8).
    """

    kind: ClassVar[str] = "tar-nc"

    packer: Packer = "tar"
    through: Literal["nc", "mbuffer"] = "nc"
    m: Annotated[Size, Field(description="memory of mbuffer (-m)")] = prior("1 GiB", 0.0, "usual with ZFS: -m 1G")
    record: Size = _RECORD
    overhead: Cycles = prior("0.5 cycles/B", 0.7, "assumed: netcat copies 16 KiB at a time from pipe to socket")

    def plan(self, job: Job) -> Plan:
        sender, receiver = Thread(f"{self.through} sender"), Thread(f"{self.through} receiver")
        net = NetUse(sender, receiver, overhead=overhead(job, self.packer))
        # TCP's handshake, and the last byte's way with the end of the connection
        opening = Opening(1.5, None, "TCP connection")
        work, holds = both_ends(sender, receiver, self.overhead, "netcat"), 0.0
        if self.through == "mbuffer":
            work, holds = (*work, *both_ends(sender, receiver, _COPY, "memory of mbuffer")), self.m.value
        return Plan(_stream(job, self.packer, net, work, self.record), opening=opening, holds_B=holds)


class TarSsh(SshTool):
    """``tar -cf - DIR | ssh -C -c cipher HOST 'tar -xf -'``: one stream in the channel's window, nothing a file.

    ``packer`` is what makes the stream; of zfs the records are blocks of a data set, as its ``recordsize`` says.

    Neglects: pipes between the processes; blocks that zfs send leaves out of an incremental stream (give their bytes).
    Source: GNU tar, headers of 512 B; openssh-portable channels.h; zfs-send(8).
    """

    kind: ClassVar[str] = "tar-ssh"

    packer: Packer = "tar"
    record: Size = _RECORD

    def plan(self, job: Job) -> Plan:
        sent = self.sent(job) * overhead(job, self.packer)
        cpu = (*self.crypto(sent), *self.packing())
        opening = self.opening(0.0, "the end of the stream")
        return Plan(_stream(job, self.packer, self.network(sent=sent), cpu, self.record), opening=opening)
