"""hpnscp and hpnsftp: OpenSSH with channel windows that follow TCP, larger requests and ciphers in threads."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import AliasChoices, Field

from dtnsim.ground.quantity import prior
from dtnsim.tools._common import READER, Size
from dtnsim.tools._sftp import Session
from dtnsim.tools._ssh import SshCopy
from dtnsim.tools.plan import Job, Plan, Usage


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
    r: Annotated[bool, Field(json_schema_extra=READER, validation_alias=AliasChoices("r", "recursive"))] = False
    R: Annotated[int, Field(ge=1, le=65536, validation_alias=AliasChoices("R", "num_requests"))] = 1024
    B: Annotated[Size, Field(validation_alias=AliasChoices("B", "buffer_size"))] = prior(
        "128 KiB", 0.0, "hpn-ssh sftp-client.c: DEFAULT_COPY_BUFLEN 131072"
    )

    def plan(self, job: Job) -> Plan:
        """One connection, file after file."""
        session = Session(self, self.client == "source", in_place=True, requests=self.R, block=self.B)
        return session.plan(job, self.B, self.limit)
