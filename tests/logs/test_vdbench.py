"""vdbench 5.03 and 5.04.

Rows printed on GitHub: a trial run (``-t``, 2019), ``Totals.html`` of 2025, a storage laboratory's post-processing
(2019, sequential reads), a benchmark's script (2016; a row of one interval).
"""

from __future__ import annotations

import pytest

MIB = 2.0**20
HEAD = """\
Jan 24, 2019    interval        i/o   MB/sec   bytes   read     resp     read    write     read    write     resp  queue  cpu%  cpu%
                               rate  1024**2     i/o    pct     time     resp     resp      max      max   stddev  depth sys+u   sys
"""  # noqa: E501 - as it is printed
TRIAL = (
    "16:24:29.004 Starting RD=SD_format; I/O rate: Uncontrolled MAX; elapsed=(none); For loops: threads=2 iorate=max\n"
    + HEAD
    + """\
16:24:30.156           1      320.0    40.00  131072   0.00    0.739    0.000    0.739     0.00    32.50    2.466    0.2  36.5  25.0
16:24:30.181     avg_2-1        0.0     0.00       0   0.00    0.000    0.000    0.000     0.00     0.00    0.000    0.0   NaN   NaN
"""  # noqa: E501 - as it is printed
)
TOTALS = (
    "15:41:39.002 Starting RD=rd1; I/O rate: 100; elapsed=5; For loops: None\n"
    + HEAD
    + "15:41:44.013     avg_2-5      102.8     0.10    1024  52.31    0.018    0.013    0.024"
    "     0.10     0.14    0.017"
    "   0.0   0.7   0.1\n"
)
READS = (
    HEAD + "09:50:56.010     avg_2-8     3832.1  3832.07 1048576 100.00    1.043    1.043"
    "    0.000     2.47     0.00    0.114"
    "    4.0   3.1   1.9\n"
)
WRITES = (
    HEAD + "13:38:41.062       331   13940.00  3485.00  262144   0.00   36.022    0.000   36.022"
    "   61.392    3.935 502.3   NaN\n"
)


@pytest.mark.parametrize(
    ("text", "rate", "iops", "size", "response", "operation"),
    [
        (TOTALS, 0.10, 102.8, 1024, 0.018, "all"),
        (READS, 3832.07, 3832.1, 1048576, 1.043, "read"),
        (WRITES.replace("       331 ", "  avg_2-331 "), 3485.0, 13940.0, 262144, 36.022, "write"),
    ],
)
def test_megabytes_are_what_the_heading_says(log, text, rate, iops, size, response, operation):
    found = log(text)
    assert found.value("throughput") == pytest.approx(rate * MIB)
    assert rate * MIB == pytest.approx(iops * size, rel=2e-2, abs=6e3)
    assert found.value("iops") == iops
    assert found.value("latency") == pytest.approx(response * 1e-3)
    assert found.one("throughput").conditions["operation"] == operation
    assert not found.unread


def test_runs_shares_and_other_units(log):
    known = log(TOTALS).one("throughput").conditions
    assert (known["of"], known["read_share"]) == ("rd1", pytest.approx(0.5231))
    assert log(READS.replace("1024**2", "1000**2").replace("3832.07", "4018.21")).value("throughput") == 4018.21e6
    assert "no requests" in log(TRIAL).unread[0].why


def test_intervals_are_rows_below_their_heading(log):
    found = log(WRITES)
    assert found.value("throughput", interval=True, report=331, operation="write") == 3485 * MIB
    assert found.value("iops", interval=True) == 13940
    assert found.value("latency", interval=True) == pytest.approx(36.022e-3)
    both = log(TRIAL.replace("avg_2-1        0.0     0.00       0", "avg_1-1      320.0    40.00  131072"))
    assert [(r.value, r.conditions.get("interval")) for r in both.all("iops")] == [(320.0, True), (320.0, None)]
    row = WRITES.splitlines()[-1] + "\n"
    assert not log(row).found  # what is no row of vdbench may look like one
    assert not log(HEAD + "text\n" * 30 + row).found
    assert not log(WRITES.replace("       331 ", "  avg_2-331 ") + row).all("iops", interval=True)
