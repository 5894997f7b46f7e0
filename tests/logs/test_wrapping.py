"""What stands around the output of a tool: stamps of collectors, JSON of runners, web pages."""

import bz2
import gzip
import io
import json
import lzma
import sys
import tarfile
from pathlib import Path

import pytest

from dtnsim.ground.errors import LogError
from dtnsim.logs import read_logs, read_text
from tests.each import rows

DATA = Path(__file__).parent / "data"
DD = "10240+0 records in\n10240+0 records out\n10737418240 bytes (11 GB) copied, 92.9101 s, 116 MB/s\n"
RATE = 10737418240 / 92.9101

#: one run of each kind of line: free standing, a table, indented blocks, times
FIO_TEXT = """\
job: (groupid=0, jobs=1): err= 0: pid=99: Tue Mar  5 11:00:00 2022
  read: IOPS=48.0k, BW=188MiB/s (197MB/s)(11.0GiB/60001msec)
Run status group 0 (all jobs):
   READ: bw=188MiB/s (197MB/s), 188MiB/s-188MiB/s (197MB/s-197MB/s), io=11.0GiB (11.8GB), run=60001-60001msec
"""
ROUTE = """\
traceroute to 8.8.8.8 (8.8.8.8), 30 hops max, 60 byte packets
 1  gw (10.0.0.1)  0.412 ms  0.398 ms  0.391 ms
 2  dns (8.8.8.8)  1.412 ms  1.398 ms  1.391 ms
"""
IOZONE = """\
              kB  reclen    write  rewrite    read    reread
         1048576    1024  1834017  2930211  5820112  6120333
"""
ZPOOL = """\
pool        alloc   free   read  write   read  write
----------  -----  -----  -----  -----  -----  -----
tank        1.23T  4.56T    123  1.20K  12.3M   1.1G
  sda       1.23T  4.56T    123  1.20K  12.3M   1.1G
"""
TIMED = "real\t1m2.734s\nuser\t0m0.003s\nsys\t0m1.230s\n"
LSPCI = "01:00.0 Ethernet controller: X\n\t\tLnkSta:\tSpeed 8GT/s (ok), Width x8 (downgraded)\n"
GLOBUS = "Task ID: 5e2b\nStatus: SUCCEEDED\nBytes Transferred: 3000\nBytes Per Second: 100\n"
IPERF3 = '{\n "start": {"version": "iperf 3.12"},\n "end": {"sum_sent": {"seconds": 2, "bits_per_second": 80}}\n}\n'
CAPTURES = {
    "dd": DD,
    "iperf3": IPERF3,
    "globus": GLOBUS,
    "fio": FIO_TEXT,
    "traceroute": ROUTE,
    "iozone": IOZONE,
    "time": TIMED,
    "lspci": LSPCI,
    "zpool": ZPOOL,
}


@pytest.mark.parametrize("before", rows("logs/tables", "what_collectors_put_before_lines_changes_nothing"))
@pytest.mark.parametrize("capture", CAPTURES.values(), ids=CAPTURES)
def test_what_collectors_put_before_lines_changes_nothing(before, capture):
    def told(text: str) -> list[tuple[object, ...]]:
        found, unread = read_text(text)
        assert not unread
        return [(m.tool, m.quantity, m.value, m.status, m.line, {**m.conditions, "host": ""}) for m in found]

    plain = told(capture)
    assert plain
    assert told("".join(f"{before}{line}\n" for line in capture.splitlines())) == plain


def test_hosts_that_share_a_journal_are_told_apart():
    lines = [f"Mar 04 10:00:00 {host} run.sh[12]: {line}\n" for line in DD.splitlines() for host in ("alpha", "beta")]
    assert [m.conditions["host"] for m in read_text("".join(lines))[0]] == ["alpha"] * 2 + ["beta"] * 2


def test_no_break_spaces_of_a_web_page():
    found = read_text(DD.replace(" ", "\u00a0"))[0]
    assert [m.value for m in found if m.quantity == "throughput"] == [pytest.approx(RATE)]


