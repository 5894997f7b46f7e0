"""Versions and states of tools that the recorded runs do not have: refused, stalled, cut heads, other shells.

Each text is one or two lines of the tool's own wording; its source stands beside it.
"""

from __future__ import annotations

import math

import pytest

from dtnsim.logs import read_text
from dtnsim.logs.measurement import Measurement


def _read(text: str) -> list[Measurement]:
    return read_text(text)[0]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("real\t0m 2.73s\nuser\t0m 0.00s\nsys\t0m 1.23s\n", 2.73),  # busybox time.c, "%um %u.%02us"
        ("real\t1h 0m 2.73s\n", 3602.73),  # busybox time.c
        ("        2.73 real         0.00 user         1.23 sys\n", 2.73),  # BSD time.c, "%9.2f real"
        ("        0,31 real         0,00 user         0,01 sys\n  688128  maximum resident set size\n", 0.31),
        ("Executed in    2.73 secs      fish           external\n", 2.73),  # fish 3 timer.cpp
        ("Executed in  812.04 millis    fish           external\n", 0.81204),
    ],
)
def test_time_of_other_shells(text: str, seconds: float) -> None:
    (real,) = [m for m in _read(text) if m.quantity == "duration"]
    assert real.tool == "time"
    assert real.value == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("connect failed: Connection refused\n", "iperf2"),  # iperf 2.0 Client.cpp: WARN_errno("connect failed")
        ("tcp connect failed: Connection refused\n", "iperf2"),  # iperf 2.1
        ("Can't open temporary file: iozone.tmp: Permission denied\n", "iozone"),
        ("Can't write block.: No space left on device\n", "bonnie++"),  # bon_io.cpp
        ('ior ERROR: open64("/scratch/t") failed, errno 13, Permission denied (aiori-POSIX.c:311)\n', "ior"),
        ("Settings for foo:\nCannot get device settings: No such device\n", "ethtool"),
        ("Settings for foo:\nnetlink error: No such device\n", "ethtool"),
    ],
)
def test_failures_have_no_figure(text: str, tool: str) -> None:
    (failure,) = _read(text)
    assert (failure.tool, failure.quantity, failure.status) == (tool, "failure", "failed")
    assert math.isnan(failure.value)


def test_stalled_scp_has_no_rate() -> None:
    """OpenSSH progressmeter.c prints ``- stalled -`` instead of the time when nothing came for five seconds."""
    found, unread = read_text("big.bin            45%   45GB   0.0KB/s - stalled -\n")
    assert not found
    assert "stalled at 45 %" in unread[0].why


def test_group_of_fio_with_a_failed_job() -> None:
    """The aggregate of jobs of which one failed is no figure of the whole; that of failed jobs alone is none."""
    failed = (
        "job{n}: (groupid=0, jobs=1): err=28 (file:io_u.c:1747, func=io_u error, error=No space left on device)"
        ": pid=3355: Tue Mar  5 11:00:00 2019\n  write: IOPS=812, BW=812MiB/s (851MB/s)(10.0GiB/12611msec)\n"
    )
    good = (
        "job2: (groupid=0, jobs=1): err= 0: pid=3356: Tue Mar  5 11:00:00 2019\n"
        "  write: IOPS=812, BW=812MiB/s (851MB/s)(10.0GiB/12611msec)\n"
    )
    total = (
        "Run status group 0 (all jobs):\n"
        "  WRITE: bw={r}MiB/s (1MB/s), 1MiB/s-1MiB/s (1MB/s-1MB/s), io=10.0GiB (10.7GB), run=12611-12611msec\n"
    )
    alone = _read(failed.format(n=1) + total.format(r=812))
    assert [m.quantity for m in alone] == ["failure"]
    assert "No space left" in alone[0].printed
    both = _read(failed.format(n=1) + good + total.format(r=1624))
    rates = [m for m in both if m.quantity == "throughput"]
    assert [m.status for m in rates] == ["complete", "partial"]
    assert [m.value / 2**20 for m in rates] == pytest.approx([812, 1624])


def test_traceroute_without_its_head() -> None:
    """BSD's traceroute prints the head to stderr, so a redirected log starts with the first hop."""
    found = _read(
        " 1  gw (192.168.1.254)  11.415 ms  3.934 ms  3.286 ms\n 2  far.example (10.1.1.1)  24.2 ms  20.8 ms *\n"
    )
    (hops,) = [m for m in found if m.quantity == "hops"]
    assert hops.value == 2
    assert hops.status == "partial"  # the target is not known
    assert "target" not in hops.conditions
    least = [m.value for m in found if m.conditions.get("statistic") == "min"]
    assert least == [pytest.approx(20.8e-3)]


def test_a_lone_line_of_three_times_is_no_route() -> None:
    assert not _read("  latencies seen were 11.4 ms  3.9 ms  3.2 ms\n")


