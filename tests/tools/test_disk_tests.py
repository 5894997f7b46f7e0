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


def test_rewrite_takes_the_time_of_reading_and_writing_where_one_core_limits(run):
    """The same core does both: 1/X = 1/X_read + 1/X_write."""
    data = "{files: 1, size: 4 TiB}"
    rate = {
        t: run(f"{{name: bonnie, test: {t}}}", data=data, start="a:memory", to="a:/data").throughput_Bps.p50
        for t in ("block-write", "block-read", "rewrite")
    }
    assert 1 / rate["rewrite"] == pytest.approx(1 / rate["block-write"] + 1 / rate["block-read"], rel=1e-6)


def test_larger_records_are_faster_and_saturate(run):
    """t = a + s/R: the time of a record is affine in its size."""
    times = []
    for record in (4, 8, 16):
        rate = run(f"{{name: iozone, r: {record} KiB}}", data="{files: 1, size: 1 GiB}", start="a:memory", to="a:/data")
        times.append(record * 1024 / rate.throughput_Bps.p50)
    assert times[2] - times[1] == pytest.approx(2 * (times[1] - times[0]), rel=1e-6)
    assert times[0] < times[1] < times[2]


def test_a_time_or_a_data_set(tool):
    for options in ({}, {"duration": "60 s"}):
        assert tool("warp", **options).timing(sized=True) is None
        assert tool("warp", **options).files() == (20_000, 10 * 2**20)
    with pytest.raises(SpecError, match=r"rados-bench takes a time or a number of bytes, not both.*leave out seconds"):
        tool("rados-bench", seconds="60 s").timing(sized=True)


def test_more_in_flight_are_more(run):
    """Objects of 4 MiB wait for the medium: twice as many give twice as much until it is full."""
    one, two = (
        run(f"{{name: rados-bench, t: {t}}}", start="a:memory", to="a:/data").throughput_Bps.p50 for t in (1, 2)
    )
    assert two == pytest.approx(2 * one, rel=0.3) or two >= one
