"""perfSONAR: esmond's answers, OpenSearch's documents, the text of latency tests, twping.

esmond: the answers printed in perfSONAR's documentation of its REST interface (2014) and the records in the tests of
pScheduler's archiver (2017). OpenSearch: no document was found in public; these are put together from those tests'
figures under the keys of perfSONAR's own Logstash pipeline. Text: the test of pScheduler's ``latency``. twping: the
output quoted in a parser for YANG (2022), and one of perfSONAR's form in tests of another (made up there).
"""

from __future__ import annotations

THROUGHPUT = """\
[
    {
        "ts":1397421672,
        "val":7016320000.0
    },
    {
        "ts":1397442692,
        "val":7225480000.0
    },
    {
        "ts":1397466492,
        "val":7095460000.0
    }
]
"""


def test_what_is_measured_is_not_guessed(log, tmp_path):
    assert not log(THROUGHPUT).found
    assert "keep the curl command" in log(THROUGHPUT).unread[0].why
    named = tmp_path / "anl-throughput-base.json"
    named.write_text(THROUGHPUT)
    from dtnsim.logs import read_logs

    assert len(read_logs(named)[0]) == 3
