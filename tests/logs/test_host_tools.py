"""hdparm, sysbench, time: own runs where the machine allowed them, else layouts with invented figures."""

from __future__ import annotations

import pytest

MIB = 2.0**20


def test_hdparm_mb_is_mib(log):
    text = (
        "# hdparm -tT --direct /dev/sda\n\n/dev/sda:\n"
        " Timing O_DIRECT cached reads:   942 MB in  2.00 seconds = 470.62 MB/sec\n"
        " Timing O_DIRECT disk reads: 1890 MB in  3.00 seconds = 629.92 MB/sec\n"
    )
    found = log(text)
    disk = found.one("throughput", operation="read")
    assert disk.value == 629.92 * MIB
    assert disk.conditions == disk.conditions | {"direct": True, "device": "/dev/sda"}
    assert found.value("throughput", operation="cache_read") == 470.62 * MIB
    assert not found.unread
    # below 1 MB/sec the unit word changes, and shows the 1024: 2 MB / 19.21 s = 106.6 KiB/s, not 104.1 kB/s
    slow = log("/dev/sdb:\n Timing O_DIRECT disk reads:   2 MB in 19.21 seconds = 106.63 kB/sec\n")
    assert slow.value("throughput") == pytest.approx(2 * MIB / 19.21, rel=1e-3)


def test_hdparm_cached_is_not_the_disk(log):
    found = log("/dev/md0:\n Timing cached reads:   2172 MB in  2.00 seconds = 1086.71 MB/sec\n")
    assert found.one("throughput").conditions["operation"] == "memory_read"
    assert log("hdparm/refused.txt").one("failure").status == "failed"


def test_sysbench_10_own_runs(log):
    found = log("sysbench/three_runs_1020.txt")
    for operation in ("read", "write"):
        rate = found.one("throughput", operation=operation, pattern="randrw")
        iops = found.one("iops", operation=operation, pattern="randrw")
        assert rate.value == pytest.approx(iops.value * 16384, rel=0.01)  # blocks of 16 KiB: MiB are MiB
        assert rate.conditions["block_B"] == 16384
        assert rate.conditions["threads"] == 2
    assert found.one("throughput", pattern="read").version == "1.0.20"
    assert not found.all("throughput", pattern="read", operation="write")
    assert len(found.all("duration")) == 3
    assert found.one("latency", statistic="p95", pattern="write").value < 1


def test_sysbench_04_mb_is_mib(log):
    text = (
        "sysbench 0.4.12:  multi-threaded system evaluation benchmark\n\nRunning the test with following options:\n"
        "Number of threads: 4\n\nBlock size 4Kb\nDoing random read test\n\n"
        "Operations performed:  2621440 Read, 0 Write, 0 Other = 2621440 Total\n"
        "Read 10Gb  Written 0b  Total transferred 10Gb  (34.133Mb/sec)\n 8738.13 Requests/sec executed\n\n"
        "Test execution summary:\n    total time:                          300.0000s\n"
        "    per-request statistics:\n         min:                                  0.00ms\n"
        "         avg:                                  0.11ms\n         max:                                122.11ms\n"
        "         approx.  95 percentile:               0.27ms\n"
    )
    found = log(text)
    assert found.value("throughput") == 34.133 * MIB
    assert found.value("throughput") == pytest.approx(2621440 * 4096 / 300, rel=1e-4)
    assert found.one("throughput").conditions["operation"] == "read"
    assert found.value("iops") == 8738.13
    assert found.value("latency", statistic="p95") == pytest.approx(0.27e-3)


def test_sysbench_cpu_is_no_disk_run(log):
    text = (
        "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\nCPU speed:\n    events per second:  1000.00\n\n"
        "General statistics:\n    total time:                          1.0002s\n    total number of events:  1001\n\n"
        "Latency (ms):\n         min:                                    0.95\n"
    )
    assert not log(text).found


def test_time_of_uci(log):
    found = log("time/uci.txt")
    assert [r.value for r in found.all("duration")] == [21.738, 15.555]
    assert {r.conditions["operation"] for r in found.all("duration")} == {"cp"}
    assert {r.conditions["sync"] for r in found.all("duration")} == {"sync"}
    assert {r.conditions["host"] for r in found.all("duration")} == {"compute-1-13"}


def test_every_form_of_time(log):
    found = log("time/forms.txt")
    by_command = {(r.conditions["operation"], r.line): r.value for r in found.all("duration")}
    operations = [operation for operation, _ in by_command]
    assert operations == ["cp", "tar", "cp", "cp", "rm"]  # the two failed commands have no time
    assert len(found.all("failure")) == 2
    assert len(found.all("cpu_time", mode="system")) == 5
    assert all(0 <= value < 5 for value in by_command.values())


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("real\t11m28.600s\nuser\t0m0.0s\nsys\t0m1.5s\n", 688.6),
        ("real\t0m21,738s\n", 21.738),
        ("real\t1h02m03.5s\n", 3723.5),
        ("real 12.50\nuser 0.01\nsys 0.02\n", 12.5),
        ("0.03user 1.42system 4:14.03elapsed 0%CPU (0avgtext+0avgdata 900maxresident)k\n", 254.03),
        ("0.03user 1.42system 1:02:03elapsed 0%CPU (0avgtext)k\n", 3723.0),
        ("cp a b  0.01s user 1.25s system 24% cpu 5.200 total\n", 5.2),
        ("0.010u 1.250s 0:05.20 24.2%\t0+0k 0+0io 0pf+0w\n", 5.2),
    ],
)
def test_clocks(log, text, seconds):
    assert log(text).value("duration") == pytest.approx(seconds)


def test_sysbench_11_and_05(log):
    new = (
        "sysbench 1.1.0 (using bundled LuaJIT 2.1.0)\n\nBlock size 16KiB\nDoing random r/w test\n\nThroughput:\n"
        "         read:  IOPS=1749.75 27.34 MiB/s (28.67 MB/s)\n         write: IOPS=1166.50 18.23 MiB/s (19.11 MB/s)\n"
        "         fsync: IOPS=3732.39\n\nLatency (ms):\n         avg:                                  0.15\n"
    )
    found = log(new)
    assert found.value("throughput", operation="read") == 27.34 * MIB
    assert found.value("throughput", operation="read") == pytest.approx(28.67e6, rel=1e-3)
    assert found.value("iops", operation="write") == 1166.5
    old = "File operations:\n    reads/s:   100.00\n\nThroughput:\n    read, MB/s:   1.56\n    written, MB/s:   0.00\n"
    assert log(old).value("throughput", operation="read") == 1.56 * MIB  # 100 reads of 16 KiB are 1.5625 MiB/s
