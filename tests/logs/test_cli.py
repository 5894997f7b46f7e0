"""``dtnsim logs``: JSON lines, tables, exit codes."""

import csv
import gzip
import io
import json
import sys

import pytest

from tests.each import rows
from tests.strategies import written

DD = "10240+0 records in\n10240+0 records out\n10737418240 bytes (11 GB) copied, 92.9101 s, 116 MB/s\n"


@pytest.fixture
def logs(run):
    """Runs ``dtnsim logs ARGUMENTS``."""
    return lambda *arguments: run("logs", *map(str, arguments))


def test_json_lines(logs, tmp_path):
    path = tmp_path / "dd.txt.gz"
    path.write_bytes(gzip.compress(DD.encode()))
    code, out, err = logs("--json", path)
    assert (code, err) == (0, "")
    first = json.loads(out.splitlines()[0])
    assert first["schema"] == "dtnsim.logs/1"
    assert first["tool"] == "dd"
    assert first["quantity"] == "throughput"
    assert first["value"] == pytest.approx(10737418240 / 92.9101)
    assert first["unit"] == "B/s"
    assert first["printed"] == "116 MB/s"
    assert first["conditions"]["block_B"] == 1048576
    assert first["status"] == "complete"
    assert first["line"] == 3
    assert first["file"] == str(path)


@pytest.mark.parametrize(("log", "shown"), [(DD, "115.6 MB/s"), *rows("logs/tables", "units_of_people")])
def test_units_are_those_of_people(logs, tmp_path, log, shown):
    (tmp_path / "a").write_text(log)
    code, out, _ = logs(tmp_path / "a")
    assert code == 0
    assert f" {shown} " in out


def test_csv_has_a_head_and_a_line_for_each_figure(logs, tmp_path):
    (tmp_path / "a").write_text(DD)
    (tmp_path / "b").write_text("dd: failed to open '/x': Permission denied\n")
    code, out, err = logs("--format", "csv", tmp_path / "a", tmp_path / "b")
    assert (code, err) == (0, "")
    rows = list(csv.DictReader(io.StringIO(out)))
    rate = rows[0]
    assert (rate["tool"], rate["quantity"], rate["unit"], rate["line"]) == ("dd", "throughput", "B/s", "3")
    assert float(rate["value"]) == pytest.approx(10737418240 / 92.9101)
    assert "duration_s=92.9101" in rate["conditions"].split("; ")
    assert (rows[-1]["status"], rows[-1]["value"], rows[-1]["file"]) == ("failed", "", str(tmp_path / "b"))


def test_many_figures_stream_as_plain_lines(logs, tmp_path):
    (tmp_path / "a").write_text(DD * 400)
    code, out, _ = logs(tmp_path / "a")
    assert code == 0
    assert len(out.splitlines()) == 800


def test_stdin(logs, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(DD.encode())))
    code, out, _ = logs("--json", "-")
    assert code == 0
    assert json.loads(out.splitlines()[0])["file"] == "<stdin>"


def test_a_failed_run_has_a_null_value(logs, tmp_path):
    (tmp_path / "a").write_text("dd: failed to open '/x': Permission denied\n")
    code, out, _ = logs("--json", tmp_path / "a")
    assert code == 0
    record = json.loads(out)
    assert (record["status"], record["value"], record["quantity"]) == ("failed", None, "failure")


@pytest.mark.parametrize("raw", [b"", b"\0" * 100, bytes(range(256)) * 20, b"Dear all,\n", None])
def test_what_gives_nothing_leaves_with_2(logs, tmp_path, raw):
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.write_text(DD)
    if raw is not None:
        bad.write_bytes(raw)
    code, out, err = logs("--json", bad, good)
    assert code == 2
    assert len(out.splitlines()) == 2  # the good file is read all the same
    assert "bad" in err
    assert "Traceback" not in err


def test_unread_parts_go_to_stderr(logs, tmp_path):
    (tmp_path / "a").write_text(DD + "1000000000 bytes (1.0 GB) copied, 10 s, 300 MB/s\n")
    code, _, err = logs("--json", tmp_path / "a")
    assert code == 0
    assert "a:4: dd: prints 300 MB/s" in err


HOSTILE = "$ dd if=/dev/zero of='/x\x1b]0;owned\x07\x9b31m\u202e' bs=1M\n"


