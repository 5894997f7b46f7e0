"""traceroute, tracepath and mtr. Fixtures: runs over the loopback, and routes of the public documents."""

from __future__ import annotations

import pytest


def test_several_routes_with_wrapped_lines(log):
    found = log("traceroute/uci.txt")
    boston = found.one("hops", target="ozone.broadinstitute.org")
    assert boston.value == 11
    assert boston.status == "partial"  # hop 12 never answered
    assert boston.conditions["host"] == "compute-1-13"
    assert found.value("rtt", hop=11, probe=1, target="ozone.broadinstitute.org") == pytest.approx(89.376e-3)
    ucla = found.one("rtt", statistic="min", reached=True)
    assert ucla.value == pytest.approx(10.186e-3)
    assert ucla.conditions["annotation"] == "!X"
    assert found.value("hops", reached=True) == 7
    assert not found.unread


def test_several_hosts_at_the_last_hop(log):
    text = """traceroute to 8.8.8.8 (8.8.8.8), 64 hops max, 40 byte packets
 1  gw (192.168.1.254)  3.263 ms  4.146 ms  4.273 ms
 2  dns.google (8.8.8.8)  23.228 ms
    209.85.252.251 (209.85.252.251)  24.548 ms *
"""
    found = log(text)
    assert found.value("rtt", reached=True, statistic=None) == pytest.approx(23.228e-3)
    assert found.value("rtt", hop=2, probe=2) == pytest.approx(24.548e-3)


FORMS = {
    "busybox": "traceroute to 8.8.8.8 (8.8.8.8), 30 hops max, 38 byte packets\n"
    " 1  10.0.0.1  0.512ms  0.398ms  0.301ms\n"
    " 2  8.8.8.8  10.5 ms  10.5 ms  10.5 ms\n",
    "autonomous systems": "traceroute to h (8.8.8.8), 30 hops max, 60 byte packets\n"
    " 1  gw (10.0.0.1) [*]  0.345 ms  0.300 ms  0.290 ms\n 2  h (8.8.8.8) [AS15169]  10.5 ms  10.5 ms *\n",
    "Windows": "Tracing route to dns.google [8.8.8.8]\nover a maximum of 30 hops:\n\n"
    "  1    <1 ms    <1 ms    <1 ms  router.local [192.168.1.1]\n  2     *        *        *     Request timed out.\n"
    "  3    10.5 ms   10.5 ms    10.5 ms  8.8.8.8\n\nTrace complete.\n",
    "commas": "traceroute to 8.8.8.8 (8.8.8.8), 30 hops max\n 1  8.8.8.8  10,5 ms  10,5 ms  10,5 ms\n",
}


@pytest.mark.parametrize("name", FORMS)
def test_forms(log, name):
    assert log(FORMS[name]).value("rtt", reached=True, statistic=None) == pytest.approx(10.5e-3)


def test_nobody_answers(log):
    found = log("traceroute to h (10.0.0.9), 30 hops max, 60 byte packets\n 1  * * *\n 2  * * *\n")
    assert not found.found
    assert "no hop answered" in found.unread[0].why
    assert log("traceroute/unknown.txt").one("failure").status == "failed"


def test_tracepath(log):
    found = log("tracepath/venadi.txt")
    assert found.value("rtt", reached=True, target="dtn03.nersc.gov") == pytest.approx(3.021e-3)
    assert [r.value for r in found.all("mtu")] == [9000, 9000]
    assert {r.value for r in found.all("hops")} == {6}
    assert len(found.all("rtt", reached=True, interval=None)) == 2
    local = log("tracepath/v6.txt")
    assert local.value("mtu") == 65536
    assert local.value("hops") == 1


def test_tracepath_that_does_not_arrive(log):
    text = """ 1?: [LOCALHOST]                                         pmtu 9000
 1:  gw                                                    0.297ms asymm  2
 2:  core                                                  1.498ms pmtu 1500
 3:  no reply
     Too many hops: pmtu 1500
     Resume: pmtu 1500
"""
    found = log(text)
    assert not found.all("rtt", interval=None)
    assert found.value("mtu", reached=False) == 1500
    assert found.one("rtt", hop=1).conditions["hops_back"] == 2
    assert found.unread


@pytest.mark.parametrize("name", ["report.txt", "wide.txt", "order.txt", "report.json", "report.xml", "csv.txt"])
def test_mtr_forms(log, name):
    found = log(f"mtr/{name}")
    assert found.value("loss", hop=1) == 0
    assert found.one("rtt", hop=1, statistic=None).value < 1e-3


def test_mtr_columns_are_those_of_the_head(log):
    found = log("mtr/order.txt")
    assert found.value("jitter") == 0
    assert found.value("rtt", statistic="max") == pytest.approx(1e-4)


MTR = """HOST: dtn01                       Loss%   Snt   Last   Avg  Best  Wrst StDev
  1.|-- 10.0.0.1                   0.0%    10    0.3   0.4   0.3   0.6   0.0
  2.|-- ???                       100.0    10    0.0   0.0   0.0   0.0   0.0
  3.|-- a.es.net                   0.0%    10   10.1  10.2  10.0  11.0   0.3
    |  `|-- 134.55.1.2
  4.|-- dtn02.es.net              10.0%    10   62.1  62.2  62.0  63.0   0.3
"""


def test_mtr_silent_hop_has_no_rtt(log):
    found = log(MTR)
    assert found.value("loss", hop=2) == 1
    assert not found.all("rtt", hop=2)
    assert found.value("rtt", last=True, statistic=None) == pytest.approx(62.2e-3)
    assert found.value("loss", last=True) == pytest.approx(0.1)
    assert found.value("hops") == 4


def test_mtr_screen_counts_once(log):
    head = " Host                                Loss%   Snt   Last   Avg  Best  Wrst StDev\n"
    screens = "".join(head + f" 1. gateway      0.0%     {n}    0.3   0.{n}   0.3   0.6   0.0\n" for n in (4, 5))
    assert log(screens).value("rtt", statistic=None) == pytest.approx(0.5e-3)
