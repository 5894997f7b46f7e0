"""ascp. Fixture: the UCI document."""

from __future__ import annotations

import pytest

KIB = 2.0**10


def test_kilobytes_are_binary_and_kilobits_decimal(log):
    found = log("ascp/uci.txt")
    third = found.one("throughput", duration_s=3408.0)
    assert third.value == 437191e3 / 8
    assert third.conditions["bytes"] == 181912686 * KIB
    assert third.conditions["bytes"] / 3408 == pytest.approx(third.value, rel=5e-4)  # only 1024 and 1000 fit
    assert third.conditions["host"] == "compute-1-13"
    assert third.conditions["target_Bps"] == 125e6


def test_rate_that_is_missing_is_computed(log):
    first = log("ascp/uci.txt").one("throughput", duration_s=6388.0)
    assert first.value == 242449494 * KIB / 6388
    assert first.status == "complete"


def test_progress_is_never_the_headline(log):
    found = log("ascp/uci.txt")
    assert {r.value for r in found.all("throughput", interval=True)} == {138e6 / 8, 438e6 / 8}
    assert 138e6 / 8 not in {r.value for r in found.all("throughput", interval=None)}


def test_zero_seconds(log):
    text = "Completed: 236K bytes transferred in 0 seconds\n (3548K bits/sec), in 1 file.\n"
    assert log(text).value("throughput") == 3548e3 / 8
    assert not log("Completed: 236K bytes transferred in 0 seconds\nbye\n").all("throughput")


def test_nothing_transferred(log):
    text = "Completed: 0K bytes transferred in 1 seconds\n (0K bits/sec), in 0 files, 1 file skipped.\n"
    found = log(text)
    assert not found.found
    assert found.unread


def test_partial_completion(log):
    text = (
        "Partial Completion: 19711732K bytes transferred in 3695 seconds\n"
        "(43691K bits/sec), in 6 files, 4 directories; 3 files failed.\n"
    )
    found = log(text)
    assert found.one("throughput").status == "partial"
    assert found.one("throughput").conditions["files_failed"] == 3
    assert found.one("failure")


def test_failure(log):
    assert log("ascp: failed to authenticate, exiting.\n").one("failure").status == "failed"


def test_rate_that_does_not_fit(log):
    text = "Completed: 181912686K bytes transferred in 3408 seconds\n (999191K bits/sec), in 1 file.\n"
    assert "printed" in log(text).unread[0].why
