"""perfSONAR: esmond's answers, OpenSearch's documents, the text of latency tests, twping.

esmond: the answers printed in perfSONAR's documentation of its REST interface (2014) and the records in the tests of
pScheduler's archiver (2017). OpenSearch: no document was found in public; these are put together from those tests'
figures under the keys of perfSONAR's own Logstash pipeline. Text: the test of pScheduler's ``latency``. twping: the
output quoted in a parser for YANG (2022), and one of perfSONAR's form in tests of another (made up there).
"""

from __future__ import annotations

import json

import pytest

URL = "$ curl 'http://archive.example.net/esmond/perfsonar/archive/{}?time-range=86400'\n"
KEY = "f6b732e9f351487a96126f0c25e5e546"
THROUGHPUT = """\
[
    {
        "ts":1397421672,
        "val":7016320000.0
    },
    {
        "ts":1397442692,
        "val":7225480000.0
    },
    {
        "ts":1397466492,
        "val":7095460000.0
    }
]
"""
DELAYS = """\
[
    {
        "ts":1397504013,
        "val":{
            "34.4":506,
            "34.5":85,
            "34.6":5,
            "34.7":4
        }
    },
    {
        "ts":1397504052,
        "val":{
            "34.4":510,
            "34.5":80,
            "34.6":7,
            "34.7":3
        }
    }
]
"""
STATISTICS = """\
[
    {
        "ts":1397504835,
        "val":{
            "maximum":"34.4",
            "mean":34.38233333333333,
            "median":34.4,
            "minimum":"34.3",
            "mode":[ "34.4" ],
            "percentile-25":34.4,
            "percentile-75":34.4,
            "percentile-95":34.4,
            "standard-deviation":0.03813863599495395,
            "variance":0.001454555555555597
        }
    }
]
"""
LOSS = '[{"ts":1397555532, "val":0.04666666666666667}, {"ts":1397555538, "val":0.06666666666666667}]\n'
TRACE = """\
[
    {
        "ts":1397566094,
        "val":[
            {"error_message":null, "ip":"198.124.238.65", "mtu":"9000", "query":"1", "rtt":"0.246", "success":1, "ttl":"1"},
            {"error_message":null, "ip":"134.55.38.77", "mtu":"9000", "query":"1", "rtt":"22.159", "success":1, "ttl":"2"},
            {"error_message":null, "ip":"198.129.254.30", "mtu":"9000", "query":"1", "rtt":"68.887", "success":1, "ttl":"9"}
        ]
    }
]
"""  # noqa: E501 - as it is printed, but for the hops between
RECORD = """\
[{"ts": 1497971206, "val": [{"event-type": "throughput", "val": 4438908000.0},
 {"event-type": "packet-retransmits", "val": 0},
 {"event-type": "throughput-subintervals", "val": [{"duration": 1.000059, "start": 0, "val": 891236903.11585104},
  {"duration": 1.0000009999999999, "start": 1.000059, "val": 524287500.00047702}]},
 {"event-type": "streams-packet-rtt-subintervals", "val": []}]}]
"""
ONE_WAY = (
    '[{"ts": 1497971206, "val": [{"val": 0, "event-type": "time-error-estimates"}, {"val": {"39.40": 11, "39.53": 77, '
    '"39.49": 32, "39.48": 51, "39.47": 40, "39.51": 40, "39.45": 12, "39.44": 9, "39.43": 9, "39.55": 2, "39.41": 10, '
    '"39.57": 1, "39.50": 39, "39.42": 12, "39.54": 34, "39.56": 1, "39.39": 3, "39.46": 30, "39.52": 187}, '
    '"event-type": "histogram-owdelay"}, {"val": 600, "event-type": "packet-count-sent"}, {"val": {"denominator": 600, '
    '"numerator": 0}, "event-type": "packet-loss-rate"}]}]\n'
)
METADATA = """\
[{"source": "10.1.1.1", "destination": "10.1.1.2", "input-source": "host1.example.net", "tool-name": "bwctl/iperf3",
  "input-destination": "host2.example.net", "metadata-key": "f6b732e9f351487a96126f0c25e5e546", "event-types": []}]
"""


