"""dd: forms, units, locales, conditions, failures.

The project's own outputs are of GNU coreutils 9.1 (data/dd/gnu_91*.txt) in 18 locales; venadi.txt is printed in
the Venadi document. Rates must equal bytes / seconds of the same line.
"""

from __future__ import annotations

import pytest

MIB = 2.0**20


def test_conditions_come_from_the_command(log):
    found = log("dd/venadi.txt")
    rates = found.all("throughput")
    assert [round(r.value / 1e6) for r in rates] == [3097, 4843, 116, 4157, 69, 142]
    assert [r.conditions["sync"] for r in rates] == ["none", "none", "fdatasync", "fdatasync", "dsync", "dsync"]
    assert {r.conditions["block_B"] for r in rates} == {MIB}
    assert {r.conditions["operation"] for r in rates} == {"write"}
    assert found.value("duration", sync="fdatasync", target="/home/dong/10GB") == 92.9101
    assert not found.unread


def test_gnu_91(log):
    found = log("dd/gnu_91.txt")
    write = found.one("throughput", sync="fdatasync")
    assert write.value == pytest.approx(67108864 / 0.179821)
    assert write.printed == "373 MB/s"
    read = found.one("throughput", operation="read")
    assert read.conditions["direct"] is True
    assert read.conditions["block_B"] == 65536
    assert found.one("throughput", bytes=512).value == pytest.approx(512 / 0.000202387)


def test_zero_bytes_and_failures_have_no_rate(log):
    found = log("dd/gnu_91.txt")
    assert len(found.all("throughput")) == 3
    assert "No space left" in found.all("failure")[0].printed
    assert all(r.status == "failed" and r.value != r.value for r in found.all("failure"))
    assert log("dd: failed to open '/x': Permission denied\n").one("failure").status == "failed"


def test_every_locale(log):
    found = log("dd/gnu_91_locales.txt")
    rates = found.all("throughput")
    assert len(rates) == 18
    assert all(r.value == pytest.approx(10485760 / r.conditions["duration_s"]) for r in rates)
    assert all(r.conditions["block_B"] == MIB for r in rates)  # from the translated record counts
    assert not found.unread


def test_only_the_result_counts_after_progress(log):
    assert log("dd/gnu_91_progress_cr.txt").value("throughput") == pytest.approx(1258291200 / 7.99237)
    assert log("dd/gnu_91_interrupted.txt").value("throughput") == pytest.approx(709885952 / 2.9739)
    killed = log("dd/gnu_91_killed.txt").one("throughput")
    assert killed.status == "partial"
    assert killed.value == pytest.approx(533725184 / 2)


def test_progress_on_lines_of_its_own_is_dropped(log):
    text = (
        "104857600 bytes (105 MB, 100 MiB) copied, 1 s, 105 MB/s\n"
        "209715200 bytes (210 MB, 200 MiB) copied, 2 s, 105 MB/s\n"
        "300+0 records in\n300+0 records out\n"
        "314572800 bytes (315 MB, 300 MiB) copied, 3.1 s, 101 MB/s\n"
    )
    assert log(text).one("throughput").conditions["duration_s"] == 3.1


def test_results_alone_are_runs(log):
    text = (
        "- Read: 68719476736 bytes (69 GB) copied, 25.8791 s, 2.7 GB/s\n"
        "- Write: 68719476736 bytes (69 GB) copied, 26.8676 s, 2.6 GB/s\n"
    )
    found = log(text)
    assert found.value("throughput", operation="read") == pytest.approx(2.6554e9, rel=1e-4)
    assert found.value("throughput", operation="write") == pytest.approx(2.5577e9, rel=1e-4)


@pytest.mark.parametrize(
    ("line", "rate"),
    [
        ("1048576 bytes transferred in 2.000000 secs (524288 bytes/sec)", 524288.0),
        ("1048576 bytes transferred in 2.000000 seconds (524288 bytes/sec)", 524288.0),
        ("1048576000 bytes (1049 MB, 1000 MiB) transferred 2.000s, 524 MB/s", 524288000.0),
        ("1073741824 bytes (1.0GB) copied, 0.500000 seconds, 2.0GB/s", 2147483648.0),  # busybox: 1024-based
        ("1073741824 bytes (1.0 G) copied, 0.500 s, 2.0 G/s", 2147483648.0),  # toybox
    ],
)
def test_other_dds(log, line, rate):
    found = log(line + "\n")
    assert found.value("throughput") == pytest.approx(rate)
    assert not found.unread


def test_a_rate_that_is_not_bytes_over_seconds_is_told(log):
    found = log("1000000000 bytes (1.0 GB) copied, 10 s, 300 MB/s\n")
    assert found.value("throughput") == pytest.approx(1e8)
    assert "300 MB/s" in found.unread[0].why


@pytest.mark.parametrize(
    ("size", "expected"),
    [("1M", MIB), ("1MiB", MIB), ("1MB", 1e6), ("64k", 65536.0), ("2x512", 1024.0), ("4b", 2048.0)],
)
def test_suffixes_of_the_coreutils_manual(log, size, expected):
    text = (
        f"$ dd if=/dev/zero of=x bs={size} count=1\n1+0 records in\n1+0 records out\n512 bytes copied, 1 s, 0.5 kB/s\n"
    )
    assert log(text).one("throughput").conditions["block_B"] == expected


def test_hosts_of_pdsh_are_kept_apart(log):
    text = (
        "dtn01: 1000+0 records in\ndtn02: 1000+0 records in\ndtn01: 1000+0 records out\ndtn02: 1000+0 records out\n"
        "dtn02: 1048576000 bytes (1.0 GB) copied, 2 s, 524 MB/s\n"
        "dtn01: 1048576000 bytes (1.0 GB) copied, 1 s, 1.0 GB/s\n"
    )
    found = log(text)
    assert found.value("throughput", host="dtn01") == pytest.approx(1048576000)
    assert found.value("throughput", host="dtn02") == pytest.approx(524288000)


def test_a_command_reaches_only_to_the_next_one(log):
    text = "$ dd if=/dev/zero of=x bs=1M oflag=direct\n$ ls\n1000000 bytes (1.0 MB) copied, 1 s, 1.0 MB/s\n"
    assert "direct" not in log(text).one("throughput").conditions


def test_cut_lines_give_no_rate(log):
    line = "10737418240 bytes (11 GB) copied, 92.9101 s, 116 MB/s"
    for end in range(len(line)):
        assert not log("x\n" + line[:end]).all("throughput")
