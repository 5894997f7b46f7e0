"""globus-url-copy and Globus tasks. Fixtures: the Venadi document; task documents after the Transfer API."""

from __future__ import annotations

import json

import pytest

MIB = 2.0**20


def test_vb_megabytes_are_binary(log):
    found = log("globus-url-copy/venadi.txt")
    gpfs = found.one("throughput", interval=None, bytes=49888100352)
    assert gpfs.value == 1486.77 * MIB
    assert gpfs.value * 8 / 1e9 == pytest.approx(12.47, abs=0.01)  # reference.md section 0
    assert gpfs.conditions["streams"] == 8
    assert gpfs.conditions["host"] == "venadi"
    assert found.value("throughput", interval=True, bytes=49888100352) == 1780.96 * MIB
    assert found.one("throughput", interval=None, bytes=106992500736).conditions["file"] == "100GB.dat"


def test_only_the_last_redraw_counts(log):
    lines = "\r".join(f"   {n}000000 bytes   {n}.00 MB/sec avg   {n}.50 MB/sec inst" for n in (1, 2, 3))
    found = log(lines + "\n")
    assert found.value("throughput", interval=None) == 3 * MIB
    again = log(lines.replace("\r", "\n") + "\n")
    assert again.value("throughput", interval=None) == 3 * MIB
    assert [r.value for r in again.all("throughput", interval=True)] == [1.5 * MIB, 2.5 * MIB, 3.5 * MIB]


def test_timer_and_cancel(log):
    line = "   7797473280 bytes       929.52 MB/sec avg      1024.49 MB/sec inst\nCancelling copy...\n"
    assert log("$ globus-url-copy -t 10 -vb a b\n" + line).one("throughput", interval=None).status == "complete"
    assert log("$ globus-url-copy -vb a b\n" + line).one("throughput", interval=None).status == "partial"


def test_an_error_after_a_good_line_is_a_failure(log):
    text = (
        "   7797473280 bytes       929.52 MB/sec avg      1024.49 MB/sec inst\n\n"
        "error: globus_ftp_client: the server responded with an error\n426 426 Data connection. data_write() failed\n"
    )
    found = log("$ globus-url-copy -vb gsiftp://a/b file:/c\n" + text)
    assert found.one("failure").conditions["bytes"] == 7797473280
    last = found.one("throughput", interval=None)
    assert (last.status, last.value, last.conditions["ended"]) == ("partial", 929.52 * MIB, "error")
    assert not log("globus-url-copy/venadi_login.txt").all("throughput")


def test_zero_bytes(log):
    assert not log("   0 bytes       0.00 MB/sec avg      0.00 MB/sec inst\n").all("throughput")


TASK = """Label:                   run 7
Task ID:                 4a86fc98-d358-11e9-9cf3-0edb67dd7a14
Type:                    TRANSFER
Files:                   64545
Status:                  {status}
Request Time:            2019-09-09 23:19:38+00:00
Completion Time:         {done}
Source Endpoint:         a
Destination Endpoint:    b
Bytes Transferred:       {size}
Bytes Per Second:        {rate}
"""


def _text(status: str = "SUCCEEDED", size: int = 819556855, rate: int = 2714391) -> str:
    done = "2019-09-09 23:24:40+00:00" if status != "ACTIVE" else "None"
    return TASK.format(status=status, size=size, rate=rate, done=done)


def test_task_text(log):
    found = log(_text())
    headline = found.one("throughput")
    assert headline.value == 2714391
    assert headline.conditions["duration_s"] == 302
    assert headline.value == pytest.approx(819556855 / 302, rel=1e-3)
    assert headline.conditions["source"] == "a"
    assert not found.unread


def test_active_failed_and_empty_tasks(log):
    assert log(_text("ACTIVE")).one("throughput").status == "partial"
    failed = log(_text("FAILED"))
    assert failed.one("failure").status == "failed"
    assert not failed.all("throughput")
    empty = log(_text(size=0, rate=0))
    assert not empty.found
    assert "zero bytes" in empty.unread[0].why


def test_two_tasks_in_a_file(log):
    assert [r.value for r in log(_text() + "\n" + _text(rate=2714392)).all("throughput")] == [2714391, 2714392]


def test_wall_clock_that_does_not_fit(log):
    assert "wall clock" in log(_text(rate=9999999)).unread[0].why


def _task(**more: object) -> dict[str, object]:
    task = {
        "DATA_TYPE": "task", "task_id": "x", "type": "TRANSFER", "status": "SUCCEEDED", "bytes_transferred": 3000,
        "effective_bytes_per_second": 100, "request_time": "2022-01-26T19:18:20+00:00", "files": 2,
        "completion_time": "2022-01-26T19:18:50+00:00", "verify_checksum": True,
    }  # fmt: skip
    return task | more


def test_task_documents(log):
    found = log(json.dumps(_task(), indent=1) + "\n").one("throughput")
    assert found.value == 100
    assert found.conditions["duration_s"] == 30
    assert found.conditions["checksum"] is True
    many = {"DATA_TYPE": "task_list", "DATA": [_task(), _task(effective_bytes_per_second=99), _task(status="FAILED")]}
    found = log(json.dumps(many) + "\n")
    assert [r.value for r in found.all("throughput")] == [100, 99]
    assert len(found.all("failure")) == 1


@pytest.mark.parametrize("prefix", ["(out)", "(out) "])
def test_task_text_as_a_notebook_prefixes_it(log, prefix):
    found = log("".join(f"{prefix}{line}\n" for line in _text().splitlines()))
    assert found.value("throughput") == 2714391
    assert found.one("throughput").conditions["target"] == "b"


LISTS = (
    """\
    $ globus task list
    Task ID                              | Status    | Type     | Source Display Name | Dest Display Name          | Label
    ------------------------------------ | --------- | -------- | ------------------- | -------------------------- | --------------------------------
    c127a968-57b1-11eb-87bb-02187389bd35 | SUCCEEDED | TRANSFER | my_MacbookAir       | materials-commons-2-upload | MyProject-rivage-popish-bonze
""",  # noqa: E501 - as Materials Commons' documentation prints it
    """\
    Task ID                              | Status    | Type     | Source Display Name        | Dest Display Name          | Label                \n\
    ------------------------------------ | --------- | -------- | -------------------------- | -------------------------- | ---------------------
    8b43c4e2-dda5-11e6-9d11-22000a1e3b52 | SUCCEEDED | TRANSFER | Globus Tutorial Endpoint 1 | Globus Tutorial Endpoint 2 | 1st submission       \n\
""",  # noqa: E501 - as Globus' documentation prints it
)


@pytest.mark.parametrize("text", LISTS)
def test_a_list_of_tasks_says_where_the_figures_are(log, text):
    found = log(text)
    assert not found.found
    assert "globus task list -F json" in found.unread[0].why
    failed = log(text.replace("SUCCEEDED", "FAILED   ")).one("failure")
    assert failed.conditions["operation"] == "TRANSFER"
    assert failed.conditions["task"] in text
    assert f"| {failed.conditions['target']} " in text
