"""ping of every family. Fixtures: iputils 20221126 over the loopback."""

from __future__ import annotations

import pytest


def test_iputils(log):
    found = log("ping/v4.txt")
    assert found.value("loss") == 0
    assert found.value("rtt", statistic=None) == pytest.approx(0.035e-3)
    assert found.value("rtt", statistic="stddev") == pytest.approx(0.004e-3)
    assert found.one("rtt", statistic="min").conditions["payload_B"] == 56
    assert log("ping/v6.txt").one("loss").conditions["target"] == "::1"
    assert log("ping/flood.txt").value("loss", packets=100) == 0


def test_all_lost_has_no_rtt(log):
    found = log("ping/lost.txt")
    assert found.value("loss") == 1
    assert not found.all("rtt")


def test_a_killed_run_gives_its_replies(log):
    found = log("ping/killed.txt")
    times = [0.038e-3, 0.022e-3, 0.039e-3, 0.028e-3, 0.036e-3]
    mean = found.one("rtt", statistic=None)
    assert mean.status == "partial"
    assert mean.conditions["count"] == 5
    assert found.value("rtt", statistic="max") == pytest.approx(max(times))


def test_unknown_host(log):
    assert log("ping/unknown.txt").one("failure").status == "failed"


FORMS = {
    "BSD": "3 packets transmitted, 3 packets received, 0.0% packet loss\n"
    "round-trip min/avg/max/stddev = 27.010/33.831/42.506/6.461 ms\n",
    "busybox": "4 packets transmitted, 4 packets received, 0% packet loss\n"
    "round-trip min/avg/max = 27.0/33.831/42.5 ms\n",
    "Solaris": "----h PING Statistics----\n5 packets transmitted, 5 packets received, 0% packet loss\n"
    "round-trip (ms)  min/avg/max/stddev = 27.0/33.831/42.5/0.05\n",
    "OpenBSD": "3 packets transmitted, 3 packets received, 0.0% packet loss\n"
    "round-trip min/avg/max/std-dev = 27.010/33.831/42.506/6.461 ms\n",
    "commas": "rtt min/avg/max/mdev = 27,010/33,831/42,506/6,461 ms\n"
    "3 packets transmitted, 3 received, 0% packet loss\n",
    "pipe": "3 packets transmitted, 3 received, 0% packet loss, time 2ms\n"
    "rtt min/avg/max/mdev = 27.0/33.831/42.5/3.3 ms, pipe 2\n",
    "fping": "h : xmt/rcv/%loss = 3/3/0%, min/avg/max = 9.32/33.831/95.5\n",
}


@pytest.mark.parametrize("name", FORMS)
def test_forms(log, name):
    found = log(FORMS[name])
    assert found.value("loss") == 0
    assert found.value("rtt", statistic=None) == pytest.approx(33.831e-3)


WINDOWS = """Pinging 1.1.1.1 with 32 bytes of data:
Reply from 1.1.1.1: bytes=32 time<1ms TTL=128

Ping statistics for 1.1.1.1:
    Packets: Sent = 4, Received = 3, Lost = 1 (25% loss),
Approximate round trip times in milli-seconds:
    Minimum = 14ms, Maximum = 22ms, Average = 18ms

Ping wird ausgeführt für www.heise.de [193.99.144.85] mit 32 Bytes Daten:
Antwort von 193.99.144.85: Bytes=32 Zeit=17ms TTL=248

Ping-Statistik für 193.99.144.85:
    Pakete: Gesendet = 4, Empfangen = 4, Verloren = 0
    (0% Verlust),
Ca. Zeitangaben in Millisek.:
    Minimum = 16ms, Maximum = 17ms, Mittelwert = 16ms

10.0.0.1 的 Ping 统计信息:
    数据包: 已发送 = 4，已接收 = 4，丢失 = 0 (0% 丢失)，
往返行程的估计时间(以毫秒为单位):
    最短 = 1ms，最长 = 3ms，平均 = 2ms
"""


def test_windows_in_three_languages(log):
    found = log(WINDOWS)
    assert found.value("loss", target="1.1.1.1") == 0.25
    means = {r.conditions["target"]: r.value for r in found.all("rtt", statistic=None)}
    assert means == pytest.approx({"1.1.1.1": 0.018, "www.heise.de": 0.016, "10.0.0.1": 0.002})
    assert found.value("rtt", target="www.heise.de", statistic="max") == pytest.approx(0.017)


def test_counts_that_are_nobodys(log):
    assert not log("Reads: done = 4, failed = 3, lost = 1 (25% of all)\n").found


def test_duplicates_and_errors(log):
    line = "5 packets transmitted, 6 received, +1 duplicates, +2 errors, 0% packet loss, time 4005ms\n"
    assert log(line).value("loss") == 0


def test_path_mtu_from_a_refused_packet(log):
    assert log("ping: local error: Message too long, mtu=1500\n").value("mtu") == 1500


def test_cisco(log):
    found = log("Success rate is 80 percent (4/5), round-trip min/avg/max = 1/2/4 ms\n")
    assert found.value("loss") == 0.2
    assert found.value("rtt", statistic=None) == 0.002
