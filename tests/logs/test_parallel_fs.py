"""IOR, mdtest, elbencho, obdfilter-survey, gpfsperf: layouts of several versions with invented figures."""

from __future__ import annotations

import pytest

KIB, MIB = 2.0**10, 2.0**20

IOR_OPTIONS = """\
IOR-{version}: MPI Coordinated Test of Parallel I/O
Began               : Sun Nov 10 20:31:26 2019
Command line        : /opt/ior -w -r -t 2m -b 16m -F -o /lustre/x
Machine             : Linux n1

Options:
api                 : POSIX
test filename       : /lustre/x
access              : file-per-process
tasks               : 8
clients per node    : 4
repetitions         : {repetitions}
xfersize            : 2 MiB
blocksize           : 16 MiB
aggregate filesize  : 128 MiB

Results:

"""
SUMMARY = (
    "Operation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev   Max(OPs)   Min(OPs)  Mean(OPs)     StdDev    Mean(s)"
    " Stonewall(s) Stonewall(MiB) Test# #Tasks tPN reps\n"
)


def test_ior_33_with_stonewall(log):
    text = IOR_OPTIONS.format(version="3.3.0", repetitions=1) + (
        "access    bw(MiB/s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s) iter\n"
        "------    ---------  ---------- ---------  --------   --------   --------   -------- ----\n"
        "WARNING: Expected aggregate file size       = 832149913600000.\n"
        "write     1234       16384      2048.00    0.116563   341.56     0.002836   341.68     0\n"
        "Max Write: 1234.50 MiB/sec (1294.47 MB/sec)\n\nSummary of all tests:\n" + SUMMARY +
        "write        1234.50    1234.50    1234.50       0.00     617.25     617.25     617.25       0.00  341.68281"
        "     301.61       1300.25     0      8   4    1\nFinished            : Sun Nov 10 20:37:07 2019\n"
    )  # fmt: skip
    found = log(text)
    best = next(r for r in found.all("throughput") if "view" not in r.conditions)
    assert best.value == 1234.50 * MIB
    assert best.value == pytest.approx(1294.47e6, rel=1e-4)  # the tool's own MB/sec
    assert best.version == "3.3.0"
    assert best.conditions["record_B"] == 2 * MIB
    assert best.conditions["tasks"] == 8
    assert best.conditions["access"] == "file-per-process"
    assert found.value("throughput", view="stonewall") == 1300.25 * MIB
    assert found.value("iops") == 617.25
    assert not found.unread


def test_ior_40_without_max_lines_gives_the_summary(log):
    text = IOR_OPTIONS.format(version="4.0.0", repetitions=2) + (
        "access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s"
        ")   total(s)   iter\n"
        "------    ---------  ----       ----------  ---------- ---------  --------   --------   -------"
        "-   --------   ----\n"
        "write     100.49     40.94      0.000244    1024.00    256.00     0.000515   0.000977   0.00021"
        "9   0.001711   0\n"
        "read      2041.02    38836      0.000026    1024.00    256.00     0.000210   0.000103   0.00017"
        "7   0.000490   0\n"
        "write     120.51     40.94      0.000244    1024.00    256.00     0.000515   0.000977   0.00021"
        "9   0.001711   1\n"
        "read      2000.02    38836      0.000026    1024.00    256.00     0.000210   0.000103   0.00017"
        "7   0.000490   1\n"
        "\nSummary of all tests:\n" + SUMMARY +
        "write         120.51     100.49     110.50      10.01      60.25      50.25      55.25       5.00    0.00171\n"
        "read         2041.02    2000.02    2020.52      20.50    1020.51    1000.01    1010.26      10.25    0.00049\n"
    )  # fmt: skip
    found = log(text)
    for operation, top, low, mean in (("write", 120.51, 100.49, 110.50), ("read", 2041.02, 2000.02, 2020.52)):
        rates = {r.conditions.get("statistic"): r.value for r in found.all("throughput", operation=operation)}
        assert rates == {None: top * MIB, "min": low * MIB, "mean": mean * MIB}


def test_ior_rows_alone(log):
    text = (
        "access    bw(MiB/s)  IOPS\n------    ---------  ----\nwrite     2062.66    2064.48\n"
        "read      1917.90    1919.93\n"
    )
    found = log(text)
    assert found.value("throughput", operation="write") == 2062.66 * MIB
    full = (
        "access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s"
        ")   total(s)   iter\n"
        "write     1223.48    1223.99    4.65        16384      1024.00    2.44       100.39     88.37  "
        "    100.44     0\n"
    )
    assert log(full).value("throughput", operation="write") == 1223.48 * MIB


def test_ior_31(log):
    text = (
        "IOR-3.1.0: MPI Coordinated Test of Parallel I/O\n\nSummary:\n"
        "\tapi                = MPIIO (version=3, subversion=0)\n"
        "\tclients            = 64 (2 per node)\n\trepetitions        = 1\n\txfersize           = 47008 bytes\n\n"
        "access    bw(MiB/s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter\n\n"
        "Max Read:  829.16 MiB/sec (869.44 MB/sec)\n"
    )
    record = log(text).one("throughput")
    assert record.conditions["tasks"] == 64
    assert record.conditions["tasks_per_node"] == 2
    assert record.conditions["record_B"] == 47008
    assert record.conditions["api"] == "MPIIO"
    assert record.conditions["operation"] == "read"


