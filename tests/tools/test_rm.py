import pytest

from dtnsim.ground.errors import SpecError


def test_rm_moves_no_byte(tool, job):
    (step,) = tool("rm").plan(job(rtt_s=0.0)).steps
    assert step.read is step.net is step.write is None
    assert step.cpu == ()


def test_rm_over_nfs_removes_each_file_and_opens_each_directory(run):
    """RFC 1813: a REMOVE a file, a READDIRPLUS for 16 names; GETATTR, ACCESS, READDIRPLUS and RMDIR a directory."""
    data = "{files: 3200, size: 49 MB, directories: 100}"
    duration = run("{name: rm}", rtt="10 ms", data=data, start="a:memory", to="a:/nfs").duration_s.p50
    assert duration == pytest.approx((3200 * (1 + 1 / 16) + 100 * 4) * 0.010, rel=1e-3)


def test_rm_works_on_the_source_where_to_is_no_volume(tool, job):
    (step,) = tool("rm").plan(job(destination="null", rtt_s=0.0)).steps
    assert step.files.source[0] == "remove"
    with pytest.raises(SpecError, match=r"test\.from: rm needs a volume here"):
        tool("rm").plan(job(source="zero", destination="null", rtt_s=0.0))