@pytest.mark.parametrize(
    "wrapped",
    [
        json.dumps({"cmd": "dd", "rc": 0, "stderr": DD, "stderr_lines": DD.splitlines(), "stdout": ""}, indent=4),
        json.dumps({"plays": [{"tasks": [{"hosts": {"dtn01": {"stderr_lines": DD.splitlines()}}}]}]}, indent=1),
        "\n".join(json.dumps({"log": f"{line}\n", "stream": "stderr"}) for line in DD.splitlines()),  # docker json-file
        "\n".join(json.dumps({"MESSAGE": line, "_PID": "7"}) for line in DD.splitlines()),  # journalctl -o json
    ],
    ids=["ansible", "ansible-lines", "docker", "journal"],
)
def test_output_inside_the_json_of_a_runner(wrapped):
    found = read_text(wrapped + "\n")[0]
    assert [(m.tool, m.quantity) for m in found] == [("dd", "throughput"), ("dd", "duration")]
    assert found[0].value == pytest.approx(RATE)
    assert found[0].status == "complete"


def test_a_run_in_one_line_of_a_web_page():
    found = read_text("<p>" + "<br />".join(IOZONE.splitlines()) + "<BR>" + "<br>".join(DD.splitlines()) + "</p>\n")[0]
    assert [m.value for m in found if m.tool == "dd"] == [pytest.approx(RATE), pytest.approx(92.9101)]
    assert [m.value / 1024 for m in found if m.tool == "iozone"] == [1834017, 2930211, 5820112, 6120333]


@pytest.mark.parametrize(
    "around",
    ["Скопировано байт: ", "复制了十兆字节的数据", "├─sda1 └─sda2 ", "“quoted” "],
    ids=["russian", "chinese", "tree", "quotes"],
)
@pytest.mark.parametrize("cut", range(4))
def test_a_sample_may_end_within_a_character(around, cut):
    text = (around * 2000).encode()[: 8192 + cut] + b"\n" + DD.encode()
    assert [m.value for m in read_text(b"x" * cut + text)[0] if m.quantity == "throughput"] == [pytest.approx(RATE)]


def test_a_capture_that_ends_within_a_character_is_text():
    found = read_text(DD.encode() + ("数据" * 100).encode()[:-1])[0]
    assert [m.value for m in found if m.quantity == "throughput"] == [pytest.approx(RATE)]


def _zstd(raw: bytes) -> bytes:
    return pytest.importorskip("zstandard").ZstdCompressor().compress(raw)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress, _zstd])
def test_standard_input_is_unpacked(monkeypatch, pack):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(pack(DD.encode()))))
    found = read_logs("-")[0]
    assert [(m.file, m.quantity) for m in found] == [("<stdin>", "throughput"), ("<stdin>", "duration")]


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:xz"])
def test_members_of_an_archive_by_name(tmp_path, mode):
    archive = tmp_path / "runs.tar"
    with tarfile.open(archive, mode) as out:
        out.add(tmp_path, "runs", recursive=False)
        for name, raw in (("a.txt", DD.encode()), ("b.txt.gz", gzip.compress(DD.encode())), ("c", bytes(range(256)))):
            member = tarfile.TarInfo(f"runs/{name}")
            member.size = len(raw)
            out.addfile(member, io.BytesIO(raw))
    found, unread = read_logs(archive)
    assert [m.file for m in found] == [f"{archive}:runs/{name}" for name in ("a.txt", "a.txt", "b.txt.gz", "b.txt.gz")]
    assert [m.line for m in found] == [3] * 4
    assert [(n.file, "not text" in n.why) for n in unread] == [(f"{archive}:runs/c", True)]


def test_a_broken_archive(tmp_path):
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as out:
        member = tarfile.TarInfo("a.txt")
        member.size = 5000
        out.addfile(member, io.BytesIO(b"x" * 5000))
    (tmp_path / "cut.tar").write_bytes(raw.getvalue()[:1000])
    with pytest.raises(LogError, match="tar archive cannot be read"):
        read_logs(tmp_path / "cut.tar")


@pytest.mark.parametrize("name", ["iperf2/bytes.txt", "iperf3/killed.txt", "ping/killed.txt", "rsync/interrupted.txt"])
def test_the_next_prompt_says_nothing_of_the_run_before_it(log, name):
    raw = (DATA / name).read_text()
    found, _ = read_text(raw.rstrip("\n") + "\n[root@otherhost7 ~]# ls -l\n[root@otherhost7 ~]# date\n")
    assert found
    assert "otherhost7" not in {m.conditions.get("host") for m in found}