def test_mtr_csv_names_the_last_hop() -> None:
    """mtr 0.93 ui/report.c, csv_close: one row a hop, paths one after the other."""
    head = "Mtr_Version,Start_Time,Status,Host,Hop,Ip,Loss%,Snt, ,Last,Avg,Best,Wrst,StDev,\n"
    row = "MTR.0.93,1587380000,OK,{host},{hop},{ip},{loss},10,0,{ms},{ms},{ms},{ms},0.10\n"
    text = head
    for host, ms in (("8.8.8.8", 89.41), ("9.9.9.9", 12.5)):
        text += row.format(host=host, hop=1, ip="10.0.0.1", loss="0.00", ms=0.4)
        text += row.format(host=host, hop=2, ip=host, loss="10.00", ms=ms)
    found = _read(text)
    last = [m for m in found if m.conditions.get("last") and m.quantity == "rtt" and "statistic" not in m.conditions]
    assert [m.conditions["target"] for m in last] == ["8.8.8.8", "9.9.9.9"]
    assert [m.value for m in last] == pytest.approx([89.41e-3, 12.5e-3])
    assert [m.value for m in found if m.quantity == "hops"] == [2, 2]


def test_mdtest_before_it_named_the_unit() -> None:
    """mdtest 1.8 and 1.9.1 head the table of rates ``SUMMARY: (of n iterations)``."""
    found = _read(
        "SUMMARY: (of 1 iterations)\n"
        "   Operation                      Max            Min           Mean        Std Dev\n"
        "   ---------                      ---            ---           ----        -------\n"
        "   File creation     :      26131.119      26131.119      26131.119          0.000\n"
    )
    assert {m.value for m in found} == {26131.119}
    assert {m.unit for m in found} == {"1/s"}


def test_resilver_goes_on_over_several_lines() -> None:
    """zpool status of OpenZFS 2: the rate stands in the line after ``scan:``."""
    found = _read(
        "  pool: tank\n state: DEGRADED\n  scan: resilver in progress since Mon Mar  4 10:00:00 2024\n"
        "\t1.23T scanned at 1.10G/s, 512G issued at 450M/s, 12.3T total\n"
    )
    (rate,) = [m for m in found if m.quantity == "throughput"]
    assert rate.conditions["operation"] == "resilver"
    assert rate.value == pytest.approx(1.10 * 2**30)


def test_iostat_short_form_has_one_rate() -> None:
    """iostat -s of sysstat 12: reads, writes and discards together, kB = 1024 B."""
    found = _read(
        "Device             tps      kB/s    rqm/s   await  areq-sz  aqu-sz  %util\n"
        "nvme0n1          12.34    1234.00     0.10    0.50    100.00    0.01   1.20\n"
    )
    (rate,) = [m for m in found if m.quantity == "throughput"]
    assert rate.value == 1234 * 1024
    assert rate.conditions["operation"] == "all"


def test_bbcp_that_copied_nothing_says_so() -> None:
    found, unread = read_text("0 files copied at effectively 0.0 B/s\n")
    assert not found
    assert "no bytes" in unread[0].why


@pytest.mark.parametrize(
    ("heads", "tool"),
    [
        # own runs of sysstat 12.6
        ("%usr %nice %sys %iowait %steal %irq %soft %guest %gnice %idle", "sar"),  # sar -u ALL
        ("%usr %nice %sys %iowait %irq %soft %steal %guest %gnice %idle", "mpstat"),
        ("%user %nice %system %iowait %steal %idle", "sar"),
        # sysstat 7, mpstat.c
        ("%user %nice %sys %iowait %irq %soft %steal %idle intr/s", "mpstat"),
    ],
)
def test_sar_and_mpstat_are_told_by_their_columns(heads: str, tool: str) -> None:
    cells = " ".join("97.00" if h == "%idle" else "0.50" for h in heads.split())
    found = _read(f"04:21:41        CPU {heads}\n04:21:42        all {cells}\n")
    assert {m.tool for m in found} == {tool}
    (idle,) = [m for m in found if m.conditions.get("state") == "idle"]
    assert idle.value == pytest.approx(0.97)


def test_sysbench_without_its_head() -> None:
    """sysbench 1.0 sb_fileio.lua; the block ``Throughput`` alone."""
    (rate,) = _read("Throughput:\n    read, MiB/s:                  0.00\n    written, MiB/s:               212.86\n")
    assert (rate.tool, rate.conditions["operation"]) == ("sysbench", "write")
    assert rate.value == pytest.approx(212.86 * 2**20)


def test_elbencho_csv_has_latencies() -> None:
    """elbencho Statistics.cpp, printPhaseResultsToStringVec: whole microseconds, empty where nothing was done."""
    heads = (
        "ISO date,threads,file size,block size,operation,MiB/s [first],MiB/s [last],IO lat us [min],IO lat us [avg],"
    )
    found = _read(
        heads + "IO lat us [max]\n2024-05-22T16:09:38,8,268435456,1048576,WRITE,3494,2941,1661,9383,120903\n"
        "2024-05-22T16:09:39,8,268435456,1048576,MKDIRS,,,,,\n"
    )
    assert {m.conditions["operation"] for m in found} == {"write"}
    assert [m.value for m in found if m.quantity == "throughput"] == [2941 * 2**20]
    latency = {m.conditions["statistic"]: m.value for m in found if m.quantity == "latency"}
    assert latency == pytest.approx({"min": 1661e-6, "mean": 9383e-6, "max": 120903e-6})
