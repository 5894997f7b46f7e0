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
