"""nstat.

Counters printed in reports and notes on GitHub (a run of 52 segments sent again, a server, a lossy upload), and an
example of ``-j``.
"""

from __future__ import annotations

import pytest

SMALL = """\
#kernel
TcpOutSegs                      145                0.0
TcpRetransSegs                  52                 0.0
Ip6InReceives                   103                0.0
Ip6InDelivers                   103                0.0
Ip6InOctets                     11176              0.0
Ip6OutOctets                    254280             0.0
TcpExtTCPSackRecovery           9                  0.0
TcpExtTCPLostRetransmit         10                 0.0
TcpExtTCPTimeouts               4                  0.0
"""
UPLOAD = """\
$ nstat -a
    TcpEstabResets                  10                 0.0
    TcpInSegs                       33836              0.0
    TcpOutSegs                      214072             0.0
    TcpRetransSegs                  3876               0.0
    TcpExtTCPSackRecovery           607                0.0
    TcpExtTCPLossProbes             38                 0.0
"""
SERVER = """\
TcpExtTCPHPHits                 11365261           0.0
TcpExtTCPSackRecovery           56                 0.0
TcpExtTCPLostRetransmit         40465              0.0
"""
JSON = (
    'nstat -j\n{"kernel":{"IpInReceives":329,"IpInDelivers":329,"IpOutRequests":333,"IcmpInMsgs":59,'
    '"TcpActiveOpens":40,"TcpInSegs":265,"TcpOutSegs":272,"UdpInDatagrams":4,"TcpExtTW":1}}\n'
)


@pytest.mark.parametrize(("text", "again", "sent"), [(SMALL, 52, 145), (UPLOAD, 3876, 214072)])
def test_segments_sent_again(log, text, again, sent):
    found = log(text).one("retransmits")
    assert (found.value, found.conditions["segments"]) == (again, sent)


@pytest.mark.parametrize(
    ("text", "name", "count", "counters"),
    [
        (SMALL, "Ip6OutOctets", 254280, 9),
        (UPLOAD, "TcpExtTCPSackRecovery", 607, 6),
        (SERVER, "TcpExtTCPHPHits", 11365261, 3),
        (JSON, "TcpOutSegs", 272, 9),
    ],
)
def test_counters(log, text, name, count, counters):
    found = log(text)
    assert found.value("count", of=name) == count
    assert len(found.found) == counters
    assert not found.unread


def test_since(log):
    assert log(UPLOAD).one("retransmits").conditions["since"] == "boot"
    assert log("$ nstat\n" + SMALL).one("retransmits").conditions["since"] == "previous nstat"
    assert "since" not in log(SMALL).one("retransmits").conditions


def test_a_daemon_adds_rates(log):
    found = log(SMALL.replace("52                 0.0", "52                 5.2"))
    assert found.value("rate", of="TcpRetransSegs") == 5.2


def test_names_in_a_text_are_no_counters(log):
    assert not log("TcpRetransSegs is the number of segments 100 0.5 that\nTcpRetransSegs     float64\n").found
