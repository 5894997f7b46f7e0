"""Movers with a protocol of their own.

- ascp: FASP at a target rate, one process a side, encrypted unless -T.
- FDT: all files as one continuous stream over several connections.
- WDT: threads that each read, encrypt and send blocks of files over their own connection.
- HTCondor's file transfer: the access point sends each job's files over one connection of its own.
"""

import math
from dataclasses import replace
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from dtnsim.components.access import Thread
from dtnsim.components.offload import Duty
from dtnsim.ground.quantity import Quantity, Unit, prior
from dtnsim.physics.tcp import ratebased
from dtnsim.tools._common import COPIED, COPIED_WITH_TIMES, CRC32C, MD5, TLS, both_ends, core_cost, transfer
from dtnsim.tools._options import Count, Cycles, Rate, Size, documented, named
from dtnsim.tools._ssh import FAREWELL, LOGIN, LOGIN_WORK
from dtnsim.tools.plan import CpuUse, Job, Mover, NetUse, Opening, Plan

_FASP: Final = "assumed: AES-128 and integrity checks of a user-space transport on a core with AES instructions"
_CIPHER = Quantity(ratebased.FASP_CYCLES_PER_BYTE, "cycles/B", 0.5, _FASP)


class Ascp(Mover):
    """``ascp -l target [-T] [-k 0..3] [-Q policy]``.

    ``fallback`` is what happens where no UDP passes and ``-y 1`` allows it: one connection over HTTP(S) to port 8080 or
    8443. ``l`` is written with its unit (``1 Gb/s`` for ``-l 1G``). Work for each packet in user space belongs to
    the transport; the cipher is charged here, and not with ``T``.

    Neglects: what ``k`` 2 and 3 read back of files that exist; the policies' shares against other traffic.
    Source: IBM Aspera ascp command reference (default target 10 Mb/s, resume levels, ``-T``).
    """

    kind: ClassVar[str] = "ascp"

    target: Annotated[Rate, named("l", "target", "target_rate")] = prior(
        "10 Mb/s", 0.0, "ascp command reference: -l, default 10000 Kbps"
    )
    T: Annotated[bool, Field(description="no encryption")] = False
    k: Annotated[int, documented(ge=0, le=3, description="resume level")] = 0
    policy: Annotated[Literal["fixed", "high", "fair", "low"], documented("policy", "Q")] = "fair"
    fallback: Annotated[bool, Field(description="UDP is blocked: HTTP(S) over TCP (-y 1)")] = False
    block: Size = prior("256 KiB", 0.7, "assumed: read and write size of ascp")

    def plan(self, job: Job) -> Plan:
        reader, writer = Thread("ascp reader"), Thread("ascp writer")
        sender, receiver = Thread("ascp sender"), Thread("ascp receiver")
        net = NetUse(sender, receiver, transport="tcp" if self.fallback else "fasp", rate=self.target)
        cpu = () if self.T else both_ends(sender, receiver, _CIPHER, "FASP cipher", Duty("own", "aes-ctr"))
        # name and attributes of a file are acknowledged before its data (assumed)
        step = transfer(job, (reader, writer), self.block, net, cpu, replace(COPIED_WITH_TIMES, round_trips=1.0))
        unsaid = "ascp keeps to 10 Mb/s unless it is told a rate: write {name: ascp, l: 1 Gb/s} for -l 1G"
        return Plan((step,), warnings=() if "target" in self.model_fields_set else (unsaid,))


_MD5 = core_cost("md5", "Java's MD5")
_JAVA = prior("0.5 s", 0.5, "assumed: start of a Java machine and FDT's classes, 0.2 to 1 s")
#: TCP, session and its key on the control channel, the list of files, go, and the farewell (assumed)
_OPENING = Opening(5.0, _JAVA, "Java and the session")


class Fdt(Mover):
    """``java -jar fdt.jar -P streams -bs buffer -ss window -limit rate -md5 -bio``.

    A thread reads, a thread writes (one a device); selectors serve the sockets, with ``bio`` a thread
    each. Files follow each other without waiting for the other end.

    Neglects: several devices at an end.
    Source: FDT documentation, doc-fdt-ddcopy.md.
    """

    kind: ClassVar[str] = "fdt"
    streams_option = "P"

    P: Annotated[Count, named("P", "streams")] = 4
    bs: Size = prior("512 KiB", 0.0, "FDT documentation: -bs, default 512K")
    ss: Annotated[Size | None, named("ss", "window")] = None
    limit: Rate | None = None
    md5: bool = False
    bio: Annotated[bool, documented()] = False
    overhead: Cycles = prior("0.1 cycles/B", 0.7, "assumed: Java NIO with direct buffers, a call for 512 KiB")

    def plan(self, job: Job) -> Plan:
        reader, writer = Thread("fdt reader"), Thread("fdt writer")
        copies = self.P if self.bio else max(1, min(self.P, job.cores))
        sender, receiver = Thread("fdt senders", copies), Thread("fdt receivers", copies)
        sums = (CpuUse("source", reader, _MD5, "MD5", duty=MD5),) if self.md5 else ()
        net = NetUse(sender, receiver, streams=self.P, window=self.ss, rate=self.limit)
        cpu = (*both_ends(sender, receiver, self.overhead, "Java NIO"), *sums)
        step = transfer(job, (reader, writer), self.bs, net, cpu, replace(COPIED, source=("open", "close")))
        return Plan((step,), weight=self.P, opening=_OPENING if job.remote else Opening())


