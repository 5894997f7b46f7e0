"""OpenSSH's copies, and those of HPN-SSH.

- scp: one SSH connection; its channel window, one core a side, or the disks.
- sftp: requests in flight over one SSH channel.
- hpnscp and hpnsftp: OpenSSH with channel windows that follow TCP, larger requests and ciphers in threads.

`Session` is the SFTP protocol as OpenSSH's client speaks it: messages of a file, requests in flight, messages of a
session.
Source: github.com/openssh/openssh-portable 9.2p1 sftp-client.c (do_download, do_upload, upload_dir_internal,
    download_dir_internal, sftp_init and limits).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Final

from pydantic import Field

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import Quantity, prior
from dtnsim.tools._common import COPIED, in_flight, transfer
from dtnsim.tools._options import Size, documented, named, version_tuple
from dtnsim.tools._ssh import SshCopy, SshTool
from dtnsim.tools.plan import Job, Plan, Usage

#: sftp-client.h: DEFAULT_COPY_BUFLEN and DEFAULT_NUM_REQUESTS
BLOCK: Final = prior("32 KiB", 0.0, "openssh-portable sftp-client.h, DEFAULT_COPY_BUFLEN")
REQUESTS: Final = 64
#: messages of a file that wait. Put: OPEN, the last WRITE, CLOSE, and FSETSTAT of the length where scp writes in place;
#: get: OPEN, READ, the READ that finds the end, CLOSE (sizes and times came with the folder's list)
PUT: Final = 3.0
IN_PLACE: Final = 1.0
GET: Final = 4.0
#: messages of a session besides log-in: INIT, limits, REALPATH; put: STAT, REALPATH, MKDIR (and STAT where it fails),
#: SETSTAT of the folder; get: LSTAT and STAT of what is named, REALPATH, STAT, OPENDIR, two READDIR, CLOSE
SESSION: Final = 3.0
PUT_FOLDER: Final = 5.0
GET_FOLDER: Final = 8.0
#: a further folder: MKDIR and, after its files, SETSTAT (upload_dir_internal); or OPENDIR, READDIR, READDIR that finds
#: the end, CLOSE
PUT_FURTHER: Final = 2.0
GET_FURTHER: Final = 4.0
#: a file of more writes than one: the answer to the first is waited for before others are sent (do_upload: id ==
#: startid)
FIRST_WRITE: Final = 1.0


@dataclass(frozen=True, slots=True)
class Session:
    """One SFTP session over SSH.

    Attributes:
        ssh: The connection.
        put: True where the client sends.
        in_place: True where an existing file is written over and then cut to length (scp).
        requests: Requests in flight.
        block: Bytes of one.
    """

    ssh: SshTool
    put: bool
    in_place: bool = False
    requests: int = REQUESTS
    block: Quantity = BLOCK

    def round_trips(self, job: Job) -> float:
        """Messages of a mean file that wait."""
        return job.per_file(self.put_messages if self.put else self.get_messages)

    def put_messages(self, size_B: float) -> float:
        """Messages of a file of this size that wait, when it is sent."""
        more = FIRST_WRITE if size_B > self.block.value else 0.0
        return PUT + (IN_PLACE if self.in_place else 0.0) + more

    def get_messages(self, size_B: float) -> float:
        """Messages of a file of this size that wait, when it is fetched.

        Past the expected end there is one request at a time, so the READ that finds it comes after the data. Requests
        in flight begin at one and grow by one an answer, so they double each round trip.
        """
        blocks = min(math.ceil(size_B / self.block.value), self.requests)
        return GET + (math.ceil(math.log2(blocks + 1)) - 1 if blocks > 1 else 0.0)

    def in_flight(self) -> Quantity:
        """Bytes that may be under way: the smaller of the requests and the channel's window."""
        return in_flight(self.requests, self.block, "requests", self.ssh.window())

    def plan(self, job: Job, block: Quantity, limit: Quantity | None) -> Plan:
        """One connection, file after file."""
        source, sink = Thread(f"{self.ssh.kind} reader"), Thread(f"{self.ssh.kind} writer")
        sent = self.ssh.sent(job)
        files = replace(COPIED, round_trips=self.round_trips(job))
        flight = self.in_flight()
        net = self.ssh.network(channel=flight, rate=limit, stopped=True, grain=self.block, sent=sent)
        cpu = (*self.ssh.crypto(sent), *self.ssh.packing())
        step = transfer(job, (source, sink), block, net, cpu, files)
        folder = PUT_FOLDER if self.put else GET_FOLDER
        folder += (PUT_FURTHER if self.put else GET_FURTHER) * max(job.directories - 1, 0)
        return Plan((step,), opening=self.ssh.opening(SESSION + folder, "the session's first requests"))


