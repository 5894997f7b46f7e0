"""s5cmd: requests of a pool."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtnsim.tools._s3 import Client
from dtnsim.tools.plan import Tool

#: uploads
TO = (False, True)


def test_small_objects_take_a_request_each_and_256_go_at_once(tool, job):
    """command/app.go: numworkers 256."""
    plan = tool("s5cmd").plan(job(buckets=TO, files=1000, payload_B=1e8, largest_B=1e5))
    assert plan.workers == 256
    assert plan.steps[0].files.round_trips == pytest.approx(1.0)


def test_one_large_object_has_five_parts_under_way(tool, job):
    """command/cp.go: concurrency 5, parts of 50 MiB; CreateMultipartUpload and CompleteMultipartUpload besides."""
    plan = tool("s5cmd").plan(job(buckets=TO, files=1, payload_B=50 * 2**20 * 20, largest_B=50 * 2**20 * 20))
    assert plan.workers == 5
    assert plan.divided
    assert plan.steps[0].files.round_trips == 20 / 5 + 2


def test_a_parallel_download_beats_a_single_stream_over_a_long_path(run):
    data = "{files: 512, each: 1 MB}"
    tools = [f"{{name: s5cmd, numworkers: {n}, client: destination}}" for n in (1, 16)]
    rates = [run(tool, data=data, start="a:memory").throughput_Bps.p50 for tool in tools]
    assert rates[1] > 8 * rates[0]


@given(st.floats(1, 1e12), st.floats(5e6, 1e9))
def test_parts_cover_an_object(size, part):
    client = Client("x", True, 1, part, part, Tool.build({"kind": "s5cmd"}).p, Tool.build({"kind": "s5cmd"}).p)
    assert (client.parts(size) - 1) * part < size <= client.parts(size) * part * (1 + 1e-9) or size < part
