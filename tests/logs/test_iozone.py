"""iozone: positional columns, -i lists, throughput mode, Excel reports, units.

venadi.txt is printed in the Venadi document; the other tables have iozone's layout with invented figures.
"""

from __future__ import annotations

import pytest

KIB, GIB = 2.0**10, 2.0**30

HEAD = (
    "                                                            random  random    bkwd   record   stride\n"
    "              kB  reclen   write rewrite    read    reread    read   write    read  rewrite     read   fwrite"
    " frewrite   fread  freread\n"
)
WIDE = (
    "                                                              random    random     bkwd    record    stride\n"
    "              kB  reclen    write  rewrite    read    reread    read     write     read   rewrite      read"
    "   fwrite frewrite    fread  freread\n"
)


def test_venadi(log):
    found = log("iozone/venadi.txt")
    assert len(found.all("throughput")) == 10 * 13
    assert found.value("throughput", operation="read", record_B=2048 * KIB) == 9553419 * KIB
    assert found.value("throughput", operation="record_rewrite", record_B=2048 * KIB) == 15502968 * KIB
    assert found.one("throughput", operation="write", record_B=4 * KIB).conditions["file_B"] == 8 * GIB


def test_kb_is_1024(log):
    # iozone itself says so: -s 256g is printed as 268435456 kB
    text = HEAD + "       268435456    1024  850821  879929  2400110  2395613\n"
    assert log(text).one("throughput", operation="write").conditions["file_B"] == 256 * GIB


def test_blank_columns_are_told_by_position(log):
    row = "         8388608       4  850821  879929                     714628   65984\n"
    found = log(HEAD + row)
    assert found.value("throughput", operation="random_read") == 714628 * KIB
    assert found.value("throughput", operation="random_write") == 65984 * KIB
    assert not found.all("throughput", operation="read")
    wide = "         8388608       4   850821   879929                    1714628    165984\n"
    assert log(WIDE + wide).value("throughput", operation="random_write") == 165984 * KIB


def test_the_i_list_helps_where_blanks_are_squeezed(log):
    text = (
        "$ iozone -i 0 -i 2 -s 8g -r 4k\n"
        + " ".join(HEAD.splitlines()[1].split())
        + "\n8388608 4 850821 879929 714628 65984\n"
    )
    found = log(text)
    assert found.value("throughput", operation="random_write") == 65984 * KIB
    without = log(" ".join(HEAD.splitlines()[1].split()) + "\n8388608 4 850821 879929 714628 65984\n")
    assert not without.found  # never guess
    assert "cannot be separated" in without.unread[0].why


def test_flags_are_conditions(log):
    text = "\tCommand line used: iozone -I -o -e -a -s 1g\n\tO_DIRECT feature enabled\n" + HEAD
    found = log(text + "         1048576      64  850821  879929  2400110  2395613\n")
    record = found.one("throughput", operation="reread")
    assert record.conditions["direct"] is True
    assert record.conditions["sync"] == "osync"
    assert record.conditions["flush"] is True


def test_operations_and_microseconds(log):
    row = "         1048576      64  850821  879929  2400110  2395613\n"
    ops = log("\tOPS Mode. Output is in operations per second.\n" + HEAD + row)
    assert ops.one("iops", operation="write").value == 850821
    late = log("\tMicroseconds/op Mode. Output is in microseconds per operation.\n" + HEAD + row)
    assert late.one("latency", operation="write").value == pytest.approx(0.850821)


def test_throughput_mode_takes_the_children(log):
    text = (
        "\tRecord Size 256 kB\n\tFile size set to 1048576 kB\n"
        "\tChildren see throughput for 12 initial writers \t= 5732581.09 kB/sec\n"
        "\tParent sees throughput for 12 initial writers \t= 4646810.21 kB/sec\n"
        "\tMin throughput per process \t\t\t=  387764.34 kB/sec\n"
        "\tMax throughput per process \t\t\t=  399655.47 kB/sec\n"
        "\tAvg throughput per process \t\t\t=  394381.76 kB/sec\n"
        "\tMin xfer \t\t\t\t\t= 1017344.00 kB\n\n"
        "\tChildren see throughput for 12 random readers \t= 837741.94 kB/sec\n"
    )
    found = log(text)
    write = next(r for r in found.all("throughput", operation="write") if "view" not in r.conditions)
    assert write.value == pytest.approx(5732581.09 * KIB)
    assert write.conditions["threads"] == 12
    assert write.conditions["record_B"] == 256 * KIB
    assert found.value("throughput", view="parent") == pytest.approx(4646810.21 * KIB)
    assert found.value("throughput", statistic="min") == pytest.approx(387764.34 * KIB)
    assert found.value("throughput", operation="random_read") == pytest.approx(837741.94 * KIB)


def test_pdsh_hosts(log):
    text = (
        "10.0.0.11:      Children see throughput for  1 initial writers  =  302980.50 kB/sec\n"
        "10.0.0.12:      Children see throughput for  1 initial writers  =  302805.03 kB/sec\n"
    )
    assert log(text).value("throughput", host="10.0.0.12") == pytest.approx(302805.03 * KIB)


def test_excel_reports(log):
    text = (
        '"Writer report"\n        "4"  "8"  "16"  "32"  "64"  "128"\n"64"   581273  743988  743988  771797  752329 \n'
        '"128"   757430  805138  877518  883293  887675  985435 \n\n"Re-Reader report"\n        "4"  "8"\n'
        '"64"   1  2 \n'
    )
    found = log(text)
    assert found.value("throughput", operation="write", file_B=64 * KIB, record_B=64 * KIB) == 752329 * KIB
    assert found.value("throughput", operation="write", file_B=128 * KIB, record_B=128 * KIB) == 985435 * KIB
    assert found.value("throughput", operation="reread", record_B=8 * KIB) == 2 * KIB


def test_the_report_of_the_same_run_counts_once(log):
    text = (
        HEAD + "              64       4  850821  879929  2400110  2395613\n\niozone test complete.\n"
        'Excel output is below:\n\n"Writer report"\n        "4"\n"64"   850821 \n'
    )
    assert len(log(text).all("throughput", operation="write")) == 1


def test_a_short_excel_row_is_not_shifted(log):
    found = log('"Writer report"\n        "4"  "8"  "16"  "32"\n"64"   581273  743988\n')
    assert not found.found
    assert found.unread


def test_the_version_stands_between_dollars(log):
    text = "\tIozone: Performance Test of File I/O\n\t        Version $Revision: 3.489 $\n" + HEAD
    found = log(text + "         8388608       4  850821  879929 2400110 2395613\n")
    assert {r.version for r in found.found} == {"3.489"}
