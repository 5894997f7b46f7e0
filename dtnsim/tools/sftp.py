"""sftp: requests in flight over one SSH channel."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import AliasChoices, Field

from dtnsim.ground.quantity import Quantity
from dtnsim.tools._common import READER, Size
from dtnsim.tools._sftp import BLOCK, REQUESTS, Session
from dtnsim.tools._ssh import SshCopy
from dtnsim.tools.plan import Job, Plan, Usage


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

    R: Annotated[int, Field(ge=1, le=4096, validation_alias=AliasChoices("R", "num_requests"))] = REQUESTS
    B: Annotated[Size, Field(validation_alias=AliasChoices("B", "buffer_size"))] = BLOCK
    r: Annotated[bool, Field(json_schema_extra=READER, validation_alias=AliasChoices("r", "recursive"))] = False

    def plan(self, job: Job) -> Plan:
        """One connection, file after file."""
        return self._session().plan(job, self.B, self.limit)

    def _session(self) -> Session:
        return Session(self, self.client == "source", requests=self.R, block=self.B)

    def in_flight(self) -> Quantity:
        """Bytes that may be under way: the smaller of the requests and the channel's window."""
        return self._session().in_flight()
