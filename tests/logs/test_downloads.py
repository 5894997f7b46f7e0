"""curl and wget.

curl: rows printed in build logs and guides on GitHub (rvm 2018, nodebrew, a course's ``make handin``, bazel 2025) and
an own run of 7.88. wget: rows printed in two notebooks (2020, 2022) and own runs of 1.21.3.
"""

from __future__ import annotations

import pytest

KIB, MIB = 2.0**10, 2.0**20
HEAD = (
    "  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current\n"
    "                                 Dload  Upload   Total   Spent    Left  Speed\n"
)
NONE = "  0     0    0     0    0     0      0      0 --:--:-- --:--:-- --:--:--     0\n"


@pytest.mark.parametrize(
    ("row", "rate", "size"),
    [
        ("100 13.3M  100 13.3M    0     0   866k      0  0:00:15  0:00:15 --:--:--  823k\n", 866 * KIB, 13.3 * MIB),
        ("100 24634  100 24634    0     0  14753      0  0:00:01  0:00:01 --:--:--     0\n", 14753, 24634),
        ("100 5828k  100 5828k    0     0  20.8M      0 --:--:-- --:--:-- --:--:-- 20.8M\n", 20.8 * MIB, 5828 * KIB),
        ("100 64.0M    0 64.0M    0     0  2194M      0 --:--:-- --:--:-- --:--:-- 2206M\n", 2194 * MIB, 64 * MIB),
    ],
)
def test_curl_means(log, row, rate, size):
    found = log(HEAD + NONE + row).one("throughput")
    assert found.value == pytest.approx(rate)
    assert found.conditions["bytes"] == pytest.approx(size)
    assert (found.status, found.conditions["direction"]) == ("complete", "receive")
    if "duration_s" in found.conditions and size > 1e6:
        assert abs(size / rate - found.conditions["duration_s"]) < 1


def test_curl_uploads(log):
    found = log(HEAD + "100 79258  100   239  100 79019    853   275k --:--:-- --:--:-- --:--:--  276k\n$ ls\n")
    assert found.value("throughput", direction="send") == 275 * KIB
    assert found.value("throughput", direction="receive") == 853


def test_only_the_last_row_counts(log):
    rows = (
        NONE + "100   211    0   211    0     0   1029      0 --:--:-- --:--:-- --:--:--  1024\n"
        "100   547    0   547    0     0    245      0 --:--:--  0:00:02 --:--:--   245\n"
    )
    assert log(HEAD + rows).value("throughput") == 245
    assert log(HEAD + rows.replace("\n", "\r") + "\n").value("throughput") == 245
    cut = log(HEAD + " 40 13.3M   40 5.32M    0     0   866k      0  0:00:15  0:00:06  0:00:09  823k\n")
    assert cut.one("throughput").status == "partial"
    assert not log(HEAD + NONE).found


def test_two_transfers_of_curl(log):
    one = HEAD + "100 24634  100 24634    0     0  14753      0  0:00:01  0:00:01 --:--:--     0\n"
    assert [r.line for r in log(one + one).all("throughput")] == [3, 6]


@pytest.mark.parametrize(
    ("line", "rate", "size"),
    [
        ("2020-03-09 07:40:42 (304 KB/s) - ‘titanic.zip’ saved [34877/34877]\n", 304 * KIB, 34877),
        ("    2022-09-26 00:01:01 (4.27 MB/s) - ‘data-week-3.csv’ saved [977501/977501]\n", 4.27 * MIB, 977501),
        ("2026-11-22 01:02:45 (767 MB/s) - ‘/dev/null’ saved [67108864/67108864]\n", 767 * MIB, 67108864),
        ("2026-11-22 01:02:45 (9.40 Gb/s) - written to stdout [67108864/67108864]\n", 9.40e9 / 8, 67108864),
    ],
)
def test_wget(log, line, rate, size):
    found = log(line).one("throughput")
    assert (found.value, found.conditions["bytes"], found.status) == (pytest.approx(rate), size, "complete")


def test_wget_time_agrees_with_its_bar(log):
    """The bar of the own run said 0.08 s, that of the notebook 0.2 s."""
    found = log("2026-11-22 01:02:45 (767 MB/s) - ‘/dev/null’ saved [67108864/67108864]\n").one("throughput")
    assert found.conditions["duration_s"] == pytest.approx(0.08, abs=0.005)
    assert found.conditions["file"] == "/dev/null"
    found = log("2022-09-26 00:01:01 (4.27 MB/s) - ‘data-week-3.csv’ saved [977501/977501]\n").one("throughput")
    assert found.conditions["duration_s"] == pytest.approx(0.2, abs=0.05)


def test_wget_that_was_cut_off(log):
    found = log("2020-03-09 07:40:42 (304 KB/s) - ‘a (1).zip’ saved [30000/34877]\n").one("throughput")
    assert (found.status, found.conditions["file"]) == ("partial", "a (1).zip")
    broken = log("2020-03-09 07:40:42 (304 KB/s) - Connection closed at byte 20000. Retrying.\n")
    assert broken.one("failure").conditions["bytes"] == 20000
    assert not log("2020-03-09 07:40:42 (0.00 B/s) - ‘a’ saved [0/0]\n").found
