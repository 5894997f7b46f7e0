"""A folder of logs that grows: changes with dates and causes, a history, alarms."""

import json
import re
import shutil
from datetime import datetime, timedelta
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from dtnsim.evidence.history import History
from dtnsim.ground import yamlio
from dtnsim.ground.errors import InputError
from dtnsim.report import calibration
from dtnsim.report.schemas import json_schema
from tests.conftest import Run
from tests.each import rows, tables
from tests.strategies import written

HOST = tables("evidence/tables")["my"]
PING = """PING far.example.org (192.0.2.7) 56(84) bytes of data.

--- far.example.org ping statistics ---
100 packets transmitted, 100 received, 0% packet loss, time 99123ms
rtt min/avg/max/mdev = {:.3f}/{:.3f}/{:.3f}/0.100 ms
"""
GRIDFTP = (
    "DATE={0:%Y%m%d%H%M%S}.000000 HOST=my.example.org PROG=globus-gridftp-server NL.EVNT=FTP_INFO "
    "START={1:%Y%m%d%H%M%S}.000000 USER=u FILE=/data/a.tar BUFFER=0 BLOCK=262144 NBYTES={2:.0f} VOLUME=/ STREAMS=4 "
    "STRIPES=1 DEST=[192.0.2.7] TYPE={3} CODE=226\n"
)


def fio(when: datetime, rates: dict[str, float]) -> str:
    jobs = [
        {
            "jobname": kind,
            "error": 0,
            "job options": {"rw": kind, "bs": "1M", "filename": "/data/x", "iodepth": "32", "ioengine": "libaio"}
            | {"direct": "1"},
            kind: {"io_bytes": int(30 * rate), "bw_bytes": int(rate), "runtime": 30000, "total_ios": 1},
        }
        for kind, rate in rates.items()
    ]
    return json.dumps({"fio version": "fio-3.28", "timestamp": int(when.timestamp()), "jobs": jobs}, indent=1)


def folder(root: Path, days: range, *, drive: float = 1.0, way: float = 1.0) -> Path:
    """Logs of these days with 2 % noise; from the sixth on writes are ``drive``, round trips ``way`` times."""
    root.mkdir(exist_ok=True)
    rng = np.random.default_rng(7)
    for day in range(max(days) + 1):
        when = datetime.fromisoformat("2026-03-03T02:00:00+00:00") + timedelta(days=day)
        write, read, rtt, rate = np.exp(0.02 * rng.standard_normal(4))
        write, rtt, rate = (x * f if day >= 5 else x for x, f in ((write, drive), (rtt, way), (rate, drive)))
        if day in days:
            (root / f"fio-{day}.json").write_text(fio(when, {"write": 8e8 * write, "read": 1.5e9 * read}))
            least = 20 * rtt
            (root / f"ping-{when:%Y-%m-%d}.txt").write_text(PING.format(0.98 * least, least, 1.3 * least))
            end, size = when + timedelta(seconds=100), 5e10 * rate
            (root / f"gridftp-{day}.log").write_text(GRIDFTP.format(end, when, size, "STOR"))
    return root


@pytest.fixture
def host(tmp_path: Path) -> str:
    return str(written(tmp_path / "my.yaml", HOST))


def test_a_slower_drive_is_dated_named_and_told_once(tmp_path: Path, host: str, run: Run) -> None:
    logs, history = folder(tmp_path / "logs", range(10), drive=0.7), str(tmp_path / "seen.jsonl")
    watch = ("calibrate", "--watch", str(logs), "--host", host, "--as", "my.example.org=my", "--history", history)
    first = run(*watch, "--html", str(tmp_path / "page.html"), "-o", str(tmp_path / "fitted.yaml"))
    assert first.code == 3, first.err
    lines = first.out.splitlines()
    (fell,) = [line for line in lines if "on my:/data" in line and line.startswith("since 8 March 2026 fio rw=write")]
    assert " 30% slower" in fell
    was, now = map(float, re.findall(r"explained by my: volumes./data.array.write (\S+) MB/s to (\S+) MB/s", fell)[0])
    assert (was, now) == (pytest.approx(800, rel=0.02), pytest.approx(560, rel=0.02))
    (moved,) = [line for line in lines if "gridftp" in line]
    assert "explained by fio rw=write" in moved  # of the transfers' volume
    assert "ping" not in first.out
    assert "rw=read" not in "".join(line for line in lines if line.startswith("since"))
    next_one, alone = (line for line in lines if line.startswith("run fio "))
    assert "stack.direct_call and volumes./data.array.iops_read" in next_one
    assert alone.startswith(
        "run fio --rw=randread --bs=4k --iodepth=1 on /data: it would determine volumes./data.array.lat"
    )
    page = (tmp_path / "page.html").read_text()
    assert "8 March" in page
    assert "measured [MB/s]" in page  # not 800M on an axis of B/s
    fitted = yamlio.plain(tmp_path / "fitted.yaml")  # to the runs since the change
    assert fitted["parameters"]["my"]["volumes./data.array.write"]["value"] == f"{now:.5g} MB/s"
    again = run(*watch, "--json")
    assert again.code == 0
    made = json_schema("watch")
    document = json.loads(again.out)
    jsonschema.Draft202012Validator(made).validate(document)
    assert set(document) == set(made["properties"])
    assert document["schema"] == calibration.WATCH
    assert document["new"] == []
    assert all(change["told"] for change in document["changes"])


