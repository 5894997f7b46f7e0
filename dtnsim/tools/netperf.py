"""netperf: memory to memory, one connection, sends of one size."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import AliasChoices, Field

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import Quantity, Unit, prior
from dtnsim.tools._common import Size
from dtnsim.tools.plan import Job, NetUse, Plan, Step, Timing, Tool

#: what a send has where -m is not given: the socket's send buffer, 16 KiB before Linux tunes it (tcp_wmem[1])
_SEND = prior("16 KiB", 0.5, "netperf manual: -m defaults to the local socket's send buffer; tcp_wmem[1] 16384")


class Netperf(Tool):
    """``netperf -t TCP_STREAM -l seconds -- -m send -M receive -s local -S remote``; data flow from ``from`` to ``to``.

    One process a side. ``TCP_SENDFILE`` sends without copying, ``TCP_MAERTS`` is a stream the other way round, whose
    client runs at ``to``; ``UDP_STREAM`` sends as fast as the sender's core and port can, and what arrives counts.

    Neglects: request/response tests; several streams (netperf has one); confidence intervals (``-i``, ``-I``).
    Source: github.com/HewlettPackard/netperf doc/netperf.man and doc/netperf.texi.
    """

    kind: ClassVar[str] = "netperf"
    tool_class = "test"
    pace: ClassVar[str | None] = ""

    t: Annotated[
        Literal["TCP_STREAM", "TCP_MAERTS", "TCP_SENDFILE", "UDP_STREAM"],
        Field(validation_alias=AliasChoices("t", "testname")),
    ] = "TCP_STREAM"
    seconds: Annotated[
        Quantity, Unit("s", low=0.1), Field(validation_alias=AliasChoices("l", "seconds", "testlen"))
    ] = prior("10 s", 0.0, "netperf(1): -l, default 10 seconds")
    m: Annotated[Size, Field(validation_alias=AliasChoices("m", "send_size"))] = _SEND
    s: Annotated[Size | None, Field(validation_alias=AliasChoices("s", "local_socket"))] = None
    S: Annotated[Size | None, Field(validation_alias=AliasChoices("S", "remote_socket"))] = None

    def timing(self, *, sized: bool) -> Timing | None:
        """``-l`` seconds; a data set is ``-l`` with a negative number, which ends it with its bytes.

        Raises:
            SpecError: a time and a number of bytes.
        """
        return self.timed(self.seconds, "seconds", sized=sized)

    def plan(self, job: Job) -> Plan:
        """One stream from memory to memory."""
        del job  # neither files nor volumes
        asked = [size for size in (self.s, self.S) if size is not None]
        net = NetUse(
            Thread("netperf sender"),
            Thread("netperf receiver"),
            transport="udp" if self.t == "UDP_STREAM" else "tcp",
            window=min(asked, key=lambda size: size.value) if asked else None,
            sendfile=self.t == "TCP_SENDFILE",
            call=self.m,
        )
        said = "netperf -t TCP_MAERTS: data flow from 'from' to 'to' all the same; the client runs at 'to'"
        return Plan((Step("transfer", net=net),), warnings=(said,) if self.t == "TCP_MAERTS" else ())
