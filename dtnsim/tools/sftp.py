"""sftp: requests in flight over one SSH channel."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import AliasChoices, Field

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import Quantity, prior
from dtnsim.tools._common import Size, device_work, reading, writing
from dtnsim.tools._ssh import SshTool
from dtnsim.tools.plan import FileCost, Job, Plan, Step
from dtnsim.tools.scp import SFTP_ROUND_TRIPS


class Sftp(SshTool):
    """``sftp -R requests -B buffer``: the channel's window, or the requests in flight if they are less.

    Neglects: the slow growth of the number of requests at the start of a download.
    Source: openssh-portable sftp-client.c: 64 requests of 32 KiB.
    """

    kind: ClassVar[str] = "sftp"

    R: Annotated[int, Field(ge=1, le=4096, validation_alias=AliasChoices("R", "num_requests"))] = 64
    B: Annotated[Size, Field(validation_alias=AliasChoices("B", "buffer_size"))] = prior(
        "32 KiB", 0.0, "openssh-portable sftp-client.h, DEFAULT_COPY_BUFLEN"
    )
    r: Annotated[bool, Field(validation_alias=AliasChoices("r", "recursive"))] = False

    def plan(self, job: Job) -> Plan:
        """One connection, file after file."""
        source, sink = Thread("sftp reader"), Thread("sftp writer")
        volume = job.destination == "volume"
        files = FileCost(
            round_trips=SFTP_ROUND_TRIPS,
            source=("stat", "open", "close") if job.source == "volume" else (),
            destination=("create", "close") if volume else (),
            directory=("mkdir",) if volume else (),
        )
        step = Step(
            "transfer",
            read=reading(job, source, self.B),
            net=self.network(channel=self.in_flight(), rate=self.limit),
            files=files,
            write=writing(job, sink, self.B),
            cpu=(*device_work(job, source), *self.crypto()),
        )
        return Plan((step,))

    def in_flight(self) -> Quantity:
        """Bytes that may be under way: the smaller of the requests and the channel's window."""
        requests = Quantity(
            self.R * self.B.value, "B", self.B.spread, f"{self.R} requests of {self.B}; {self.B.source}"
        )
        window = self.window()
        return requests if window is None or requests.value < window.value else window
