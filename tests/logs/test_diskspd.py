"""DiskSpd 2.0.18 to 2.2.

Results printed on GitHub: a guide (8 KiB reads, 180 s), a Windows container (mixed, 4 KiB), a desktop's file (2.1, 64
KiB), a drive behind an NVMe cache (2.2, ``KiB``); of each the summary lines.
"""

from __future__ import annotations

import pytest

MIB = 2.0**20
HEAD = """\
thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  | LatStdDev |  file
-----------------------------------------------------------------------------------------------------
"""
GUIDE = (
    """\
Results for timespan 1:
*******************************************************************************

actual test time:\t180.01s
thread count:\t\t3
proc count:\t\t2

CPU |  Usage |  User  |  Kernel |  Idle
-------------------------------------------
   0|   8.53%|   0.72%|    7.81%|  91.47%
-------------------------------------------
avg.|   8.44%|   0.70%|    7.74%|  91.56%
Total IO
"""
    + HEAD
    + """\
     0 |       653434880 |        79765 |       3.46 |     443.12 |   72.773 |   787.590 | sqldata.dat (5GiB)
-----------------------------------------------------------------------------------------------------
total:        2245476352 |       274106 |      11.90 |    1522.76 |   63.514 |   734.032
"""
)
MODERN = (
    """\
Input parameters:

                performing mix test (read/write ratio: 60/40)
                block size: 4KiB
                number of outstanding I/O operations per thread: 32
                threads per file: 4

System information:

        computer name: Nate-desktop
        start time: 2024/09/09 02:02:42 UTC

Results for timespan 1:
*******************************************************************************

actual test time:       30.01s
thread count:           4


Total IO
"""
    + HEAD
    + """\
total:       51872051200 |     12664075 |    1648.35 |  421977.26 |    0.066 |     0.086
"""
)
CHINESE = (
    """\
actual test time:       60.01s
thread count:           4

Total IO
"""
    + HEAD
    + """\
     0 |      1582923776 |       386456 |      25.16 |    6440.19 |    1.162 |     2.720 | c:\\testfile.dat (1GiB)
-----------------------------------------------------------------------------------------------------
total:        6520369152 |      1591887 |     103.63 |   26528.41 |    1.142 |     2.753
"""
)
SMALL = (
    """\
actual test time:       20.01s
thread count:           4

Total IO
"""
    + HEAD
    + """\
total:         661135360 |        80705 |      31.51 |    4033.18 |    1.981 |     7.538
"""
)


@pytest.mark.parametrize(
    ("text", "size", "seconds", "rate", "iops", "latency"),
    [
        (GUIDE, 2245476352, 180.01, 11.90, 1522.76, 63.514),
        (MODERN, 51872051200, 30.01, 1648.35, 421977.26, 0.066),
        (CHINESE, 6520369152, 60.01, 103.63, 26528.41, 1.142),
        (SMALL, 661135360, 20.01, 31.51, 4033.18, 1.981),
    ],
)
def test_totals(log, text, size, seconds, rate, iops, latency):
    found = log(text)
    assert found.value("throughput") == pytest.approx(rate * MIB) == pytest.approx(size / seconds, rel=1e-3)
    assert found.value("iops") == iops
    assert found.value("latency") == pytest.approx(latency * 1e-3)
    assert found.one("throughput").conditions["duration_s"] == seconds
    assert not found.unread


def test_settings_parts_and_cores(log):
    known = log(MODERN).one("throughput").conditions
    assert (known["block_B"], known["depth"], known["threads"], known["host"]) == (4096, 32, 4, "Nate-desktop")
    assert log(GUIDE).value("cpu_share", state="busy") == pytest.approx(0.0844)
    parts = (
        MODERN
        + "\nRead IO\n"
        + HEAD
        + "total:       31123230720 |      7598445 |     989.01 |  253186.36 |    0.066 |  0.086\n"
    )
    assert [r.conditions["operation"] for r in log(parts).all("iops")] == ["all", "read"]
    percentiles = log(
        parts + "\n  %-ile |  Read (ms) | Write (ms) | Total (ms)\n   99th |      0.231 |        N/A |      0.231\n"
    )
    assert percentiles.value("latency", statistic="p99", operation="read") == pytest.approx(0.231e-3)
    assert not percentiles.all("latency", statistic="p99", operation="write")


def test_a_rate_that_does_not_agree_is_noted(log):
    assert "give 11.896 MiB/s" in log(GUIDE.replace("11.90", "12.90")).unread[0].why
