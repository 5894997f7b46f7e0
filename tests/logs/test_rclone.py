"""rclone. Fixtures: rclone 1.60.1 copying local files; older words after its changelog."""

from __future__ import annotations

import pytest

MIB, GIB = 2.0**20, 2.0**30


def test_new_words(log):
    found = log("rclone/P.txt").one("throughput", interval=None)
    assert found.value == 40.054 * MIB
    assert found.conditions["target_Bps"] == 40 * MIB
    assert found.conditions["duration_s"] == 2.2
    assert found.conditions["bytes"] == 85.832 * MIB


@pytest.mark.parametrize(
    "line",
    [
        "Transferred:   \t  180M / 180 MBytes, 100%, 30.100 MBytes/s, ETA 0s",
        "Transferred:   \t  180Mi / 180 MiByte, 100%, 30.100 MiByte/s, ETA 0s",
        "Transferred:   \t  180 MiB / 180 MiB, 100%, 30.100 MiB/s, ETA 0s",
        "2026/01/01 00:00:00 INFO  :  180 MiB / 180 MiB, 100%, 30.100 MiB/s, ETA 0s",
    ],
)
def test_every_word_is_1024_based(log, line):
    found = log(line + "\n").one("throughput")
    assert found.value == 30.1 * MIB
    assert found.conditions["bytes"] == 180 * MIB


def test_oldest_form_and_bits(log):
    text = "Transferred:   1.500 GBytes (51.2 MBytes/s)\nElapsed time:       30s\n"
    found = log(text).one("throughput")
    assert found.value == 51.2 * MIB
    assert found.conditions["bytes"] == 1.5 * GIB
    assert found.value * 30 == pytest.approx(1.5 * GIB)
    bits = "Transferred:   \t  180 MiB / 180 MiB, 100%, 240.8 Mibit/s, ETA 0s\n"
    assert log(bits).value("throughput") == pytest.approx(30.1 * MIB)


def test_json_log(log):
    found = log("rclone/json.txt")
    assert found.value("throughput", interval=None) == pytest.approx(63025836.16)
    assert found.one("duration").value == pytest.approx(1.537296607)


def test_last_block_is_the_headline(log):
    found = log("rclone/one_line.txt")
    assert found.value("throughput", interval=None) == 30.142 * MIB
    assert found.all("throughput", interval=True)


def test_stopped_run_is_partial(log):
    text = "Transferred:   \t  60.145 MiB / 180 MiB, 33%, 20.1 MiB/s, ETA 6s\nElapsed time:   3.0s\n"
    assert log(text).one("throughput").status == "partial"


def test_no_speed(log):
    assert not log("rclone/v.txt").all("throughput")  # 0 B/s printed, done in less than a second
    text = "Transferred:   \t  100 MiB / 100 MiB, 100%, 0 B/s, ETA -\nElapsed time:   2.0s\n"
    found = log(text).one("throughput")
    assert found.value == 50 * MIB
    assert found.conditions["derived"] == "bytes / elapsed time"


def test_nothing_and_failure(log):
    assert not log("rclone/nothing.txt").found
    missing = log("rclone/missing.txt")
    assert missing.one("failure").printed == "Failed to copy: directory not found"
    assert not missing.all("throughput")
