"""iperf of two lines of versions.

- iperf (version 2): memory to memory, a thread for each stream.
- iperf3: memory to memory over TCP or UDP.
"""

from dataclasses import replace
from typing import Annotated, ClassVar

from dtnsim.components.access import Thread
from dtnsim.components.tuning import CongestionControl
from dtnsim.ground.quantity import Mixture, Quantity, Unit, prior
from dtnsim.ground.uncertainty import Otherwise, Since
from dtnsim.tools._common import MemoryTest, scaled
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
from dtnsim.tools.plan import NetUse

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
