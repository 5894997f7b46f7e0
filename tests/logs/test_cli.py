"""``dtnsim logs``: JSON lines, tables, exit codes."""

from __future__ import annotations

import gzip
import io
import json
import sys

import pytest

from dtnsim.cli import main

DD = "10240+0 records in\n10240+0 records out\n10737418240 bytes (11 GB) copied, 92.9101 s, 116 MB/s\n"


def run(monkeypatch, capsys, *args):
    monkeypatch.setattr(sys, "argv", ["dtnsim", "logs", *map(str, args)])
    with pytest.raises(SystemExit) as stop:
        main()
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


def test_json_lines(monkeypatch, capsys, tmp_path):
    path = tmp_path / "dd.txt.gz"
    path.write_bytes(gzip.compress(DD.encode()))
    code, out, err = run(monkeypatch, capsys, "--json", path)
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


def test_table(monkeypatch, capsys, tmp_path):
    (tmp_path / "a").write_text(DD)
    code, out, _ = run(monkeypatch, capsys, tmp_path / "a")
    assert code == 0
    assert "throughput" in out
    assert "924.5 Mb/s" in out


def test_many_figures_stream_as_plain_lines(monkeypatch, capsys, tmp_path):
    (tmp_path / "a").write_text(DD * 400)
    code, out, _ = run(monkeypatch, capsys, tmp_path / "a")
    assert code == 0
    assert len(out.splitlines()) == 800


def test_stdin(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(DD.encode())))
    code, out, _ = run(monkeypatch, capsys, "--json", "-")
    assert code == 0
    assert json.loads(out.splitlines()[0])["file"] == "<stdin>"


def test_a_failed_run_has_a_null_value(monkeypatch, capsys, tmp_path):
    (tmp_path / "a").write_text("dd: failed to open '/x': Permission denied\n")
    code, out, _ = run(monkeypatch, capsys, "--json", tmp_path / "a")
    assert code == 0
    record = json.loads(out)
    assert (record["status"], record["value"], record["quantity"]) == ("failed", None, "failure")


@pytest.mark.parametrize("raw", [b"", b"\0" * 100, bytes(range(256)) * 20, b"Dear all,\n", None])
def test_what_gives_nothing_leaves_with_2(monkeypatch, capsys, tmp_path, raw):
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.write_text(DD)
    if raw is not None:
        bad.write_bytes(raw)
    code, out, err = run(monkeypatch, capsys, "--json", bad, good)
    assert code == 2
    assert len(out.splitlines()) == 2  # the good file is read all the same
    assert "bad" in err
    assert "Traceback" not in err


def test_a_directory(monkeypatch, capsys, tmp_path):
    code, _, err = run(monkeypatch, capsys, tmp_path)
    assert code == 2
    assert "directory" in err


def test_unread_parts_go_to_stderr(monkeypatch, capsys, tmp_path):
    (tmp_path / "a").write_text(DD + "1000000000 bytes (1.0 GB) copied, 10 s, 300 MB/s\n")
    code, _, err = run(monkeypatch, capsys, "--json", tmp_path / "a")
    assert code == 0
    assert "a:4: dd: prints 300 MB/s" in err
