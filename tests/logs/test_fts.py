"""FTS3.

Messages of ``fts_monitoring_complete`` quoted in CERN's repositories of CMS analytics (2017, MONIT's envelope; 2016,
all values text) and a job as ``fts-rest-transfer-status -j`` prints it (fts-rest's README, 2014: staging only). URLs
and user names are shortened. A finished file is that job with figures of the 2016 message in the job's keys.
"""

from __future__ import annotations

import json

import pytest

MONIT = """\
{"data": {"endpnt": "fts3.cern.ch", "file_size": 10556847, "job_id": "f9b18c10-0132-51df-b341-3031a0a9ea39",
"job_state": "FINISHED", "latency": 9960, "nstreams": 1, "operation_time": 2308, "retry": 0,
"src_hostname": "storm-fe.cr.cnaf.infn.it", "dst_hostname": "grid002.ft.uam.es",
"src_url": "srm://storm-fe.cr.cnaf.infn.it:8444/srm/managerv2?SFN=/atlas/EVNT.11173001._023578.pool.root.1",
"srm_overhead_time": 51014, "t__error_message": "", "t_error_code": "0", "t_final_transfer_state": "Ok",
"t_timeout": 621, "tcp_buf_size": 0, "timestamp_checksum_dest_ended": 1493217343970,
"timestamp_tr_comp": 1493217334563, "timestamp_tr_st": 1493217332255, "tr_bt_transfered": 10556847,
"tr_id": "2017-04-26-1435__storm-fe.cr.cnaf.infn.it__grid002.ft.uam.es__1461431003",
"tr_timestamp_complete": 1493217344240, "tr_timestamp_start": 1493217290323, "vo": "atlas"},
"metadata": {"hostname": "monit-amqsource-9b83c9b3a5.cern.ch", "producer": "fts", "topic": "fts_raw_complete"}}
"""
TEXT = """\
{"tr_id": "2016-06-22-2201__tbn18.nikhef.nl__grid002.ft.uam.es__856147523", "endpnt": "fts3.cern.ch",
"src_srm_v": "2.2.0", "vo": "atlas", "src_url": "srm://tbn18.nikhef.nl:8446/EVNT.08775130._013235.pool.root.1",
"src_hostname": "tbn18.nikhef.nl", "dst_hostname": "grid002.ft.uam.es", "timestamp_tr_st": "1466632862284",
"timestamp_tr_comp": "1466632865616", "timestamp_chk_src_st": "1466632860931", "t_error_code": "",
"t_final_transfer_state": "Ok", "tr_bt_transfered": "10565043", "nstreams": "3", "buf_size": "0",
"tcp_buf_size": "0", "f_size": "10565043", "tr_timestamp_start": "1466632860151.000000",
"tr_timestamp_complete": "1466632866232.000000", "channel_type": "urlcopy", "retry": "0", "job_state": "FINISHED"}
"""
STAGED = """\
{"cred_id": "0ef8fb17bc42a356", "job_id": "c079a636-c363-11e3-b7e5-02163e009f5a", "job_state": "FINISHED",
"job_finished": "2014-04-13T23:31:37", "source_se": "srm://hepgrid11.ph.liv.ac.uk", "vo_name": "dteam",
"files": [{"tx_duration": null, "hashed_id": 16774, "retry": 0, "job_id": "c079a636-c363-11e3-b7e5-02163e009f5a",
"dest_surl": "srm://hepgrid11.ph.liv.ac.uk:8446/srm/managerv2?SFN=/dpm/fts3tests.5c48938b",
"source_surl": "srm://hepgrid11.ph.liv.ac.uk:8446/srm/managerv2?SFN=/dpm/fts3tests.5c48938b",
"staging_start": "2014-04-13T23:31:36", "filesize": null, "source_se": "srm://hepgrid11.ph.liv.ac.uk",
"file_state": "FINISHED", "start_time": null, "reason": "", "dest_se": "srm://hepgrid11.ph.liv.ac.uk",
"finish_time": null, "staging_finished": "2014-04-13T23:31:37", "throughput": null, "vo_name": "dteam"}]}
"""
JOB = json.loads(STAGED)


def _job(**values: object) -> str:
    return json.dumps({**JOB, "files": [{**JOB["files"][0], "staging_finished": None, **values}]}, indent=2)


DONE = {"filesize": 10565043, "tx_duration": 3.332, "start_time": "2016-06-22T22:01:02", "throughput": 3.02}


@pytest.mark.parametrize(
    ("text", "size", "seconds", "source", "target"),
    [
        (MONIT, 10556847, 2.308, "storm-fe.cr.cnaf.infn.it", "grid002.ft.uam.es"),
        (TEXT, 10565043, 3.332, "tbn18.nikhef.nl", "grid002.ft.uam.es"),
        (_job(**DONE), 10565043, 3.332, "hepgrid11.ph.liv.ac.uk", "hepgrid11.ph.liv.ac.uk"),
    ],
)
def test_rate_is_bytes_over_the_transfers_own_time(log, text, size, seconds, source, target):
    found = log(text + "\n").one("throughput")
    assert found.value == pytest.approx(size / seconds)
    assert log(text).value("duration") == pytest.approx(seconds)
    assert (found.conditions["bytes"], found.conditions["source"], found.conditions["target"]) == (size, source, target)
    assert not log(text).unread
