"""OpenSSH's copies, those of HPN-SSH, and mscp.

- scp: one SSH connection; its channel window, one core a side, or the disks.
- sftp: requests in flight over one SSH channel.
- mscp: several SSH connections that work on chunks of files, an SFTP window each.
- hpnscp and hpnsftp: OpenSSH with channel windows that follow TCP, larger requests and ciphers in threads.

`SftpCopy` is the SFTP protocol as OpenSSH's client speaks it: messages of a file, requests in flight, messages of a
session.
Source: github.com/openssh/openssh-portable 9.2p1 sftp-client.c (do_download, do_upload, upload_dir_internal,
    download_dir_internal, sftp_init and limits).
"""

import math
from dataclasses import replace
from typing import Annotated, ClassVar, Final

from pydantic import Field

from dtnsim.components.access import Thread
from dtnsim.components.tuning import CongestionControl
from dtnsim.ground.quantity import Mixture, Quantity, prior
from dtnsim.tools._common import COPIED, COPIED_WITH_TIMES, both_ends, in_flight, transfer
from dtnsim.tools._options import Count, Rate, Size, by_release, documented, named, version_tuple
from dtnsim.tools._ssh import LOGIN, LOGIN_CPU, LOGIN_WORK, LOT, OVERHEAD, RECEIVER, SENDER, SshCopy, crowd
from dtnsim.tools.plan import CpuUse, FileCost, Job, NetUse, Opening, Plan

#: sftp-client.h: DEFAULT_COPY_BUFLEN and DEFAULT_NUM_REQUESTS
BLOCK: Final = prior("32 KiB", 0.0, "openssh-portable sftp-client.h, DEFAULT_COPY_BUFLEN")
REQUESTS: Final = 64
#: bytes of a request where nobody says them, since the server is asked for its limits, and the release that began it
BLOCK_BY_LIMITS: Final = prior(
    "255 KiB", 0.0, "openssh-portable sftp-client.c: limits@openssh.com since 8.6, SFTP_MAX_MSG_LENGTH less 1024 B"
)
_LIMITS: Final = (8, 6)
#: a request or its answer goes the other way: one more packet to encrypt, send, receive and decrypt, and one more turn
#: of either process
REQUEST_WORK: Final = prior(
    "42e3 cycles",
    0.5,
    f"{LOT}: sftp with requests of 32 KiB 1.3 cycles/B above scp -O, mean of three ciphers, both ways and both "
    "processes (0.4 to 2.0); with 255 KiB 0.45",
)
#: what the process at the file pays to pass a byte on through the pipe to ssh or sshd, beside the file itself
PIPE_WORK: Final = prior(
    "2.5 cycles/B",
    0.5,
    f"{LOT}: scp, sftp and sftp-server took 3 cycles/B where they read files, 4 to 6 where they wrote them, less what "
    "the files cost",
)
#: messages of a file that wait. Put: OPEN, the last WRITE, CLOSE, and FSETSTAT of the length where scp writes in place;
#: get: OPEN, READ, the READ that finds the end, CLOSE (sizes and times came with the folder's list)
PUT: Final = 3.0
IN_PLACE: Final = 1.0
GET: Final = 4.0
#: messages of a session besides log-in: INIT, limits, and of sftp REALPATH; put: STAT, REALPATH, MKDIR (and STAT where
#: it fails), SETSTAT of the folder; get: LSTAT of what is named, REALPATH, STAT, OPENDIR, two READDIR, CLOSE
SESSION: Final = 2.0
WHERE: Final = 1.0
PUT_FOLDER: Final = 4.0
GET_FOLDER: Final = 7.0
#: of one file without a folder: put: STAT of where it goes; get: LSTAT and STAT
PUT_ALONE: Final = 1.0
GET_ALONE: Final = 2.0
#: a further folder: MKDIR and, after its files, SETSTAT (upload_dir_internal); or OPENDIR, READDIR, READDIR that finds
#: the end, CLOSE
PUT_FURTHER: Final = 2.0
GET_FURTHER: Final = 4.0
#: a file of more writes than one: the answer to the first is waited for before others are sent (do_upload: id ==
#: startid)
FIRST_WRITE: Final = 1.0


def alone(job: Job) -> bool:
    """Whether it is one file that is named itself, in no folder."""
    return job.files == 1 and not job.directories


