"""perftest.

Excerpts printed in: OpenVisualCloud's MTL guide to RDMA (MB/sec; the head is completed), a cluster's acceptance test
(Gb/sec), a blog on RoCE (``-D``), repository notes on ``ib_write_lat`` and a sweep of sizes, a mail of 2012 (no
message rates).
"""

from __future__ import annotations

import pytest

MIB = 2.0**20

MTL = """\
                    RDMA_Write BW Test
 Dual-port       : OFF          Device         : irdma0
 Number of qps   : 1            Transport type : IB
 Connection type : RC           Using SRQ      : OFF
 TX depth        : 128
 Mtu             : 1024[B]
 Link type       : Ethernet
---------------------------------------------------------------------------------------
 local address: LID 0x01 QPN 0x0003 PSN 0xc30267 RKey 0x69540273 VAddr 0x007e4ef245e000
 GID: 00:00:00:00:00:00:00:00:00:00:255:255:192:168:99:111
---------------------------------------------------------------------------------------
 #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]
 65536      5000             1103.39            1103.38            0.017654
---------------------------------------------------------------------------------------
"""
GBITS = """\
    #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
    65536      5000             51.05              51.04              0.097356
    ---------------------------------------------------------------------------------------
"""
TIMED = """\
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
Conflicting CPU frequency values detected: 1500.000000 != 3300.016000. CPU Frequency is not max.
 65536      560845           0.00               98.02                0.186950
---------------------------------------------------------------------------------------
"""
OLD = """\
                    RDMA_Write BW Test
 Number of qps : 1
 #bytes #iterations BW peak[MB/sec] BW average[MB/sec]
Conflicting CPU frequency values detected: 3300.000000 != 1600.000000
Test integrity may be harmed !
Conflicting CPU frequency values detected: 3300.000000 != 1600.000000
Test integrity may be harmed !
Warning: measured timestamp frequency 3092.95 differs from nominal 3300 MHz
 65536 5000 937.61 937.60
------------------------------------------------------------------
"""
LATENCY = """\
 #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec]
Conflicting CPU frequency values detected: 2400.000000 != 1873.463000. CPU Frequency is not max.
 2       1000          1.76           6.12         1.79                1.80             0.06            1.88                    6.12
---------------------------------------------------------------------------------------
"""  # noqa: E501
SWEEP = """\
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
   2          5000           0.142947            0.012281            0.767588
   4          5000             0.28               0.26               8.255475
   8          5000             0.55               0.54               8.471791
   16         5000             1.16               1.16               9.025968
"""


def test_megabytes_are_binary(log):
    found = log(MTL)
    assert found.value("throughput", statistic=None) == 1103.38 * MIB
    assert found.value("throughput", statistic=None) == pytest.approx(found.value("rate") * 65536, rel=1e-4)
    assert found.value("throughput", statistic="max") == 1103.39 * MIB
    known = found.one("throughput", statistic=None).conditions
    assert (known["operation"], known["device"], known["streams"], known["mtu_B"]) == ("write", "irdma0", 1, 1024)
    assert known["block_B"] == 65536
    assert not found.unread


def test_gigabits_are_decimal(log):
    found = log("$ ib_read_bw -d mlx5_0 --report_gbits h\n" + GBITS)
    assert found.value("throughput", statistic=None) == 51.04e9 / 8
    assert found.value("throughput", statistic=None) == pytest.approx(0.097356e6 * 65536, rel=1e-3)
    assert found.one("rate").conditions["operation"] == "read"


def test_timed_runs_have_no_peak(log):
    found = log(TIMED)
    assert found.value("throughput") == 98.02e9 / 8 == pytest.approx(0.186950e6 * 65536, rel=1e-3)


def test_old_tables_without_message_rates(log):
    found = log(OLD)
    assert [r.value for r in found.all("throughput")] == [937.60 * MIB, 937.61 * MIB]
    assert not found.all("rate")


def test_latency(log):
    found = log(LATENCY)
    got = {r.conditions.get("statistic"): r.value for r in found.all("latency")}
    want = {"min": 1.76, "max": 6.12, "p50": 1.79, None: 1.80, "stddev": 0.06, "p99": 1.88, "p99.9": 6.12}
    assert got == {key: pytest.approx(value * 1e-6) for key, value in want.items()}
    assert found.all("latency")[0].conditions["block_B"] == 2


def test_a_sweep_of_sizes(log):
    found = log(SWEEP)
    assert [r.conditions["block_B"] for r in found.all("throughput", statistic=None)] == [2, 4, 8, 16]
    assert found.value("throughput", statistic=None, block_B=2) == pytest.approx(0.767588e6 * 2, rel=1e-3)
    assert not found.unread
    wrong = log(SWEEP.replace("9.025968", "7.025968"))
    assert "do not give the rate" in wrong.unread[0].why