def test_throughput_is_bits(log):
    found = log(URL.format(f"{KEY}/throughput/base") + THROUGHPUT)
    assert [r.value for r in found.all("throughput")] == [877040000, 903185000, 886932500]
    assert found.all("throughput")[1].conditions["time"] == "2014-04-14T02:31:32Z"
    assert log(RECORD).value("throughput", interval=None) == 4438908000 / 8
    assert [r.conditions["end_s"] for r in log(RECORD).all("throughput", interval=True)] == pytest.approx(
        [1.000059, 2.00006]
    )
    assert log(RECORD).value("retransmits") == 0


def test_one_way_delays(log):
    found = log(URL.format(f"{KEY}/histogram-owdelay/base") + DELAYS)
    means = [r.value for r in found.all("latency", statistic=None)]
    assert means == pytest.approx(  # (506 x 34.4 + 85 x 34.5 + 5 x 34.6 + 4 x 34.7) / 600
        [34.4178333e-3, 34.4171667e-3]
    )
    assert [r.value for r in found.all("latency", statistic="max")] == pytest.approx([34.7e-3, 34.7e-3])
    assert found.all("latency", statistic="median")[0].conditions["packets"] == 600
    record = log(ONE_WAY)
    assert record.value("latency", statistic="median") == pytest.approx(39.52e-3)  # the 300th: 298 are up to 39.51
    assert record.value("latency", statistic="min") == pytest.approx(39.39e-3)
    assert record.value("loss", packets=600) == 0
    trips = log(URL.format(f"{KEY}/histogram-rtt/statistics/0") + STATISTICS)
    assert trips.value("rtt", statistic=None) == pytest.approx(34.38233e-3)
    assert trips.value("rtt", statistic="stddev") == pytest.approx(38.1386e-6)


def test_loss_and_traces(log):
    lost = log(URL.format(f"{KEY}/packet-loss-rate/aggregations/300") + LOSS)
    assert [r.value for r in lost.all("loss", window_s=300)] == [0.04666666666666667, 0.06666666666666667]
    trace = log(URL.format(f"{KEY}/packet-trace/base") + TRACE)
    assert trace.value("rtt", last=True) == pytest.approx(68.887e-3)
    assert (trace.value("hops"), trace.value("mtu")) == (9, 9000)
    assert trace.one("rtt", hop=2).conditions["address"] == "134.55.38.77"


def test_what_is_measured_is_not_guessed(log, tmp_path):
    assert not log(THROUGHPUT).found
    assert "keep the curl command" in log(THROUGHPUT).unread[0].why
    named = tmp_path / "anl-throughput-base.json"
    named.write_text(THROUGHPUT)
    from dtnsim.logs import read_logs

    assert len(read_logs(named)[0]) == 3


def test_metadata_name_the_ends(log):
    found = log(METADATA + URL.format(f"{KEY}/throughput/base") + THROUGHPUT).all("throughput")
    assert {(r.conditions["source"], r.conditions["target"]) for r in found} == {
        ("host1.example.net", "host2.example.net")
    }
    assert "metadata of 1 tests" in log(METADATA).unread[0].why


DOCUMENT = """\
{"pscheduler": {"start_time": "2017-06-20T15:06:46Z", "duration": 30}, "meta": {"source": {"ip": "10.0.0.1"},
 "destination": {"hostname": "dtn2.example.net"}}, "test": {"type": "throughput", "spec": {"dest": "dtn2.example.net",
 "duration": "PT30S", "parallel": 4}},
 "result": {"succeeded": true, "throughput": 4438908000, "retransmits": 7, "mtu": 9000}}
"""
LATENCY = """\
{"pscheduler": {"start_time": "2017-06-20T15:06:46Z"}, "meta": {}, "test": {"type": "latencybg", "spec": {"source":
 "10.0.0.1", "dest": "10.0.0.2"}}, "result": {"succeeded": true, "packets": {"sent": 600, "lost": 3, "loss": 0.005},
 "latency": {"min": 39.39, "mean": 39.5, "median": 39.5, "max": 39.57, "p_95": 39.54}, "max_clock_error": 0}}
"""
ROUND = """\
{"pscheduler": {"start_time": "2017-06-20T15:06:46Z"}, "test": {"type": "rtt", "spec": {"dest": "10.0.0.2"}},
 "result": {"succeeded": true, "rtt": {"min": 0.0609, "mean": 0.0611, "max": 0.0627},
 "packets": {"sent": 5, "lost": 0}}}
"""


