"""GridFTP, and the service on it.

- globus-url-copy: GridFTP with parallel streams, concurrent files and pipelined commands.
- The Globus transfer service: GridFTP driven by a service that verifies every file.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, ClassVar, Final, NamedTuple

from pydantic import Field

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import prior
from dtnsim.ground.uncertainty import Otherwise
from dtnsim.tools._common import COPIED, COPIED_WITH_TIMES, MD5, TLS, both_ends, core_cost, rereading, transfer
from dtnsim.tools._options import STREAMS, Client, Count, Cycles, Size, documented, named
from dtnsim.tools.plan import FileCost, Job, Mover, NetUse, Opening, Plan, Step

#: A file's messages on the control channel that wait, when the client is an end of the data (RFC 959, GFD.20).
#: get: PASV, RETR with the data connection, 226; put: also SIZE or the check of the name, and the 226 only after the
#: last byte's way; a data channel that is kept (-fast, or MODE E with -p) leaves RETR, or two more of STOR
GET, GET_KEPT = 3.0, 1.0
PUT, PUT_KEPT = 5.0, 3.0
PUT_AHEAD = 2.0  #: -pp with a client that sends itself keeps only the next file's command ahead
#: third-party: PASV at one, PORT at the other, RETR and STOR, 226 from both, new data connection
THIRD, THIRD_KEPT = 4.0, 2.0
#: log-in of a control channel and what is asked for once: TCP, banner, USER, PASS, FEAT, SITE, TYPE, MODE, OPTS, ...
OPENING, OPENING_THIRD = 8.0, 9.0
#: a folder: its list (MLSD with its data connection), or CWD and, with -cd, MKD for each folder on the way to it
FOLDER_GET, FOLDER_PUT = 3.0, 8.0
LIST = 2.0  #: a further folder: MLSD with a data connection of its own, or CWD and MKD
#: further control channels of -cc
CONTROL = 6.0
LOG_IN = "log-in at the control channel"
START = prior("0.065 s", 0.3, "globus-url-copy 10.12, one byte at 5 ms: 0.132 s less 13 round trips")
#: work of client and server for a file
FILE_WORK = prior("3 ms", 0.4, "globus-url-copy 10.12, 50 files at 5 ms: time of a file less its messages")
#: Files whose commands -pp keeps outstanding
PIPELINE = 20.0
_LOOP = prior("0.2 cycles/B", 0.7, "assumed: XIO event loop, 20 000 to 100 000 cycles for each block of 256 KiB")


class Gridftp(Mover):
    """``globus-url-copy -p ... -cc ... -pp -fast -udt -tcp-bs ... -bs ... -stripe``.

    A server process a file in flight reads (or writes) the file and serves all its streams in one
    event loop, so file and network work share a core. Without ``-fast`` (MODE S) the end of a file is the
    end of its data connections: the next one has new ones, which start slowly.

    Where the client is itself one end (``third_party`` off) it opens the data connections; pipelining needs two
    servers.

    Neglects: authentication with certificates (anonymous FTP here); writes out of order with ``p`` > 1 (MODE E) on
    disks.
    Source: gridcf/gct globus-url-copy manual; RFC 959 and GFD.20 (commands of a transfer).
    """

    kind: ClassVar[str] = "gridftp"
    files_option = "cc"
    streams_option = "p"

    p: Annotated[Count, named("p", "parallel"), STREAMS] = 1
    cc: Annotated[Count, named("cc", "concurrency")] = 1
    pp: Annotated[
        bool, named("pp", "pipeline"), Otherwise("true", "many small files (globus-url-copy manual, -pp)")
    ] = False
    fast: bool = False
    udt: bool = False
    r: Annotated[bool, documented("r", "recurse")] = False
    tcp_bs: Annotated[Size | None, named("tcp_bs", "tcp-bs", "tcp_buffer_size", "tcp-buffer-size")] = None
    bs: Annotated[Size, named("bs", "block_size", "block-size")] = prior(
        "256 KiB", 0.0, "globus-gridftp-server: default block size 262144"
    )
    third_party: Annotated[
        bool, Field(description="the client is neither end: two servers, one commands the other")
    ] = True
    client: Client = "source"
    vb: Annotated[bool, Field(description="the figure is what -vb prints: without log-in and lists")] = False
    stripe: Annotated[Count, Field(description="data movers of a striped transfer (-stripe)")] = 1
    overhead: Cycles = _LOOP

    def plan(self, job: Job) -> Plan:
        workers = max(1, min(self.cc, job.files))
        processes = workers * self.stripe
        sender, receiver = Thread("gridftp sender", processes), Thread("gridftp receiver", processes)
        streams = self.p * processes
        net = NetUse(sender, receiver, streams=streams, window=self.tcp_bs, transport="udt" if self.udt else "tcp")
        net = replace(net, reopened=not self.keeps_channels, stopped=self.keeps_channels and self.ahead(job) == 1)
        cpu = both_ends(sender, receiver, self.overhead, "GridFTP event loop")
        work = None if self.third_party else FILE_WORK
        files = replace(COPIED, round_trips=self.messages(), fixed=work, ahead=self.ahead(job))
        step = transfer(job, (sender, receiver), self.bs, net, cpu, files, workers=workers)
        return Plan((step,), workers=workers, weight=streams, opening=self.opening(job))

    @property
    def keeps_channels(self) -> bool:
        """Whether data channels stay open from file to file: MODE E, and pipelining."""
        return self.fast or self.p > 1 or self.pp

    def opening(self, job: Job) -> Opening:
        """Control channels and what is asked for once."""
        if not job.remote or self.vb:
            return Opening()
        trips = OPENING_THIRD if self.third_party else OPENING
        if job.files > 1:
            trips += FOLDER_PUT if self.client == "source" and not self.third_party else FOLDER_GET
            trips += LIST * max(job.directories - 1, 0)
        return Opening(trips, START, LOG_IN, CONTROL)

    def ahead(self, job: Job) -> float:
        """Files whose commands are on their way at once."""
        return _ahead(PIPELINE, job, min(self.cc, job.files)) if self.pp and self.third_party else 1.0

    def messages(self) -> float:
        """Messages of a file that wait."""
        if self.third_party:
            return THIRD_KEPT if self.keeps_channels else THIRD
        if self.client == "source":
            put = PUT_KEPT if self.keeps_channels else PUT
            return PUT_AHEAD if self.pp else put
        return GET_KEPT if self.keeps_channels or self.pp else GET


def _ahead(pipeline: float, job: Job, workers: int) -> float:
    """Files whose commands pipelining has on their way at once: no more than a worker has."""
    return max(1.0, min(pipeline, job.files / workers))


class Tuning(NamedTuple):
    """Files (or chunks) at once, streams of each, commands ahead."""

    concurrency: int
    parallelism: int
    pipelining: int


#: network use "normal": for each server of the endpoint, and of a file
_PREFERRED, _MOST, _STREAMS, _MOST_STREAMS = 2, 4, 4, 8
_AHEAD: Final = 20  #: commands ahead (GridFTP pipelining as globus-url-copy has it)


class Globus(Mover):
    """A task of the Globus service; ``verify`` reads each file back at both ends and compares MD5 sums.

    An endpoint prefers two files at once and allows four for each of its ``servers`` (the fewer of the two ends), with
    four streams each and eight at most: "normal" network use, unless the limits are given. Of an endpoint of Globus
    Connect Personal (``personal``; a host with Windows or macOS has one, unless that is stated) network use cannot be
    set: it has one server and what is preferred. Files above
    a ``chunk`` are cut (``chunked``, since 2021): a large one has several movers, and several threads verify it.
    The verification of a file or chunk follows its transfer in the same worker.

    Neglects: time in the service's queue; a task waiting behind two others of its owner; faults.
    Source: docs.globus.org, Globus Connect Server, network use options; github.com/globus/globus-sdk-python, endpoint
        document (levels depend on the number of physical servers); globus-cli manual; W. Zheng et al., Globus service
        enhancements for exascale applications and facilities, arXiv 2503.22981 (chunks, and their integrity checks).
    """

    kind: ClassVar[str] = "globus"
    files_option = "concurrency"
    streams_option = "parallelism"

    concurrency: Annotated[Count | None, named("concurrency", "cc")] = None
    parallelism: Annotated[Count | None, named("parallelism", "p")] = None
    pipelining: Annotated[Count | None, named("pipelining", "pp")] = None
    servers: Annotated[int, Field(ge=1, le=1024, description="servers of the endpoint that has fewer of them")] = 1
    personal: Annotated[
        bool | None,
        Field(description="Globus Connect Personal at one of the ends; by the hosts' systems where not said"),
    ] = None
    max_concurrency: Count | None = None
    max_parallelism: Count = _MOST_STREAMS
    chunked: Annotated[
        bool,
        Field(description="large files are cut into chunks; false before 2021"),
        Otherwise("false", "storage that cannot write a part of a file (connectors of tape and cloud drives)"),
    ] = True
    chunk: Size = prior("500 MB", 1.0, "assumed: what a mover does in some seconds, 100 MB to some GB")
    verify: Annotated[bool, named("verify", "verify_checksum", "verify-checksum")] = True
    encrypt: Annotated[bool, named("encrypt", "encrypt_data", "encrypt-data")] = False
    block: Size = prior("256 KiB", 0.0, "globus-gridftp-server: default block size 262144")
    checksum_block: Size = prior("1 MiB", 0.5, "assumed: buffer of the server's CKSM command")
    checksum: Cycles = core_cost("md5_openssl", "CKSM MD5 of the GridFTP server")
    cipher: Cycles = core_cost("aes128_gcm", "TLS of the data channel")
    overhead: Cycles = _LOOP

    def is_personal(self, *, desk: bool) -> bool:
        """Whether an endpoint is one of Globus Connect Personal; ``desk``: whether people sit at an end's host."""
        return desk if self.personal is None else self.personal

    def limits(self, *, desk: bool) -> tuple[int, int]:
        """Most files at once, and streams of each, that the endpoints allow."""
        if self.is_personal(desk=desk):
            return _PREFERRED, _STREAMS
        return self.max_concurrency or _MOST * self.servers, self.max_parallelism

    def chosen(self, job: Job) -> Tuning:
        """Files at once, streams a file and commands ahead, within the endpoints' limits."""
        most, streams = self.limits(desk=job.desk)
        parts = math.ceil(job.per_file(self._parts) * job.files)
        concurrency = min(self.concurrency or _PREFERRED * self.servers, most, max(parts, 1))
        return Tuning(concurrency, min(self.parallelism or _STREAMS, streams), self.pipelining or _AHEAD)

    @property
    def _piece_B(self) -> float:
        return self.chunk.value if self.chunked else math.inf

    def _parts(self, size_B: float) -> float:
        return float(max(1, math.ceil(size_B / self._piece_B)))

    def plan(self, job: Job) -> Plan:
        use = self.chosen(job)
        steps = [self._transfer(job, use)]
        if self.verify:
            steps.append(self._verification(job, use.concurrency))
        warnings, streams = tuple(self._endpoint_notes(job)), use.concurrency * use.parallelism
        # the service logs in at both ends; how far they are from it nobody says: as far as from each other
        opening = Opening(OPENING_THIRD, START, LOG_IN, CONTROL) if job.remote else Opening()
        cut = self._piece_B
        return Plan(tuple(steps), use.concurrency, weight=streams, piece_B=cut, warnings=warnings, opening=opening)

    def _endpoint_notes(self, job: Job) -> Iterator[str]:
        """What an end is taken for, and what was asked for that the end points do not allow."""
        if self.personal is None and job.desk:
            yield "globus: the end with Windows or macOS is taken for Globus Connect Personal; else 'personal: false'"
        for name, most in zip(("concurrency", "parallelism"), self.limits(desk=job.desk), strict=True):
            stated = getattr(self, name)
            if stated is not None and stated > most:
                yield f"globus: {name} {stated} is cut to {most}, the end points' limit (max_{name})"

    def _transfer(self, job: Job, use: Tuning) -> Step:
        workers = use.concurrency
        sender, receiver = Thread("gridftp sender", workers), Thread("gridftp receiver", workers)
        cpu = both_ends(sender, receiver, self.overhead, "GridFTP event loop")
        if self.encrypt:
            cpu += both_ends(sender, receiver, self.cipher, "encryption of the data channel", TLS)
        net = NetUse(sender, receiver, streams=workers * use.parallelism)
        ahead = _ahead(use.pipelining, job, workers)
        files = replace(COPIED_WITH_TIMES, round_trips=THIRD_KEPT, ahead=ahead)
        return transfer(job, (sender, receiver), self.block, net, cpu, files, workers=workers)

    def _verification(self, job: Job, workers: int) -> Step:
        sender, receiver = Thread("checksum at source", workers), Thread("checksum at destination", workers)
        sums = both_ends(sender, receiver, self.checksum, "MD5 of the verification", MD5)
        kinds = {"source": job.source, "destination": job.destination}
        opened: dict[str, Any] = {end: ("open", "close") if kind == "volume" else () for end, kind in kinds.items()}
        again = partial(rereading, job, block=self.checksum_block, workers=workers, piece_B=self._piece_B)
        cpu, files = tuple(use for use in sums if opened[use.end]), FileCost(round_trips=1.0, **opened)
        return Step("verification", read=again(sender, end="source"), reread=again(receiver), cpu=cpu, files=files)
