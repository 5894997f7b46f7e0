"""nfsiostat.

Reports printed on GitHub: a NetApp mount (nfs-utils 1.2, values one below the other), an agent of Checkmk (1.3, a
backlog of writes), nfs-utils' own change for errors (2.4), two mounts of a cluster (2.5).
"""

from __future__ import annotations

import pytest

NETAPP = """\
$ nfsiostat

netapp01-nfs.domain.com:/foo mounted on /foo:

   op/s         rpc bklog
 262.16
           0.00
read:
  ops/s            kB/s           kB/op         retrans         avg RTT (ms)    avg exe (ms)
                 11.557
        356.081
         30.812
       0 (0.0%)
          5.167
          5.239
write:
  ops/s            kB/s           kB/op         retrans         avg RTT (ms)    avg exe (ms)
                  3.620
        105.680
         29.190
       0 (0.0%)
         16.032
        331.458
"""
CHECKMK = """\
y.y.y.y:/mount/name mounted on /var/log/da:

op/s         rpc bklog
2579.20            0.00
read:             ops/s            kB/s           kB/op         retrans         avg RTT (ms)    avg exe (ms)
                  0.000           0.000           0.000        0 (0.0%)           0.000           0.000
write:            ops/s            kB/s           kB/op         retrans         avg RTT (ms)    avg exe (ms)
               2578.200        165768.087       64.296        0 (0.0%)          21.394         13980.817
"""
HEADS = "ops/s            kB/s           kB/op         retrans    avg RTT (ms)    avg exe (ms)  avg queue (ms)"
ERRORS = f"""\
read:              {HEADS}          errors
                   0.000           0.106         512.316        0 (0.0%)          17.500          17.500           0.000        0 (0.0%)
write:             {HEADS}          errors
                   0.001           0.476         512.398        0 (0.0%)           1.667           5.778           3.889       1 (11.1%)
"""  # noqa: E501 - as it is printed
CLUSTER = f"""\
nap:/home/anajafizadeh mounted on /home/anajafizadeh:

           ops/s       rpc bklog
          73.187           0.000

read:              {HEADS}          errors
                   0.000           0.000           9.096        0 (0.0%)           2.158           2.225           0.042        0 (0.0%)
write:             {HEADS}          errors
                   0.000           0.000          11.367        0 (0.0%)           0.342           0.421           0.061        0 (0.0%)

nap:/workloads/sunyibm/ibm2 mounted on /var/lib/kubelet-nfs:

           ops/s       rpc bklog
          81.835           0.000
"""  # noqa: E501 - as it is printed


@pytest.mark.parametrize(
    ("text", "operation", "iops", "rate", "rtt", "execution"),
    [
        (NETAPP, "read", 11.557, 356.081, 5.167, 5.239),
        (NETAPP, "write", 3.620, 105.680, 16.032, 331.458),
        (CHECKMK, "write", 2578.2, 165768.087, 21.394, 13980.817),
        (ERRORS, "write", 0.001, 0.476, 1.667, 5.778),
        (CLUSTER, "read", 0.0, 0.0, 2.158, 2.225),
    ],
)
def test_kilobytes_are_binary(log, text, operation, iops, rate, rtt, execution):
    found = log(text)
    assert found.value("iops", operation=operation) == iops
    assert found.value("throughput", operation=operation) == pytest.approx(rate * 1024)
    assert found.value("latency", operation=operation, of="rtt") == pytest.approx(rtt * 1e-3)
    assert found.value("latency", operation=operation, of="execution") == pytest.approx(execution * 1e-3)
    assert not found.unread


@pytest.mark.parametrize(("text", "operation"), [(NETAPP, "read"), (NETAPP, "write"), (CHECKMK, "write")])
def test_operations_times_their_size_are_the_rate(log, text, operation):
    rate = log(text).one("throughput", operation=operation)
    assert rate.conditions["block_B"] * log(text).value("iops", operation=operation) == pytest.approx(
        rate.value, rel=2e-4
    )


def test_mounts_reports_and_the_rest(log):
    known = log(NETAPP).one("throughput", operation="read").conditions
    assert (known["source"], known["target"], known["report"]) == ("netapp01-nfs.domain.com:/foo", "/foo", 1)
    assert [r.value for r in log(CLUSTER).all("iops", operation="all")] == [73.187, 81.835]
    assert log(NETAPP).value("queue_depth") == 0
    assert log(ERRORS).value("latency", operation="write", of="queue") == pytest.approx(3.889e-3)
    assert log(ERRORS).value("count", operation="write", of="rpc errors") == 1
    twice = log(CHECKMK * 2).all("throughput", operation="write")
    assert [r.conditions["report"] for r in twice] == [1, 2]
    assert not log(CHECKMK).all("latency", operation="read")
