"""rsync. Fixtures: rsync 3.2 run locally, and the UCI document."""

from __future__ import annotations

import pytest

MIB = 2.0**20


def test_closing_rate_is_of_the_wire(log):
    found = log("rsync/uci.txt")
    first, second = found.all("throughput", wire=True)
    assert first.value == 40423950.30
    assert second.conditions["speedup"] == 104.03
    data = found.all("throughput", derived="total size / time")  # only where nothing was skipped
    assert len(data) == 1
    # the clock is whole seconds + 0.5; bash measured 86m47.555s
    assert data[0].conditions["duration_s"] == pytest.approx(86 * 60 + 47.555, abs=0.5)
    assert data[0].value == pytest.approx(210396648463 / 5207.5)


def test_digit_groups_of_other_locales(log):
    for sent, rate in (("210.494.675.566", "40.423.950,30"), ("210494675566", "40423950.30")):
        text = f"sent {sent} bytes  received 13 bytes  {rate} bytes/sec\ntotal size is 210396648463  speedup is 1.00\n"
        assert log(text).value("throughput", wire=True) == 40423950.30


def test_human_readable_forms(log):
    """The same tree: -h is powers of 1000 (90.02M), -hh of 1024 (85.85M)."""
    thousand = log("rsync/h.txt").one("throughput", wire=True)
    binary = log("rsync/hh.txt").one("throughput", wire=True)
    assert thousand.conditions["file_B"] == pytest.approx(90001000, rel=1e-4)
    assert binary.conditions["file_B"] == pytest.approx(90001000, rel=1e-4)
    bare = log("sent 85.85M bytes  received 110 bytes  171.71M bytes/sec\ntotal size is 85.83M  speedup is 1.00\n")
    assert "-hh" in bare.unread[0].why


def test_progress_rate_is_1024_based(log):
    """progress2: 90,001,000 B; the last drawing of the line is the headline."""
    found = log("rsync/progress2.txt").one("throughput", interval=None)
    assert found.value == 721.01 * MIB
    assert found.conditions["bytes"] == 90001000


def test_files_of_P_are_parts(log):
    found = log("rsync/P.txt")
    assert len(found.all("throughput", interval=True)) == 3
    assert not found.all("throughput", interval=None)


def test_statistics(log):
    known = log("rsync/stats.txt").one("throughput", wire=True).conditions
    assert (known["files"], known["literal_B"], known["files_seen"]) == (3, 90001000, 5)


def test_nothing_to_do_has_no_data_rate(log):
    found = log("rsync/again.txt")
    assert found.one("throughput").conditions["wire"] is True


def test_failures(log):
    found = log("rsync/missing.txt")
    assert found.one("failure").status == "failed"
    assert not found.all("throughput")
    assert log("rsync/interrupted.txt").one("throughput", interval=None).status == "partial"
    vanished = (
        "sent 1,000,000 bytes  received 34 bytes  400,013.60 bytes/sec\ntotal size is 999,000  speedup is 1.00\n"
        "rsync warning: some files vanished before they could be transferred (code 24) at main.c(1) [sender=3.2]\n"
    )
    assert {r.status for r in log(vanished).all("throughput")} == {"partial"}


def test_dry_run(log):
    text = "sent 90 bytes  received 20 bytes  220.00 bytes/sec\ntotal size is 90,001,000  speedup is 8.00 (DRY RUN)\n"
    assert not log(text).all("throughput")


def test_version_2(log):
    text = "wrote 5243 bytes  read 36 bytes  10558.00 bytes/sec\ntotal size is 5187  speedup is 0.98\n"
    assert log(text).value("throughput", wire=True) == 10558