def test_ior_error(log):
    text = (
        "IOR-3.3.0: MPI Coordinated Test of Parallel I/O\n"
        'ior ERROR: open("/x/testFile") failed, errno 13, Permission denied\n'
    )
    assert "Permission denied" in log(text).one("failure").printed


ROWS = (
    "   File creation                7147.432       6789.531       6996.044        132.149\n"
    "   File stat                       0.000          0.000          0.000          0.000\n"
)


def test_mdtest_4_without_colons(log):
    text = (
        "mdtest-4.1.0+dev was launched with 128 total task(s) on 2 node(s)\n128 tasks, 16384 files\n\n"
        "SUMMARY rate (in ops/sec): (of 10 iterations)\n"
        "   Operation                     Max            Min           Mean        Std Dev\n"
        "   ---------                     ---            ---           ----        -------\n" + ROWS +
        "\nSUMMARY time (in ms/op): (of 10 iterations)\n"
        "   Operation                     Max            Min           Mean        Std Dev\n" + ROWS
    )  # fmt: skip
    found = log(text)
    assert found.value("rate", operation="file_create", statistic="max") == 7147.432
    assert found.value("rate", operation="file_create", statistic="mean") == 6996.044
    assert not found.all("rate", operation="file_stat")  # zero: the phase was not run
    assert found.all("rate")[0].version == "4.1.0+dev"
    assert found.all("rate")[0].conditions["tasks"] == 128


def test_mdtest_with_per_rank_columns(log):
    text = (
        "SUMMARY rate: (of 1 iterations)\n"
        "   Operation     per Rank: Max            Min           Mean      per Iteration: Max   Min   Mean   Std Dev\n"
        "   File read                 :       10.0        8.0        9.0       1000.0      900.0      950.0       0.0\n"
    )
    assert log(text).value("rate", operation="file_read", statistic="max") == 1000


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


def test_elbencho_csv(log):
    text = (
        "ISO date,label,path type,paths,hosts,threads,dirs,files,file size,block size,direct IO,random,operation,"
        "time ms [first],time ms [last],IOPS [first],IOPS [last],MiB/s [first],MiB/s [last],MiB [first],MiB [last]\n"
        "2021-01-01T00:00:00,,file,1,1,96,1,1,17179869184,1048576,1,0,WRITE,123241,125755,33395,33352,33"
        "395,33350,1,4194304\n"
    )
    record = log(text).one("throughput")
    assert record.value == 33350 * MIB
    assert record.conditions["block_B"] == MIB
    assert record.conditions["direct"] is True


def test_storage_sweep_csv_is_gigabits(log):
    found = log("Dataset,Mean-value\n1048576x64KiB,28.604\n")
    # 1048576 files of 64 KiB at 28.604 Gbit/s take 19.2 s; at 28.604 GiB/s they would take 2.2 s
    assert found.value("throughput") == pytest.approx(28.604e9 / 8)
    assert found.one("throughput").conditions["file_B"] == 64 * KIB


def test_obdfilter_survey(log):
    text = (
        "ost  2 sz 33554432K rsz 1024K obj    4 thr    8 write  500.50 [ 240.00, 260.00] rewrite 510.00 "
        "[ 250.00, 259.00]"
        " read  700.25            SHORT\n"
        "ost  2 sz 33554432K rsz 1024 obj    4 thr   16 write  0.00            ERROR\n"
    )
    found = log(text)
    write = next(r for r in found.all("throughput", operation="write") if "statistic" not in r.conditions)
    assert write.value == 500.50 * MIB
    assert write.conditions["record_B"] == MIB
    assert found.value("throughput", operation="read") == 700.25 * MIB
    assert found.value("throughput", operation="rewrite", statistic="min") == 250 * MIB
    assert found.one("failure").conditions["threads"] == 16


@pytest.mark.parametrize(
    ("line", "rate"),
    [
        (
            "Data rate was 1048576.00 Kbytes/sec, Op Rate was 125.00 Ops/sec, Avg Latency was 8.0 milliseconds,",
            1048576e3,
        ),
        ("Data rate was 1024000.00 Kbytes/sec, iops was 125.00, thread utilization 0.97", 1024000 * KIB),
    ],
)
def test_gpfsperf_kbytes_follow_from_operations(log, line, rate):
    text = (
        f"gpfsperf write seq /gpfs/x\n  recSize 8M nBytes 200G fileSize 200G\n"
        f"  nProcesses 1 nThreadsPerProcess 4\n    {line}\n"
    )
    found = log(text)
    assert found.value("throughput") == rate  # 125 operations of 8 MiB a second
    assert rate == 125 * 8 * MIB
    assert found.value("iops") == 125
    assert found.one("throughput").conditions["threads"] == 4
    assert not found.unread


def test_ior_json(log):
    import json

    document = {
        "Version": "3.3.0",
        "tests": [{
            "Options": {"api": "POSIX", "xfersize": "1 MiB", "tasks": 8},
            "Results": [
                {"access": "write", "bwMiB": 100.5, "iops": 100.6},
                {"access": "write", "bwMiB": 120.25, "iops": 120.3},
                {"access": "read", "bwMiB": 300.0},
            ],
        }],
    }  # fmt: skip
    found = log(json.dumps(document, indent=2) + "\n")
    assert found.value("throughput", operation="write") == 120.25 * MIB
    assert found.one("throughput", operation="read").conditions["record_B"] == MIB
    assert found.one("throughput", operation="read").version == "3.3.0"