def block_of(release: str) -> Quantity:
    """Bytes of a request of a release where nobody says them."""
    return BLOCK if version_tuple(release) < _LIMITS else BLOCK_BY_LIMITS


class SftpCopy(SshCopy):
    """A tool that speaks SFTP over its connection."""

    in_place: ClassVar[bool] = False  #: whether an existing file is written over and then cut to length (scp)

    @property
    def requests(self) -> tuple[int, Quantity]:
        """Requests in flight, and bytes of one."""
        return REQUESTS, block_of(self.version)

    def messages(self, size_B: float) -> float:
        """Messages of a file of this size that wait.

        Past the expected end of a file that is fetched there is one request at a time, so the READ that finds it comes
        after the data.
        """
        if self.client == "source":
            first = FIRST_WRITE if size_B > self.requests[1].value else 0.0
            return PUT + (IN_PLACE if self.in_place else 0.0) + first
        return GET + self.growing(size_B)

    def growing(self, size_B: float) -> float:
        """Round trips in which the requests of a file that is fetched grow: they begin at one, and by one an answer."""
        requests, block = self.requests
        blocks = min(math.ceil(size_B / block.value), requests)
        return math.ceil(math.log2(blocks + 1)) - 1 if blocks > 1 and self.client != "source" else 0.0

    def waits(self, job: Job) -> float:
        """Messages of a file that wait, in the protocol of this release.

        When the first request of the first file is answered there is nothing under way for a round trip; then requests
        grow behind slow start, which begins with fewer bytes.
        """
        return job.per_file(self.messages) - job.per_file(lambda B: max(self.growing(B) - 1, 0.0)) / max(job.files, 1)

    def each_file(self, job: Job) -> FileCost:
        """What each file costs; its messages drawn where nobody states the release."""
        source = "messages of a file: openssh-portable sftp-client.c, scp.c"

        def waits(release: str) -> Quantity:
            return Quantity(self.model_copy(update={"version": release}).waits(job), "1", 0.0, source)

        number = by_release(self, "ssh", waits) if job.files else waits(self.version)
        drawn = number if isinstance(number, Mixture) else None
        return replace(COPIED, round_trips=number.value, drawn=drawn)

    def in_flight(self) -> Quantity:
        """Bytes that may be under way: the smaller of the requests and the channel's window."""
        requests, block = self.requests
        return in_flight(requests, block, "requests", self.window())

    def requesting(self) -> tuple[CpuUse, ...]:
        """Work of the SSH processes for requests and their answers."""

        def per_byte(block: Quantity) -> Quantity:
            source = f"{REQUEST_WORK} a request of {block}: {REQUEST_WORK.source}"
            return Quantity(REQUEST_WORK.value / block.value, "cycles/B", REQUEST_WORK.spread, source)

        request = self.requests[1]
        if request == block_of(self.version):
            cost = by_release(self, "ssh", lambda release: per_byte(block_of(release)))
        else:
            cost = per_byte(request)
        return both_ends(SENDER, RECEIVER, cost, "SFTP requests")

    def copied(
        self, job: Job, block: Quantity, opening: Opening, requests: tuple[CpuUse, ...] = (), **network: Quantity
    ) -> Plan:
        """One connection, file after file, read and written by ``block``.

        ``requests`` is the work of the SSH processes for them, ``network`` what `network` takes.
        """
        sent = self.sent(job)
        net = self.network(rate=self.limit, stopped=True, sent=sent, **network)
        ends = (Thread(f"{self.kind} reader"), Thread(f"{self.kind} writer"))
        piped = both_ends(*ends, PIPE_WORK, "pipe to the SSH process")  # of the processes at the files, beside ssh
        cpu = (*self.crypto(sent), *requests, *self.packing(), *piped)
        return Plan((transfer(job, ends, block, net, cpu, self.each_file(job)),), opening=opening)

    def session(self, job: Job, block: Quantity) -> Plan:
        """The plan of a copy by SFTP, whose messages wait for their answers."""
        put = self.client == "source"
        folder, further = (PUT_FOLDER, PUT_FURTHER) if put else (GET_FOLDER, GET_FURTHER)
        if alone(job):
            folder = PUT_ALONE if put else GET_ALONE
        waits = SESSION + (0.0 if self.in_place else WHERE) + folder + further * max(job.directories - 1, 0)
        opening = self.opening(waits, "the session's first requests")
        return self.copied(job, block, opening, self.requesting(), channel=self.in_flight(), grain=self.requests[1])


