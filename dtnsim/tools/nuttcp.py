"""nuttcp and nuttscp: one process a side does network and file I/O in one thread."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final

from pydantic import AliasChoices, Field

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import Quantity, Unit, prior
from dtnsim.tools._common import STREAMS, Count, Rate, Size, device_work, reading, writing
from dtnsim.tools.plan import FileCost, Job, NetUse, Opening, Plan, Step, Timing, Tool

#: control connection, version, parameters, data connection and go; after the data: both ends' figures and farewell
_OPENING: Final = 7.0


class Nuttcp(Tool):
    """``nuttcp -N streams -w window -l buffer -R rate -T seconds``; between files it is what nuttscp runs.

    From memory to memory it measures the network; with a file at an end the same thread reads or writes it,
    and that core's work adds up. Where it addresses each port of a NIC itself ("application bonding"), the NIC
    has ``bonding: application``. (``-n`` of nuttcp is a number of buffers, not of streams.)

    Neglects: start of the server process; ``-u``.
    Source: nuttcp(8); Bill Fink's C-system tests (NASA GSFC, 2010).
    """

    kind: ClassVar[str] = "nuttcp"
    tool_class = "test"
    streams_option = "N"
    pace: ClassVar[str | None] = "R"

    N: Annotated[Count, Field(validation_alias=AliasChoices("N", "streams")), STREAMS] = 1
    w: Annotated[Size | None, Field(validation_alias=AliasChoices("w", "window"))] = None
    length: Annotated[Size, Field(validation_alias=AliasChoices("l", "length"))] = prior(
        "64 KiB", 0.0, "nuttcp(8): default buffer length for TCP"
    )
    R: Annotated[Rate | None, Field(validation_alias=AliasChoices("R", "rate_limit"))] = None
    T: Annotated[Quantity, Unit("s", low=0.1), Field(validation_alias=AliasChoices("T", "timeout"))] = prior(
        "10 s", 0.0, "nuttcp(8): default transmit timeout"
    )

    def timing(self, *, sized: bool) -> Timing | None:
        """``-T`` seconds; a data set is ``-n`` buffers, or the files of nuttscp, and ends it with its bytes.

        Raises:
            SpecError: a time and a number of bytes.
        """
        return self.timed(self.T, "T", sized=sized)

    def plan(self, job: Job) -> Plan:
        """One thread a side."""
        sender, receiver = Thread("nuttcp sender"), Thread("nuttcp receiver")
        net = NetUse(sender, receiver, streams=self.N, window=self.w, rate=self.R, call=self.length)
        files = FileCost(
            # a file is one run: its start and its result cross the control connection
            round_trips=2.0 if job.destination == "volume" else 0.0,
            source=("open", "close"),
            destination=("create", "close"),
        )
        step = Step(
            "transfer",
            net=net,
            files=files,
            cpu=device_work(job, sender),
            read=reading(job, sender, self.length),
            write=writing(job, receiver, self.length),
        )
        opening = Opening(_OPENING, None, "control connection and start of the data connection")
        return Plan((step,), weight=self.N, opening=opening)
