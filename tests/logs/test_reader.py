"""The reader: prompts, documents, encodings, redraws, long stretches, memory, what it refuses."""

import bz2
import gzip
import io
import json
import lzma
import os
import sys
import threading
import tracemalloc
from pathlib import Path
from typing import ClassVar

import pytest

from dtnsim.ground.errors import LogError
from dtnsim.logs import _columns, _commands, _reader, _source, iter_log, read_logs, read_text
from dtnsim.logs._catalogue import Catalogue, catalogue
from dtnsim.logs._commands import CommandReader
from dtnsim.logs._declared import LinesParser, gives
from dtnsim.logs._documents import whole_part
from dtnsim.logs._numbers import agrees, decimal, grouped, integer, regex, size_bytes
from dtnsim.logs._reader import LogReader
from dtnsim.logs.base import LineParser, anew
from dtnsim.logs.measurement import Measurement, Unread
from tests.each import rows
from tests.strategies import written

DD = "10240+0 records in\n10240+0 records out\n10737418240 bytes (11 GB) copied, 92.9101 s, 116 MB/s\n"
RATE = 10737418240 / 92.9101


def rates(raw: str | bytes) -> list[float]:
    return [m.value for m in read_text(raw)[0] if m.quantity == "throughput"]


# ---- parsers ----------------------------------------------------------------------------------------
def test_every_parser_says_where_its_units_come_from():
    every = catalogue()
    parsers = (*every.lines, *every.documents)
    assert len(parsers) >= 40
    for kind in parsers:
        alike = [
            other.__doc__ or "" for other in parsers if (other.__module__, other.tool) == (kind.__module__, kind.tool)
        ]
        text = (sys.modules[kind.__module__].__doc__ or "") + "".join(alike)
        assert "Units:" in text, (kind.__module__, kind.tool)
    assert all(issubclass(kind, LineParser) and (kind.words or kind.shape) for kind in every.lines)


def test_a_new_parser_is_one_file():
    class Smoke(LineParser):
        tool = "smoke"
        words = "smoked"

        def feed(self, text):
            yield self.measure("rate", float(text.split()[0]), text)

    reader = LogReader("x", Catalogue([Smoke]))
    found = [*reader.feed(b"12 smoked\nnothing here\n13 smoked\n"), *reader.finish()]
    assert [(m.value, m.line) for m in found if isinstance(m, Measurement)] == [(12.0, 1), (13.0, 3)]


def test_every_table_is_read_by_a_parser():
    tables = _commands._tables()
    assert set(tables["options"]) <= set(catalogue().evidence)
    assert all(map(_columns.columns, tables["columns"]))
    source = "".join(path.read_text() for path in Path(_commands.__file__).parent.glob("*.py"))
    assert not [name for kind in ("columns", "meanings") for name in tables[kind] if f'"{name}"' not in source]


def test_a_line_is_declared_by_its_figures():
    class Smoke(LinesParser):
        tool = "smoke"
        words = "smoked"
        terms: ClassVar = {"operation": {"in": "read"}}
        _line = gives(
            r"(?P<operation>in|out): (?P<n>[\d.]+) (?P<u>[KM]?)B smoked(?: in (?P<t>\d+)s)?(?:, (?P<files>\d+) eels)?",
            "throughput {n} {u}B [{u}B/s] : statistic=all~day",
            "duration? {t}s",
        )

    text = b"in: 1.5 KB smoked in 3s, 7 eels\nout: 2 MB smoked in 0s\n"
    reader = LogReader("x", Catalogue([Smoke]))
    rate, spent, other = [*reader.feed(text), *reader.finish()]
    known = {"operation": "read", "files": 7}
    assert (rate.value, rate.unit, rate.printed) == (1536.0, "B/s", "1.5 KB")
    assert rate.conditions == {"statistic": "all day", **known}
    assert (spent.value, spent.unit, spent.conditions) == (3.0, "s", known)
    assert (other.value, other.conditions["operation"]) == (2 * 2.0**20, "out")
    with pytest.raises(ValueError, match="eels is no unit"):
        gives(r"(?P<n>\d+)", "count {n} eels")
    with pytest.raises(ValueError, match="ms is no unit of throughput"):
        gives(r"(?P<n>\d+)", "throughput {n} ms")


