"""nuttcp and nuttscp. Fixtures: nuttcp 6.1.2 run over the loopback, and lines of the NASA slides."""

from __future__ import annotations

import pytest

MIB = 2.0**20


def test_megabytes_are_binary_and_bits_decimal(log):
    found = log("nuttcp/transmit.txt").one("throughput")
    assert found.value == 15119.7312e6 / 8
    assert found.conditions["bytes"] == 3603.6875 * MIB
    assert found.conditions["bytes"] / 2.0 == pytest.approx(found.value, rel=0.01)


def test_headline_and_intervals(log):
    found = log("nuttcp/receive_interval.txt")
    assert found.one("throughput", interval=None).conditions["direction"] == "receive"
    assert len(found.all("throughput", interval=True)) == 2
    assert found.value("cpu_share", role="sender") == 0.76
    assert found.value("cpu_share", role="receiver") == 0.39
    assert found.value("rtt") == pytest.approx(0.11e-3)


def test_slides_without_megabytes(log):
    found = log("nuttcp/gsfc_slides.txt")
    assert found.value("throughput", label="TX") == 19805.8537e6 / 8
    assert found.value("throughput", aggregate=True) == 14267.6685e6 / 8
    assert found.value("cpu_share", role="receiver", label="Put from /dev/zero to RAID50") == 0.99
    assert found.one("throughput", label="Get").conditions["direction"] == "receive"


@pytest.mark.parametrize(("name", "loss"), [("udp.txt", 256 / 3052), ("udp_fparse.txt", 4 / 1526)])
def test_udp(log, name, loss):
    assert log(f"nuttcp/{name}").value("loss") == loss


def test_parsable_form(log):
    found = log("nuttcp/fparse.txt")
    assert found.one("throughput", interval=None).printed == "11077.7952 Mbps"
    assert len(found.all("throughput", interval=True)) == 1
    assert found.value("retransmits") == 0


def test_verbose_tells_both_ends(log):
    found = log("nuttcp/verbose.txt")
    assert found.one("throughput", role="sender").version == "6.1.2"
    assert found.value("throughput", role="receiver") == pytest.approx(8451.4718e6 / 8)
    # KB/sec of the same line: 2^10 B
    line = "nuttcp-r: 4032.6233 MB in 2.00 real seconds = 2063154.74 KB/sec = 16901.3636 Mbps\n"
    assert log(line).value("throughput") == pytest.approx(2063154.74 * 1024, rel=1e-4)


def test_retransmissions_by_stream_and_window(log):
    line = " 2197.0657 MB /  10.00 sec = 1842.9788 Mbps 8 %TX 90 %RX 9 = 5+4 retrans 237 KB-cwnd 0.50 msRTT\n"
    found = log(line)
    assert found.value("retransmits") == 9
    assert found.one("throughput").conditions["cwnd_B"] == 237 * 1024


def test_no_rate_without_time_or_connection(log):
    assert not log("nuttcp/classic.txt").all("throughput")
    assert log("nuttcp/classic.txt").unread
    found = log("nuttcp/refused.txt")
    assert found.one("failure").version == "6.1.2"
    assert not found.all("throughput")


def test_cut_run_is_partial(log):
    rows = "".join(f" 1180.0000 MB /   1.00 sec = 9898.{i}376 Mbps     0 retrans\n" for i in range(3))
    found = log(rows).one("throughput", interval=None)
    assert found.status == "partial"
    assert found.value == 1180 * MIB


def test_inconsistent_line_is_noted(log):
    line = " 1180.0000 MB /  10.00 sec = 9898.5376 Mbps 1 %TX 2 %RX 0 retrans\n"
    assert "fit together" in log(line).unread[0].why


def test_decimal_commas(log):
    line = "11801,2792 MB /  10,01 sec = 9894,3578 Mbps 11 %TX 49 %RX 301 retrans 0,18 msRTT\n"
    assert log(line).value("throughput") == 9894.3578e6 / 8
