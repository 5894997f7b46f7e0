"""vmstat.

Outputs printed on GitHub: a course on I/O waits (procps-ng 3.3, reads of 32 MB/s), notes of a host in a cloud (one
row), Netflix's first minute on a host (procps 3.2, no ``st``), and a guide's first look at procps-ng 4 (``gu``).
"""

from __future__ import annotations

import pytest

COURSE = """\
$ vmstat 1
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 0  1      0 6809304   1368 856744    0    0 32640     0   52  478  1  0 50 49  0
 0  1      0 6776620   1368 889456    0    0 32640     0   33  490  0  0 50 49  0
 0  0      0 6747540   1368 918576    0    0 29056     0   42  568  0  0 56 44  0
 0  0      0 6747160   1368 918576    0    0     0     0   40  148  0  1 99  0  0
"""
CLOUD = """\
[root@i-q88hdhfe ~]# vmstat
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 2  0 138752 560168 196960 19454352    0    0    34  1286    0    1  2  1 97  0  0
"""
NETFLIX = """\
procs -----------memory---------- ---swap-- -----io---- --system-- ----cpu----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in    cs us sy id wa
 4  0      0 4448812 638884 81259952    0    0     0    89    0     0  4  2 93  0
 2  0      0 4450376 638884 81260192    0    0     0    40 58804 162513 10 14 76  0
"""
NEW = """\
$ vmstat -y 2 1
procs -----------memory---------- ---swap-- -----io---- -system-- -------cpu-------
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st gu
 1  0 8066500 13335244 205556 9049872   27   42  1034  2500 2342    7  4  1 95  0  0  0
"""


@pytest.mark.parametrize(
    ("text", "report", "read", "write", "idle"),
    [
        (COURSE, 2, 32640 * 1024, 0, 0.50),  # 33.4 MB/s
        (COURSE, 3, 29056 * 1024, 0, 0.56),
        (CLOUD, 1, 34 * 1024, 1286 * 1024, 0.97),
        (NETFLIX, 2, 0, 40 * 1024, 0.76),
        (NEW, 1, 1034 * 1024, 2500 * 1024, 0.95),
    ],
)
def test_blocks_are_of_1024_bytes(log, text, report, read, write, idle):
    found = log(text)
    assert found.value("throughput", report=report, operation="read") == read
    assert found.value("throughput", report=report, operation="write") == write
    assert found.value("cpu_share", report=report, state="idle") == idle
    assert not found.unread


def test_the_first_row_is_since_boot(log):
    assert {r.conditions["report"] for r in log(COURSE).all("throughput", since="boot")} == {1}
    assert not log(NEW).all("throughput", since="boot")
    assert log(CLOUD).one("throughput", operation="read").conditions["host"] == "i-q88hdhfe"


def test_rates_and_shares(log):
    found = log(NETFLIX)
    assert found.value("rate", report=2, of="context_switches") == 162513
    assert found.value("rate", report=2, of="interrupts") == 58804
    for text, columns in ((COURSE, 5), (NETFLIX, 4), (NEW, 6)):
        shares = log(text).all("cpu_share", report=1)
        assert len(shares) == columns
        assert sum(share.value for share in shares) == pytest.approx(1, abs=0.015)


def test_other_systems_and_other_lines(log):
    freebsd = (
        " r b w     avm   fre   flt  re  pi  po    fr   sr   in   sy   cs us sy id\n 0 0 0 1 2 3 4 5 6 7 8 9 1 2\n"
    )
    assert not log(freebsd).found
    assert len(log(COURSE + "Killed\n 1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8\n").all("throughput")) == 8