#: the old protocol waits for the file's name and for its end (openssh scp.c, source() and sink())
SCP_ROUND_TRIPS: Final = 2.0
#: before and after the files of the old protocol: "ready", the folder's D and E lines
SCP_OPENING: Final = 3.0


class Scp(SshCopy):
    """``scp -c ... -l ... -r -O``: SFTP underneath since 9.0, the old protocol before or with ``O``.

    The file is read and written by a process of its own beside the SSH process.

    ``client`` says at which end it was typed: at the source it puts, at the destination it gets.

    Neglects: that the window adjusts three packets late.
    Source: openssh-portable scp.c, sftp-client.c, channels.h; release notes 4.7, 6.5 and 9.0.
    """

    kind: ClassVar[str] = "scp"
    usages = (
        Usage(
            "scp", "scp -r -c {cipher} SRC HOST:DST", lacks="no resume",
            tries={"cipher": ("chacha20-poly1305", "aes-gcm")},
        ),
    )  # fmt: skip

    r: Annotated[bool, documented("r", "recursive")] = False
    old_protocol: Annotated[bool, named("O", "old_protocol")] = False
    block: Size = prior("32 KiB", 0.3, "openssh-portable sftp-client.c DEFAULT_COPY_BUFLEN; scp.c COPY_BUFLEN 16 KiB")

    def plan(self, job: Job) -> Plan:
        """One connection, file after file."""
        if version_tuple(self.version) >= (9, 0) and not self.old_protocol:
            session = Session(self, self.client == "source", in_place=True)
            return session.plan(job, self.block, self.limit)
        source, sink = Thread("scp reader"), Thread("scp writer")
        net = self.network(rate=self.limit, stopped=True, sent=self.sent(job))
        cpu = (*self.crypto(self.sent(job)), *self.packing())
        step = transfer(job, (source, sink), self.block, net, cpu, replace(COPIED, round_trips=SCP_ROUND_TRIPS))
        return Plan((step,), opening=self.opening(SCP_OPENING, "scp's own protocol"))


class Sftp(SshCopy):
    """``sftp -R requests -B buffer``: the channel's window, or the requests in flight if they are less.

    ``client`` says at which end it was typed: at the source it puts, at the destination it gets.

    Neglects: requests of several files at once (there are none).
    Source: openssh-portable sftp-client.c: 64 requests of 32 KiB.
    """

    kind: ClassVar[str] = "sftp"
    usages = (
        Usage("sftp", "sftp -R {R} HOST  (then: put -r SRC DST)", tries={"R": (64, 256)}),
    )  # fmt: skip

    R: Annotated[int, named("R", "num_requests", ge=1, le=4096)] = REQUESTS
    B: Annotated[Size, named("B", "buffer_size")] = BLOCK
    r: Annotated[bool, documented("r", "recursive")] = False

    def plan(self, job: Job) -> Plan:
        """One connection, file after file."""
        return self._session().plan(job, self.B, self.limit)

    def _session(self) -> Session:
        return Session(self, self.client == "source", requests=self.R, block=self.B)

    def in_flight(self) -> Quantity:
        """Bytes that may be under way: the smaller of the requests and the channel's window."""
        return self._session().in_flight()


class Hpnscp(SshCopy):
    """``hpnscp -c cipher``, with HPN-SSH at both ends unless ``hpn: false`` (``-oHPNDisabled=yes``).

    1024 requests of 128 KiB may be in flight, so that neither they nor the channel hold what TCP allows. ``cipher:
    none`` is ``-oNoneEnabled=yes -oNoneSwitch=yes``. Without HPN the channel of 2 MiB holds it.

    Neglects: parallel streams and bundles of small files (version 18.10); resumed transfers.
    Source: github.com/rapier1/hpn-ssh HPN-README, sftp-client.c (DEFAULT_COPY_BUFLEN, DEFAULT_NUM_REQUESTS),
    channels.h.
    """

    kind: ClassVar[str] = "hpnscp"
    usages = (
        Usage("hpnscp", "hpnscp -r SRC HOST:DST", "HPN-SSH at both ends", lacks="no resume"),
    )  # fmt: skip

    hpn: Annotated[
        bool, Field(description="HPN-SSH at both ends; false: -oHPNDisabled=yes, or OpenSSH at the far end")
    ] = True
    r: Annotated[bool, documented("r", "recursive")] = False
    R: Annotated[int, named("R", "num_requests", ge=1, le=65536)] = 1024
    B: Annotated[Size, named("B", "buffer_size")] = prior(
        "128 KiB", 0.0, "hpn-ssh sftp-client.c: DEFAULT_COPY_BUFLEN 131072"
    )

    def plan(self, job: Job) -> Plan:
        """One connection, file after file."""
        session = Session(self, self.client == "source", in_place=True, requests=self.R, block=self.B)
        return session.plan(job, self.B, self.limit)
