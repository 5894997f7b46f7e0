"""rados bench: operations in flight past the cache."""

import pytest


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
