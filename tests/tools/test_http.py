"""Pelican: objects of a cache by HTTP."""

import pytest


def test_five_objects_at_once_behind_the_director(tool, job):
    plan = tool("pelican").plan(job(files=100, payload_B=1e9))
    assert (plan.workers, plan.opening.round_trips) == (5, 6.0)
    assert plan.steps[0].files.round_trips == 2


def test_small_objects_go_with_the_workers(run):
    data = "{files: 5000, each: 10 kB}"
    one, five = (run(f"{{name: pelican, workers: {n}}}", data=data).duration_s.p50 for n in (1, 5))
    assert one / five == pytest.approx(5, rel=0.05)