def test_a_run_without_figures_keeps_the_figures_before_it():
    """What a run lacks is a note, and the next run begins anew."""

    class Smoke(LineParser):
        tool = "smoke"
        words = "smoked"
        _runs = anew(list)

        def feed(self, text):
            self._runs.append(text)
            return ()

        def settle(self):
            for text in self._runs:
                self.need(text[0] != "0", text, "nothing was smoked")
                yield self.measure("count", int(text[0]), text)

    reader = LogReader("x", Catalogue([Smoke]))
    found = [*reader.feed(b"1 smoked\n0 smoked\n2 smoked\n$ smoke\n3 smoked\n"), *reader.finish()]
    assert [r.why if isinstance(r, Unread) else r.value for r in found] == [1, "smoke: nothing was smoked", 3]


def test_a_word_that_many_tools_print_counts_beside_another_only():
    class Smoke(LineParser):
        tool = "smoke"
        words = "total smoked"
        beside: ClassVar = {"total": ("hams", "eels")}

    every = Catalogue([Smoke])
    lines = (b"# total of # hams", b"total", b"total of # files", b"# smoked")
    assert [bool(every.targets(line).parsers) for line in lines] == [True, False, False, True]


@pytest.mark.parametrize(("line", "may_be"), rows("logs/tables", "lines_that_may_be_commands"))
def test_lines_that_may_be_commands(line, may_be):
    """Text that only names a tool is not taken apart; ``s5cmd`` (``scmd`` in a shape) makes no tool of ``s``."""
    assert catalogue().targets(line.encode()).command is may_be


# ---- prompts ----------------------------------------------------------------------------------------
@pytest.mark.parametrize(("line", "host", "text"), rows("logs/tables", "prompts"))
def test_prompts(line, host, text):
    command = CommandReader(catalogue().commands).feed(line, 1)
    assert (command.host, command.text) == (host, text)


@pytest.mark.parametrize(
    "line",
    ["# a comment about dd", "#### fio ####", "64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=0.1 ms", "fio-3.33",
     "> quoted text", "dd is humble", "ping statistics", "<td> 98", "100% 100GB 182.2MB/s 09:22", "time to rest"],
)  # fmt: skip
def test_what_is_no_prompt(line):
    assert CommandReader(catalogue().commands).feed(line, 1) is None


def test_prompt_in_two_lines_and_continuation():
    reader = CommandReader(catalogue().commands)
    assert reader.feed("Wed Jan 21 19:38:56 [2.52 2.43 2.50]  mangalam@compute-1-13:~", 1) is None
    command = reader.feed("89 $ dd if=/dev/zero \\", 2)
    assert command is None
    assert reader.open
    command = reader.feed("   of=x bs=1M", 3)
    assert command.host == "compute-1-13"
    assert command.args("dd") == ["if=/dev/zero", "of=x", "bs=1M"]


def test_arguments_are_found_behind_wrappers():
    command = CommandReader(frozenset({"dd"})).feed(
        "$ sync; time (sudo numactl -N 0 /usr/bin/dd if=a of='b c' && sync)", 1
    )
    assert command.args("dd") == ["if=a", "of=b c"]
    assert command.args("fio") is None


# ---- numbers ----------------------------------------------------------------------------------------
def test_numbers_of_other_locales():
    assert decimal("3,46705") == decimal("3.46705") == 3.46705
    assert decimal("1,234.5") == decimal("1.234,5") == 1234.5
    assert grouped("40,423,950.30") == 40423950.30
    assert grouped("12,345") == 12345
    assert integer("7\u202f681 501") == 7681501
    assert size_bytes("64KiB") == size_bytes("64k") == 65536
    assert size_bytes("x") is None


