"""``ss -ti``: own captures of iproute2 6.1 during a download over the loopback; a line printed in sockmon's tests (one
line a connection), and one of a collector's tests (rates with prefixes)."""

from __future__ import annotations

import pytest

OWN = """\
State Recv-Q   Send-Q  Local Address:Port  Peer Address:Port Process
ESTAB 0        3798014     127.0.0.1:8766     127.0.0.1:44786
\t bbr wscale:10,10 rto:220 rtt:17.522/18.863 ato:40 mss:65483 pmtu:65535 rcvmss:536 advmss:65483 cwnd:44 ssthresh:8 \
bytes_sent:35912397 bytes_retrans:130966 bytes_acked:35781431 bytes_received:83 segs_out:621 segs_in:140 \
bbr:(bw:163707500000bps,mrtt:0.001,pacing_gain:1,cwnd_gain:2) send 1315490013bps lastsnd:124 lastrcv:976 lastack:124 \
pacing_rate 162070425000bps delivery_rate 101856784bps delivered:621 busy:960ms rwnd_limited:456ms(47.5%) retrans:0/2 \
dsack_dups:2 rcv_space:65483 rcv_ssthresh:65483 notsent:3798014 minrtt:0.001 snd_wnd:64512
ESTAB 10371216 0           127.0.0.1:44786    127.0.0.1:8766
\t bbr wscale:10,10 rto:204 rtt:0.026/0.011 ato:40 mss:32768 pmtu:65535 rcvmss:65483 advmss:65483 cwnd:11 \
bytes_sent:83 send 110907076923bps lastsnd:976 pacing_rate 287904345936bps delivery_rate 8456258064bps delivered:2 \
app_limited rcv_rtt:0.061 rcv_space:887916 minrtt:0.026 snd_wnd:65536
"""
SOCKMON = (
    "UNCONN  1        0            [2001:1::1]:52556     [2001:2::10]:9090   ino:0 sk:1dfcc ts sack wscale:7,7 rto:204 "
    "rtt:0.029/0.016 ato:40 mss:1364 pmtu:1436 rcvmss:536 advmss:1364 cwnd:10 bytes_sent:81 bytes_acked:83 "
    "bytes_received:191 segs_out:7 segs_in:5 data_segs_out:1 data_segs_in:2 send 3762758621bps lastsnd:4 "
    "pacing_rate 7525517240bps delivery_rate 682000000bps delivered:3 rcv_space:13640 rcv_ssthresh:64172 minrtt:0.008\n"
)
PREFIXED = """\
ESTAB 0 0 172.31.240.2:6001 172.31.240.5:43210
 cubic wscale:7,7 rto:204 rtt:0.024/0.012
 mss:1448 pmtu:1500 rcvmss:1448 advmss:1448 cwnd:10 bytes_sent:28 bytes_acked:28 bytes_received:249430080
 bytes_retrans:4096 retrans:0/3 segs_out:8119 send 4.826666667Gbps lastsnd:1902737 pacing_rate 9.31376884Gbps
 delivery_rate 3.861333328Gbps delivered:2 app_limited rcv_rtt:1 minrtt:0.003

"""


def test_two_connections(log):
    found = log(OWN)
    assert [r.value for r in found.all("rtt", statistic=None)] == [pytest.approx(17.522e-3), pytest.approx(0.026e-3)]
    assert found.value("rtt", statistic="min", source="127.0.0.1:8766") == pytest.approx(1e-6)
    assert [r.value * 8 for r in found.all("throughput")] == [101856784, 8456258064]
    assert found.value("bytes", of="cwnd", source="127.0.0.1:8766") == 44 * 65483
    assert found.value("retransmits") == 2
    assert {r.conditions["congestion"] for r in found.found} == {"bbr"}
    assert [r.conditions.get("app_limited") for r in found.all("throughput")] == [None, True]
    assert all(r.conditions["interval"] for r in found.found)


@pytest.mark.parametrize(("text", "send_bps"), [(OWN, 1315490013), (SOCKMON, 3762758621), (PREFIXED, 4.826666667e9)])
def test_rates_are_decimal_and_windows_in_segments(log, text, send_bps):
    """``send`` is the window over the round trip: that ties the units together."""
    found = log(text)
    window, rtt = found.all("bytes", of="cwnd")[0].value, found.all("rtt", statistic=None)[0].value
    assert window * 8 / rtt == pytest.approx(send_bps, rel=1e-4)


def test_one_line_a_connection(log):
    found = log(SOCKMON)
    assert found.value("throughput", of="delivery") * 8 == 682000000
    known = found.one("throughput").conditions
    assert (known["source"], known["target"], known["state"]) == ("[2001:1::1]:52556", "[2001:2::10]:9090", "unconn")
    assert (known["mss_B"], known["mtu_B"], known["acked_B"]) == (1364, 1436, 83)


def test_details_that_are_wrapped(log):
    found = log(PREFIXED)
    assert found.value("throughput") * 8 == pytest.approx(3.861333328e9)
    assert found.value("retransmits") == 3


def test_samples_in_time_are_counted(log):
    found = log(OWN + OWN + OWN)
    samples = [r.conditions["sample"] for r in found.all("rtt", statistic=None, source="127.0.0.1:8766")]
    assert samples == [1, 2, 3]
    assert {r.line for r in found.all("rtt", statistic=None)} == {2, 4, 7, 9, 12, 14}
