"""The SFTP protocol as OpenSSH's client speaks it: messages of a file, requests in flight, messages of a session.

Source: github.com/openssh/openssh-portable 9.2p1 sftp-client.c (do_download, do_upload, upload_dir_internal,
    download_dir_internal, sftp_init and limits).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import Quantity, prior
from dtnsim.tools._common import device_work, reading, writing
from dtnsim.tools._ssh import SshTool
from dtnsim.tools.plan import FileCost, Job, Plan, Step

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
        requests = Quantity(
            self.requests * self.block.value,
            "B",
            self.block.spread,
            f"{self.requests} requests of {self.block}; {self.block.source}",
        )
        window = self.ssh.window()
        return requests if window is None or requests.value < window.value else window

    def plan(self, job: Job, block: Quantity, limit: Quantity | None) -> Plan:
        """One connection, file after file."""
        source, sink = Thread(f"{self.ssh.kind} reader"), Thread(f"{self.ssh.kind} writer")
        sent = self.ssh.sent(job)
        files = FileCost(
            round_trips=self.round_trips(job),
            source=("stat", "open", "close"),
            destination=("create", "close"),
            directory=("mkdir",),
        )
        flight = self.in_flight()
        net = self.ssh.network(channel=flight, rate=limit, stopped=True, grain=self.block, sent=sent)
        step = Step(
            "transfer",
            read=reading(job, source, block),
            net=net,
            files=files,
            write=writing(job, sink, block),
            cpu=(*device_work(job, source), *self.ssh.crypto(sent), *self.ssh.packing()),
        )
        folder = PUT_FOLDER if self.put else GET_FOLDER
        folder += (PUT_FURTHER if self.put else GET_FURTHER) * max(job.directories - 1, 0)
        return Plan((step,), opening=self.ssh.opening(SESSION + folder, "the session's first requests"))
