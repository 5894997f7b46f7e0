"""aws s3, s5cmd and warp.

aws-cli: progress lines printed in CI logs, issues (1.16, ``~``) and a pull request of MinIO (redraws joined); s5cmd:
issue 680 (its three examples); warp: analyses printed with a cluster's benchmark (0.3, several clients), SeaweedFS'
notes (2020) and of a home laboratory (1.0, ``Report:``).
"""

from __future__ import annotations

import pytest

KIB, MIB, GIB = 2.0**10, 2.0**20, 2.0**30
SMALL = """\
Completed 3.6 MiB/3.6 MiB (858.2 KiB/s) with 1 file(s) remaining
upload: ..\\README.md to s3://your-unique-bucket-name/README.md
"""
SYNC = """\
$ aws s3 sync /tmp/frontend/ s3://dev-frontend/ --region us-west-2
Completed 517 Bytes/3.3 MiB (3.2 KiB/s) with 15 file(s) remaining
upload: ../../../tmp/frontend/asset-manifest.json to s3://dev-frontend/asset-manifest.json
Completed 517 Bytes/3.3 MiB (3.2 KiB/s) with 14 file(s) remaining
Completed 4.9 KiB/3.3 MiB (16.0 KiB/s) with 14 file(s) remaining
upload: ../../../tmp/frontend/static/js/453.chunk.js to s3://dev-frontend/static/js/453.chunk.js
"""
HUGE = "Completed 30.4 GiB/78.0 GiB (28.2 MiB/s) with 1 file(s) remaining\n"
LISTING = "Completed 6.7 GiB/~6.9 GiB (3.3 MiB/s) with ~1005 file(s) remaining (calculating...)\n"
JOINED = (
    "Completed 76.2 MiB/104.2 MiB (30.9 MiB/s) with 5 file(s) remainingCompleted 76.4 MiB/104.2 MiB (30.6 MiB/s) with "
    "5 file(s) remainingCompleted 80.4 MiB/104.2 MiB (30.5 MiB/s) with 5 file(s) remaining\n"
)


@pytest.mark.parametrize(
    ("text", "rate", "moved", "status"),
    [
        (SMALL, 858.2 * KIB, 3.6 * MIB, "complete"),
        (SYNC, 16.0 * KIB, 4.9 * KIB, "partial"),
        (HUGE, 28.2 * MIB, 30.4 * GIB, "partial"),
        (LISTING, 3.3 * MIB, 6.7 * GIB, "partial"),
        (JOINED, 30.5 * MIB, 80.4 * MIB, "partial"),
    ],
)
def test_aws(log, text, rate, moved, status):
    found = log(text).one("throughput")
    assert found.value == pytest.approx(rate)
    assert found.status == status
    assert found.conditions["bytes"] == pytest.approx(moved)
    assert found.conditions["duration_s"] == pytest.approx(moved / rate)
    assert not log(text).unread


def test_aws_directions_redraws_and_failures(log):
    known = log(SYNC).one("throughput").conditions
    assert (known["direction"], known["files"]) == ("send", 2)
    redrawn = HUGE.replace("30.4", "29.1").strip() + "\r" + HUGE.replace("30.4", "78.0")
    assert log(redrawn).one("throughput").status == "complete"
    lost = log("upload failed: ./a.iso to s3://b/a.iso An error occurred (AccessDenied) when calling PutObject\n")
    assert "AccessDenied" in lost.one("failure").printed
    assert [r.status for r in log(SMALL + HUGE).all("throughput")] == ["partial"]  # one run that goes on
    assert len(log(SMALL + "$ aws s3 cp a s3://b\n" + HUGE).all("throughput")) == 2


BAR = "━" * 37 + "─" * 35
S5CMD = (
    f"50.00%  {BAR}  11.02 GB / 22.04 GB (8.78 MB/s) 20m55s (32/32)\n",
    f"50.00%  {BAR}  387.71 MB / 775.40 MB (1.13 MB/s) 5m43s (3/3)\n",
    f"50.00%  {BAR}  164.76 MB / 329.51 MB (740.28 kB/s) 3m43s (1/1)\n",
)


@pytest.mark.parametrize(
    ("text", "rate", "moved", "files", "seconds"),
    [
        (S5CMD[0], 8.78e6, 11.02e9, 32, 1255),
        (S5CMD[1], 1.13e6, 387.71e6, 3, 343),
        (S5CMD[2], 740.28e3, 164.76e6, 1, 223),
    ],
)
def test_s5cmd(log, text, rate, moved, files, seconds):
    found = log(text).one("throughput")
    assert found.value == rate == pytest.approx(moved / seconds, rel=5e-3)
    assert (found.conditions["bytes"], found.conditions["files"]) == (moved, files)
    assert found.status == "complete"  # the total counts twice: issue 680
    half = text.replace("(32/32)", "(31/32)").replace("(3/3)", "(2/3)").replace("(1/1)", "(0/1)")
    assert log(half).one("throughput").status == "partial"
    assert not log(text).unread


def test_s5cmd_redraws_and_failures(log):
    bar = f"$ s5cmd cp --show-progress . s3://b/\n10.00% {BAR} 1.00 MB / 10.00 MB (1.00 MB/s) 1s (0/1)\r" + S5CMD[2]
    assert log(bar).value("throughput") == 740.28e3
    lost = log('ERROR "cp s3://b/x x": NoSuchKey: The specified key does not exist. status code: 404\n')
    assert "NoSuchKey" in lost.one("failure").printed


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
