"""iperf3 text and JSON. Fixtures: iperf3 3.12 run over the loopback, and the Venadi document."""

from __future__ import annotations

import json

import pytest

from dtnsim.logs import read_text

GIB, MIB = 2.0**30, 2.0**20


def test_bits_are_decimal_and_bytes_binary(log):
    """The Venadi row: 43.5 GBytes in 10 s printed as 37353 Mbits/sec; only GBytes = 2^30 B fits."""
    found = log("iperf3/venadi_bwctl.txt")
    sender = found.one("throughput", role="sender")
    assert sender.value == 37353e6 / 8
    assert sender.conditions["bytes"] == 43.5 * GIB
    assert sender.conditions["bytes"] / 10 == pytest.approx(sender.value, rel=0.002)
    assert found.value("throughput", role="receiver") == 37333e6 / 8
    assert len(found.all("throughput", interval=True)) == 10
    assert not found.unread


def test_bytes_per_second_are_binary(log):
    """``-f M``: 1070 MBytes/sec beside 1.05 GBytes in 1.00 s."""
    sender = log("iperf3/format_M.txt").one("throughput", role="sender")
    assert sender.value == 1070 * MIB
    assert sender.value == pytest.approx(sender.conditions["bytes"], rel=0.01)


def test_sum_is_the_headline(log):
    found = log("iperf3/parallel.txt")
    total = found.one("throughput", role="sender", stream=None, interval=None)
    parts = [r.value for r in found.all("throughput", role="sender", interval=None) if "stream" in r.conditions]
    assert len(parts) == 2
    assert total.value == pytest.approx(sum(parts), rel=0.01)
    assert total.conditions["streams"] == 2
    assert found.value("retransmits", stream=None) == 11


def test_bidirectional_sums_apart(log):
    found = log("iperf3/bidir_parallel.txt")
    rates = {
        (r.conditions["direction"], r.conditions["role"]): r.value
        for r in found.all("throughput", stream=None, interval=None)
    }
    assert rates == {
        ("send", "sender"): 8.96e9 / 8, ("send", "receiver"): 8.93e9 / 8,
        ("receive", "sender"): 2.85e9 / 8, ("receive", "receiver"): 2.83e9 / 8,
    }  # fmt: skip


def test_reverse_verbose_omit(log):
    found = log("iperf3/reverse_verbose_omit.txt")
    headline = found.one("throughput", role="receiver")
    assert headline.version == "3.12"
    assert headline.conditions["direction"] == "receive"
    assert headline.conditions["omit_s"] == 1
    assert headline.conditions["block_B"] == 131072
    assert len(found.all("throughput", omitted=True)) == 1


def test_udp_and_server_output(log):
    found = log("iperf3/udp_parallel.txt")
    assert found.value("throughput", role="sender", stream=None, interval=None) == 99.9e6 / 8
    client = found.one("throughput", role="receiver", stream=None, interval=None, reporter=None)
    server = found.one("throughput", role="receiver", stream=None, interval=None, reporter="server")
    assert client.value == server.value == 99.7e6 / 8
    assert found.value("loss", stream=None, reporter=None) == 0
    assert found.value("jitter", stream=None, reporter=None) == 23e-6


def test_udp_before_3_7_has_one_row(log):
    text = """Connecting to host 10.0.0.1, port 5201
[  4] local 10.0.0.2 port 46512 connected to 10.0.0.1 port 5201
[ ID] Interval           Transfer     Bandwidth       Total Datagrams
[  4]   0.00-1.00   sec   116 KBytes   950 Kbits/sec  82
[  4]   1.00-2.00   sec   129 KBytes  1.05 Mbits/sec  91
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams
[  4]   0.00-2.00   sec   244 KBytes  1.00 Mbits/sec  0.062 ms  3/172 (1.7%)
[  4] Sent 172 datagrams
"""
    found = log(text)
    assert found.value("throughput", interval=None) == 1e6 / 8
    assert found.value("loss") == 3 / 172


def test_an_end_that_knows_only_itself(log):
    found = log("iperf3/interrupted.txt")
    sender = found.one("throughput", role="sender", interval=None)
    assert sender.status == "partial"
    assert not found.all("throughput", role="receiver")
    assert [note.line for note in found.unread] == [10]


def test_a_killed_run_gives_the_mean_of_its_intervals(log):
    found = log("iperf3/killed.txt")
    mean = found.one("throughput", interval=None)
    assert mean.status == "partial"
    assert mean.value == 7.02e9 / 8  # its one [SUM] row
    assert mean.conditions["derived"] == "mean of intervals"


@pytest.mark.parametrize("name", ["error.txt", "parameter_error.txt", "error.json"])
def test_failures_have_no_rate(log, name):
    found = log(f"iperf3/{name}")
    assert found.one("failure").status == "failed"
    assert not found.all("throughput")


def test_an_error_after_a_summary_does_not_void_it(log):
    rows = """Accepted connection from 10.0.0.2, port 50000
[  5] local 10.0.0.1 port 5201 connected to 10.0.0.2 port 50001
[  5]   0.00-2.04   sec  0.00 Bytes  0.00 bits/sec                  sender
[  5]   0.00-2.04   sec  2.24 GBytes  9.41 Gbits/sec                  receiver
iperf3: error - unable to receive control message: Connection reset by peer
"""
    assert log(rows).value("throughput") == 9.41e9 / 8


