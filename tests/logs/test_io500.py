"""IO500.

Summaries printed on GitHub: EXAScaler on Google Cloud (SC20), a Manila share (ISC24), a run of two processes (the
README), a Student Cluster (one phase invalid), an object store in 2020 (all phases invalid), and BeeGFS with the
scripts of 2019. result.txt: the README, its edition of December 2019, a run on DAOS of 2026.
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


RESULT = """\
    version         = SC20-testing
    config-hash     = 25C33C96
    ; START 2020-01-06 10:23:49
    ; ERROR INVALID stonewall-time != 300


    [ior-easy-write]
    t_start         = 2020-01-06 10:23:49
    exe             = ./ior -C -Q 1 -g -G 271 -k -e -o ./out//ior-easy/ior_file_easy -t 2m -b 2m -F -w -D 1 -a POSIX
    ; ERROR INVALID Write phase needed 0.020932s instead of stonewall 1s. Stonewall was hit at 0.0s
    throughput-stonewall = 0.37
    score           = 0.186620
    ; ERROR INVALID Runtime of phase (0.027088) is below stonewall time. This shouldn't happen!
    t_delta         = 0.0271
    t_end           = 2020-01-06 10:23:49

    [mdtest-easy-write]
    t_start         = 2020-01-06 10:23:49
    exe             = ./mdtest -n 1000000 -u -L -F -N 1 -d ./out//mdtest-easy -C -W 1 -a POSIX
    rate-stonewall  = 109.492799
    score           = 103.300821
    t_delta         = 1.1207
    t_end           = 2020-01-06 10:23:50

    [timestamp]
    t_start         = 2020-01-06 10:23:50
    t_delta         = 0.0000
    t_end           = 2020-01-06 10:23:50

    [find]
    t_start         = 2020-01-06 10:23:51
    found           = 1596
    total-files     = 175761
    score           = 1486.435084
    t_delta         = 0.1184
    t_end           = 2020-01-06 10:23:51

    [SCORE]
    MD              = 292.625029
    BW              = 0.172092
    SCORE           = 7.096374  [INVALID]
    hash            = 884F29B
"""
DECEMBER = """\
[find]
exe             = ./pfind ./out/2019.12.21-20.14.57 -newer ./out/timestampfile -size 3901c -name *01* -C
found           = 1839
total-files     = 179359
score           = 15.989096

[ior-hard-read]
exe             = ./ior -C -Q 1 -g -G 27 -k -e -o ./out/ior_hard/file -t 47008 -b 47008 -s 100000 -r -R -a POSIX
score           = 7.497023

[SCORE]
MD              = 6.416
BW              = 2.941
"""
DAOS = """\
[mdtest-hard-write]
t_start         = 2026-02-15 06:26:58
exe             = ./mdtest --dataPacketType=timestamp -n 1000000 -t -w 3901 -e 3901 -P -N 1 -F -C -Y -W 300 -a DFS
rate-stonewall  = 28.468252
score           = 28.432556
t_delta         = 302.9975
t_end           = 2026-02-15 06:32:01
"""


def test_result_txt(log):
    """The README prints the summary of the same run: 0.186620 GiB/s, 103.300821 kIOPS."""
    found = log(RESULT)
    write = found.one("throughput", of="ior-easy-write", operation="write")
    assert write.value == log(README).value("throughput", of="ior-easy-write")
    assert (write.conditions["duration_s"], write.conditions["valid"]) == (0.0271, False)
    assert write.conditions["end"] == "2020-01-06T10:23:49Z"
    assert write.line == 12
    files = found.one("rate", of="mdtest-easy-write")
    assert files.value == log(README).value("rate", of="mdtest-easy-write")
    assert files.conditions["valid"] is True
    assert found.value("rate", of="find", operation="find") == pytest.approx(1486435.084)
    assert len(found.found) == 3


def test_other_editions_of_result_txt(log):
    old = log(DECEMBER)
    assert old.value("rate", of="find") == pytest.approx(15989.096)
    assert old.value("throughput", of="ior-hard-read", operation="read") == 7.497023 * GIB
    assert len(old.found) == 2
    new = log(DAOS).one("rate", of="mdtest-hard-write")
    assert (new.value, new.conditions["duration_s"]) == (pytest.approx(28432.556), 302.9975)
    assert not log("[ior-easy]\ntransferSize = 2m\nblockSize = 9920000m\n[find]\nnproc = 1\n").found


def test_invalid_scores(log):
    score = log("[SCORE INVALID] Bandwidth 0.172092 GB/s : IOPS 292.625029 kiops : TOTAL 7.096374\n")
    assert score.value("throughput", of="score", valid=False) == 0.172092 * GIB
