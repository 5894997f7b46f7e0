"""netperf.

Tables printed in a report on babel (TCP), patches and mails of Linux (xilinx axienet: wrapped heads; TCP_RR; UDP over
the loopback), notes on Xen (UDP that loses) and a course (UDP, 2.7). The table with the processors' columns has
netperf's layout with figures of ours.
"""

from __future__ import annotations

import pytest

TCP = """\
root@apu2:/sys# netperf -H 172.26.19.1
MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 172.26.19.1 () port 0 AF_INET : demo
Recv   Send    Send
Socket Socket  Message  Elapsed
Size   Size    Size     Time     Throughput
bytes  bytes   bytes    secs.    10^6bits/sec

 87380  16384  16384    10.05       7.87
root@apu2:/sys# netperf -H 172.26.18.1
"""
WRAPPED = """\
> MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET
> to 192.168.10.20 () port 0 AF_INET
> Recv   Send    Send
> Socket Socket  Message  Elapsed
> Size   Size    Size     Time     Throughput
> bytes  bytes   bytes    secs.    10^6bits/sec
>
> 131072  16384  16384    10.03     915.55
"""
UDP_HEAD = """\
Socket  Message  Elapsed      Messages
Size    Size     Time         Okay Errors   Throughput
bytes   bytes    secs            #      #   10^6bits/sec

"""
XEN = (
    "MIGRATED UDP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 192.168.2.2 (192.168.2.2) port 0 AF_INET\n"
    + UDP_HEAD
    + "212992   65507   10.00       82309      0    4313.33\n212992           10.00       80732           4230.69\n"
)
LOOPBACK = (
    "MIGRATED UDP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to\nlocalhost () port 0 AF_INET\n"
    + UDP_HEAD
    + "212992   16384   3.00       654644      0    28601.04\n212992           3.00       654592           28598.77\n"
)
COURSE = (
    "MIGRATED UDP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 172.0.5.7 () port 0 AF_INET\n"
    + UDP_HEAD
    + "212992   65507   10.00       18212      0     954.33\n212992           10.00       18212            954.33\n"
)
RR = """\
MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 192.168.0.194 () port 0 AF_INET
Local /Remote
Socket Size   Request  Resp.   Elapsed  Trans.
Send   Recv   Size     Size    Time     Rate
bytes  Bytes  bytes    bytes   secs.    per sec

16384  131072 1        1       10.00    2504.92
16384  131072
"""
CPU = """\
MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to localhost () port 0 AF_INET
Recv   Send    Send                          Utilization       Service Demand
Socket Socket  Message  Elapsed              Send     Recv     Send    Recv
Size   Size    Size     Time     Throughput  local    remote   local   remote
bytes  bytes   bytes    secs.    10^6bits/s  % S      % S      us/KB   us/KB

 87380  16384  16384    10.00      38910.51  12.50    12.50    0.211   0.211
"""


@pytest.mark.parametrize(
    ("text", "rate", "target", "seconds"),
    [
        (TCP, 7.87e6, "172.26.19.1", 10.05),
        (WRAPPED, 915.55e6, "192.168.10.20", 10.03),
        (CPU, 38910.51e6, "localhost", 10),
    ],
)
def test_tcp(log, text, rate, target, seconds):
    found = log(text).one("throughput")
    assert found.value * 8 == pytest.approx(rate)
    known = found.conditions
    assert (known["target"], known["duration_s"], known["direction"]) == (target, seconds, "send")
    assert known["block_B"] == 16384


@pytest.mark.parametrize(
    ("text", "sent", "got", "size", "seconds"),
    [(XEN, 82309, 80732, 65507, 10.0), (LOOPBACK, 654644, 654592, 16384, 3.0), (COURSE, 18212, 18212, 65507, 10.0)],
)
def test_udp_rates_are_messages_times_size(log, text, sent, got, size, seconds):
    found = log(text)
    assert found.value("throughput", role="sender") == pytest.approx(sent * size / seconds, rel=1e-3)
    assert found.value("throughput", role="receiver") == pytest.approx(got * size / seconds, rel=1e-3)
    assert found.value("loss") == pytest.approx(1 - got / sent)
    assert not found.unread


def test_units_of_the_head(log):
    assert log(TCP.replace("10^6bits/sec", "10^9bits/s")).value("throughput") == 7.87e9 / 8
    assert log(TCP.replace("10^6bits/sec", "MBytes/sec")).value("throughput") == 7.87 * 2**20


def test_transactions(log):
    found = log(RR).one("rate")
    assert found.value == 2504.92
    assert (found.conditions["request_B"], found.conditions["target"]) == (1, "192.168.0.194")
    assert not log(RR).all("throughput")


def test_directions_and_hosts(log):
    assert log(TCP.replace("STREAM", "MAERTS")).one("throughput").conditions["direction"] == "receive"
    assert log(TCP).one("throughput").conditions["host"] == "apu2"
    assert [r.line for r in log(COURSE + XEN).all("throughput")] == [6, 7, 13, 14]