def test_control_characters_are_shown_escaped(logs, tmp_path):
    name = written(
        tmp_path / "a\x1b[2J",
        HOSTILE.replace("\x1b", "\x1b\x1b\x01") + DD + "1 bytes (1 B) copied, 10 s, 300 MB/s \x1b\x02\x9b1m\n",
    )
    for args in ((), ("--json",)):
        code, out, err = logs(*args, name)
        assert code == 0
        assert not [c for c in out + err if c != "\n" and (ord(c) < 32 or 0x7F <= ord(c) < 0xA0 or c == "\u202e")]
    assert "\\x1b[2J" in err


@pytest.mark.parametrize(
    "text",
    [
        f"$ dd if=/dev/zero of=/x bs={'9' * 400}M\n" + DD,
        f"$ dd if=/dev/zero of=/x bs={'9' * 5000}M count={'9' * 400}\n" + DD,
        f"{'9' * 400} bytes (11 GB) copied, 92.9101 s, 116 MB/s\n" + DD,
        f"{'9' * 5000}+0 records out\n" + DD,
        f"9 bytes (11 GB) copied, {'9' * 400} s, 116 MB/s\n" + DD,
        f"1.96,1.96,host,1,1353,{'9' * 400}G,,,,{'9' * 400},13,47358,10,,,156821,14,537.7,22\n" + DD,
        "Version 1.96 ------Sequential Output------\nMachine        Size K/sec\n"
         f"host {'9' * 400}G {'9' * 400} 98 {'9' * 5000} 13 47358 10 156821 14 537.7 22\n" + DD,
        '{"fio version": "fio-3.1", "jobs": [{"jobname": "a", "error": 0, "job options": {"bs": "1e999k", "iodepth": '
        f'{"9" * 400}}}, "read": {{"io_bytes": {"9" * 400}, "bw": 1e999, "runtime": {"9" * 400}}}}}]}}\n' + DD,
    ],
    ids=["block", "arguments", "bytes", "records", "seconds", "bonnie-csv", "bonnie-text", "fio"],
)  # fmt: skip
def test_integers_of_400_digits_lose_no_figure_and_give_valid_json(logs, tmp_path, text):
    (tmp_path / "a").write_text(text)
    code, out, err = logs("--json", tmp_path / "a")
    assert code == 0
    assert "Traceback" not in err

    def refuse(word):
        raise AssertionError(word)

    records = [json.loads(line, parse_constant=refuse) for line in out.splitlines()]
    assert [r["value"] for r in records if r["quantity"] == "throughput"][-1] == pytest.approx(10737418240 / 92.9101)
    assert all(abs(v) < 1e24 for r in records for v in r["conditions"].values() if isinstance(v, int | float))
    logs(tmp_path / "a")


def test_a_directory_is_read_with_r(logs, tmp_path):
    (tmp_path / "one" / "two").mkdir(parents=True)
    (tmp_path / "one" / "two" / "dd.txt").write_text(DD)
    (tmp_path / "picture").write_bytes(bytes(range(256)))
    code, _, err = logs(tmp_path)
    assert (code, "directory" in err) == (2, True)
    code, out, err = logs("--json", "-r", tmp_path)
    assert code == 0
    assert {json.loads(line)["file"] for line in out.splitlines()} == {str(tmp_path / "one" / "two" / "dd.txt")}
    assert "picture: is not text" in err
    assert logs("-r", tmp_path / "one" / "three")[0] == 2
    (tmp_path / "one" / "two" / "dd.txt").unlink()
    assert logs("-r", tmp_path)[0] == 2


@pytest.mark.parametrize(("line", "said"), rows("logs/tables", "the_tool_that_comes_nearest_is_named"))
def test_the_tool_that_comes_nearest_is_named(logs, tmp_path, line, said):
    (tmp_path / "a").write_text(f"Run of today\n{line}\n")
    code, _, err = logs(tmp_path / "a")
    assert code == 2
    assert ("comes nearest" in err) is (said is not None)
    assert said is None or (said in err and f"{tmp_path / 'a'}:2: " in err)


def test_notes_of_one_kind_are_said_once_and_counted(logs, tmp_path):
    lines = "".join(f"10737418240 bytes (11 GB) copied, 92.{n}101 s, {n}16 GB/s\n" for n in range(1, 10))
    (tmp_path / "a").write_text(lines)
    code, _, err = logs("--json", tmp_path / "a")
    assert code == 0
    assert [line.partition(": ")[2][:20] for line in err.splitlines()] == [
        "dd: prints 116 GB/s,",
        "8 more like that of ",
    ]
    assert err.splitlines()[-1].endswith("of line 1")
