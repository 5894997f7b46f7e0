"""scp and sftp. Fixture: the Venadi document."""

from __future__ import annotations

import pytest

MIB = 2.0**20


def test_everything_is_1024_based(log):
    found = log("scp/venadi.txt").one("throughput")
    assert found.value == 182.2 * MIB
    assert found.conditions["file_B"] / found.conditions["duration_s"] == pytest.approx(found.value, rel=1e-3)
    assert found.conditions["direction"] == "receive"
    assert found.conditions["host"] == "venadi"


def test_only_the_last_redraw_counts(log):
    text = (
        "u@dtn:~$ scp big.dat dtn2:/data/\n"
        "big.dat            0%    0     0.0KB/s   --:-- ETA\r"
        "big.dat           45%   45GB 512.0MB/s   01:50 ETA\r"
        "big.dat          100%  100GB 500.0MB/s   03:24    \n"
    )
    found = log(text)
    assert found.value("throughput") == 500 * MIB
    assert found.value("duration") == 204
    assert log(text.replace("\r", "\n")).value("throughput") == 500 * MIB


def test_eta_is_no_duration(log):
    found = log("$ scp big.dat dtn2:/data/\nbig.dat    45%   45GB 512.0MB/s   01:50 ETA\n")
    assert found.one("throughput").status == "partial"
    assert not found.all("duration")


def test_failed_copies_have_no_rate(log):
    text = (
        "$ scp a h:\na    45%   45GB 512.0MB/s   01:50 ETA\nlost connection\n"
        "$ scp b h:\nscp: b: No such file or directory\n"
    )
    found = log(text)
    assert len(found.all("failure")) == 2
    assert not found.all("throughput")


def test_old_bar_without_rate(log):
    found = log("$ scp u@h:/a/10G .\n10G    100% |*****************************| 10240 MB    01:42\n")
    assert found.value("throughput") == 10240 * MIB / 102


def test_empty_file(log):
    found = log("$ scp a h:\nempty                  100%    0     0.0KB/s   00:00\n")
    assert not found.all("throughput")
    assert found.unread


def test_sftp_directions(log):
    text = (
        "$ sftp user@dtn\nUploading a.py to /u/a.py\na.py        100%   95   377.2KB/s   00:00\n"
        "Fetching /u/b to b\n/u/b        100%  100MB  50.0MB/s   00:02\n"
    )
    found = log(text)
    assert found.value("throughput", direction="send") == pytest.approx(377.2 * 1024)
    assert found.value("throughput", direction="receive") == 50 * MIB


def test_pscp(log):
    line = "file.bin                  | 1024 kB | 512.0 kB/s | ETA: 00:00:00 | 100%\n"
    assert log(line).value("throughput") == 512 * 1024


def test_wire_rate_of_verbose_mode(log):
    text = "$ scp -v a h:\nTransferred: sent 3000000, received 3332 bytes, in 3.0 seconds\n"
    assert log(text).value("throughput", wire=True, direction="send") == 1e6


def test_size_and_time_that_do_not_fit(log):
    assert "printed rate" in log("$ scp a b:\na    100%  100GB 182.2MB/s   19:22\n").unread[0].why


def test_ascp_and_rsync_lines_are_not_scp(log):
    lines = "173.bam          100%  173GB  438Mb/s    56:48\n"
    lines += "     62,914,560 100%  651.83MB/s    0:00:01 (xfr#1, to-chk=0/4)\n"
    assert "scp" not in {r.tool for r in log(lines).found}
