import pytest

from tests.each import rows


@pytest.mark.parametrize(("ends", "backend", "put"), rows("tools/rclone", "the_protocol_follows_from_the_ends"))
def test_the_protocol_follows_from_the_ends(ends, backend, put, tool, job):
    """What is left out is what the far end speaks: the plan is that of the same options written out."""
    given = job(files=100, **{key: tuple(value) if key == "buckets" else value for key, value in ends.items()})
    client = "source" if put else "destination"
    assert tool("rclone").plan(given) == tool("rclone", backend=backend, client=client).plan(given)


def test_between_mounts_nothing_crosses_a_network_and_a_file_is_one_stream(tool, job):
    """fs/operations/multithread.go: local to local only where --multi-thread-streams is given."""
    here = job(files=100, payload_B=100e9, rtt_s=0.0)
    (step,) = tool("rclone").plan(here).steps
    assert (step.net, step.files.round_trips) == (None, 0)
    assert [use.end for use in step.cpu if use.what == "MD5"] == ["source", "destination"]
    assert tool("rclone").plan(here).weight == 4
    assert tool("rclone", multi_thread_streams=2).plan(here).weight == 8