def test_a_pattern_names_its_numbers():
    found = regex(r"<size:int> bytes at <rate:num> <u:k>B/s in <spent:comma>s").search("17 bytes at 4.25 MB/s in 4,1s")
    assert found.groupdict() == {"size": "17", "rate": "4.25", "u": "M", "spent": "4,1"}


def test_agreement_goes_by_the_printed_digits():
    assert agrees(4.157, 4.2, "4.2")
    assert not agrees(4.4, 4.2, "4.2")
    assert agrees(115.6, 116, "116")


# ---- decoration -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "raw",
    [
        DD, DD.replace("\n", "\r\n"), "```shell\n" + DD + "```\n", "\x1b[32m" + DD.replace(" ", " \x1b[0m", 3),
        "".join("> > " + line + "\n" for line in DD.splitlines()), "<pre>" + DD.replace(" ", "&nbsp;", 2) + "</pre>\n",
        "".join("2024-05-01T12:00:00.123Z " + line + "\n" for line in DD.splitlines()),
        "".join("10.0.0.11: " + line + "\n" for line in DD.splitlines()), DD.replace("116 MB/s", "**116 MB/s**"),
    ],
)  # fmt: skip
def test_decoration(raw):
    assert rates(raw) == [pytest.approx(RATE)]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "cp1252"])
def test_encodings(encoding):
    text = DD.replace("records", "Datensätze").replace("copied", "kopiert")
    assert rates(text.encode(encoding)) == [pytest.approx(RATE)]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed(tmp_path, pack):
    path = tmp_path / "log"
    path.write_bytes(pack(DD.encode()))
    assert rates_of(path) == [pytest.approx(RATE)]


def rates_of(path: Path) -> list[float]:
    return [m.value for m in read_logs(path)[0] if m.quantity == "throughput"]


# ---- documents --------------------------------------------------------------------------------------
FIO = {"fio version": "fio-3.1", "jobs": [{"jobname": "a", "error": 0, "read": {
    "io_bytes": 1000000, "bw": 976, "bw_bytes": 1000000, "iops": 244.0, "runtime": 1000}}]}  # fmt: skip


@pytest.mark.parametrize("indent", [None, 1, 2, 4, "\t"])
def test_json_of_any_layout_among_other_text(indent):
    text = "fio: noise before\n" + json.dumps(FIO, indent=indent) + "\n" + DD
    assert sorted(rates(text)) == [1000000, pytest.approx(RATE)]


def test_what_looks_like_json_and_is_none_is_read_as_text():
    assert rates("run() {\n" + DD + "}\n") == [pytest.approx(RATE)]
    assert rates('{\n"broken": [1,\n' + DD + "}\n") == [pytest.approx(RATE)]


def test_a_line_of_json_that_nobody_knows_is_left_out():
    assert rates('{"level": "info", "msg": "copied"}\n' + DD) == [pytest.approx(RATE)]


@pytest.mark.parametrize(("text", "data"), rows("logs/tables", "whole_elements_of_cut_json"))
def test_whole_elements_of_cut_json(text, data):
    assert whole_part(text) == data


# ---- what is refused --------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("raw", "what"),
    [(b"", "empty"), (b"\n \n", "empty"), (b"\0" * 5000, "zero bytes"), (bytes(range(256)) * 40, "not text"),
     (b"\x7fELF" + bytes(4000) + b"abc" * 100, "not text")],
)  # fmt: skip
def test_no_log_at_all(raw, what):
    with pytest.raises(LogError, match=what):
        read_text(raw)


