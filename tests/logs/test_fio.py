"""fio: text, terse and JSON of 3.33 (own runs in data/fio), 2.x text, units, one run counts once."""

from __future__ import annotations

import pytest

KIB, MIB = 2.0**10, 2.0**20

TEXT_2X = """\
randread: (g=0): rw=randread, bs=4K-4K/4K-4K/4K-4K, ioengine=libaio, iodepth=16
fio-2.2.10
Starting 1 process

randread: (groupid=0, jobs=8): err= 0: pid=4548: Fri Apr  7 18:43:19 2017
  read : io=4096.0MB, bw=200000KB/s, iops=50000, runt= 20972msec
    clat (usec): min=40, max=37330, avg=1856.31, stdev=1712.48
     lat (usec): min=137, max=37340, avg=1882.48, stdev=1715.18
    clat percentiles (usec):
     |  1.00th=[  249],  5.00th=[  318], 10.00th=[  370], 20.00th=[  516],
     | 99.00th=[ 7840], 99.50th=[10048], 99.90th=[15936], 99.95th=[20096],
    bw (KB  /s): min=26315, max=52526, per=12.61%, avg=33666.15, stdev=3251.81
  cpu          : usr=6.79%, sys=15.26%, ctx=56339, majf=0, minf=200

Run status group 0 (all jobs):
   READ: io=4096.0MB, aggrb=200000KB/s, minb=200000KB/s, maxb=200000KB/s, mint=20972msec, maxt=20972msec
"""


def test_2x_kb_is_kib(log):
    found = log(TEXT_2X)
    record = found.one("throughput")
    assert record.value == 200000 * KIB  # 50000 I/Os of 4 KiB a second are 200000 KiB/s
    assert record.version == "2.2.10"
    assert record.conditions["block_B"] == 4 * KIB
    assert found.value("iops") == 50000
    assert found.value("latency", of="clat", statistic="p99") == pytest.approx(7840e-6)
    assert found.value("latency", of="lat", statistic="mean") == pytest.approx(1882.48e-6)
    assert found.value("cpu_share", state="system") == pytest.approx(0.1526)
    assert not found.unread


def test_2x_with_kb_base_1000_is_told_by_iops(log):
    text = TEXT_2X.replace("200000KB/s, iops=50000", "204800KB/s, iops=50000").replace("aggrb=200000", "aggrb=204800")
    assert log(text).one("throughput").value == 204800e3


def test_text_and_json_of_the_same_jobs_have_the_same_conditions(log):
    text, json = log("fio/multi.txt"), log("fio/multi.json")
    for found in (text, json):
        write = found.one("throughput", job="seqw", operation="write")
        assert write.conditions["block_B"] == MIB
        assert write.version == "3.33"
        for operation in ("read", "write"):
            record = found.one("throughput", job="randrw", operation=operation)
            assert record.value == pytest.approx(
                found.value("iops", job="randrw", operation=operation) * 4096, rel=0.03
            )
    assert json.one("throughput", job="seqw").conditions["sync"] == "fsync"
    assert json.one("throughput", job="randrw", operation="read").conditions["direct"] is True


def test_json_rate_is_bytes_over_runtime(log):
    for record in log("fio/multi.json").all("throughput"):
        assert record.value == pytest.approx(record.conditions["bytes"] / record.conditions["duration_s"], rel=0.02)


def test_three_forms_of_one_run_count_once(log):
    found = log("fio/three_forms.txt")
    assert len(found.all("throughput", operation="read")) == 1
    assert len(found.all("throughput", operation="write")) == 1


def test_the_group_line_adds_up_jobs(log):
    found = log("fio/nogroup.txt")
    group = found.one("throughput", scope="group")
    assert group.conditions["jobs"] == 3
    assert len(found.all("throughput", job="nogroup")) == 3
    assert not log("fio/multi.txt").all("throughput", scope="group")


@pytest.mark.parametrize("version", [2, 3, 4, 5])
def test_every_terse_version(log, version):
    found = log(f"fio/terse{version}.txt")
    for operation, moved in (("read", 7968), ("write", 8416)):
        record = found.one("throughput", operation=operation)
        expected = moved * KIB / record.conditions["duration_s"]
        assert record.value == pytest.approx(expected, rel=0.02)  # 7968 and 8416 KiB in field 5
        assert record.conditions["job"] == "t"
    cut = ";".join(open_text(f"terse{version}.txt").split(";")[:30]) + "\n"
    assert not log(cut).found
    assert log(cut).unread


