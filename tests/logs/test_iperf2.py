"""iperf 2. Fixtures: iperf 2.1.8 run over the loopback."""

from __future__ import annotations

import pytest

MIB = 2.0**20


def test_units(log):
    """``-f M``: 2453 MBytes in 1.0162 s printed as 2413 MBytes/sec, both 1024-based; bits are decimal."""
    found = log("iperf2/window.txt").one("throughput")
    assert found.value == 2413 * MIB
    assert found.conditions["bytes"] == 2453 * MIB
    assert found.conditions["window_B"] == 262144
    row = "[  3]  0.0-10.0 sec   265 MBytes   222 Mbits/sec\n"
    rate = log("Client connecting to h, TCP port 5001\n" + row).value("throughput")
    assert rate == 222e6 / 8 == pytest.approx(265 * MIB / 10, rel=0.003)


def test_the_last_row_from_zero_is_the_whole_run(log):
    found = log("iperf2/enhanced.txt")
    assert found.one("throughput", interval=True).conditions["end_s"] == 1.0
    assert found.one("throughput", interval=None).value == 14.1e9 / 8
    assert found.value("retransmits") == 0


def test_sum(log):
    found = log("iperf2/parallel.txt")
    total = found.one("throughput", interval=None, stream=None)
    assert total.conditions["streams"] == 2
    assert total.value == pytest.approx(
        sum(r.value for r in found.all("throughput", interval=None) if r is not total), rel=0.01
    )


def test_directions(log):
    for name in ("dual", "tradeoff", "full_duplex"):
        found = log(f"iperf2/{name}.txt")
        send = found.one("throughput", direction="send")
        assert send.conditions["role"] == "sender"
        assert found.one("throughput", direction="receive").conditions["role"] == "receiver"
    assert log("iperf2/reverse.txt").one("throughput").conditions["direction"] == "receive"


def test_server_log_of_many_clients(log):
    found = log("iperf2/server.txt")
    sums = found.all("throughput", interval=None, stream=None)
    assert next(r.line for r in sums if r.conditions["direction"] == "receive") == 16
    assert {r.conditions["role"] for r in sums if "role" in r.conditions} == {"sender", "receiver"}


def test_server_report_is_the_receiver(log):
    found = log("iperf2/udp.txt")
    assert found.one("throughput", role="sender", interval=None).value == 21e6 / 8
    assert found.one("loss", role="receiver").conditions["packets"] == 1786
    assert found.value("jitter") == 2e-6


def test_csv(log):
    found = log("iperf2/csv_parallel.txt")
    total = found.one("throughput", derived="sum of streams")
    assert total.value * 8 == 9933828855 + 10491366669
    assert len(found.all("throughput", interval=True)) == 4
    udp = "20261120234205,10.0.0.1,49656,10.0.0.2,5990,3,0.0-10.0,1312710,1049627,0.081,9,893,1.008,0\n"
    found = log(udp)
    assert found.value("throughput") == 1049627 / 8
    assert found.value("loss") == 9 / 893


def test_a_killed_run_is_partial(log):
    found = log("iperf2/killed.txt").one("throughput", interval=None)
    assert found.status == "partial"
    assert found.value == pytest.approx((12.1e9 + 12.0e9) / 2 / 8)


def test_the_first_row_of_a_series_is_no_result(log):
    text = """$ iperf -c h -i 1 -t 60
Client connecting to h, TCP port 5001
[  3] local 10.0.0.1 port 1 connected with 10.0.0.2 port 5001
[  3]  0.0- 1.0 sec   112 MBytes   940 Mbits/sec
"""
    assert log(text).one("throughput", interval=None).status == "partial"


def test_failure(log):
    found = log("iperf2/refused.txt")
    assert found.one("failure").printed == "connect failed: Connection refused"
    assert not found.all("throughput")


def test_zero_bytes(log):
    found = log("Client connecting to h, TCP port 5001\n[ *1] 0.0000-0.0082 sec  0.000 Bytes  0.000 bits/sec\n")
    assert not found.all("throughput")
    assert found.unread