def test_documents_of_the_archive(log):
    found = log(DOCUMENT)
    assert found.value("throughput") == 554863500
    assert (found.value("retransmits"), found.value("mtu")) == (7, 9000)
    known = found.one("throughput").conditions
    assert (known["source"], known["target"], known["streams"], known["duration_s"]) == (
        "10.0.0.1", "dtn2.example.net", 4, 30
    )  # fmt: skip
    assert known["time"] == "2017-06-20T15:06:46Z"
    assert log(LATENCY).value("latency", statistic="p95") == pytest.approx(39.54e-3)
    assert log(LATENCY).value("loss") == 0.005
    assert log(ROUND).value("rtt", statistic=None) == 0.0611
    assert not found.unread


def test_exports_of_hits_and_failures(log):
    hits = {
        "hits": {"total": {"value": 3}, "hits": [{"_index": "p", "_source": json.loads(t)} for t in (DOCUMENT, ROUND)]}
    }
    assert len(log(json.dumps(hits, indent=1)).all("throughput")) == 1
    assert log(json.dumps(hits)).value("rtt", statistic="max") == 0.0627
    lost = DOCUMENT.replace('"succeeded": true', '"succeeded": false, "error": "No route to host"')
    assert log(lost).one("failure").printed == "No route to host"


TEXT = """\
Packet Statistics
-----------------
Packets Sent ......... 600 packets
Packets Received ..... 600 packets
Packets Lost ......... 0 packets
Packets Duplicated ... 0 packets
Packets Reordered .... 0 packets

One-way Latency Statistics
--------------------------
Delay Median ......... 2.60 ms
Delay Minimum ........ 2.51 ms
Delay Maximum ........ 88.21 ms
Delay Mean ........... 2.93 ms
Delay Mode ........... 2.57 ms \n\
Delay 25th Percentile ... 2.57 ms
Delay 75th Percentile ... 2.64 ms
Delay 95th Percentile ... 2.76 ms
Max Clock Error ...... 0.27 ms
Common Jitter Measurements:
    P95 - P50 ........ 0.16 ms
    P75 - P25 ........ 0.07 ms
    Variance ......... 18.64 ms
    Std Deviation .... 4.32 ms
"""


def test_latency_as_text(log):
    found = log("$ pscheduler task latency --source a.example.net --dest b.example.net\n" + TEXT)
    want = {
        None: 2.93,
        "median": 2.60,
        "min": 2.51,
        "max": 88.21,
        "p25": 2.57,
        "p75": 2.64,
        "p95": 2.76,
        "stddev": 4.32,
    }
    got = {r.conditions.get("statistic"): r.value * 1e3 for r in found.all("latency", one_way=True)}
    assert got == {key: pytest.approx(value) for key, value in want.items()}
    assert found.value("latency", of="clock error") == pytest.approx(0.27e-3)
    assert found.one("loss").conditions["packets"] == 600
    assert found.one("loss").conditions["target"] == "b.example.net"
    assert not found.unread


TWPING = """\
--- twping statistics from [192.168.1.1]:9706 to [192.168.1.2]:19642 ---
SID:    c0a80102e5e36a42b8a73f74cec8780e
first:  2022-03-21T23:18:58.819
last:   2022-03-21T23:19:10.456
100 sent, 0 lost (0.000%), 0 send duplicates, 0 reflect duplicates
round-trip time min/median/max = 0.109/0.3/1.07 ms, (err=3.8 ms)
send time min/median/max = 936/936/936 ms, (err=1.9 ms)
reflect time min/median/max = -936/-936/-935 ms, (err=1.9 ms)
reflector processing time min/max = 0.00191/0.021 ms
two-way jitter = 0.1 ms (P95-P50)
send jitter = 0.1 ms (P95-P50)
"""


def test_twping(log):
    found = log(TWPING)
    assert [found.value("rtt", statistic=s) for s in ("min", "p50", "max")] == pytest.approx([109e-6, 0.3e-3, 1.07e-3])
    assert found.one("rtt", statistic="p50").conditions["clock_error_s"] == pytest.approx(3.8e-3)
    assert found.value("latency", of="send_time", statistic="p50") == pytest.approx(0.936)
    assert found.value("loss") == 0
    assert found.value("jitter") == pytest.approx(1e-4)
    assert {r.tool for r in found.found} == {"twping"}
    assert "negative delay" in found.unread[0].why
