"""NTttcp: memory to memory over many connections, a thread for each port or more."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import AliasChoices, Field

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import Quantity, Unit, prior
from dtnsim.tools._common import Count, Size
from dtnsim.tools.plan import Job, NetUse, Plan, Step, Timing, Tool

_HEADER = "github.com/microsoft/ntttcp-for-linux, default values of its header"


class Ntttcp(Tool):
    """``ntttcp -s HOST -P ports -n threads -l connections -b buffer -t seconds``; data flow from ``from`` to ``to``.

    ``P`` ports at the receiver, ``n`` threads of the sender for each, ``l`` connections of each thread.

    Neglects: warm-up and cool-down; several senders.
    Source: github.com/microsoft/ntttcp-for-linux: 16 ports, 4 threads, 1 connection, 128 KiB to send, 60 s.
    """

    kind: ClassVar[str] = "ntttcp"
    tool_class = "test"
    streams_option = "P"
    pace: ClassVar[str | None] = ""

    P: Annotated[int, Field(ge=1, le=512, validation_alias=AliasChoices("P", "ports"))] = 16
    n: Annotated[int, Field(ge=1, le=256, validation_alias=AliasChoices("n", "threads"))] = 4
    connections: Annotated[Count, Field(validation_alias=AliasChoices("l", "connections"))] = 1
    b: Annotated[Size, Field(validation_alias=AliasChoices("b", "buffer"))] = prior("128 KiB", 0.0, _HEADER)
    t: Annotated[Quantity, Unit("s", low=0.1), Field(validation_alias=AliasChoices("t", "seconds"))] = prior(
        "60 s", 0.0, _HEADER
    )

    def timing(self, *, sized: bool) -> Timing | None:
        """``-t`` seconds, or the bytes of a data set."""
        return self.timed(self.t, "t", sized=sized)

    def plan(self, job: Job) -> Plan:
        """Connections from memory to memory."""
        del job  # neither files nor volumes
        threads = self.P * self.n
        streams = threads * self.connections
        net = NetUse(Thread("ntttcp sender", threads), Thread("ntttcp receiver", streams), streams=streams, call=self.b)
        return Plan((Step("transfer", net=net),), weight=streams)
