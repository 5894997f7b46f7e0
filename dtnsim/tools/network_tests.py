"""Tests of the network.

- netperf: memory to memory, one connection, sends of one size.
- NTttcp: memory to memory over many connections, a thread for each port or more.
- nuttcp and nuttscp: one process a side does network and file I/O in one thread.
- perftest (ib_write_bw, ib_read_bw, ib_send_bw): memory to memory over RDMA, InfiniBand or RoCE.
"""

from dataclasses import replace
from typing import Annotated, ClassVar, Final, Literal

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import prior
from dtnsim.tools._common import OPENED, MemoryTest, transfer
from dtnsim.tools._options import STREAMS, Count, Rate, Seconds, Size, documented, named
from dtnsim.tools.plan import Job, NetUse, Opening, Plan, Tool

#: what a send has where -m is not given: the socket's send buffer, 16 KiB before Linux tunes it (tcp_wmem[1])
_SEND = prior("16 KiB", 0.5, "netperf manual: -m defaults to the local socket's send buffer; tcp_wmem[1] 16384")


class Netperf(MemoryTest):
    """``netperf -t TCP_STREAM -l seconds -- -m send -M receive -s local -S remote``; data flow from ``from`` to ``to``.

    One process a side. ``TCP_SENDFILE`` sends without copying, ``TCP_MAERTS`` is a stream the other way round, whose
    client runs at ``to``; ``UDP_STREAM`` sends as fast as the sender's core and port can, and what arrives counts.

    Neglects: request/response tests; several streams (netperf has one); confidence intervals (``-i``, ``-I``).
    Source: github.com/HewlettPackard/netperf doc/netperf.man and doc/netperf.texi.
    """

    kind: ClassVar[str] = "netperf"
    time_option = "seconds"
    pace: ClassVar[str | None] = ""

    t: Annotated[Literal["TCP_STREAM", "TCP_MAERTS", "TCP_SENDFILE", "UDP_STREAM"], named("t", "testname")] = (
        "TCP_STREAM"
    )
    seconds: Annotated[Seconds, named("l", "seconds", "testlen")] = prior(
        "10 s", 0.0, "netperf(1): -l, default 10 seconds"
    )
    m: Annotated[Size, named("m", "send_size")] = _SEND
    s: Annotated[Size | None, named("s", "local_socket")] = None
    S: Annotated[Size | None, named("S", "remote_socket")] = None

    def net(self) -> NetUse:
        windows = [size for size in (self.s, self.S) if size is not None]
        window = min(windows, key=lambda size: size.value, default=None)
        net = NetUse(Thread("netperf sender"), Thread("netperf receiver"), window=window, call=self.m)
        return replace(net, transport="udp" if self.t == "UDP_STREAM" else "tcp", sendfile=self.t == "TCP_SENDFILE")

    def unlike(self) -> str:
        warning = "netperf -t TCP_MAERTS: data flow from 'from' to 'to' all the same; the client runs at 'to'"
        return warning if self.t == "TCP_MAERTS" else ""


_HEADER = "github.com/microsoft/ntttcp-for-linux, default values of its header"


class Ntttcp(MemoryTest):
    """``ntttcp -s HOST -P ports -n threads -l connections -b buffer -t seconds``; data flow from ``from`` to ``to``.

    ``P`` ports at the receiver, ``n`` threads of the sender for each, ``l`` connections of each thread.

    Neglects: warm-up and cool-down; several senders.
    Source: github.com/microsoft/ntttcp-for-linux: 16 ports, 4 threads, 1 connection, 128 KiB to send, 60 s.
    """

    kind: ClassVar[str] = "ntttcp"
    streams_option = "P"
    time_option = "t"
    pace: ClassVar[str | None] = ""

    P: Annotated[int, named("P", "ports", ge=1, le=512)] = 16
    n: Annotated[int, named("n", "threads", ge=1, le=256)] = 4
    connections: Annotated[Count, named("l", "connections")] = 1
    b: Annotated[Size, named("b", "buffer")] = prior("128 KiB", 0.0, _HEADER)
    t: Annotated[Seconds, named("t", "seconds")] = prior("60 s", 0.0, _HEADER)

    def net(self) -> NetUse:
        threads = self.P * self.n
        streams = threads * self.connections
        sender, receiver = Thread("ntttcp sender", threads), Thread("ntttcp receiver", streams)
        return NetUse(sender, receiver, streams=streams, call=self.b)


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
    tool_class = "network test"
    streams_option = "N"
    time_option = "T"
    pace: ClassVar[str | None] = "R"

    N: Annotated[Count, named("N", "streams"), STREAMS] = 1
    w: Annotated[Size | None, named("w", "window")] = None
    length: Annotated[Size, named("l", "length")] = prior("64 KiB", 0.0, "nuttcp(8): default buffer length for TCP")
    R: Annotated[Rate | None, named("R", "rate_limit")] = None
    T: Annotated[Seconds, named("T", "timeout")] = prior("10 s", 0.0, "nuttcp(8): default transmit timeout")

    def plan(self, job: Job) -> Plan:
        sender, receiver = Thread("nuttcp sender"), Thread("nuttcp receiver")
        net = NetUse(sender, receiver, streams=self.N, window=self.w, rate=self.R, call=self.length)
        # a file is one run: its start and its result cross the control connection
        files = replace(OPENED, round_trips=2.0 if job.destination == "volume" else 0.0)
        step = transfer(job, (sender, receiver), self.length, net, files=files)
        opening = Opening(_OPENING, None, "control connection and start of the data connection")
        return Plan((step,), weight=self.N, opening=opening)


_READS = 16  #: RDMA reads that an adapter keeps open for one queue pair (max_rd_atomic of mlx5)


class Perftest(MemoryTest):
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
    time_option = "seconds"

    verb: Literal["write", "read", "send"] = "write"
    size: Annotated[Size, named("s", "size")] = prior("64 KiB", 0.0, "perftest: -s, default 65536")
    qps: Annotated[Count, named("q", "qp", "qps")] = 1
    depth: Annotated[int, named("t", "tx-depth", "depth", ge=1, le=32768)] = 128
    o: Annotated[int, named("o", "outs", ge=1, le=128)] = _READS
    seconds: Annotated[Seconds, named("D", "duration", "seconds")] = prior(
        "10 s", 0.0, "perftest: -D in seconds; 10 where neither it nor a data set is given"
    )
    report_gbits: Annotated[bool, documented("report_gbits", "report-gbits", "R")] = False

    def net(self) -> NetUse:
        open_ = min(self.depth, self.o) if self.verb == "read" else self.depth
        window = self.size.worth(open_ * self.size.value, f"{open_} requests of {self.size}")
        client, server = Thread("perftest client"), Thread("perftest server")
        return NetUse(client, server, streams=self.qps, transport="rdma", window=window, call=self.size)
