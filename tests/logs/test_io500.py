"""IO500.

Summaries printed on GitHub: EXAScaler on Google Cloud (SC20), a Manila share (ISC24), a run of two processes (the
README), a Student Cluster (one phase invalid), an object store in 2020 (all phases invalid), and BeeGFS with the
scripts of 2019.
"""

from __future__ import annotations

import pytest

GIB = 2.0**30
EXASCALER = """\
IO500 version io500-sc20_v3
[RESULT]       ior-easy-write        6.173493 GiB/s : time 329.228 seconds
[RESULT]    mdtest-easy-write       21.002955 kIOPS : time 401.247 seconds
[RESULT]       ior-hard-write        0.328757 GiB/s : time 544.235 seconds
[RESULT]    mdtest-hard-write        9.818279 kIOPS : time 369.694 seconds
[RESULT]                 find      255.641154 kIOPS : time 46.224 seconds
[RESULT]        ior-easy-read        6.647157 GiB/s : time 305.766 seconds
[RESULT]     mdtest-easy-stat       63.395256 kIOPS : time 130.730 seconds
[RESULT]        ior-hard-read        0.902677 GiB/s : time 198.271 seconds
[RESULT]     mdtest-hard-stat       27.472745 kIOPS : time 128.768 seconds
[RESULT]   mdtest-easy-delete       11.505903 kIOPS : time 719.628 seconds
[RESULT]     mdtest-hard-read       10.385374 kIOPS : time 340.405 seconds
[RESULT]   mdtest-hard-delete        7.021386 kIOPS : time 503.496 seconds
"""
MANILA = """\
IO500 version io500-isc24_v3 (standard)
[RESULT]       ior-easy-write        0.146316 GiB/s : time 300.331 seconds
[RESULT]    mdtest-easy-write        9.456456 kIOPS : time 106.825 seconds \n\
[      ]            timestamp        0.000000 kIOPS : time 0.000 seconds
[RESULT]        ior-easy-read        0.030113 GiB/s : time 1459.005 seconds
"""
README = """\
    [RESULT]       ior-easy-write        0.186620 GiB/s  : time 0.027 seconds
    [RESULT]    mdtest-easy-write      103.300821 kIOPS : time 1.121 seconds
    [RESULT]        ior-easy-read        1.575557 GiB/s  : time 0.005 seconds
"""
CLUSTER = """\
[RESULT]       ior-easy-write        0.937651 GiB/s : time 31.616 seconds
ERROR INVALID (src/main.c:437) Runtime of phase (13.518965) is below stonewall time. This shouldn't happen!
[RESULT]    mdtest-easy-write      159.840698 kIOPS : time 13.519 seconds [INVALID]
[RESULT]        ior-easy-read        1.710102 GiB/s : time 17.336 seconds
"""
BEEGFS = """\
[RESULT] BW   phase 1            ior_easy_write                8.581 GB/s : time  58.27 seconds
[RESULT] BW   phase 2            ior_hard_write                0.237 GB/s : time 708.39 seconds
[RESULT] BW   phase 3             ior_easy_read                2.449 GB/s : time 204.18 seconds
[RESULT] IOPS phase 1         mdtest_easy_write               20.608 kiops : time 333.32 seconds
[RESULT] IOPS phase 3                      find              305.930 kiops : time  24.64 seconds
"""

S3 = """\
	IO500 version 9c0f0c6
	[RESULT-invalid]       ior-easy-write        0.015926 GiB/s : time 300.414 seconds
	[RESULT-invalid]    mdtest-easy-write        0.011581 kIOPS : time 300.392 seconds
	[RESULT-invalid]                 find        0.000000 kIOPS : time 0.000 seconds
	[RESULT-invalid]        ior-easy-read        0.085152 GiB/s : time 56.236 seconds
	; [I]  MD = (0.01158092 * 0.00565780 * 0.00000000 * 0.10921435 * 0.10763068 * 0.00302888 * 0.05228598)^0.125000
	[SCORE] Bandwidth 0.007108 GB/s : IOPS 0.000000 kiops : TOTAL 0.000000
"""


@pytest.mark.parametrize(
    ("text", "write", "read", "seconds", "files"),
    [
        (EXASCALER, 6.173493, 6.647157, 329.228, 21002.955),
        (MANILA, 0.146316, 0.030113, 300.331, 9456.456),
        (README, 0.186620, 1.575557, 0.027, 103300.821),
        (CLUSTER, 0.937651, 1.710102, 31.616, 159840.698),
        (BEEGFS, 8.581, 2.449, 58.27, 20608.0),
    ],
)
def test_phases(log, text, write, read, seconds, files):
    found = log(text)
    assert found.value("throughput", of="ior-easy-write", operation="write") == write * GIB
    assert found.value("throughput", of="ior-easy-read", operation="read") == read * GIB
    assert found.one("throughput", of="ior-easy-write").conditions["duration_s"] == seconds
    assert found.value("rate", of="mdtest-easy-write") == pytest.approx(files)
    assert not found.unread


def test_gigabytes_of_the_scripts_are_binary(log):
    """io500.sh divides IOR's MiB/s by 1024: the same number in the same place as the C program's GiB/s."""
    assert log(BEEGFS).value("throughput", of="ior-hard-write") == 0.237 * GIB


def test_invalid_phases_are_marked(log):
    assert log(CLUSTER).one("rate", of="mdtest-easy-write").conditions["valid"] is False
    assert log(CLUSTER).one("throughput", of="ior-easy-write").conditions["valid"] is True
    before = log(S3)
    assert before.value("throughput", of="ior-easy-write", valid=False) == 0.015926 * GIB
    assert before.value("rate", of="mdtest-easy-write", valid=False) == pytest.approx(11.581)
    assert before.value("throughput", of="score") == 0.007108 * GIB
    assert len(before.unread) == 1


def test_version_score_and_nothing(log):
    assert log(EXASCALER).one("throughput", of="ior-easy-read").version == "io500-sc20_v3"
    scores = log("[SCORE ] Bandwidth 0.585873 GiB/s    : IOPS 4.148649 kiops     : TOTAL 1.559032 [INVALID]\n")
    assert scores.value("throughput", of="score") == 0.585873 * GIB
    assert scores.value("rate", of="score") == pytest.approx(4148.649)
    none = log(MANILA.replace("0.146316", "0.000000"))
    assert "nothing was done" in none.unread[0].why
    assert len(log(EXASCALER).found) == 12
