"""Forms that logs of others had: joined lines, filtered counters, prefixes, prompts of themes, XML."""

from __future__ import annotations

import pytest

DD = "1+0 records in\n1+0 records out\n"


def test_two_results_of_dd_in_one_line(log):
    line = "1073741824 bytes (1.1 GB) copied, 2 s, 537 MB/s 1073741824 bytes (1.1 GB) copied, 4 s, 268 MB/s\n"
    assert [m.value for m in log(line).all("throughput")] == [2.0**30 / 2, 2.0**30 / 4]
    grows = "104857600 bytes (105 MB) copied, 1 s, 105 MB/s419430400 bytes (419 MB) copied, 4 s, 105 MB/s\n"
    assert log(grows).value("duration") == 4, "drawings of one copy whose carriage returns are lost"


def test_counters_of_ethtool_behind_grep(log):
    found = log(
        "$ ethtool -S eth2 | grep discard\n     rx_discards_phy: 17\n     tx_discards_phy: 0\n$ ls\n     other: 3\n"
    )
    assert [(m.conditions["of"], m.value) for m in found.all("count", interface="eth2")] == [
        ("rx_discards_phy", 17), ("tx_discards_phy", 0),
    ]  # fmt: skip


def test_interim_results_of_netperf(log):
    lines = "".join(f"Interim result:  94{n}.50 10^6bits/s over 1.000 seconds ending at {n}.1\n" for n in range(9)) * 2
    found = log(
        "MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.0.0.2 () port 0 AF_INET : demo\n" + lines
        + "Recv   Send    Send\nSocket Socket  Message  Elapsed\nSize   Size    Size     Time     Throughput\n"
        "bytes  bytes   bytes    secs.    10^6bits/sec\n\n 87380  16384  16384    18.05     944.87\n"
    )  # fmt: skip
    assert len(found.all("throughput", interval=True, duration_s=1.0)) == 18
    assert found.value("throughput", duration_s=18.05) == pytest.approx(944.87e6 / 8)


def test_remarks_behind_figures_of_rados_bench(log):
    found = log(
        "Total time run:         10.284   # with replication 3\nTotal writes made:      491\n"
        "Write size:             8388608 # 8 MiB\nBandwidth (MB/sec):     381.954 <- the figure\n"
    )
    assert found.value("throughput") == 381.954 * 2.0**20


def test_disks_of_vmstat(log):
    found = log(
        "disk- ------------reads------------ ------------writes----------- -----IO------\n"
        "       total merged sectors      ms  total merged sectors      ms    cur    sec\n"
        "sda   270381  10325 16408018  120403 189330 170226 12058616  313044      0     97\n"
    )
    assert found.value("bytes", operation="read", device="sda") == 16408018 * 512
    assert found.value("duration", of="busy") == 97
    assert found.value("duration", of="requests", operation="write") == 313.044


@pytest.mark.parametrize("option", ["--reverse", ""])
def test_the_way_of_data_with_reverse(log, option):
    text = f"$ pscheduler task throughput {option} --source a.example --dest b.example\nSummary\n"
    text += "Interval       Throughput     Retransmits    Receiver Throughput\n0.0 - 10.0     9.41 Gbps      0\n"
    known = log(text).one("throughput").conditions
    ends = ("a.example", "b.example")
    assert (known["source"], known["target"]) == (ends[::-1] if option else ends)


@pytest.mark.parametrize(
    "prefix", ["null_resource.bench (local-exec): ", 'null_resource.b["a"] (remote-exec): ', "vm.x[0] (local-exec): "]
)
def test_prefixes_of_terraform(log, prefix):
    lines = (DD + "1073741824 bytes (1.1 GB, 1.0 GiB) copied, 2 s, 537 MB/s\n").splitlines()
    assert log("".join(f"{prefix}{line}\n" for line in lines)).value("throughput") == 2.0**30 / 2


@pytest.mark.parametrize("prompt", ["❯ ", "➜  ~ ", "➜  bench git:(main) ✗ ", "~/bench » ", "ann@dtn1 λ ", "λ "])
def test_prompts_with_unusual_signs(log, prompt):
    text = f"{prompt}dd if=/dev/zero of=/data/x bs=1M count=1024\n{DD}1073741824 bytes (1.1 GB) copied, 2 s, 537 MB/s\n"
    known = log(text).one("throughput").conditions
    assert (known["target"], known.get("host")) == ("/data/x", "dtn1" if "dtn1" in prompt else None)


def test_xml_of_diskspd(log):
    """The elements are those that readers of DiskSpd's XML name; figures are ours."""
    target = "<Target><BytesCount>3000</BytesCount><ReadBytes>4194304</ReadBytes><ReadCount>1024</ReadCount>"
    target += "<WriteBytes>{}</WriteBytes><WriteCount>{}</WriteCount></Target>"
    found = log(
        "C:\\> diskspd -Rxml\n<Results>\n<Profile><TimeSpans><TimeSpan><Targets><Target><BlockSize>4096</BlockSize>"
        "</Target></Targets></TimeSpan></TimeSpans></Profile>\n<TimeSpan>\n<TestTimeSeconds>2.00</TestTimeSeconds>\n"
        "<ThreadCount>2</ThreadCount>\n<CpuUtilization><Average><UsagePercent>8.50</UsagePercent></Average>"
        "</CpuUtilization>\n<Latency><AverageReadMilliseconds>0.25</AverageReadMilliseconds><Bucket><Percentile>99"
        "</Percentile><ReadMilliseconds>1.5</ReadMilliseconds></Bucket></Latency>\n"
        f"<Thread>{target.format(0, 0)}</Thread>\n<Thread>{target.format(8192, 2)}</Thread>\n</TimeSpan>\n</Results>\n"
    )
    assert found.value("throughput", operation="read", block_B=4096.0, threads=2.0) == 2 * 4194304 / 2
    assert found.value("throughput", operation="write") == 4096
    assert found.value("iops", operation="read") == 1024
    assert found.value("latency", statistic=None) == 0.25e-3
    assert found.value("latency", statistic="p99") == 1.5e-3
    assert found.value("cpu_share") == 0.085