def open_text(name):
    from pathlib import Path

    return (Path(__file__).parent / "data" / "fio" / name).read_text()


def test_own_base_of_3x(log):
    record = log("fio/kb1000.txt").one("throughput")
    assert record.printed.endswith("MB/s")
    moved = log("fio/kb1000.txt").one("duration").conditions["bytes"]
    assert moved == 16e6


def test_failed_jobs_have_no_rate(log):
    for name in ("fio/error.txt", "fio/error.json"):
        found = log(name)
        assert not found.all("throughput")
        assert "28" in found.one("failure").printed


def test_client_server(log):
    assert log("fio/client.txt").one("throughput", job="seqw").value > 0
    found = log("fio/client2.json")
    assert {r.conditions["job"] for r in found.all("throughput")} == {"All clients"}


def test_progress_counts_only_for_a_run_without_end(log):
    assert log("fio/eta_pty.txt").one("throughput").status == "complete"
    text = "fio-3.33\nJobs: 1 (f=1): [W(1)][50.0%][w=250MiB/s][w=250 IOPS][eta 00m:01s]\n"
    record = log(text).one("throughput")
    assert record.status == "partial"
    assert record.value == 250 * MIB
    old = "fio-2.2.10\rJobs: 1 (f=1): [R(1)] [50.0% done] [250.0MB/0KB/0KB /s] [250/0/0 iops] [eta 00m:02s]\n"
    assert log(old).one("throughput", operation="read").value == 250 * MIB


def test_cut_json_gives_its_whole_jobs(log):
    text = open_text("multi.json")
    whole = {r.value for r in log(text).all("throughput")}
    cut = log(text[: text.index('"jobname" : "randrw"')])
    assert {r.value for r in cut.all("throughput")} < whole
    assert "ends inside" in cut.unread[0].why


def test_a_rate_far_from_bytes_over_seconds_is_told(log):
    found = log(TEXT_2X.replace("runt= 20972msec", "runt= 60972msec"))
    assert any("bytes / seconds" in note.why for note in found.unread)


def test_digit_groups_of_1x(log):
    text = (
        "w: (groupid=0, jobs=1): err= 0: pid=6012\n"
        "  write: io=4,024MB, bw=68,023KB/s, iops=17K, runt= 60,582msec\n"
        "  cpu          : usr=1.00%, sys=2.00%, ctx=1, majf=0, minf=1\n"
    )
    record = log(text).one("throughput")
    assert record.value == 68023 * KIB
    assert record.value == pytest.approx(4024 * MIB / 60.582, rel=1e-3)


def test_status_interval_reports_are_snapshots(log):
    """Own run of fio 3.33 with --status-interval=1: every second the whole report of the same process."""
    head = "a: (g=0): rw=read, bs=(R) 128KiB-128KiB, (W) 128KiB-128KiB, (T) 128KiB-128KiB, ioengine=psync, iodepth=1\n"
    report = (
        "a: (groupid=0, jobs=1): err= 0: pid={pid}: Sat Nov 21 04:15:28 2026\n"
        "  read: IOPS={iops}, BW={bw}MiB/s ({mb}MB/s)({io}MiB/{ms}msec)\n\n"
        "Run status group 0 (all jobs):\n"
        "   READ: bw={bw}MiB/s ({mb}MB/s), {bw}MiB/s-{bw}MiB/s ({mb}MB/s-{mb}MB/s), "
        "io={io}MiB (1MB), run={ms}-{ms}msec\n\n"
    )
    first = {"pid": 7, "iops": 9341, "bw": 1167, "mb": 1224, "io": 959, "ms": 821}
    second = {"pid": 7, "iops": 10193, "bw": 1274, "mb": 1336, "io": 3823, "ms": 3001}
    read = log(head + "fio-3.33\nStarting 1 process\n\n" + report.format(**first) + report.format(**second))
    assert read.value("throughput", interval=None) == 1274 * 2**20
    assert read.value("throughput", interval=True) == 1167 * 2**20
    # another process is another run
    read = log(head + "fio-3.33\n" + report.format(**first) + head + report.format(**{**second, "pid": 8}))
    assert [m.value / 2**20 for m in read.all("throughput", interval=None)] == [1167, 1274]


