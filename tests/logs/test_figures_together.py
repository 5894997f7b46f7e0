"""What a sample cannot say: figures of one log that must agree with one another, and logs cut at every place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dtnsim.logs import read_text

DATA = Path(__file__).parent / "data"
KIB, MIB, GIB = 2.0**10, 2.0**20, 2.0**30


# ---- dd --------------------------------------------------------------------------------------------------
def test_cut_lines_give_no_rate(log):
    line = "10737418240 bytes (11 GB) copied, 92.9101 s, 116 MB/s"
    for end in range(len(line)):
        assert not log("x\n" + line[:end]).all("throughput")


# ---- fio -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("version", [2, 3, 4, 5])
def test_every_terse_version(log, version):
    found = log(f"fio/terse{version}.txt")
    for operation, moved in (("read", 7968), ("write", 8416)):
        record = found.one("throughput", operation=operation)
        expected = moved * KIB / record.conditions["duration_s"]
        assert record.value == pytest.approx(expected, rel=0.02)  # 7968 and 8416 KiB in field 5
        assert record.conditions["job"] == "t"
    cut = ";".join((DATA / f"fio/terse{version}.txt").read_text().split(";")[:30]) + "\n"
    assert not log(cut).found
    assert log(cut).unread


def test_cut_json_gives_its_whole_jobs(log):
    text = (DATA / "fio/multi.json").read_text()
    whole = {r.value for r in log(text).all("throughput")}
    cut = log(text[: text.index('"jobname" : "randrw"')])
    assert {r.value for r in cut.all("throughput")} < whole
    assert "ends inside" in cut.unread[0].why


# ---- bonnie ----------------------------------------------------------------------------------------------
def test_the_create_rates_of_200_text_are_not_read(log):
    # own runs: CSV 3176, 5413, 2215, 5511 per second where the text prints 4096 four times
    table = "\n".join((DATA / "bonnie/full_200a.txt").read_text().splitlines()[:10]) + "\n"
    assert not log(table).all("rate")


def test_fast_mode_leaves_columns_empty(log):
    found = log("bonnie/fast_200a.txt")
    assert not found.all("throughput", operation="write_per_char")
    assert found.one("throughput", operation="write").version == "2.00a"
    assert found.one("iops", operation="seek").value > 0
    text = "\n".join((DATA / "bonnie/fast_200a.txt").read_text().splitlines()[:5]) + "\n"
    for operation in ("write", "rewrite"):
        exact = found.value("throughput", operation=operation)
        assert log(text).value("throughput", operation=operation) == pytest.approx(exact, rel=6e-3)


# ---- iozone ----------------------------------------------------------------------------------------------
def test_iozone_of_venadi(log):
    found = log("iozone/venadi.txt")
    assert len(found.all("throughput")) == 10 * 13
    assert found.value("throughput", operation="read", record_B=2048 * KIB) == 9553419 * KIB
    assert found.value("throughput", operation="record_rewrite", record_B=2048 * KIB) == 15502968 * KIB
    assert found.one("throughput", operation="write", record_B=4 * KIB).conditions["file_B"] == 8 * GIB


# ---- parallel fs -----------------------------------------------------------------------------------------
def test_elbencho_takes_last_done(log):
    text = (
        "OPERATION   RESULT TYPE         FIRST DONE   LAST DONE\n"
        "=========== ================    ==========   =========\n"
        "WRITE       Elapsed time     :    2m3.241s    2m5.755s\n"
        "            IOPS             :       33395       33352\n"
        "            Throughput MiB/s :       33395       33350\n"
        "            Total MiB        :     4115703     4194304\n"
        "            IO latency       : [ min=91us avg=120us max=1.58ms ]\n---\n"
        "READ        Elapsed ms       :       6001       7001\n            Throughput MiB/s :         32         31\n"
    )
    found = log(text)
    assert found.value("throughput", operation="write") == 33350 * MIB
    assert found.value("iops", operation="write") == 33352
    assert found.value("duration", operation="write") == pytest.approx(125.755)
    # LAST DONE is the whole run: total / elapsed gives the printed throughput
    total = found.value("bytes", operation="write") / found.value("duration", operation="write")
    assert total == pytest.approx(33350 * MIB, rel=1e-3)
    assert found.value("latency", statistic="max") == pytest.approx(1.58e-3)
    assert found.value("duration", operation="read") == pytest.approx(7.001)


# ---- counters --------------------------------------------------------------------------------------------
def test_mpstat_adds_up(log):
    found = log("mpstat/all_12.txt")
    means = [r for r in found.all("cpu_share", state="idle") if "interval" not in r.conditions]
    assert {r.conditions["cpu"] for r in means} == {"all", "0", "1"}
    every = [r.value for r in found.all("cpu_share", cpu="all") if "interval" not in r.conditions]
    assert sum(every) == pytest.approx(1, abs=0.002)
    json = log("mpstat/all_12.json")
    assert {r.conditions["cpu"] for r in json.all("cpu_share")} >= {"all"}
    assert log("mpstat/one.txt").found


def test_jc_reads_the_same_figures(log):
    jc = pytest.importorskip("jc")
    for row in jc.parse("mpstat", (DATA / "mpstat/all_12.txt").read_text(), quiet=True):
        if row.get("type") == "cpu" and "percent_idle" in row and not row.get("average"):
            mine = [r.value for r in log("mpstat/all_12.txt").all("cpu_share", state="idle", cpu=row["cpu"])]
            assert any(value == pytest.approx(row["percent_idle"] / 100) for value in mine)
    devices = [
        r for r in jc.parse("iostat", (DATA / "iostat/x_12.txt").read_text(), quiet=True) if r["type"] == "device"
    ]
    mine = [r.value for r in log("iostat/x_12.txt").all("throughput", operation="write")]
    assert mine == [pytest.approx(d["wkb_s"] * KIB) for d in devices]


# ---- iperf3 ----------------------------------------------------------------------------------------------
def test_cut_json_gives_what_is_whole():
    interval = {"sum": {"start": 0, "end": 1.0, "seconds": 1.0, "bytes": 100, "bits_per_second": 800.0}}
    text = json.dumps({"start": {"version": "iperf 3.9"}, "intervals": [interval, interval]}, indent=1)
    found, _ = read_text(text[: text.rindex("seconds")])
    assert not [r for r in found if r.status == "complete" and "interval" not in r.conditions]


# ---- scp -------------------------------------------------------------------------------------------------
def test_ascp_and_rsync_lines_are_not_scp(log):
    lines = "173.bam          100%  173GB  438Mb/s    56:48\n"
    lines += "     62,914,560 100%  651.83MB/s    0:00:01 (xfr#1, to-chk=0/4)\n"
    assert "scp" not in {r.tool for r in log(lines).found}


# ---- rsync -----------------------------------------------------------------------------------------------
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


# ---- bbcp ------------------------------------------------------------------------------------------------
def test_progress_is_a_running_mean_in_binary_units(log):
    found = log("bbcp/venadi_100g.txt")
    last = found.one("throughput", interval=None)
    assert last.status == "partial"
    assert last.value == pytest.approx(446.1 * MIB)
    assert len(found.all("throughput", average="running", interval=True)) == 25


def test_running_means_are_differentiated(log):
    """The differences must add up to the running mean again: sum(rate * dt) over the run = mean * T."""
    found = log("bbcp/venadi_100g.txt")
    parts = found.all("throughput", derived="differentiated")
    assert len(parts) == 24
    start = parts[0].conditions["start_s"]
    first = 425.7 * MIB * start
    moved = first + sum(r.value * (r.conditions["end_s"] - r.conditions["start_s"]) for r in parts)
    assert moved == pytest.approx(446.1 * MIB * parts[-1].conditions["end_s"], rel=1e-9)
    rates = [r.value for r in parts]
    running = [r.value for r in found.all("throughput", average="running", interval=True)]
    assert max(rates) / min(rates) > 1.2 > 1.1 > max(running) / min(running)  # the mean hid it


# ---- other transfers -------------------------------------------------------------------------------------
def test_ifstat_series(log):
    found = log("ifstat/uci.txt")
    assert found.value("throughput", device="eth0", direction="send", sample=1, table=1) == 76166.84 * KIB
    assert found.value("throughput", device="ib0", direction="receive", sample=8, table=2) == 172207.8 * KIB
    assert len(found.all("throughput")) == 4 * 18
    stamped = log("ifstat/time_total.txt")
    assert stamped.one("throughput", device="Total", direction="send", sample=1).conditions["time"] == "00:07:41"
    assert stamped.one("throughput", device="lo", direction="send", sample=2).conditions["end_s"] == 1.0