def test_files_that_cannot_be_opened(tmp_path):
    with pytest.raises(LogError, match="no such file"):
        read_logs(tmp_path / "none")
    with pytest.raises(LogError, match="directory"):
        read_logs(tmp_path)
    (tmp_path / "bad.gz").write_bytes(b"\x1f\x8bnot gzip at all")
    with pytest.raises(LogError, match=r"bad\.gz"):
        read_logs(tmp_path / "bad.gz")
    (tmp_path / "cut.gz").write_bytes(gzip.compress(DD.encode() * 1000)[:-20])
    with pytest.raises(LogError, match=r"cut\.gz"):
        read_logs(tmp_path / "cut.gz")


def test_permission(tmp_path, monkeypatch):
    path = written(tmp_path / "log", DD)

    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(_source.os, "open", refuse)
    with pytest.raises(LogError, match="permission denied"):
        read_logs(path)


def test_named_pipe(tmp_path, monkeypatch):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    monkeypatch.setattr(_source, "PATIENCE_MS", 20)
    with pytest.raises(LogError, match="nothing was written for"):
        read_logs(path)
    monkeypatch.setattr(_source, "PATIENCE_MS", 10_000)
    writer = threading.Thread(target=path.write_bytes, args=(gzip.compress(DD.encode()),))
    writer.start()
    try:
        assert [m.tool for m in read_logs(path)[0]] == ["dd", "dd"]
    finally:
        writer.join(10)


@pytest.mark.parametrize("start", ["x", "{"])
def test_a_line_too_long_is_passed_over_and_the_next_is_read(monkeypatch, start):
    monkeypatch.setattr(_reader, "LONGEST_LINE", 1000)
    monkeypatch.setattr(_reader, "LONGEST_DOCUMENT", 3000)
    reader = _reader.LogReader("log")
    text = start + "1," * 4000 + "\n" + DD
    records = [r for at in range(0, len(text), 500) for r in reader.feed(text[at : at + 500].encode())]
    records += reader.finish()
    notes = [r for r in records if isinstance(r, Unread)]
    assert [n.line for n in notes] == [1]
    assert "is passed over" in notes[0].why
    assert [(r.tool, r.line) for r in records if isinstance(r, Measurement)] == [("dd", 4), ("dd", 4)]


def test_text_of_another_kind_says_so():
    found, unread = read_text("Dear all,\nthe disks are fast.\n")
    assert not found
    assert "nothing in it" in unread[0].why


# ---- streams ----------------------------------------------------------------------------------------
def test_lines_are_counted_right_across_blocks():
    filler = "nothing of interest in line\n" * 60_000  # more than one block of 1 MiB
    found, _ = read_text(filler + DD + filler + DD)
    assert [m.line for m in found if m.quantity == "throughput"] == [60_003, 120_006]


def test_redraws_are_counted_as_one_line():
    text = "x\n" + "".join(f"\r{n * 1000000} bytes (1 MB) copied, {n} s, 1.0 MB/s" for n in range(1, 500)) + "\n" + DD
    found, _ = read_text(text)
    assert [m.line for m in found if m.quantity == "throughput"] == [5]


def test_the_middle_of_a_long_stretch_of_intervals_is_passed_over():
    reply = "64 bytes from 10.0.0.2: icmp_seq={} ttl=64 time=0.123 ms\n"
    summary = (
        "\n--- 10.0.0.2 ping statistics ---\n5000 packets transmitted, 5000 received, 0% packet loss, time 4999ms\n"
        "rtt min/avg/max/mdev = 0.123/0.123/0.123/0.000 ms\n"
    )
    text = "PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.\n" + "".join(map(reply.format, range(1, 5001))) + summary
    found, unread = read_text(text)
    assert any("passed over" in note.why and note.why.startswith("3800 ") for note in unread)
    assert any(m.quantity == "rtt" and m.status == "complete" for m in found)
    short, none = read_text("".join(map(reply.format, range(1, 900))) + summary)
    assert not none
    assert short


