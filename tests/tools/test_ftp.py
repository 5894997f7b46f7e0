"""FTP and bbftp."""

import pytest


def test_messages_of_a_file(tool, job):
    """RFC 959: PASV, the connection, STOR, 226; ftp.c asks SIZE before RETR and MDTM after it."""
    trips = {
        name: tool("ftp", **options).plan(job()).steps[0].files.round_trips
        for name, options in {
            "put": {}, "active": {"mode": "active"}, "get": {"client": "destination"},
            "bare": {"client": "destination", "preserve": False},
        }.items()
    }  # fmt: skip
    assert trips == {"put": 4, "active": 3, "get": 6, "bare": 5}


def test_small_files_wait(run):
    seconds = run("ftp", data="{files: 1000, each: 1 kB}").duration_s.p50
    assert 1000 * 4 * 0.053 < seconds < 1.1 * 1000 * 4 * 0.053


def test_streams_multiply_the_window(run):
    """bbftp.c: BBftp_Recvwinsize = 256; W / RTT for each stream."""
    one, eight = (run(f"{{name: bbftp, p: {n}}}").throughput_Bps.p50 for n in (1, 8))
    assert one == pytest.approx(256 * 1024 / 0.053, rel=0.35)  # of a socket buffer a part is window
    assert eight == pytest.approx(8 * one, rel=0.02)


def test_a_file_waits_for_three_answers(tool, job):
    """bbftp_put.c: MSG_TRANS_OK_V3, the data connections, MSG_OK."""
    step = tool("bbftp").plan(job()).steps[0]
    assert step.files.round_trips == 3
    assert step.net.reopened


def test_gzip_sends_less(tool, job):
    assert tool("bbftp", c=True, ratio="4").plan(job()).steps[0].net.overhead == pytest.approx(0.25)
    assert tool("bbftp", ratio="4").plan(job()).steps[0].net.overhead == 1


def test_the_daemon_by_ssh_takes_longer_to_start(tool, job):
    assert tool("bbftp", s=True).plan(job()).opening.round_trips > tool("bbftp").plan(job()).opening.round_trips