def test_a_stream_that_ends_on_a_whole_second_beside_others(log):
    """Own run of 2.1.8 with --full-duplex: one direction ended at 1.0000 s, the other at 1.0008 s."""
    read = log(
        "Client connecting to 127.0.0.1, TCP port 5316\n"
        "[  1] local 127.0.0.1 port 49368 connected with 127.0.0.1 port 5316 (full-duplex)\n"
        "[ ID] Interval       Transfer     Bandwidth\n"
        "[ *1] 0.0000-1.0008 sec   803 MBytes  6.73 Gbits/sec\n"
        "[  1] 0.0000-1.0000 sec   660 MBytes  5.53 Gbits/sec\n"
        "[SUM] 0.0000-1.0003 sec  1.43 GBytes  12.3 Gbits/sec\n"
    )
    assert read.one("throughput", direction="send").status == "complete"
    assert read.value("throughput", direction="send") == pytest.approx(5.53e9 / 8)
    assert read.value("throughput", direction="receive") == pytest.approx(6.73e9 / 8)
    assert read.value("throughput", direction="both") == pytest.approx(12.3e9 / 8)


TWO_TESTS = """$ iperf -s
Server listening on TCP port 5001
[  4] local 10.0.0.2 port 5001 connected with 10.0.0.1 port 51001
[ ID] Interval       Transfer     Bandwidth
[  4]  0.0-10.0 sec  1.09 GBytes   936 Mbits/sec
[  5] local 10.0.0.2 port 5001 connected with 10.0.0.1 port 51002
[  5]  0.0-10.0 sec  1.09 GBytes   936 Mbits/sec
"""


def test_tests_after_one_another_on_a_server_are_not_added_up(log):
    found = log(TWO_TESTS)
    assert [(r.value * 8, r.status) for r in found.found] == [(936e6, "complete")] * 2
    assert {r.conditions["streams"] for r in found.found} == {1}
    both = TWO_TESTS.splitlines(keepends=True)
    together = log("".join([*both[:3], both[5], *both[3:5], both[6]]))
    assert together.value("throughput", derived="sum of streams") * 8 == 2 * 936e6


def test_parallel_tests_after_one_another_keep_their_sums(log):
    test = """[{0}] local 10.0.0.2 port 5001 connected with 10.0.0.1 port 5100{0}
[{1}] local 10.0.0.2 port 5001 connected with 10.0.0.1 port 5100{1}
[{0}]  0.0-10.0 sec   545 MBytes   457 Mbits/sec
[{1}]  0.0-10.0 sec   550 MBytes   461 Mbits/sec
[SUM]  0.0-10.0 sec  1.07 GBytes   918 Mbits/sec
"""
    found = log("Server listening on TCP port 5001\n" + test.format(4, 5) + test.format(6, 7))
    sums = [r for r in found.found if "stream" not in r.conditions]
    assert [(r.value * 8, r.conditions["streams"], r.status) for r in sums] == [(918e6, 2, "complete")] * 2


def test_csv_of_tests_after_one_another_is_not_added_up(log):
    row = "2022010100{},10.0.0.2,5001,10.0.0.1,5100{},{},0.0-10.0,1173094400,938475520\n"
    apart = log(row.format("0010", 1, 4) + row.format("0035", 2, 5))
    assert [r.value * 8 for r in apart.all("throughput")] == [938475520] * 2
    together = log(row.format("0010", 1, 4) + row.format("0011", 2, 5))
    assert together.value("throughput", derived="sum of streams") * 8 == 2 * 938475520


def test_bwctl_gives_both_ends_of_one_transfer(log):
    """``bwctl -x``: layout of the bwctl manual, figures of a gigabit path."""
    found = log(
        "RECEIVER START\nServer listening on TCP port 5239\n"
        "[ 15] local 192.168.0.2 port 5239 connected with 192.168.0.1 port 5239\n"
        "[ 15]  0.0-10.0 sec  1173094400 Bytes  937346208 bits/sec\n"
        "RECEIVER END\n\nSENDER START\nClient connecting to 192.168.0.2, TCP port 5239\n"
        "[  7] local 192.168.0.1 port 5239 connected with 192.168.0.2 port 5239\n"
        "[  7]  0.0-10.0 sec  1173094400 Bytes  938346208 bits/sec\nSENDER END\n"
    )
    assert found.value("throughput", role="receiver") * 8 == 937346208
    assert found.value("throughput", role="sender") * 8 == 938346208
    assert len(found.all("throughput")) == 2