def test_a_longer_way_explains_nothing_of_the_drive(tmp_path: Path, host: str, run: Run) -> None:
    logs = folder(tmp_path / "logs", range(10), way=1.5)
    told = run("calibrate", "--watch", str(logs), "--host", host)
    changes = [line for line in told.out.splitlines() if line.startswith("since")]
    assert told.code == 3
    assert len(changes) == 1
    size = re.match(r"since 8 March 2026 ping rtt here to far.example.org (\d+)% more ", changes[0])
    assert int(size[1]) == pytest.approx(50, abs=4)


def test_nothing_changed_is_no_alarm_and_the_same_bytes_again(tmp_path: Path, host: str, run: Run) -> None:
    logs = folder(tmp_path / "logs", range(10))
    seen = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    answers = [run("calibrate", "--watch", str(logs), "--host", host, "--history", str(file)) for file in seen]
    assert [a.code for a in answers] == [0, 0]
    assert answers[0].out == answers[1].out
    assert "nothing changed that is more than chance" in answers[0].out
    assert seen[0].read_bytes() == seen[1].read_bytes()


def test_a_folder_that_grows_adds_to_the_history_and_one_that_shrinks_takes_nothing(tmp_path: Path, run: Run) -> None:
    logs, history = folder(tmp_path / "logs", range(6)), tmp_path / "seen.jsonl"
    watch = ("calibrate", "--watch", str(logs), "--history", str(history))
    assert run(*watch).code == 0
    before = history.read_bytes()
    folder(logs, range(6, 10), drive=0.7)
    for old in range(3):
        (logs / f"fio-{old}.json").unlink()
    told = run(*watch, "--json")
    document = json.loads(told.out)
    assert history.read_bytes().startswith(before)
    assert len(document["new"]) == 12
    assert document["logs"] == 30
    known = [json.loads(line) for line in history.read_text().splitlines()]
    assert sum("log" in line for line in known) == 30


def test_a_log_cut_short_gets_one_line_and_the_rest_is_done(tmp_path: Path, host: str, run: Run) -> None:
    logs = folder(tmp_path / "logs", range(10), drive=0.7)
    whole = (logs / "fio-2.json").read_text()
    (logs / "fio-2.json").write_text(whole[: len(whole) // 3])
    (logs / "iperf3-2026-03-09.json.gz").write_bytes(b"\x1f\x8b\x08\x00cut")
    told = run("calibrate", "--watch", str(logs), "--host", host)
    assert told.code == 3
    assert sum("fio-2.json" in line for line in told.out.splitlines()) == 1
    assert sum("iperf3-2026-03-09.json.gz" in line for line in told.out.splitlines()) == 1
    assert "30% slower" in told.out


#: a line of a parser that is not there
OTHER = '{"log": "a", "digest": "00", "note": "", "runs": [], "series": [["its", "rtt", "s", "a", "b", "", []]]}'


@pytest.mark.parametrize("line", ['{"log": "fio-0.json", "dig', OTHER])
def test_a_history_cut_short_is_named(tmp_path: Path, run: Run, line: str) -> None:
    logs, history = folder(tmp_path / "logs", range(2)), tmp_path / "seen.jsonl"
    history.write_text(line)
    said = run("calibrate", "--watch", str(logs), "--history", str(history))
    assert said.code == 2
    assert "seen.jsonl:1: is no line of a history" in said.err
    shutil.rmtree(logs)
    assert "is no folder" in run("calibrate", "--watch", str(logs)).err
    assert "go together" in run("calibrate", "--watch", str(tmp_path), "--target", "1Gb/s").err


def test_the_processor_of_a_network_test_enters_the_fit(tmp_path: Path, host: str, run: Run) -> None:
    from tests.evidence.test_fit_network import iperf3

    logs, history = folder(tmp_path / "logs", range(3)), str(tmp_path / "seen.jsonl")
    (logs / "iperf3.json").write_text(iperf3(22, 20))  # of the sender 20 % are predicted: near enough to be followed
    watch = ("calibrate", "--watch", str(logs), "--host", host, "--history", history, "--json")
    first, again = (json.loads(run(*watch).out) for _ in range(2))
    assert first["fit"]["figures"] == 7  # two of fio on each of three days, and the sender
    assert any("iperf3.json" in p["source"] for p in first["fit"]["parameters"]["my"].values())
    assert again["fit"] == first["fit"]  # from the history alone
    assert [s["quantity"] for s in first["series"] if s["to"] == "192.0.2.7"] == ["throughput"]


def test_a_goal_is_likelier_before_the_change(tmp_path: Path, host: str, run: Run) -> None:
    path = written(
        tmp_path / "copy.yaml",
        f"hosts: {{my: {host}}}\ntransfer: {{from: 'my:/dev/zero', to: 'my:/data', dataset: {{files: 1, size: 50 GB}}, "
        "tool: {name: dd, bs: 1 MiB, oflag: direct}}\n",
    )
    logs = folder(tmp_path / "logs", range(10), drive=0.7)
    told = run("calibrate", "--watch", str(logs), "--host", host, "--path", str(path), "--target", "650MB/s", "--json")
    (goal,) = json.loads(told.out)["goals"]
    assert goal["before"] > 0.6
    assert goal["now"] < 0.4


@pytest.mark.parametrize("line", [*rows("evidence/tables", "no_lines_of_a_history"), "[" * 100_000])
def test_a_line_that_is_none_of_a_history_is_refused_by_number(tmp_path: Path, line: str) -> None:
    file = written(tmp_path / "seen.jsonl", f"{line}\n")
    with pytest.raises(InputError, match=r"seen\.jsonl:1: is no line of a history"):
        History(tmp_path, file)
