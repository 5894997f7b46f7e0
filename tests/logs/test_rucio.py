"""Rucio.

The payload of ``transfer-done`` as LSST's code quotes it (2022), in the envelopes that Hermes gives it (ActiveMQ:
``event_type`` and ``payload``; OpenSearch: flattened hits). The lines of ``rucio download`` are no real ones: they
are made with the format strings of its ``client/downloadclient.py`` (1.10 to 1.25).
"""

from __future__ import annotations

import json

import pytest

ALONE = """\
{"reason": "", "dst-url": "root://xrd3:1096//rucio/test/79/64/file1_1cdc7d0c", "activity": "User Subscriptions",
"submitted_at": "2022-05-05 16:20:34.644759", "dst-type": "DISK", "transfer-endpoint": "https://fts:8446",
"created_at": "2022-05-05 16:20:04.135878", "src-type": "DISK", "duration": 4, "protocol": "root",
"scope": "test", "dst-rse": "XRD3", "transferred_at": "2022-05-05 16:20:41", "src-rse": "XRD1",
"previous-request-id": null, "checksum-md5": "96495fba673e6fd1263e7d3a67e69215", "bytes": 5959,
"file-size": 5959, "name": "file1_1cdc7d0c", "src-url": "root://xrd1:1094//rucio/test/79/64/file1_1cdc7d0c",
"started_at": "2022-05-05 16:20:37", "tool-id": "rucio-conveyor",
"transfer-id": "4aa13ec2-cc8f-11ec-a22a-0242ac130002", "account": "root"}
"""
PAYLOAD = json.loads(ALONE)
EVENT = json.dumps({"event_type": "transfer-done", "created_at": "2022-05-05 16:20:50", "payload": PAYLOAD}, indent=2)
HITS = json.dumps({"hits": {"hits": [{"_source": {"event_type": "transfer-done", **PAYLOAD}}] * 2}})


@pytest.mark.parametrize(("text", "count"), [(ALONE, 1), (EVENT, 1), (HITS, 2)])
def test_rate_of_an_event(log, text, count):
    found = log(text + "\n").all("throughput")
    assert [r.value for r in found] == [5959 / 4] * count
    known = found[0].conditions
    assert (known["source"], known["target"], known["file"]) == ("XRD1", "XRD3", "test:file1_1cdc7d0c")
    assert known["queued_s"] == pytest.approx(2.355)  # 16:20:37 - 16:20:34.644759
    assert (known["protocol"], known["resolution_s"]) == ("root", 1.0)
    assert not log(text).unread


def test_failures_and_other_events(log):
    lost = {**PAYLOAD, "reason": "TRANSFER [110] timed out", "transferred_at": None}
    found = log(json.dumps({"event_type": "transfer-failed", "payload": lost}))
    assert found.one("failure").printed == "TRANSFER [110] timed out"
    assert not log(json.dumps({"event_type": "transfer-queued", "payload": PAYLOAD})).found
    soon = {**PAYLOAD, "transferred_at": PAYLOAD["started_at"]}
    assert "less than a second" in log(json.dumps(soon)).unread[0].why


FIRST = (
    "2019-03-25 13:50:19,406\tINFO\tThread 1/3 : File mc16_13TeV:ESD.21577847._000581.pool.root.1 successfully "
    "downloaded. 2.718 GB in 31.42 seconds = 86.51 MBps\n"
)
SECOND = (
    "2022-01-26 18:26:14,532 INFO    [1/11] File user.x:data.root successfully downloaded. 734.213 MB in 8.2 seconds "
    "= 89.54 MBps\n"
)
THIRD = "INFO File data18:AOD.f961_m2015._lb0278.1 successfully downloaded. 5959 in 2.0 seconds = 0.0 MBps\n"


@pytest.mark.parametrize(
    ("text", "size", "seconds", "file"),
    [
        (FIRST, 2.718e9, 31.42, "mc16_13TeV:ESD.21577847._000581.pool.root.1"),
        (SECOND, 734.213e6, 8.2, "user.x:data.root"),
        (THIRD, 5959, 2.0, "data18:AOD.f961_m2015._lb0278.1"),
    ],
)
def test_lines_of_the_client(log, text, size, seconds, file):
    found = log(text)
    assert found.value("throughput") == pytest.approx(size / seconds)
    assert found.one("throughput").conditions["file"] == file
    assert found.one("throughput").conditions["direction"] == "receive"
    assert not found.unread


def test_without_a_size_there_is_a_duration_only(log):
    found = log("INFO File a:b successfully downloaded in 12.5 seconds\n")
    assert found.value("duration") == 12.5
    assert len(found.found) == 1


def test_a_rate_that_does_not_agree_is_noted(log):
    assert "give 86.51 MBps" in log(FIRST.replace("86.51", "865.1")).unread[0].why
