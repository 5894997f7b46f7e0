"""warp.

Analyses printed with a cluster's benchmark (0.3, several clients), SeaweedFS' notes (2020) and of a home laboratory
(1.0, ``Report:``).
"""

from __future__ import annotations

import pytest

MIB = 2.0**20
CLUSTER = """\
----------------------------------------
Operation: PUT (15000). Ran 27s. Size: 4000 bytes. Concurrency: 60. Warp Instances: 6.

Requests considered: 10659:
 * Avg: 85ms, 50%: 80ms, 90%: 127ms, 99%: 170ms, Fastest: 26ms, Slowest: 511ms, StdDev: 37ms

Throughput:
* Average: 2.68 MiB/s, 701.62 obj/s

Throughput, split into 15 x 1s:
 * Fastest: 3.2MiB/s, 837.01 obj/s (1s, starting 03:55:27 UTC)
 * 50% Median: 2.8MiB/s, 727.32 obj/s (1s, starting 03:55:33 UTC)
 * Slowest: 2.2MiB/s, 577.45 obj/s (1s, starting 03:55:38 UTC)
"""
SEAWEED = """\
Operation: PUT
* Average: 15.35 MiB/s, 3929.68 obj/s

Throughput, split into 101 x 1s:
 * Fastest: 17.1MiB/s, 4387.13 obj/s
 * 50% Median: 15.8MiB/s, 4045.38 obj/s
 * Slowest: 12.8MiB/s, 3280.82 obj/s
"""
HOME = """\
Report: DELETE. Concurrency: 64. Ran: 4m57s
 * Average: 17.67 obj/s
 * Reqs: Avg: 107.7ms, 50%: 25.0ms, 90%: 338.4ms, 99%: 730.3ms, Fastest: 1.7ms, Slowest: 2736.1ms, StdDev: 165.4ms

Throughput, split into 297 x 1s:
 * Fastest: 38.35 obj/s
 * 50% Median: 16.40 obj/s
 * Slowest: 2.47 obj/s

──────────────────────────────────

Report: GET. Concurrency: 64. Ran: 4m58s
 * Average: 79.43 MiB/s, 79.43 obj/s
 * Reqs: Avg: 229.8ms, 50%: 166.1ms, 90%: 502.8ms, 99%: 948.7ms, Fastest: 10.8ms, Slowest: 1715.8ms, StdDev: 198.3ms
 * TTFB: Avg: 73ms, Best: 1ms, 25th: 8ms, Median: 14ms, 75th: 71ms, 90th: 212ms, 99th: 702ms, Worst: 1.575s StdDev: 148ms
"""  # noqa: E501 - as it is printed


@pytest.mark.parametrize(
    ("text", "operation", "rate", "objects"),
    [
        (CLUSTER, "write", 2.68, 701.62),
        (SEAWEED, "write", 15.35, 3929.68),
        (HOME, "read", 79.43, 79.43),
    ],
)
def test_warp(log, text, operation, rate, objects):
    found = log(text)
    assert found.value("throughput", operation=operation, statistic=None) == pytest.approx(rate * MIB)
    assert found.value("rate", operation=operation, statistic=None) == objects
    assert not found.unread


def test_warp_objects_times_their_size_are_the_rate(log):
    """4000 bytes x 701.62 a second are 2.676 MiB/s, printed 2.68; 4 KiB x 3929.68 are 15.350."""
    found = log(CLUSTER)
    size = found.one("throughput", statistic=None).conditions["object_B"]
    assert size * found.value("rate", statistic=None) / MIB == pytest.approx(2.68, abs=0.005)
    seaweed = log(SEAWEED).value("throughput", statistic=None)
    assert seaweed / MIB == pytest.approx(4096 * 3929.68 / MIB, abs=0.005)


def test_warp_parts_and_latencies(log):
    found = log(CLUSTER)
    assert found.value("throughput", statistic="max") == pytest.approx(3.2 * MIB)
    assert found.value("throughput", statistic="min") == pytest.approx(2.2 * MIB)
    known = found.one("latency", statistic="p99").conditions
    assert (known["streams"], known["duration_s"], known["of"]) == (60, 27.0, "request")
    assert found.value("latency", statistic=None) == pytest.approx(85e-3)
    home = log(HOME)
    assert home.value("latency", of="first byte", statistic="max") == 1.575
    assert home.value("latency", of="first byte", statistic="p25") == pytest.approx(8e-3)
    assert home.value("latency", operation="delete", statistic="max") == pytest.approx(2.7361)
    assert home.one("rate", operation="delete", statistic="median").conditions["duration_s"] == 297