def test_bits_and_decimal_blocks(log):
    """Own run of fio 3.33 with --unit_base=1 --kb_base=1000: 131072 B is printed as 131kB: no block."""
    read = log(
        "rate: (g=0): rw=read, bs=(R) 131kB-131kB, (W) 131kB-131kB, (T) 131kB-131kB, ioengine=psync, iodepth=1\n"
        "fio-3.33\n"
        "rate: (groupid=0, jobs=1): err= 0: pid=29839: Sat Nov 21 04:15:28 2026\n"
        "  read: IOPS=159, BW=168Mbit/s (160Mibit/s)(41.9MB/2001msec)\n"
    )
    rate = read.one("throughput")
    assert rate.value == 168e6 / 8
    assert "block_B" not in rate.conditions


def test_progress_in_bits(log):
    read = log("Jobs: 1 (f=1): [R(1)][50.0%][r=168Mbit/s][r=160 IOPS][eta 00m:01s]\n")
    assert read.value("throughput", status="partial") == 168e6 / 8


def test_a_run_that_a_signal_stopped_is_partial(log):
    block = (
        "  read: IOPS=48.0k, BW=188MiB/s (197MB/s)(11.0GiB/60001msec)\n"
        "Run status group 0 (all jobs):\n"
        "   READ: bw=188MiB/s (197MB/s), 188MiB/s-188MiB/s, io=11.0GiB (11.8GB), run=60001-60001msec\n"
    )
    job = "job: (groupid=0, jobs=1): err= 0: pid={}: Tue Mar  5 11:00:00 2022\n"
    text = "fio-3.33\n^C\nfio: terminating on signal 2\n" + job.format(1) + block
    found = log(text + "fio-3.33\n" + job.format(2).replace("job:", "other:") + block.replace("60001", "60002"))
    assert [(r.conditions["job"], r.status) for r in found.all("throughput")] == [
        ("job", "partial"),
        ("other", "complete"),
    ]


def test_json_of_a_run_that_a_signal_stopped_is_partial(log):
    text = (
        '{"fio version": "fio-3.1", "jobs": [{"jobname": "a", "error": 0, "read": {"io_bytes": 1000000, '
        '"bw_bytes": 1000000, "bw": 976, "iops": 244.0, "runtime": 1000}}]}\n'
    )
    assert log("fio: terminating on signal 2\n" + text).one("throughput").status == "partial"
    assert log(text).one("throughput").status == "complete"


def test_a_group_in_which_a_job_failed_is_partial(log):
    """The group's line adds up what the jobs moved before one of them failed: no figure of a whole run."""
    job = "{name}: (groupid=0, jobs=1): err={err}: pid={pid}: Tue Mar  5 11:00:00 2022\n"
    moved = "  write: IOPS=100, BW=100MiB/s (105MB/s)(1000MiB/10000msec)\n"
    group = (
        "Run status group 0 (all jobs):\n"
        "  WRITE: bw=230MiB/s (241MB/s), 30MiB/s-100MiB/s (31MB/s-105MB/s), io=2300MiB (2412MB), run=9000-10001msec\n"
    )
    good = [job.format(name=name, err=" 0", pid=pid) + moved for name, pid in (("a", 1), ("b", 2))]
    bad = job.format(name="c", err="28 (file:filesetup.c:240, func=write, error=No space left on device)", pid=3)
    found = log("fio-3.33\n" + good[0] + bad + good[1] + group)
    assert found.one("throughput", scope="group").status == "partial"
    assert [r.status for r in found.all("throughput", scope=None)] == ["complete", "complete"]
    assert "28" in found.one("failure", job="c").printed
    # one that is left, and one that failed: the sum is of both
    assert found.one("throughput", scope="group").conditions["jobs"] == 2
    assert log("fio-3.33\n" + good[0] + bad + group).all("throughput")[-1].status == "partial"
    assert log("fio-3.33\n" + good[0] + good[1] + group).one("throughput", scope="group").status == "complete"
    assert not log("fio-3.33\n" + bad + group).all("throughput")