def test_a_stream_needs_constant_memory():
    class Endless(io.RawIOBase):
        left = 4

        def read(self, size: int = -1) -> bytes:
            if not self.left:
                return b""
            self.left -= 1
            lines = b"[ 123] some line of a log that means nothing\n" * 23000
            return lines[: 1 << 20] + b"\n" + DD.encode()

    tracemalloc.start()
    count = sum(isinstance(r, Measurement) for r in iter_log(Endless(), "endless"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 8
    assert peak < 30e6


@pytest.mark.parametrize(("text", "last"), rows("logs/tables", "figures_that_the_end_of_the_file_cuts"))
def test_a_figure_cut_by_the_end_of_the_file_is_not_complete(text, last):
    record = next(iter(read_text(text)[0][-1:]), None)
    assert (None if record is None else f"{record.quantity} {record.status}") == last


def test_records_keep_the_name_of_the_log(tmp_path):
    path = written(tmp_path / "run.txt", DD)
    assert {m.file for m in read_logs([path])[0]} == {str(path)}
    assert all(isinstance(r, Measurement | Unread) for r in iter_log(path))


@pytest.mark.parametrize("line", rows("logs/tables", "what_only_looks_like_a_number_raises_nothing"))
def test_what_only_looks_like_a_number_raises_nothing(line):
    found, unread = read_text(f"{line}\n{DD}")
    assert [m.value for m in found if m.tool == "dd" and m.quantity == "throughput"] == [pytest.approx(RATE)]
    assert all(m.value < 1e3 for m in found if m.tool != "dd")
    assert all(note.why for note in unread)


@pytest.mark.parametrize("name", ["parallel.txt", "server.txt", "udp.txt", "killed.txt"])
def test_rows_taken_at_once_are_those_taken_one_by_one(name, monkeypatch):
    (parser,) = [kind for kind in catalogue().lines if kind.rows is not LineParser.rows]
    file = Path(__file__).parent / "data" / "iperf3" / name
    taken = []
    rows = parser.rows
    monkeypatch.setattr(parser, "rows", lambda self, *given: taken.append(rows(self, *given)) or taken[-1])
    at_once = read_logs(file)
    monkeypatch.setattr(parser, "rows", lambda self, *given: [])
    assert read_logs(file) == at_once
    assert any(taken)


def test_rows_are_taken_at_once_from_both_sides_of_a_rule_and_no_further_than_a_stretch(tmp_path, monkeypatch):
    (parser,) = [kind for kind in catalogue().lines if kind.rows is not LineParser.rows]
    ends = "".join(f"[{n:3d}] local 10.0.0.1 port {n} connected to 10.0.0.2 port 5201\n" for n in (5, 7))
    rule = "- " * 25 + "\n"
    row = "[{:>3}] {:6.2f}-{:<6.2f} sec  110 MBytes  {}.5 Mbits/sec    {}   1.41 MBytes       \n"
    times = [rule + "".join(row.format(name, t, t + 1, 900 + t, t % 3) for name in (5, 7, "SUM")) for t in range(1000)]
    long = rule + "".join(row.format(5, t, t + 1, 900, 0) for t in range(1000, 2300))
    last = rule + "[SUM]   0.00-9.00  sec  9.9 GBytes  9.45 Gbits/sec    3             sender\n"
    head = "Connecting to host 10.0.0.2, port 5201\n" + ends
    log = written(tmp_path / "iperf3.txt", head + "".join(times)[len(rule) :] + long + last)
    offered, rows = [], parser.rows
    monkeypatch.setattr(parser, "rows", lambda self, *given: offered.append(rows(self, *given)) or offered[-1])
    found, unread = read_logs(log)
    assert len(found) == 3000 + _reader.HEAD_OF_STRETCH + _reader.TAIL_OF_STRETCH + 2  # rate, retransmits of the sum
    assert [note.why for note in unread] == ["100 interval lines like this are passed over"]
    assert len(offered) < 10  # not one for each interval
    monkeypatch.setattr(parser, "rows", lambda self, *given: [])
    assert read_logs(log) == (found, unread)