_CIPHERS = {
    "aes128ctr": core_cost("aes128_ctr", "WDT in user space"),
    "aes128gcm": core_cost("aes128_gcm", "WDT in user space"),
}
#: the receiver's address comes back, then each connection says what it sends and is told where to begin (assumed)
_URL = 2.0


class Wdt(Mover):
    """``wdt -num_ports -block_size_mbytes -buffer_size -encryption_type -enable_checksum ...``.

    The receiver is started through ssh, and prints the address to send to.

    Large files are cut into blocks, so that all ports work on one file. The checksum belongs to
    connections that are not authenticated by the cipher.

    Neglects: directory discovery; ``disk`` option type (fewer ports, no blocks).
    Source: facebook/wdt WdtOptions.h.
    """

    kind: ClassVar[str] = "wdt"

    num_ports: Count = 8
    block_size_mbytes: Annotated[float, Field(le=1e6, description="MiB; 0 or less: whole files")] = 16.0
    buffer_size: Size = prior("256 KiB", 0.0, "WdtOptions.h: buffer_size 256 * 1024")
    encryption_type: Literal["none", "aes128ctr", "aes128gcm"] = "aes128gcm"
    enable_checksum: bool = True
    avg_mbytes_per_sec: Annotated[float, Field(le=1e6, description="MiB/s; negative: unlimited")] = -1.0

    def plan(self, job: Job) -> Plan:
        size = self.block_size_mbytes * 2.0**20
        blocks = math.ceil(job.payload_B / size) if size > 0 else job.files
        workers = max(1, min(self.num_ports, max(blocks, job.files)))
        sender, receiver = Thread("wdt senders", workers), Thread("wdt receivers", workers)
        cpu: tuple[CpuUse, ...] = ()
        if self.encryption_type != "none":
            duty = Duty("own", f"aes-{self.encryption_type[-3:]}")
            cpu = both_ends(sender, receiver, _CIPHERS[self.encryption_type], self.encryption_type, duty)
        elif self.enable_checksum:
            cpu = both_ends(sender, receiver, CRC32C, "CRC32C")
        each = Quantity(self.avg_mbytes_per_sec * 2.0**20, "B/s", 0.0, "wdt -avg_mbytes_per_sec")
        net = NetUse(sender, receiver, streams=workers, rate=each if each.value >= 0 else None)
        files = replace(COPIED, source=("open", "close"))
        step = transfer(job, (sender, receiver), self.buffer_size, net, cpu, files, workers=workers)
        opening = Opening(LOGIN + FAREWELL + _URL, LOGIN_WORK, "ssh log-in that starts the receiver, and its answer")
        return Plan((step,), workers=workers, weight=workers, piece_B=size if size > 0 else math.inf, opening=opening)


#: a job: TCP, a security session with its key, the transfer key, what is sent (assumed); a file: its name and size go
#: ahead of its bytes, and the answer says that there is room ("go ahead", file_transfer.cpp)
_JOB: Final = 6.0
_FILE: Final = 1.0


class Condor(Mover):
    """Input (or output) of ``jobs`` jobs, ``files_per_job`` files each, ``concurrent`` of them at once.

    Neglects: time that jobs wait to be matched; file-transfer plug-ins (OSDF: see pelican); the disk-load throttle.
    Source: HTCondor manual, MAX_CONCURRENT_UPLOADS and MAX_CONCURRENT_DOWNLOADS (100 each), SEC_DEFAULT_ENCRYPTION
        and AES since 9.0.
    """

    kind: ClassVar[str] = "condor"
    files_option = "concurrent"

    files_per_job: Count = 1
    concurrent: Count = 100
    encrypt: Annotated[bool, Field(description="AES-GCM of what is sent, as since 9.0")] = True
    block: Size = prior("256 KiB", 0.7, "assumed: 64 KiB to 1 MiB, ReliSock's buffer")
    cipher: Cycles = core_cost("aes128_gcm", "AES of a security session")
    overhead: Cycles = prior("1 cycles/B", 0.7, "assumed: a copy in user space at either end")
    start: Annotated[Quantity, Unit("s")] = prior(
        "0.1 s", 0.7, "assumed: a shadow and a starter agree on a job's files"
    )

    def plan(self, job: Job) -> Plan:
        jobs = max(1, math.ceil(job.files / self.files_per_job))
        workers = min(self.concurrent, jobs)
        sender, receiver = Thread("condor shadow", workers), Thread("condor starter", workers)
        cpu = both_ends(sender, receiver, self.overhead, "ReliSock")
        if self.encrypt:
            cpu += both_ends(sender, receiver, self.cipher, "AES-GCM", TLS)
        each = 1.0 / min(self.files_per_job, job.files)
        net = NetUse(sender, receiver, streams=workers, reopened=self.files_per_job == 1)
        start = self.start.worth(self.start.value * each, f"{self.start.source}; {each:.3g} jobs a file")
        files = replace(COPIED_WITH_TIMES, round_trips=_FILE + _JOB * each, fixed=start)
        step = transfer(job, (sender, receiver), self.block, net, cpu, files, workers=workers)
        return Plan((step,), workers=workers, weight=workers)
