"""What a sample cannot say: figures of one log that must agree with one another, and logs cut at every place."""

import json
from pathlib import Path

import pytest

from dtnsim.logs import read_text

DATA = Path(__file__).parent / "data"
KIB, MIB = 2.0**10, 2.0**20


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


# ---- hosts; jc as a second opinion -----------------------------------------------------------------------
def test_bonding_and_mtu(log):
    found = log("bonding/venadi.txt")
    rates = found.all("link_rate")
    assert [r.value for r in rates] == [10e9 / 8] * 4
    assert {r.conditions["interface"] for r in rates} == {"eth4", "eth5", "eth6", "eth7"}
    assert rates[0].conditions["hash_policy"] == "layer3+4"
    assert rates[0].conditions["bond"] == "bond0"
    assert found.one("count", of="members").conditions["working"] == 4
    assert found.value("mtu", interface="bond0.205") == 9000
    assert log("ifconfig/ip_addr.txt").value("mtu", interface="lo") == 65536


ZPOOL = (
    "              capacity     operations     bandwidth \npool        alloc   free   read  write   read  write\n"
    "----------  -----  -----  -----  -----  -----  -----\ntank        1.50T  2.25T    100     20  10.5M   448K\n"
    "  raidz1    1.50T  2.25T    100     20  10.5M   448K\n    sda         -      -     50     10  5.25M   224K\n"
    "----------  -----  -----  -----  -----  -----  -----\ntank        1.50T  2.25T    300      0  31.5M      0\n"
)


@pytest.mark.parametrize(("name", "parser"), [("lsblk/default.txt", "lsblk"), ("lsblk/columns_b.txt", "lsblk")])
def test_jc_reads_the_same_devices(log, name, parser):
    jc = pytest.importorskip("jc")
    devices = jc.parse(parser, (DATA / name).read_text(), quiet=True)
    mine = {r.conditions["device"]: r.printed for r in log(name).all("capacity")}
    assert mine == {d["name"]: str(d["size"]) for d in devices if d.get("size") is not None}


def test_jc_reads_the_same_speed(log):
    jc = pytest.importorskip("jc")
    text = "Settings for enp0s3:\n\tSupported ports: [ TP ]\n\tSpeed: 1000Mb/s\n\tDuplex: Full\n\tLink detected: yes\n"
    assert jc.parse("ethtool", text, quiet=True)["speed_bps"] == log(text).value("link_rate") * 8


def test_jc_reads_the_same_pool(log):
    jc = pytest.importorskip("jc")
    first = ZPOOL[: ZPOOL.rindex("tank")]
    rows = jc.parse("zpool_iostat", first, quiet=True)
    mine = [r for r in log(first).all("throughput", operation="write") if "device" not in r.conditions]
    assert (rows[0]["bw_write"], rows[0]["bw_write_unit"]) == (448, "K")
    assert mine[0].value == 448 * KIB
