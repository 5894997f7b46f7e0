"""wdt, fdt, ifstat and pScheduler. Fixtures: ifstat 1.1 beside a paced iperf3, and the UCI document."""

from __future__ import annotations

import json

import pytest

KIB, MIB = 2.0**10, 2.0**20

WDT = (
    "I0720 21:48:08.446014 3245296 Sender.cpp:314] Total sender time = 2.5 seconds (0.5 dirTime). Transfer summary : "
    "Transfer status = {status}. Number of files transferred = 7. Total bytes = 262144000. "
    "Wasted bytes due to failure = 0\n"
    "Total sender throughput = {rate} Mbytes/sec (125 Mbytes/sec pure transf rate)\n"
)


def test_wdt_megabytes_are_binary(log):
    """262144000 B = 250 MiB in 2.5 s; without listing directories in 2 s."""
    found = log(WDT.format(status="OK", rate=100))
    headline = found.one("throughput", interval=None)
    assert headline.value == 100 * MIB == headline.conditions["bytes"] / headline.conditions["duration_s"]
    assert headline.conditions["files"] == 7
    assert found.value("throughput", excludes="directory listing") == 125 * MIB
    assert not found.unread
    assert log(WDT.format(status="OK", rate=300)).unread


def test_wdt_wrapped_report(log):
    text = WDT.format(status="OK", rate=100).replace(" seconds", "\nseconds").replace("Number of", "Number\nof")
    assert log(text).one("throughput", interval=None).conditions["files"] == 7


def test_wdt_failure_and_bar(log):
    failed = log(WDT.format(status="ERROR", rate=100))
    assert failed.one("failure")
    assert not failed.all("throughput")
    bar = log("[===========>             ] 57% 588.8 Mbytes/s\n").one("throughput")
    assert (bar.status, bar.value) == ("partial", 588.8 * MIB)


FDT = """$ java -jar fdt.jar -c dtn -P 8 -d /data file
INFO: Net Out: 9.123 Gb/s\tAvg: 9.045 Gb/s 45.50% ( 00m 11s )
INFO: Net Out: 9.512 Gb/s\tAvg: 9.145 Gb/s 85.50% ( 00m 01s )
"""


def test_fdt_last_mean_is_the_headline(log):
    found = log(FDT)
    headline = found.one("throughput", interval=None)
    assert headline.value == 9.145e9 / 8
    assert headline.status == "partial"
    assert headline.conditions["streams"] == 8
    assert [r.value for r in found.all("throughput", interval=True)] == [9.123e9 / 8, 9.512e9 / 8]
    done = log(FDT + "INFO: FDTReaderSession session [ x ] finished OK\n")
    assert done.one("throughput", interval=None).status == "complete"


def test_ifstat_kilobytes_and_kilobits_are_binary(log):
    """iperf3 was paced at 2e9 bit/s over the loopback: 250e6 B/s of payload, and some headers."""
    paced = 2e9 / 8
    for name, device in (("lo.txt", "lo"), ("time_total.txt", "lo")):
        rates = [r.value for r in log(f"ifstat/{name}").all("throughput", device=device, direction="send")]
        assert sorted(rates)[len(rates) // 2] == pytest.approx(paced, rel=0.005)


def test_ifstat_series(log):
    found = log("ifstat/uci.txt")
    assert found.value("throughput", device="eth0", direction="send", sample=1, table=1) == 76166.84 * KIB
    assert found.value("throughput", device="ib0", direction="receive", sample=8, table=2) == 172207.8 * KIB
    assert len(found.all("throughput")) == 4 * 18
    stamped = log("ifstat/time_total.txt")
    assert stamped.one("throughput", device="Total", direction="send", sample=1).conditions["time"] == "00:07:41"
    assert stamped.one("throughput", device="lo", direction="send", sample=2).conditions["end_s"] == 1.0


def test_ifstat_row_of_another_width(log):
    text = "        lo        \n KB/s in  KB/s out\n    1.00      2.00\n    1.00      2.00      3.00\n"
    found = log(text)
    assert len(found.all("throughput")) == 2
    assert "3 figures" in found.unread[0].why


def _throughput(**more: object) -> str:
    part = {"start": 0, "end": 10.0, "throughput-bits": 8e9, "throughput-bytes": 10000000000, "retransmits": 3}
    result = {"succeeded": True, "intervals": [{"summary": part | {"end": 1.0}, "streams": []}],
              "summary": {"streams": [part | {"stream-id": 5, "rtt": 63000}], "summary": part}}  # fmt: skip
    return json.dumps(result | more, indent=1) + "\n"


def test_pscheduler_bits_are_a_rate_and_bytes_a_count(log):
    found = log(_throughput())
    headline = found.one("throughput", interval=None)
    assert headline.value == 1e9 == headline.conditions["bytes"] / headline.conditions["duration_s"]
    assert found.value("retransmits") == 3
    assert found.value("rtt") == pytest.approx(0.063)
    assert len(found.all("throughput", interval=True)) == 1


def test_pscheduler_result_inside_a_run(log):
    run = {"test": {"type": "throughput", "spec": {"source": "a", "dest": "b", "parallel": 2}}, "tool": "iperf3",
           "result": json.loads(_throughput())}  # fmt: skip
    known = log(json.dumps(run, indent=1) + "\n").one("throughput", interval=None).conditions
    assert (known["source"], known["target"], known["measured_by"]) == ("a", "b", "iperf3")


def test_pscheduler_failure(log):
    found = log('{\n "succeeded": false,\n "error": "No route",\n "diags": "x"\n}\n')
    assert found.one("failure").printed == "No route"


def test_pscheduler_latency_histogram(log):
    text = {"succeeded": True, "packets-sent": 100, "packets-lost": 1, "histogram-latency": {"5.00": 49, "6.00": 50}}
    found = log(json.dumps(text, indent=1) + "\n")
    assert found.value("loss") == 0.01
    assert found.value("latency", statistic="median") == pytest.approx(6e-3)
    assert found.value("latency", statistic=None) == pytest.approx((5 * 49 + 6 * 50) / 99 * 1e-3)


def test_pscheduler_text(log):
    text = """$ pscheduler task throughput --source a.es.net --dest b.es.net -t PT10S
* Stream ID 5
Interval       Throughput     Retransmits    Current Window
0.0 - 1.0      9.39 Gbps      0              1.29 MBytes
Summary
Interval       Throughput     Retransmits    Receiver Throughput
0.0 - 10.0     9.40 Gbps      3              9.38 Gbps
0% Packet Loss  RTT Min/Mean/Max/StdDev = 53.848000/53.889000/53.934000/0.256000 ms
"""
    found = log(text)
    assert found.value("throughput", interval=None, role=None) == 9.4e9 / 8
    assert found.value("throughput", role="receiver") == 9.38e9 / 8
    assert found.value("rtt", statistic=None) == pytest.approx(53.889e-3)
