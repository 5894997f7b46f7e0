import pytest

from dtnsim.errors import SpecError


def test_rm_moves_no_byte(tool, job):
    (step,) = tool("rm").plan(job(rtt_s=0.0)).steps
    assert step.read is step.net is step.write is None
    assert step.cpu == ()


def test_rm_over_nfs_takes_one_and_a_half_round_trips_a_file(run):
    """47.1 s for 3065 entries over 10.2 ms (UCI report): 1.51 round trips each."""
    data = "{files: 3065, size: 49 MB}"
    duration = run("{name: rm}", rtt="10.2 ms", data=data, start="a:memory", to="a:/nfs").duration_s.p50
    assert duration == pytest.approx(47.1, rel=0.05)


def test_rm_works_on_the_source_where_to_is_no_volume(tool, job):
    (step,) = tool("rm").plan(job(destination="null", rtt_s=0.0)).steps
    assert step.files.source[0] == "remove"
    with pytest.raises(SpecError, match=r"test\.from: rm needs a volume here"):
        tool("rm").plan(job(source="zero", destination="null", rtt_s=0.0))
