"""Tools with a protocol of their own: ascp, FDT, HTCondor, Pelican, mscp, FTP, bbftp and xrdcp."""

import pytest


def test_files_of_fdt_follow_each_other_without_waiting(run):
    data = "{files: 1000, each: 1 kB}"
    near, far = (run("{name: fdt}", rtt=t, data=data).duration_s.p50 for t in ("1 ms", "100 ms"))
    assert far - near < 3.0  # slow start of the connections only, no round trips for each of 1000 files


def test_small_objects_of_pelican_go_with_the_workers(run):
    data = "{files: 5000, each: 10 kB}"
    one, five = (run(f"{{name: pelican, workers: {n}}}", data=data).duration_s.p50 for n in (1, 5))
    assert one / five == pytest.approx(5, rel=0.05)


def test_window_of_a_connection_of_mscp(run):
    """32 requests of 16 KiB over 53 ms are 9.9 MB/s a connection."""
    for n in (1, 8):
        rate = run(f"{{name: mscp, n: {n}}}").throughput_Bps.p50
        assert rate == pytest.approx(n * 32 * 16384 / 0.053, rel=0.02)


def test_mscp_cuts_files_only_above_64_mib(tool, job):
    """mscp.c: DEFAULT_MIN_CHUNK_SZ."""
    made = tool("mscp", n=8)
    assert made.chunk_B(2**26, 8) == 2**26
    assert made.chunk_B(2**33, 8) == 2**30
    assert made.plan(job(files=1, payload_B=2.0**26, largest_B=2.0**26)).workers == 1


def test_small_files_wait_for_ftp(run):
    seconds = run("ftp", data="{files: 1000, each: 1 kB}").duration_s.p50
    assert 1000 * 4 * 0.053 < seconds < 1.1 * 1000 * 4 * 0.053


def test_streams_of_bbftp_multiply_the_window(run):
    """bbftp.c: BBftp_Recvwinsize = 256; W / RTT for each stream."""
    one, eight = (run(f"{{name: bbftp, p: {n}}}").throughput_Bps.p50 for n in (1, 8))
    assert one == pytest.approx(256 * 1024 / 0.053, rel=0.35)  # of a socket buffer a part is window
    assert eight == pytest.approx(8 * one, rel=0.02)


def test_four_chunks_of_8_mib_of_xrdcp_are_the_window(run):
    """XrdClConstants.hh: 32 MiB in flight; 32 MiB / 53 ms = 5.065 Gb/s."""
    rate = run("{name: xrdcp}")
    assert 8 * rate.throughput_Bps.p50 == pytest.approx(8 * 32 * 2**20 / 0.053, rel=0.005)


def test_streams_of_xrdcp_share_one_window_and_jobs_have_their_own(run):
    data = "{files: 16, size: 1 PB}"
    one, streams, jobs = (
        run(f"{{name: xrdcp, {o}}}", data=data).throughput_Bps.p50 for o in ("S: 1", "S: 4", "parallel: 4")
    )
    assert streams == pytest.approx(one, rel=0.01)
    assert jobs == pytest.approx(4 * one, rel=0.01)


def test_a_third_party_copy_is_looked_at_every_so_often(tool, job):
    """ThirdPartyCopyJob.cc of 5.5.3: the client waits 2.5 s before it looks; a small file takes them all."""
    small = tool("xrdcp", tpc="first").plan(job(files=10, payload_B=10.0, largest_B=1.0)).steps[0].files
    direct = tool("xrdcp").plan(job(files=10, payload_B=10.0, largest_B=1.0)).steps[0].files
    assert 1.5 < small.fixed.value < 2.6
    assert direct.fixed.value < 0.01
