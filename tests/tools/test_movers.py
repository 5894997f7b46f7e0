"""Tools with a protocol of their own: ascp, FDT, HTCondor, Pelican, mscp, FTP, bbftp and xrdcp."""


def test_mscp_cuts_files_only_above_64_mib(tool, job):
    """mscp.c: DEFAULT_MIN_CHUNK_SZ."""
    made = tool("mscp", n=8)
    assert made.chunk_B(2**26, 8) == 2**26
    assert made.chunk_B(2**33, 8) == 2**30
    assert made.plan(job(files=1, payload_B=2.0**26, largest_B=2.0**26)).workers == 1


def test_a_third_party_copy_is_looked_at_every_so_often(tool, job):
    """ThirdPartyCopyJob.cc of 5.5.3: the client waits 2.5 s before it looks; a small file takes them all."""
    small = tool("xrdcp", tpc="first").plan(job(files=10, payload_B=10.0, largest_B=1.0)).steps[0].files
    direct = tool("xrdcp").plan(job(files=10, payload_B=10.0, largest_B=1.0)).steps[0].files
    assert 1.5 < small.fixed.value < 2.6
    assert direct.fixed.value < 0.01
