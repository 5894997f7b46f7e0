"""warp: requests at once on a bucket."""

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