_SFTP: Final = (9, 0)  #: release whose scp speaks SFTP (release notes of 9.0, 2022)
#: the old protocol waits for the file's name and for its end (openssh scp.c, source() and sink())
SCP_ROUND_TRIPS: Final = 2.0
SCP_FOLDER: Final = 2.0  #: before and after the files of the old protocol: a folder's D and E lines


class Scp(SftpCopy):
    """``scp -c ... -l ... -r -O``: SFTP underneath since 9.0, the old protocol before or with ``O``.

    The file is read and written by a process of its own beside the SSH process.

    Neglects: that the window adjusts three packets late.
    Source: openssh-portable scp.c, sftp-client.c, channels.h; release notes 4.7, 6.5 and 9.0.
    """

    kind: ClassVar[str] = "scp"
    in_place = True

    r: Annotated[bool, documented("r", "recursive")] = False
    old_protocol: Annotated[bool, named("O", "old_protocol")] = False
    block: Size = prior("32 KiB", 0.3, "openssh-portable sftp-client.c DEFAULT_COPY_BUFLEN; scp.c COPY_BUFLEN 16 KiB")

    @property
    def speaks_sftp(self) -> bool:
        """Whether this release speaks SFTP where nobody asks for the old protocol."""
        return version_tuple(self.version) >= _SFTP and not self.old_protocol

    def waits(self, job: Job) -> float:
        return super().waits(job) if self.speaks_sftp else SCP_ROUND_TRIPS

    def plan(self, job: Job) -> Plan:
        if self.speaks_sftp:
            return self.session(job, self.block)
        return self.copied(job, self.block, self.opening(0.0 if alone(job) else SCP_FOLDER, "scp's own protocol"))


class Sftp(SftpCopy):
    """``sftp -R requests -B buffer``: the channel's window, or the requests in flight if they are less.

    Neglects: requests of several files at once (there are none).
    Source: openssh-portable sftp-client.c: 64 requests of 32 KiB, of 255 KiB since 8.6.
    """

    kind: ClassVar[str] = "sftp"

    R: Annotated[int, named("R", "num_requests", ge=1, le=4096)] = REQUESTS
    B: Annotated[Size | None, named("B", "buffer_size")] = None
    r: Annotated[bool, documented("r", "recursive")] = False

    @property
    def requests(self) -> tuple[int, Quantity]:
        return self.R, self.B or block_of(self.version)

    def plan(self, job: Job) -> Plan:
        return self.session(job, self.requests[1])


class Hpnscp(SftpCopy):
    """``hpnscp -c cipher``, with HPN-SSH at both ends unless ``hpn: false`` (``-oHPNDisabled=yes``).

    1024 requests of 128 KiB may be in flight, so that neither they nor the channel hold what TCP allows. ``cipher:
    none`` is ``-oNoneEnabled=yes -oNoneSwitch=yes``. Without HPN the channel of 2 MiB holds it.

    Neglects: parallel streams and bundles of small files (version 18.10); resumed transfers.
    Source: github.com/rapier1/hpn-ssh HPN-README, sftp-client.c (DEFAULT_COPY_BUFLEN, DEFAULT_NUM_REQUESTS),
    channels.h.
    """

    kind: ClassVar[str] = "hpnscp"
    in_place = True

    hpn: Annotated[
        bool, Field(description="HPN-SSH at both ends; false: -oHPNDisabled=yes, or OpenSSH at the far end")
    ] = True
    r: Annotated[bool, documented("r", "recursive")] = False
    R: Annotated[int, named("R", "num_requests", ge=1, le=65536)] = 1024
    B: Annotated[Size, named("B", "buffer_size")] = prior(
        "128 KiB", 0.0, "hpn-ssh sftp-client.c: DEFAULT_COPY_BUFLEN 131072"
    )

    @property
    def requests(self) -> tuple[int, Quantity]:
        return self.R, self.B

    def plan(self, job: Job) -> Plan:
        return self.session(job, self.B)


