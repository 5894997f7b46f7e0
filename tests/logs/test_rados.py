"""``rados bench``: summaries printed in guides on GitHub (8 MiB writes; 4 KiB writes; 4 MiB with 16 threads), and in an
article on replica counts of Firefly's time."""

from __future__ import annotations

import pytest

MIB = 2.0**20
NEW = """\
[root@hgs ~]# rados -p test-rados bench 10 write -b 8M -t 48 --run-name test --no-cleanup
   10      47       490       443   354.351       376    0.993385    0.987729
Total time run:         10.284
Total writes made:      491
Write size:             8388608
Object size:            8388608
Bandwidth (MB/sec):     381.954
Stddev Bandwidth:       116.851
Max bandwidth (MB/sec): 440
Min bandwidth (MB/sec): 32
Average IOPS:           47
Stddev IOPS:            14.6063
Max IOPS:               55
Min IOPS:               4
Average Latency(s):     0.946436
Stddev Latency(s):      0.251772
Max latency(s):         3.81698
Min latency(s):         0.144889
"""
SMALL = """\
Total time run:         60.0013
Total writes made:      444703
Write size:             4096
Object size:            4096
Bandwidth (MB/sec):     28.9514
Average IOPS:           7411
Average Latency(s):     0.00215593
"""
OLD = """\
    Total time run:         301.488871
    Total writes made:      4200
    Write size:             4194304
    Bandwidth (MB/sec):     55.723

    Stddev Bandwidth:       16.1221
    Max bandwidth (MB/sec): 100
    Min bandwidth (MB/sec): 0
    Average Latency:        1.14695
    Max latency:            6.16363
"""
SIXTEEN = """\
Total time run:         60.6268
Total writes made:      1290
Write size:             4194304
Object size:            4194304
Bandwidth (MB/sec):     85.1109
"""


@pytest.mark.parametrize(
    ("text", "rate", "count", "size", "seconds"),
    [
        (NEW, 381.954, 491, 8388608, 10.284),
        (SMALL, 28.9514, 444703, 4096, 60.0013),
        (OLD, 55.723, 4200, 4194304, 301.488871),
        (SIXTEEN, 85.1109, 1290, 4194304, 60.6268),
    ],
)
def test_megabytes_are_binary(log, text, rate, count, size, seconds):
    found = log(text)
    assert found.value("throughput", statistic=None) == rate * MIB == pytest.approx(count * size / seconds, rel=1e-4)
    assert found.one("throughput", statistic=None).conditions["bytes"] == count * size
    assert not found.unread


def test_conditions_and_the_rest(log):
    found = log(NEW)
    known = found.one("throughput", statistic="max").conditions
    assert (known["operation"], known["depth"], known["target"], known["host"]) == ("write", 48, "test-rados", "hgs")
    assert found.value("iops", statistic=None) == 47
    assert found.value("latency", statistic="max") == 3.81698
    assert log(OLD).value("latency", statistic=None) == 1.14695


def test_reads(log):
    text = SIXTEEN.replace("writes", "reads").replace("Write", "Read")
    found = log("$ rados bench -p b 60 rand\n" + text).one("throughput")
    assert (found.conditions["operation"], found.conditions["pattern"]) == ("read", "random")


def test_figures_that_do_not_agree_are_noted(log):
    """An article's sequential read: 10528 reads of 4 MiB in 300.97 s are 139.9 MiB/s, printed 110.551."""
    text = "Total time run:        300.966543\nTotal reads made:     10528\nRead size:            4194304\n"
    found = log(text + "Bandwidth (MB/sec):    110.551\n")
    assert "give 139.9" in found.unread[0].why
    assert found.value("throughput") == 110.551 * MIB


def test_two_runs(log):
    assert [r.value / MIB for r in log(SIXTEEN + SMALL).all("throughput")] == [85.1109, 28.9514]