def test_titles_keep_two_processes_apart(log):
    text = """Stream2:  Connecting to host dtn, port 5102
Stream1:  Connecting to host dtn, port 5101
Stream1:  [  4] local 10.0.0.1 port 1 connected to 10.0.0.2 port 5101
Stream2:  [  4] local 10.0.0.1 port 2 connected to 10.0.0.2 port 5102
Stream1:  [  4]   0.00-10.00  sec  12.7 GBytes  10.9 Gbits/sec   69             sender
Stream2:  [  4]   0.00-10.00  sec  12.3 GBytes  10.5 Gbits/sec   52             sender
Stream2:  iperf Done.
Stream1:  iperf Done.
"""
    found = log(text)
    assert found.value("throughput", title="Stream1") == 10.9e9 / 8
    assert found.value("retransmits", title="Stream2") == 52
    assert not any("host" in r.conditions for r in found.found)


def test_a_hundred_seconds_lose_a_blank(log):
    row = "[  5]   0.00-100.00 sec   109 GBytes  9.39 Gbits/sec    0             sender\n"
    assert log(row).one("throughput").tool == "iperf3"


def test_json_sums(log):
    found = log("iperf3/parallel.json")
    sender = found.one("throughput", role="sender", interval=None)
    assert sender.value * 8 == pytest.approx(1.105668109e10)
    assert sender.conditions["streams"] == 2
    assert found.value("retransmits", interval=None) == 82
    assert len(found.all("throughput", interval=True)) == 2
    assert found.one("rtt", stream=5, statistic=None).value == 395e-6
    sides = log("iperf3/bidir.json").all("throughput", interval=None)
    assert {(r.conditions["direction"], r.conditions["role"]) for r in sides} == {
        (d, r) for d in ("send", "receive") for r in ("sender", "receiver")
    }
    reverse = log("iperf3/reverse.json").one("throughput", role="receiver", interval=None)
    assert reverse.conditions["direction"] == "receive"


def test_json_udp(log):
    found = log("iperf3/udp.json")
    assert found.value("throughput", role="sender", interval=None) == pytest.approx(20052983.27 / 8)
    assert found.one("loss").conditions["packets"] == 153


def _document(end: dict[str, object], **more: object) -> str:
    return json.dumps({"start": {"version": "iperf 3.1.3"}, "intervals": [], "end": end, **more})


def test_json_udp_before_3_7(log):
    part = {"bytes": 1e6, "seconds": 1.0, "bits_per_second": 8e6, "jitter_ms": 0.5, "lost_packets": 2, "packets": 100}
    found = log(_document({"streams": [{"udp": part}], "sum": part}) + "\n")
    assert found.one("throughput", role="sender").value == 1e6
    assert found.value("loss") == 0.02
    assert found.value("jitter") == pytest.approx(5e-4)


def test_json_streams_without_sums_are_added(log):
    stream = {"sender": {"bytes": 10.0, "seconds": 2.0, "bits_per_second": 40.0}}
    assert log(_document({"streams": [stream, stream]}) + "\n").value("throughput", role="sender") == 10


def test_json_zero_bytes_and_interrupts(log):
    zero = {"sum_sent": {"bytes": 0, "bits_per_second": 0.0, "seconds": 1.0}}
    found = log(_document(zero) + "\n")
    assert not found.all("throughput")
    assert found.unread
    sent = {"sum_sent": {"bytes": 10, "bits_per_second": 80.0, "seconds": 1.0}}
    found = log(_document(sent, error="interrupt - the client has terminated") + "\n")
    assert found.one("throughput").status == "partial"


def test_json_stream_events(log):
    start = {"version": "iperf 3.17", "test_start": {"protocol": "TCP", "num_streams": 4}}
    end = {"sum_sent": {"bits_per_second": 800.0, "bytes": 100, "seconds": 1.0}}
    lines = [{"event": "start", "data": start}, {"event": "end", "data": end}]
    found = log("\n".join(json.dumps(line) for line in lines) + "\n")
    assert found.one("throughput", role="sender", streams=4).version == "3.17"


def test_cut_json_gives_what_is_whole():
    interval = {"sum": {"start": 0, "end": 1.0, "seconds": 1.0, "bytes": 100, "bits_per_second": 800.0}}
    text = json.dumps({"start": {"version": "iperf 3.9"}, "intervals": [interval, interval]}, indent=1)
    found, _ = read_text(text[: text.rindex("seconds")])
    assert not [r for r in found if r.status == "complete" and "interval" not in r.conditions]


def test_processor_share_of_a_server(log):
    """Own run of iperf3 3.12, ``-s -J``: the server's own share is the receiver's, the client's it never learns."""
    text = json.dumps({
        "start": {"version": "iperf 3.12", "accepted_connection": {"host": "127.0.0.1", "port": 1},
                  "test_start": {"protocol": "TCP", "num_streams": 1, "reverse": 0}},
        "intervals": [],
        "end": {"sum_sent": {"seconds": 2.0, "bytes": 0, "bits_per_second": 0, "sender": False},
                "sum_received": {"seconds": 2.0, "bytes": 5353242624, "bits_per_second": 21411728615.7},
                "cpu_utilization_percent": {"host_total": 73.4, "remote_total": 0}},
    })  # fmt: skip
    share = log(text + "\n").one("cpu_share")
    assert share.value == pytest.approx(0.734)
    assert (share.conditions["where"], share.conditions["role"]) == ("local", "receiver")
