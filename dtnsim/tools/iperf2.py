"""iperf (version 2): memory to memory, a thread for each stream."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import AliasChoices, Field

from dtnsim.components.access import Thread
from dtnsim.components.tuning import CongestionControl
from dtnsim.ground.quantity import Quantity, Unit, prior
from dtnsim.tools._common import Count, Rate, Size, scaled
from dtnsim.tools.plan import Job, NetUse, Plan, Step, Timing, Tool

_UDP_RATE = prior("1.05 Mb/s", 0.0, "iperf(1), version 2: default rate for UDP")


class Iperf2(Tool):
    """``iperf -c HOST -P -w -l -Z -t -u -b``; data flow from the transfer's ``from`` to its ``to``.

    Neglects: start-up of the test; isochronous traffic; tests in both directions at once (``-d``, ``--full-duplex``).
    Source: iperf2 man page (sourceforge.net/projects/iperf2): -P threads, -l 128K for TCP, -t 10 s.
    """

    kind: ClassVar[str] = "iperf2"
    tool_class = "test"
    streams_option = "P"
    pace: ClassVar[str | None] = "b"

    P: Annotated[Count, Field(validation_alias=AliasChoices("P", "parallel"))] = 1
    w: Annotated[Size | None, Field(validation_alias=AliasChoices("w", "window"))] = None
    length: Annotated[Size, Field(validation_alias=AliasChoices("l", "len", "length"))] = prior(
        "128 KiB", 0.0, "iperf(1), version 2: default length of a read or write over TCP"
    )
    Z: Annotated[CongestionControl | None, Field(validation_alias=AliasChoices("Z", "linux-congestion", "tcp-cc"))] = (
        None
    )
    u: Annotated[bool, Field(validation_alias=AliasChoices("u", "udp"))] = False
    b: Annotated[Rate | None, Field(validation_alias=AliasChoices("b", "bandwidth"))] = None
    t: Annotated[Quantity, Unit("s", low=0.1), Field(validation_alias=AliasChoices("t", "time"))] = prior(
        "10 s", 0.0, "iperf(1): default duration"
    )

    def timing(self, *, sized: bool) -> Timing | None:
        """``-t`` seconds; a data set is ``-n``, which ends it with its bytes."""
        return self.timed(self.t, "t", sized=sized)

    def plan(self, job: Job) -> Plan:
        """Streams from memory to memory."""
        del job  # neither files nor volumes
        rate = self.b or (_UDP_RATE if self.u else None)
        net = NetUse(
            Thread("iperf sender", self.P),
            Thread("iperf receiver", self.P),
            streams=self.P,
            transport="udp" if self.u else "tcp",
            window=self.w,
            cc=self.Z,
            rate=scaled(rate, self.P, f"for each of {self.P} streams") if rate is not None else None,
            call=None if self.u else self.length,
        )
        return Plan((Step("transfer", net=net),), weight=self.P)