_SESSION: Final = 2.0  #: SFTP's INIT on a further connection, and STAT of the target on the first
#: put, once a file: STAT of its folder, OPEN and CLOSE that make it, SETSTAT at its end; each chunk: OPEN, WRITE, CLOSE
_PUT_FILE, _CHUNK = 4.0, 3.0
_WALK: Final = 1.0  #: get, in the one thread that lists: a STAT a file (path.c, walk_path_recursive)


class Mscp(SshCopy):
    """``mscp -n connections -a requests -b bytes -s least -S most -c cipher -g cc``.

    Each connection has one thread, one cipher and ``a`` requests of ``b`` bytes in flight. A file larger than ``s`` is
    cut into as many chunks as there are connections. ``n`` is floor(2 ln(cores)) + 1 unless given; ``u`` connections
    log in at once.

    Neglects: that libssh's own channel window is another than OpenSSH's; deeper folders, one STAT each a file.
    Source: github.com/upa/mscp doc/mscp.rst (options and defaults), src/path.c (messages of a file, chunks), src/mscp.c
        (connections, least chunk), src/ssh.c.
    """

    kind: ClassVar[str] = "mscp"

    n: Annotated[Count | None, named("n", "connections")] = None
    u: Annotated[Count, named("u", "max_startups")] = 8
    a: Annotated[Count, named("a", "nr_ahead")] = 32
    b: Annotated[Size, named("b", "buf_size")] = prior("16 KiB", 0.0, "mscp(1): -b 16384")
    s: Annotated[Size, named("s", "min_chunk_size")] = prior(
        "64 MiB", 0.0, "mscp src/mscp.c: DEFAULT_MIN_CHUNK_SZ 64 << 20"
    )
    S: Annotated[Size | None, named("S", "max_chunk_size")] = None
    g: Annotated[CongestionControl | None, named("g", "congestion")] = None
    limit: Annotated[Rate | None, named("limit", "L")] = None

    def chunk_B(self, size: float, connections: int) -> float:
        """Bytes of a chunk of a file of this size."""
        if size <= self.s.value:
            return max(size, 1.0)
        return self.S.value if self.S is not None else max(size / connections, self.s.value)

    def connections(self, job: Job) -> int:
        """Connections that have something to do."""
        most = self.n or math.floor(2 * math.log(max(job.cores, 1))) + 1
        chunks = job.per_file(lambda size: math.ceil(max(size, 1.0) / self.chunk_B(size, most))) * job.files
        return max(1, min(most, math.ceil(chunks)))

    def plan(self, job: Job) -> Plan:
        workers = self.connections(job)
        sender, receiver = Thread("mscp senders", workers), Thread("mscp receivers", workers)
        sent, put = self.sent(job), self.client == "source"
        flight = in_flight(self.a, self.b, "requests", self.window())
        chunks = job.per_file(lambda size: math.ceil(max(size, 1.0) / self.chunk_B(size, workers)))
        each = max(_CHUNK * chunks, _WALK * workers) if not put else _PUT_FILE + _CHUNK * chunks
        net = NetUse(sender, receiver, streams=workers, cc=self.g, rate=self.limit, overhead=sent * OVERHEAD)
        net = replace(net, channel=flight, channels=workers, grain=self.b, stopped=True)
        ends = {"source": sender, "destination": receiver}  # cipher and compression, a thread a connection
        cpu = tuple(replace(use, thread=ends[use.end]) for use in (*self.crypto(sent), *self.packing()))
        files = replace(COPIED_WITH_TIMES, round_trips=each)
        step = transfer(job, (sender, receiver), self.b, net, cpu, files, workers=workers)
        waves = (math.ceil((workers - 1) / self.u) + 1) / 2  # u log in at once: how long a mean one waits
        connect = (LOGIN + _SESSION) * (waves - 1)
        further = crowd(LOGIN_CPU, workers - 1, job, LOGIN)
        # the list has a connection of its own; those that copy log in when it has begun
        opening = Opening(
            2 * (LOGIN + _SESSION), LOGIN_WORK, "ssh log-ins of the list and of the copies", connect, further
        )
        piece = self.s.value if workers > 1 else math.inf
        return Plan((step,), workers=workers, weight=workers, piece_B=piece, opening=opening)
