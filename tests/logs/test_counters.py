"""iostat, mpstat, sar: own runs of sysstat 12 (data/iostat, mpstat, sar), older column sets, jc beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

DATA = Path(__file__).parent / "data"
KIB, MIB = 2.0**10, 2.0**20


def test_iostat_text_and_json_have_the_same_columns(log):
    text, json = log("iostat/x_12.txt"), log("iostat/x_12.json")
    for found in (text, json):
        reports = {r.conditions["report"] for r in found.all("throughput")}
        assert reports == set(range(1, len(reports) + 1))
        assert {r.conditions["operation"] for r in found.all("throughput", device="vda")} == {
            "read",
            "write",
            "discard",
        }
        shares = [r.value for r in found.all("cpu_share", report=1)]
        assert sum(shares) == pytest.approx(1, abs=0.002)
    assert not text.unread


def test_iostat_human_letters_override_the_heading(log):
    found = log("iostat/human_12.txt")
    lines = (DATA / "iostat/human_12.txt").read_text().splitlines()
    row = next(line.split() for line in lines if line.split()[-1:] == ["vda"])
    rate = found.one("throughput", operation="read", report=1)
    assert row[1][-1] == "M"
    assert rate.value == pytest.approx(float(row[1][:-1]) * MIB)
    assert {r.conditions["report"] for r in found.all("utilization")} == {1, 2}


@pytest.mark.parametrize(
    ("heads", "row", "rate"),
    [
        ("Device:            tps   Blk_read/s   Blk_wrtn/s   Blk_read   Blk_wrtn",
         "sda              10.00       2048.00        0.00       100          0", 2048 * 512),
        ("Device:         rrqm/s   wrqm/s     r/s     w/s   rsec/s   wsec/s avgrq-sz avgqu-sz   await  svctm  %util",
         "sda               0.00     0.00   10.00    0.00  2048.00     0.00    16.00     0.50    2.00   1.00   1.00",
         2048 * 512),
        ("Device       r/s     w/s     rMB/s     wMB/s   rrqm/s   wrqm/s r_await w_await aqu-sz  svctm  %util",
         "nvme0n1    10.00    0.00      1.50      0.00     0.00     0.00    2.00    0.00   0.50   1.00   1.00",
         1.5 * MIB),
        ("Device             tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn",
         "sda              10.00      1024.00         0.00       100          0", MIB),
    ],
)  # fmt: skip
def test_column_sets_of_other_versions(log, heads, row, rate):
    found = log(f"{heads}\n{row}\n\n")
    assert found.value("throughput", operation="read") == rate
    if "await" in heads:
        assert found.all("latency")[0].value == pytest.approx(2e-3)
        assert found.value("queue_depth") == 0.5
        assert found.value("utilization") == pytest.approx(0.01)


def test_a_cut_row_is_not_read(log):
    text = (DATA / "iostat/x_12.txt").read_text()
    start = text.index("vda")
    found = log(text[: start + 60])
    assert not found.all("throughput")
    assert found.unread


def test_mpstat(log):
    found = log("mpstat/all_12.txt")
    means = [r for r in found.all("cpu_share", state="idle") if "interval" not in r.conditions]
    assert {r.conditions["cpu"] for r in means} == {"all", "0", "1"}
    every = [r.value for r in found.all("cpu_share", cpu="all") if "interval" not in r.conditions]
    assert sum(every) == pytest.approx(1, abs=0.002)
    json = log("mpstat/all_12.json")
    assert {r.conditions["cpu"] for r in json.all("cpu_share")} >= {"all"}
    assert log("mpstat/one.txt").found


def test_mpstat_json_of_a_killed_run(log):
    found = log("mpstat/killed.json")
    assert found.all("cpu_share", cpu="all", state="idle")
    assert "ends inside" in found.unread[0].why


def test_sar_tables(log):
    found = log("sar/tables_12.txt")
    share = [r for r in found.all("cpu_share", cpu="all", state="idle") if "interval" not in r.conditions]
    assert len(share) == 1
    assert {r.conditions["interface"] for r in found.all("throughput", direction="send")} >= {"lo", "eth0"}
    assert found.all("throughput", device="vda", operation="read")
    assert not found.unread


def test_sar_kb_is_1024_and_times_of_day(log):
    text = (
        "Linux 5.4.0 (box)  05/21/2019   _x86_64_  (8 CPU)\n\n"
        "06:42:09 PM     IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s   rxcmp/s   txcmp/s  rxmcst/s   %ifutil\n"
        "06:42:39 PM      eth0   1000.00   2000.00   1024.00 500000.00      0.00      0.00      0.00     40.96\n"
        "Average:         eth0   1000.00   2000.00   1024.00 500000.00      0.00      0.00      0.00     40.96\n"
    )
    found = log(text)
    values = [r.value for r in found.all("throughput", direction="send", interface="eth0")]
    assert values == [500000 * KIB] * 2
    assert values[0] * 8 / 1e10 == pytest.approx(0.4096)  # %ifutil of a 10 Gb/s link as sysstat computes it
    assert found.all("utilization")[0].value == pytest.approx(0.4096)


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
