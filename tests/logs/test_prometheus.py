"""node_exporter's text and answers of Prometheus.

Text: a course's virtual machine (0.18), a host behind a firewall's notes, an exporter's test file; answers: bodies that
clients' tests quote as captured from Prometheus (3.14), a live query's two versions, and Prometheus' own documentation
of ``query_range``. Those are of other metrics than node_exporter's: the names are replaced, the figures are theirs.
"""

from __future__ import annotations

import pytest

VAGRANT = """\
# HELP node_network_receive_bytes_total Network device statistic receive_bytes.
# TYPE node_network_receive_bytes_total counter
node_network_mtu_bytes{device="eth0"} 1500
node_network_mtu_bytes{device="lo"} 65536
node_network_receive_bytes_total{device="eth0"} 193341
node_network_receive_bytes_total{device="lo"} 181670
node_network_receive_drop_total{device="eth0"} 243
"""
GRAFANA = """\
curl localhost:9100/metrics | grep node_network_receive_bytes_total
node_network_receive_bytes_total{device="eth0"} 9.94943e+06
node_network_receive_bytes_total{device="lo"} 1.010441e+06
node_network_transmit_bytes_total{device="eth0"} 535592
"""
DISKS = """\
node_disk_read_bytes_total{device="dm-0"} 3.74670336e+08
node_disk_read_bytes_total{device="sda"} 3.88436992e+08
node_cpu_seconds_total{cpu="0",mode="idle"} 1306.96
node_cpu_seconds_total{cpu="0",mode="system"} 8.38
node_cpu_seconds_total{cpu="0",mode="user"} 14.02
"""


@pytest.mark.parametrize(
    ("text", "where", "size"),
    [
        (VAGRANT, {"direction": "receive", "interface": "eth0"}, 193341),
        (GRAFANA, {"direction": "receive", "interface": "eth0"}, 9949430),
        (GRAFANA, {"direction": "send", "interface": "eth0"}, 535592),
        (DISKS, {"operation": "read", "device": "sda"}, 388436992),
    ],
)
def test_bytes_since_boot(log, text, where, size):
    found = log(text)
    assert found.value("bytes", since="boot", **where) == size
    assert not found.all("bytes", interface="lo")
    assert not found.unread


def test_gauges_drops_and_shares(log):
    assert log(VAGRANT).value("mtu") == 1500
    assert log(VAGRANT).value("count", of="drops", direction="receive") == 243
    shares = log(DISKS).all("cpu_share")
    assert {r.conditions["state"]: r.value for r in shares} == {
        "idle": pytest.approx(1306.96 / 1329.36),
        "system": pytest.approx(8.38 / 1329.36),
        "user": pytest.approx(14.02 / 1329.36),
    }


CAPTURED = """\
{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"node_network_receive_bytes_total",
"instance":"127.0.0.1:9099","device":"eth0"},"values":[[1788347458,"1000000"],[1788347473,"16000000"]]}]}}
"""
DOCUMENTED = """\
{
   "status" : "success",
   "data" : {
      "resultType" : "matrix",
      "result" : [
         {
            "metric" : {"__name__" : "node_disk_written_bytes_total", "device" : "nvme0n1", "instance" : "dtn1:9100"},
            "values" : [ [ 1435781430.781, "100" ], [ 1435781445.781, "1600" ], [ 1435781460.781, "4600" ] ]
         },
         {
            "metric" : {"__name__" : "node_disk_written_bytes_total", "device" : "nvme0n1", "instance" : "dtn2:9091"},
            "values" : [ [ 1435781430.781, "900" ], [ 1435781445.781, "0" ], [ 1435781460.781, "300" ] ]
         }
      ]
   }
}
"""
VECTOR = """\
{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"node_network_speed_bytes",
"instance":"127.0.0.1:9099","device":"eth0"},"value":[1788347462.466,"1250000000"]}]}}
"""


def test_a_counter_gives_its_mean_and_its_steps(log):
    found = log(CAPTURED)
    assert found.value("throughput", interval=None, direction="receive") == 15e6 / 15
    assert found.one("throughput", interval=True).conditions["time"] == "2026-09-02T11:10:58Z"
    assert found.one("throughput", interval=None).conditions["host"] == "127.0.0.1"
    documented = log(DOCUMENTED)
    assert [r.value for r in documented.all("throughput", host="dtn1", interval=True)] == [100, 200]
    assert documented.value("throughput", host="dtn1", interval=None) == 150
    assert not found.unread


def test_a_counter_that_began_anew_is_not_a_rate(log):
    assert log(DOCUMENTED).value("throughput", host="dtn2", interval=None) == 20
    assert len(log(DOCUMENTED).all("throughput", host="dtn2", interval=True)) == 1


def test_gauges(log):
    assert log(VECTOR).value("link_rate") == 1.25e9


RATES = '{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"device":"eth0"},"values":[[1690000000,"80"],[1690000060,"160"]]}]}}\n'  # noqa: E501
QUERY = "$ curl 'http://prom:9090/api/v1/query_range?query={}&start=1690000000&end=1690000060&step=60s'\n"


@pytest.mark.parametrize(
    ("query", "values"),
    [
        ('rate(node_network_receive_bytes_total{device="eth0"}[1m])', [80, 160, 120]),
        ("irate(node_network_transmit_bytes_total[5m])*8", [10, 20, 15]),
        ("rate(node_disk_read_bytes_total%5B1m%5D)", [80, 160, 120]),
    ],
)
def test_a_rate_has_its_name_from_the_command(log, query, values):
    found = log(QUERY.format(query) + RATES)
    assert [r.value for r in found.all("throughput")] == values
    assert not found.unread


@pytest.mark.parametrize("query", ["", "rate(node_network_receive_bytes_total[1m])/2", "rate(my_own_bytes_total[1m])"])
def test_a_rate_without_a_name_is_noted(log, query):
    found = log((QUERY.format(query) if query else "") + RATES)
    assert not found.all("throughput")
    assert "query the counter itself" in found.unread[0].why


def test_other_metrics_and_errors(log):
    assert not log(CAPTURED.replace("node_network_receive_bytes_total", "up")).found
    assert not log('{"status":"error","errorType":"bad_data","error":"parse error"}\n').found
