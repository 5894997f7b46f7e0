"""The GridFTP server's transfer log.

Lines printed in: pytokio's ``connectors/globuslogs.py`` (NERSC, 2019), psc-hubmap's log reader (PSC, 2023), a NetFlow
converter of TACC (2024), NetLogger's ``gridftp.py`` (NERSC, 2007), GridCat (wuftpd, 2005). Paths of PSC and TACC are
shortened, that of PSC has a blank here.
"""

from __future__ import annotations

import pytest

NERSC = (
    "DATE=20190809091437.927804 HOST=dtn11.nersc.gov PROG=globus-gridftp-server NL.EVNT=FTP_INFO "
    "START=20190809091437.884224 USER=glock FILE=/home/g/glock/results0.tar.gz BUFFER=235104 BLOCK=262144 "
    "NBYTES=35616 VOLUME=/ STREAMS=4 STRIPES=1 DEST=[0.0.0.0] TYPE=RETR CODE=226\n"
)
PSC = (
    "[24775] Thu Jul 27 12:59:42 2023 :: Transfer stats: DATE=20230727165942.313344 HOST=app001.hive.psc.edu "
    "PROG=globus-gridftp-server NL.EVNT=FTP_INFO START=20230727165926.169723 USER=shirey "
    "FILE=/hive/hubmap/data/public/a b/LN7910_20_008_11022020_reg001_compensated.csv BUFFER=131072 BLOCK=1048576 "
    "NBYTES=217159441 VOLUME=/ STREAMS=1 STRIPES=1 DEST=[127.0.0.1] TYPE=RETR CODE=226 TASKID=none\n"
)
TACC = (
    "DATE=20240107092754.223249 HOST=data1.frontera.tacc.utexas.edu PROG=globus-gridftp-server NL.EVNT=FTP_INFO "
    "START=20240107092753.658868 USER=yifan97 FILE=/scratch1/cantilever_3d_1.4_densified.tar.gz2 BUFFER=235104 "
    "BLOCK=4194304 NBYTES=218103808 VOLUME=/ STREAMS=4 STRIPES=1 DEST=[141.211.212.174] TYPE=RETR CODE=226 "
    "TASKID=0f7ec55a-ab48-11ee-be6c-f11924dc2d22\n"
)
OLD = (
    "DATE=20070215110703.2102 HOST=pdsfgrid1.nersc.gov PROG=globus-gridftp-server NL.EVNT=FTP_INFO "
    "START=20070215110702.763298 USER=rosheck FILE=//tmp/YY5raYFdo5.local_out_moved BUFFER=0 BLOCK=262144 NBYTES=55 "
    "VOLUME=/ STREAMS=1 STRIPES=1 DEST=[129.79.4.64] TYPE=RETR CODE=226\n"
)
WUFTPD = (
    "DATE=20050616052722.475032 HOST=osg.rcac.purdue.edu PROG=wuftpd NL.EVNT=FTP_INFO START=20050616052722.410910 "
    "USER=ivdgl FILE=/tmp/gridcat-_-test.gridcat.20252.remote BUFFER=87380 BLOCK=65536 NBYTES=28 VOLUME=/tmp STREAMS=1 "
    "STRIPES=1 DEST=1[129.79.4.64] TYPE=STOR CODE=226\n"
)


@pytest.mark.parametrize(
    ("text", "size", "seconds"),
    [
        (NERSC, 35616, 0.043580),
        (PSC, 217159441, 16.143621),
        (TACC, 218103808, 0.564381),
        (OLD, 55, 0.238804),  # .2102 are 2102 microseconds: 703.002102 - 702.763298
        (WUFTPD, 28, 0.064122),
    ],
)
def test_rate_is_bytes_over_the_time_between_the_stamps(log, text, size, seconds):
    found = log(text).one("throughput")
    assert found.value == pytest.approx(size / seconds, rel=1e-4)
    assert found.conditions["bytes"] == size
    assert log(text).value("duration") == pytest.approx(seconds, abs=2e-6)


def test_conditions(log):
    found = log(TACC).one("throughput").conditions
    assert (found["host"], found["direction"], found["streams"]) == ("data1.frontera.tacc.utexas.edu", "send", 4)
    assert (found["block_B"], found["window_B"], found["peer"]) == (4194304, 235104, "141.211.212.174")
    assert found["task"] == "0f7ec55a-ab48-11ee-be6c-f11924dc2d22"
    assert log(WUFTPD).one("throughput").conditions["direction"] == "receive"
    assert log(PSC).one("throughput").conditions["file"].endswith("a b/LN7910_20_008_11022020_reg001_compensated.csv")
    assert "peer" not in log(NERSC).one("throughput").conditions
    assert "window_B" not in log(OLD).one("throughput").conditions


def test_failures_listings_and_empty_files(log):
    failed = log(TACC.replace("CODE=226", "CODE=426"))
    assert failed.one("failure").conditions["bytes"] == 218103808
    assert not failed.all("throughput")
    assert not log(TACC.replace("TYPE=RETR", "TYPE=MLSD") + NERSC).all(
        "throughput", host="data1.frontera.tacc.utexas.edu"
    )
    assert "no bytes" in log(TACC.replace("NBYTES=218103808", "NBYTES=0")).unread[0].why


def test_many_lines(log):
    found = log(NERSC + PSC + TACC + OLD)
    assert [r.line for r in found.all("throughput")] == [1, 2, 3, 4]


def test_retransmits(log):
    assert log(TACC.rstrip() + " retrans=0,3,1,0\n").value("retransmits") == 4
