"""parsyncfp: rsyncs by the square root of the processors."""

import pytest


def test_processes_by_cores(tool, job):
    """README: --NP (sqrt(#CPUs)), --chunksize (10G)."""
    plan = tool("parsyncfp").plan(job(files=10_000, payload_B=1e12, largest_B=1e8, cores=16))
    assert plan.workers == 4
    assert tool("parsyncfp").plan(job(files=10_000, payload_B=5e9, cores=16)).workers == 1


def test_bandwidth_is_for_all(run):
    rate = run("{name: parsyncfp, NP: 4, maxbw: 20 MB/s}", data="{files: 8000, each: 10 MB}").throughput_Bps.p50
    assert rate == pytest.approx(20e6, rel=0.05)
