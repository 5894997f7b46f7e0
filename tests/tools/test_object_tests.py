"""warp and rados bench: objects in flight."""

import pytest

from dtnsim.ground.errors import SpecError


def test_each_object_is_one_request(tool, job):
    given = job(files=1000, payload_B=10e9, largest_B=1e7, source="memory", buckets=(False, True))
    plan = tool("warp", concurrent="8").plan(given)
    assert (plan.workers, plan.divided) == (8, False)
    assert plan.steps[0].files.round_trips == 1
    assert tool("warp").files() == (20, 10 * 2**20)


def test_a_time_or_a_data_set(tool):
    assert tool("warp").timing(sized=False).seconds == 300
    assert tool("warp").timing(sized=True) is None
    with pytest.raises(SpecError, match=r"warp takes a time or a number of bytes, not both.*leave out duration"):
        tool("warp", duration="60 s").timing(sized=True)


def test_operations_in_flight(tool, job):
    write = tool("rados-bench").plan(job(source="memory", rtt_s=0.0))
    assert (write.workers, write.steps[0].write.block_B, write.steps[0].write.finish) == (16, 4 * 2**20, "direct")
    for mode, random in (("seq", False), ("rand", True)):
        read = tool("rados-bench", mode=mode, t="8").plan(job(source="memory", rtt_s=0.0)).steps[0].reread
        assert (read.random, read.own_streams, read.cached) == (random, 8, False)


def test_more_in_flight_are_more(run):
    """Objects of 4 MiB wait for the medium: twice as many give twice as much until it is full."""
    one, two = (
        run(f"{{name: rados-bench, t: {t}}}", start="a:memory", to="a:/data").throughput_Bps.p50 for t in (1, 2)
    )
    assert two == pytest.approx(2 * one, rel=0.3) or two >= one
