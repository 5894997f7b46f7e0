import pytest

from dtnsim.ground.errors import SpecError


def test_four_chunks_of_8_mib_are_the_window(run):
    """XrdClConstants.hh: 32 MiB in flight; 32 MiB / 53 ms = 5.065 Gb/s."""
    rate = run("{name: xrdcp}")
    assert 8 * rate.throughput_Bps.p50 == pytest.approx(8 * 32 * 2**20 / 0.053, rel=0.005)


def test_streams_share_one_window_and_jobs_have_their_own(run):
    data = "{files: 16, size: 1 PB}"
    one, streams, jobs = (
        run(f"{{name: xrdcp, {o}}}", data=data).throughput_Bps.p50 for o in ("S: 1", "S: 4", "parallel: 4")
    )
    assert streams == pytest.approx(one, rel=0.01)
    assert jobs == pytest.approx(4 * one, rel=0.01)


def test_sums_at_the_destination(tool, job):
    *both, work = tool("xrdcp", cksum="adler32").plan(job()).steps[0].cpu
    assert (work.end, work.what) == ("destination", "adler32")
    assert [use.end for use in both] == ["source", "destination"]


def test_rejects(tool):
    for options, key in (
        ({"S": "16"}, "S"),
        ({"parallel_chunks": "0"}, "parallel_chunks"),
        ({"cksum": "crc7"}, "cksum"),
    ):
        with pytest.raises(SpecError, match=f"^{key}: "):
            tool("xrdcp", **options)


def test_a_third_party_copy_is_looked_at_every_so_often(tool, job):
    """ThirdPartyCopyJob.cc of 5.5.3: the client waits 2.5 s before it looks; a small file takes them all."""
    small = tool("xrdcp", tpc="first").plan(job(files=10, payload_B=10.0, largest_B=1.0)).steps[0].files
    direct = tool("xrdcp").plan(job(files=10, payload_B=10.0, largest_B=1.0)).steps[0].files
    assert 1.5 < small.fixed.value < 2.6
    assert direct.fixed.value < 0.01
    # the destination has nine at once (XrdOfsTPCConfig.hh, xfrMax)
    assert tool("xrdcp", tpc="only", parallel=32).plan(job(files=100)).workers == 9
