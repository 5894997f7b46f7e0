"""xrdcp.

Lines printed in notes on GitHub: a copy of CERN open data of 16.11 GiB, 100 MB to /dev/null in Korea, 26.51 kB with two
drawings joined (Florida, 2023), 420 B of EOS's tests, and copies that failed (OSG's guide; lxplus).
"""

from __future__ import annotations

import pytest

BAR = "=" * 50
MIB = 2.0**20


@pytest.mark.parametrize(
    ("line", "rate", "size"),
    [
        (f"[16.11GB/16.11GB][100%][{BAR}][25.46MB/s]\n", 25.46 * MIB, 16.11 * 2**30),
        (f"[100MB/100MB][100%][{BAR}][100MB/s]  \n", 100 * MIB, 100 * MIB),
        (f"[26.51kB/26.51kB][100%][{BAR}][26.5[26.51kB/26.51kB][100%][{BAR}][26.51kB/s]\n", 26.51 * 1024, 26.51 * 1024),
        (f"[420B/420B][100%][{BAR}][420B/s]  \n", 420, 420),
    ],
)  # fmt: skip
def test_rates_are_binary(log, line, rate, size):
    found = log(line).one("throughput")
    assert (found.value, found.conditions["bytes"]) == (pytest.approx(rate), pytest.approx(size))
    assert found.status == "complete"
    assert found.conditions["resolution_s"] == 1


def test_conditions(log):
    command = "$ xrdcp -S 4 root://eospublic.cern.ch//eos/a.root /magnetic/\n"
    known = log(f"{command}[16.11GB/16.11GB][100%][{BAR}][25.46MB/s]\n").one("throughput").conditions
    assert known["duration_s"] == pytest.approx(16.11 * 1024 / 25.46)  # 648 s
    assert (known["streams"], known["source"]) == (4, "root://eospublic.cern.ch//eos/a.root")


def test_four_digits(log):
    assert log(f"[1.024e+04GB/1.024e+04GB][100%][{BAR}][1.5GB/s]\n").one("throughput").conditions["bytes"] == 10 * 2**40


def test_redraws_and_cut_copies(log):
    drawn = "\r".join(f"[{n}GB/16.11GB][{n * 6}%][===>{' ' * 46}][{20 + n}.5MB/s]" for n in (1, 2, 3))
    found = log(drawn + "\n").one("throughput")
    assert (found.value, found.status) == (23.5 * MIB, "partial")


@pytest.mark.parametrize(
    "error",
    [
        "Run: [FATAL] Auth failed",
        "Run: [ERROR] Server responded with an error: [3011] No servers are available (source)",
    ],
)
def test_failures_have_no_rate(log, error):
    found = log(f"        [0B/0B][100%][{BAR}][0B/s]\n        {error}\n")
    assert found.one("failure").printed == error
    assert not found.all("throughput")


def test_empty_files(log):
    found = log(f"$ xrdcp -f - root://localhost//remotefile\n[0B/0B][100%][{BAR}][0B/s]\n$ ls\n")
    assert not found.found
    assert "no bytes" in found.unread[0].why
