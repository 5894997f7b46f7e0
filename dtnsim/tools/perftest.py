"""perftest (ib_write_bw, ib_read_bw, ib_send_bw): memory to memory over RDMA, InfiniBand or RoCE."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import AliasChoices, Field

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import Quantity, Unit, prior
from dtnsim.tools._common import READER, Count, Size
from dtnsim.tools.plan import Job, NetUse, Plan, Step, Timing, Tool

#: RDMA reads that an adapter keeps open for one queue pair (max_rd_atomic of mlx5)
_READS = 16


class Perftest(Tool):
    """``ib_write_bw -s size -q qps -t depth -D seconds``; ``verb`` says which of the three.

    ``-n`` messages instead of a time are the path's data set. A read has at most ``o`` requests open
    for each queue pair. Where hosts have Ethernet too, the path names the cards: ``transfer: {nics: {a: ib, b: ib}}``.

    Neglects: bidirectional tests; inlined messages; memory registration before the test.
    Source: github.com/linux-rdma/perftest README and man pages (tx-depth 128, size 65536, outs 16).

    Attributes:
        verb: What is done: write, read or send.
        size: Bytes of a message.
        qps: Queue pairs.
        depth: Work requests that a queue pair has in flight.
        o: Reads that a queue pair has open.
        seconds: How long it lasts.
        report_gbits: Prints Gb/s.
    """

    kind: ClassVar[str] = "perftest"
    tool_class = "test"

    verb: Literal["write", "read", "send"] = "write"
    size: Annotated[Size, Field(validation_alias=AliasChoices("s", "size"))] = prior(
        "64 KiB", 0.0, "perftest: -s, default 65536"
    )
    qps: Annotated[Count, Field(validation_alias=AliasChoices("q", "qp", "qps"))] = 1
    depth: Annotated[int, Field(ge=1, le=32768, validation_alias=AliasChoices("t", "tx-depth", "depth"))] = 128
    o: Annotated[int, Field(ge=1, le=128, validation_alias=AliasChoices("o", "outs"))] = _READS
    seconds: Annotated[
        Quantity, Unit("s", low=0.1), Field(validation_alias=AliasChoices("D", "duration", "seconds"))
    ] = prior("10 s", 0.0, "perftest: -D in seconds; 10 where neither it nor a data set is given")
    report_gbits: Annotated[
        bool, Field(json_schema_extra=READER, validation_alias=AliasChoices("report_gbits", "report-gbits", "R"))
    ] = False

    def timing(self, *, sized: bool) -> Timing | None:
        """``-D`` seconds, or the data set."""
        return None if sized else Timing(self.seconds.value)

    def plan(self, job: Job) -> Plan:
        """Messages from memory to memory."""
        del job  # neither files nor volumes
        open_ = min(self.depth, self.o) if self.verb == "read" else self.depth
        net = NetUse(
            Thread("perftest client"),
            Thread("perftest server"),
            streams=self.qps,
            transport="rdma",
            window=self.size.worth(open_ * self.size.value, f"{open_} requests of {self.size}"),
            call=self.size,
        )
        return Plan((Step("transfer", net=net),))
