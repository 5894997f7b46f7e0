"""dd, bonnie++ and iozone on a volume (disk_tests); warp and rados bench, objects in flight (object_tests)."""

import pytest

from dtnsim.ground.errors import SpecError


def test_one_process_does_everything(tool, job):
    (step,) = tool("dd").plan(job(source="random", rtt_s=0.0)).steps
    assert {step.write.thread} == {w.thread for w in step.cpu}


def test_zeros_to_nowhere_run_at_the_speed_of_clearing_pages(run, tool, job):
    """16.8 GB/s on a laptop of about 3 GHz (UCI report): 0.18 cycles a byte, the spread of the prior is 30 %."""
    (work,) = tool("dd", bs="1 MiB").plan(job(source="zero", destination="null", rtt_s=0.0)).steps[0].cpu
    assert 3e9 / work.cycles.value == pytest.approx(16.8e9, rel=0.3)


def test_a_time_or_a_data_set(tool):
    for options in ({}, {"duration": "60 s"}):
        assert tool("warp", **options).timing(sized=True) is None
        assert tool("warp", **options).files() == (20_000, 10 * 2**20)
    with pytest.raises(SpecError, match=r"rados-bench takes a time or a number of bytes, not both.*leave out seconds"):
        tool("rados-bench", seconds="60 s").timing(sized=True)
