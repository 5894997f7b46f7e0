"""Tests of the network.

- iperf (version 2): memory to memory, a thread for each stream.
- iperf3: memory to memory over TCP or UDP.
- netperf: memory to memory, one connection, sends of one size.
- NTttcp: memory to memory over many connections, a thread for each port or more.
- nuttcp and nuttscp: one process a side does network and file I/O in one thread.
- perftest (ib_write_bw, ib_read_bw, ib_send_bw): memory to memory over RDMA, InfiniBand or RoCE.
"""

from dataclasses import replace
from typing import Annotated, ClassVar, Final, Literal

from dtnsim.components.access import Thread
from dtnsim.components.tuning import CongestionControl
from dtnsim.ground.quantity import Mixture, Quantity, Unit, prior
from dtnsim.ground.uncertainty import Otherwise, Since
from dtnsim.tools._common import OPENED, MemoryTest, scaled, transfer
from dtnsim.tools._options import (
    STREAMS,
    Count,
    Rate,
    Seconds,
    Size,
    Version,
    by_release,
    documented,
    named,
    version_tuple,
)
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


_UDP_RATE = prior("1.05 Mb/s", 0.0, "iperf(1), version 2: default rate for UDP")


def _of_all(rate: Quantity | None, streams: int) -> Quantity | None:
    """Rate of all streams together, from an option that gives the rate of each."""
    return None if rate is None else scaled(rate, streams, f"for each of {streams} streams")


class Iperf2(MemoryTest):
    """``iperf -c HOST -P -w -l -Z -t -u -b``; data flow from the transfer's ``from`` to its ``to``.

    Neglects: start-up of the test; isochronous traffic; tests in both directions at once (``-d``, ``--full-duplex``).
    Source: iperf2 man page (sourceforge.net/projects/iperf2): -P threads, -l 128K for TCP, -t 10 s.
    """

    kind: ClassVar[str] = "iperf2"
    streams_option = "P"
    time_option = "t"
    pace: ClassVar[str | None] = "b"

    P: Annotated[Count, named("P", "parallel")] = 1
    w: Annotated[Size | None, named("w", "window")] = None
    length: Annotated[Size, named("l", "len", "length")] = prior(
        "128 KiB", 0.0, "iperf(1), version 2: default length of a read or write over TCP"
    )
    Z: Annotated[CongestionControl | None, named("Z", "linux-congestion", "tcp-cc")] = None
    u: Annotated[bool, named("u", "udp")] = False
    b: Annotated[Rate | None, named("b", "bandwidth")] = None
    t: Annotated[Seconds, named("t", "time")] = prior("10 s", 0.0, "iperf(1): default duration")

    def net(self) -> NetUse:
        sender, receiver = Thread("iperf sender", self.P), Thread("iperf receiver", self.P)
        net = NetUse(sender, receiver, streams=self.P, window=self.w, cc=self.Z, rate=_of_all(self.b, self.P))
        if not self.u:
            return replace(net, call=self.length)
        return replace(net, transport="udp", rate=_of_all(self.b or _UDP_RATE, self.P))


_THREADED = (3, 16)  #: release that gave every stream its own thread (iperf3 release notes, December 2023)
#: what ``-u`` sends without ``-b`` (iperf3(1))
_IPERF3_UDP_RATE = prior("1 Mb/s", 0.0, "iperf3(1): default bit rate for UDP")

#: size of a TCP buffer without ``-l``; a datagram fills a packet then (iperf3(1): from the control connection's MSS)
_LENGTH = prior("128 KiB", 0.0, "iperf3(1): default length of a TCP buffer")


class Iperf3(MemoryTest):
    """``iperf3 -P -w -l -C -t -O -Z --skip-rx-copy ...``; data flow from the transfer's ``from`` to its ``to``.

    Until release 3.15 one thread serves all streams of a side; since 3.16 each stream has its own.

    Neglects: start-up of the test; report messages on the control connection.
    Source: iperf3(1); esnet/iperf release notes 3.16.
    """

    kind: ClassVar[str] = "iperf3"
    streams_option = "P"
    time_option, omit_option = "t", "omit"
    pace: ClassVar[str | None] = "b"

    P: Annotated[Count, named("P", "parallel"), STREAMS] = 1
    w: Annotated[Size | None, named("w", "window")] = None
    C: Annotated[CongestionControl | None, named("C", "congestion")] = None
    R: Annotated[bool, documented("R", "reverse")] = False
    Z: Annotated[bool, named("Z", "zerocopy")] = False
    u: Annotated[bool, named("u", "udp")] = False
    b: Annotated[Rate | None, named("b", "bitrate")] = None
    fq_rate: Annotated[Rate | None, named("fq_rate", "fq-rate")] = None
    t: Annotated[Seconds, named("t", "time")] = prior("10 s", 0.0, "iperf3(1): default duration")
    length: Annotated[Size | None, named("l", "length")] = None
    skip_rx_copy: Annotated[bool, named("skip_rx_copy", "skip-rx-copy")] = False
    omit: Annotated[Quantity | None, Unit("s"), named("O", "omit")] = None
    version: Annotated[
        Version,
        Otherwise("3.9", "Ubuntu 22.04, RHEL 9: one thread for all streams before 3.16 (release notes, 2023)"),
        # as Red Hat Enterprise Linux 7 to 9 had it, and in its first year
        Since(((2014, "3.0"), (2016, "3.1"), (2019, "3.5"), (2022, "3.9"), (2024, None))),
    ] = "3.17"

    def net(self) -> NetUse:
        """One thread a side, or one a stream; drawn where nobody states the release."""
        number = by_release(self, "iperf3", self._threads)
        drawn = number if isinstance(number, Mixture) else None
        sender, receiver = (Thread(f"iperf3 {end}", int(number.value), drawn=drawn) for end in ("sender", "receiver"))
        net = NetUse(sender, receiver, streams=self.P, window=self.w, cc=self.C, pacing=self.fq_rate, sendfile=self.Z)
        if self.u:
            return replace(net, transport="udp", rate=_of_all(self.b or _IPERF3_UDP_RATE, self.P), call=self.length)
        net = replace(net, rate=_of_all(self.b, self.P), call=self.length or _LENGTH)
        return replace(net, discard=self.skip_rx_copy, polls=True)

    def _threads(self, release: str) -> Quantity:
        """Threads of one side in a release."""
        alone = version_tuple(release) < _THREADED
        return Quantity(1.0 if alone else float(self.P), "1", 0.0, "iperf3 release notes: a thread a stream since 3.16")

    def unlike(self) -> str:
        warning = "iperf3 -R: data flow from 'from' to 'to' all the same; R says that the client runs at 'to'"
        return warning if self.R else ""
